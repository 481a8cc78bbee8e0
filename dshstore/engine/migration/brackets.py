"""What opens and closes within a log, each kind on its own: tool calls, retries, dispatches of
code, compactions.

(Format notes v0-v4, section 6.1.) Whoever follows the log says what happens; here is what may.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from dshstore.engine.migration.shapes import Misfit
from dshstore.engine.repair import NOT_STARTED
from dshstore.engine.surface import Surface
from dshstore.errors import MigrationRefused, shown
from dshstore.jsontext import same
from dshstore.model import Event


class ToolCalls:
    """The calls of the open step that have no result yet."""

    def __init__(self) -> None:
        self._announced: dict[str, tuple[str, str]] = {}
        self._started: set[str] = set()

    def announce(self, content: Any) -> None:
        """Note the calls in the content of a settlement."""
        for block in content:
            if block["type"] == "tool-call":
                if block["id"] in self._announced:
                    raise Misfit(f"announces the call {shown(block['id'])} again")
                self._announced[block["id"]] = block["name"], block["arguments"]

    def start(self, data: Any) -> None:
        """Note that a call began."""
        call_id = data["callId"]
        announced = self._announced.get(call_id)
        if announced != (data["name"], data["arguments"]) or call_id in self._started:
            raise Misfit(f"starts {shown(call_id)}, which is no call that waits to be started")
        self._started.add(call_id)

    def answer(self, result: Event) -> None:
        """Note the result of a call."""
        call_id = result["data"]["message"]["source"]["callId"]
        if call_id not in self._announced:
            raise Misfit(f"answers {shown(call_id)}, which is no open call")
        if call_id not in self._started and not _is_repair(result, call_id):
            raise Misfit(f"answers {shown(call_id)}, which was not started, and is not its repair")
        del self._announced[call_id]
        self._started.discard(call_id)

    def end_step(self) -> None:
        """Note that the step ends, and with it the time for results."""
        if self._announced:
            raise Misfit(f"leaves the call {shown(next(iter(self._announced)))} without a result")


def _is_repair(result: Event, call_id: str) -> bool:
    """Whether a result is, to the letter, what a harness wrote for a call it had not started."""
    data = result["data"]
    error = {"name": NOT_STARTED.name, "code": NOT_STARTED.code}
    content = [{"type": "text", "text": NOT_STARTED.texts["interrupted"]}]
    [block] = data["message"]["content"]
    return (
        same(data.get("error"), error)
        and "sourceEventSeqs" not in result
        and data["message"]["id"] == f"interrupted-tool-result-{call_id}-{result['seq']}"
        and block.get("isError") is True
        and same(block["content"], content)
    )


class _Retry(NamedTuple):
    retry_id: str
    retry: int


class Retries:
    """The chains of retries; `provider` is who the latest request went to."""

    def __init__(self) -> None:
        self.provider: str | None = None
        self._chains: dict[tuple[Any, ...], _Retry] = {}
        self._ids: set[str] = set()
        self._scheduled: dict[_Retry, tuple[Any, Any]] = {}
        self._started: set[_Retry] = set()

    def schedule(self, data: Any) -> None:
        """Note that a retry will be made."""
        if data["provider"] != self.provider:
            raise Misfit(
                f"is of the provider {shown(data['provider'])}, not of the latest request's"
            )
        key = tuple(data[member] for member in ("turn", "step", "provider", "policyKey"))
        retry = _Retry(data["retryId"], data["retry"])
        last = self._chains.get(key)
        if retry.retry != (1 if last is None else last.retry + 1):
            raise Misfit(f"is retry {retry.retry}, which is not due")
        if retry.retry_id in self._ids if last is None else retry.retry_id != last.retry_id:
            raise Misfit(f"has the retryId {shown(retry.retry_id)}, which is not that of its chain")
        self._chains[key] = retry
        self._ids.add(retry.retry_id)
        self._scheduled[retry] = data["turn"], data["step"]

    def start(self, data: Any) -> None:
        """Note that a retry is made."""
        retry = _Retry(data["retryId"], data["retry"])
        if self._scheduled.get(retry) != (data["turn"], data["step"]):
            raise Misfit("starts a retry that was not scheduled for this turn and step")
        if retry in self._started:
            raise Misfit("starts a retry that was started before")
        self._started.add(retry)


class _Dispatch(NamedTuple):
    root: str
    parent: str
    name: str
    arguments: Any


class Dispatches:
    """The calls that code made, and those that these made in turn."""

    def __init__(self) -> None:
        self._roots: dict[str, str] = {}
        self._open: dict[str, _Dispatch] = {}

    def start(self, data: Any) -> None:
        """Note that a call began."""
        dispatch, call_id = _read_dispatch(data), data["subCallId"]
        if call_id in self._roots:
            raise Misfit(f"starts {shown(call_id)} again")
        if dispatch.parent != dispatch.root and self._roots.get(dispatch.parent) != dispatch.root:
            raise Misfit(f"is made by {shown(dispatch.parent)}, which is no call of its root")
        self._roots[call_id] = dispatch.root
        self._open[call_id] = dispatch

    def end(self, data: Any) -> None:
        """Note that a call was answered."""
        dispatch, call_id = _read_dispatch(data), data["subCallId"]
        started = self._open.pop(call_id, None)
        if started is None:
            raise Misfit(f"answers {shown(call_id)}, which is no open call")
        if started[:3] != dispatch[:3] or not same(started.arguments, dispatch.arguments):
            raise Misfit(f"answers {shown(call_id)}, but tells it otherwise than its start")


def _read_dispatch(data: Any) -> _Dispatch:
    return _Dispatch(data["rootCallId"], data["parentCallId"], data["name"], data["arguments"])


class _Compaction(NamedTuple):
    compaction_id: str
    command_id: str | None
    turn: int | None


class Compactions:
    """The compaction that is open, if one is."""

    def __init__(self, surface: Surface) -> None:
        self._surface = surface
        self._open: _Compaction | None = None
        self._summed_up = False
        self._crossed_at: int | None = None

    def start(self, data: Any, turn: int | None) -> None:
        """Note that a compaction begins in this turn (None: between turns)."""
        if self._open is not None:
            raise Misfit("begins a compaction while another is open")
        if data["turn"] != turn:
            raise Misfit("does not stand in the turn that it names")
        self._open = _Compaction(data["compactionId"], data.get("sourceCommandId"), turn)
        self._summed_up, self._crossed_at = False, None

    def sum_up(self, data: Any, turn: int | None) -> None:
        """Note the summary that a compaction made."""
        if self.require(data).turn != turn:
            raise Misfit("does not stand in the turn of its compaction")
        if self._summed_up:
            raise Misfit("is the second summary of its compaction")
        self.check_span(data)
        self._summed_up = True

    def end(self, data: Any, turn: int | None) -> None:
        """Note that a compaction ends."""
        if self._crossed_at is not None:
            raise _crossing(self._crossed_at)
        if not self.require(data).turn == data["turn"] == turn:
            raise Misfit("does not stand in the turn of its compaction")
        if "error" not in data and not self._summed_up:
            raise Misfit("ends a compaction that has no summary, and tells of no error")
        self._open = None

    def require(self, data: Any) -> _Compaction:
        """The open compaction, which the payload or source must name."""
        names = data["compactionId"], data.get("sourceCommandId")
        if self._open is None or names != self._open[:2]:
            raise Misfit(f"is of the compaction {shown(names[0])}, which is not open")
        return self._open

    def cross(self, origin: int) -> None:
        """Note that a turn begins or ends at event `origin` of the old log.

        A compaction must not be open then, unless it never ends: one that was inherited open.
        """
        if self._open is not None and self._crossed_at is None:
            self._crossed_at = origin

    def forget(self) -> None:
        """Note that what was inherited ends here, and with it an open compaction."""
        self._open = self._crossed_at = None

    def finish(self) -> None:
        """Note that the log ends."""
        if self._open is not None and self._crossed_at is not None:
            raise _crossing(self._crossed_at)

    def check_span(self, data: Any) -> None:
        """Whether a payload names what it shadows as it stands on the surface."""
        ends, seqs = data["shadowedRange"], data["shadowedSeqs"]
        if list(self._surface.span(ends["start"], ends["end"])) != seqs:
            raise Misfit("must name events that stand next to each other on the surface, in order")


def _crossing(origin: int) -> MigrationRefused:
    return MigrationRefused(origin, "a turn begins or ends in the middle of a compaction")
