"""The queue of a live session, and the thread that empties it.

Events leave in order, in batches, at most `max_delay` after the first of them came in. A batch
that fails stays at the front: nothing overtakes it, and the failure is told to whoever appends or
flushes next. What a commit is, and what its failures mean, is the session's.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

from dshstore.errors import StoreError
from dshstore.model import StoredEvent

#: Seconds that an event waits for others to be committed with.
MAX_DELAY = 0.2

#: The queue holds so much; beyond that an append writes the queue out first.
MAX_EVENTS = 100_000
MAX_BYTES = 64 * 1024 * 1024

Commit = Callable[[list[StoredEvent]], None]


class Writer:
    """A queue of events of one session in front of `commit`, which makes a batch durable.

    Threads may share it. Its own thread runs only while something waits in the queue.
    """

    def __init__(
        self,
        commit: Commit,
        *,
        max_delay: float = MAX_DELAY,
        max_events: int = MAX_EVENTS,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._commit = commit
        self._max_delay, self._max_events, self._max_bytes = max_delay, max_events, max_bytes
        self._queue: deque[StoredEvent] = deque()
        self._bytes = 0
        self._failure: StoreError | None = None
        self._closed = False
        self._changed = threading.Condition()
        self._committing = threading.Lock()
        self._thread: threading.Thread | None = None

    @property
    def pending(self) -> tuple[StoredEvent, ...]:
        """The events that are not durable yet, oldest first."""
        with self._changed:
            return tuple(self._queue)

    def make_ready(self) -> None:
        """Raise what a write in the background met, once; write out a queue that is full.

        To be called before `put`, which then cannot fail.
        """
        if self._closed:
            raise StoreError("the session is closed")
        if self._failure is not None:
            with self._changed:
                failure, self._failure = self._failure, None
                self._changed.notify_all()
            if failure is not None:
                raise failure
        if len(self._queue) >= self._max_events or self._bytes >= self._max_bytes:
            self.flush()

    def put(self, event: StoredEvent) -> None:
        """Queue one event; touches no disk."""
        with self._changed:
            self._queue.append(event)
            self._bytes += _size(event)
            if len(self._queue) == 1 or self._thread is None:
                self._wake()

    def flush(self) -> None:
        """Return when everything queued so far is durable; raise why it is not."""
        with self._committing:
            with self._changed:
                batch = list(self._queue)
                self._failure = None
                self._changed.notify_all()
            if batch:
                self._commit(batch)
            with self._changed:
                for event in batch:
                    self._queue.popleft()
                    self._bytes -= _size(event)

    def close(self) -> None:
        """Flush and take no more events; when the flush fails the queue stays open."""
        self.flush()
        with self._changed:
            if self._queue:  # another thread appended meanwhile
                raise StoreError("events were appended while the session was being closed")
            self._closed = True
            self._changed.notify_all()

    def drop(self) -> None:
        """Forget what is queued, and take no more events."""
        with self._committing, self._changed:
            self._queue.clear()
            self._bytes = 0
            self._closed = True
            self._changed.notify_all()

    def _wake(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="dshstore-writer", daemon=True)
            self._thread.start()
        else:
            self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._changed.wait_for(self._has_work, timeout=_IDLE):
                    self._thread = None  # the next event brings another thread
                    return
                if self._closed:
                    return
            time.sleep(self._max_delay)
            try:
                self.flush()
            except StoreError as error:
                with self._changed:
                    self._failure = error
                    self._changed.wait_for(lambda: self._failure is None or self._closed)

    def _has_work(self) -> bool:
        return bool(self._queue) or self._closed


#: Seconds after which an idle thread ends.
_IDLE = 5.0


def _size(event: StoredEvent) -> int:
    return len(event.data) + (len(event.stream.body) if event.stream else 0)
