"""When the tokens of each attempt came: delays, durations, rates, silences.

Decides which chunks are one attempt (as the format notes v0-v4, section 7.2, group them) and what
is measured of it, from chunk events (formats v0, v1) and from embedded streams alike: a log has
the same figures before and after its migration. An attempt ends with its settlement, with a
finish chunk, and where its step ends or a retry comes. Nothing is refused: what cannot be told is
None. The view `attempts` says in SQL what can be seen without unpacking a stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any, Literal

import msgspec

from dshstore.db import Database
from dshstore.engine import read
from dshstore.engine.migration.chunks import ChunkRun, read_run
from dshstore.errors import MigrationRefused, StreamRefused
from dshstore.formats.dsh import rows
from dshstore.formats.dsh.cutting import SETTLEMENTS
from dshstore.formats.dsh.envelope import CHUNK, RowRefused
from dshstore.model import Event
from dshstore.streams.records import member_times, safe_integer

#: A silence in a stream is told when it is longer than this, in ms.
MIN_GAP = 1000

#: The events after which a model is asked, for the first time or again.
_REQUESTS = frozenset({"step/start", "llm/retry-started"})

#: What no attempt goes on beyond.
_BOUNDS = _REQUESTS | {"turn/start", "turn/end", "step/end", "llm/retry"}

_TYPES = _BOUNDS | SETTLEMENTS | {CHUNK}

_DELTA = {"type": "text-delta"}

_TOKENS = ("text-delta", "reasoning-delta", "tool-call-delta")


class Gap(msgspec.Struct, frozen=True):
    """A silence in a stream: `length` ms from the chunk that came at `time` (epoch ms) on."""

    time: int
    length: int


class AttemptTiming(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one attempt of a model at an answer; times are epoch ms, the rest is ms.

    `seq` is the event that it was settled in, or its last chunk without one (formats v0, v1).
    `outcome` says whether the model saw its message, whole or interrupted, later on. `requested`
    is the time of the `step/start` or `llm/retry-started` that it follows, `first_time` and
    `last_time` are those of its first and last of `chunks` chunks, and `duration` is between
    these two. `first_token_delay` is from the request to the first delta. `output_tokens` are
    those that the provider reported, `tokens_per_second` are these over the duration.
    `longest_gap` is the longest silence between two chunks, `gaps` are all the long ones.
    `finish` is how the stream ended: stop, tool-calls, max-tokens, aborted, error.

    A figure is negative where a clock went back, and None where the log does not tell it.
    """

    seq: int
    turn: int | None
    step: int | None
    outcome: Literal["message", "interrupted", "failed"]
    requested: int | None
    first_time: int | None
    last_time: int | None
    first_token_delay: int | None
    duration: int | None
    chunks: int
    output_tokens: int | None
    tokens_per_second: float | None
    longest_gap: int | None
    gaps: tuple[Gap, ...]
    finish: str | None


def read_timings(
    database: Database, session: read.SessionRow, min_gap: int = MIN_GAP
) -> Iterator[AttemptTiming]:
    """The attempts of a stored session in order, inherited ones included."""
    return time_attempts(_read_items(database, session), min_gap)


def _read_items(database: Database, session: read.SessionRow) -> Iterator[Event | ChunkRun]:
    version = session.format_version
    for stored in read.stored_events(database, session):
        if stored.type not in _TYPES:
            continue
        items: Iterable[Event | ChunkRun] = rows.logical(stored, version)
        if stored.stream is not None and stored.stream.at is None:
            # a run with a chunk that no stream could hold is told event by event
            with suppress(MigrationRefused, RowRefused):
                items = list(read_run(rows.log_lines(stored, version)))
        yield from items


def time_attempts(
    items: Iterable[Event | ChunkRun], min_gap: int = MIN_GAP
) -> Iterator[AttemptTiming]:
    """The attempts in the events of a log of any format version, in order.

    Chunk events may come as runs. `gaps` are those of more than `min_gap` ms.
    """
    requested: int | None = None
    attempt: _Attempt | None = None
    for item in items:
        run = item if isinstance(item, ChunkRun) else None
        event = _as_event(item) if isinstance(item, ChunkRun) else item
        kind, data = event["type"], event["data"]
        if kind not in _TYPES:
            continue
        data = data if isinstance(data, Mapping) else {}
        is_part = kind not in _BOUNDS
        if attempt is not None and not (is_part and attempt.takes(event, data)):
            yield attempt.end("failed")
            attempt = None
        if not is_part:
            requested = event["time"] if kind in _REQUESTS else None
            continue
        if attempt is None:
            attempt, requested = _Attempt(data, requested, min_gap), None
        attempt.seq = event["seq"]
        if run is not None:
            attempt.add_records(run.records)
        elif kind == CHUNK:
            attempt.add([event["time"]], data.get("chunk"))
        else:
            yield attempt.settle(kind, data)
            attempt = None
    if attempt is not None:
        yield attempt.end("failed")


def _as_event(run: ChunkRun) -> Event:
    """The last event of a run, without its chunk."""
    data = {"turn": run.turn, "step": run.step}
    return {"type": CHUNK, "seq": run.seq + run.count - 1, "time": run.last_time, "data": data}


class _Attempt:
    """The figures of an attempt so far."""

    def __init__(self, place: Mapping[str, Any], requested: int | None, min_gap: int) -> None:
        self.seq = 0
        self._place = _read_place(place)
        self._requested, self._min_gap = requested, min_gap
        self._chunks = 0
        self._first: int | None = None
        self._last: int | None = None
        self._first_token: int | None = None
        self._longest: int | None = None
        self._gaps: list[Gap] = []
        self._usage: Any = None
        self._finish: str | None = None
        self._finished = False

    def takes(self, event: Event, data: Mapping[str, Any]) -> bool:
        """Whether a chunk goes on with it, or a message that cites chunks is its own."""
        if _read_place(data) != self._place:
            return False
        if event["type"] == CHUNK:
            return not self._finished
        return event.get("sourceEventSeqs") != []

    def add_records(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Take the records of a stream, or none of them when one is refused (StreamRefused)."""
        for record, times in [(record, member_times(record)) for record in records]:
            self.add(times, record["chunk"] if record["type"] == "chunk" else _DELTA)

    def add(self, times: Sequence[int], chunk: Any) -> None:
        """Take the next chunk, or several that are as good as this one, by their times."""
        self._chunks += len(times)
        if self._last is None:
            self._first = self._last = times[0]
            self._add_gaps(times)
        else:
            self._add_gaps([self._last, *times])
        self._last = times[-1]
        kind = chunk.get("type") if isinstance(chunk, Mapping) else None
        if kind in _TOKENS:
            if self._first_token is None:
                self._first_token = times[0]
        elif kind == "usage":
            usage = chunk.get("usage")
            self._usage = usage if isinstance(usage, Mapping) else None
        elif kind == "finish":
            reason = chunk.get("reason")
            named = reason.get("kind") if isinstance(reason, Mapping) else None
            self._finish = named if isinstance(named, str) else None
            self._finished = True

    def _add_gaps(self, times: Sequence[int]) -> None:
        gaps = [after - before for before, after in pairwise(times)]
        if not gaps:
            return
        longest = max(gaps)
        self._longest = max(longest, self._longest or 0)
        if longest > self._min_gap:
            self._gaps += [
                Gap(time, gap)
                for time, gap in zip(times, gaps, strict=False)
                if gap > self._min_gap
            ]

    def settle(self, kind: str, data: Mapping[str, Any]) -> AttemptTiming:
        """Take the payload of the event that settles the attempt."""
        stream = data.get("stream")
        if isinstance(stream, list):
            with suppress(StreamRefused):
                self.add_records(stream)
        if self._usage is None:
            self._usage = data.get("usage")
        if kind != "assistant/message":
            return self.end("failed")
        return self.end("interrupted" if data.get("interrupted") is True else "message")

    def end(self, outcome: Literal["message", "interrupted", "failed"]) -> AttemptTiming:
        tokens = self._usage.get("outputTokens") if isinstance(self._usage, Mapping) else None
        output_tokens = safe_integer(tokens)
        duration = _between(self._first, self._last)
        rate = None
        if output_tokens is not None and duration is not None and duration > 0:
            rate = 1000 * output_tokens / duration
        turn, step = self._place
        return AttemptTiming(
            seq=self.seq,
            turn=turn,
            step=step,
            outcome=outcome,
            requested=self._requested,
            first_time=self._first,
            last_time=self._last,
            first_token_delay=_between(self._requested, self._first_token),
            duration=duration,
            chunks=self._chunks,
            output_tokens=output_tokens,
            tokens_per_second=rate,
            longest_gap=self._longest,
            gaps=tuple(self._gaps),
            finish=self._finish,
        )


def _read_place(data: Mapping[str, Any]) -> tuple[int | None, int | None]:
    return safe_integer(data.get("turn")), safe_integer(data.get("step"))


def _between(start: int | None, end: int | None) -> int | None:
    return None if start is None or end is None else end - start
