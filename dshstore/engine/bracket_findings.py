"""What a log opens and closes within a step or turn: tool calls and compactions.

Each class follows one kind through a log and says what does not fit. (Format notes v0-v4,
section 6.1.) In which turn and step an event stands is for `log_findings`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeGuard

from dshstore.engine.findings import Fault
from dshstore.engine.payload import answered_call
from dshstore.engine.repair import NOT_STARTED
from dshstore.errors import shown


class _Call(NamedTuple):
    """An open call: the event that told of it first, what a message announced (None: nothing did),
    and the event that started it.
    """

    seq: int
    told: tuple[Any, Any] | None
    started: int | None = None

    @property
    def begun(self) -> str:
        """How it began, as seen from its first event."""
        if self.started is None:
            return "announced here and never started"
        return "started here" if self.started == self.seq else f"started at event {self.started}"


class Calls:
    """The calls of the open step that have no result yet."""

    def __init__(self) -> None:
        self._open: dict[str, _Call] = {}

    def announce(self, seq: int, content: Any) -> Iterator[Fault]:
        """An assistant message with this content."""
        for block in content if isinstance(content, list) else ():
            if not isinstance(block, Mapping) or block.get("type") != "tool-call":
                continue
            call_id = block.get("id")
            if not isinstance(call_id, str) or not call_id:
                yield Fault(seq, "call-id-empty", "the message announces a call without an id")
            elif call_id in self._open:
                yield Fault(seq, "call-repeated", f"call {shown(call_id)} is open already")
            else:
                told = block.get("name"), block.get("arguments")
                self._open[call_id] = _Call(seq, told)

    def start(self, seq: int, data: Mapping[str, Any]) -> Iterator[Fault]:
        """A `tool/call`."""
        call_id = data.get("callId")
        if not isinstance(call_id, str) or not call_id:
            yield Fault(seq, "call-id-empty", "the call has no id")
            return
        call = self._open.get(call_id)
        if call is None:
            yield Fault(
                seq, "call-unannounced", f"no message of the step announced {shown(call_id)}"
            )
            call = _Call(seq, None)
        elif call.started is not None:
            yield Fault(seq, "call-repeated", f"call {shown(call_id)} was started before")
        elif call.told != (data.get("name"), data.get("arguments")):
            yield Fault(
                seq, "call-mismatch", f"event {call.seq} announced {shown(call_id)} otherwise"
            )
        self._open[call_id] = call._replace(started=seq)

    def answer(self, seq: int, data: Mapping[str, Any]) -> Iterator[Fault]:
        """An appended `tool/result`."""
        call_id = answered_call(data)
        if not isinstance(call_id, str) or not call_id:
            yield Fault(seq, "call-id-empty", "the result has no call id")
            return
        call = self._open.pop(call_id, None)
        if call is None:
            yield Fault(seq, "result-unpaired", f"no call {shown(call_id)} is open")
            return
        error = data.get("error")
        code = error.get("code") if isinstance(error, Mapping) else None
        if call.started is None and code != NOT_STARTED.code:
            yield Fault(seq, "result-not-started", f"call {shown(call_id)} was not started")

    def close(self, seq: int) -> Iterator[Fault]:
        """Event `seq` ends the time for results."""
        for call_id, call in self._open.items():
            yield Fault(
                call.seq, "call-unanswered", f"call {shown(call_id)} is open at event {seq}"
            )
        self._open.clear()

    def finish(self) -> Iterator[Fault]:
        """The log ends."""
        for call_id, call in self._open.items():
            told = f"call {shown(call_id)}, {call.begun}, has no result"
            yield Fault(call.seq, "call-open", told)


class _Compaction(NamedTuple):
    seq: int
    names: tuple[Any, Any]
    turn: Any


class Compactions:
    """The compaction that is open, if one is."""

    def __init__(self) -> None:
        self._open: _Compaction | None = None
        self._summed_up = False
        self._crossed_at: int | None = None

    def start(self, seq: int, data: Mapping[str, Any], turn: Any) -> Iterator[Fault]:
        """A compaction begins while this turn is open (None: no turn is)."""
        if self._open is not None:
            yield _disorder(seq, f"the compaction of event {self._open.seq} is open")
            yield from self._crossing()
        if data.get("turn") != turn:
            yield _disorder(seq, f"it names turn {shown(data.get('turn'))}, open is {shown(turn)}")
        self._open = _Compaction(seq, _names(data), turn)
        self._summed_up, self._crossed_at = False, None

    def sum_up(self, seq: int, data: Mapping[str, Any]) -> Iterator[Fault]:
        """A summary."""
        if not self.is_open(data):
            yield _disorder(seq, "the summary stands in no compaction of its id")
        elif self._summed_up:
            yield _disorder(seq, "the compaction has a summary already")
        self._summed_up = True

    def end(self, seq: int, data: Mapping[str, Any], turn: Any) -> Iterator[Fault]:
        """A compaction ends."""
        if self._open is None or not self.is_open(data):
            yield _disorder(seq, "it ends a compaction that is not open")
        elif not self._open.turn == data.get("turn") == turn:
            yield _disorder(seq, "it ends in another turn than it began in")
        elif "error" not in data and not self._summed_up:
            yield _disorder(seq, "the compaction ends well, but has no summary")
        yield from self._crossing()
        self._open = self._crossed_at = None

    def is_open(self, names: Mapping[str, Any]) -> bool:
        """Whether the open compaction is the one that a payload or source names."""
        return self._open is not None and self._open.names == _names(names)

    def cross(self, seq: int) -> None:
        """A turn begins or ends; a compaction that is never ended may be open then."""
        if self._open is not None and self._crossed_at is None:
            self._crossed_at = seq

    def forget(self) -> None:
        """Another life of the session begins: what is open belongs to the last one."""
        self._open = self._crossed_at = None

    def finish(self) -> Iterator[Fault]:
        """The log ends."""
        yield from self._crossing()
        if self._open is not None:
            yield Fault(self._open.seq, "open-compaction", "the compaction has no end")

    def _crossing(self) -> Iterator[Fault]:
        if self._crossed_at is not None:
            yield _disorder(self._crossed_at, "a turn begins or ends in an open compaction")


def is_checkpoint(source: Any, version: int) -> TypeGuard[Mapping[str, Any]]:
    """Whether a message with this source stands for what a compaction shadowed."""
    if not isinstance(source, Mapping):
        return False
    if version >= 4:
        return source.get("kind") == "compact-checkpoint"
    return source.get("kind") == "plugin" and source.get("plugin") == "compact"


def _names(data: Mapping[str, Any]) -> tuple[Any, Any]:
    return data.get("compactionId"), data.get("sourceCommandId")


def _disorder(seq: int, detail: str) -> Fault:
    return Fault(seq, "compaction-order", detail)
