"""What the events of a v2 log have to do with each other.

(Format notes v0-v4, section 6.1.) Turns and steps open and close in order, calls are announced,
started and answered, retries count up, a compaction shadows what it says. A log that breaks any
of it would not be read by those who read v2. Payloads must have been checked before; what is on
the surface is `surface`'s to say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from dshstore.engine.migration.brackets import Compactions, Dispatches, Retries, ToolCalls
from dshstore.engine.migration.shapes import Misfit
from dshstore.engine.surface import Surface
from dshstore.errors import EventRefused, MigrationRefused, shown
from dshstore.model import Event, Header

_VERSION: Final = 2

#: Who asks for a title: its request holds one text, and nothing else.
_TITLE_PLUGIN: Final = "dsh-session-title-llm"


class Relationships:
    """Follows a log, event by event, and refuses the first one that does not fit the others."""

    def __init__(self, header: Header) -> None:
        self._session_id = header.session_id
        self._in_inherited = header.parent_session is not None and header.seeded
        self._surface = Surface(_VERSION)
        self._turn: int | None = None
        self._step: int | None = None
        self._next_turn = self._next_step = 1
        self._calls = ToolCalls()
        self._retries = Retries()
        self._dispatches = Dispatches()
        self._compactions = Compactions(self._surface)
        self._command_ids: set[str] = set()
        self._commands: set[int] = set()
        self._said_by_user: set[int] = set()

    def push(self, event: Event, origin: int) -> None:
        """Take the next event; a refusal names it by its `origin`, its seq in the old log.

        Raises `MigrationRefused`.
        """
        kind = event["type"]
        try:
            self._surface.push(event)
            if kind in ("turn/start", "turn/end"):
                self._compactions.cross(origin)
            rule = _RULES.get(kind)
            if rule is not None:
                rule(self, event, event["data"])
        except EventRefused as refusal:
            detail = f" ({refusal.detail})" if refusal.detail else ""
            raise MigrationRefused(origin, f"{kind}: {refusal.code}{detail}") from None
        except Misfit as misfit:
            raise MigrationRefused(origin, f"{kind}: {misfit}") from None

    def finish(self) -> None:
        """Note that the log is at its end. Raises `MigrationRefused`."""
        self._compactions.finish()

    def _require_turn(self) -> None:
        if self._turn is None:
            raise Misfit("stands in no turn")

    def _require_step(self, event: Event, data: Any) -> None:
        if self._step is None or (data["turn"], data["step"]) != (self._turn, self._step):
            raise Misfit("does not stand in the turn and step that it names")

    # -- turns and steps --

    def _start_turn(self, event: Event, data: Any) -> None:
        if self._turn is not None or data["turn"] != self._next_turn:
            raise Misfit(f"begins turn {data['turn']}, but turn {self._next_turn} is due")
        self._turn, self._step, self._next_step = self._next_turn, None, 1

    def _end_turn(self, event: Event, data: Any) -> None:
        if self._turn is None or data["turn"] != self._turn:
            raise Misfit(f"ends turn {data['turn']}, which is not open")
        if self._step is not None:
            raise Misfit(f"ends turn {self._turn} in the middle of step {self._step}")
        self._turn = None
        self._next_turn += 1

    def _start_step(self, event: Event, data: Any) -> None:
        if self._turn is None or data["turn"] != self._turn or self._step is not None:
            raise Misfit("does not stand between the steps of the turn that it names")
        if data["step"] != self._next_step:
            raise Misfit(f"begins step {data['step']}, but step {self._next_step} is due")
        self._step = self._next_step

    def _end_step(self, event: Event, data: Any) -> None:
        self._require_step(event, data)
        self._calls.end_step()
        self._step = None
        self._next_step += 1

    # -- the model and its tools --

    def _message(self, event: Event, data: Any) -> None:
        self._require_step(event, data)
        self._calls.announce(data["message"]["content"])

    def _call(self, event: Event, data: Any) -> None:
        self._require_step(event, data)
        self._calls.start(data)

    def _result(self, event: Event, data: Any) -> None:
        if event["surfaceOp"] != "append":
            self._require_turn()
            return
        self._require_step(event, data)
        self._calls.answer(event)

    def _request(self, event: Event, data: Any) -> None:
        self._require_turn()
        if event["type"] == "request/header":
            self._retries.provider = data["header"]["config"]["provider"]

    def _dispatch(self, event: Event, data: Any) -> None:
        self._require_turn()
        if event["type"] == "tool/code-dispatch-start":
            self._dispatches.start(data)
        else:
            self._dispatches.end(data)

    def _retry(self, event: Event, data: Any) -> None:
        step = self._next_step - 1 if self._step is None else self._step
        if self._turn is None or (data["turn"], data["step"]) != (self._turn, step):
            raise Misfit("does not stand in or right after the step that it names")
        self._retries.schedule(data)

    def _retry_started(self, event: Event, data: Any) -> None:
        self._retries.start(data)

    # -- what people and plugins say --

    def _user_message(self, event: Event, data: Any) -> None:
        source = data["source"]
        if source["kind"] == "user":
            self._said_by_user.add(event["seq"])
        is_checkpoint = source["kind"] == "plugin" and source["plugin"] == "compact"
        if is_checkpoint and event["surfaceOp"] != "append":
            self._compactions.require(source)

    def _title(self, event: Event, data: Any) -> None:
        if (data["source"]["kind"] == "user") != (not data["messageSeqs"]):
            raise Misfit("names messages unless a user gave the title, and only then")
        self._check_titled(data)

    def _title_request(self, event: Event, data: Any) -> None:
        self._check_titled(data)
        match data["messages"]:
            case [{"role": "user", "content": [{"type": "text"}], "source": source}]:
                if source["kind"] == "plugin" and source["plugin"] == _TITLE_PLUGIN:
                    return
            case _:
                pass
        raise Misfit(f"must ask with one text of the plugin {_TITLE_PLUGIN}")

    def _check_titled(self, data: Any) -> None:
        if not self._said_by_user.issuperset(data["messageSeqs"]):
            raise Misfit("must name earlier messages of the user")

    def _command(self, event: Event, data: Any) -> None:
        if data["commandId"] in self._command_ids:
            raise Misfit(f"repeats the command {shown(data['commandId'])}")
        self._command_ids.add(data["commandId"])
        self._commands.add(event["seq"])

    def _command_done(self, event: Event, data: Any) -> None:
        if data["commandId"] not in self._command_ids:
            raise Misfit(f"ends the command {shown(data['commandId'])}, which was not run")
        if "sourceEventSeq" in data:
            source = data["sourceEventSeq"]
            if data["kind"] != "success" or source in self._commands or source >= event["seq"]:
                raise Misfit("names a source that cannot be what a command did")
        self._commands.add(event["seq"])

    # -- the rest --

    def _compaction(self, event: Event, data: Any) -> None:
        match event["type"]:
            case "compaction/start":
                self._compactions.start(data, self._turn)
            case "compaction/summary":
                self._compactions.sum_up(data, self._turn)
            case "compaction/prune":
                self._compactions.check_span(data)
            case _:
                self._compactions.end(data, self._turn)

    def _end_seed(self, event: Event, data: Any) -> None:
        self._compactions.forget()
        if data.get("inherited") is True:
            self._in_inherited = False

    def _delivery(self, event: Event, data: Any) -> None:
        of_this = data.get("sessionFormatVersion", 0) == _VERSION and not self._in_inherited
        if of_this and data["sessionId"] != self._session_id:
            raise Misfit(f"speaks of the session {shown(data['sessionId'])}, which is another one")


_Rule = Callable[[Relationships, Event, Any], None]

_RULES: Final[Mapping[str, _Rule]] = {
    "turn/start": Relationships._start_turn,
    "turn/end": Relationships._end_turn,
    "step/start": Relationships._start_step,
    "step/end": Relationships._end_step,
    "assistant/attempt": Relationships._require_step,
    "assistant/message": Relationships._message,
    "tool/call": Relationships._call,
    "tool/result": Relationships._result,
    "request/header": Relationships._request,
    "request/context": Relationships._request,
    "tool/code-dispatch-start": Relationships._dispatch,
    "tool/code-dispatch": Relationships._dispatch,
    "llm/retry": Relationships._retry,
    "llm/retry-started": Relationships._retry_started,
    "user/message": Relationships._user_message,
    "session/title": Relationships._title,
    "session/title-llm-request": Relationships._title_request,
    "command/run": Relationships._command,
    "command/done": Relationships._command_done,
    "compaction/start": Relationships._compaction,
    "compaction/summary": Relationships._compaction,
    "compaction/prune": Relationships._compaction,
    "compaction/end": Relationships._compaction,
    "session/end-seed": Relationships._end_seed,
    "session-log-deepseek/delivery-accepted": Relationships._delivery,
}
