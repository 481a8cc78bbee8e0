"""The rows of a log <-> stored events, byte for byte.

This module decides what of a row goes into which column, when its line has to be kept besides
(`raw`), and that the seqs of a log have no gap. The lines come from `frames`, their members from
`envelope`, runs of token deltas from `chunkruns`, streams from `cutting`; `plainrows` takes lines
without oddities a shorter way. Rules that need the session's surface are the store's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import UNSET, Raw

from dshstore.errors import CorruptStore, LogRefused, TextUnreadable
from dshstore.formats.dsh.chunkruns import (
    Deltas,
    Run,
    begin_run,
    expand_run,
    first_lines,
    read_chunk,
)
from dshstore.formats.dsh.columns import column_text, whole_text
from dshstore.formats.dsh.cutting import SETTLEMENTS, cut_stream, move_part, put_back, unpack
from dshstore.formats.dsh.envelope import (
    CHUNK,
    PackedRow,
    Place,
    Row,
    RowRefused,
    after_payload,
    check_event,
    read_row,
    refusal_of,
    write_line,
)
from dshstore.formats.dsh.plainrows import read_plain
from dshstore.formats.dsh.references import read_sources, read_surface_op, write_sources
from dshstore.jsontext import JsonError, dump_bytes, parse
from dshstore.model import Block, StoredEvent, StreamPart

#: What the row that settles an attempt has and a delta has not: quotes in strings are escaped.
_SETTLED = b'"assistant/message"'

#: Bytes that a block may have of which a message may speak later.
_RECENT = 4 << 20


class RowDecoder:
    """Reads the event lines of one log of format `version`, from event `next_seq` on.

    `next_seq` is the seq after the last event read, `notes` are sentences about what is odd but
    let in.
    """

    def __init__(self, version: int, *, next_seq: int = 0) -> None:
        self.version = version
        self.next_seq = next_seq
        self.notes: list[str] = []
        self._first = next_seq
        self._run: Run | None = None
        #: This block and the one before; none from a large one on, which would be held for long.
        self._recent: list[Block] = []

    @property
    def events(self) -> int:
        """How many logical events were read so far."""
        return self.next_seq - self._first

    def decode(self, blocks: Iterable[Block]) -> Iterator[StoredEvent]:
        """The stored events of the lines in these blocks, which are UTF-8.

        Raises `LogRefused` at the first bad line, after everything before it.
        """
        try:
            for block in blocks:
                short = len(block.data) <= _RECENT
                self._recent = [*self._recent[-1:], block] if short else []
                for part in _without_cr(block):
                    yield from self._decode_block(part)
        except LogRefused:
            yield from self._end_run()
            raise
        yield from self._end_run()

    def _decode_block(self, block: Block) -> Iterator[StoredEvent]:
        data, number, at = block.data, block.line, 0
        settled = -1  # where the next attempt is settled: the deltas of a run end before it
        while at < len(data):
            end = data.find(b"\n", at) % (len(data) + 1)  # the last LF may be missing
            line = data[at:end]
            place = (number, block.offset + (at if block.frame is None else 0), block.frame)
            run = self._run
            if run is None and self.version < 2:
                run = begin_run(line, self.next_seq, place)
            if run is not None:
                if settled < at:
                    settled = data.find(_SETTLED, at) % (len(data) + 1)
                before = run.count
                at = run.add_deltas(data, at, settled)
                if taken := run.count - before:
                    self._run = run
                    self.next_seq += taken
                    number += taken
                    continue
            try:
                yield from self._decode_line(line, place)
            except RowRefused as refusal:
                _, offset, frame = place
                raise LogRefused(str(refusal), line=number, offset=offset, frame=frame) from None
            at, number = end + 1, number + 1

    def _decode_line(self, line: bytes, place: Place) -> Sequence[StoredEvent]:
        """What is complete with this line: the run before it, its own event."""
        event = read_plain(line, self.next_seq, self.version, place)
        return self._decode_odd(line, place) if event is None else self._add(event)

    def _decode_odd(self, line: bytes, place: Place) -> Sequence[StoredEvent]:
        """`_decode_line`, for any line."""
        row = read_row(line, self.version)
        seq = row.seq0 if isinstance(row, PackedRow) else row.seq
        if seq != self.next_seq:
            raise self._gap(seq, place[0])
        try:
            if isinstance(row, PackedRow):
                deltas = Deltas(row)
                turn, step = deltas.payload.turn, deltas.payload.step
                return self._join(line, place, turn, step, deltas.times, None)
            if self.version < 2 and row.type == CHUNK and _is_bare(row):
                found = read_chunk(bytes(row.data))
                if found is not None:
                    turn, step, chunk = found
                    return self._join(line, place, turn, step, [row.time], chunk)
            event = _event(row, self.version, line, place)
        except JsonError as error:
            raise refusal_of(line, error) from None
        return self._add(event)

    def _add(self, event: StoredEvent) -> Sequence[StoredEvent]:
        if self.version == 2 and event.type == "assistant/message" and event.source_event_seqs:
            self._note_settlement(event.line)
        ended = self._end_run()
        self.next_seq += 1
        return (*ended, event)

    def _join(
        self,
        line: bytes,
        place: Place,
        turn: int,
        step: int,
        times: list[int],
        chunk: dict[str, Any] | None,
    ) -> Sequence[StoredEvent]:
        """Takes the line of token deltas into a run: the one that is open, or a new one."""
        ended: Sequence[StoredEvent] = ()
        if self._run is None or not self._run.takes(turn, step, line, len(times)):
            ended = self._end_run()
            self._run = Run(self.next_seq, turn, step, times[0], place)
        self._run.add(line, len(times), times[-1], chunk)
        self.next_seq += len(times)
        return ended

    def _end_run(self) -> Sequence[StoredEvent]:
        run, self._run = self._run, None
        if run is None:
            return ()
        if run.count == 1:
            line = run.pieces[0][:-1]
            if isinstance(row := read_row(line, self.version), Row):
                return (_event(row, self.version, line, run.place),)
        return (run.store(),)

    def _gap(self, seq: int, line: int) -> RowRefused:
        """The refusal of a line with another seq than the next."""
        expected = self.next_seq
        if seq > expected:
            return RowRefused(f"seq {seq}, expected {expected}; events are missing before it")
        if (earlier := self._find_line(seq, line)) is not None:
            lines = f"lines {earlier} and {line}"
            return RowRefused(
                f"seq {seq} stands twice, on {lines} (expected {expected}): two writers?"
            )
        return RowRefused(f"seq {seq}, expected {expected}; an event with this seq came before")

    def _find_line(self, seq: int, before: int) -> int | None:
        """The number of an earlier line, not far back, that holds event `seq`."""
        for block in self._recent:
            lines = block.data.removesuffix(b"\n").split(b"\n")
            for number, line in enumerate(lines, block.line):
                if number >= before:
                    break
                row = read_row(line, self.version)
                if isinstance(row, PackedRow):
                    if 0 <= seq - row.seq0 < len(Deltas(row).times):
                        return number
                elif row.seq == seq:
                    return number
        return None

    def _note_settlement(self, line: int) -> None:
        if not self.notes:
            self.notes.append(
                f"line {line}: an assistant/message of format v2 with sourceEventSeqs; "
                "later formats refuse it"
            )


def store(event: Mapping[str, Any], version: int) -> StoredEvent:
    """The stored event of a logical event, as if it had been read from a log of format `version`.

    A chunk event is stored on its own; a payload may be its JSON text already (a `Raw`). The
    surface rules are not looked at. Raises `RowRefused` (a ValueError) for an event that cannot
    be a row, or not be written as JSON.
    """
    seq, time = check_event(event)
    texts = {
        key: _raw(event[key]) for key in ("data", "sourceEventSeqs", "surfaceOp") if key in event
    }
    row = Row(event["type"], seq, time, ignorable=event.get("ignorable", UNSET), **texts)
    try:
        return _event(row, version, None, (0, 0, None))
    except JsonError as error:
        raise RowRefused(f"cannot be written as JSON: {error.reason}") from None


def log_lines(stored: StoredEvent, version: int) -> bytes:
    """The log's own bytes of a stored event: its line, or the lines of a run, each with its LF."""
    if stored.raw is not None:
        return stored.raw + b"\n"
    if (run := _run_part(stored)) is not None:
        return unpack(run)
    sources = stored.source_event_seqs
    after = after_payload(
        stored.ignorable is not None,
        None if sources is None else write_sources(sources, version),
        stored.surface_op,
    )
    line = write_line(stored.type, stored.seq, stored.time, data_bytes(stored, version), after)
    # JSON that came in by SQL may be spread over lines
    return line.replace(b"\n", b" ") + b"\n"


def data_bytes(stored: StoredEvent, version: int) -> bytes:
    """The payload's own JSON, as the log has it; a run has none (ValueError)."""
    if _run_part(stored) is not None:
        raise ValueError(f"event {stored.seq} is a run: each of its members has a payload")
    if stored.raw is not None:
        return bytes(_raw_row(stored, stored.raw, version).data)
    data = stored.data.encode()
    return data if stored.stream is None else put_back(data, stored.stream)


def logical(stored: StoredEvent, version: int) -> Iterator[dict[str, Any]]:
    """The logical events of a stored event, as the log has them, keys in the order of a log.

    Runs, sources and streams are whole again; half a surrogate pair is one in a str.
    """
    if (run := _run_part(stored)) is not None:
        try:
            yield from expand_run(unpack(run))
        except (RowRefused, JsonError) as error:
            raise CorruptStore(f"event {stored.seq}: a run is damaged: {error}") from None
        return
    kind = stored.type if stored.raw is None else _raw_row(stored, stored.raw, version).type
    event = {
        "type": kind,
        "seq": stored.seq,
        "time": stored.time,
        "data": stored_value(stored.seq, data_bytes(stored, version)),
    }
    if stored.ignorable is not None:
        event["ignorable"] = True
    if stored.source_event_seqs is not None:
        event["sourceEventSeqs"] = stored_value(stored.seq, stored.source_event_seqs)
    if stored.surface_op is not None:
        event["surfaceOp"] = stored_value(stored.seq, stored.surface_op)
    yield event


def stored_value(seq: int, text: str | bytes) -> Any:
    """The value of a JSON text in the row of event `seq`. Raises TextUnreadable."""
    try:
        return parse(text)
    except JsonError as error:  # some SQLite takes what is nested deeper, from plain SQL
        raise TextUnreadable(f"event {seq} cannot be read: {error}") from None


def clip(stored: StoredEvent, keep: int, version: int) -> StoredEvent:
    """The first `keep` (1 to `count`) members of a run, as if the log ended there."""
    if keep == stored.count:
        return stored
    run = _run_part(stored)
    if run is None or not 0 < keep < stored.count:
        raise ValueError(f"event {stored.seq} has {stored.count} members, not {keep}")
    try:
        lines = first_lines(unpack(run), keep)
        block = Block(lines, stored.line, stored.offset, stored.frame)
        [clipped] = RowDecoder(version, next_seq=stored.seq).decode([block])
    except (RowRefused, JsonError, LogRefused) as error:
        raise CorruptStore(f"event {stored.seq}: a run is damaged: {error}") from None
    return clipped


def _without_cr(block: Block) -> Iterator[Block]:
    """The block; if it holds a CR, line by line, each without the CR before its LF."""
    if b"\r" not in block.data:
        yield block
        return
    offset = block.offset
    for number, line in enumerate(block.data.removesuffix(b"\n").split(b"\n"), block.line):
        yield Block(line.removesuffix(b"\r") + b"\n", number, offset, block.frame)
        if block.frame is None:
            offset += len(line) + 1


def _event(row: Row, version: int, line: bytes | None, place: Place) -> StoredEvent:
    """The stored event of a row; `line` None: of the line that a writer would make of it."""
    payload = bytes(row.data)
    rest, part = payload, None
    if version >= 2 and row.type in SETTLEMENTS and (cut := cut_stream(payload)):
        rest, part = cut
    data, odd = column_text(rest, row.type)
    if odd and part is not None:
        part = move_part(part, data)
    kind = row.type
    if not kind.isascii():
        kind = whole_text(kind)
        odd = odd or kind != row.type
    ignorable, sources, op, after = None, None, None, b"}"
    if not _is_bare(row):
        ignorable = 1 if row.ignorable is True else None
        if row.sourceEventSeqs is not UNSET:
            sources = read_sources(bytes(row.sourceEventSeqs), row.seq, version)
        if row.surfaceOp is not UNSET:
            op = read_surface_op(bytes(row.surfaceOp), version)
        written = None if sources is None else write_sources(sources, version)
        after = after_payload(ignorable is not None, written, op)
    written_line = write_line(row.type, row.seq, row.time, payload, after)
    if line is None:
        line = written_line
    raw = line if odd or line != written_line else None
    return StoredEvent(row.seq, 1, kind, row.time, data, sources, op, ignorable, raw, part, *place)


def _is_bare(row: Row) -> bool:
    """Whether the event has only what every event has."""
    return row.ignorable is UNSET and row.sourceEventSeqs is UNSET and row.surfaceOp is UNSET


def _raw(value: Any) -> Raw:
    if isinstance(value, Raw):
        return value
    try:
        return Raw(dump_bytes(value))
    except (JsonError, TypeError) as error:
        raise RowRefused(f"cannot be written as JSON: {error}") from None


def _raw_row(stored: StoredEvent, raw: bytes, version: int) -> Row:
    """The row of the line that is kept in `raw`."""
    try:
        row = read_row(raw, version)
    except RowRefused as refusal:
        raise CorruptStore(f"event {stored.seq}: its line is damaged: {refusal}") from None
    if isinstance(row, PackedRow):
        raise CorruptStore(f"event {stored.seq}: its line is not its own")
    return row


def _run_part(stored: StoredEvent) -> StreamPart | None:
    part = stored.stream
    return part if part is not None and part.at is None else None
