"""An attempt of a model at an answer, while its tokens come in: nothing of it is in the log yet.

Decides in which event an attempt ends up, and what may not be appended while one is open (format
notes v0-v4, section 5.2). What a stream adds up to is for `streams`, what payloads look like for
`shapes`, who answers whom for `live`.
"""

from __future__ import annotations

import time as clock
import uuid
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, Literal, Self

import msgspec

from dshstore.db import Database
from dshstore.engine import read
from dshstore.errors import OutOfTurn, StoreError, StreamRefused
from dshstore.formats.dsh import shapes
from dshstore.streams import Accumulator, Assembled, assemble
from dshstore.turns import TurnSession
from dshstore.writer import Writer

#: How an attempt went: its message stands in the log, whole or interrupted, or its stream alone
#: does (failed), or nothing does (abandoned).
Outcome = Literal["open", "message", "interrupted", "failed", "abandoned"]

#: What comes before an attempt or after its settlement, never between.
_OUTSIDE_ATTEMPTS = frozenset(
    {
        "turn/start",
        "turn/end",
        "step/start",
        "step/end",
        "assistant/message",
        "assistant/attempt",
        "tool/call",
        "llm/retry",
        "llm/retry-started",
    }
)

_UNCHANGING = frozenset({str, int, bool, type(None)})

#: Reasons to finish of a stream that gave no answer.
_FAILURES = ("error", "aborted")


class LiveChunk(msgspec.Struct, frozen=True):
    """A chunk that has just come in. It is no event: it has no seq, and no log holds it.

    `attempt` counts the attempts since the session was opened, from 1, also those that were
    abandoned; `time` is epoch ms.
    """

    attempt: int
    turn: int
    step: int
    time: int
    chunk: Mapping[str, Any]


#: Told of each chunk. What it raises, `Attempt.push` raises, after taking the chunk.
Listener = Callable[[LiveChunk], object]


class Attempt:
    """One attempt, from the request on; `LiveSession.attempt` gives one, for a `with` block.

    Push the chunks as they come in, then settle it once: `settle`, `cancel` or `fail`. An attempt
    that is left without (by an exception, say) is abandoned, and nothing of it was ever durable.
    Pushing and settling are for one thread at a time.
    """

    def __init__(
        self,
        session: AttemptSession,
        place: Mapping[str, int],
        provider: str,
        model: str,
        count: int,
    ) -> None:
        self.place, self.provider, self.model, self.count = place, provider, model, count
        self.outcome: Outcome = "open"
        self._session = session
        self._stream = Accumulator()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.abandon()

    def push(self, chunk: dict[str, Any], time: int | None = None) -> None:
        """Take the next chunk of the stream, and tell who listens; it came at `time`, or now.

        It is copied; the time is epoch ms. Raises StreamRefused for what is no chunk, OutOfTurn
        after the settlement.
        """
        self.require_open()
        at = clock.time_ns() // 1_000_000 if time is None else time
        # a delta holds nothing that can be changed, and there are many of them
        flat = type(chunk) is dict and _UNCHANGING.issuperset(map(type, chunk.values()))
        self._stream.push(at, chunk.copy() if flat else deepcopy(chunk))
        self._session.tell(LiveChunk(self.count, **self.place, time=at, chunk=chunk))

    @property
    def assembled(self) -> Assembled:
        """What the chunks so far add up to. Raises StreamRefused while a block cannot be told."""
        return assemble(self._stream.records)

    def settle(self, *, time: int | None = None) -> int:
        """Append the message that the chunks add up to; its seq.

        A stream that finished with `error` or `aborted` gave none: it is kept as by `fail`, which
        `outcome` tells. Raises StreamRefused for a block that cannot be told: the attempt is open
        still, and `fail` keeps its stream. OutOfTurn after the settlement.
        """
        self.require_open()
        answer = self.assembled
        kind = answer.finish.get("kind") if isinstance(answer.finish, Mapping) else None
        if kind in _FAILURES:
            return self.fail(time=time)
        return self._say(answer, "message", answer.blocks, time)

    def cancel(self, *, time: int | None = None) -> int:
        """Append what there is of an answer that nobody waits for any more; the event's seq.

        That is an interrupted message with the text that can be seen, or, where there is none,
        the stream alone, as by `fail`. Raises OutOfTurn after the settlement.
        """
        self.require_open()
        try:
            answer = self.assembled
        except StreamRefused:
            return self.fail(time=time)
        if not answer.interrupted_blocks:
            return self.fail(time=time)
        return self._say(answer, "interrupted", answer.interrupted_blocks, time)

    def fail(self, *, time: int | None = None) -> int:
        """Append the stream alone, which the model never sees again; the event's seq.

        For an attempt that broke off, or is made again. Raises OutOfTurn after the settlement.
        """
        data = shapes.assistant_attempt(self.place, self._stream.records)
        return self._session.settle_attempt(self, "failed", "assistant/attempt", data, time)

    def abandon(self) -> None:
        """Forget the attempt if it is open: nothing of it is in the log."""
        self._session.abandon_attempt(self)

    def _say(
        self, answer: Assembled, outcome: Outcome, blocks: list[dict[str, Any]], time: int | None
    ) -> int:
        data = shapes.assistant_message(
            self._session.format_version,
            self.place,
            str(uuid.uuid4()),
            blocks,
            provider=self.provider,
            model=self.model,
            replay_state=answer.replay_state,
            usage=answer.usage,
            stream=self._stream.records,
            interrupted=outcome == "interrupted",
        )
        return self._session.settle_attempt(self, outcome, "assistant/message", data, time)

    def require_open(self) -> None:
        """Raise OutOfTurn when the attempt is over."""
        if self.outcome != "open":
            raise OutOfTurn(f"the attempt is over already: {self.outcome}")


class _Retry(msgspec.Struct, frozen=True):
    place: Mapping[str, int]
    retry_id: str
    number: int


class AttemptSession(TurnSession):
    """A session open for writing that knows which attempt is open, and who follows it."""

    def __init__(
        self, database: Database, row: read.SessionRow, writer: Writer, **options: Any
    ) -> None:
        super().__init__(database, row, writer, **options)
        self._attempt: Attempt | None = None  # the last one, until it is retried
        self._attempts = 0
        self._listeners: tuple[Listener, ...] = ()
        self._retries: dict[tuple[object, ...], _Retry] = {}
        self._scheduled: _Retry | None = None

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Have `listener` told of each chunk of each attempt from now on; call to end that."""
        with self._appending:
            self._listeners = (*self._listeners, listener)

        def stop() -> None:
            with self._appending:
                self._listeners = tuple(one for one in self._listeners if one is not listener)

        return stop

    def tell(self, chunk: LiveChunk) -> None:
        """Tell who listens of a chunk."""
        for listener in self._listeners:
            listener(chunk)

    def start_attempt(self, provider: str, model: str) -> Attempt:
        """Begin an attempt in the open step. Raises OutOfTurn, StoreError before format v2."""
        with self._appending:
            if self.format_version < shapes.STREAMS_SINCE:
                raise StoreError(
                    f"a log of format v{self.format_version} has a stream as events: append each "
                    "chunk as assistant/chunk, and the message with their seqs as sources"
                )
            place = self._place()
            if self._open_attempt is not None:
                raise OutOfTurn(f"an attempt in step {place['step']} is still open")
            self._attempts += 1
            self._attempt = Attempt(self, place, provider, model, self._attempts)
            return self._attempt

    def settle_attempt(
        self, attempt: Attempt, outcome: Outcome, type: str, data: Any, time: int | None
    ) -> int:
        """Append the event in which an open attempt ends; its seq."""
        op: Literal["append"] | None = "append" if type == "assistant/message" else None

        def note() -> None:
            attempt.outcome = outcome

        with self._appending:
            attempt.require_open()
            self._begin()
            # past the check of what may stand beside an open attempt: it ends with this event
            seq = super()._append([self._event(type, data, op, time=time)], note)
        self._commit_if_each()
        return seq

    def abandon_attempt(self, attempt: Attempt) -> None:
        """End an attempt, if it is open, without an event."""
        with self._appending:
            if attempt.outcome == "open":
                attempt.outcome = "abandoned"

    def retry(
        self,
        failure: Mapping[str, Any],
        *,
        delay_ms: int,
        policy_key: str,
        max_retries: int | None = None,
    ) -> int:
        """Append that the attempt which failed will be made again in `delay_ms`; the event's seq.

        `failure` has a `message` and a `code`. The retries of one policy in one step are numbered
        from 1; there may be any number without `max_retries`. Raises OutOfTurn unless the last
        attempt is one of the open step, and failed; StoreError beyond `max_retries`.
        """
        with self._appending:
            place, attempt = self._place(), self._attempt
            if attempt is None or attempt.place != place or attempt.outcome != "failed":
                raise OutOfTurn("no attempt of the open step has just failed")
            chain = (*place.values(), attempt.provider, policy_key)
            last = self._retries.get(chain) or _Retry(place, str(uuid.uuid4()), 0)
            retry = _Retry(place, last.retry_id, last.number + 1)
            if max_retries is not None and retry.number > max_retries:
                raise StoreError(f"retry {retry.number} is one more than max_retries allows")
            data = shapes.llm_retry(
                place,
                retry.retry_id,
                retry.number,
                provider=attempt.provider,
                policy_key=policy_key,
                max_retries=max_retries,
                delay_ms=delay_ms,
                failure=failure,
            )

            def note() -> None:
                self._retries[chain] = self._scheduled = retry
                self._attempt = None

            return self._append_noting(note, self._event("llm/retry", data))

    def start_retry(self) -> int:
        """Append that the request is made again now; the event's seq. Raises OutOfTurn."""
        with self._appending:
            place, retry = self._place(), self._scheduled
            if retry is None or retry.place != place:
                raise OutOfTurn("no retry is due")
            data = shapes.llm_retry_started(place, retry.retry_id, retry.number)

            def note() -> None:
                self._scheduled = None

            return self._append_noting(note, self._event("llm/retry-started", data))

    def break_off(self, reason: Mapping[str, Any]) -> None:
        """End the open turn, if one is, in the middle; an open attempt is abandoned."""
        with self._appending:
            if self._attempt is not None:
                self._attempt.abandon()
            super().break_off(reason)

    @property
    def _open_attempt(self) -> Attempt | None:
        attempt = self._attempt
        return attempt if attempt is not None and attempt.outcome == "open" else None

    def _append(self, events: list[dict[str, Any]], note: Callable[[], None] | None = None) -> int:
        if self._attempt is not None and self._open_attempt is not None:
            for event in events:
                if event["type"] in _OUTSIDE_ATTEMPTS:
                    raise OutOfTurn(f"{event['type']}: the open attempt must be settled first")
        return super()._append(events, note)
