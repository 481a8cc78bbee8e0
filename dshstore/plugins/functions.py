"""SQL functions for what plain SQL cannot unpack, on a connection that another program has open.

`dsh_messages(session [, seq])`, `dsh_events(session, first, last)`, `dsh_stream(session, seq)` and
`dsh_blocks(session, seq)`; a session is an id, `ID@vN`, a prefix of an id, or its number. Each
gives JSON text for `json_each`, and NULL where there is no such session or event. What is read is
what the connection sees, its own open transaction included.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from sqlite3 import Connection, DatabaseError
from typing import TYPE_CHECKING, Any

import dshstore
from dshstore.errors import EventNotFound, SessionNotFound, StoreError

if TYPE_CHECKING:
    from dshstore.borrowed import Ask

#: What marks a store, as `PRAGMA application_id` tells it. It is looked at first, for what reads
#: stores takes as long to load as the programs that load this, which mostly open other files.
APPLICATION_ID = 0x64736873

_log = logging.getLogger(__name__)


def register_functions(connection: Connection) -> bool:
    """Add the functions to a connection; whether it was one to a store.

    To any other file nothing is added: a function holds its connection, so that a program that
    forgets to close it would keep it for ever.
    """
    ask = asker(connection)
    with suppress(DatabaseError):  # no SQLite file, or busy: whoever opened it will be told
        [(mark,)] = ask("PRAGMA application_id", {})
        if mark == APPLICATION_ID and dshstore.borrowed.is_store(ask):
            for name, counts, function in _functions(ask):
                for count in counts:
                    connection.create_function(name, count, function)
            return True
    return False


def asker(connection: Connection) -> Ask:
    """How `dshstore.borrowed` asks this connection, whatever rows its owner wants of it."""

    def ask(sql: str, parameters: dict[str, Any]) -> Iterable[Sequence[Any]]:
        cursor = connection.cursor()
        cursor.row_factory = None
        return cursor.execute(sql, parameters)

    return ask


def _functions(
    ask: Ask,
) -> Iterable[tuple[str, tuple[int, ...], Callable[..., str | None]]]:
    def messages(session: str | int, at: Any = None) -> str:
        found = dshstore.borrowed.session(ask, session)
        return _array(found.messages_json(None if at in (None, "") else _seq(at)))

    def events(session: str | int, first: Any, last: Any) -> str:
        found = dshstore.borrowed.session(ask, session).events(_seq(first), _seq(last))
        return _array(dshstore.dump_json(event).encode() for event in found)

    def stream(session: str | int, seq: Any) -> str | None:
        chunks = dshstore.borrowed.session(ask, session).stream(_seq(seq))
        return dshstore.dump_json(chunks) if chunks else None

    def blocks(session: str | int, seq: Any) -> str | None:
        chunks = dshstore.borrowed.session(ask, session).stream(_seq(seq))
        return dshstore.dump_json(assembled_blocks(chunks)) if chunks else None

    return (
        ("dsh_messages", (1, 2), _told(messages)),
        ("dsh_events", (3,), _told(events)),
        ("dsh_stream", (2,), _told(stream)),
        ("dsh_blocks", (2,), _told(blocks)),
    )


def assembled_blocks(chunks: Iterable[Any]) -> list[dict[str, Any]]:
    """The content blocks that timed chunks add up to. Raises StreamRefused."""
    return dshstore.streams.assemble(dshstore.streams.compact(chunks)).blocks


def _array(items: Iterable[bytes]) -> str:
    return f"[{b','.join(items).decode()}]"


def _seq(value: Any) -> int:
    """A seq as SQL gives it: forms of web pages give numbers as text."""
    try:
        return int(value)
    except (TypeError, ValueError):
        raise StoreError(f"a seq is an integer, not {value!r:.40}") from None


def _told(function: Callable[..., str | None]) -> Callable[..., str | None]:
    """The function as SQL calls it: NULL for what is not there, the reason of a refusal logged.

    Python's library makes of every exception the words "user-defined function raised exception",
    so the reason goes to the log, which without further ado is stderr.
    """

    def call(session: Any, *rest: Any) -> str | None:
        if not isinstance(session, str | int):
            return None
        try:
            return function(session, *rest)
        except (SessionNotFound, EventNotFound) as error:
            if not getattr(error, "candidates", ()):
                return None
            _log.error("dsh_%s: %s", function.__name__, error)
            raise
        except (StoreError, ValueError) as error:  # JSON that is none is a ValueError
            _log.error("dsh_%s: %s", function.__name__, error)
            raise

    return call
