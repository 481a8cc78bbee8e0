"""What a session needs in memory to go on writing: its surface, from the live nodes alone.

A session of a million events is taken up again without reading its log: the live nodes come from
the store, the payloads that later events are held against (tool results, images, tool lists of
request headers) are read where a rule asks for them.
"""

from __future__ import annotations

from typing import Any

import msgspec

from dshstore.db import Database
from dshstore.engine import payload, read
from dshstore.engine.derive import OFFLOADS_SINCE, offloaded_images
from dshstore.engine.surface import Node, Surface
from dshstore.formats.dsh import rows
from dshstore.jsontext import parse
from dshstore.model import StoredEvent
from dshstore.sqlfiles import Statement, load


class _Statements(msgspec.Struct, frozen=True):
    live_nodes: Statement


_SQL = load("resuming", _Statements)


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
            event.seq: payload.read_tool_names(parse(rows.data_bytes(event, version)))
            for event in read.stored_events(database, session, type="request/header")
        }
    nodes = []
    for seq, pos, type, time, data, raw in database.query(
        _SQL.live_nodes, {"session": session.key}
    ):
        held: Any = None
        if type == "tool/result" or (images and type == "user/message"):
            held = parse(rows.data_bytes(StoredEvent(seq, 1, type, time, data, raw=raw), version))
        flags = payload.flag_images(type, held) if images else None
        if seq in offloaded:
            flags = payload.offload_images(flags, sorted(offloaded[seq]), seq)
        digest = payload.digest_result(held, version) if type == "tool/result" else None
        nodes.append(Node(seq, pos, type, digest, flags))
    return Surface.resume(version, session.next_seq, nodes, headers)
