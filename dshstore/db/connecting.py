"""How a file is opened: for writing, for reading, to look what it is; and how a connection is set.

Decides what we rely on of SQLite's settings. None of them is of the file but the page size.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import apsw

from dshstore.db.refusals import BUSY_TIMEOUT
from dshstore.errors import StoreError

#: Told, while a statement waits for another process's lock, for how many seconds it has waited.
Waiting = Callable[[float], None]

Durability = Literal["FULL", "NORMAL"]

#: SQLite's own size. Each statement that a trigger could refuse first copies every page that it
#: changes, and a commit writes them whole: with 16 KiB an event by plain SQL took three times as
#: long, and four times the bytes of log; reading long payloads is a quarter slower instead.
PAGE_SIZE = 4096

_IN_MEMORY = 2
_CACHE_KIB = 16 * 1024


#: The longest pause (seconds) before a lock is asked for again.
_PAUSE = 0.1


def connect(
    path: str, access: Literal["ro", "rw"], *options: str, waiting: Waiting | None = None
) -> apsw.Connection:
    query = "&".join((f"mode={access}", *options))
    flags = apsw.SQLITE_OPEN_URI | (
        apsw.SQLITE_OPEN_READWRITE if access == "rw" else apsw.SQLITE_OPEN_READONLY
    )
    place = quote(os.fsencode(os.path.abspath(path)))  # noqa: PTH100
    connection = apsw.Connection(f"file:{place}?{query}", flags=flags)
    if waiting is None:
        connection.set_busy_timeout(int(BUSY_TIMEOUT * 1000))
    else:
        connection.set_busy_handler(_wait_and_tell(waiting))
    return connection


def _wait_and_tell(waiting: Waiting) -> Callable[[int], bool]:
    """What SQLite asks, by how many times before, whether to ask for a lock again."""
    begun = 0.0

    def wait(times: int) -> bool:
        nonlocal begun
        now = time.monotonic()
        begun = begun if times else now
        if now - begun >= BUSY_TIMEOUT:
            return False
        waiting(now - begun)
        time.sleep(min(0.001 * (times + 1), _PAUSE))
        return True

    return wait


def connect_peeking(path: str) -> apsw.Connection:
    """A connection that reads what is there now and leaves no trace."""
    if _holds(path, "-wal"):
        # where nobody has the log open its index is kept in memory, not in a file -shm
        is_open = Path(f"{path}-shm").exists()
        connection = connect(path, "ro", *(() if is_open else ("vfs=unix-none",)))
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        if not is_open:
            connection.pragma("locking_mode", "exclusive")
        return connection
    if _holds(path, "-journal"):  # a process is writing, or broke off and left that to be undone
        with suppress(apsw.ReadOnlyError):
            return _tried(connect(path, "ro"))
    return connect(path, "ro", "immutable=1")


def connect_reading(path: str, waiting: Waiting | None = None) -> apsw.Connection:
    """A connection that only reads.

    Read-write access keeps SQLite's own files beside the store tidy (the last reader takes -wal
    and -shm away again); without that right we read as read-only, and in a folder that cannot
    hold -shm as an immutable file, which is right while no -wal stands beside it.
    """
    for access in ("rw", "ro"):
        with suppress(apsw.CantOpenError, apsw.ReadOnlyError, apsw.IOError, apsw.PermissionsError):
            return _tried(connect(path, access, waiting=waiting))
    if _holds(path, "-wal"):
        raise StoreError(
            f"{path}: cannot be read here: the folder is not writable and a -wal stands beside "
            "the store; copy both elsewhere, or open the store once where its folder is writable"
        )
    return _tried(connect(path, "ro", "immutable=1"))


def _tried(connection: apsw.Connection) -> apsw.Connection:
    """The connection, which will only read, once it has read."""
    connection.pragma("query_only", True)
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    return connection


def _holds(path: str, suffix: str) -> bool:
    """Whether SQLite's own file of this suffix stands beside the file, and is not empty."""
    beside = Path(path + suffix)
    return beside.exists() and beside.stat().st_size > 0


def configured(connection: apsw.Connection, durability: Durability | None) -> apsw.Connection:
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.config(apsw.SQLITE_DBCONFIG_DQS_DML, 0)
    connection.config(apsw.SQLITE_DBCONFIG_DQS_DDL, 0)
    connection.pragma("foreign_keys", True)
    connection.pragma("cache_size", -_CACHE_KIB)
    if durability is not None:
        connection.pragma("synchronous", durability)
        connection.pragma("temp_store", _IN_MEMORY)  # the copies of pages that a statement changes
    return connection
