"""A store at a glance: its sessions, one line each, and what the file holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from dshstore.db import Database
from dshstore.engine.choosing import check_limit, name_folder
from dshstore.sqlfiles import Statement, load


class SessionSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One session at a glance: a row of the view `sessions_overview`, times in epoch ms.

    `generations` are the format versions of it that stand in the store; the others speak of the
    highest.
    """

    session_id: str
    format_version: int
    generations: list[int]
    title: str | None
    first_prompt: str | None
    project: str | None
    runtime: str
    model: str | None
    turns: int
    events: int
    inherited: int
    tokens: int
    surface_nodes: int
    first_time: int | None
    last_time: int | None
    created_at: int
    parent_session: str | None
    open_turn: int | None


class _Statements(msgspec.Struct, frozen=True):
    sessions: Statement
    generations: Statement
    counts: Statement


_SQL = load("overview", _Statements)


class Filters(msgspec.Struct, frozen=True, kw_only=True):
    """Which sessions are wanted: those that fit all that is not None (see `Store.sessions`)."""

    project: str | None = None
    since: int | None = None
    model: str | None = None
    text: str | None = None


def summarize_sessions(
    database: Database, filters: Filters, limit: int | None = None
) -> list[SessionSummary]:
    """The sessions that fit, at most `limit`, the one that was last written to first.

    Raises ValueError for a limit that is none.
    """
    wanted = msgspec.structs.asdict(filters)
    if filters.text is not None:
        from dshstore.jsontext import dump

        wanted["text"] = dump(filters.text)[1:-1]  # as it stands in a payload
    if filters.project is not None:
        wanted["project"] = name_folder(filters.project)
    wanted["limit"] = -1 if limit is None else check_limit(limit)
    generations: dict[str, list[int]] = {}
    with database.reading():
        for session_id, version in database.query(_SQL.generations):
            generations.setdefault(session_id, []).append(version)
        found = database.query(_SQL.sessions, wanted)
    fields = SessionSummary.__struct_fields__[3:]
    return [
        SessionSummary(
            session_id=session_id,
            format_version=version,
            generations=generations[session_id],
            **dict(zip(fields, rest, strict=True)),
        )
        for _, session_id, version, *rest in found
    ]


def describe_store(database: Database) -> dict[str, Any]:
    """What the file is and how much it holds."""
    counts = database.query(_SQL.counts)[0]
    names = ("sessions", "generations", "events", "rows", "imports", "quarantined")
    return {
        "path": database.path,
        "schema_version": database.pragma("user_version"),
        "sqlite_version": counts[-1],
        "journal_mode": database.pragma("journal_mode"),
        "page_size": database.pragma("page_size"),
        "size": Path(database.path).stat().st_size,
        **dict(zip(names, counts, strict=False)),
    }
