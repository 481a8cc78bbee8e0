"""What is drawn of a session's context: plain rows, and the statements that give them.

Whoever has a connection can fill a `Context`: `read_context` takes a function that runs a
statement, so another tool reads with the SQLite library and the connection that it has. How it
is drawn is for `drawing`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

import msgspec

from dshstore.errors import SessionNotFound
from dshstore.sqlfiles import Statement, load

#: Runs one reading statement with its `:named` parameters; its rows.
Ask = Callable[[str, dict[str, Any]], Iterable[Sequence[Any]]]


class _Statements(msgspec.Struct, frozen=True):
    session: Statement
    calls: Statement
    compactions: Statement
    tool_results: Statement


_SQL = load("context", _Statements)


class Call(msgspec.Struct, frozen=True):
    """A call of a provider, where its usage stands in the log.

    `attempt` is a failed one, `compaction` one that wrote a summary. `input_tokens` are those
    that came neither from a cache nor went into one.
    """

    seq: int
    kind: Literal["message", "attempt", "compaction"]
    input_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int

    @property
    def context(self) -> int:
        """The tokens that the model was given."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens


class Compaction(msgspec.Struct, frozen=True):
    """An event that took the place of others on the surface: kind `summary`, `prune`, `edit`."""

    seq: int
    kind: str


class ToolResult(msgspec.Struct, frozen=True):
    """A result of a tool by the characters of text in it; `name` is None where no call has one."""

    seq: int
    name: str | None
    characters: int


class Context(msgspec.Struct, frozen=True):
    """A session's context over its log; everything in the order of the log.

    `events` is how many events there are, `inherited` how many of them a fork has from its
    parent. The calls in these are here where the store shares the parent's events.
    """

    session_id: str
    format_version: int
    title: str | None
    model: str | None
    events: int
    inherited: int = 0
    calls: tuple[Call, ...] = ()
    compactions: tuple[Compaction, ...] = ()
    tool_results: tuple[ToolResult, ...] = ()


def read_context(ask: Ask, session_id: str) -> Context:
    """The context of the session with just this id, by its highest generation.

    `ask(statement, parameters)` runs a statement on a store: `connection.execute` of the standard
    library's `sqlite3` will do, in a process that has the store open through that alone. Raises
    SessionNotFound.
    """
    parameters = {"session_id": session_id}

    def rows(statement: Statement) -> Iterable[Sequence[Any]]:
        return ask(statement.sql, parameters)

    for found, version, title, model, events, inherited in rows(_SQL.session):
        return Context(
            found,
            version,
            title,
            model,
            events,
            inherited,
            tuple(
                Call(seq, kind, *(max(0, tokens) for tokens in counts))
                for seq, kind, *counts in rows(_SQL.calls)
            ),
            tuple(Compaction(*row) for row in rows(_SQL.compactions)),
            tuple(
                ToolResult(seq, None if name is None else str(name), characters)
                for seq, name, characters in rows(_SQL.tool_results)
            ),
        )
    raise SessionNotFound(session_id)
