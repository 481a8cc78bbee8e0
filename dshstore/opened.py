"""The live sessions of one store: each is known until it is gone, and all write by one connection.

Decides what becomes of them when the store is closed, and whose events are written out before
somebody reads. What a session does is `live`'s.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakSet

from dshstore.committing import Committer
from dshstore.db import Database, Durability
from dshstore.engine import read
from dshstore.errors import StoreError
from dshstore.live import LiveSession


class LiveSessions:
    """The sessions of the store behind `database` that are open for writing."""

    def __init__(self, database: Database, durability: Durability) -> None:
        self._database = database
        self._committer = Committer(database, durability)
        self._sessions: WeakSet[LiveSession] = WeakSet()

    def open(self, row: read.SessionRow, **options: Any) -> LiveSession:
        """Open a stored session for writing; the options are those of `LiveSession`."""
        session = LiveSession(self._database, row, self._committer, **options)
        self._sessions.add(session)
        return session

    def flush(self, session_id: str) -> bool:
        """Write out what was appended to a session here, in any generation; whether one is open."""
        of_it = [session for session in self._sessions if session.session_id == session_id]
        for session in of_it:
            session.flush()
        return bool(of_it)

    def close(self) -> None:
        """Close all; doing so twice is harmless.

        Raises what kept a session from being flushed, after closing the others; that one stays
        open then.
        """
        failures = []
        for session in list(self._sessions):
            try:
                session.close()
            except StoreError as error:
                failures.append(error)
        if failures:
            raise failures[0]
        self._committer.close()
