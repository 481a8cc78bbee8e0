"""What makes a file a store: create one, identify one, refuse everything else.

A store of another schema version, or one whose own tables, views or triggers were changed, is
refused before a byte of it changes; there is no upgrade in place (export with the release that
wrote it, import with this one). Views, indexes and tables that a user added are tolerated, added
triggers on our tables are not.
"""

from __future__ import annotations

import warnings
from contextlib import suppress
from pathlib import Path

import msgspec

from dshstore.db import Database, Durability
from dshstore.errors import NotAStore, NoWriteAheadLog, StoreError, UnsupportedSchema
from dshstore.sqlfiles import Statement, load, schema_objects

#: "dshs" in ASCII, in the SQLite header of every store.
APPLICATION_ID = 0x64736873

#: Raised with every change of an object in `sql/table`, `sql/view` or `sql/trigger`.
SCHEMA_VERSION = 1

#: SHA-256 of all these objects at SCHEMA_VERSION: a test holds the two together.
SCHEMA_DIGEST = "36afe5985b63ffb9c13cedda87a5869102431f33dba1fa4eb6aade09e6520f84"


class _Statements(msgspec.Struct, frozen=True):
    objects: Statement


_SQL = load("schema", _Statements)


def create(path: str) -> Database:
    """A new store, open for writing; an existing sound store is opened as it is."""
    if Path(path).exists() and Path(path).stat().st_size:
        return open_store(path)
    with suppress(FileNotFoundError):
        if Path(f"{path}-wal").stat().st_size:
            raise NotAStore(path, f"empty, but {path}-wal is not: a store lost its main file")
    database = Database.create(path, _build)
    _check(database)
    database.set_journal_wal()
    return database


def open_store(path: str, *, durability: Durability = "FULL") -> Database:
    """An existing store, open for writing."""
    identify(path)
    database = Database.open(path, "write", durability=durability)
    _log_ahead(database)
    return database


def open_reading(path: str) -> Database:
    """An existing store, open for reading alone."""
    identify(path)
    return Database.open(path, "read")


def identify(path: str) -> None:
    """Refuse a file that is not a sound store of this schema version; touches nothing.

    Raises NotAStore, UnsupportedSchema or CorruptStore.
    """
    place = Path(path)
    if not place.exists():
        raise NotAStore(path, "no such file; `dshstore init` or `import` makes one")
    if place.is_dir():
        raise NotAStore(path, "it is a folder")
    if not place.stat().st_size:
        raise NotAStore(path, "the file is empty; `dshstore init` makes it a store")
    database = Database.peek(path)
    try:
        _check(database)
    finally:
        database.close()


def _log_ahead(database: Database) -> None:
    """Write ahead to a log; where there can be none, warn and go on with a rollback journal."""
    if (mode := database.set_journal_wal()) != "wal":
        warnings.warn(NoWriteAheadLog(database.path, mode), stacklevel=4)


def _build(database: Database) -> None:
    if database.pragma("application_id") == APPLICATION_ID:
        return  # another process was first
    if database.query(_SQL.objects):
        raise NotAStore(database.path, "it holds other tables")
    for item in schema_objects():
        database.execute_script(item.sql)
    database.pragma("application_id", APPLICATION_ID)
    database.pragma("user_version", SCHEMA_VERSION)


def _check(database: Database) -> None:
    path = database.path
    objects = database.query(_SQL.objects)
    found_id = database.pragma("application_id")
    if found_id != APPLICATION_ID:
        raise NotAStore(path, f"an SQLite file of another program (application id {found_id})")
    version = database.pragma("user_version")
    if version != SCHEMA_VERSION:
        raise UnsupportedSchema(path, version, SCHEMA_VERSION)
    found = {name: (kind, sql) for kind, name, _, sql in objects}
    ours = {item.name: item for item in schema_objects()}
    for name, item in ours.items():
        if name not in found:
            raise _changed(path, f"{item.kind} {name} is missing")
        if found[name] != (item.kind, item.sql):
            raise _changed(path, f"{item.kind} {name} was changed")
    for kind, name, table, _ in objects:
        if kind == "trigger" and name not in ours and table in ours:
            raise _changed(path, f"trigger {name} on {table} is not part of it")


def _changed(path: str, what: str) -> StoreError:
    return UnsupportedSchema(
        path,
        SCHEMA_VERSION,
        SCHEMA_VERSION,
        f"the store's schema is damaged: {what}; export what is readable with sqlite3, or "
        "restore a backup",
    )
