"""A log read to its end whatever is wrong with it: every byte of it in one piece or another.

Decides what a piece is by itself: a record that reads whole, debris, padding. Which records belong
together is for `survey`; how frames and lines are found for `frames`, broken lines are taken apart
by `fragments`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from typing import Literal, NamedTuple

from dshstore.engine.recording import Mark
from dshstore.engine.sources import Rewindable
from dshstore.errors import LogRefused, UnsupportedFormat
from dshstore.formats.dsh import header as headers
from dshstore.formats.dsh.chunkruns import Deltas
from dshstore.formats.dsh.envelope import (
    PackedRow,
    RowRefused,
    member_spans,
    read_row,
    refusal_of,
)
from dshstore.formats.dsh.fragments import split_line
from dshstore.formats.dsh.frames import BadFrame, LogReader
from dshstore.formats.dsh.limits import Limits
from dshstore.formats.dsh.rows import RowDecoder
from dshstore.jsontext import JsonError, parse
from dshstore.model import Block, Header
from dshstore.streams.records import safe_integer

#: A torn frame may be large: its bytes come in pieces of this size.
_PIECE = 16 << 20


class Piece(NamedTuple):
    """Some bytes of a log.

    `offset` is the first one's in a plain log, the frame's in a zstd one; `line` is None for the
    undecoded bytes of a bad or torn frame. A record claims the seqs `seq` to `seq + events - 1`.
    `fault` says what is wrong with a piece by itself, None for a sound record. The log ends in a
    `torn` piece; what follows a `header` is another log; a piece set `apart` is of a line that is
    no row; that a `checked` one can be stored is sure.
    """

    kind: Literal["record", "debris", "padding"]
    raw: bytes
    line: int | None
    frame: int | None
    offset: int
    seq: int | None = None
    events: int = 1
    fault: str | None = None
    torn: bool = False
    header: bool = False
    apart: bool = False
    checked: bool = False


class Scan:
    """One reading of a log, to be iterated once.

    `header` is None where the log has none, `refusal` says why. Whoever iterates says with
    `events` and `going_on` which event should come next, so that blocks that are as they should be
    are checked as a whole, and with `sound` that nothing was wrong so far, so that `mark` can move.
    A second reading takes no more than `size` bytes, and trusts the lines up to `checked_lines` of
    the first. Raises LogRefused for a log that has no whole line, is over a limit or of a newer
    format.
    """

    def __init__(
        self,
        stream: Rewindable,
        name: str,
        limits: Limits,
        size: int | None = None,
        checked_lines: int = 0,
    ) -> None:
        self.sound, self.going_on, self.events = True, size is None, 0
        self._trusted = checked_lines
        self._stream = stream
        self._bad: deque[BadFrame] = deque()
        stream.seek(0)
        source = stream if size is None else _Bounded(stream, size)
        self.reader = LogReader(source, name=name, limits=limits, on_bad_frame=self._bad.append)
        self.mark = Mark(self.reader)
        self._blocks = iter(self.reader)
        self._first = next(self._blocks, None)
        self.header: Header | None = None
        self._header_line = b""
        self.refusal: LogRefused | None = None
        try:
            self.header = self._read_header()
        except LogRefused as error:
            if isinstance(error, UnsupportedFormat):
                raise
            self.refusal = error
        self._version = self.header.version if self.header else 0
        self.checked_lines = 1 if self.header else 0

    def __iter__(self) -> Iterator[Piece]:
        yield from self._reported()
        first, self._first = self._first, None
        if first is not None:
            yield from self._pieces(first)
        for block in self._blocks:
            yield from self._reported()
            yield from self._pieces(block)
        yield from self._reported()
        if self.sound:
            self.mark.move(self.reader.lines, self.events)
        yield from self._torn()

    def _read_header(self) -> Header:
        first = self._first
        if first is None or first.line > 1:
            bad = self._bad[0]
            raise LogRefused(bad.reason, line=bad.line, offset=bad.offset, frame=bad.frame)
        line, _, rest = first.data.partition(b"\n")
        try:
            header = headers.read(line)
        except LogRefused as error:
            error.frame, error.offset = first.frame, first.offset
            raise
        self._header_line = line.removesuffix(b"\r")
        self.mark.pass_over(line + b"\n", first.frame)
        offset = first.offset + (len(line) + 1 if first.frame is None else 0)
        self._first = Block(rest, 2, offset, first.frame)
        return header

    def _pieces(self, block: Block) -> Iterator[Piece]:
        if self.sound:
            self.mark.move(block.line - 1, self.events)
            self.mark.pass_over(block.data, block.frame)
        offset, lines = block.offset, block.data.split(b"\n")[:-1]
        last = block.line - 1 + len(lines)
        trusted = last <= self._trusted
        checked = self.going_on and self._is_sound(block)
        if checked and self.checked_lines == block.line - 1:
            self.checked_lines = last
        for number, line in enumerate(lines, block.line):
            if trusted:
                text = line.removesuffix(b"\r")
                yield Piece("record", text, number, block.frame, offset, checked=True)
            else:
                for piece in self._line(line, number, block.frame, offset):
                    yield piece._replace(checked=True) if checked else piece
            if block.frame is None:
                offset += len(line) + 1

    def _is_sound(self, block: Block) -> bool:
        """Whether the block holds the events that come next, and nothing else."""
        try:
            for _ in RowDecoder(self._version, next_seq=self.events).decode([block]):
                pass
        except LogRefused:
            return False
        return True

    def _reported(self) -> Iterator[Piece]:
        while self._bad:
            bad = self._bad.popleft()
            if bad.line is None:
                yield Piece("debris", bad.raw, None, bad.frame, bad.offset, fault=bad.reason)
            else:
                line = bad.raw.removesuffix(b"\n")
                yield from self._parts(line, bad.line, bad.frame, bad.offset, bad.reason)

    def _torn(self) -> Iterator[Piece]:
        torn, unfinished = self.reader.torn, self.reader.unfinished
        if torn is None:
            return
        reason = "no line end: the write was cut"
        if unfinished:
            for piece in self._parts(unfinished, torn.line, torn.frame, torn.offset, reason):
                yield piece._replace(fault=piece.fault or reason, torn=True)
        if torn.frame is not None:
            self._stream.seek(torn.offset)
            reason = "a torn frame, of which the whole lines were taken"
            for offset in range(torn.offset, torn.offset + torn.size, _PIECE):
                raw = self._stream.read(min(_PIECE, torn.offset + torn.size - offset))
                yield Piece("debris", raw, None, torn.frame, offset, fault=reason, torn=True)

    def _line(self, line: bytes, number: int, frame: int | None, offset: int) -> Iterator[Piece]:
        line = line.removesuffix(b"\r")
        try:
            yield self._record(line, number, frame, offset)
        except RowRefused as refusal:
            yield from self._parts(line, number, frame, offset, str(refusal))

    def _parts(
        self, line: bytes, number: int, frame: int | None, offset: int, reason: str
    ) -> Iterator[Piece]:
        """The pieces of a line that is no row, for this reason."""
        if not line.strip():
            yield Piece("debris", line, number, frame, offset, fault="a blank line")
            return
        for kind, start, end in split_line(line):
            raw, at = line[start:end], offset + (start if frame is None else 0)
            if kind == "record":
                try:
                    yield self._record(raw, number, frame, at)._replace(apart=True)
                except RowRefused as refusal:
                    yield Piece("record", raw, number, frame, at, _claimed(raw), fault=str(refusal))
            elif kind == "header" and raw == self._header_line:
                yield Piece("debris", raw, number, frame, at, fault="repeats line 1")
            elif kind == "header":
                fault = "a second header"
                yield Piece("debris", raw, number, frame, at, fault=fault, header=True)
            elif kind == "padding":
                yield Piece("padding", raw, number, frame, at, fault="NUL bytes")
            else:
                yield Piece("debris", raw, number, frame, at, fault=reason)

    def _record(self, raw: bytes, number: int, frame: int | None, offset: int) -> Piece:
        """The piece that a row is. Raises RowRefused."""
        row = read_row(raw, self._version)
        if isinstance(row, PackedRow):
            try:
                events = len(Deltas(row).times)
            except JsonError as error:
                raise refusal_of(raw, error) from None
            return Piece("record", raw, number, frame, offset, row.seq0, events)
        return Piece("record", raw, number, frame, offset, row.seq)

    def check(self, record: Piece) -> Piece:
        """The record, with what keeps it from being stored, if anything."""
        if record.checked or record.fault is not None or record.seq is None:
            return record
        decoder = RowDecoder(self._version, next_seq=record.seq)
        lines = Block(record.raw + b"\n", record.line or 0, record.offset, record.frame)
        try:
            for _ in decoder.decode([lines]):
                pass
        except LogRefused as error:
            return record._replace(fault=error.reason)
        return record


def _claimed(raw: bytes) -> int | None:
    """The seq that a record claims which is no row; what else is in it may be too deep to read."""
    spans = member_spans(raw)
    for key in ("seq", "seq0"):
        if key in spans:
            with suppress(JsonError):
                seq = safe_integer(parse(raw[slice(*spans[key])]))
                if seq is not None:
                    return seq
    return None


class _Bounded:
    """The first `size` bytes of a stream that stands at its beginning."""

    def __init__(self, stream: Rewindable, size: int) -> None:
        self._stream, self._left = stream, size

    def read(self, size: int, /) -> bytes:
        data = self._stream.read(min(size, self._left))
        self._left -= len(data)
        return data
