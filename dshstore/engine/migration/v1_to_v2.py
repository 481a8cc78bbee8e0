"""Format v1 -> v2: token deltas go into the settlement of the attempt that they are of.

(Format notes v0-v4, section 7.2.) An attempt is the deltas of one turn and step up to a finish
chunk. What it settled in, a message that cites them all, takes them as its stream; an attempt
that no message cites becomes an `assistant/attempt` in the place of its last delta. So there are
fewer events, and those that are left are numbered anew. Two old habits are put right on the way:
a turn that was resumed without an end gets one, and a goal that changed in the source of a
message changes in an event of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from dshstore.engine.migration.chunks import ChunkRun, Record, Stream
from dshstore.engine.migration.messages import carries_goal
from dshstore.engine.migration.references import SeqMap
from dshstore.engine.migration.shapes import Misfit
from dshstore.errors import MigrationRefused
from dshstore.model import Event, Header
from dshstore.streams.records import safe_integer

#: What comes after an attempt, never within one.
_ENDS_ATTEMPT: Final = frozenset({"turn/end", "step/end", "llm/retry", "llm/retry-started"})

_MARKER: Final = "session/end-seed"

#: Seqs are compared so many at a time: an attempt may have a million.
_COMPARED: Final = 4096


class Step(NamedTuple):
    """An event of the new log, and the seq of the event of the old one that it came from."""

    origin: int
    event: Event


class V1ToV2:
    """Carries the events of one log over, in order; `push` them, then `finish`."""

    def __init__(self, header: Header) -> None:
        self.seqs = SeqMap()
        self._next_seq = 0
        self._seeded, self._cut = header.seeded, header.seed_length or 0
        self._cut_is_marked = not header.seeded
        self._last_time = header.created_at
        self._turns = _Turns()
        self._attempt: _Attempt | None = None

    def push(self, item: Event | ChunkRun) -> Iterator[Step]:
        """What the next event, or run of chunks, makes of the new log.

        Its payload must have been checked. Raises `MigrationRefused`.
        """
        if isinstance(item, ChunkRun):
            yield from self._push_chunks(item)
            return
        seq = item["seq"]
        self.seqs.pass_over(1)
        try:
            missing_end = self._turns.push(item)
        except Misfit as misfit:
            raise MigrationRefused(seq, str(misfit)) from None
        self._last_time = item["time"]
        if missing_end is not None:
            yield from self._settle()
            yield from self._generate(seq, missing_end)
        if item["type"] == "user/message" and carries_goal(item["data"]):
            # the only event that waits for no attempt: the harness let it go before
            change, message = _split_goal(item)
            yield from self._generate(seq, change)
            yield from self._emit(message)
        elif item["type"] == "assistant/message":
            yield from self._push_message(item)
        elif item["type"] in _ENDS_ATTEMPT:
            yield from self._settle()
            yield from self._emit(item)
        elif self._attempt is not None:
            self._attempt.waiting.append(item)
        else:
            yield from self._emit(item)

    def finish(self) -> Iterator[Step]:
        """What is left when the old log is at its end."""
        yield from self._settle()
        if not self._cut_is_marked:
            yield self._mark(len(self.seqs) - 1, self._last_time)

    def _push_chunks(self, run: ChunkRun) -> Iterator[Step]:
        self.seqs.pass_over(run.count)
        self._turns.pass_over()
        self._last_time = run.last_time
        attempt = self._attempt
        if attempt is not None and attempt.takes(run):
            yield from self._let_go(attempt)
        else:
            yield from self._settle()
            attempt = self._attempt = _Attempt(run.turn, run.step)
        attempt.add(run)
        self._check_cut(attempt, run.seq, attempt.last_seq)

    def _push_message(self, event: Event) -> Iterator[Step]:
        data, cited = event["data"], event.get("sourceEventSeqs")
        attempt = self._attempt
        stream: list[Record] = []
        if attempt is not None and not attempt.is_of(data["turn"], data["step"]):
            yield from self._settle()
        elif not isinstance(cited, list):
            if attempt is not None:
                raise MigrationRefused(
                    event["seq"], "assistant/message: does not cite the chunks before it"
                )
        elif not cited:
            yield from self._settle()
        elif attempt is None or not attempt.is_cited(cited):
            raise MigrationRefused(
                event["seq"],
                "assistant/message: does not cite the chunks of one attempt, all of them and "
                "in order",
            )
        else:
            self._check_cut(attempt, event["seq"], event["seq"])
            self._attempt = None
            yield from self._let_go(attempt)
            stream = attempt.stream.records
        rest = {key: value for key, value in event.items() if key != "sourceEventSeqs"}
        yield from self._emit({**rest, "data": {**data, "stream": stream}})

    def _settle(self) -> Iterator[Step]:
        """The attempt that no message cited, and what waited for it."""
        attempt, self._attempt = self._attempt, None
        if attempt is None:
            return
        data = {"turn": attempt.turn, "step": attempt.step, "stream": attempt.stream.records}
        time = attempt.stream.last_time
        yield from self._generate(
            attempt.last_seq, {"type": "assistant/attempt", "time": time, "data": data}
        )
        yield from self._let_go(attempt)

    def _let_go(self, attempt: _Attempt) -> Iterator[Step]:
        """What waited for the attempt's fate."""
        waiting, attempt.waiting = attempt.waiting, []
        for event in waiting:
            yield from self._emit(event)

    def _emit(self, event: Event) -> Iterator[Step]:
        """An event of the old log, at its place in the new one."""
        seq = event["seq"]
        is_marker = self._seeded and seq == self._cut and event["type"] == _MARKER
        if is_marker:
            event = {**event, "data": {"inherited": True}}
            self._cut_is_marked = True
        yield from self._mark_before(seq, event["time"])
        self.seqs.place(seq, self._next_seq)
        try:
            renumbered = self.seqs.renumber(event)
        except Misfit as misfit:
            raise MigrationRefused(seq, str(misfit)) from None
        self._next_seq += 1
        yield Step(seq, renumbered)

    def _generate(self, origin: int, event: Event) -> Iterator[Step]:
        """An event that the old log does not have, at the place of event `origin`."""
        yield from self._mark_before(origin, event["time"])
        kind, time, data = event["type"], event["time"], event["data"]
        seq, self._next_seq = self._next_seq, self._next_seq + 1
        yield Step(origin, {"type": kind, "seq": seq, "time": time, "data": data})

    def _mark_before(self, origin: int, time: int) -> Iterator[Step]:
        if not self._cut_is_marked and origin >= self._cut:
            yield self._mark(origin, time)

    def _mark(self, origin: int, time: int) -> Step:
        """The mark between what is inherited and what is the session's own."""
        self._cut_is_marked = True
        seq, self._next_seq = self._next_seq, self._next_seq + 1
        data = {"inherited": True}
        return Step(origin, {"type": _MARKER, "seq": seq, "time": time, "data": data})

    def _check_cut(self, attempt: _Attempt, first: int, last: int) -> None:
        """Refuse events `first` to `last` of an attempt if they are not inherited as its first."""
        if attempt.first_seq < self._cut <= last:
            raise MigrationRefused(
                max(self._cut, first),
                f"the inherited events end at {self._cut}, in the middle of an attempt",
            )


class _Attempt:
    """Chunks of one turn and step, and the events after the last of them."""

    def __init__(self, turn: int, step: int) -> None:
        self.turn, self.step = turn, step
        self.stream = Stream()
        self.waiting: list[Event] = []
        self._spans: list[range] = []
        self._finished = False

    @property
    def first_seq(self) -> int:
        return self._spans[0].start

    @property
    def last_seq(self) -> int:
        return self._spans[-1].stop - 1

    def is_of(self, turn: Any, step: Any) -> bool:
        return (safe_integer(turn), safe_integer(step)) == (self.turn, self.step)

    def takes(self, run: ChunkRun) -> bool:
        return not self._finished and self.is_of(run.turn, run.step)

    def add(self, run: ChunkRun) -> None:
        self.stream.extend(run.records, run.last_time)
        self._finished = run.finished
        self._spans.append(range(run.seq, run.seq + run.count))

    def is_cited(self, seqs: list[Any]) -> bool:
        """Whether these are the seqs of all its chunks, in order."""
        if len(seqs) != sum(map(len, self._spans)) or bool in set(map(type, seqs)):
            return False
        at = 0
        for span in self._spans:
            for first in range(0, len(span), _COMPARED):
                some = span[first : first + _COMPARED]
                if seqs[at : at + len(some)] != list(some):
                    return False
                at += len(some)
        return True


class _Turns:
    """Which turn is open, and whether the event before this one resumed it."""

    def __init__(self) -> None:
        self._turn: int | None = None
        self._step_is_open = False
        self._resumed = False

    def pass_over(self) -> None:
        """Note events that neither open nor close anything."""
        self._resumed = False

    def push(self, event: Event) -> Event | None:
        """Note an event; the end of the open turn where the log forgot it.

        A harness that came back to a log it had been killed in put what the user said next into
        its inbox, and then began the next turn. Raises `Misfit` for any other turn without end.
        """
        data, resumed, end = event["data"], self._resumed, None
        self._resumed = False
        match event["type"]:
            case "turn/start":
                turn, open_turn = safe_integer(data["turn"]), self._turn
                if open_turn is not None:
                    if not resumed or self._step_is_open or turn != open_turn + 1:
                        raise Misfit(f"turn/start: turn {open_turn} has no end")
                    reason = {"turn": open_turn, "reason": {"kind": "interrupted"}}
                    end = {"type": "turn/end", "time": event["time"], "data": reason}
                self._turn, self._step_is_open = turn, False
            case "turn/end":
                self._turn, self._step_is_open = None, False
            case "step/start":
                self._step_is_open = True
            case "step/end":
                self._step_is_open = False
            case "agent/inbox/spliced":
                self._resumed = data["target"] == "next-turn" and bool(data["inserted"])
            case _:
                pass
        return end


def _split_goal(event: Event) -> tuple[Event, Event]:
    """The change of a goal that an old message carries, and the message without it."""
    data = event["data"]
    change = {"type": "goal/change", "time": event["time"], "data": data["source"]["change"]}
    source = {"kind": "plugin", "plugin": "goal"}
    return change, {**event, "data": {**data, "source": source}}
