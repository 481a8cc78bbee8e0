"""One SQLite connection: open, configure, query, write atomically, ask in a user's words.

The seam of the store: no cursor and no transaction crosses it, and apsw's errors become ours
here and nowhere else. It knows nothing of what a store holds; `schema` tells what is one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import apsw

from dshstore.errors import (
    CorruptStore,
    NotAStore,
    QueryFailed,
    RuleBroken,
    StoreBusy,
    StoreError,
    TextUnreadable,
    WriteFailed,
)
from dshstore.sqlfiles import Statement

#: The parameters of one row. Names are bound in the order in which they first stand in the
#: statement when a sequence is given.
Parameters = Mapping[str, Any] | Sequence[Any]
Row = tuple[Any, ...]

Mode = Literal["read", "write"]
Durability = Literal["FULL", "NORMAL"]

#: Seconds that a statement waits for another process's lock.
BUSY_TIMEOUT = 5.0

#: Rows of mixed size fit best into pages of 16 KiB; 8 KiB doubled the file where rows are 4 KB.
PAGE_SIZE = 16384

_CACHE_KIB = 16 * 1024


class Database:
    """An open SQLite file. Not for use by two threads at once."""

    def __init__(self, connection: apsw.Connection, path: str) -> None:
        self._connection = connection
        self.path = path

    @classmethod
    def open(cls, path: str, mode: Mode, *, durability: Durability = "FULL") -> Database:
        """Open an existing file. `read` never changes a row; it works in read-only folders too."""
        with _errors(path):
            if mode == "write":
                return cls(_configured(_connect(path, "rw"), durability), path)
            return cls(_configured(_connect_reading(path), None), path)

    @classmethod
    def peek(cls, path: str) -> Database:
        """Open a file whose nature is not known, so that not a byte of it or beside it changes."""
        with _errors(path):
            return cls(_connect_peeking(path), path)

    @classmethod
    def create(cls, path: str, build: Callable[[Database], None]) -> Database:
        """Open a new or empty file and let `build` fill it in one transaction.

        Processes that create one file at once wait for each other; `build` finds what the first
        of them built. The file is readable and writable by its owner alone.
        """
        with _errors(path), suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with _errors(path):
            connection = _connect(path, "rw")
            connection.pragma("page_size", PAGE_SIZE)
            database = cls(_configured(connection, "FULL"), path)
            with database._transaction():
                build(database)
            return database

    def close(self) -> None:
        """Close the file; doing so twice is harmless."""
        with _errors(self.path):
            self._connection.close()

    def set_journal_wal(self) -> str:
        """Switch to write-ahead logging; the mode that it really became, or stayed: `delete`."""
        deadline = time.monotonic() + BUSY_TIMEOUT
        while True:
            try:
                return str(self._connection.pragma("journal_mode", "wal"))
            except (apsw.IOError, apsw.ProtocolError):  # of a file system without shared memory
                return str(self.pragma("journal_mode"))
            except apsw.BusyError as error:  # the switch does not wait for locks by itself
                if time.monotonic() > deadline:
                    raise _translated(error, self.path) from error
                time.sleep(0.01)

    def pragma(self, name: str, value: int | None = None) -> Any:
        """Read or set one pragma."""
        with _errors(self.path):
            return self._connection.pragma(name, *(() if value is None else (value,)))

    def execute_script(self, sql: str) -> None:
        """Run statements without parameters, such as those that build a store."""
        with _errors(self.path):
            self._connection.execute(sql)

    def query(self, statement: Statement, parameters: Parameters = ()) -> list[Row]:
        """All rows of one statement; none for a text that no column can hold."""
        with _errors(self.path):
            try:
                return self._connection.execute(statement.sql, parameters).fetchall()
            except UnicodeEncodeError:  # half a surrogate pair, as a name that is not UTF-8 has
                return []

    def write(self, items: Iterable[tuple[Statement, Parameters | list[Parameters]]]) -> None:
        """Run all items in one transaction: all of them, or none.

        An item is a statement with the parameters of one row, or with a list of them. `items` is
        read lazily inside the transaction, so a generator that queries sees what it wrote, and
        what it raises undoes everything. Raises RuleBroken with the row that a trigger refused.
        """
        with self._transaction():
            for statement, parameters in items:
                if isinstance(parameters, list):
                    self._execute_many(statement, parameters)
                else:
                    self._execute_many(statement, [parameters])

    def _execute_many(self, statement: Statement, rows: list[Parameters]) -> None:
        taken = 0

        def counted() -> Generator[Parameters, None, None]:
            nonlocal taken
            for row in rows:
                taken += 1
                yield row

        with _errors(self.path):
            try:
                for _ in self._connection.executemany(statement.sql, counted()):
                    pass
            except apsw.ConstraintError as error:
                raise RuleBroken(_message(error), rows[taken - 1]) from error

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._roll_back()  # what an interrupt (Ctrl-C comes anywhere) left open
        try:
            self.execute_script("BEGIN IMMEDIATE")
            yield  # what this raises is no error of the store
            self.execute_script("COMMIT")
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        if not self._connection.get_autocommit():
            self.execute_script("ROLLBACK")

    def backup(self, destination: str) -> None:
        """Copy the whole file, as it is at one moment, to a new file, while others write.

        Nothing is left at `destination` when it raises.
        """
        with _errors(destination):
            try:
                os.close(os.open(destination, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            except FileExistsError:
                raise WriteFailed(f"{destination}: the file exists; name a new one") from None
            try:
                self._copy_to(destination)
            except BaseException:
                Path(destination).unlink()
                raise

    def _copy_to(self, destination: str) -> None:
        target = _connect(destination, "rw")
        self._connection.execute("BEGIN")
        try:  # inside a transaction that reads, what others write does not begin the copy anew
            self._connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            with target.backup("main", self._connection, "main") as copying:
                while not copying.done:
                    copying.step(1024)
            target.pragma("journal_mode", "wal")
        finally:
            target.close()
            self._connection.execute("COMMIT")

    def read_together(
        self, items: Iterable[tuple[Statement, Parameters]]
    ) -> Generator[tuple[list[str], Iterator[Row]], None, None]:
        """`ask` each statement in one transaction: all tell of the same moment."""
        self.execute_script("BEGIN")
        try:
            for statement, parameters in items:
                yield self.ask(statement.sql, parameters)
        finally:
            self._connection.authorizer = None
            self._roll_back()

    def ask(
        self, sql: str, parameters: Parameters, seconds: float | None = None
    ) -> tuple[list[str], Iterator[Row]]:
        """Run one statement of a user's: column names and rows as they come; it can only read.

        Raises QueryFailed with the place in the SQL, also when it takes longer than `seconds`.
        """
        self._connection.authorizer = _reading_only
        deadline = float("inf") if seconds is None else time.monotonic() + seconds
        # without a deadline too: a handler in Python lets Ctrl-C in
        self._connection.set_progress_handler(lambda: time.monotonic() > deadline, 10_000)
        columns: list[str] = []

        def describe(cursor: apsw.Cursor, statement: str, bindings: object) -> bool:
            if columns and cursor.has_vdbe:  # a comment has none
                raise QueryFailed("one statement at a time", sql, len(sql) - len(statement))
            columns.extend(str(column[0]) for column in cursor.get_description())
            return True

        cursor = self._connection.cursor()
        cursor.exec_trace = describe
        with _asking(sql, seconds):
            cursor.execute(sql, parameters)
        return columns, _rows(cursor, sql, seconds)


def _rows(cursor: apsw.Cursor, sql: str, seconds: float | None) -> Iterator[Row]:
    with _asking(sql, seconds):
        yield from cursor


@contextmanager
def _asking(sql: str, seconds: float | None) -> Iterator[None]:
    try:
        yield
    except apsw.InterruptError as error:
        raise QueryFailed(f"stopped: it took longer than {seconds:g} s", sql) from error
    except apsw.AuthError as error:
        raise QueryFailed(
            f"not allowed: this connection only reads ({_message(error)})", sql
        ) from error
    except KeyError as error:
        raise QueryFailed(f"no value is given for the parameter :{error.args[0]}", sql) from error
    except (apsw.Error, TypeError, ValueError) as error:
        offset = getattr(error, "error_offset", -1)  # in bytes
        place = len(sql.encode()[:offset].decode(errors="ignore")) if offset >= 0 else None
        raise QueryFailed(_message(error), sql, place) from error


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


def _connect(path: str, access: Literal["ro", "rw"], *options: str) -> apsw.Connection:
    query = "&".join((f"mode={access}", *options))
    flags = apsw.SQLITE_OPEN_URI | (
        apsw.SQLITE_OPEN_READWRITE if access == "rw" else apsw.SQLITE_OPEN_READONLY
    )
    place = quote(os.fsencode(os.path.abspath(path)))  # noqa: PTH100
    connection = apsw.Connection(f"file:{place}?{query}", flags=flags)
    connection.set_busy_timeout(int(BUSY_TIMEOUT * 1000))
    return connection


def _connect_peeking(path: str) -> apsw.Connection:
    """A connection that reads what is there now and leaves no trace."""
    if _holds(path, "-wal"):
        # where nobody has the log open its index is kept in memory, not in a file -shm
        is_open = Path(f"{path}-shm").exists()
        connection = _connect(path, "ro", *(() if is_open else ("vfs=unix-none",)))
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        if not is_open:
            connection.pragma("locking_mode", "exclusive")
        return connection
    if _holds(path, "-journal"):  # a process is writing, or broke off and left that to be undone
        with suppress(apsw.ReadOnlyError):
            return _tried(_connect(path, "ro"))
    return _connect(path, "ro", "immutable=1")


def _connect_reading(path: str) -> apsw.Connection:
    """A connection that only reads.

    Read-write access keeps SQLite's own files beside the store tidy (the last reader takes -wal
    and -shm away again); without that right we read as read-only, and in a folder that cannot
    hold -shm as an immutable file, which is right while no -wal stands beside it.
    """
    for access in ("rw", "ro"):
        with suppress(apsw.CantOpenError, apsw.ReadOnlyError, apsw.IOError, apsw.PermissionsError):
            return _tried(_connect(path, access))
    if _holds(path, "-wal"):
        raise StoreError(
            f"{path}: cannot be read here: the folder is not writable and a -wal stands beside "
            "the store; copy both elsewhere, or open the store once where its folder is writable"
        )
    return _tried(_connect(path, "ro", "immutable=1"))


def _tried(connection: apsw.Connection) -> apsw.Connection:
    """The connection, which will only read, once it has read."""
    connection.pragma("query_only", True)
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    return connection


def _holds(path: str, suffix: str) -> bool:
    """Whether SQLite's own file of this suffix stands beside the file, and is not empty."""
    beside = Path(path + suffix)
    return beside.exists() and beside.stat().st_size > 0


def _configured(connection: apsw.Connection, durability: Durability | None) -> apsw.Connection:
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.config(apsw.SQLITE_DBCONFIG_DQS_DML, 0)
    connection.config(apsw.SQLITE_DBCONFIG_DQS_DDL, 0)
    connection.pragma("foreign_keys", True)
    connection.pragma("cache_size", -_CACHE_KIB)
    if durability is not None:
        connection.pragma("synchronous", durability)
    return connection


def _message(error: BaseException) -> str:
    text = str(error)
    return text.split(": ", 1)[1] if text.startswith(f"{type(error).__name__}: ") else text


@contextmanager
def _errors(path: str) -> Iterator[None]:
    try:
        yield
    except (apsw.Error, OSError, UnicodeDecodeError) as error:
        raise _translated(error, path) from error


def _translated(error: Exception, path: str) -> StoreError:
    message = _message(error)
    match error:
        case apsw.ConstraintError():
            return RuleBroken(message)
        case apsw.BusyError() | apsw.LockedError():
            return StoreBusy(
                f"{path}: another process has held the store's lock for {BUSY_TIMEOUT:g} s; "
                "try again when it is done"
            )
        case apsw.NotADBError():
            return NotAStore(path, "not an SQLite file")
        case UnicodeDecodeError():
            return TextUnreadable(f"{path}: it holds text that is not UTF-8: {error.object[:80]!r}")
        case apsw.CorruptError():
            return CorruptStore(f"{path}: SQLite finds the file damaged: {message}")
        case apsw.FullError():
            return WriteFailed(f"{path}: no space left to write; free some and try again")
        case apsw.CantOpenError():
            return NotAStore(path, f"cannot be opened ({_why_not(path)})")
        case apsw.ReadOnlyError() | apsw.PermissionsError() | apsw.IOError():
            return WriteFailed(f"{path}: cannot be written ({message})")
        case OSError():
            return WriteFailed(f"{path}: {error.strerror}")
        case _:
            return StoreError(f"{path}: {message}")


def _why_not(path: str) -> str:
    place = Path(path)
    if place.is_dir():
        return "it is a folder"
    if not place.exists():
        return "no such file" if place.parent.exists() else f"no folder {place.parent}"
    return "no permission, or its folder is not writable"
