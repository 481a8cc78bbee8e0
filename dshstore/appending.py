"""A session open for writing: append without waiting, flush to be sure.

`append` checks an event against the surface in memory, by the same rules as the store's triggers,
and queues it; the writer's thread commits. What was appended is seen by this session's own reads,
which flush first. Two writers of one session can never both win: the later one gets Conflict and
keeps its queue. What the events of a harness are is for `turns` and `live`.

An interrupt (Ctrl-C) may come at any line. What a session knows of its events changes before they
are queued, all at once: what it knows is then ahead of the queue until nothing is left to be done,
and a session that finds itself so refuses to go on.
"""

from __future__ import annotations

import threading
import time as clock
import weakref
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, Self

from msgspec import Raw

from dshstore import lossless
from dshstore.db import Database
from dshstore.engine import read, resuming
from dshstore.engine.repair import TRACKED_TYPES
from dshstore.errors import EventRefused, StoreError
from dshstore.formats.dsh import direct, rows
from dshstore.formats.dsh.envelope import RowRefused
from dshstore.model import StoredEvent
from dshstore.session import Session
from dshstore.writer import Writer

#: How many bytes the data of an event may have as JSON. SQLite takes 10^9 bytes in a row, and an
#: odd event is in it twice; its line in an export may be 512 MiB long when it is imported again.
MAX_DATA = 480_000_000

#: "append", an op as the log has it, or the first and last seq of the range to replace.
SurfaceOp = Literal["append"] | Mapping[str, Any] | tuple[int, int]


class OpenSession(Session):
    """A session and the queue of what is appended to it; threads may share it to append and flush.

    With `commit_each` every append is durable before it returns. `standing` is what it goes on
    from, read when it is first needed if left out; `resumed` says that the log is taken up where
    it ended.
    """

    def __init__(
        self,
        database: Database,
        row: read.SessionRow,
        writer: Writer,
        *,
        standing: resuming.Standing | None = None,
        commit_each: bool = False,
        resumed: bool = False,
        max_data: int = MAX_DATA,
    ) -> None:
        super().__init__(database, row)
        self._known = standing
        self._appending = threading.RLock()
        self._commit_each = commit_each
        self._end_seed_due = resumed
        self._max_data = max_data
        self._writer = writer
        self._closing = weakref.finalize(self, self._writer.forget)
        self._closing.atexit = False  # the writer sees to that

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
    def _standing(self) -> resuming.Standing:
        standing = self._known or self._read_standing()
        if standing.surface.next_seq != self._writer.next_seq:
            raise StoreError(
                f"session {self.session_id!r}: an append was interrupted halfway: close the "
                "session and take it up again"
            )
        return standing

    def _read_standing(self) -> resuming.Standing:
        with self._appending:  # before anything is appended: it would count twice
            if self._known is None:
                self._known = resuming.find_standing(self._database, self._found)
            return self._known

    @property
    def next_seq(self) -> int:
        """The seq that the next event gets."""
        return self._writer.next_seq

    @property
    def surface(self) -> list[int]:
        """The seqs of the events that the model sees now, in order, queued ones included."""
        with self._appending:
            return list(self._standing.surface.nodes)

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

        Raises EventRefused with the rule's code; then nothing has changed. Also raises what an
        earlier write met in the background: WriteFailed and StoreBusy once, Conflict each time.
        The event is not appended then, those before it stay queued.
        """
        with self._appending:
            self._begin()
            seq = self._append([self._event(type, data, surface_op, sources, ignorable, time)])
        self._commit_if_each()
        return seq

    def _event(
        self,
        type: str,
        data: Any,
        surface_op: SurfaceOp | None = None,
        sources: Sequence[int] | None = None,
        ignorable: bool = False,
        time: int | None = None,
    ) -> dict[str, Any]:
        event = {"type": type, "time": _now() if time is None else time, "data": data}
        if ignorable:
            event["ignorable"] = True
        if sources is not None:
            event["sourceEventSeqs"] = list(sources)
        if surface_op is not None:
            event["surfaceOp"] = self._spell(surface_op)
        return event

    def _append_noting(self, note: Callable[[], None], event: dict[str, Any]) -> int:
        """Append an event; `note` keeps in memory that it is in the log."""
        with self._appending:
            self._begin()
            seq = self._append([event], note)
        self._commit_if_each()
        return seq

    def _commit_if_each(self) -> None:
        if not self._commit_each:
            return
        try:
            self.flush()
        except BaseException:
            self._writer.wake()  # it tries again, as long as nobody else does
            raise

    def _begin(self) -> None:
        self._writer.make_ready()
        if self._end_seed_due:  # as the harness does when it takes up a log
            event = {"type": "session/end-seed", "time": _now(), "data": {}}
            self._append([event], self._note_end_seed)

    def _note_end_seed(self) -> None:
        self._end_seed_due = False

    def _append(self, events: list[dict[str, Any]], note: Callable[[], None] | None = None) -> int:
        """Check events that belong together, then queue all of them or none; the first one's seq.

        Of several, the surface must take those after the first (`_check`).
        """
        standing, first = self._standing, self._writer.next_seq
        stored: list[StoredEvent] = []
        for event in events:
            stored.append(self._make_row(event, first + len(stored)))
        try:
            for event in events:
                standing.surface.push(event)
                if event["type"] in TRACKED_TYPES:
                    standing.tracker.push(event)
        except EventRefused as error:
            raise EventRefused(error.code, self.session_id, error.seq, error.detail) from None
        if note is not None:
            note()
        self._writer.put(stored, wake=not self._commit_each)
        return first

    def _make_row(self, event: dict[str, Any], seq: int) -> StoredEvent:
        event["seq"] = seq
        version = self.format_version
        try:
            text, plain = lossless.encode(event["data"])
            if len(text) > self._max_data:
                raise RowRefused(
                    f"its data has {len(text):,} bytes as JSON, an event may have "
                    f"{self._max_data:,}"
                )
            return (direct.store_plain(event, text, version) if plain else None) or rows.store(
                {**event, "data": Raw(text)}, version
            )
        except lossless.NotLossless as error:
            raise EventRefused("data-not-json", self.session_id, seq, str(error)) from None
        except RowRefused as error:
            raise EventRefused("event-invalid", self.session_id, seq, str(error)) from None

    def _check(self, type: str, data: Any, span: tuple[int, int], sources: Sequence[int]) -> None:
        """Raise EventRefused when the surface would not take this replace after log-only events."""
        surface = self._standing.surface
        event = {"type": type, "seq": surface.next_seq, "data": data}
        cited = {"sourceEventSeqs": list(sources), "surfaceOp": self._spell(span)}
        try:
            surface.check({**event, **cited})
        except EventRefused as error:
            raise EventRefused(error.code, self.session_id, error.seq, error.detail) from None

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
        append tries again (after a Conflict none can succeed: see `abandon`).
        """
        self._writer.flush()

    def close(self) -> None:
        """Flush and close; when the flush fails the session stays open, and the queue with it."""
        if self._closing.alive:
            self._writer.close()
            self._closing.detach()

    def abandon(self) -> list[dict[str, Any]]:
        """Close without writing what is still queued, and return it (after a Conflict, say)."""
        left = self.pending
        self._writer.drop()
        self._closing.detach()
        return left


def _now() -> int:
    return clock.time_ns() // 1_000_000
