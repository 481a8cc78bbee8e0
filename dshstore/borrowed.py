"""A store read through a connection that another program has open.

For plugins of programs that hold the file with an SQLite library of their own: to open it once
more with ours would drop their locks. Nothing is opened here, and nothing can be written. What
is read of a session is `Session`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from dshstore.db import Database, Parameters, Row
from dshstore.engine import read
from dshstore.errors import NotAStore, SessionNotFound, UnsupportedSchema
from dshstore.schema import APPLICATION_ID, SCHEMA_VERSION
from dshstore.session import Session
from dshstore.sqlfiles import Statement

#: Runs a statement with `:named` parameters on the connection; its rows, as sequences.
Ask = Callable[[str, dict[str, Any]], Iterable[Sequence[Any]]]


def is_store(ask: Ask) -> bool:
    """Whether the file behind the connection is a store that this release reads."""
    return _marks(ask) == (APPLICATION_ID, SCHEMA_VERSION)


def session(ask: Ask, name: str | int) -> Session:
    """The session that `name` means: an id, `ID@vN`, a prefix of an id, or its number in views.

    Raises NotAStore, UnsupportedSchema or SessionNotFound; what `ask` raises passes through.

    `session(lambda sql, values: connection.execute(sql, values), "bean-bed").messages()`
    """
    application_id, version = _marks(ask)
    if application_id != APPLICATION_ID:
        raise NotAStore(
            _PATH, f"an SQLite file of another program (application id {application_id})"
        )
    if version != SCHEMA_VERSION:
        raise UnsupportedSchema(_PATH, version, SCHEMA_VERSION)
    database = _Borrowed(ask)
    if isinstance(name, str):
        return Session(database, read.find_session(database, name))
    found = read.session_by_key(database, name)
    if found is None:
        raise SessionNotFound(str(name))
    return Session(database, found)


#: What messages call a file of which only a connection is known.
_PATH = "this file"


def _marks(ask: Ask) -> tuple[int, int]:
    application_id, version = (
        next(iter(ask(f"PRAGMA {name}", {})))[0] for name in ("application_id", "user_version")
    )
    return application_id, version


class _Borrowed(Database):
    """The half of the seam that reads, over the connection of another library."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self.path = _PATH

    def query(self, statement: Statement, parameters: Parameters = ()) -> list[Row]:
        named = dict(parameters) if isinstance(parameters, Mapping) else {}
        try:
            return [tuple(row) for row in self._ask(statement.sql, named)]
        except UnicodeEncodeError:  # half a surrogate pair, which no column can hold
            return []
