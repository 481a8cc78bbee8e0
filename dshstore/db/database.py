"""One SQLite connection: open, query, write atomically, back up, ask in a user's words.

The seam of the store: no cursor and no transaction crosses it. It knows nothing of what a store
holds; `schema` tells what is one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

import apsw

from dshstore.db.asking import Parameters, Row, ask, only_read
from dshstore.db.connecting import (
    PAGE_SIZE,
    Durability,
    Waiting,
    configured,
    connect,
    connect_peeking,
    connect_reading,
)
from dshstore.db.guarding import Guard
from dshstore.db.ownfiles import check_output
from dshstore.db.refusals import BUSY_TIMEOUT, errors, message_of, translated
from dshstore.errors import RuleBroken, StoreError, WriteFailed
from dshstore.sqlfiles import Statement

Mode = Literal["read", "write"]

#: Rows that one statement inserts, as long as there are so many.
_ROWS_AT_ONCE = (64, 16, 4)


class _File(NamedTuple):
    """Which file a path named when it was opened; `place` is the path from the root."""

    place: str
    device: int
    inode: int

    @classmethod
    def find(cls, path: str) -> _File | None:
        place = os.path.abspath(path)  # noqa: PTH100
        with suppress(OSError):
            found = os.stat(place)  # noqa: PTH116
            return cls(place, found.st_dev, found.st_ino)
        return None


class Database:
    """An open SQLite file. Threads may share it: each use of it waits for the one before.

    A transaction is one use, from its begin to its end; so is every single row of `ask`.
    """

    def __init__(
        self, connection: apsw.Connection, path: str, guard: Guard, file: _File | None = None
    ) -> None:
        self._connection = guard.connection = connection
        self._guard = guard
        self.path = path
        self._file = file

    @classmethod
    def open(
        cls,
        path: str,
        mode: Mode,
        *,
        durability: Durability = "FULL",
        waiting: Waiting | None = None,
    ) -> Database:
        """Open an existing file. `read` never changes a row; it works in read-only folders too.

        `waiting` is told while a statement waits for a lock.
        """
        guard = Guard()
        with guard.lock, errors(path):
            file = _File.find(path)
            if mode == "write":
                connection = configured(connect(path, "rw", waiting=waiting), durability)
            else:
                connection = configured(connect_reading(path, waiting), None)
            return cls(connection, path, guard, file)

    def open_another(self, durability: Durability) -> Database:
        """One more connection to the same file, to write by, for another thread.

        Raises StoreError when another file stands at its path by now, or none: SQLite would take
        this one's log ahead for that one's.
        """
        file = self._file
        if file is None or _File.find(file.place) != file:
            raise StoreError(
                f"{self.path}: the file was moved, removed or replaced since it was opened"
            )
        guard = Guard()
        with guard.lock, errors(self.path):
            connection = configured(connect(file.place, "rw"), durability)
            return Database(connection, self.path, guard, file)

    @classmethod
    def peek(cls, path: str) -> Database:
        """Open a file whose nature is not known, so that not a byte of it or beside it changes."""
        guard = Guard()
        with guard.lock, errors(path):
            return cls(connect_peeking(path), path, guard)

    @classmethod
    def create(
        cls, path: str, build: Callable[[Database], None], *, waiting: Waiting | None = None
    ) -> Database:
        """Open a new or empty file and let `build` fill it in one transaction.

        Processes that create one file at once wait for each other; `build` finds what the first
        of them built. The file is readable and writable by its owner alone.
        """
        with errors(path), suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        guard = Guard()
        with guard.lock, errors(path):
            connection = connect(path, "rw", waiting=waiting)
            connection.pragma("page_size", PAGE_SIZE)
            database = cls(configured(connection, "FULL"), path, guard)
            with database._transaction():
                build(database)
            return database

    def close(self) -> None:
        """Close the file; doing so twice is harmless."""
        with self._guard.lock, errors(self.path):
            self._connection.close()

    def set_journal_wal(self) -> str:
        """Switch to write-ahead logging; the mode that it really became, or stayed: `delete`."""
        deadline = time.monotonic() + BUSY_TIMEOUT
        while True:
            try:
                with self._guard.lock:
                    return str(self._connection.pragma("journal_mode", "wal"))
            except (apsw.IOError, apsw.ProtocolError):  # of a file system without shared memory
                return str(self.pragma("journal_mode"))
            except apsw.BusyError as error:  # the switch does not wait for locks by itself
                if time.monotonic() > deadline:
                    raise translated(error, self.path) from error
                time.sleep(0.01)

    def pragma(self, name: str, value: int | None = None) -> Any:
        """Read or set one pragma."""
        with self._guard.lock, errors(self.path):
            return self._connection.pragma(name, *(() if value is None else (value,)))

    def execute_script(self, sql: str) -> None:
        """Run statements without parameters, such as those that build a store."""
        try:
            with self._guard.lock:
                self._connection.execute(sql)
        except apsw.Error as error:
            raise translated(error, self.path) from error

    def query(self, statement: Statement, parameters: Parameters = ()) -> list[Row]:
        """All rows of one statement; none for a text that no column can hold."""
        try:
            with self._guard.lock:
                return self._connection.execute(statement.sql, parameters).fetchall()
        except UnicodeEncodeError:  # half a surrogate pair, as a name that is not UTF-8 has
            return []
        except (apsw.Error, UnicodeDecodeError) as error:
            raise translated(error, self.path) from error

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
                    self._execute(statement, parameters)

    def write_row(self, statement: Statement, row: Parameters) -> None:
        """As `write` for one row of one statement, which is a transaction by itself: quicker."""
        with self._guard.lock:
            self._roll_back()
            self._execute(statement, row)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """All that is read in here tells of one moment; it stands in no other transaction."""
        with self._transaction("BEGIN"):
            yield

    def _execute_many(self, statement: Statement, rows: list[Parameters]) -> None:
        """Run the statement for every row.

        Before each statement SQLite keeps a copy of every page that it will change, should it be
        refused, so many rows go into one. A refused one is tried again row by row.
        """
        at = 0
        several_fit = len(rows) >= _ROWS_AT_ONCE[-1] and isinstance(rows[0], tuple)
        for width in _ROWS_AT_ONCE if several_fit else ():
            sql = statement.for_rows(width)
            while sql is not None and len(rows) - at >= width:
                several = rows[at : at + width]
                at += width
                try:
                    with errors(self.path):
                        self._connection.execute(sql, tuple(chain.from_iterable(several)))
                except RuleBroken:
                    for row in several:
                        self._execute(statement, row)
        for row in rows[at:]:
            self._execute(statement, row)

    def _execute(self, statement: Statement, row: Parameters) -> None:
        try:
            self._connection.execute(statement.sql, row)
        except apsw.ConstraintError as error:
            raise RuleBroken(message_of(error), row) from error
        except apsw.Error as error:
            raise translated(error, self.path) from error

    @contextmanager
    def _transaction(self, begin: str = "BEGIN IMMEDIATE") -> Iterator[None]:
        with self._guard.lock:
            self._roll_back()
            try:
                self.execute_script(begin)
                yield  # what this raises is no error of the store
                self.execute_script("COMMIT")
            except BaseException:
                self._roll_back()
                raise

    def _roll_back(self) -> None:
        """End what is open, as an interrupt may have left it (Ctrl-C comes anywhere)."""
        try:
            is_open = not self._connection.get_autocommit()
        except apsw.Error as error:
            raise translated(error, self.path) from error
        if is_open:
            self.execute_script("ROLLBACK")

    def backup(self, destination: str) -> None:
        """Copy the whole file, as it is at one moment, to a new file, while others write.

        Nothing is left at `destination` when it raises. Raises OutputRefused, WriteFailed.
        """
        check_output(self.path, destination)
        with errors(destination):
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
        # inside a transaction that reads, what others write does not begin the copy anew
        with self.reading(), closing(connect(destination, "rw")) as target:
            self._connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            with target.backup("main", self._connection, "main") as copying:
                while not copying.done:
                    copying.step(1024)
            target.pragma("journal_mode", "wal")

    def read_together(
        self, items: Iterable[tuple[Statement, Parameters]]
    ) -> Generator[tuple[list[str], Iterator[Row]], None, None]:
        """`ask` each statement in one transaction: all tell of the same moment."""
        with self.reading():
            try:
                for statement, parameters in items:
                    yield self.ask(statement.sql, parameters)
            finally:
                self._connection.authorizer = None

    def ask(
        self, sql: str, parameters: Parameters, seconds: float | None = None
    ) -> tuple[list[str], Iterator[Row]]:
        """Run one statement of a user's: column names and rows as they come; it can only read.

        Raises QueryFailed with the place in the SQL, also when it takes longer than `seconds`.
        """
        return ask(self._connection, self._guard, sql, parameters, seconds)

    def reading_connection(self) -> apsw.Connection:
        """The connection, which from now on can only read; `shell` alone takes it from here."""
        only_read(self._connection, None)
        return self._connection
