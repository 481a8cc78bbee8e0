"""Logs in: one log, in one transaction, with an outcome that says what became of it.

A log whose session is new is written whole. A log whose session is here is compared, byte by
byte, with what the store would give back: the same or a part of it changes nothing, a longer one
extends the session, anything else is a conflict and changes nothing, unless every event is the
same. A refused log leaves nothing behind, and the refusal says what `salvage` would keep of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Literal

import msgspec

from dshstore.db import Database
from dshstore.engine import append, comparing, exporting, read, sharing
from dshstore.engine.recording import BEGIN, Mark, record_import
from dshstore.engine.sources import Rewindable
from dshstore.engine.survey import Survey
from dshstore.errors import LogRefused, RuleBroken, UnsupportedFormat
from dshstore.formats.dsh import header as headers
from dshstore.formats.dsh import rows
from dshstore.formats.dsh.frames import LogReader, PrefixChanged, Start
from dshstore.formats.dsh.limits import DEFAULT_LIMITS, Limits
from dshstore.jsontext import parse, same
from dshstore.model import Block, Header, StoredEvent
from dshstore.sqlfiles import Statement, load

#: How often a log is tried while other processes write to its session, and what is said then.
ATTEMPTS = 10
OVERTAKEN = "other processes wrote to the session meanwhile: import it once more"

Outcome = Literal["imported", "extended", "unchanged", "skipped", "salvaged", "refused"]


class ImportResult(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one input: the object that `import --json` prints.

    `events` counts all events of the session, `added` those of this import. `line` counts from 1
    with the header, `frame` from 0; `offset` is the byte of the line in a plain log, of the frame
    in a zstd one; each is None where it does not apply. For a salvaged log `reason` and these
    tell of the first thing that is wrong with it.
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


class LogConflicts(LogRefused):
    """The log is not that of the session with its id in the store."""


class LogBreaksRule(LogRefused):
    """Event `seq` of the log breaks a rule of the surface."""

    def __init__(self, event: StoredEvent, code: str) -> None:
        self.seq = event.seq
        super().__init__(
            f"event {event.seq} ({event.type}) breaks a rule: {code}",
            line=event.line,
            offset=event.offset,
            frame=event.frame,
        )


class Overtaken(Exception):
    """Another process wrote to the session since it was looked at."""


class _Statements(msgspec.Struct, frozen=True):
    last_import: Statement


_SQL = load("importing", _Statements)


def import_log(
    database: Database, stream: Rewindable, path: str, *, limits: Limits = DEFAULT_LIMITS
) -> ImportResult:
    """Import one log into the store; `path` stands in the result and in messages.

    Raises LogRefused for what is wrong with the log, other StoreErrors for what is wrong with
    the store (busy, full, damaged); either way nothing of the log is in the store.
    """
    try:
        return import_whole(database, stream, path, limits=limits)
    except (LogConflicts, UnsupportedFormat):
        raise
    except LogRefused as error:
        hint = _hint(stream, path, limits, error)
        if not hint:
            raise
        raise LogRefused(
            f"{error.reason}; {hint}", line=error.line, offset=error.offset, frame=error.frame
        ) from error


def import_whole(
    database: Database, stream: Rewindable, path: str, *, limits: Limits, torn: bool = True
) -> ImportResult:
    """As `import_log`, without a word on salvage; `torn` False refuses an unfinished end too."""
    for _ in range(ATTEMPTS if stream.seekable() else 1):
        try:
            return _Import(database, stream, path, limits, torn).run()
        except Overtaken:
            if stream.seekable():
                stream.seek(0)
    raise LogRefused(OVERTAKEN)


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


def name_notes(name: str, header: Header) -> list[str]:
    """What is odd about the header and the name of a log."""
    named = headers.generation(Path(name).name)
    if named is None or named == header.version:
        return list(header.notes)
    note = f"the file name says format v{named}, the header v{header.version}: the header counts"
    return [*header.notes, note]


def generation(database: Database, header: Header) -> read.SessionRow | None:
    """The session in the store that a header names."""
    found = read.generations(database, header.session_id)
    return next((row for row in found if row.format_version == header.version), None)


def conflict(session_id: str, error: comparing.LogDiffers) -> LogConflicts:
    """The refusal of a log that differs from what the store has."""
    return LogConflicts(
        f"conflict: it differs here from session {session_id!r} in the store, which stays as it "
        "is; import it into another store to compare the two",
        line=error.line,
        offset=error.offset,
        frame=error.frame,
    )


@contextmanager
def refusals(batches: append.Batches, session_id: str) -> Iterator[None]:
    """Turn a trigger's refusal into one of the log, or into `Overtaken`."""
    try:
        yield
    except RuleBroken as error:
        event = batches.event_of(error)
        # the seqs of a log were dense, and its session not there, when they were looked at
        if error.code in ("seq-not-contiguous", "session-exists"):
            raise Overtaken from error
        if event is None:
            raise append.refusal(error, session_id) from error
        raise LogBreaksRule(event, error.code) from error


def _hint(stream: Rewindable, path: str, limits: Limits, error: LogRefused) -> str:
    """What salvage would keep of a refused log; empty when that cannot be told, or is nothing."""
    if not stream.seekable():
        return ""
    try:
        survey = Survey(stream, path, limits)
    except LogRefused:
        return ""
    if survey.header is None:
        count = survey.well_formed
        if not count:
            return ""
        return f"{count} well-formed events are in the file; --salvage would set them aside"
    if isinstance(error, LogBreaksRule):
        survey.end_before(error.seq, error.reason)
    return f"--salvage would keep {survey.describe_kept()} and set {survey.describe_aside()} aside"


class _Import:
    """One attempt to import a log."""

    def __init__(
        self, database: Database, stream: Rewindable, path: str, limits: Limits, torn: bool
    ) -> None:
        self._database, self._stream, self._path = database, stream, path
        self._limits, self._torn = limits, torn
        self._reader = LogReader(stream, name=path, limits=limits)
        self._mark = Mark(self._reader)
        self._header, self._first, self._blocks = _read_header(self._reader)
        self._notes = name_notes(path, self._header)

    def run(self) -> ImportResult:
        present = generation(self._database, self._header)
        if present is None:
            return self._write_new()
        return self._read_on(present) or self._compare(present)

    def _read_on(self, present: read.SessionRow) -> ImportResult | None:
        """What becomes of a log that begins as it did when it was read before, else None."""
        place = {"session": present.key, "encoding": self._reader.encoding}
        found = self._database.query(_SQL.last_import, place)
        if not found or not self._stream.seekable():
            return None
        *start, events = found[0]
        self._start_again(Start(*start), events)
        try:
            stored = exporting.line_pieces(self._database, present, events)
            return self._extend(present, comparing.new_blocks(stored, iter(self._reader)))
        except PrefixChanged:
            self._start_again(BEGIN, 0)
            self._header, self._first, self._blocks = _read_header(self._reader)
            return None

    def _start_again(self, start: Start, events: int) -> None:
        self._stream.seek(0)
        self._reader = LogReader(self._stream, name=self._path, limits=self._limits, start=start)
        self._mark = Mark(self._reader, start, events)

    def _compare(self, present: read.SessionRow) -> ImportResult:
        stored = exporting.log_pieces(self._database, present)
        return self._extend(
            present, comparing.new_blocks(stored, chain([self._first], self._blocks))
        )

    def _write_new(self) -> ImportResult:
        shared = self._find_shared()
        cut = shared.events if shared else 0
        decoder = rows.RowDecoder(self._header.version, next_seq=cut)
        blocks = self._after_header()
        if shared is not None:
            blocks = sharing.drop_lines(blocks, shared.lines, self._mark.pass_over)
            parent = shared.parent.session_id
            self._notes.append(f"its first {cut} events are those of session {parent!r}: shared")
        batches = append.Batches(self._events(decoder, blocks))

        def items() -> Iterator[append.Item]:
            key = append.next_key(self._database)
            yield append.new_session(
                key,
                self._header,
                forked_from=shared.parent.key if shared else None,
                forked_at=cut - 1 if shared else None,
            )
            yield from batches.items(key)
            yield self._record(key)

        with refusals(batches, self._header.session_id):
            self._database.write(items())
        present = generation(self._database, self._header)
        assert present is not None
        return self._result("imported", present, present.next_seq)

    def _find_shared(self) -> sharing.Shared | None:
        """What a fork's log shares with its parent in the store; a stream is read twice for it."""
        parent = sharing.find_parent(self._database, self._header)
        if parent is None or not self._stream.seekable():
            return None
        shared = sharing.find_shared(self._database, parent, self._header, self._after_header())
        self._start_again(BEGIN, 0)
        self._header, self._first, self._blocks = _read_header(self._reader)
        return shared

    def _extend(self, present: read.SessionRow, more: Iterator[Block]) -> ImportResult:
        """What becomes of a log of which `more` is not in the store."""
        try:
            first = next(more, None)
        except comparing.LogDiffers as error:
            return self._same_events(present, error)
        if first is None:
            self._check_end()
            self._notes += self._reader.notes
            return self._result("unchanged", present, 0)
        decoder = rows.RowDecoder(present.format_version, next_seq=present.next_seq)
        batches = append.Batches(self._events(decoder, chain([first], more)))

        def items() -> Iterator[append.Item]:
            yield from batches.items(present.key)
            self._mark.content = None
            yield self._record(present.key)

        with refusals(batches, present.session_id):
            self._database.write(items())
        longer = generation(self._database, self._header)
        assert longer is not None
        return self._result("extended", longer, longer.next_seq - present.next_seq)

    def _events(self, decoder: rows.RowDecoder, blocks: Iterator[Block]) -> Iterator[StoredEvent]:
        """The events of these blocks, while the mark moves along."""

        def watched() -> Iterator[Block]:
            for block in blocks:
                self._mark.move(block.line - 1, decoder.next_seq)
                self._mark.pass_over(block.data, block.frame)
                yield block

        yield from decoder.decode(watched())
        self._check_end()
        self._mark.move(self._reader.lines, decoder.next_seq)
        self._notes += [*self._reader.notes, *decoder.notes]

    def _after_header(self) -> Iterator[Block]:
        """The blocks without the header's line."""
        first = self._first
        size = first.data.index(b"\n") + 1
        self._mark.pass_over(first.data[:size], first.frame)
        if size < len(first.data):
            offset = first.offset + (size if first.frame is None else 0)
            yield Block(first.data[size:], first.line + 1, offset, first.frame)
        yield from self._blocks

    def _check_end(self) -> None:
        torn = self._reader.torn
        if torn is not None and not self._torn:
            raise LogRefused(
                "the end is torn", line=torn.line, offset=torn.offset, frame=torn.frame
            )

    def _record(self, key: int) -> append.Item:
        return record_import(key, self._reader, self._mark, self._notes)

    def _result(self, outcome: Outcome, present: read.SessionRow, added: int) -> ImportResult:
        return ImportResult(
            path=self._path,
            outcome=outcome,
            session_id=present.session_id,
            format_version=present.format_version,
            events=present.next_seq,
            added=added,
            inherited=present.inherited_count,
            notes=self._notes,
        )

    def _same_events(
        self, present: read.SessionRow, difference: comparing.LogDiffers
    ) -> ImportResult:
        """What becomes of a log whose bytes differ: unchanged when every event is the same.

        Raises LogConflicts, and LogRefused for a line that is no row.
        """
        if not self._stream.seekable():
            raise conflict(present.session_id, difference) from difference
        self._start_again(BEGIN, 0)
        header, self._first, self._blocks = _read_header(self._reader)
        if not same(parse(header.text), parse(present.header)):
            raise conflict(present.session_id, difference) from difference
        version = header.version
        here = read.logical_events(read.stored_events(self._database, present), version)
        events = rows.RowDecoder(version).decode(self._after_header())
        if (other := comparing.first_other(here, events, version)) is not None:
            difference.move(other)
            raise conflict(present.session_id, difference) from difference
        self._check_end()
        note = "its bytes differ from those in the store, which stay, but every event is the same"
        self._notes += [*self._reader.notes, note]
        return self._result("unchanged", present, 0)


def _read_header(reader: LogReader) -> tuple[Header, Block, Iterator[Block]]:
    """The header, the block in which its line stands, and the blocks after it."""
    blocks = iter(reader)
    first = next(blocks)
    try:
        header = headers.read(first.data[: first.data.index(b"\n")])
    except LogRefused as error:
        error.line, error.offset, error.frame = first.line, first.offset, first.frame
        raise
    return header, first, blocks
