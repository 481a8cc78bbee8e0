"""Messages as formats v0 and v1 froze them: content, sources, usage, failures, goals.

(Format notes v0-v4, section 5.5.) Kinds of content and of sources are open: one that is not
known here passes as its owner wrote it, a known one must be exactly what the format says.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, Literal

from dshstore.engine.migration.shapes import (
    Misfit,
    Shape,
    anything,
    both,
    cases,
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
from dshstore.jsontext import dump, same

#: Whose message it is: it decides the role, and which source there must be.
Speaker = Literal["user", "assistant", "tool", "any"]

_ROLES: Final[dict[Speaker, tuple[str, ...]]] = {
    "user": ("user",),
    "assistant": ("assistant",),
    "tool": ("user",),
    "any": ("system", "user", "assistant"),
}

#: As many milliseconds as a timer of JavaScript can wait.
_LONGEST_WAIT = 2**31 - 1

route: Final = record({"provider": name, "model": name})

usage: Final = record(
    {"inputTokens": count, "outputTokens": count},
    dict.fromkeys(["totalTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens"], count),
)

delay: Final = within(finite, 0, _LONGEST_WAIT)


def _above_zero(value: Any) -> None:
    finite(value)
    if value <= 0:
        raise Misfit("must be more than 0")


failure: Final = record(
    {"message": name, "code": name},
    {
        "status": within(integer, 100, 599),
        "providerRetryAfterMs": _above_zero,
        "requestId": name,
    },
)


def content(value: Any) -> None:
    """The content of a message, or of a tool result in one: an array of blocks."""
    _content(value)


_words: Final = record({"type": anything, "text": text})
_size: Final = {"width": positive, "height": positive}
_attachment: Final = record(
    {
        "attachmentId": name,
        "mediaType": literal("image/png", "image/jpeg", "image/webp", "image/gif"),
        "bytes": count,
        **_size,
    },
    {"name": text, "originalDimensions": record(_size)},
)
_block: Final = cases(
    "type",
    {
        "text": _words,
        "reasoning": _words,
        "image": record({"type": anything, "attachment": _attachment}),
        "tool-call": record({"type": anything, "id": name, "name": name, "arguments": text}),
        "tool-result": record(
            {"type": anything, "toolCallId": name, "content": content}, {"isError": flag}
        ),
    },
    otherwise=mapping,
)
_content: Final = listed(_block)

_goal_ref: Final = {"id": name, "revision": positive}
_goal: Final = cases(
    "phase",
    {
        "blocked": record(
            {
                **_goal_ref,
                "objective": name,
                "phase": anything,
                "maxGoalRounds": positive,
                "blockedReason": record({"code": name, "message": name}),
            }
        )
    },
    otherwise=record(
        {
            **_goal_ref,
            "objective": name,
            "phase": literal("active", "paused", "complete"),
            "maxGoalRounds": positive,
        }
    ),
)
_change: Final = {"kind": literal("goal/change"), "version": literal(1)}

#: What a goal/change says: that the goal is so now, or that there is none any more.
goal_change: Final = cases(
    "operation",
    {
        "clear": record(
            {**_change, "operation": anything, "cleared": record(_goal_ref), "clearedAt": count}
        )
    },
    otherwise=record(
        {
            **_change,
            "operation": literal("create", "edit", "pause", "resume", "complete", "block"),
            "goal": _goal,
            "roundsStarted": count,
            "createdAt": count,
            "updatedAt": count,
        }
    ),
)


@cache
def message(version: int, speaker: Speaker) -> Shape:
    """A message in a log of format `version`."""
    members = {"id": name, "role": literal(*_ROLES[speaker]), "content": content}
    source = _source(version)
    match speaker:
        case "user":
            plain = record({**members, "source": source})
            legacy = both(record({**members, "source": _legacy_goal}), _tells_its_goal)
            return lambda value: (legacy if carries_goal(value) else plain)(value)
        case "assistant":
            return record({**members, "source": both(_of_kind("model"), source)})
        case "tool":
            whole = record({**members, "source": both(_of_kind("tool"), source)})
            return both(whole, _holds_one_result)
        case "any":
            return record({**members, "source": source})


def carries_goal(value: Any) -> bool:
    """Whether a user message is an old one that carries a goal/change in its source."""
    source = value.get("source") if isinstance(value, dict) else None
    return isinstance(source, dict) and source.get("kind") == "goal" and "change" in source


def _of_kind(kind: str) -> Shape:
    def check(value: Any) -> None:
        mapping(value)
        if value.get("kind") != kind:
            raise Misfit(f"must be of the kind {dump(kind)}")

    return check


def _holds_one_result(value: Any) -> None:
    blocks, call_id = value["content"], value["source"]["callId"]
    if len(blocks) != 1 or blocks[0]["type"] != "tool-result" or blocks[0]["toolCallId"] != call_id:
        raise Misfit("must hold one tool-result block, of the call that its source names")


_legacy_goal: Final = record(
    {
        "kind": anything,
        "goalId": name,
        "revision": positive,
        "round": literal(0),
        "change": goal_change,
    }
)


def _tells_its_goal(value: Any) -> None:
    """Whether the text of an old goal message is what its change makes of it."""
    source = value["source"]
    change = source["change"]
    keys = ["goal", "roundsStarted", "createdAt", "updatedAt"]
    if change["operation"] == "clear":
        keys = ["cleared", "clearedAt"]
    told = {key: change[key] for key in keys}
    about = told[keys[0]]
    if source["goalId"] != about["id"] or source["revision"] != about["revision"]:
        raise Misfit("must name in its source the goal that its change is about")
    block = {"type": "text", "text": f"<goal_state>{dump(told)}</goal_state>"}
    if not same(value["content"], [block]):
        raise Misfit("must hold the state of its goal as one text block")


@cache
def _source(version: int) -> Shape:
    instructions, relay = literal("instructions"), literal("relay")
    relayed = record({"kind": anything, "form": relay, "senderSessionId": name})
    return cases(
        "kind",
        {
            "user": record({"kind": anything}, {"rpcId": name, "clientTimeZone": name}),
            "plugin": _plugin,
            "model": record(
                {"kind": anything, "provider": name, "model": name}, {"replayState": anything}
            ),
            "tool": record({"kind": anything, "callId": name}),
            "agent-instructions": record(
                {"kind": anything, "form": instructions, "changes": listed(_instruction)},
                {"baseline": literal(True), "baselineIdentity": name},
            ),
            "session-reference": record(
                {
                    "kind": anything,
                    "form": literal("recall"),
                    "version": literal(1),
                    "references": both(listed(_reference(version), least=1), _are_in_order),
                }
            ),
            "team-message": record(
                {
                    "kind": anything,
                    "teamId": name,
                    "messageId": name,
                    "senderId": name,
                    "senderName": text,
                }
            ),
            "goal": record(
                {"kind": anything, "goalId": name, "revision": positive, "round": positive}
            ),
            "skill-invocation": record({"kind": anything, "name": name, "form": instructions}),
            "skill-catalog": record(
                {
                    "kind": anything,
                    "form": literal("catalog"),
                    "entries": listed(record({"name": name, "description": text})),
                },
                {"update": literal(True)},
            ),
            "coordinator": relayed,
            "subagent-report": relayed,
            "subagent-settled": record(
                {
                    "kind": anything,
                    "form": literal("notice"),
                    "summary": text,
                    "senderSessionId": name,
                }
            ),
            "webhook": record(
                {
                    **dict.fromkeys(["provider", "source", "deliveryId", "ruleId"], name),
                    "kind": anything,
                    "form": literal("notice"),
                    "summary": text,
                }
            ),
        },
        otherwise=mapping,
    )


_instruction: Final = record(
    {"action": literal("set", "replace", "remove"), "scope": text, "path": text}, {"digest": text}
)
_sections: Final = listed(record({"name": name, "text": text}))


def _plugin(value: Any) -> None:
    """A plugin's source: what its form needs, and for a compaction which one it was."""
    required: dict[str, Shape] = {"kind": anything, "plugin": name}
    optional: dict[str, Shape] = {}
    match value.get("form"):
        case "snapshot":
            required |= {"form": anything, "sections": _sections}
        case "notice":
            required |= {"form": anything, "summary": text}
        case _:
            optional["form"] = literal("instructions", "catalog", "relay", "recall")
    if value.get("plugin") == "compact":
        required["compactionId"] = name
        optional["sourceCommandId"] = name
    record(required, optional)(value)


def _reference(version: int) -> Shape:
    later = {"capturedFormatVersion": within(integer, 1, version)} if version >= 1 else {}
    counts = ("originalMessages", "retainedMessages", "omittedMessages", "omittedBytes")
    return both(
        record(
            {
                "sessionId": name,
                "label": text,
                "capturedThroughSeq": nullable(count),
                "compacted": flag,
                **dict.fromkeys(counts, count),
                "truncated": flag,
                "inputIndex": count,
            },
            later,
        ),
        _adds_up,
    )


def _adds_up(value: Any) -> None:
    kept, omitted = value["retainedMessages"], value["omittedMessages"]
    if kept + omitted != value["originalMessages"]:
        raise Misfit("must omit as many messages as it does not retain")
    if value["truncated"] != (omitted > 0 or value["omittedBytes"] > 0):
        raise Misfit("must be truncated if it omits something, and only then")


def _are_in_order(value: Any) -> None:
    if [reference["inputIndex"] for reference in value] != list(range(len(value))):
        raise Misfit("must stand in the order of their inputIndex, which counts from 0")
    if len({reference["sessionId"] for reference in value}) != len(value):
        raise Misfit("must each be of another session")
