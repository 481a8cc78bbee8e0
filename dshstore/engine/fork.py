"""A new session that shares another one's log up to an event: no event is copied.

Decides what a fork inherits (the log up to the boundary and the folder, as with the harness: no
preset, no origin, no depth), how it marks the cut, and what becomes of a turn that the boundary
cuts. That it shares the parent's rows, and which events it sees then, is kept by the triggers.
Format notes v0, section 4.5; v0-v4, sections 3.4 and 9.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import structs

from dshstore.db import Database
from dshstore.engine import append, read, repair
from dshstore.errors import ForkRefused, RuleBroken
from dshstore.formats.dsh import header as headers
from dshstore.formats.dsh import rows
from dshstore.model import Header, StoredEvent


def fork_session(
    database: Database,
    parent: read.SessionRow,
    at: int | None,
    *,
    session_id: str,
    created_at: int,
    allow_unknown: bool = False,
) -> read.SessionRow:
    """Make session `session_id`, which shares the events of `parent` up to `at`, that included.

    Without `at` it shares all of them. All or nothing: marking the cut and closing an open turn
    are in the same transaction. Raises EventNotFound, SessionExists; ForkRefused for an open turn
    before format v4; UnknownEvent for a required event of unknown type up to `at`, unless
    `allow_unknown`.
    """
    boundary = parent.next_seq - 1 if at is None else at
    if at is not None:
        read.check_seq(parent, at)
    if not allow_unknown and (unknown := read.first_unknown(database, parent, boundary)):
        raise unknown
    header = _header(parent, boundary, session_id, created_at)
    made: list[read.SessionRow] = []
    try:
        database.write(_items(database, parent, boundary, header, made))
    except RuleBroken as error:
        raise append.refusal(error, session_id) from error
    return made[0]


def _header(parent: read.SessionRow, boundary: int, session_id: str, created_at: int) -> Header:
    version = parent.format_version
    return headers.write(
        version=version,
        session_id=session_id,
        created_at=created_at,
        cwd=headers.read(parent.header_line).cwd,
        parent_session=parent.session_id,
        seeded=version >= 2,
        seed_length=boundary + 1 if version < 2 else None,
    )


def _items(
    database: Database,
    parent: read.SessionRow,
    boundary: int,
    header: Header,
    made: list[read.SessionRow],
) -> Iterator[append.Item]:
    """What the transaction writes; it reads the fork as soon as it stands there.

    `made` gets the row of the fork as it is in the end.
    """
    fork = read.SessionRow(
        key=append.next_key(database),
        session_id=header.session_id,
        format_version=header.version,
        created_at=header.created_at,
        header=header.text,
        header_raw=header.raw,
        runtime=parent.runtime,
        next_seq=boundary + 1,
        inherited_count=boundary + 1,
        forked_from=parent.key if boundary >= 0 else None,
        forked_at=boundary if boundary >= 0 else None,
    )
    yield append.new_session(
        fork.key,
        header,
        runtime=fork.runtime,
        forked_from=fork.forked_from,
        forked_at=fork.forked_at,
    )
    tracker = repair.follow_open_turn(database, fork)
    if tracker.turn is not None and fork.format_version < repair.FIRST_CLASS_RESULTS:
        raise ForkRefused(parent.session_id, boundary, tracker.turn, fork.format_version)
    begun: list[StoredEvent] = []
    last = next(read.stored_events(database, fork, boundary), None)
    time = header.created_at if last is None else read.end_time(last)
    if fork.format_version >= 2 or last is None or last.type != "session/end-seed":
        data = {"inherited": True} if fork.format_version >= 2 else {}
        mark: dict[str, Any] = {"type": "session/end-seed", "seq": boundary + 1, "time": time}
        begun.append(rows.store({**mark, "data": data}, fork.format_version))
        tracker.reach(boundary + 1, time)
    if tracker.turn is not None:
        closers = tracker.closers(fork.format_version, "forked")
        begun += repair.store_lines(closers, fork.format_version)
    yield from append.Batches(begun).items(fork.key)
    made.append(structs.replace(fork, next_seq=fork.next_seq + len(begun)))
