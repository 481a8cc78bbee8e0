"""Bytes of a plain or zstd log -> blocks of whole lines, with their line numbers and offsets.

This module decides what is a whole line, a torn tail, and what a bad frame costs; it holds the
limits on sizes and checks that lines are UTF-8. It reads any stream once, so that a log of any
size takes the memory of its longest line a few times over. How a frame is decoded is for `zstd`,
what the lines say for `header` and `rows`.
"""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Callable, Iterator

import msgspec
import zstandard

from dshstore.errors import LogRefused
from dshstore.formats.dsh.limits import DEFAULT_LIMITS, Limits
from dshstore.formats.dsh.zstd import (
    CHUNK,
    MAGIC,
    Fault,
    Frame,
    Readable,
    Source,
    bytes_to_next_frame,
    held,
    is_skippable,
)
from dshstore.jsontext import JsonError, parse
from dshstore.model import Block

#: A log's ratio is judged only past this many decoded bytes: small files may pack very well.
_RATIO_FROM = 1 << 30

#: As much is checked at once to be UTF-8: it is decoded for that, into what a cache holds.
_CHECKED = 64 << 10


class Start(msgspec.Struct, frozen=True):
    """Where to go on in a log of which a first part was read before (see `LogReader.kept`).

    `offset` source bytes with the hash `sha256` (hex) held `lines` whole lines and, in a zstd
    log, `frames` frames.
    """

    offset: int
    lines: int
    frames: int
    sha256: str


class Torn(msgspec.Struct, frozen=True):
    """An unfinished end: `size` source bytes from `offset` on, the first of them in `line`.

    In a zstd log it is the unfinished last frame, number `frame`; its whole lines are read.
    """

    offset: int
    size: int
    frame: int | None
    line: int


class BadFrame(msgspec.Struct, frozen=True):
    """Bytes of a log that could not be read, and why.

    Either source bytes of a zstd log (`line` None), or decoded bytes of a line that is not whole
    or not UTF-8; then `offset` is that of the line in a plain log, of its frame in a zstd one.
    """

    frame: int | None
    offset: int
    size: int
    raw: bytes
    reason: str
    line: int | None = None


class PrefixChanged(Exception):
    """The log no longer begins with the bytes that were read from it before."""


def frame(data: bytes) -> bytes:
    """One zstd frame as the harness writes them: with a checksum, without the content's size."""
    return zstandard.ZstdCompressor(write_checksum=True, write_content_size=False).compress(data)


class LogReader:
    """The whole lines of a log, in blocks; iterate once, then look at the attributes.

    `name` stands in messages; one that ends in .zst or .zstd must be that of a zstd log. `start`
    goes on after a part that was read before, and raises `PrefixChanged` when the log does not
    begin with it. What is wrong is raised as `LogRefused`, after the lines before it; with
    `on_bad_frame` it is reported there, in the order of the log, and reading goes on behind it
    (limits are raised all the same).

    Once read: `size` and `sha256` (hex) of the source bytes; `kept`, the part after which the
    log can be continued, that is up to its last line end or, in a zstd log, the last complete
    frame that ends a line, and before any damage; `lines`, the number of the last line that was
    given out; `encoding`, plain or zstd; `torn`; `unfinished`, what there is of the line in which
    the log ends; `notes`, sentences on what is odd.
    """

    def __init__(
        self,
        stream: Readable,
        *,
        name: str,
        limits: Limits = DEFAULT_LIMITS,
        start: Start | None = None,
        on_bad_frame: Callable[[BadFrame], None] | None = None,
    ) -> None:
        self.name = name
        self.encoding = "plain"
        self.torn: Torn | None = None
        self.notes: list[str] = []
        self._limits = limits
        self._start = start or Start(0, 0, 0, hashlib.sha256().hexdigest())
        self._report = on_bad_frame
        self._source = Source(stream)
        self._lines = _Lines(name, limits.max_line, self._start.lines, on_bad_frame, self.notes)
        self._hash = hashlib.sha256()
        self._fault: str | None = None
        self._keep(0, 0)

    @property
    def size(self) -> int:
        return self._source.offset

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    @property
    def kept(self) -> Start:
        offset, lines, frames, digest = self._kept
        return Start(offset, lines, frames, digest.hexdigest())

    @property
    def kept_size(self) -> int:
        return self._kept[0]

    @property
    def kept_sha256(self) -> str:
        return self._kept[3].hexdigest()

    @property
    def respelled(self) -> bool:
        """Whether the lines given out are other bytes than the log's: no BOM, LF for CR LF."""
        return self._lines.respelled

    @property
    def lines(self) -> int:
        return self._lines.number

    @property
    def unfinished(self) -> bytes:
        return self._lines.unfinished

    def __iter__(self) -> Iterator[Block]:
        head = self._source.peek(len(MAGIC))
        named_zstd = self.name.lower().endswith((".zst", ".zstd"))
        begins = head == MAGIC or is_skippable(head)
        if begins or (named_zstd and (MAGIC.startswith(head) or self._report is not None)):
            self.encoding = "zstd"
        elif named_zstd:
            reason = "the name says zstd, but the file does not begin with a zstd frame"
            raise LogRefused(reason, path=self.name, offset=0, frame=0)
        self._pass_over(self._start)
        yield from self._read_zstd() if self.encoding == "zstd" else self._read_plain()
        if self._lines.number == 0:
            reason = "no line is whole: no header line"
            reason = self._fault or (reason if self.size else "empty file: no header line")
            raise LogRefused(reason, path=self.name, line=1, offset=0)

    def _pass_over(self, start: Start) -> None:
        while (left := start.offset - self._source.offset) and (
            data := self._source.take(min(left, CHUNK))
        ):
            self._hash.update(data)
        if self.sha256 != start.sha256:
            raise PrefixChanged(self.name)
        self._keep(start.offset, start.frames)

    def _keep(self, offset: int, frames: int) -> None:
        self._kept = (offset, self._lines.number, frames, self._hash.copy())

    def _read_plain(self) -> Iterator[Block]:
        lines = self._lines
        while data := self._source.take(CHUNK):
            offset = self._source.offset - len(data)
            yield from lines.feed(data, offset, None)
            view = memoryview(data)
            if cut := data.rfind(b"\n") + 1:
                self._hash.update(view[:cut])
                self._keep(offset + cut, 0)
            self._hash.update(view[cut:])
        if lines.begun:
            self.torn = Torn(lines.offset, self.size - lines.offset, None, lines.number + 1)
            self.notes.append(
                f"line {self.torn.line} is torn: {self.torn.size} bytes at byte "
                f"{self.torn.offset} without a line end, left out"
            )

    def _read_zstd(self) -> Iterator[Block]:
        lines, number, decoded = self._lines, self._start.frames, 0
        decompressor = zstandard.ZstdDecompressor()
        while self._source.peek(1):
            before = self._hash.copy()
            part = Frame(self._source, self._hash, decompressor, keep=self._report is not None)
            contents = part.contents() if self._report is None else held(part.contents())
            try:
                for content in contents:
                    decoded += len(content)
                    self._check_size(decoded, part.offset, number)
                    yield from lines.feed(content, part.offset, number)
            except Fault as fault:
                self._hash = before
                self._pass_bad(part, number, str(fault))
            else:
                if not part.finished:
                    self._tear(part.offset, number)
                elif not lines.begun and self._fault is None:
                    self._keep(self._source.offset, number + 1)
            number += 1
        if lines.begun and self.torn is None:
            lines.cut_off("the last frame does not end with a line end")

    def _check_size(self, decoded: int, offset: int, number: int) -> None:
        limits, encoded = self._limits, self._source.offset
        if decoded > limits.max_decoded:
            reason = f"it decodes to more than {limits.max_decoded} bytes (--max-decoded)"
        elif decoded > _RATIO_FROM and decoded > limits.max_ratio * encoded:
            reason = f"it decodes to more than {limits.max_ratio} times its size (--max-ratio)"
        else:
            return
        raise LogRefused(reason, path=self.name, offset=offset, frame=number)

    def _tear(self, offset: int, number: int) -> None:
        self.torn = Torn(offset, self.size - offset, number, self._lines.number + 1)
        self.notes.append(
            f"frame {number} at byte {offset} is torn ({self.torn.size} bytes): its whole lines "
            f"are taken, line {self.torn.line} and what followed it are lost"
        )

    def _pass_bad(self, part: Frame, number: int, reason: str) -> None:
        if self._report is None:
            raise LogRefused(reason, path=self.name, offset=part.offset, frame=number)
        self._fault = self._fault or reason
        self._lines.cut_off("cut off by the damage after it")
        self._lines.after_gap = True
        self._source.put_back(b"".join(part.raw))
        raw = self._source.take(bytes_to_next_frame(self._source))
        self._hash.update(raw)
        self._report(BadFrame(number, part.offset, len(raw), raw, reason))


class _Lines:
    """Puts lines together from pieces of a log; `number` is that of the last whole one.

    `begun` says that one is unfinished, it begins at `offset` (of the frame, in a zstd log) in
    `frame`. After a gap the rest of a broken line may come first.
    """

    def __init__(
        self,
        name: str,
        max_line: int,
        number: int,
        report: Callable[[BadFrame], None] | None,
        notes: list[str],
    ) -> None:
        self.number, self.after_gap = number, False
        self.offset = 0
        self.frame: int | None = None
        self._name, self._max_line, self._report, self._notes = name, max_line, report, notes
        self._pieces: list[bytes] = []
        self._size, self._crlf, self.respelled = 0, False, False

    @property
    def begun(self) -> bool:
        return bool(self._pieces)

    @property
    def unfinished(self) -> bytes:
        return b"".join(self._pieces)

    def feed(self, data: bytes, offset: int, frame: int | None) -> Iterator[Block]:
        """The lines that `data` ends, and those that it holds; keeps the last if unfinished."""
        first = 0
        if self._pieces:
            first = data.find(b"\n") + 1
            self._add(data[:first] if first else data)
            if not first:
                return
            line = b"".join(self._pieces)
            self._pieces.clear()
            yield from self._check(line, self.offset, self.frame)
        cut = data.rfind(b"\n") + 1
        yield from self._check(data[first:cut], _moved(offset, first, frame), frame)
        if cut < len(data):
            self.offset, self.frame, self._size = _moved(offset, cut, frame), frame, 0
            self._add(data[cut:])

    def cut_off(self, reason: str) -> None:
        """Gives up the unfinished line, if any."""
        if self._pieces:
            raw = b"".join(self._pieces)
            self._pieces.clear()
            self._refuse(raw, self.offset, self.frame, reason)

    def _add(self, piece: bytes) -> None:
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size - piece.endswith(b"\n") > self._max_line:
            raise self._too_long(self.number + 1, self.offset, self.frame)

    def _check(self, data: bytes, offset: int, frame: int | None) -> Iterator[Block]:
        """Blocks of the whole lines `data`, those left out that are not UTF-8."""
        if self.number == 0 and data.startswith(codecs.BOM_UTF8):
            data, offset = data[len(codecs.BOM_UTF8) :], _moved(offset, len(codecs.BOM_UTF8), frame)
            self.respelled = True
            self._notes.append("a byte order mark before the header was left out")
        if not self._crlf and b"\r" in data and b"\r\n" in data:
            self._crlf = self.respelled = True
            self._notes.append("lines end in CR LF, read as LF")
        if len(data) > self._max_line:
            for place, line in enumerate(data.split(b"\n")):
                if len(line) > self._max_line:
                    raise self._too_long(self.number + 1 + place, offset, frame)
        if self.after_gap and data:
            self.after_gap = False
            first = data.find(b"\n") + 1
            try:
                parse(data[:first])
            except JsonError:
                self._refuse(data[:first], offset, frame, "cut off by the damage before it")
                data, offset = data[first:], _moved(offset, first, frame)
        while data:
            fault = _not_utf8(data)
            end = len(data) if fault is None else data.rfind(b"\n", 0, fault) + 1
            if end:
                line_number = self.number + 1
                self.number += data.count(b"\n", 0, end)
                yield Block(data[:end], line_number, offset, frame)
            if fault is None:
                return
            data, offset = data[end:], _moved(offset, end, frame)
            end, byte = data.find(b"\n") + 1, data[fault - end]
            self._refuse(data[:end], offset, frame, f"not UTF-8: it holds the byte {byte:#04x}")
            self.number += 1
            data, offset = data[end:], _moved(offset, end, frame)

    def _refuse(self, raw: bytes, offset: int, frame: int | None, reason: str) -> None:
        line = self.number + 1
        if self._report is None:
            raise LogRefused(reason, path=self._name, line=line, offset=offset, frame=frame)
        self._report(BadFrame(frame, offset, len(raw), raw, reason, line))

    def _too_long(self, line: int, offset: int, frame: int | None) -> LogRefused:
        reason = f"the line is longer than {self._max_line} bytes (--max-line)"
        return LogRefused(reason, path=self._name, line=line, offset=offset, frame=frame)


def _moved(offset: int, by: int, frame: int | None) -> int:
    """The offset of a place `by` bytes on: in a zstd log it stays that of the frame."""
    return offset + by if frame is None else offset


def _not_utf8(data: bytes) -> int | None:
    """Where the first byte stands that is not UTF-8; decodes little at a time."""
    if data.isascii():
        return None
    decoder = codecs.getincrementaldecoder("utf-8")()
    for at in range(0, len(data), _CHECKED):
        waiting = len(decoder.getstate()[0])
        try:
            decoder.decode(data[at : at + _CHECKED], at + _CHECKED >= len(data))
        except UnicodeDecodeError as error:
            return at - waiting + error.start
    return None
