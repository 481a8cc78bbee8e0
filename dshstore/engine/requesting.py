"""What a model was sent: the whole request at a point of a session.

Decides which request header and which system prompt are in force there; the messages are read as
anywhere. Format notes v0, section 2; v0-v4, section 7.3.
"""

from __future__ import annotations

from typing import Any

import msgspec

from dshstore.db import Database
from dshstore.engine import derive, read
from dshstore.model import MAX_SAFE
from dshstore.sqlfiles import Statement, load


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A model request: `messages` are all that the model sees.

    `config` names provider and model and has the options; it is None before the first request
    header, which is event `header_seq`. `system` is the system prompt as content blocks; from
    format v3 on it is the first of the messages as well.
    """

    header_seq: int | None
    config: dict[str, Any] | None
    system: list[Any]
    tools: list[Any]
    messages: list[Any]


class _Statements(msgspec.Struct, frozen=True):
    last_header: Statement


_SQL = load("requesting", _Statements)


def build_request(
    database: Database, session: read.SessionRow, at: int | None, *, allow_unknown: bool = False
) -> Request:
    """The request that would be sent after event `at`, or now.

    Raises as `read.messages` does.
    """
    found = list(read.messages(database, session, at, allow_unknown=allow_unknown))
    messages = [derive.parse_message(message) for message in found]
    until = {"session": session.key, "at": MAX_SAFE if at is None else at}
    seq = next((row[0] for row in database.query(_SQL.last_header, until)), None)
    header = {} if seq is None else _header(database, session, seq)
    return Request(
        header_seq=seq,
        config=header.get("config"),
        system=_system(header, messages),
        tools=header.get("tools") or [],
        messages=messages,
    )


def _header(database: Database, session: read.SessionRow, seq: int) -> dict[str, Any]:
    stored = read.stored_events(database, session, seq, seq)
    [event] = read.logical_events(stored, session.format_version)
    header = event["data"].get("header") if isinstance(event["data"], dict) else None
    return header if isinstance(header, dict) else {}


def _system(header: dict[str, Any], messages: list[Any]) -> list[Any]:
    if isinstance(text := header.get("system"), str):
        return [{"type": "text", "text": text}]
    first = messages[0] if messages else {}
    return list(first["content"]) if first.get("role") == "system" else []
