"""The faults that a log has by itself, whoever stores it: order of turns and steps, calls without
results, unknown events, streams that add up to another message, marks of the inherited part.

Such a log is stored, exported and shown as it is; its own harness may refuse it. (Format notes
v0-v4, sections 3.4, 4.4 and 6.) Times say nothing: clocks go back. After a fault the log is
followed as it goes on, so that one fault is one finding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dshstore.engine.bracket_findings import Calls, Compactions, is_checkpoint
from dshstore.engine.findings import Fault
from dshstore.engine.surface import Surface
from dshstore.errors import StreamRefused, shown
from dshstore.formats.dsh import legacy
from dshstore.formats.dsh.vocabulary import is_known
from dshstore.jsontext import same
from dshstore.model import Event, Header
from dshstore.streams.assembly import assemble
from dshstore.streams.records import safe_integer

Data = Mapping[str, Any]


class LogRules:
    """Follows one log.

    `surface` is its fold before each event, None where none can be told. With `streams` the
    streams of attempts are looked into.
    """

    def __init__(self, version: int, session_id: str, surface: Surface) -> None:
        self._version, self._session_id = version, session_id
        self.surface: Surface | None = surface
        self.streams = True
        self._turn: int | None = None
        self._step: int | None = None
        self._turn_seq = 0
        self._next_turn = self._next_step = 1
        self._calls = Calls()
        self._compactions = Compactions()
        self.tagged_seed: int | None = None

    def push(self, event: Event) -> Iterator[Fault]:
        """What is wrong with the next event that is no member of a run."""
        kind, seq = event["type"], event["seq"]
        if event.get("ignorable") is not True and not is_known(kind, self._version):
            yield Fault(
                seq, "event-unknown", f"type {shown(kind)} is unknown in format {self._version}"
            )
        if self._version == 0 and kind in _OLD_SHAPES:
            event = legacy.upgrade(event, self._session_id)
        rule = _RULES.get(event["type"])
        if rule is not None:
            data = event["data"]
            yield from rule(self, seq, event, data if isinstance(data, Mapping) else {})

    def push_run(self, seq: int, data: Any) -> Iterator[Fault]:
        """What is wrong with a run whose row has these data."""
        yield from self._in_step(seq, {}, data if isinstance(data, Mapping) else {})

    def finish(self, header: Header | None, count: int) -> Iterator[Fault]:
        """What is wrong with a log that ends after `count` events."""
        if self._turn is not None:
            yield Fault(self._turn_seq, "open-turn", f"turn {self._turn} has no end")
        yield from self._calls.finish()
        yield from self._compactions.finish()
        if header is None:
            return
        if header.version < 2:
            if (header.seed_length or 0) > count:
                yield Fault(None, "seed-beyond-log", f"{header.seed_length} of {count} events")
        elif header.seeded and self.tagged_seed is None:
            yield Fault(None, "seed-marker-missing", "no session/end-seed is tagged as inherited")
        elif not header.seeded and self.tagged_seed is not None:
            detail = "a tagged session/end-seed in a log that is not seeded"
            yield Fault(self.tagged_seed, "seed-marker-unexpected", detail)

    # -- turns and steps --

    def _start_turn(self, seq: int, event: Event, data: Data) -> Iterator[Fault]:
        number = safe_integer(data.get("turn"))
        if self._turn is not None:
            yield Fault(seq, "turn-order", f"turn {self._turn} is open")
        if number != self._next_turn:
            detail = f"turn {shown(data.get('turn'))} begins, {self._next_turn} is due"
            yield Fault(seq, "turn-number", detail)
        yield from self._calls.close(seq)
        self._compactions.cross(seq)
        self._turn, self._turn_seq = (self._next_turn if number is None else number), seq
        self._next_turn = self._turn + 1
        self._step, self._next_step = None, 1

    def _end_turn(self, seq: int, event: Event, data: Data) -> Iterator[Fault]:
        if self._turn is None or safe_integer(data.get("turn")) != self._turn:
            yield Fault(seq, "turn-order", f"turn {shown(data.get('turn'))} is not open")
        elif self._step is not None:
            yield Fault(seq, "turn-order", f"the turn ends within its step {self._step}")
        yield from self._calls.close(seq)
        self._compactions.cross(seq)
        self._turn = self._step = None

    def _start_step(self, seq: int, event: Event, data: Data) -> Iterator[Fault]:
        number = safe_integer(data.get("step"))
        if self._turn is None or safe_integer(data.get("turn")) != self._turn:
            yield Fault(seq, "step-order", f"turn {shown(data.get('turn'))} is not open")
        elif self._step is not None:
            yield Fault(seq, "step-order", f"step {self._step} is open")
        if number != self._next_step:
            detail = f"step {shown(data.get('step'))} begins, {self._next_step} is due"
            yield Fault(seq, "step-number", detail)
        yield from self._calls.close(seq)
        self._step = self._next_step if number is None else number
        self._next_step = self._step + 1

    def _end_step(self, seq: int, event: Event, data: Data) -> Iterator[Fault]:
        if not self._is_in_step(data):
            yield Fault(seq, "step-order", f"step {shown(data.get('step'))} is not open")
        yield from self._calls.close(seq)
        self._step = None

    def _is_in_step(self, data: Data) -> bool:
        place = safe_integer(data.get("turn")), safe_integer(data.get("step"))
        return self._step is not None and place == (self._turn, self._step)

    def _in_step(self, seq: int, event: Event, data: Data) -> Iterator[Fault]:
        if not self._is_in_step(data):
            named = f"turn {shown(data.get('turn'))}, step {shown(data.get('step'))}"
            here = f"turn {self._turn}" if self._turn is not None else "no turn"
            here += f", step {self._step}" if self._step is not None else ""
            yield Fault(seq, "outside-step", f"it names {named}, open is {here}")

    def _in_turn(self, seq: int, event: Event, data: Data) -> Iterator[Fault]:
        if self._turn is None:
            yield Fault(seq, "outside-turn", f"no turn is open for a {event['type']}")

    # -- the model and its tools --

    def _attempt(self, seq: int, event: Event, data: Data) -> Iterator[Fault]:
        yield from self._in_step(seq, event, data)
        if self.streams:
            yield from _check_stream(seq, data, settles=False)

    def _message(self, seq: int, event: Event, data: Data) -> Iterator[Fault]:
        yield from self._in_step(seq, event, data)
        message = data.get("message")
        if self._is_in_step(data) and isinstance(message, Mapping):
            yield from self._calls.announce(seq, message.get("content"))
        if self._version == 2 and "sourceEventSeqs" in event:
            yield Fault(seq, "settlement-cites", "later formats refuse its sourceEventSeqs")
        if self._version >= 2 and self.streams:
            yield from _check_stream(seq, data, settles=True)

    def _call(self, seq: int, event: Event, data: Data) -> Iterator[Fault]:
        yield from self._in_step(seq, event, data)
        yield from self._calls.start(seq, data)

    def _result(self, seq: int, event: Event, data: Data) -> Iterator[Fault]:
        if event.get("surfaceOp") != "append":
            yield from self._in_turn(seq, event, data)
            return
        yield from self._in_step(seq, event, data)
        yield from self._calls.answer(seq, data)

    def _system(self, seq: int, event: Event, data: Data) -> Iterator[Fault]:
        if self._version == 3:  # v4 has some before the first step
            yield from self._in_step(seq, event, data)

    # -- compactions, and what is inherited --

    def _user_message(self, seq: int, event: Event, data: Data) -> Iterator[Fault]:
        source = data.get("source")
        if event.get("surfaceOp") == "append" or not is_checkpoint(source, self._version):
            return
        if not self._compactions.is_open(source):
            name = source.get("compactionId")
            yield Fault(seq, "checkpoint-outside", f"compaction {shown(name)} is not open")

    def _start_compaction(self, seq: int, event: Event, data: Data) -> Iterator[Fault]:
        return self._compactions.start(seq, data, self._turn)

    def _sum_up(self, seq: int, event: Event, data: Data) -> Iterator[Fault]:
        yield from self._compactions.sum_up(seq, data)
        yield from self._prune(seq, event, data)

    def _end_compaction(self, seq: int, event: Event, data: Data) -> Iterator[Fault]:
        return self._compactions.end(seq, data, self._turn)

    def _prune(self, seq: int, event: Event, data: Data) -> Iterator[Fault]:
        ends, seqs = data.get("shadowedRange"), data.get("shadowedSeqs")
        if self.surface is None:
            return
        named = (ends.get("start"), ends.get("end")) if isinstance(ends, Mapping) else (None, None)
        start, end = safe_integer(named[0]), safe_integer(named[1])
        span = () if start is None or end is None else self.surface.span(start, end)
        if not span or not same(list(span), seqs):
            yield Fault(seq, "compaction-span", "it does not name what stands on the surface")

    def _end_seed(self, seq: int, event: Event, data: Data) -> Iterator[Fault]:
        self._compactions.forget()
        if self._version >= 2 and data.get("inherited") is True:
            self.tagged_seed = seq
        return iter(())


def _check_stream(seq: int, data: Data, *, settles: bool) -> Iterator[Fault]:
    """Whether a stream expands, and is the message beside it. (Section 4.4.)"""
    stream = data.get("stream")
    if not isinstance(stream, list):
        yield Fault(seq, "stream-invalid", "the attempt has no stream")
        return
    try:
        told = assemble(stream)
    except StreamRefused as refusal:
        yield Fault(seq, "stream-invalid", str(refusal))
        return
    if not settles or not stream:
        return
    message = data.get("message")
    message = message if isinstance(message, Mapping) else {}
    source = message.get("source")
    source = source if isinstance(source, Mapping) else {}
    blocks = told.interrupted_blocks if data.get("interrupted") is True else told.blocks
    differing = [
        name
        for name, here, there in (
            ("content", message.get("content"), blocks),
            ("usage", data.get("usage"), told.usage),
            ("replayState", source.get("replayState"), told.replay_state),
        )
        if not same(here, there)
    ]
    if differing:
        yield Fault(seq, "stream-differs", f"its {', '.join(differing)} is not what streamed in")


_Rule = Callable[[LogRules, int, Event, Data], Iterator[Fault]]

_RULES: dict[str, _Rule] = {
    "turn/start": LogRules._start_turn,
    "turn/end": LogRules._end_turn,
    "step/start": LogRules._start_step,
    "step/end": LogRules._end_step,
    "assistant/chunk": LogRules._in_step,
    "assistant/attempt": LogRules._attempt,
    "assistant/message": LogRules._message,
    "tool/call": LogRules._call,
    "tool/result": LogRules._result,
    "system/message": LogRules._system,
    "user/message": LogRules._user_message,
    "request/header": LogRules._in_turn,
    "request/context": LogRules._in_turn,
    "tool/code-dispatch-start": LogRules._in_turn,
    "tool/code-dispatch": LogRules._in_turn,
    "tool/ptc-dispatch-start": LogRules._in_turn,
    "tool/ptc-dispatch": LogRules._in_turn,
    "llm/retry": LogRules._in_turn,
    "compaction/start": LogRules._start_compaction,
    "compaction/summary": LogRules._sum_up,
    "compaction/prune": LogRules._prune,
    "compaction/end": LogRules._end_compaction,
    "session/end-seed": LogRules._end_seed,
}

#: Types of which old v0 logs have shapes, or names, of their own.
_OLD_SHAPES = frozenset(
    {
        "turn/start",
        "turn/end",
        "user/message",
        "assistant/message",
        "tool/result",
        "compact/start",
        "compact/summary",
        "compact/prune",
        "compact/end",
    }
)
