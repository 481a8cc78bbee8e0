"""What a thread holds while it uses a connection, and that the process is not forked meanwhile.

A copy of the process has none of its other threads, but what they held: SQLite's own mutexes, and
the file locks that it remembers to have in this process. A child that opened the store would wait
for them for ever. So a fork waits until all connections are at rest, and the child closes them.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from weakref import WeakSet

import apsw

#: Seconds that a fork waits for a use that does not end: one, it may be, that reads from a pipe
#: which the child is to fill. The child may find the store busy then.
PATIENCE = 5.0


class Guard:
    """A lock that is free in a forked child; a thread that holds it may take it once more.

    Always taken as `guard.lock`: the child has another one. `connection` is what it guards.
    """

    __slots__ = ("__weakref__", "connection", "lock")

    def __init__(self) -> None:
        self.connection: apsw.Connection | None = None
        with _making:
            self.lock = threading.RLock()
            _guards.add(self)


_guards: WeakSet[Guard] = WeakSet()

#: None is made while a fork waits for those that are there.
_making = threading.RLock()

#: What the forking thread holds.
_held: list[Guard] = []


def _hold_all() -> None:
    """Take all locks. While one is waited for none is held: its holder may want another."""
    deadline = time.monotonic() + PATIENCE
    _making.acquire()
    guards = list(_guards)
    while busy := _find_busy(guards):
        _release_held()
        if not busy.lock.acquire(timeout=max(0.0, deadline - time.monotonic())):
            break
        _held.append(busy)


def _find_busy(guards: list[Guard]) -> Guard | None:
    """Take them in turn up to the first that another thread holds."""
    for guard in guards:
        if not guard.lock.acquire(blocking=False):
            return guard
        _held.append(guard)
    return None


def _release_held() -> None:
    while _held:
        _held.pop().lock.release()


def _go_on() -> None:
    _release_held()
    _making.release()


def _begin_anew() -> None:
    """In the child: whoever else held one is not here."""
    for guard in set(_held):
        if guard.connection is not None:
            _let_go(guard.connection)
    _held.clear()
    _making.release()
    for guard in list(_guards):
        guard.lock = threading.RLock()


def _let_go(connection: apsw.Connection) -> None:
    """Close a connection of the parent's, unless the forking thread is in a transaction of it.

    As long as one is open, SQLite holds the locks on its file for locks of this process: it would
    take none for the child's own connections, and others would take the log away from under them.
    """
    with suppress(apsw.ConnectionClosedError):
        if connection.get_autocommit():
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            connection.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold_all, after_in_parent=_go_on, after_in_child=_begin_anew)
