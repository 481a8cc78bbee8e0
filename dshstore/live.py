"""A session that an agent writes to: append without waiting, flush to be sure.

`append` checks an event against the surface in memory, by the same rules as the store's triggers,
and queues it; the writer's thread commits. What was appended is seen by this session's own reads,
which flush first. Two writers of one session can never both win: the later one gets Conflict and
keeps its queue.
"""

from __future__ import annotations

import sys
import threading
import time as clock
import weakref
from collections.abc import Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Any, Literal, Self

from dshstore.db import Database
from dshstore.engine import append, read
from dshstore.engine.surface import Surface
from dshstore.errors import EventRefused, StoreError
from dshstore.formats.dsh import rows
from dshstore.lossless import find_fault
from dshstore.session import Session
from dshstore.writer import MAX_DELAY, Writer

#: "append", an op as the log has it, or the first and last seq of the range to replace.
SurfaceOp = Literal["append"] | Mapping[str, Any] | tuple[int, int]


class LiveSession(Session):
    """An open session; `Store.create`, `resume` and `fork` give one. Close it when done.

    Threads may share it. `durability="commit"` makes every append durable before it returns.
    """

    def __init__(
        self,
        database: Database,
        row: read.SessionRow,
        surface: Surface,
        writing: Database,
        *,
        commit_each: bool = False,
        max_delay: float = MAX_DELAY,
        resumed: bool = False,
    ) -> None:
        super().__init__(database, row)
        self._surface = surface
        self._commit_each = commit_each
        self._appending = threading.RLock()
        self._end_seed_due = resumed
        commit = partial(append.append_events, writing, row.key, row.session_id)
        self._writer = Writer(commit, max_delay=max_delay)
        self._closing = weakref.finalize(self, _finish, self._writer, writing, row.session_id)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def _row(self) -> read.SessionRow:
        self.flush()
        return super()._row

    @property
    def next_seq(self) -> int:
        """The seq that the next event gets."""
        return self._surface.next_seq

    @property
    def surface(self) -> list[int]:
        """The seqs of the events that the model sees now, in order, queued ones included."""
        return list(self._surface.nodes)

    @property
    def pending(self) -> list[dict[str, Any]]:
        """The events that are not durable yet, oldest first."""
        return [
            event
            for stored in self._writer.pending
            for event in rows.logical(stored, self.format_version)
        ]

    def append(
        self,
        type: str,
        data: Any,
        *,
        surface_op: SurfaceOp | None = None,
        sources: Sequence[int] | None = None,
        ignorable: bool = False,
        time: int | None = None,
    ) -> int:
        """Append one event and return its seq. Touches no disk unless the queue is full.

        `data` must be lossless JSON; it is copied. `surface_op` is "append", or a range
        (first, last) to replace, for the types that the model sees; `sources` are the seqs of the
        events that it was made of (for a replace: at least all that it shadows). `time` is in
        epoch ms, now when left out.

        Raises EventRefused with the rule's code; then nothing has changed. Also raises, once,
        what an earlier write met in the background (Conflict, WriteFailed, StoreBusy): the event
        is not appended then, those before it stay queued.
        """
        with self._appending:
            self._writer.make_ready()
            now = clock.time_ns() // 1_000_000 if time is None else time
            if self._end_seed_due:  # as the harness does when it takes up a log
                self._end_seed_due = False
                self._append({"type": "session/end-seed", "data": {}}, now)
            event = {"type": type, "data": data}
            if ignorable:
                event["ignorable"] = True
            if sources is not None:
                event["sourceEventSeqs"] = list(sources)
            if surface_op is not None:
                event["surfaceOp"] = self._spell(surface_op)
            seq = self._append(event, now)
        if self._commit_each:
            self.flush()
        return seq

    def _append(self, event: dict[str, Any], time: int) -> int:
        seq = self._surface.next_seq
        whole = {"type": event["type"], "seq": seq, "time": time, **event}
        try:
            stored = rows.store(whole, self.format_version)
        except ValueError as error:
            raise EventRefused("event-invalid", self.session_id, seq, str(error)) from error
        if fault := find_fault(event["data"]):
            raise EventRefused("data-not-json", self.session_id, seq, fault)
        try:
            self._surface.push(whole)
        except EventRefused as error:
            raise EventRefused(error.code, self.session_id, seq, error.detail) from None
        self._writer.put(stored)
        return seq

    def _spell(self, op: SurfaceOp) -> Any:
        if isinstance(op, tuple):
            start, end = op
            if self.format_version >= 3:
                return {"op": "replace", "startSeq": start, "endSeq": end}
            return {"op": "replace", "start": start, "end": end}
        return op if isinstance(op, str) else dict(op)

    def flush(self) -> None:
        """Return when everything appended so far is durable.

        Raises what kept it from being so; everything is still queued then, and the next flush or
        append tries again.
        """
        self._writer.flush()

    def close(self) -> None:
        """Flush and close; when the flush fails the session stays open, and the queue with it."""
        if self._closing.alive:
            self._writer.close()
            self._closing()

    def abandon(self) -> list[dict[str, Any]]:
        """Close without writing what is still queued, and return it (after a Conflict, say)."""
        left = self.pending
        self._writer.drop()
        self._closing()
        return left


def _finish(writer: Writer, writing: Database, session_id: str) -> None:
    """What closing does at last, also when the session was forgotten or the interpreter ends."""
    try:
        writer.flush()
    except StoreError as error:
        left = len(writer.pending)
        print(
            f"dshstore: session {session_id}: {left} events not written: {error}", file=sys.stderr
        )
    finally:
        writing.close()
