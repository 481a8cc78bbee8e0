"""Timed chunks <-> stream records: which deltas make one record, and what the format refuses.

A *timed chunk* is `{"time": ms, "chunk": {...}}`. A *record* is one of the four shapes of the
`stream` member of a settlement (format v2 and later): a run of text, reasoning or tool-call
deltas, or one raw chunk. Streams follow JavaScript: `1.0` is an integer, `-0` and `true` are not,
and a chunk must be JSON that survives JSON. Chunks are passed on, not copied. What they add up to
is for `assembly`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import accumulate, chain
from math import copysign, isfinite
from typing import Any, NamedTuple

from dshstore.errors import StreamRefused, shown
from dshstore.jsontext import MAX_DEPTH
from dshstore.model import MAX_SAFE

#: The keys of each record: all are required, and no others but the `name` of a tool-call run.
_KEYS = {
    "text-chunks": {"type", "time0", "index", "dt", "texts"},
    "reasoning-chunks": {"type", "time0", "index", "dt", "texts"},
    "tool-call-chunks": {"type", "time0", "index", "dt", "id", "args"},
    "chunk": {"type", "time", "chunk"},
}

_DELTAS = {
    "text-chunks": "text-delta",
    "reasoning-chunks": "reasoning-delta",
    "tool-call-chunks": "tool-call-delta",
}
_RUNS = {delta: run for run, delta in _DELTAS.items()}


class _Run(NamedTuple):
    """What the members of a run share; `call_id` is None for text and reasoning."""

    type: str
    block: int
    call_id: str | None = None
    name: str | None = None

    @property
    def members(self) -> str:
        return "texts" if self.call_id is None else "args"


class Accumulator:
    """Compacts a stream as it comes in, chunk by chunk."""

    __slots__ = ("_last_time", "_records", "_run")

    def __init__(self) -> None:
        self._records: list[dict[str, Any]] = []
        self._run: _Run | None = None  # None: the last record is a raw chunk
        self._last_time = 0

    def push(self, time: int, chunk: Mapping[str, Any]) -> None:
        """Adds one chunk that came in at `time` (epoch ms). Raises `StreamRefused`."""
        at = safe_integer(time)
        if at is None:
            raise StreamRefused(f"the time of a chunk must be a safe integer, not {shown(time)}")
        if not isinstance(chunk, dict) or not _is_lossless(chunk):
            raise StreamRefused("a chunk must be a JSON object that survives JSON unchanged")
        run, member = _place(chunk)
        gap = at - self._last_time
        if run is None:
            self._records.append({"type": "chunk", "time": at, "chunk": chunk})
        elif run == self._run and -MAX_SAFE <= gap <= MAX_SAFE:
            record = self._records[-1]
            record["dt"].append(gap)
            record[run.members].append(member)
        else:
            self._records.append(_open(run, at, member))
        self._run, self._last_time = run, at

    @property
    def records(self) -> list[dict[str, Any]]:
        """The records so far; later pushes do not change them."""
        return [
            {key: value.copy() if isinstance(value, list) else value for key, value in r.items()}
            for r in self._records
        ]


def compact(timed_chunks: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The records of a stream of timed chunks.

    Nothing is lost but what a delta holds beside its own keys. Raises `StreamRefused`.
    """
    accumulator = Accumulator()
    for timed in timed_chunks:
        try:
            time, chunk = timed["time"], timed["chunk"]
        except (KeyError, TypeError):
            raise StreamRefused("a timed chunk must have a time and a chunk") from None
        accumulator.push(time, chunk)
    return accumulator.records


def expand(records: Iterable[Any]) -> list[dict[str, Any]]:
    """The timed chunks that the records stand for. Raises `StreamRefused`.

    What a raw chunk holds is not looked at: any JSON object passes.
    """
    timed: list[dict[str, Any]] = []
    for record in records:
        times = member_times(record)
        if record["type"] == "chunk":
            timed.append({"time": times[0], "chunk": record["chunk"]})
        else:
            timed.extend(
                {"time": time, "chunk": _delta(record, member)}
                for time, member in zip(times, _members(record), strict=True)
            )
    return timed


def joined_chunk(record: Any) -> dict[str, Any]:
    """The one chunk that adds to a message what all members of the record add.

    Raises `StreamRefused` for a record that does not expand.
    """
    member_times(record)
    if record["type"] == "chunk":
        chunk: dict[str, Any] = record["chunk"]
        return chunk
    return _delta(record, "".join(_members(record)))


def member_times(record: Any) -> list[int]:
    """The time (epoch ms) of each member of a record.

    Raises `StreamRefused` for a record in which anything is not as the format wants it.
    """
    if not isinstance(record, dict):
        raise StreamRefused("a stream record must be an object")
    kind = record.get("type")
    keys = _KEYS.get(kind) if isinstance(kind, str) else None
    if keys is None:
        raise StreamRefused(f"unknown type of stream record: {shown(kind)}")
    named = kind == "tool-call-chunks" and "name" in record
    if record.keys() != (keys | {"name"} if named else keys):
        raise StreamRefused(f"a {kind} record must have exactly the keys {', '.join(sorted(keys))}")
    time = safe_integer(record["time" if kind == "chunk" else "time0"])
    if time is None:
        raise StreamRefused(f"the time of a {kind} record must be a safe integer")
    if kind == "chunk":
        if not isinstance(record["chunk"], dict) or not _is_lossless(record["chunk"]):
            raise StreamRefused("a raw chunk must be a JSON object that survives JSON unchanged")
        return [time]
    chunk_index(record)
    if kind == "tool-call-chunks" and not (
        text_of(record, "id") and (not named or text_of(record, "name"))
    ):
        raise StreamRefused("the id and the name of a tool-call-chunks record must not be empty")
    members, gaps = _members(record), record["dt"]
    if not isinstance(members, list) or not _are_strings(members):
        raise StreamRefused(f"the members of a {kind} record must be strings")
    if not isinstance(gaps, list) or len(gaps) != len(members) - 1:
        raise StreamRefused(f"a {kind} record must have members, and one dt less than members")
    if not set(map(type, gaps)) <= {int}:  # as they nearly always are
        gaps = [safe_integer(gap) for gap in gaps]
    times = [] if None in gaps else list(accumulate(gaps, initial=time))
    if not times or max(map(abs, chain(gaps, times))) > MAX_SAFE:
        raise StreamRefused(f"the times of a {kind} record must be safe integers")
    return times


def chunk_index(value: Mapping[str, Any]) -> int:
    """The `index` of a chunk or record, a count. Raises `StreamRefused`."""
    index = safe_integer(value.get("index"))
    if index is None or index < 0:
        raise StreamRefused(f"the index of a {value['type']} must be a count")
    return index


def text_of(value: Mapping[str, Any], key: str) -> str:
    """The member `key` of a chunk or record, a string. Raises `StreamRefused`."""
    text = value.get(key)
    if not isinstance(text, str):
        raise StreamRefused(f"the {key} of a {value['type']} must be a string")
    return text


def safe_integer(value: Any) -> int | None:
    """The value as an int if JavaScript holds it for a safe integer other than -0, else None."""
    if type(value) is float and value.is_integer() and (value != 0 or copysign(1, value) > 0):
        value = int(value)
    return value if type(value) is int and -MAX_SAFE <= value <= MAX_SAFE else None


def _place(chunk: dict[str, Any]) -> tuple[_Run | None, str]:
    """The run that a delta belongs to and its text; no run for a chunk that is stored raw."""
    kind = chunk.get("type")
    match kind:
        case "text-delta" | "reasoning-delta":
            return _Run(_RUNS[kind], chunk_index(chunk)), text_of(chunk, "text")
        case "tool-call-delta":
            index, call_id = chunk_index(chunk), text_of(chunk, "id")
            name = text_of(chunk, "name") if "name" in chunk else None
            arguments = text_of(chunk, "argumentsDelta")
            # a run cannot hold an empty id or name, a raw chunk can
            run = _Run(_RUNS[kind], index, call_id, name) if call_id and name != "" else None
            return run, arguments
        case "block-start" | "block-end" | "usage" | "finish":
            return None, ""
        case _:
            raise StreamRefused(f"unknown type of chunk: {shown(kind)}")


def _open(run: _Run, time: int, member: str) -> dict[str, Any]:
    """The record of a run of one member, its keys in the order in which logs have them."""
    record: dict[str, Any] = {"type": run.type, "time0": time, "index": run.block, "dt": []}
    if run.call_id is not None:
        record["id"] = run.call_id
    if run.name is not None:
        record["name"] = run.name
    record[run.members] = [member]
    return record


def _delta(record: dict[str, Any], text: str) -> dict[str, Any]:
    """A delta chunk of a run, with `text` in it."""
    chunk = {"type": _DELTAS[record["type"]], "index": chunk_index(record)}
    if record["type"] != "tool-call-chunks":
        return chunk | {"text": text}
    name = {"name": record["name"]} if "name" in record else {}
    return chunk | {"id": record["id"]} | name | {"argumentsDelta": text}


def _members(record: dict[str, Any]) -> Any:
    return record["args" if record["type"] == "tool-call-chunks" else "texts"]


def _are_strings(members: list[Any]) -> bool:
    return set(map(type, members)) <= {str} or all(isinstance(member, str) for member in members)


def _is_lossless(value: dict[str, Any]) -> bool:
    """Whether the value is JSON that comes back from JSON as it was: no NaN, infinity or -0."""
    pending: list[tuple[Any, int]] = [(value, 1)]
    while pending:
        container, depth = pending.pop()
        if depth > MAX_DEPTH:
            return False
        if isinstance(container, dict):
            for key in container:
                if not isinstance(key, str):
                    return False
            container = container.values()
        for member in container:
            if isinstance(member, str):
                continue
            if isinstance(member, (dict, list)):
                pending.append((member, depth + 1))
            elif member is not None and not _is_number(member):
                return False
    return True


def _is_number(value: Any) -> bool:
    """Whether the value is true, false or a number that a double can hold, but for -0."""
    if isinstance(value, float):
        return isfinite(value) and (value != 0 or copysign(1, value) > 0)
    return isinstance(value, int) and value.bit_length() <= 1024
