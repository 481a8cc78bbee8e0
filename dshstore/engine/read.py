"""The only reader that knows segments, runs and cut streams: sessions, events, surface, messages.

Reading follows a session's segments into the rows of its ancestors, so a fork reads like any
other session. Events are immutable, so a page read later still fits a page read before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from dshstore.db import Database, Row
from dshstore.engine import derive
from dshstore.errors import (
    EventNotFound,
    SessionNotFound,
    StreamRefused,
    TextUnreadable,
    UnknownEvent,
)
from dshstore.formats.dsh import rows, vocabulary
from dshstore.formats.dsh.cutting import SETTLEMENTS
from dshstore.formats.dsh.envelope import CHUNK
from dshstore.model import MAX_SAFE, StoredEvent, StreamPart
from dshstore.sqlfiles import Statement, load
from dshstore.streams.records import expand

#: Rows of one page: small, for one row may hold many megabytes.
_PAGE = 256


class SessionRow(msgspec.Struct, frozen=True):
    """One generation of a session, as its row in `sessions` has it (`key` is `sessions.id`)."""

    key: int
    session_id: str
    format_version: int
    created_at: int
    header: str
    header_raw: bytes | None
    runtime: str
    next_seq: int
    inherited_count: int
    forked_from: int | None
    forked_at: int | None

    @property
    def header_line(self) -> bytes:
        """The log's first line, without its LF."""
        return self.header.encode() if self.header_raw is None else self.header_raw


class _Statements(msgspec.Struct, frozen=True):
    session_by_key: Statement
    last_of_type: Statement
    session_by_id: Statement
    session_by_prefix: Statement
    segments: Statement
    rows: Statement
    rows_of_type: Statement
    row_at: Statement
    surface_now: Statement
    surface_at: Statement
    messages_now: Statement
    messages_at: Statement
    types_present: Statement


_SQL = load("read", _Statements)


def generations(database: Database, session_id: str) -> list[SessionRow]:
    """The generations of the session with exactly this id, the highest first."""
    found = database.query(_SQL.session_by_id, {"session_id": session_id})
    return [SessionRow(*row) for row in found]


def reload(database: Database, session: SessionRow) -> SessionRow:
    """The session as it stands now. Raises SessionNotFound when it was deleted."""
    found = session_by_key(database, session.key)
    if found is None:
        raise SessionNotFound(session.session_id)
    return found


def session_by_key(database: Database, key: int) -> SessionRow | None:
    """One generation of a session, by its number."""
    found = database.query(_SQL.session_by_key, {"key": key})
    return SessionRow(*found[0]) if found else None


def find_session(database: Database, name: str) -> SessionRow:
    """The session that `name` means: a whole id, `ID@vN`, or an unambiguous prefix of an id.

    Without `@vN` it is the highest generation. Raises SessionNotFound, with the candidates when
    a prefix fits several ids.
    """
    if whole := generations(database, name):
        return whole[0]
    stem, _, version = name.rpartition("@v")
    if stem and version.isascii() and version.isdigit():
        for generation in generations(database, stem):
            if generation.format_version == int(version):
                return generation
    found = [SessionRow(*r) for r in database.query(_SQL.session_by_prefix, {"prefix": name})]
    ids = list(dict.fromkeys(row.session_id for row in found))
    if len(ids) == 1 and name:
        return found[0]
    raise SessionNotFound(name, ids[:10] if name else ())


def check_seq(session: SessionRow, seq: int) -> None:
    """Raise EventNotFound unless the session has an event `seq`."""
    if not 0 <= seq < session.next_seq:
        raise EventNotFound(session.session_id, seq, session.next_seq)


def segments(database: Database, session: SessionRow) -> list[tuple[int, int, int]]:
    """The parts of a session's log in order: first seq, last seq, and whose rows hold it."""
    return [(a, b, c) for a, b, c in database.query(_SQL.segments, {"session": session.key})]


def stored_events(
    database: Database,
    session: SessionRow,
    first: int = 0,
    last: int = MAX_SAFE,
    type: str | None = None,
) -> Iterator[StoredEvent]:
    """The rows that hold the events first..last, in order.

    A run that begins before `first` is given whole (skip its members by seq); one that a fork's
    boundary cuts, or that goes beyond `last`, is clipped there.
    """
    last = min(last, session.next_seq - 1)
    for begins, ends, owner in database.query(_SQL.segments, {"session": session.key}):
        start, stop = max(first, begins), min(last, ends)
        if start > stop:
            continue
        after = database.query(_SQL.row_at, {"owner": owner, "seq": start})[0][0]
        start = max(begins, after if after is not None else start)
        while start <= stop:
            page = {"owner": owner, "first": start, "last": stop, "page": _PAGE}
            found = (
                database.query(_SQL.rows, page)
                if type is None
                else database.query(_SQL.rows_of_type, {"type": type, **page})
            )
            for row in found:
                event = make_event(row)
                if event.seq + event.count - 1 > stop:
                    event = rows.clip(event, stop - event.seq + 1, session.format_version)
                yield event
            if len(found) < _PAGE:
                break
            start = found[-1][0] + found[-1][1]


def end_time(stored: StoredEvent) -> int:
    """The time (epoch ms) of a row's event, of a run its last member's."""
    part = stored.stream
    if part is None or part.at is not None or part.last_time is None:
        return stored.time
    return part.last_time


def last_of_type(database: Database, session: SessionRow, type: str) -> int | None:
    """The seq of the last event of one type."""
    found = database.query(_SQL.last_of_type, {"session": session.key, "type": type})
    return found[0][0] if found else None


def surface(database: Database, session: SessionRow, at: int | None = None) -> list[int]:
    """The seqs on the surface, in order: now, or as they were after event `at`."""
    if at is None:
        return [row[0] for row in database.query(_SQL.surface_now, {"session": session.key})]
    check_seq(session, at)
    found = database.query(_SQL.surface_at, {"session": session.key, "at": at})
    return [row[0] for row in found]


def first_unknown(
    database: Database, session: SessionRow, at: int | None = None
) -> UnknownEvent | None:
    """The first event of an unknown type that is not marked ignorable, up to `at`, if any."""
    end = session.next_seq - 1 if at is None else at
    unknown: list[tuple[int, str]] = []
    for begins, ends, owner in database.query(_SQL.segments, {"session": session.key}):
        part = {"owner": owner, "first": begins, "last": min(ends, end)}
        unknown += [
            (seq, type)
            for type, seq in database.query(_SQL.types_present, part)
            if seq is not None and not vocabulary.is_known(type, session.format_version)
        ]
    return UnknownEvent(*min(unknown)) if unknown else None


def messages(
    database: Database,
    session: SessionRow,
    at: int | None = None,
    *,
    allow_unknown: bool = False,
) -> Iterator[bytes]:
    """The messages that the model sees, as JSON exactly as the log holds them.

    Now, or as they were after event `at`. Raises UnknownEvent for a log that holds a required
    event of unknown type, unless `allow_unknown`.
    """
    found = messages_by_seq(database, session, at, allow_unknown=allow_unknown)
    return (message for _, message in found if message is not None)


def messages_by_seq(
    database: Database,
    session: SessionRow,
    at: int | None = None,
    *,
    allow_unknown: bool = False,
) -> Iterator[tuple[int, bytes | None]]:
    """As `messages`, each with the seq of its event, None for one that shows the model nothing."""
    if at is not None:
        check_seq(session, at)
    if not allow_unknown and (unknown := first_unknown(database, session, at)):
        raise unknown
    version, session_id = session.format_version, session.session_id
    asked: dict[str, int] = {"session": session.key, "version": version}
    found = (
        database.query(_SQL.messages_now, asked)
        if at is None
        else database.query(_SQL.messages_at, {**asked, "at": at})
    )
    offloaded = _offloaded(database, session, at)
    for seq, type, data, raw, time, surface_op in found:
        if raw is None and version > 0 and seq not in offloaded:
            yield seq, derive.plain_message_json(type, data)
            continue
        event = StoredEvent(seq, 1, type, time or 0, _text(data), None, surface_op, None, raw)
        message = derive.message_json(
            event,
            version,
            session_id=session_id,
            message_id_at=lambda start: _message_id(database, session, start),
            offloaded=offloaded.get(seq, ()),
        )
        yield seq, message


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise TextUnreadable(f"a row holds text that is not UTF-8: {data[:80]!r}") from None


def _offloaded(database: Database, session: SessionRow, at: int | None) -> dict[int, set[int]]:
    if (
        session.format_version < derive.OFFLOADS_SINCE
        or last_of_type(database, session, "image/offload") is None
    ):
        return {}
    last = MAX_SAFE if at is None else at
    found = stored_events(database, session, last=last, type="image/offload")
    return derive.offloaded_images(logical_events(found, session.format_version))


def _message_id(database: Database, session: SessionRow, seq: int) -> str | None:
    for event in stored_events(database, session, seq, seq):
        message = derive.message_json(
            event,
            session.format_version,
            session_id=session.session_id,
            message_id_at=lambda start: _message_id(database, session, start),
        )
        return derive.message_id(message) if message is not None else None
    return None


def logical_events(
    stored: Iterable[StoredEvent], version: int, first: int = 0
) -> Iterator[dict[str, Any]]:
    """The logical events of these rows, from seq `first` on."""
    for event in stored:
        for logical in rows.logical(event, version):
            if event.count == 1 or logical["seq"] >= first:
                yield logical


def stream_chunks(stored: StoredEvent, session: SessionRow) -> list[dict[str, Any]]:
    """The timed chunks that a row of events holds. Raises StreamRefused for what is no stream."""
    timed: list[dict[str, Any]] = []
    for event in rows.logical(stored, session.format_version):
        data = event["data"] if isinstance(event["data"], dict) else {}
        if event["type"] == CHUNK:
            if not isinstance(data.get("chunk"), dict):
                raise StreamRefused(f"event {event['seq']} has no chunk")
            timed.append({"time": event["time"], "chunk": data["chunk"]})
        elif event["type"] in SETTLEMENTS and isinstance(data.get("stream"), list):
            timed += expand(data["stream"])
    return timed


def make_event(row: Row) -> StoredEvent:
    """The stored event of a row of `events`, with the columns of its row of `streams` behind."""
    seq, count, type, time, data, sources, op, ignorable, raw = row[:9]
    stream = StreamPart(*row[9:]) if row[11] is not None else None
    return StoredEvent(seq, count, type, time, data, sources, op, ignorable, raw, stream)
