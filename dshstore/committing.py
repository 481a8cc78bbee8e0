"""How the live sessions of a store commit: all by one connection of their own, one after another.

Decides when that connection is opened, what becomes of a batch of which a part is in the store
already, and that all queues are empty before somebody reads or the store is closed. When a batch
is due is for `writer`, what may enter for the store.
"""

from __future__ import annotations

from functools import partial
from weakref import WeakSet

from dshstore.db import Database, Durability, Guard
from dshstore.engine import append, read
from dshstore.errors import Conflict, StoreError
from dshstore.model import StoredEvent
from dshstore.writer import Writer


class Committer:
    """What the live sessions of the store behind `database` write by; threads may share it.

    SQLite lets one at a time write anyway, and a connection is dear to make: the first batch
    opens it.
    """

    def __init__(self, database: Database, durability: Durability) -> None:
        self._database, self._durability = database, durability
        self._own: Database | None = None
        self._free = Guard()
        self._listing = Guard()  # held for a moment, while the list of writers is read or grows
        self._writers: WeakSet[Writer] = WeakSet()  # one that has something to write lives on

    def open_writer(self, session: read.SessionRow, max_delay: float) -> Writer:
        """A queue for the events of a session."""
        commit = partial(self.commit, session)
        writer = Writer(session.session_id, commit, session.next_seq, max_delay=max_delay)
        with self._listing.lock:
            self._writers.add(writer)
        return writer

    def flush(self, session_id: str) -> bool:
        """Write out what was appended to a session, in any generation; whether one is known."""
        of_it = [writer for writer in self._known_writers() if writer.name == session_id]
        for writer in of_it:
            writer.flush()
        return bool(of_it)

    def commit(self, session: read.SessionRow, batch: list[StoredEvent]) -> None:
        """Append a batch to a session: it is durable then.

        What of it is in the store already (an interrupt hid that) is passed over. Raises Conflict,
        EventRefused, and what keeps it from being written.
        """
        with self._free.lock:
            if self._own is None:
                self._own = self._database.open_another(self._durability)
            database = self._own
            try:
                append.append_events(database, session.key, session.session_id, batch)
            except Conflict as conflict:
                done = [event for event in batch if event.seq < conflict.actual]
                here = read.reload(database, session)
                if not done or done != list(read.stored_events(database, here, batch[0].seq)):
                    raise
                left = batch[len(done) :]
                append.append_events(database, session.key, session.session_id, left)

    def close(self) -> None:
        """Close all queues and the connection; doing so twice is harmless.

        Raises what kept a queue from being written, after closing the others; that one stays
        open then. A session that is gone cannot be told: it says so on stderr.
        """
        failures = []
        for writer in self._known_writers():
            try:
                writer.close()
            except StoreError as error:
                failures.append(error)
        if failures:
            raise failures[0]
        with self._free.lock:
            own, self._own = self._own, None
            if own is not None:
                own.close()

    def _known_writers(self) -> list[Writer]:
        with self._listing.lock:
            return list(self._writers)
