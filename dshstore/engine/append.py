"""The only writer of sessions, events and streams: rows in, refusals out.

What may enter is decided by the triggers of the store; this module feeds them in batches and
turns a refusal into the error that names the event. Whoever opens the transaction is `db.write`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from dshstore.db import Database, Parameters
from dshstore.errors import Conflict, EventRefused, RuleBroken, SessionExists, StoreError
from dshstore.model import Header, StoredEvent
from dshstore.sqlfiles import Statement, load

Item = tuple[Statement, Parameters | list[Parameters]]

#: A batch is this many rows or this many bytes, whichever comes first.
_BATCH_ROWS = 512
_BATCH_BYTES = 4 * 1024 * 1024


class _Statements(msgspec.Struct, frozen=True):
    last_key: Statement
    next_seq: Statement
    insert_session: Statement
    insert_event: Statement
    insert_stream: Statement


_SQL = load("append", _Statements)


def next_key(database: Database) -> int:
    """The number that the next new session gets; to be asked inside the writing transaction."""
    return int(database.query(_SQL.last_key)[0][0]) + 1


def new_session(
    key: int,
    header: Header,
    *,
    runtime: str = "dsh",
    forked_from: int | None = None,
    forked_at: int | None = None,
) -> Item:
    """The item for `db.write` that begins a session (a fork, with `forked_from` and `_at`)."""
    return _SQL.insert_session, (
        key,
        header.session_id,
        header.version,
        header.created_at,
        header.text,
        header.raw,
        runtime,
        forked_from,
        forked_at,
    )


def begin_session(database: Database, header: Header) -> None:
    """Write a new session's row. Raises SessionExists."""
    try:
        database.write(new_session(next_key(database), header) for _ in range(1))
    except RuleBroken as error:
        raise refusal(error, header.session_id) from error


class Batches:
    """Events as items for `db.write`, read lazily; it knows what it handed out last."""

    def __init__(self, events: Iterable[StoredEvent]) -> None:
        self._events = events
        self._batch: list[StoredEvent] = []

    def items(self, key: int) -> Iterator[Item]:
        """The items that append the events to session number `key`."""
        size = 0
        batch: list[StoredEvent] = []
        try:
            for event in self._events:
                # only now: whoever reads the events lets go of the lines before this one
                if len(batch) == _BATCH_ROWS or size >= _BATCH_BYTES:
                    yield from self._hand_out(key, batch)
                    size, batch = 0, []
                batch.append(event)
                size += len(event.data) + len(event.raw or b"")
                size += len(event.stream.body) if event.stream else 0
        except StoreError:
            yield from self._hand_out(
                key, batch
            )  # a rule broken by an earlier event is the first fault
            raise
        yield from self._hand_out(key, batch)

    def _hand_out(self, key: int, batch: list[StoredEvent]) -> Iterator[Item]:
        self._batch = batch
        if batch:
            yield (
                _SQL.insert_event,
                [_row(key, event) for event in batch],
            )
        streams: list[Parameters] = [
            (key, e.seq, s.at, s.size, s.body, s.first_time, s.last_time, s.usage, s.finish)
            for e in batch
            if (s := e.stream) is not None
        ]
        if streams:
            yield _SQL.insert_stream, streams
        self._batch = []

    def event_of(self, error: RuleBroken) -> StoredEvent | None:
        """The event whose row a trigger refused."""
        seq = _seq_of(error)
        return next((event for event in self._batch if event.seq == seq), None)


def _row(key: int, event: StoredEvent) -> tuple[Any, ...]:
    return (
        key,
        event.seq,
        event.count,
        event.type,
        event.time,
        event.data,
        event.source_event_seqs,
        event.surface_op,
        event.ignorable,
        event.raw,
    )


def append_events(
    database: Database, key: int, session_id: str, events: Sequence[StoredEvent]
) -> None:
    """Append events to a session in one transaction: all of them, or none.

    Raises Conflict when the session does not end where the first event begins (another writer
    was first), EventRefused when a trigger refuses one.
    """
    try:
        if len(events) == 1 and events[0].stream is None:
            database.write_row(_SQL.insert_event, _row(key, events[0]))
        else:
            database.write(Batches(events).items(key))
    except RuleBroken as error:
        if error.code == "seq-not-contiguous":
            actual = database.query(_SQL.next_seq, {"key": key})
            seq = _seq_of(error)
            expected = events[0].seq if seq is None else seq
            raise Conflict(expected, actual[0][0] if actual else 0, session_id) from error
        raise refusal(error, session_id) from error


def refusal(error: RuleBroken, session_id: str) -> StoreError:
    """What a trigger's refusal means to a caller."""
    if error.code == "session-exists":
        return SessionExists(session_id)
    seq = _seq_of(error)
    return EventRefused(error.code, session_id, -1 if seq is None else seq)


def _seq_of(error: RuleBroken) -> int | None:
    """The seq in the row that a trigger refused, where that is known."""
    seq = error.row[1] if isinstance(error.row, tuple) else None
    return seq if isinstance(seq, int) else None
