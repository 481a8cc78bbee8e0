"""What a session needs in memory to go on writing: its surface, its turns, its last header.

A session of a million events is taken up again without reading its log: the live nodes come from
the store, the payloads that later events are held against (tool results, images, tool lists of
request headers) are read where a rule asks for them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from dshstore.db import Database
from dshstore.engine import payload, read
from dshstore.engine.derive import OFFLOADS_SINCE, offloaded_images
from dshstore.engine.repair import TurnTracker, append_closers, find_closers, follow_open_turn
from dshstore.engine.surface import Node, Surface
from dshstore.errors import Conflict
from dshstore.formats.dsh import rows
from dshstore.model import StoredEvent
from dshstore.sqlfiles import Statement, load


class _Statements(msgspec.Struct, frozen=True):
    live_nodes: Statement
    last_event: Statement


_SQL = load("resuming", _Statements)


class Standing(msgspec.Struct, frozen=True):
    """What a session goes on from; `route` has provider and model of its last request header."""

    surface: Surface
    tracker: TurnTracker
    route: tuple[str, str] | None


def find_standing(database: Database, session: read.SessionRow) -> Standing:
    """What is needed to append to a stored session, all of one moment."""
    if not session.next_seq:
        return Standing(Surface(session.format_version), TurnTracker(), None)
    with database.reading():
        return _read_standing(database, session)


class TakenUp(NamedTuple):
    """A session as it stood at one moment, and what it goes on from.

    `seed_due`: a `session/end-seed` is to come before its next event, for the log does not end
    with one.
    """

    session: read.SessionRow
    standing: Standing
    seed_due: bool


def take_up(database: Database, session: read.SessionRow, *, allow_unknown: bool) -> TakenUp:
    """Close the turn in which a session was interrupted, and read how it stands.

    Raises UnknownEvent unless `allow_unknown`, Conflict when another writer is at it.
    """
    with database.reading():
        session = read.reload(database, session)
        if not allow_unknown and (unknown := read.first_unknown(database, session)):
            raise unknown
        if not find_closers(database, session):
            return _read_taken_up(database, session)
    end = session.next_seq + len(append_closers(database, session))
    with database.reading():
        session = read.reload(database, session)
        if session.next_seq != end:
            raise Conflict(end, session.next_seq, session.session_id)
        return _read_taken_up(database, session)


def _read_taken_up(database: Database, session: read.SessionRow) -> TakenUp:
    sealed = read.last_of_type(database, session, "session/end-seed")
    return TakenUp(session, _read_standing(database, session), sealed != session.next_seq - 1)


def _read_standing(database: Database, session: read.SessionRow) -> Standing:
    return Standing(
        resume_surface(database, session),
        resume_tracker(database, session),
        last_route(database, session),
    )


def resume_surface(database: Database, session: read.SessionRow) -> Surface:
    """The surface of a stored session, ready for its next event."""
    version = session.format_version
    images = version >= OFFLOADS_SINCE
    offloaded: dict[int, set[int]] = {}
    headers: dict[int, frozenset[str]] = {}
    if images:
        found = read.stored_events(database, session, type="image/offload")
        offloaded = offloaded_images(read.logical_events(found, version))
        headers = {
            event.seq: payload.read_tool_names(
                rows.stored_value(event.seq, rows.data_bytes(event, version))
            )
            for event in read.stored_events(database, session, type="request/header")
        }
    nodes = []
    for seq, pos, type, time, data, raw in database.query(
        _SQL.live_nodes, {"session": session.key}
    ):
        held: Any = None
        if type == "tool/result" or (images and type == "user/message"):
            stored = StoredEvent(seq, 1, type, time, data, raw=raw)
            held = rows.stored_value(seq, rows.data_bytes(stored, version))
        flags = payload.flag_images(type, held) if images else None
        if seq in offloaded:
            flags = payload.offload_images(flags, sorted(offloaded[seq]), seq)
        digest = payload.digest_result(held, version) if type == "tool/result" else None
        nodes.append(Node(seq, pos, type, digest, flags))
    return Surface.resume(version, session.next_seq, nodes, headers)


def resume_tracker(database: Database, session: read.SessionRow) -> TurnTracker:
    """The turn, step and calls that are open, and the numbers that the next ones follow on."""
    tracker = follow_open_turn(database, session)
    if tracker.turn is None and (begun := last_event(database, session, "turn/start")):
        tracker.push({**begun, "type": "turn/start"})
        tracker.push({**begun, "type": "turn/end"})
    return tracker


def last_route(database: Database, session: read.SessionRow) -> tuple[str, str] | None:
    """The provider and the model of the last request header; None without one."""
    found = last_event(database, session, "request/header")
    header = found["data"].get("header") if found and isinstance(found["data"], dict) else None
    config = header.get("config") if isinstance(header, dict) else None
    if not isinstance(config, dict):
        return None
    match config.get("provider"), config.get("model"):
        case str(provider), str(model):
            return provider, model
        case _:
            return None


def last_event(database: Database, session: read.SessionRow, type: str) -> dict[str, Any] | None:
    """The last event of a type that has neither runs nor streams, as the log has it."""
    found = database.query(_SQL.last_event, {"session": session.key, "type": type})
    stored = [StoredEvent(*row) for row in found]
    return next(read.logical_events(stored, session.format_version), None)
