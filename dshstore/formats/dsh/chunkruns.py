"""Runs: consecutive token deltas of one model attempt, stored as one event (format v0 and v1).

This module decides what makes a run, checks and expands packed rows (format notes v0, section
1.4; v0-v4, section 3.2), and cuts a run short. A run keeps its log lines as they are, so nothing
here decides how they are exported. That an event is in its place is for `rows`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, islice
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from dshstore.formats.dsh.cutting import pack
from dshstore.formats.dsh.envelope import (
    CHUNK,
    UNREADABLE,
    Count,
    PackedRow,
    Place,
    RowRefused,
    Safe,
    read_row,
    write_line,
)
from dshstore.jsontext import MAX_DEPTH, dump, dump_bytes, parse, readable
from dshstore.model import MAX_SAFE, StoredEvent, StreamPart
from dshstore.streams.records import safe_integer

#: A run ends before its log lines are more bytes, or its members more, than this.
MAX_SIZE = 1 << 20
MAX_MEMBERS = 8192

#: Bytes that are looked at together, for speed; an odd line among them costs more looks.
_AT_ONCE = 32 << 10

#: How a writer begins a plain row, and what then stands between two.
_BEGIN = b'{"type":"assistant/chunk","seq":'
_BETWEEN = b"}\n" + _BEGIN

#: As many deltas as a writer packs into one row.
_WORTH_PACKING = 3


class _Packed(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The payload of a packed row, its keys in the order in which writers put them."""

    turn: Count
    step: Count
    index: Count
    dt: list[Safe]


class _PackedTexts(_Packed, kw_only=True):
    texts: Annotated[list[str], msgspec.Meta(min_length=1)]


class _PackedCalls(_Packed, kw_only=True):
    id: str
    name: str | UnsetType = UNSET
    args: Annotated[list[str], msgspec.Meta(min_length=1)]


_decode_texts = msgspec.json.Decoder(_PackedTexts).decode
_decode_calls = msgspec.json.Decoder(_PackedCalls).decode


class Deltas:
    """What a packed row holds, checked: the members, and the time (epoch ms) of each.

    Raises `RowRefused` for a row in which anything is not as the format wants it.
    """

    __slots__ = ("payload", "row", "times")

    def __init__(self, row: PackedRow) -> None:
        self.row = row
        self.payload = _read_packed(row)
        self.times = list(accumulate(self.payload.dt, initial=row.time0))
        if len(self.times) != len(self.members):
            raise RowRefused(f"malformed {row.type} row: dt must be one shorter than its members")
        if max(self.times) > MAX_SAFE or min(self.times) < -MAX_SAFE:
            raise RowRefused(f"malformed {row.type} row: a time is beyond 2^53-1")
        if row.seq0 + len(self.members) - 1 > MAX_SAFE:
            raise RowRefused(f"malformed {row.type} row: a seq is beyond 2^53-1")

    @property
    def members(self) -> list[str]:
        payload = self.payload
        return payload.args if isinstance(payload, _PackedCalls) else payload.texts

    def expand(self) -> Iterator[dict[str, Any]]:
        """The logical events."""
        payload = self.payload
        place = {"turn": payload.turn, "step": payload.step}
        chunk: dict[str, Any] = {
            "type": self.row.type.removesuffix("-chunks") + "-delta",
            "index": payload.index,
        }
        member = "text"
        if isinstance(payload, _PackedCalls):
            member = "argumentsDelta"
            chunk["id"] = payload.id
            if payload.name is not UNSET:
                chunk["name"] = payload.name
        for seq, (time, text) in enumerate(
            zip(self.times, self.members, strict=True), self.row.seq0
        ):
            data = place | {"chunk": chunk | {member: text}}
            yield {"type": CHUNK, "seq": seq, "time": time, "data": data}

    def first_lines(self, keep: int) -> bytes:
        """The log lines of the first `keep` members, as a writer would have put them."""
        row = self.row
        if keep < _WORTH_PACKING:
            return b"".join(
                write_line(CHUNK, event["seq"], event["time"], dump_bytes(event["data"])) + b"\n"
                for event in islice(self.expand(), keep)
            )
        data = msgspec.to_builtins(self.payload)
        for key in ("dt", "texts", "args"):
            if key in data:
                data[key] = data[key][: keep - 1 if key == "dt" else keep]
        packed = {"type": row.type, "seq0": row.seq0, "time0": row.time0, "data": data}
        return dump_bytes(packed) + b"\n"


def _read_packed(row: PackedRow) -> _PackedTexts | _PackedCalls:
    calls = row.type == "tool-call-chunks"
    payload = bytes(row.data)
    if b"-0" not in payload:  # which msgspec takes for 0
        try:
            return _decode_calls(payload) if calls else _decode_texts(payload)
        except UNREADABLE:
            pass
    value = parse(payload)
    if isinstance(value, dict):
        for key, member in value.items():
            many = isinstance(member, list)
            value[key] = list(map(_integer, member)) if many else _integer(member)
    try:
        if calls:
            return msgspec.convert(value, _PackedCalls)
        return msgspec.convert(value, _PackedTexts)
    except UNREADABLE as error:
        raise RowRefused(f"malformed {row.type} row: {error}") from None


def _integer(value: Any) -> Any:
    """The value, as an int where JavaScript sees no difference."""
    integer = safe_integer(value)
    return value if integer is None else integer


class _Chunk(msgspec.Struct, gc=False):
    type: Literal[
        "text-delta",
        "reasoning-delta",
        "tool-call-delta",
        "block-start",
        "block-end",
        "usage",
        "finish",
    ]
    usage: Any = None
    reason: Any = None


#: Chunks that say something of the attempt; nothing of it comes after the second.
_ENDS = frozenset({"usage", "finish"})


class _Delta(msgspec.Struct, gc=False):
    turn: int
    step: int
    chunk: _Chunk


class _DeltaRow(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A row that adds to a run one member and nothing else (its time cannot be -0)."""

    type: Literal["assistant/chunk"]
    seq: int
    time: Annotated[int, msgspec.Meta(gt=0, le=MAX_SAFE)]
    data: _Delta


_decode_deltas = msgspec.json.Decoder(_DeltaRow).decode_lines
_encode = msgspec.json.Encoder().encode
_COUNTS = frozenset({int})


def read_chunk(payload: bytes) -> tuple[int, int, dict[str, Any]] | None:
    """Turn, step and chunk of a chunk event's payload; None for one that cannot join a run."""
    clean = readable(payload)
    data = parse(payload if clean is None else clean)
    if not isinstance(data, dict):
        return None
    turn, step = safe_integer(data.get("turn")), safe_integer(data.get("step"))
    chunk = data.get("chunk")
    if turn is None or step is None or not isinstance(chunk, dict):
        return None
    return turn, step, chunk


class Run:
    """A run that is being read: the rows of one attempt so far."""

    def __init__(self, seq: int, turn: int, step: int, time: int, place: Place) -> None:
        self.seq, self.turn, self.step, self.place = seq, turn, step, place
        self.first_time = self.last_time = time
        #: Its log lines, each with its LF.
        self.pieces: list[bytes] = []
        self.count = self.size = 0
        self._usage: str | None = None
        self._finish: str | None = None
        self._ended = False

    def takes(self, turn: int, step: int, line: bytes, count: int) -> bool:
        """Whether a row of `count` members with this place in the session belongs to the run."""
        return (
            (turn, step) == (self.turn, self.step)
            and not self._ended
            and self.count + count <= MAX_MEMBERS
            and self.size + len(line) < MAX_SIZE
        )

    def add(self, line: bytes, count: int, last_time: int, chunk: dict[str, Any] | None) -> None:
        """Takes in a row: its line, its members, the time of the last, the chunk of a plain row."""
        self._append(line + b"\n", count, last_time)
        if chunk is not None:
            self._note(chunk.get("type"), chunk.get("usage"), chunk.get("reason"))

    def add_deltas(self, lines: bytes, at: int, end: int) -> int:
        """Takes in plain rows that go on here with `lines[at:end]`; where those end that it took.

        They are most of what is in a log, so only here is a loop that looks at them. Whatever is
        odd about a line is left to others, to take or to refuse.
        """
        while lines.startswith(_BEGIN, at, end):
            room = min(_AT_ONCE, MAX_SIZE - self.size)
            stop = lines.rfind(b"\n", at, min(at + room, end)) + 1
            if stop <= at:
                break
            if not self._add_all(lines[at:stop]):
                while middle := _middle(lines, at, stop):
                    if self._add_all(lines[at:middle]):
                        at = middle
                    else:
                        stop = middle
                break
            at = stop
        return at

    def _add_all(self, lines: bytes) -> bool:
        """Takes in the lines if they are plain rows that go on here, all of them."""
        if self._ended or _has_long(lines):
            return False
        try:
            rows = _decode_deltas(lines)
        except UNREADABLE:
            return False
        count = len(rows)
        # for msgspec any space parts two rows
        if lines.count(b"\n") != count or lines.count(_BETWEEN) != count - 1:
            return False
        seq, turn, step = self.seq + self.count, self.turn, self.step
        if self.count + count > MAX_MEMBERS or seq + count > MAX_SAFE:
            return False
        if not (turn and step) and b"-0" in lines:  # which msgspec takes for 0
            return False
        ends: list[_Chunk] = []
        for number, row in enumerate(rows, seq):
            delta = row.data
            if row.seq != number or delta.turn != turn or delta.step != step:
                return False
            if delta.chunk.type in _ENDS:
                ends.append(delta.chunk)
        if any(chunk.type == "finish" for chunk in ends if chunk is not rows[-1].data.chunk):
            return False
        self._append(lines, count, rows[-1].time)
        for chunk in ends:
            self._note(chunk.type, chunk.usage, chunk.reason)
        return True

    def _append(self, lines: bytes, count: int, last_time: int) -> None:
        self.pieces.append(lines)
        self.size += len(lines)
        self.count += count
        self.last_time = last_time

    def _note(self, kind: Any, usage: Any, reason: Any) -> None:
        """Takes in what a chunk says of the attempt."""
        if kind == "usage":
            self._usage = _spell(usage) if isinstance(usage, dict) else None
        elif kind == "finish":
            found = reason.get("kind") if isinstance(reason, dict) else None
            self._finish = found if isinstance(found, str) else None
            self._ended = True

    def store(self) -> StoredEvent:
        """The run as one stored event."""
        body = pack(b"".join(self.pieces))
        part = StreamPart(
            None, self.size, body, self.first_time, self.last_time, self._usage, self._finish
        )
        line, offset, frame = self.place
        return StoredEvent(
            self.seq,
            self.count,
            CHUNK,
            self.first_time,
            f'{{"turn":{self.turn},"step":{self.step}}}',
            stream=part,
            line=line,
            offset=offset,
            frame=frame,
        )


def begin_run(line: bytes, seq: int, place: Place) -> Run | None:
    """The run that the plain row in `line` begins, still without it; None for another line."""
    if not line.startswith(_BEGIN) or len(line) > MAX_DEPTH or b"-0" in line:
        return None
    try:
        line.decode()  # one that was read on its own need not be UTF-8
        [row] = _decode_deltas(line)
    except (ValueError, *UNREADABLE):
        return None
    turn, step = safe_integer(row.data.turn), safe_integer(row.data.step)
    if turn is None or step is None:
        return None
    return Run(seq, turn, step, row.time, place)


def _spell(usage: dict[str, Any]) -> str:
    """The JSON text of a usage, as every SQLite reads it."""
    counts = _COUNTS.issuperset(map(type, usage.values()))
    text = _encode(usage).decode() if counts else dump(usage)
    return readable(text) or text if "\\u0000" in text else text


def _has_long(lines: bytes) -> bool:
    """Whether a line is longer than `MAX_DEPTH` bytes; no other can be nested deeper."""
    at = 0
    while len(lines) - at > MAX_DEPTH:
        end = lines.rfind(b"\n", at, at + MAX_DEPTH + 1) + 1
        if not end:
            return True
        at = end
    return False


def _middle(lines: bytes, at: int, stop: int) -> int:
    """Where about half of `lines[at:stop]` ends with a line; 0 if there is but one."""
    half = (at + stop) // 2
    return lines.find(b"\n", half, stop - 1) + 1 or lines.rfind(b"\n", at, half) + 1


def expand_run(lines: bytes) -> Iterator[dict[str, Any]]:
    """The logical events of a run's log lines. Raises `RowRefused` for lines that are none."""
    for line in lines.split(b"\n")[:-1]:
        row = read_row(line, 0)
        if isinstance(row, PackedRow):
            yield from Deltas(row).expand()
        else:
            data = parse(bytes(row.data))
            yield {"type": row.type, "seq": row.seq, "time": row.time, "data": data}


def first_lines(lines: bytes, keep: int) -> bytes:
    """The log lines of the first `keep` members of a run. Raises `RowRefused` as `expand_run`."""
    kept: list[bytes] = []
    for line in lines.split(b"\n"):
        row = read_row(line, 0)
        if not isinstance(row, PackedRow):
            kept.append(line + b"\n")
            keep -= 1
        elif len((deltas := Deltas(row)).members) <= keep:
            kept.append(line + b"\n")
            keep -= len(deltas.members)
        else:
            kept.append(deltas.first_lines(keep))
            keep = 0
        if not keep:
            break
    return b"".join(kept)
