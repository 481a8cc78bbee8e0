"""The objects inside the payloads of single event types, as formats v0 and v1 froze them.

(Format notes v0-v4, section 5.5.) What several types share, such as messages, is in `messages`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dshstore.engine.migration.messages import content, delay, failure, route
from dshstore.engine.migration.shapes import (
    Misfit,
    Shape,
    anything,
    both,
    cases,
    count,
    finite,
    instant,
    integer,
    listed,
    literal,
    mapping,
    name,
    positive,
    record,
    text,
    within,
)
from dshstore.jsontext import dump
from dshstore.model import MAX_SAFE

Members = Mapping[str, Shape]

#: What places an event in its session.
STEP: Final[Members] = {"turn": count, "step": count}

# -- turns and requests --

_cause: Final = cases(
    "kind",
    {"hook": record({"kind": anything, "reason": text})},
    otherwise=record({"kind": literal("user", "parent", "disposed", "legacy")}),
)
_bare: Final = record({"kind": anything})

#: Why a turn ended; kinds that others added pass.
turn_end_reason: Final = cases(
    "kind",
    {
        **dict.fromkeys(["completed", "blocked", "max-tokens", "interrupted"], _bare),
        "aborted": record({"kind": anything, "reason": _cause}),
        "error": record({"kind": anything, "error": failure}),
    },
    otherwise=mapping,
)

_retry: Final[Members] = {
    **STEP,
    "retryId": name,
    "provider": name,
    "mode": anything,
    "policyKey": name,
    "retry": positive,
    "delayMs": delay,
    "failure": failure,
}


def _is_within_limit(data: Any) -> None:
    if data["retry"] > data["maxRetries"]:
        raise Misfit("must not have a retry beyond its maxRetries")


retry: Final = cases(
    "mode",
    {
        "normal": both(record({**_retry, "maxRetries": positive}), _is_within_limit),
        "always": record(_retry),
    },
)


def _has_its_defaults(header: Any) -> None:
    for key in header.get("adapterDefaults", ()):
        if key not in header["config"]:
            raise Misfit(f"has an adapterDefault for {dump(key)}, but no value of it")


request_header: Final = both(
    record(
        {
            "config": record(
                {"provider": name, "model": name},
                {
                    "reasoningEffort": name,
                    "temperature": finite,
                    "maxTokens": positive,
                    "stop": listed(text),
                },
            )
        },
        {
            "adapterDefaults": record(
                {}, {"reasoningEffort": literal(True), "maxTokens": literal(True)}
            ),
            "system": text,
            "tools": listed(record({"name": name, "description": text, "parameters": mapping})),
        },
    ),
    _has_its_defaults,
)

title_source: Final = cases(
    "kind",
    {"provider": record({"kind": anything, "provider": name}, {"model": route})},
    otherwise=record({"kind": literal("fallback", "user")}),
)

search_request: Final = record(
    {
        "model": name,
        "max_tokens": positive,
        "messages": listed(
            record(
                {
                    "role": literal("user"),
                    "content": listed(
                        record({"type": literal("text"), "text": text}), least=1, most=1
                    ),
                }
            ),
            least=1,
            most=1,
        ),
        "tools": listed(
            record(
                {
                    "type": literal("web_search_20250305"),
                    "name": literal("web_search"),
                    "max_uses": positive,
                }
            ),
            least=1,
            most=1,
        ),
    }
)

# -- schedules --

_due: Final[Members] = {"id": name, "kind": anything, "prompt": name, "scheduledAt": instant}
_schedule: Final = cases(
    "kind",
    {
        "after": record({**_due, "afterSeconds": positive}),
        "at": record(_due),
        "every": record({**_due, "everySeconds": within(integer, 300, MAX_SAFE)}),
    },
)
_scheduled: Final[Members] = {"version": literal(1), "operation": anything}

schedule_change: Final = cases(
    "operation",
    {
        "create": record({**_scheduled, "schedule": _schedule}),
        "delete": record({**_scheduled, "id": name}),
        "dispatch": record({**_scheduled, "id": name}, {"acceptedAt": instant}),
    },
)

# -- subagents and teams --

_descriptor: Final[Members] = {"mode": anything, "version": literal(3), "provider": name}
_agent: Final = ("agentProvider", "agentModel", "agentReasoningEffort", "persona")


def _is_whole(data: Any) -> None:
    if ("agentProvider" in data) != ("agentModel" in data):
        raise Misfit("must have both agentProvider and agentModel, or neither")
    if data.get("toolFilter") == {}:
        raise Misfit("must allow or deny something with its toolFilter")


descriptor: Final = cases(
    "mode",
    {
        "one-shot": record(_descriptor, {"label": text}),
        "continuable": both(
            record(
                {**_descriptor, "label": name},
                {
                    **dict.fromkeys(_agent, name),
                    "toolFilter": record({}, {"allow": listed(name), "deny": listed(name)}),
                },
            ),
            _is_whole,
        ),
    },
)


def _differ(routes: Any) -> None:
    if len({(one["provider"], one["model"]) for one in routes}) != len(routes):
        raise Misfit("must not name a model twice")


allowed_models: Final = both(listed(route, least=1), _differ)

team_member: Final = record(
    {
        "id": name,
        "name": text,
        "description": text,
        "provider": text,
        "context": literal("fresh", "fork"),
        "phase": literal("provisioning", "active", "failed"),
    },
    {"error": text},
)
team_message: Final = record(
    {
        "id": name,
        "senderId": name,
        "senderName": text,
        "targetId": name,
        "delivery": literal("quiet", "wakeup"),
        "content": content,
    }
)
team_task: Final = record(
    {
        "id": name,
        "revision": positive,
        "subject": text,
        "description": text,
        "status": literal("pending", "in_progress", "completed", "deleted"),
        "blockedBy": listed(name),
        "writeScopes": listed(text),
    },
    {"ownerId": name},
)
todo: Final = record({"content": text, "status": literal("pending", "in_progress", "completed")})
