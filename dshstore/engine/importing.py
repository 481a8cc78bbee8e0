"""Logs in: one log, in one transaction, with an outcome that says what became of it.

A log whose session is new is written whole. A log whose session is here is compared, byte by
byte, with what the store would give back: the same or a part of it changes nothing, a longer one
extends the session, anything else is a conflict and changes nothing. A refused log leaves nothing
behind. What is broken is not taken here; `salvage` does that when it is asked for.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from dshstore.db import Database
from dshstore.engine import append, comparing, exporting, read
from dshstore.errors import LogRefused, RuleBroken, SessionExists
from dshstore.formats.dsh import header as headers
from dshstore.formats.dsh.frames import DEFAULT_LIMITS, Limits, LogReader, PrefixChanged, Start
from dshstore.formats.dsh.rows import RowDecoder
from dshstore.model import Block, Header, StoredEvent
from dshstore.sqlfiles import Statement, load

Outcome = Literal["imported", "extended", "unchanged", "skipped", "salvaged", "refused"]


class Rewindable(Protocol):
    """What a log is read from; one that is seekable can be read from its beginning again."""

    def read(self, size: int, /) -> bytes: ...

    def seekable(self) -> bool: ...

    def seek(self, offset: int, /) -> int: ...


class ImportResult(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one input: the object that `import --json` prints.

    `events` counts all events of the session, `added` those of this import. `line` counts from 1
    with the header, `frame` from 0; `offset` is the byte of the line in a plain log, of the frame
    in a zstd one; each is None where it does not apply.
    """

    path: str
    outcome: Outcome
    session_id: str | None = None
    format_version: int | None = None
    events: int = 0
    added: int = 0
    inherited: int = 0
    notes: list[str] = []
    reason: str | None = None
    line: int | None = None
    frame: int | None = None
    offset: int | None = None


class _Statements(msgspec.Struct, frozen=True):
    last_import: Statement
    insert_import: Statement


_SQL = load("importing", _Statements)


def import_log(
    database: Database, stream: Rewindable, path: str, *, limits: Limits = DEFAULT_LIMITS
) -> ImportResult:
    """Import one log into the store; `path` stands in the result and in messages.

    Raises LogRefused for what is wrong with the log, other StoreErrors for what is wrong with
    the store (busy, full, damaged); either way nothing of the log is in the store.
    """
    reader = LogReader(stream, name=path, limits=limits)
    header, blocks = _read_header(reader)
    present = _generation(database, header)
    if present is None:
        try:
            return _write_new(database, _Log(reader, header), blocks)
        except SessionExists:  # another process imported the same session meanwhile
            if not stream.seekable():
                raise
            stream.seek(0)
            return import_log(database, stream, path, limits=limits)
    seen = database.query(_SQL.last_import, {"session": present.key, "encoding": reader.encoding})
    if seen and stream.seekable():
        *start, events = seen[0]
        stream.seek(0)
        reader = LogReader(stream, name=path, limits=limits, start=Start(*start))
        try:
            stored = exporting.line_pieces(database, present, events)
            return _extend(database, present, _Log(reader, header), stored, iter(reader))
        except PrefixChanged:
            stream.seek(0)
            reader = LogReader(stream, name=path, limits=limits)
            blocks = iter(reader)
    stored = exporting.log_pieces(database, present)
    return _extend(database, present, _Log(reader, header), stored, blocks)


def refused(path: str, error: LogRefused) -> ImportResult:
    """The outcome of a log that cannot be taken as it is."""
    return ImportResult(
        path=path,
        outcome="refused",
        reason=error.reason,
        line=error.line,
        frame=error.frame,
        offset=error.offset,
    )


def _read_header(reader: LogReader) -> tuple[Header, Iterator[Block]]:
    """The header, and all blocks: the header's line stands in the first of them."""
    blocks = iter(reader)
    first = next(blocks)
    try:
        header = headers.read(first.data[: first.data.index(b"\n")])
    except LogRefused as error:
        error.line, error.offset, error.frame = first.line, first.offset, first.frame
        raise
    return header, chain([first], blocks)


def _generation(database: Database, header: Header) -> read.SessionRow | None:
    found = read.generations(database, header.session_id)
    return next((row for row in found if row.format_version == header.version), None)


class _Log:
    """A log being read: its rows, its notes, and how far a later import can go on from it."""

    def __init__(self, reader: LogReader, header: Header) -> None:
        self.reader, self.header = reader, header
        self.notes = list(header.notes)
        self._events = 0
        self._content = hashlib.sha256()
        self._before_frame: tuple[int | None, int, hashlib._Hash] = (None, 0, self._content)
        named = headers.generation(Path(reader.name).name)
        if named is not None and named != header.version:
            self.notes.append(
                f"the file name says format v{named}, the header v{header.version}: "
                "the header counts"
            )

    def rows(self, decoder: RowDecoder, blocks: Iterator[Block]) -> Iterator[StoredEvent]:
        """The events of these blocks."""

        def watched() -> Iterator[Block]:
            for block in blocks:
                if block.frame != self._before_frame[0]:
                    self._before_frame = (block.frame, decoder.next_seq, self._content.copy())
                if block.frame is not None:
                    self._content.update(block.data)
                yield block

        yield from decoder.decode(watched())
        self._events = decoder.next_seq
        self.notes += [*self.reader.notes, *decoder.notes]

    def record(self, key: int, *, whole: bool) -> append.Item:
        """The item that puts this reading on record; `whole` when it began with the header."""
        reader, kept, torn = self.reader, self.reader.kept, self.reader.torn
        events, content = self._events, self._content.hexdigest()
        if torn is not None and torn.frame is not None and torn.frame == self._before_frame[0]:
            events, content = self._before_frame[1], self._before_frame[2].hexdigest()
        if reader.encoding == "plain":
            content = kept.sha256
        return _SQL.insert_import, {
            "session": key,
            "path": reader.name,
            "encoding": reader.encoding,
            "size": reader.size,
            "sha256": reader.sha256,
            "kept_size": kept.offset,
            "kept_sha256": kept.sha256,
            "lines": kept.lines,
            "frames": kept.frames,
            "events": events,
            "content_sha256": content if whole and not reader.respelled else None,
            "notes": msgspec.json.encode(self.notes).decode(),
            "imported_at": time.time_ns() // 1_000_000,
        }

    def result(self, outcome: Outcome, present: read.SessionRow, added: int) -> ImportResult:
        """What became of this log."""
        return ImportResult(
            path=self.reader.name,
            outcome=outcome,
            session_id=present.session_id,
            format_version=present.format_version,
            events=present.next_seq,
            added=added,
            inherited=present.inherited_count,
            notes=self.notes,
        )

    def after_header(self, blocks: Iterator[Block]) -> Iterator[Block]:
        """The blocks without the header's line."""
        first = next(blocks)
        size = first.data.index(b"\n") + 1
        if first.frame is not None:
            self._content.update(first.data[:size])
        if size < len(first.data):
            offset = first.offset + (size if first.frame is None else 0)
            yield Block(first.data[size:], first.line + 1, offset, first.frame)
        yield from blocks


def _write_new(database: Database, log: _Log, blocks: Iterator[Block]) -> ImportResult:
    decoder = RowDecoder(log.header.version)
    batches = append.Batches(log.rows(decoder, log.after_header(blocks)))

    def items() -> Iterator[append.Item]:
        key = append.next_key(database)
        yield append.new_session(key, log.header)
        yield from batches.items(key)
        yield log.record(key, whole=True)

    with _refusals(batches, log.header.session_id):
        database.write(items())
    present = _generation(database, log.header)
    assert present is not None
    return log.result("imported", present, present.next_seq)


def _extend(
    database: Database,
    present: read.SessionRow,
    log: _Log,
    stored: Iterator[bytes],
    blocks: Iterator[Block],
) -> ImportResult:
    more = comparing.new_blocks(stored, blocks)
    try:
        first = next(more, None)
    except comparing.LogDiffers as error:
        raise LogRefused(
            f"conflict: it differs here from session {present.session_id!r} in the store, which "
            "stays as it is; import it into another store to compare the two",
            line=error.line,
            offset=error.offset,
            frame=error.frame,
        ) from error
    if first is None:
        log.notes += log.reader.notes
        return log.result("unchanged", present, 0)
    decoder = RowDecoder(present.format_version, next_seq=present.next_seq)
    batches = append.Batches(log.rows(decoder, chain([first], more)))

    def items() -> Iterator[append.Item]:
        yield from batches.items(present.key)
        yield log.record(present.key, whole=False)

    with _refusals(batches, present.session_id):
        database.write(items())
    longer = _generation(database, log.header)
    assert longer is not None
    return log.result("extended", longer, longer.next_seq - present.next_seq)


@contextmanager
def _refusals(batches: append.Batches, session_id: str) -> Iterator[None]:
    try:
        yield
    except RuleBroken as error:
        event = batches.event_of(error)
        if event is None:
            raise append.refusal(error, session_id) from error
        raise LogRefused(
            f"event {event.seq} ({event.type}) breaks a rule: {error.code}",
            line=event.line,
            offset=event.offset,
            frame=event.frame,
        ) from error
