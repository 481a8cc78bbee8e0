"""Which event types a format version knows, and which of them join the surface.

The lists are those of the released formats (sections 2 of the v0 and 5 of the v0-v4 notes). What
an unknown type means is for others: one that is marked `ignorable` is opaque, any other keeps
messages from being derived. Experimental records (`plugin:...`) are always written with that
mark, so they need no place here.
"""

from __future__ import annotations

#: The first version in which a type is a message of its own, on the surface from then on.
_SURFACE_SINCE = {
    "user/message": 0,
    "assistant/message": 0,
    "tool/result": 0,
    "system/message": 3,
    "developer/message": 4,
}

#: Message types of June 2026: gone before v1. A steering message is read as a user message, a
#: context message is not read at all.
_V0_STEERING = "steering/message"
_V0_CONTEXT = "context/message"

#: Types that are in the log only. A version leaves out what a later one adds, but none of them
#: changes what the model sees, so a log may hold any of them. (`compact/*` is v0's old name of
#: `compaction/*`.)
_LOG_ONLY = frozenset(
    {
        "agent-preset/selected",
        "agent/inbox/spliced",
        "approval/asked",
        "approval/decided",
        "approval/policy",
        "assistant/attempt",
        "assistant/chunk",
        "command/done",
        "command/run",
        "compact/end",
        "compact/prune",
        "compact/start",
        "compact/summary",
        "compaction/end",
        "compaction/prune",
        "compaction/start",
        "compaction/summary",
        "deliverables/presented",
        "feedback/message-delete",
        "feedback/message-put",
        "feedback/record",
        "goal/change",
        "hook/invoked",
        "hook/result",
        "image/offload",
        "job/registered",
        "job/settled",
        "llm/retry",
        "llm/retry-started",
        "model/selection",
        "permission/preset",
        "plan/mode",
        "request/context",
        "request/header",
        "sandbox/mode",
        "schedule/change",
        "session-log-deepseek/delivery-accepted",
        "session/end-seed",
        "session/title",
        "session/title-llm-request",
        "step/end",
        "step/start",
        "subagent/catalog",
        "subagent/descriptor",
        "subagent/model-selection-policy",
        "team/member",
        "team/message/delivered",
        "team/message/queued",
        "team/task",
        "todo/write",
        "tool-workflow/agent-end",
        "tool-workflow/agent-start",
        "tool-workflow/run-end",
        "tool-workflow/run-start",
        "tool/call",
        "tool/code-dispatch",
        "tool/code-dispatch-start",
        "tool/ptc-dispatch",
        "tool/ptc-dispatch-start",
        "turn/end",
        "turn/start",
        "web/deepseek-search-llm-request",
        "working-directory/change",
        "workspace/changes",
    }
)


def is_known(type: str, version: int) -> bool:
    """Whether a reader of format `version` knows what an event of this type means.

    Log-only types are known to every version, messages from their first version on.
    """
    return type in _LOG_ONLY or (is_surface(type, version) and type != _V0_CONTEXT)


def is_surface(type: str, version: int) -> bool:
    """Whether events of this type belong on the surface in format `version`."""
    since = _SURFACE_SINCE.get(type)
    if since is None:
        return version == 0 and type in (_V0_STEERING, _V0_CONTEXT)
    return version >= since
