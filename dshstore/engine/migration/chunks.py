"""Consecutive token deltas -> runs of them, already compacted to stream records.

A million deltas are handed on as a few runs, so that no stage after this one looks at a single
delta. What makes records of deltas is `streams`' to say; a packed row of a log has them ready.
Which runs make an attempt is for `v1_to_v2`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from dshstore.errors import MigrationRefused, StreamRefused
from dshstore.formats.dsh.chunkruns import Deltas
from dshstore.formats.dsh.envelope import (
    CHUNK,
    UNREADABLE,
    Count,
    PackedRow,
    RowRefused,
    Safe,
    check_event,
    read_row,
)
from dshstore.jsontext import parse
from dshstore.model import MAX_SAFE, Event
from dshstore.streams import compact
from dshstore.streams.records import safe_integer

Record = dict[str, Any]


class ChunkRun(msgspec.Struct):
    """Chunk events in a row of one turn and step, the first of them at `seq`.

    `records` are what they compact to, `last_time` is the time (epoch ms) of the last one, and
    `finished` says whether that is a finish chunk.
    """

    seq: int
    count: int
    turn: int
    step: int
    records: list[Record]
    last_time: int
    finished: bool = False


class Stream:
    """Records that grow at the end; runs of deltas are joined where they meet."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.last_time = 0

    def extend(self, records: list[Record], last_time: int) -> None:
        """Add what came next; the first of the records may be joined, and then is not kept."""
        if not (self.records and _joins(self.records[-1], records[0], self.last_time)):
            self.records += records
        else:
            last, first = self.records[-1], records[0]
            last["dt"].append(first["time0"] - self.last_time)
            last["dt"] += first["dt"]
            members = "args" if "args" in last else "texts"
            last[members] += first[members]
            self.records += records[1:]
        self.last_time = last_time


def _joins(last: Record, record: Record, last_time: int) -> bool:
    """Whether two records are of one run: nothing differs but the members and their times."""
    return (
        last["type"] == record["type"] != "chunk"
        and last["index"] == record["index"]
        and last.get("id") == record.get("id")
        and last.get("name") == record.get("name")
        and -MAX_SAFE <= record["time0"] - last_time <= MAX_SAFE
    )


def gather(items: Iterable[Event | ChunkRun]) -> Iterator[Event | ChunkRun]:
    """The same log with its chunk events as runs.

    Raises `MigrationRefused` for a chunk that no stream can hold, after all that came before it.
    """
    gathering = _Gathering()
    try:
        for item in items:
            if isinstance(item, ChunkRun):
                done = gathering.add(item)
            elif item["type"] == CHUNK:
                done = gathering.add(_read_event(item))
            else:
                if rest := gathering.take():
                    yield rest
                yield item
                continue
            if done:
                yield done
    except MigrationRefused:
        if rest := gathering.take():
            yield rest
        raise
    if rest := gathering.take():
        yield rest


def read_run(lines: bytes) -> Iterator[ChunkRun]:
    """The runs in the log lines (each with its LF) of consecutive chunk events.

    Raises `MigrationRefused` as `gather`, `RowRefused` or `JsonError` for what is no such line.
    """
    gathering = _Gathering()
    try:
        for line in lines.split(b"\n")[:-1]:
            row = _read_delta(line)
            done = gathering.add_delta(row) if row is not None else gathering.add(_read_line(line))
            if done:
                yield done
    except MigrationRefused:
        if rest := gathering.take():
            yield rest
        raise
    if rest := gathering.take():
        yield rest


class _Delta(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    type: str
    index: Count
    text: str | UnsetType = UNSET
    id: str | UnsetType = UNSET
    name: str | UnsetType = UNSET
    argumentsDelta: str | UnsetType = UNSET


class _Data(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    turn: Count
    step: Count
    chunk: _Delta


class _Row(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    type: str
    seq: Count
    time: Safe
    data: _Data


_decode_row: Final = msgspec.json.Decoder(_Row).decode
_holds_minus_zero: Final = re.compile(rb":\s*-0[,}\s]").search


def _read_delta(line: bytes) -> _Row | None:
    """The row of a plain delta as writers write it; None for all that is rare."""
    try:
        row = _decode_row(line)
    except UNREADABLE:
        return None
    chunk = row.data.chunk
    if chunk.type == "tool-call-delta":
        whole = chunk.id and chunk.name != "" and chunk.argumentsDelta is not UNSET
        usual = whole and chunk.text is UNSET
    else:
        usual = chunk.type in ("text-delta", "reasoning-delta") and chunk.text is not UNSET
        usual = usual and chunk.id is chunk.name is chunk.argumentsDelta is UNSET
    if not usual or row.type != CHUNK or (b"-0" in line and _holds_minus_zero(line)):
        return None
    return row


class _Gathering:
    """The run that is being put together, of whole parts and of plain deltas."""

    def __init__(self) -> None:
        self._run: ChunkRun | None = None
        self._stream = Stream()
        self._delta: _Delta | None = None  # the first of those that are not in the stream yet
        self._texts: list[str] = []
        self._times: list[int] = []

    def add(self, part: ChunkRun) -> ChunkRun | None:
        """Take the next chunks; the run before them if that is complete."""
        done = None if self._belongs(part.seq, part.turn, part.step) else self.take()
        if self._run is None:
            self._run = part
        else:
            self._compact()
            self._run.count += part.count
            self._run.finished = part.finished
        self._stream.extend(part.records, part.last_time)
        return done

    def add_delta(self, row: _Row) -> ChunkRun | None:
        """Take the next chunk, a plain delta; the run before it if that is complete."""
        data, delta, done = row.data, row.data.chunk, None
        if not self._belongs(row.seq, data.turn, data.step):
            done = self.take()
        if self._run is None:
            self._run = ChunkRun(row.seq, 0, data.turn, data.step, [], row.time)
        last = self._delta
        if (
            last is None
            or last.index != delta.index
            or last.type != delta.type
            or last.id != delta.id
            or last.name != delta.name
        ):
            self._compact()
            self._delta = delta
        text = delta.text if delta.argumentsDelta is UNSET else delta.argumentsDelta
        self._texts.append(text)  # type: ignore[arg-type]  # _read_delta saw that one is there
        self._times.append(row.time)
        self._run.count += 1
        return done

    def take(self) -> ChunkRun | None:
        """The run so far, if there is one; the next begins anew."""
        run = self._run
        if run is not None:
            self._compact()
            run.records, run.last_time = self._stream.records, self._stream.last_time
            self._run, self._stream = None, Stream()
        return run

    def _belongs(self, seq: int, turn: int, step: int) -> bool:
        run = self._run
        return (
            run is not None
            and not run.finished
            and run.seq + run.count == seq
            and run.turn == turn
            and run.step == step
        )

    def _compact(self) -> None:
        """Put the deltas that wait into the stream."""
        delta, texts, times = self._delta, self._texts, self._times
        if delta is None:
            return
        self._delta, self._texts, self._times = None, [], []
        if max(times) - min(times) > MAX_SAFE:  # a gap between two of them may be no safe integer
            chunk = msgspec.to_builtins(delta)
            member = "text" if "text" in chunk else "argumentsDelta"
            for time, text in zip(times, texts, strict=True):
                records = compact([{"time": time, "chunk": {**chunk, member: text}}])
                self._stream.extend(records, time)
            return
        record: Record = {
            "type": f"{delta.type.removesuffix('-delta')}-chunks",
            "time0": times[0],
            "index": delta.index,
            "dt": [after - before for before, after in pairwise(times)],
        }
        if delta.id is not UNSET:
            record["id"] = delta.id
        if delta.name is not UNSET:
            record["name"] = delta.name
        record["texts" if delta.id is UNSET else "args"] = texts
        self._stream.extend([record], times[-1])


def _read_line(line: bytes) -> ChunkRun:
    """The chunks of any line of a run."""
    row = read_row(line, 0)
    if isinstance(row, PackedRow):
        return _read_packed(row)
    return _compacted(row.seq, row.time, parse(bytes(row.data)))


def _read_packed(row: PackedRow) -> ChunkRun:
    deltas = Deltas(row)
    packed = deltas.payload
    members = {"texts": deltas.members}
    named: Record = {}
    if row.type == "tool-call-chunks":
        members = {"args": deltas.members}
        named = {key: getattr(packed, key) for key in ("id", "name")}
        if not named["id"]:
            raise MigrationRefused(row.seq0, f"{row.type}: the id must not be empty")
        if named["name"] is UNSET:
            del named["name"]
    records = [
        {
            "type": row.type,
            "time0": row.time0,
            "index": packed.index,
            "dt": packed.dt,
            **named,
            **members,
        }
    ]
    if named.get("name") == "":  # which no run of a stream may have
        timed = [{"time": e["time"], "chunk": e["data"]["chunk"]} for e in deltas.expand()]
        records = compact(timed)
    turn, step, last_time = packed.turn, packed.step, deltas.times[-1]
    return ChunkRun(row.seq0, len(deltas.members), turn, step, records, last_time)


def _read_event(event: Event) -> ChunkRun:
    try:
        seq, time = check_event(event)
    except RowRefused as refusal:
        raise MigrationRefused(safe_integer(event.get("seq")), f"{CHUNK}: {refusal}") from None
    if "sourceEventSeqs" in event or "surfaceOp" in event:
        raise MigrationRefused(seq, f"{CHUNK} is not on the surface, and cites nothing")
    return _compacted(seq, time, event["data"])


def _compacted(seq: int, time: int, data: Any) -> ChunkRun:
    """The run of one chunk."""
    if not isinstance(data, dict) or data.keys() != {"turn", "step", "chunk"}:
        raise MigrationRefused(seq, f"{CHUNK}: data must be a turn, a step and a chunk")
    turn, step = safe_integer(data["turn"]), safe_integer(data["step"])
    if turn is None or step is None or turn < 0 or step < 0:
        raise MigrationRefused(seq, f"{CHUNK}: turn and step must be integers from 0")
    chunk = data["chunk"]
    try:
        records = compact([{"time": time, "chunk": chunk}])
    except StreamRefused as refusal:
        raise MigrationRefused(seq, f"{CHUNK}: {refusal}") from None
    return ChunkRun(seq, 1, turn, step, records, time, chunk["type"] == "finish")
