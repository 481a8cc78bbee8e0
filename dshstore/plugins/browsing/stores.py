"""Which of Datasette's databases are stores, and what it is told of them.

A store is known by the marks in its file, seen on the first connection to it; every other
database is left alone.
"""

from __future__ import annotations

from contextlib import suppress
from sqlite3 import Connection, DatabaseError
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from dshstore.plugins.browsing.descriptions import describe, statement
from dshstore.plugins.functions import register_functions

if TYPE_CHECKING:
    from datasette.app import Datasette

#: For each Datasette of this process, the metadata of those of its databases that are stores.
_known: WeakKeyDictionary[Datasette, dict[str, dict[str, Any]]] = WeakKeyDictionary()


def prepare(connection: Connection, database: str, datasette: Datasette) -> None:
    """Add the SQL functions to a connection to a store, and remember that it is one."""
    if register_functions(connection):
        stores = _known.setdefault(datasette, {})
        if database not in stores:
            stores[database] = describe(connection.execute(statement("columns")).fetchall())


async def find(datasette: Datasette) -> None:
    """Connect to every database once, so that what is a store is known from the start."""
    for name, database in list(datasette.databases.items()):
        if name not in _known.get(datasette, {}):
            with suppress(DatabaseError):  # Datasette tells of it when it is asked for
                await database.execute("SELECT 1")


def is_store(datasette: Datasette, database: str | None) -> bool:
    """Whether this database is a store."""
    return database in _known.get(datasette, {})


def names(datasette: Datasette) -> list[str]:
    """The databases that are stores."""
    return list(_known.get(datasette, {}))


def metadata(datasette: Datasette) -> dict[str, Any]:
    """What Datasette is told of the stores."""
    return {"databases": _known.get(datasette, {})}
