"""The queue of a live session, and the thread that empties it.

Events leave in order, in batches, at most `max_delay` after the first of them came in. A batch
that fails stays at the front: nothing overtakes it, and the failure is told to whoever appends or
flushes next. What a commit is, is the session's; it must be able to meet a batch that is in the
store already, for an interrupt (Ctrl-C) may hide that it got there.

A writer outlives the session that was forgotten without being closed, until its queue is empty:
the garbage collector may come at any moment, in the middle of another commit too, so it only
leaves word, and the thread does the rest. At the end of the interpreter every queue is emptied.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence

from dshstore.errors import Conflict, EventRefused, StoreError
from dshstore.model import MAX_DELAY, StoredEvent

#: The queue holds so much; beyond that an append waits for it to be written out.
MAX_EVENTS = 100_000
MAX_BYTES = 64 * 1024 * 1024

#: Seconds after which an idle thread ends; the next event brings another one.
_IDLE = 5.0

Commit = Callable[[list[StoredEvent]], None]


def check_delay(seconds: float) -> None:
    """Raise TypeError or ValueError for what no `max_delay` can be."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise TypeError(f"max_delay is a number of seconds, not {seconds!r}")
    if not seconds >= 0:
        raise ValueError(f"max_delay is 0 seconds or more, not {seconds!r}")


class Writer:
    """A queue of events of the session `name` in front of `commit`, which makes a batch durable.

    `next_seq` is the seq after the last event that came in. Threads may share it; its own thread
    runs only while something waits in the queue.
    """

    def __init__(
        self,
        name: str,
        commit: Commit,
        next_seq: int,
        *,
        max_delay: float = MAX_DELAY,
        max_events: int = MAX_EVENTS,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self.name = name
        self.next_seq = next_seq
        self._commit = commit
        check_delay(max_delay)
        # what no clock can tell is for ever
        self._max_delay = max_delay if max_delay < threading.TIMEOUT_MAX / 2 else None
        self._max_events, self._max_bytes = max_events, max_bytes
        self._queue: deque[StoredEvent] = deque()
        self._bytes = 0
        self._failure: StoreError | None = None  # of the thread; not told yet
        self._lost: StoreError | None = None  # no later try can succeed
        self._called = False  # the thread will write when the delay is over
        self._closed = self._forgotten = False
        self._lock = threading.RLock()  # taken at every event, and quicker than the condition's
        self._changed = threading.Condition(self._lock)
        self._committing = threading.Lock()
        self._thread: threading.Thread | None = None
        _unfinished.add(self)

    @property
    def pending(self) -> tuple[StoredEvent, ...]:
        """The events that are not durable yet, oldest first."""
        with self._lock:
            return tuple(self._queue)

    def make_ready(self) -> None:
        """Raise what a write in the background met, once; write out a queue that is full.

        To be called before `put`, which then cannot fail. What no later try can mend (another
        writer got there first) is raised each time.
        """
        if self._closed:
            raise StoreError(f"session {self.name!r} is closed")
        if self._lost is not None:
            raise self._lost
        if self._failure is not None:
            with self._lock:
                failure, self._failure = self._failure, None
            if failure is not None:
                raise failure
        if len(self._queue) >= self._max_events or self._bytes >= self._max_bytes:
            self.flush()

    def put(self, events: Sequence[StoredEvent], *, wake: bool = True) -> None:
        """Queue events; touches no disk. An interrupt leaves all of them in the queue, or none.

        Without `wake` the thread is not told: whoever puts it flushes at once, or calls `wake`.
        """
        with self._lock:
            if wake and not (self._called and self._thread is not None):
                self._call()  # it gets no further than the lock
            for event in events:
                self._bytes += _size(event)
            self._queue.extend(events)
            self.next_seq += len(events)  # the last of all: they are in

    def wake(self) -> None:
        """Let the thread write what is queued, if anything is."""
        with self._lock:
            if self._queue:
                self._call()

    def flush(self) -> None:
        """Return when everything queued so far is durable; raise why it is not."""
        if self._closed:
            return
        with self._committing:
            if self._lost is not None:
                raise self._lost
            with self._lock:
                batch = list(self._queue)
                self._failure = None
            if not batch:
                self._bytes = 0  # an interrupt may have left it higher
                return
            try:
                self._commit(batch)
            except (Conflict, EventRefused) as error:
                self._lost = error
                raise
            with self._lock:
                self._take_off(batch)

    def _take_off(self, batch: list[StoredEvent]) -> None:
        if len(batch) == len(self._queue):
            self._queue.clear()
            self._bytes = 0
            return
        for event in batch:
            self._queue.popleft()
            self._bytes -= _size(event)

    def close(self) -> None:
        """Flush and take no more events; when the flush fails the queue stays open.

        One that was forgotten is closed all the same, and says on stderr what is lost.
        """
        if self._forgotten:
            self.end()
            return
        self.flush()
        with self._lock:
            if self._queue:  # another thread appended meanwhile
                raise StoreError("events were appended while the session was being closed")
        self._finish()

    def drop(self) -> None:
        """Forget what is queued, and take no more events."""
        with self._committing, self._lock:
            self._queue.clear()
            self._bytes = 0
        self._finish()

    def forget(self) -> None:
        """Leave the queue to the thread, which empties it and then closes it; waits for no lock."""
        self._forgotten = True
        if self._queue or self._thread is not None:
            if self._changed.acquire(blocking=False):  # else the thread looks again in a while
                self._changed.notify_all()
                self._changed.release()
            return
        self._finish()

    def disown(self) -> None:
        """Be closed at once, with nothing queued."""
        self._closed = True
        self._queue.clear()

    def end(self) -> None:
        """Close at the end of the interpreter, or say on stderr what could not be written."""
        try:
            self.flush()
        except Exception as error:
            count = len(self._queue)
            events = "1 event" if count == 1 else f"{count} events"
            print(
                f"dshstore: session {self.name!r}: {events} not written: {error}", file=sys.stderr
            )
        self._finish()

    def _finish(self) -> None:
        with self._changed:
            if self._closed:
                return
            self._closed = True
            self._changed.notify_all()
        _unfinished.discard(self)

    def _call(self) -> None:
        self._called = True
        if self._thread is not None:
            self._changed.notify_all()
            return
        thread = threading.Thread(target=self._run, name="dshstore-writer", daemon=True)
        try:
            self._thread = thread
            thread.start()
        except RuntimeError:  # the interpreter is ending: `end` writes it
            self._thread = None
        except BaseException:  # interrupted: nobody knows whether it runs, and two do no harm
            self._thread = None
            raise

    def _run(self) -> None:
        while self._wait():
            try:
                self.flush()
            except Exception as error:
                with self._lock:
                    self._failure = error if isinstance(error, StoreError) else _wrapped(error)
            if self._forgotten:
                break
        if self._forgotten:
            self.end()

    def _wait(self) -> bool:
        """Wait until a batch is due; False when there will be none, or none for long.

        After one that failed nothing is due before the next event comes in.
        """
        with self._changed:
            busy = self._changed.wait_for(self._is_wanted, timeout=_IDLE)
            if self._closed or not busy:
                self._thread = None
                return False
            self._changed.wait_for(lambda: self._closed or self._forgotten, timeout=self._max_delay)
            self._called = False
            return not self._closed

    def _is_wanted(self) -> bool:
        return self._called or self._closed or self._forgotten


#: The writers that may still have something to write.
_unfinished: set[Writer] = set()


def _end_all() -> None:
    for writer in list(_unfinished):
        writer.end()


def _leave_to_parent() -> None:
    """In a forked child: what is queued, and the connection, are the parent's."""
    while _unfinished:
        _unfinished.pop().disown()


atexit.register(_end_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)


def _size(event: StoredEvent) -> int:
    return len(event.data) + (len(event.stream.body) if event.stream else 0)


def _wrapped(error: Exception) -> StoreError:
    failure = StoreError(f"{type(error).__name__}: {error}")
    failure.__cause__ = error
    return failure
