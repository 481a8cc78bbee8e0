"""A user's own SQL: it can only read, and what is wrong with it is told with its place."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import apsw

from dshstore.db.guarding import Guard
from dshstore.db.refusals import message_of
from dshstore.errors import QueryFailed

#: The parameters of one row. Names are bound in the order in which they first stand in the
#: statement when a sequence is given.
Parameters = Mapping[str, Any] | Sequence[Any]
Row = tuple[Any, ...]


def ask(
    connection: apsw.Connection,
    guard: Guard,
    sql: str,
    parameters: Parameters,
    seconds: float | None,
) -> tuple[list[str], Iterator[Row]]:
    """Run one statement on a connection that from then on can only read (see `Database.ask`)."""
    columns: list[str] = []
    begin = 0

    def describe(cursor: apsw.Cursor, statement: str, bindings: object) -> bool:
        nonlocal begin
        begin += len(statement)
        if cursor.has_vdbe:  # a comment has none
            if _is_statement(connection, sql[begin:]):
                raise QueryFailed("one statement at a time", sql, begin)
            if isinstance(parameters, Mapping):
                _refuse_unused(sql, parameters, cursor.bindings_names)
            columns.extend(str(column[0]) for column in cursor.get_description())
        return True

    with guard.lock, _asking(sql, seconds):
        only_read(connection, seconds)
        cursor = connection.cursor()
        cursor.exec_trace = describe
        try:
            cursor.execute(sql, parameters)
        except apsw.BindingsError:
            begin = 0
            parameters = _numbered(connection, sql, parameters)
            cursor.execute(sql, parameters)
    return columns, _rows(cursor, guard, sql, seconds)


def _is_statement(connection: apsw.Connection, sql: str) -> bool:
    """Whether this holds more than spaces and comments, be it right or wrong."""
    found: list[bool] = []

    def look(cursor: apsw.Cursor, statement: str, bindings: object) -> bool:
        found.append(cursor.has_vdbe)
        return False

    cursor = connection.cursor()
    cursor.exec_trace = look
    try:
        cursor.execute(sql)
    except apsw.ExecTraceAbort:
        return found[0]
    except apsw.Error:
        return True
    return False


def _numbered(connection: apsw.Connection, sql: str, given: Parameters) -> Sequence[Any]:
    """The values of a statement whose parameters have no names: by their numbers, from 1."""
    from apsw.ext import query_info  # slow to import, and rarely wanted

    names: Sequence[str | None] = query_info(connection, sql).bindings_names
    if not isinstance(given, Mapping):
        many = f"{len(names)} parameter{'' if len(names) == 1 else 's'}"
        raise QueryFailed(f"the SQL has {many}, and {len(given)} values are given", sql)
    _refuse_unused(sql, given, names)
    has_gaps = any(name is not None and name.isdigit() for name in names)
    numbered = [name or str(number) for number, name in enumerate(names, 1)]
    return [given.get(name) if has_gaps else given[name] for name in numbered]


def _refuse_unused(sql: str, given: Mapping[str, Any], names: Sequence[str | None]) -> None:
    used = {name or str(number) for number, name in enumerate(names, 1)}
    for name in given:
        if name not in used:
            raise QueryFailed(f"the SQL has no parameter {_written(name)}", sql)


def _written(name: str) -> str:
    """A parameter as it stands in SQL."""
    return f"?{name}" if name.isdigit() else f":{name}"


def only_read(connection: apsw.Connection, seconds: float | None) -> None:
    """Let the connection do no more than read from now on, and no statement after `seconds`."""
    connection.authorizer = _reading_only
    deadline = float("inf") if seconds is None else time.monotonic() + seconds
    # without a deadline too: a handler in Python lets Ctrl-C in
    connection.set_progress_handler(lambda: time.monotonic() > deadline, 10_000)


def _rows(cursor: apsw.Cursor, guard: Guard, sql: str, seconds: float | None) -> Iterator[Row]:
    while True:
        with guard.lock, _asking(sql, seconds):
            row = next(cursor, None)
        if row is None:
            return
        yield row


@contextmanager
def _asking(sql: str, seconds: float | None) -> Iterator[None]:
    try:
        yield
    except apsw.InterruptError as error:
        raise QueryFailed(f"stopped: it took longer than {seconds:g} s", sql) from error
    except apsw.AuthError as error:
        raise QueryFailed(
            f"not allowed: this connection only reads ({message_of(error)})", sql
        ) from error
    except KeyError as error:
        name = _written(str(error.args[0]))
        raise QueryFailed(f"no value is given for the parameter {name}", sql) from error
    except (apsw.Error, TypeError, ValueError) as error:
        offset = getattr(error, "error_offset", -1)  # in bytes
        place = len(sql.encode()[:offset].decode(errors="ignore")) if offset >= 0 else None
        raise QueryFailed(message_of(error), sql, place) from error


#: What a user's SQL may do: read, call functions, recurse, and describe tables.
_READING = {apsw.SQLITE_SELECT, apsw.SQLITE_READ, apsw.SQLITE_FUNCTION, apsw.SQLITE_RECURSIVE}
_DESCRIBING = {
    "table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo",
    "foreign_key_list", "database_list", "function_list", "compile_options", "user_version",
    "application_id", "page_size", "page_count", "freelist_count", "journal_mode", "encoding",
    "schema_version", "collation_list", "pragma_list", "module_list",
}  # fmt: skip


def _reading_only(
    action: int, first: str | None, second: str | None, database: str | None, source: str | None
) -> int:
    if action in _READING:
        return apsw.SQLITE_OK
    if (
        action == apsw.SQLITE_PRAGMA
        and first in _DESCRIBING
        and (second is None or first not in ("user_version", "application_id", "journal_mode"))
    ):
        return apsw.SQLITE_OK
    return apsw.SQLITE_DENY
