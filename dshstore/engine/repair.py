"""What closes a turn that was cut off: error results for its open calls, `step/end`, `turn/end`.

Decides which turn, step and calls are open where a log ends, and which events close them. They
are the very events that the harness appends when it comes back to such a log, so a log that was
repaired here and one that was repaired there are the same bytes. A fork inside a turn closes it
in the same way, for another cause.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from dshstore.db import Database
from dshstore.engine import append, read
from dshstore.engine.payload import answered_call
from dshstore.formats.dsh import rows
from dshstore.jsontext import dump_bytes
from dshstore.model import Block, Event, StoredEvent

#: Why a turn has no end: its harness was killed, or a fork was cut inside it.
Cause = Literal["interrupted", "forked"]

#: The only events that open or close anything; of all others, where they stand is enough.
TRACKED_TYPES = frozenset(
    {
        "turn/start",
        "turn/end",
        "step/start",
        "step/end",
        "assistant/message",
        "tool/call",
        "tool/result",
    }
)

#: The format version from which a tool result is a message of its own, and forks close turns.
FIRST_CLASS_RESULTS = 4


class _Outcome(NamedTuple):
    """What a synthetic result says of its call. The format fixes name, code and the texts of
    interrupted calls: validators compare them."""

    name: str
    code: str
    texts: Mapping[Cause, str]


_UNKNOWN = _Outcome(
    "ToolOutcomeUnknownError",
    "TOOL_OUTCOME_UNKNOWN",
    {
        "interrupted": "The tool call was interrupted after it was recorded, but no result was "
        "durably recorded. Its outcome is unknown. Decide whether to retry from the tool "
        "semantics: retry only if the operation is read-only or idempotent; if it may have side "
        "effects, first verify external state or ask the user. Do not retry blindly.",
        "forked": "This session was forked from its parent while the tool call was running. Its "
        "outcome is not known here, and the parent may have run it to its end after the fork "
        "point. Look at what is there now before you call the tool again.",
    },
)
NOT_STARTED = _Outcome(
    "ToolNotStartedError",
    "TOOL_NOT_STARTED",
    {
        "interrupted": "The tool call was interrupted before the Harness recorded it as started. "
        "Retry it if it is still needed.",
        "forked": "This session was forked from its parent before the tool call was started. The "
        "parent may have run it after the fork point. Look at what is there now before you call "
        "the tool again.",
    },
)


class _OpenCall(NamedTuple):
    """A call without a result: its step, and the seq of its `tool/call` if it was started."""

    step: Any
    seq: int | None


def closers(
    events: Iterable[Event], format_version: int, *, cause: Cause = "interrupted"
) -> list[dict[str, Any]]:
    """The events that close the turn which `events` leave open, in the order of their seqs.

    None are needed, and none come back, when no turn is open. `events` begin with the log or
    with any turn of it.
    """
    tracker = TurnTracker()
    for event in events:
        tracker.push(event)
    return tracker.closers(format_version, cause)


def find_closers(database: Database, session: read.SessionRow) -> list[dict[str, Any]]:
    """The events that would close the turn which a stored session leaves open, if it does."""
    return follow_open_turn(database, session).closers(session.format_version)


def follow_open_turn(database: Database, session: read.SessionRow) -> TurnTracker:
    """What is open where a stored session ends.

    Only the rows from the last `turn/start` on are read, none when that turn was ended.
    """
    tracker = TurnTracker()
    begun = read.last_of_type(database, session, "turn/start")
    ended = read.last_of_type(database, session, "turn/end")
    if begun is None or (ended is not None and ended > begun):
        return tracker
    for stored in read.stored_events(database, session, begun):
        if stored.type in TRACKED_TYPES:
            for event in rows.logical(stored, session.format_version):
                tracker.push(event)
        else:
            tracker.reach(stored.seq + stored.count - 1, read.end_time(stored))
    return tracker


def append_closers(database: Database, session: read.SessionRow) -> list[dict[str, Any]]:
    """Append what `find_closers` finds, in one transaction, and return it.

    Raises Conflict when another writer appended meanwhile; then nothing is appended.
    """
    closing = find_closers(database, session)
    if closing:
        stored = store_lines(closing, session.format_version)
        append.append_events(database, session.key, session.session_id, stored)
    return closing


def store_lines(events: Sequence[Mapping[str, Any]], format_version: int) -> list[StoredEvent]:
    """Events, one at least, as they are stored with their keys in the very order they have here.

    The closers are such: they stand in another order than a log usually has.
    """
    lines = b"".join(dump_bytes(event) + b"\n" for event in events)
    decoder = rows.RowDecoder(format_version, next_seq=events[0]["seq"])
    return list(decoder.decode([Block(lines, 0, 0)]))


class TurnTracker:
    """Follows a log and knows at each event what is open: `turn` and `step` (None: none is).

    It is enough to push the events of `TRACKED_TYPES`, in order, and to `reach` the last event.
    `last_turn` and `last_step` (of that turn) are the highest numbers so far, 0 without any.
    """

    def __init__(self, last_turn: int = 0) -> None:
        self.turn: Any = None
        self.step: Any = None
        self.last_turn, self.last_step = last_turn, 0
        self._calls: dict[str, _OpenCall] = {}
        self._next_seq = 0
        self._time = 0

    def reach(self, seq: int, time: int) -> None:
        """Notes that the log goes on to `seq`, at `time` (epoch ms)."""
        self._next_seq, self._time = seq + 1, time

    def push(self, event: Event) -> None:
        """Notes one event; of a v0 log, in its old shape or upgraded."""
        self.reach(event["seq"], event["time"])
        data = event["data"]
        if not isinstance(data, Mapping):
            return
        match event["type"]:
            case "turn/start" if "turn" in data:
                self.turn, self.step = data["turn"], None
                self.last_turn, self.last_step = _number(data["turn"], self.last_turn), 0
                self._calls.clear()
            case "turn/end":
                self.turn = self.step = None
                self._calls.clear()
            case "step/start" if "step" in data:
                self.step = data["step"]
                self.last_step = _number(data["step"], self.last_step)
            case "step/end":
                self.step = None
                self._calls.clear()
            case "assistant/message":
                for call_id in _requested_calls(data):
                    self._calls[call_id] = _OpenCall(data.get("step"), None)
            case "tool/call":
                started = data.get("callId")
                if isinstance(started, str) and started in self._calls:
                    self._calls[started] = self._calls[started]._replace(seq=event["seq"])
            case "tool/result":
                answered = answered_call(data)
                if isinstance(answered, str):
                    self._calls.pop(answered, None)

    def started(self, call_id: str) -> int | None:
        """The seq of the `tool/call` of an open call, None when it was not started."""
        call = self._calls.get(call_id)
        return None if call is None else call.seq

    def closers(self, format_version: int, cause: Cause = "interrupted") -> list[dict[str, Any]]:
        """The events that close what is open now; nothing is noted of them.

        Raises `ValueError` for the cause `forked` before format v4, which knows no such turn.
        """
        if cause == "forked" and format_version < FIRST_CLASS_RESULTS:
            raise ValueError(f"a log of format v{format_version} cannot be forked inside a turn")
        if self.turn is None:
            return []
        closing: list[dict[str, Any]] = []
        for call_id, call in self._calls.items():
            seq = self._next_seq + len(closing)
            outcome = NOT_STARTED if call.seq is None else _UNKNOWN
            identity, text = f"{cause}-tool-result-{call_id}-{seq}", outcome.texts[cause]
            event = self._event(len(closing), "tool/result", step=call.step)
            event["data"]["message"] = _result(format_version, identity, call_id, text)
            event["data"]["error"] = {"name": outcome.name, "code": outcome.code}
            # the harness writes these two the other way round here than anywhere else
            event["surfaceOp"] = "append"
            if call.seq is not None:
                event["sourceEventSeqs"] = [call.seq]
            closing.append(event)
        if self.step is not None:
            closing.append(self._event(len(closing), "step/end", step=self.step))
        closing.append(self._event(len(closing), "turn/end", reason={"kind": cause}))
        return closing

    def _event(self, offset: int, type_: str, **data: Any) -> dict[str, Any]:
        return {
            "type": type_,
            "seq": self._next_seq + offset,
            "time": self._time,
            "data": {"turn": self.turn, **data},
        }


def _number(found: Any, last: int) -> int:
    """The number of a turn or step, which may be anything in a log of others."""
    return found if type(found) is int and found > 0 else last + 1


def _result(format_version: int, identity: str, call_id: str, text: str) -> dict[str, Any]:
    """The message of a synthetic result, its keys in the order in which the harness has them."""
    source = {"kind": "tool", "callId": call_id}
    content = [{"type": "text", "text": text}]
    if format_version >= FIRST_CLASS_RESULTS:
        return {
            "id": identity,
            "role": "tool",
            "toolCallId": call_id,
            "isError": True,
            "source": source,
            "content": content,
        }
    block = {"type": "tool-result", "toolCallId": call_id, "isError": True, "content": content}
    return {"id": identity, "role": "user", "source": source, "content": [block]}


def _requested_calls(settlement: Mapping[str, Any]) -> list[str]:
    """The ids of the tool calls in an assistant message; old v0 ones have no message around."""
    message = settlement.get("message", settlement)
    content = message.get("content") if isinstance(message, Mapping) else None
    return [
        block["id"]
        for block in (content if isinstance(content, list) else ())
        if isinstance(block, Mapping)
        and block.get("type") == "tool-call"
        and isinstance(block.get("id"), str)
    ]
