"""Generations up: a session as one of a later format, beside the one that it was.

The old generation stays as it is. The new one is written in one transaction, is read back in it,
and is there only if it shows a model what the old one shows. What the new log is made of is
`migration`'s to say.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, zip_longest
from typing import Any, Protocol

from dshstore.db import Database
from dshstore.engine import append, read
from dshstore.engine.migration.chunks import ChunkRun, read_run
from dshstore.engine.migration.pipeline import ToV2, upgrade_header
from dshstore.engine.migration.settlements import check_settlement
from dshstore.engine.migration.shapes import Misfit
from dshstore.engine.migration.source import Source
from dshstore.errors import CorruptStore, LogRefused, MigrationRefused, RuleBroken
from dshstore.formats.dsh import header as headers
from dshstore.formats.dsh import rows
from dshstore.formats.dsh.cutting import SETTLEMENTS
from dshstore.formats.dsh.envelope import CHUNK, RowRefused
from dshstore.jsontext import JsonError, parse, same
from dshstore.model import Event, Header, StoredEvent


def migrate(database: Database, session: read.SessionRow, to: int) -> read.SessionRow:
    """The session's generation of format `to` (1 or 2), which is written if it is not here yet.

    A session of that format comes back as it is. One that was migrated before must begin with
    what it is migrated to now. Raises MigrationRefused, with the seq of the event (of the session
    that was given) that cannot be migrated; nothing has changed then.
    """
    if session.format_version == to:
        return session
    header = _read_header(session)
    upgrade_header(header, to)
    present = _generation(database, session.session_id, to)
    if present is None:
        try:
            return _write(database, session, header, to)
        except RuleBroken as error:
            present = _generation(database, session.session_id, to)
            if present is None:
                raise append.refusal(error, session.session_id) from error
    _compare(database, present, _successor(database, session, header, to))
    return present


class _Successor(Protocol):
    """What a session becomes; its events come once, and its seqs are told as they come."""

    header: Header

    def events(self) -> Iterator[StoredEvent]: ...

    def new_seq(self, seq: int) -> int:
        """Where event `seq` of the session stands in it."""

    def origin(self, seq: int) -> int:
        """The event of the session that event `seq` came from."""


def _successor(database: Database, session: read.SessionRow, header: Header, to: int) -> _Successor:
    if to == 1:
        return _AsV1(database, session, header)
    return _AsV2(database, session, header)


class _AsV1:
    def __init__(self, database: Database, session: read.SessionRow, header: Header) -> None:
        self.header = upgrade_header(header, 1)
        self._stored = read.stored_events(database, session)
        self._source = Source(header)

    def events(self) -> Iterator[StoredEvent]:
        for stored in self._stored:
            if stored.type == CHUNK:
                self._source.pass_over(stored.seq, stored.count)
                yield stored
                continue
            [event] = rows.logical(stored, 0)
            upgraded = self._source.read(event)
            is_same = upgraded is event and stored.raw is None
            yield stored if is_same else _store(upgraded, 1, stored.seq)
        self._source.finish()

    def new_seq(self, seq: int) -> int:
        return seq

    def origin(self, seq: int) -> int:
        return seq


class _AsV2:
    def __init__(self, database: Database, session: read.SessionRow, header: Header) -> None:
        self.header = upgrade_header(header, 2)
        self._stored = read.stored_events(database, session)
        self._version = session.format_version
        self._migration = ToV2(header)

    def events(self) -> Iterator[StoredEvent]:
        for origin, event in self._migration.run(self._items()):
            yield _store(event, 2, origin)

    def new_seq(self, seq: int) -> int:
        return self._migration.new_seq(seq)

    def origin(self, seq: int) -> int:
        return self._migration.origin(seq)

    def _items(self) -> Iterator[Event | ChunkRun]:
        for stored in self._stored:
            if stored.stream is None or stored.stream.at is not None:
                yield from rows.logical(stored, self._version)
                continue
            try:
                yield from read_run(rows.log_lines(stored, self._version))
            except (RowRefused, JsonError) as error:
                raise CorruptStore(f"event {stored.seq}: a run is damaged: {error}") from None


def _write(
    database: Database, session: read.SessionRow, header: Header, to: int
) -> read.SessionRow:
    def items() -> Iterator[append.Item]:
        source = read.reload(database, session)
        successor = _successor(database, source, header, to)
        key = append.next_key(database)
        yield append.new_session(key, successor.header, runtime=session.runtime)
        yield from append.Batches(successor.events()).items(key)
        _verify(database, source, _written(database, successor.header), successor)

    database.write(items())
    return _written(database, upgrade_header(header, to))


def _written(database: Database, header: Header) -> read.SessionRow:
    written = _generation(database, header.session_id, header.version)
    assert written is not None
    return written


def _verify(
    database: Database,
    session: read.SessionRow,
    written: read.SessionRow,
    successor: _Successor,
) -> None:
    """Read back what was written, by itself and against what it came from."""
    version = written.format_version
    for stored in read.stored_events(database, written):
        if stored.type == CHUNK:
            continue
        for event in rows.logical(stored, version):
            if version >= 2 and event["type"] in SETTLEMENTS:
                try:
                    check_settlement(event)
                except Misfit as misfit:
                    raise MigrationRefused(successor.origin(event["seq"]), str(misfit)) from None
    surface = [successor.new_seq(seq) for seq in read.surface(database, session)]
    if read.surface(database, written) != surface:
        raise MigrationRefused(None, "the surface would not be the same any more")
    shown = read.messages(database, session, allow_unknown=True)
    kept = read.messages(database, written, allow_unknown=True)
    for before, after in zip_longest(shown, kept):
        if before == after:
            continue
        if before is None or after is None or not _says_same(parse(before), parse(after)):
            raise MigrationRefused(None, "the messages would not be the same any more")


def _says_same(before: Any, after: Any) -> bool:
    """Whether two messages are the same, but for what a migration puts right in a source."""
    source = before["source"]
    if source.get("kind") == "goal" or source.get("plugin") == "compact":
        after = {**after, "source": source}
    return same(before, after)


def _compare(database: Database, present: read.SessionRow, successor: _Successor) -> None:
    """Refuse a generation that is not what the session is migrated to, however it goes on."""
    version = present.format_version
    stored = read.stored_events(database, present)
    pieces = chain([present.header_line + b"\n"], (rows.log_lines(e, version) for e in stored))
    here, at = b"", 0
    for seq, line in _lines(successor, version):
        while len(here) - at < len(line) and (piece := next(pieces, b"")):
            here, at = here[at:] + piece, 0
        if not here.startswith(line, at):
            where = "its header" if seq is None else f"its event {seq}"
            raise MigrationRefused(
                None if seq is None else successor.origin(seq),
                f"session {present.session_id!r} is here as v{version} already, and {where} is "
                "not what this one would be migrated to; both stay as they are",
            )
        at += len(line)


def _lines(successor: _Successor, version: int) -> Iterator[tuple[int | None, bytes]]:
    yield None, (successor.header.raw or successor.header.text.encode()) + b"\n"
    for stored in successor.events():
        yield stored.seq, rows.log_lines(stored, version)


def _store(event: Event, version: int, origin: int) -> StoredEvent:
    try:
        return rows.store(event, version)
    except RowRefused as refusal:
        raise MigrationRefused(origin, str(refusal)) from None


def _read_header(session: read.SessionRow) -> Header:
    try:
        return headers.read(session.header_line)
    except LogRefused as refusal:
        raise MigrationRefused(None, refusal.reason) from None


def _generation(database: Database, session_id: str, version: int) -> read.SessionRow | None:
    found = read.generations(database, session_id)
    return next((row for row in found if row.format_version == version), None)
