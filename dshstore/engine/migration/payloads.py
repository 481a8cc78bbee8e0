"""The payloads that formats v0 and v1 froze: which event types there are, and what each holds.

(Format notes v0-v4, sections 5.1 and 5.5.) A migration takes nothing that is not in here: an
unknown type is refused even where a log marks it `ignorable`, and so is an unknown member. What
the events of a log have to do with each other is for `relationships`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from math import inf
from typing import Any, Final

from dshstore.engine.migration.messages import content, goal_change, message, route, usage
from dshstore.engine.migration.nested import (
    STEP,
    Members,
    allowed_models,
    descriptor,
    request_header,
    retry,
    schedule_change,
    search_request,
    team_member,
    team_message,
    team_task,
    title_source,
    todo,
    turn_end_reason,
)
from dshstore.engine.migration.shapes import (
    Misfit,
    Shape,
    anything,
    both,
    count,
    finite,
    flag,
    integer,
    listed,
    literal,
    mapping,
    name,
    nullable,
    positive,
    record,
    text,
    within,
)
from dshstore.jsontext import dump
from dshstore.model import Event

#: The one version of a subagent's descriptor that is held to a shape.
_DESCRIPTOR = 3


def check_payload(event: Event, version: int) -> None:
    """Raise `Misfit` unless the event is of a known type, with a payload of format `version`.

    The version is 0 or 1. Token deltas are not looked into: whoever compacts them does that.
    """
    kind, data = event["type"], event["data"]
    shape = _shapes(version).get(kind)
    if shape is None:
        raise Misfit(f"the type {dump(kind)} is unknown, and a migration passes over nothing")
    try:
        if kind == "subagent/descriptor" and not _is_current(data, version):
            return
        shape(data)
        if kind in _CITING:
            _CITING[kind](data, event["seq"], version)
    except Misfit as misfit:
        misfit.path = f"{kind}: data{misfit.path}"
        raise


def _is_current(data: Any, version: int) -> bool:
    """Whether a descriptor is to be held to its shape; v1 takes those of other versions as is."""
    mapping(data)
    found = data.get("version")
    if found == _DESCRIPTOR:
        return True
    count(found)
    if version == 0:
        raise Misfit(f"is a descriptor of version {found}, and only {_DESCRIPTOR} can be migrated")
    return False


_COMMAND: Final[Members] = {"sourceCommandId": name}
_BRACKET: Final[Members] = {"compactionId": name, "turn": nullable(count)}
_SHADOWED: Final[Members] = {
    "shadowedRange": record({"start": count, "end": count}),
    "shadowedSeqs": listed(count, least=1),
    "shadowedTokenCount": count,
}
_HOOK: Final[Members] = {"turn": count, "point": name, "handlerId": name}
_TEAM: Final[Members] = {"version": literal(1), "teamId": name}
_AGENT: Final[Members] = {"runId": name, "seq": positive}
_DISPATCH: Final[Members] = {
    "rootCallId": name,
    "parentCallId": name,
    "subCallId": name,
    "name": name,
    "arguments": anything,
}
_DELEGATED: Final[Members] = {"source": literal("delegation")}


def _has_raw_output(data: Any) -> None:
    if "llmStreamCall" in data and "rawOutput" not in data:
        raise Misfit("must have the rawOutput of its llmStreamCall")


#: The payloads that are the same in both formats.
_PAYLOADS: Final[Members] = {
    "agent-preset/selected": record({"agentPreset": text}),
    "approval/asked": record({"id": name, "toolName": name}, {"callId": name, "reason": text}),
    "approval/decided": record(
        {"id": name, "outcome": literal("allowed-once", "rejected", "cancelled", "unavailable")}
    ),
    "approval/policy": record({"policy": literal("ask", "never")}, _DELEGATED),
    "assistant/chunk": anything,
    "command/done": record(
        {"commandId": name, "kind": literal("success", "error")},
        {"text": text, "sourceEventSeq": count},
    ),
    "command/run": record(
        {"commandId": name, "name": name, "source": record({"kind": literal("user")})},
        {"args": text},
    ),
    "compaction/end": record(_BRACKET, {**_COMMAND, "error": text}),
    "compaction/prune": record(_SHADOWED),
    "compaction/start": record(_BRACKET, _COMMAND),
    "compaction/summary": both(
        record(
            {
                "compactionId": name,
                "summary": content,
                **_SHADOWED,
                "provider": name,
                "model": name,
            },
            {
                **_COMMAND,
                "maxTokens": count,
                "usage": usage,
                "rawOutput": content,
                "llmStreamCall": literal(True),
            },
        ),
        _has_raw_output,
    ),
    "feedback/record": record({"text": name}),
    "goal/change": goal_change,
    "hook/invoked": record(
        {**_HOOK, "dialect": literal("claude-code", "codex")}, {"matcher": text}
    ),
    "hook/result": record(
        {**_HOOK, "decision": name, "durationMs": within(finite, 0, inf)},
        {"exitCode": integer, "stderrSummary": text},
    ),
    "llm/retry": retry,
    "llm/retry-started": record({"retryId": name, **STEP, "retry": positive}),
    "model/selection": record({"provider": name, "model": name}, {"reasoningEffort": name}),
    "permission/preset": record({"preset": name}),
    "plan/mode": record({"active": flag}),
    "request/context": record({"provider": name, "model": name}, {"contextWindow": positive}),
    "request/header": record(
        {"header": request_header, "reason": literal("initial", "resume", "change", "series")},
        {"startsSeries": literal(True)},
    ),
    "sandbox/mode": record(
        {"mode": literal("read-only", "workspace-write", "danger-full-access")}, _DELEGATED
    ),
    "schedule/change": schedule_change,
    "session/end-seed": record({}),
    "session/title": record({"title": name, "messageSeqs": listed(count), "source": title_source}),
    "step/end": record(STEP),
    "step/start": record(STEP),
    "subagent/descriptor": descriptor,
    "subagent/model-selection-policy": record({"allowedModels": allowed_models}),
    "team/member": record({**_TEAM, "member": team_member}),
    "team/message/delivered": record({**_TEAM, "messageId": name, "targetId": name}),
    "team/message/queued": record({**_TEAM, "message": team_message}),
    "team/task": record({**_TEAM, "task": team_task}),
    "todo/write": record({"todos": listed(todo)}),
    "tool-workflow/agent-end": record(
        {**_AGENT, "outcome": literal("completed", "failed", "cancelled")}
    ),
    "tool-workflow/agent-start": record(
        {**_AGENT, "label": text, "childId": name}, {"phase": text}
    ),
    "tool-workflow/run-end": record(
        {"runId": name, "stopReason": literal("completed", "cancelled", "error")}
    ),
    "tool-workflow/run-start": record({"runId": name, "name": name}),
    "tool/call": record({**STEP, "callId": name, "name": name, "arguments": text}),
    "tool/code-dispatch": record({**_DISPATCH, "isError": flag, "content": content}),
    "tool/code-dispatch-start": record(_DISPATCH),
    "turn/end": record({"turn": count, "reason": turn_end_reason}),
    "turn/start": record({"turn": count}),
    "web/deepseek-search-llm-request": record(
        {"endpoint": name, "apiVersion": name, "body": search_request}
    ),
}


@cache
def _shapes(version: int) -> Mapping[str, Shape]:
    """The shape of each type's payload in format `version`."""
    user = message(version, "user")
    return {
        **_PAYLOADS,
        "agent/inbox/spliced": record(
            {
                "target": literal("next-turn", "next-step"),
                "start": count,
                "inserted": listed(user),
            },
            {"removedCount": count, "outcome": literal("canceled")},
        ),
        "assistant/message": record(
            {**STEP, "message": message(version, "assistant")},
            {"usage": usage, "interrupted": literal(True)},
        ),
        "session-log-deepseek/delivery-accepted": record(
            {"sessionId": anything, "throughSeq": anything},
            {"sessionFormatVersion": count} if version >= 1 else {},
        ),
        "session/title-llm-request": record(
            {
                "titleProvider": name,
                "messageSeqs": listed(count, least=1),
                "route": route,
                "system": text,
                "messages": listed(message(version, "any")),
                "maxTokens": positive,
            }
        ),
        "tool/result": record(
            {**STEP, "message": message(version, "tool")},
            {"error": record({"name": name, "code": name}), "meta": anything},
        ),
        "user/message": user,
    }


def _cite_earlier(seqs: list[Any], seq: int) -> None:
    if len(set(seqs)) != len(seqs) or not all(cited < seq for cited in seqs):
        raise Misfit("must name earlier events, each of them once")


def _check_done(data: Any, seq: int, version: int) -> None:
    if "sourceEventSeq" in data:
        _cite_earlier([data["sourceEventSeq"]], seq)


def _check_shadowed(data: Any, seq: int, version: int) -> None:
    seqs, ends = data["shadowedSeqs"], data["shadowedRange"]
    _cite_earlier(seqs, seq)
    if [seqs[0], seqs[-1]] != [ends["start"], ends["end"]]:
        raise Misfit("must have the first and the last of its shadowedSeqs as shadowedRange")


def _check_titled(data: Any, seq: int, version: int) -> None:
    _cite_earlier(data["messageSeqs"], seq)


def _check_delivery(data: Any, seq: int, version: int) -> None:
    """A delivery of another generation of the log says nothing that can be checked in this one."""
    if data.get("sessionFormatVersion", 0) == version:
        record({"sessionId": name, "throughSeq": within(count, 0, seq - 1)})(
            {key: data[key] for key in ("sessionId", "throughSeq")}
        )


#: What an event that names others must hold to besides.
_CITING: Final[Mapping[str, Callable[[Any, int, int], None]]] = {
    "command/done": _check_done,
    "compaction/prune": _check_shadowed,
    "compaction/summary": _check_shadowed,
    "session-log-deepseek/delivery-accepted": _check_delivery,
    "session/title": _check_titled,
    "session/title-llm-request": _check_titled,
}
