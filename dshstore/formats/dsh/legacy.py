"""Old shapes of format v0 -> the shape that the last v0 harness wrote.

Decides, event by event, what the logs of June to August 2026 meant by shapes that later logs do
not have: renamed types, a turn's trigger, the first spellings of how a turn ended, messages that
had no identity of their own. Nothing is stored in the new shape; whoever shows or derives asks
here on reading. Logs of format v1 and later hold none of these, so their events come back as they
are.

An old shape counts only when it is whole: the keys must be the ones that were written then. What
looks old but is not whole is left alone, and is refused by whoever needs it. Left alone too are
shapes that need the events before them (ids of retries and compactions), which only a migration
fills in, and those that no later format can say: `request/header-delta`, `mode/set`, and a
`request/header` of reason `fallback`, which only a migration refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from typing import Any

from dshstore.errors import EventRefused
from dshstore.model import Event
from dshstore.streams.records import safe_integer

#: How the message at a seq is asked for: its id, None when there is no message with one.
MessageIdAt = Callable[[int], str | None]

_RENAMED = {
    f"compact/{name}": f"compaction/{name}" for name in ("start", "summary", "end", "prune")
}

#: What a failure may hold beside its message and code.
_FAILURE_EXTRAS = {"status", "providerRetryAfterMs", "requestId"}


def upgrade(
    event: Event, session_id: str | None, message_id_at: MessageIdAt | None = None
) -> Event:
    """The event in its last v0 shape; the same object when nothing in it is old.

    A message without an id gets `legacy-message:<session id>:<seq>`, but an old tool result that
    replaces another event gets the id of that one, as `message_id_at` tells it. Raises
    `EventRefused` (`session-id-missing`) when an id is to be minted without a session id.
    """
    match event["type"]:
        case "turn/start":
            return upgrade_turn_start(event)
        case "turn/end":
            return upgrade_turn_end(event)
        case "steering/message":
            return upgrade_user_message(upgrade_steering_message(event), session_id)
        case "user/message":
            return upgrade_user_message(event, session_id)
        case "assistant/message":
            return upgrade_assistant_message(event, session_id)
        case "tool/result":
            return upgrade_tool_result(event, session_id, message_id_at)
        case type_:
            return upgrade_type(event, type_)


def message_id(event: Event) -> str | None:
    """The id of the message in an event of the last v0 shape, None when there is none."""
    data = event["data"]
    message = data
    if event["type"] != "user/message":
        message = data.get("message") if isinstance(data, Mapping) else None
    found = message.get("id") if isinstance(message, Mapping) else None
    return found if isinstance(found, str) else None


def upgrade_type(event: Event, type_: str) -> Event:
    """`compact/...` were the first names of the `compaction/...` events."""
    return {**event, "type": _RENAMED[type_]} if type_ in _RENAMED else event


def upgrade_turn_start(event: Event) -> Event:
    """A turn once told what triggered it."""
    data = event["data"]
    if not _has_keys(data, {"turn", "trigger"}) or not _is_count(data["turn"], 1):
        return event
    trigger = data["trigger"]
    kind = trigger.get("kind") if isinstance(trigger, Mapping) else None
    if not isinstance(kind, str) or not kind:
        return event
    return {**event, "data": {"turn": data["turn"]}}


def upgrade_turn_end(event: Event) -> Event:
    """A turn that was aborted or failed once told less of it, or told it in another way."""
    data = event["data"]
    if not _has_keys(data, {"turn", "reason"}) or not _is_count(data["turn"], 1):
        return event
    reason = _upgrade_reason(data["reason"])
    return event if reason is None else {**event, "data": {**data, "reason": reason}}


def upgrade_steering_message(event: Event) -> Event:
    """What a user said while a turn ran was once a type of its own; its turn is dropped."""
    data = event["data"]
    if not isinstance(data, Mapping) or not _is_count(data.get("turn"), 0):
        return event
    if _has_keys(data, {"turn", "message"}) and isinstance(data["message"], Mapping):
        message = data["message"]
    elif _has_keys(data, {"turn", "content", "source"}):
        message = {key: value for key, value in data.items() if key != "turn"}
    else:
        return event
    return {**event, "type": "user/message", "data": message}


def upgrade_user_message(event: Event, session_id: str | None) -> Event:
    """A user message once had no id and no role."""
    data = event["data"]
    if event["type"] != "user/message" or not _is_old(data, {"content", "source"}, {"id", "role"}):
        return event
    return {**event, "data": {**data, "id": _mint(event, session_id), "role": "user"}}


def upgrade_assistant_message(event: Event, session_id: str | None) -> Event:
    """A settlement once held content and provenance in place of a message."""
    data = event["data"]
    if not _is_old(data, {"content", "provenance"}) or not isinstance(data["provenance"], Mapping):
        return event
    message = {
        "id": _mint(event, session_id),
        "role": "assistant",
        "content": data["content"],
        "source": {**data["provenance"], "kind": "model"},
    }
    rest = {key: value for key, value in data.items() if key not in ("content", "provenance")}
    return {**event, "data": {**rest, "message": message}}


def upgrade_tool_result(
    event: Event, session_id: str | None, message_id_at: MessageIdAt | None = None
) -> Event:
    """A tool result once held its content in place of a message.

    One that replaces an event whose message has no id is left alone.
    """
    data, old = event["data"], {"callId", "content", "isError"}
    if not _is_old(data, old):
        return event
    call_id, is_error = data["callId"], data["isError"]
    if not isinstance(call_id, str) or not isinstance(is_error, bool):
        return event
    operation = event.get("surfaceOp")
    if isinstance(operation, Mapping) and operation.get("op") == "replace":
        start = safe_integer(operation.get("start"))
        replaced = message_id_at(start) if message_id_at and start is not None else None
        if replaced is None:
            return event
        identity = replaced
    else:
        identity = _mint(event, session_id)
    block = {
        "type": "tool-result",
        "toolCallId": call_id,
        "content": data["content"],
        "isError": is_error,
    }
    message = {
        "id": identity,
        "role": "user",
        "content": [block],
        "source": {"kind": "tool", "callId": call_id},
    }
    rest = {key: value for key, value in data.items() if key not in old}
    return {**event, "data": {**rest, "message": message}}


def _upgrade_reason(reason: Any) -> dict[str, Any] | None:
    """The present spelling of an old reason why a turn ended, None when it is not old."""
    if not isinstance(reason, Mapping):
        return None
    match reason.get("kind"):
        case "aborted" if _has_keys(reason, {"kind"}):
            return {"kind": "aborted", "reason": {"kind": "legacy"}}
        case "disposed" if _has_keys(reason, {"kind"}):
            return {"kind": "aborted", "reason": {"kind": "disposed"}}
        case "error" if "error" not in reason and _is_count(reason.get("step"), 0):
            failure = _failure(reason)
            return None if failure is None else {"kind": "error", "error": failure}
        case _:
            return None


def _failure(reason: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The failure that an old `error` reason tells of."""
    failure: Any
    if _has_keys(reason, {"kind", "step", "failure"}):
        failure = reason["failure"]
    elif _has_keys(reason, {"kind", "step", "message"}, {"code"}):
        failure = {"message": reason["message"], "code": reason.get("code", "UNKNOWN")}
    else:
        return None
    if not _has_keys(failure, {"message", "code"}, _FAILURE_EXTRAS):
        return None
    told = isinstance(failure["message"], str) and isinstance(failure["code"], str)
    return failure if told else None


def _mint(event: Event, session_id: str | None) -> str:
    if session_id is None:
        detail = "a message without an id gets one from its session's id, which is not known here"
        raise EventRefused("session-id-missing", None, event["seq"], detail)
    return f"legacy-message:{session_id}:{event['seq']}"


def _is_old(data: Any, needed: Set[str], later: Set[str] = frozenset()) -> bool:
    """Whether a payload has the keys it had before it held a message, and no later ones."""
    return (
        isinstance(data, Mapping)
        and needed <= data.keys()
        and "message" not in data
        and data.keys().isdisjoint(later)
    )


def _has_keys(value: Any, needed: Set[str], allowed: Set[str] = frozenset()) -> bool:
    """Whether the value is an object with exactly these keys, but for those that are allowed."""
    return isinstance(value, Mapping) and needed <= value.keys() <= needed | allowed


def _is_count(value: Any, least: int) -> bool:
    number = safe_integer(value)
    return number is not None and number >= least
