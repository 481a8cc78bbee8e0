"""One payload of every frozen event type, with as little in it as may be, and with all."""

from __future__ import annotations

from tests.logs import EventDict, Json, image, text

PLACE = {"turn": 1, "step": 1}
ROUTE = {"provider": "p", "model": "m"}
FAILURE = {"message": "busy", "code": "HTTP_ERROR"}
FULL_FAILURE = {**FAILURE, "status": 503, "providerRetryAfterMs": 1.5, "requestId": "q"}
USAGE = {"inputTokens": 1, "outputTokens": 2}
FULL_USAGE = {
    **USAGE,
    "totalTokens": 3,
    "cacheReadTokens": 0,
    "cacheWriteTokens": 4,
    "reasoningTokens": 5,
}
USER = {"id": "u", "role": "user", "content": [text("beans")], "source": {"kind": "user"}}
CALL = {"type": "tool-call", "id": "c", "name": "shell", "arguments": "{}"}
RESULT = {"type": "tool-result", "toolCallId": "c", "content": [text("ok")]}
SIZE = {"width": 4, "height": 5}
PICTURE = image("i")["attachment"]

BLOCKS: list[Json] = [
    text(""),
    {"type": "reasoning", "text": "hm"},
    image("i"),
    {"type": "image", "attachment": {**PICTURE, "name": "bean.png", "originalDimensions": SIZE}},
    CALL,
    RESULT,
    {**RESULT, "isError": True, "content": [text("a"), RESULT]},
    {"type": "hologram", "anything": [1, None]},
]


def said(source: Json, **members: Json) -> EventDict:
    return {**USER, "source": source, **members}


REFERENCE = {
    "sessionId": "s",
    "label": "",
    "capturedThroughSeq": None,
    "compacted": False,
    "originalMessages": 3,
    "retainedMessages": 2,
    "omittedMessages": 1,
    "omittedBytes": 0,
    "truncated": True,
    "inputIndex": 0,
}
RECALL = {"kind": "session-reference", "form": "recall", "version": 1}
NOTICE = {"form": "notice", "summary": ""}

SOURCES: list[Json] = [
    {"kind": "user"},
    {"kind": "user", "rpcId": "r", "clientTimeZone": "UTC"},
    {"kind": "plugin", "plugin": "hooks-codex"},
    {"kind": "plugin", "plugin": "p", "form": "relay"},
    {"kind": "plugin", "plugin": "p", "form": "snapshot", "sections": []},
    {"kind": "plugin", "plugin": "p", "form": "snapshot", "sections": [{"name": "n", "text": ""}]},
    {"kind": "plugin", "plugin": "p", **NOTICE},
    {"kind": "plugin", "plugin": "compact", "compactionId": "z"},
    {"kind": "plugin", "plugin": "compact", "compactionId": "z", "sourceCommandId": "k"},
    {"kind": "model", **ROUTE, "replayState": {"any": 1}},
    {"kind": "tool", "callId": "c"},
    {
        "kind": "agent-instructions",
        "form": "instructions",
        "baseline": True,
        "baselineIdentity": "b",
        "changes": [{"action": "set", "scope": "", "path": "", "digest": ""}],
    },
    {**RECALL, "references": [REFERENCE]},
    {**RECALL, "references": [REFERENCE, {**REFERENCE, "sessionId": "t", "inputIndex": 1}]},
    {"kind": "team-message", "teamId": "t", "messageId": "m", "senderId": "s", "senderName": ""},
    {"kind": "goal", "goalId": "g", "revision": 1, "round": 1},
    {"kind": "skill-invocation", "name": "dig", "form": "instructions"},
    {
        "kind": "skill-catalog",
        "form": "catalog",
        "update": True,
        "entries": [{"name": "dig", "description": ""}],
    },
    {"kind": "coordinator", "form": "relay", "senderSessionId": "s"},
    {"kind": "subagent-report", "form": "relay", "senderSessionId": "s"},
    {"kind": "subagent-settled", **NOTICE, "senderSessionId": "s"},
    {
        "kind": "webhook",
        "provider": "p",
        "source": "s",
        "deliveryId": "d",
        "ruleId": "r",
        **NOTICE,
    },
    {"kind": "weather", "anything": 1},
]

REASONS: list[Json] = [
    *({"kind": kind} for kind in ("completed", "blocked", "max-tokens", "interrupted")),
    *({"kind": "aborted", "reason": {"kind": k}} for k in ("user", "parent", "disposed", "legacy")),
    {"kind": "aborted", "reason": {"kind": "hook", "reason": ""}},
    {"kind": "error", "error": FULL_FAILURE},
    {"kind": "eclipse", "anything": 1},
]

SHADOWED = {
    "shadowedRange": {"start": 2, "end": 1},
    "shadowedSeqs": [2, 0, 1],
    "shadowedTokenCount": 0,
}
DISPATCH = {"rootCallId": "r", "parentCallId": "r", "subCallId": "s", "name": "n", "arguments": [1]}
GOAL = {"id": "g", "revision": 1, "objective": "beans", "phase": "paused", "maxGoalRounds": 2}
CHANGE = {"kind": "goal/change", "version": 1}
SCHEDULE = {"id": "s", "prompt": "water", "scheduledAt": "2026-08-31T23:59:59.000Z"}
ASSISTANT = {
    **said({"kind": "model", **ROUTE}),
    "role": "assistant",
    "content": [text("a"), CALL],
}
TEAM = {"version": 1, "teamId": "t"}
SEARCH = {
    "model": "m",
    "max_tokens": 1,
    "messages": [{"role": "user", "content": [{"type": "text", "text": "q"}]}],
    "tools": [{"type": "web_search_20250305", "name": "web_search", "max_uses": 1}],
}
REQUEST = {"config": {"provider": "p", "model": "m"}}
FULL_REQUEST = {
    "config": {
        "provider": "p",
        "model": "m",
        "reasoningEffort": "high",
        "temperature": 0.5,
        "maxTokens": 1,
        "stop": [""],
    },
    "adapterDefaults": {"reasoningEffort": True, "maxTokens": True},
    "system": "",
    "tools": [{"name": "shell", "description": "", "parameters": {}}],
}

#: For each type payloads with nothing in them that can be left out, and then fuller ones. They
#: are of an event of seq 9.
EXAMPLES: dict[str, list[Json]] = {
    "agent-preset/selected": [{"agentPreset": ""}],
    "agent/inbox/spliced": [
        {"target": "next-turn", "start": 0, "inserted": []},
        {
            "target": "next-step",
            "start": 1.0,
            "inserted": [USER],
            "removedCount": 0,
            "outcome": "canceled",
        },
    ],
    "approval/asked": [
        {"id": "a", "toolName": "shell"},
        {"id": "a", "toolName": "shell", "callId": "c", "reason": ""},
    ],
    "approval/decided": [{"id": "a", "outcome": "rejected"}],
    "approval/policy": [{"policy": "ask"}, {"policy": "never", "source": "delegation"}],
    "assistant/message": [
        {**PLACE, "message": ASSISTANT},
        {**PLACE, "message": ASSISTANT, "usage": FULL_USAGE, "interrupted": True},
    ],
    "command/done": [
        {"commandId": "k", "kind": "error"},
        {"commandId": "k", "kind": "success", "text": "", "sourceEventSeq": 8},
    ],
    "command/run": [
        {"commandId": "k", "name": "note", "source": {"kind": "user"}},
        {"commandId": "k", "name": "note", "source": {"kind": "user"}, "args": ""},
    ],
    "compaction/end": [
        {"compactionId": "z", "turn": None},
        {"compactionId": "z", "turn": 1, "sourceCommandId": "k", "error": ""},
    ],
    "compaction/prune": [SHADOWED],
    "compaction/start": [
        {"compactionId": "z", "turn": 0},
        {"compactionId": "z", "turn": None, "sourceCommandId": "k"},
    ],
    "compaction/summary": [
        {"compactionId": "z", "summary": [], **SHADOWED, **ROUTE},
        {
            "compactionId": "z",
            "summary": BLOCKS,
            **SHADOWED,
            **ROUTE,
            "sourceCommandId": "k",
            "maxTokens": 0,
            "usage": USAGE,
            "rawOutput": BLOCKS,
            "llmStreamCall": True,
        },
    ],
    "feedback/record": [{"text": "good"}],
    "goal/change": [
        {
            **CHANGE,
            "operation": "create",
            "goal": GOAL,
            "roundsStarted": 0,
            "createdAt": 0,
            "updatedAt": 0,
        },
        {
            **CHANGE,
            "operation": "block",
            "goal": {**GOAL, "phase": "blocked", "blockedReason": {"code": "c", "message": "m"}},
            "roundsStarted": 1,
            "createdAt": 1,
            "updatedAt": 1,
        },
        {**CHANGE, "operation": "clear", "cleared": {"id": "g", "revision": 1}, "clearedAt": 0},
    ],
    "hook/invoked": [
        {"turn": 1, "point": "p", "dialect": "codex", "handlerId": "h"},
        {"turn": 1, "point": "p", "dialect": "claude-code", "handlerId": "h", "matcher": ""},
    ],
    "hook/result": [
        {"turn": 1, "point": "p", "handlerId": "h", "decision": "allow", "durationMs": 0.5},
        {
            "turn": 1,
            "point": "p",
            "handlerId": "h",
            "decision": "deny",
            "durationMs": 3,
            "exitCode": -1,
            "stderrSummary": "",
        },
    ],
    "llm/retry": [
        {
            "retryId": "r",
            **PLACE,
            "provider": "p",
            "mode": "always",
            "policyKey": "k",
            "retry": 1,
            "delayMs": 0.5,
            "failure": FULL_FAILURE,
        },
        {
            "retryId": "r",
            **PLACE,
            "provider": "p",
            "mode": "normal",
            "policyKey": "k",
            "retry": 2,
            "maxRetries": 2,
            "delayMs": 2**31 - 1,
            "failure": FAILURE,
        },
    ],
    "llm/retry-started": [{"retryId": "r", **PLACE, "retry": 1}],
    "model/selection": [ROUTE, {**ROUTE, "reasoningEffort": "low"}],
    "permission/preset": [{"preset": "careful"}],
    "plan/mode": [{"active": False}],
    "request/context": [ROUTE, {**ROUTE, "contextWindow": 1}],
    "request/header": [
        {"header": REQUEST, "reason": "initial"},
        {"header": FULL_REQUEST, "reason": "series", "startsSeries": True},
    ],
    "sandbox/mode": [
        {"mode": "read-only"},
        {"mode": "danger-full-access", "source": "delegation"},
    ],
    "schedule/change": [
        {"version": 1, "operation": "delete", "id": "s"},
        {"version": 1, "operation": "dispatch", "id": "s", "acceptedAt": SCHEDULE["scheduledAt"]},
        {"version": 1, "operation": "create", "schedule": {**SCHEDULE, "kind": "at"}},
        {
            "version": 1,
            "operation": "create",
            "schedule": {**SCHEDULE, "kind": "after", "afterSeconds": 1},
        },
        {
            "version": 1,
            "operation": "create",
            "schedule": {**SCHEDULE, "kind": "every", "everySeconds": 300},
        },
    ],
    "session-log-deepseek/delivery-accepted": [{"sessionId": "s", "throughSeq": 8}],
    "session/end-seed": [{}],
    "session/title": [
        {"title": "Beans", "messageSeqs": [], "source": {"kind": "user"}},
        {
            "title": "Beans",
            "messageSeqs": [8, 2],
            "source": {"kind": "provider", "provider": "p", "model": ROUTE},
        },
    ],
    "session/title-llm-request": [
        {
            "titleProvider": "t",
            "messageSeqs": [2],
            "route": ROUTE,
            "system": "",
            "messages": [USER, {**USER, "role": "system"}],
            "maxTokens": 1,
        }
    ],
    "step/end": [PLACE],
    "step/start": [PLACE],
    "subagent/descriptor": [
        {"mode": "one-shot", "version": 3, "provider": "p"},
        {"mode": "one-shot", "version": 3, "provider": "p", "label": ""},
        {
            "mode": "continuable",
            "version": 3,
            "provider": "p",
            "label": "l",
            "agentProvider": "a",
            "agentModel": "m",
            "agentReasoningEffort": "high",
            "persona": "p",
            "toolFilter": {"allow": ["shell"], "deny": []},
        },
    ],
    "subagent/model-selection-policy": [{"allowedModels": [ROUTE]}],
    "team/member": [
        {
            **TEAM,
            "member": {
                "id": "m",
                "name": "",
                "description": "",
                "provider": "",
                "context": "fork",
                "phase": "failed",
                "error": "",
            },
        }
    ],
    "team/message/delivered": [{**TEAM, "messageId": "m", "targetId": "t"}],
    "team/message/queued": [
        {
            **TEAM,
            "message": {
                "id": "m",
                "senderId": "s",
                "senderName": "",
                "targetId": "t",
                "delivery": "quiet",
                "content": BLOCKS,
            },
        }
    ],
    "team/task": [
        {
            **TEAM,
            "task": {
                "id": "t",
                "revision": 1,
                "subject": "",
                "description": "",
                "status": "deleted",
                "blockedBy": ["u"],
                "writeScopes": [""],
                "ownerId": "o",
            },
        }
    ],
    "todo/write": [{"todos": []}, {"todos": [{"content": "", "status": "in_progress"}]}],
    "tool-workflow/agent-end": [{"runId": "r", "seq": 1, "outcome": "failed"}],
    "tool-workflow/agent-start": [
        {"runId": "r", "seq": 1, "label": "", "childId": "c"},
        {"runId": "r", "seq": 1, "label": "", "childId": "c", "phase": ""},
    ],
    "tool-workflow/run-end": [{"runId": "r", "stopReason": "error"}],
    "tool-workflow/run-start": [{"runId": "r", "name": "n"}],
    "tool/call": [{**PLACE, "callId": "c", "name": "shell", "arguments": ""}],
    "tool/code-dispatch": [{**DISPATCH, "isError": False, "content": BLOCKS}],
    "tool/code-dispatch-start": [DISPATCH],
    "tool/result": [
        {**PLACE, "message": said({"kind": "tool", "callId": "c"}, content=[RESULT])},
        {
            **PLACE,
            "message": said({"kind": "tool", "callId": "c"}, content=[RESULT]),
            "error": {"name": "Failed", "code": "FAILED"},
            "meta": {"any": [1, None]},
        },
    ],
    "turn/end": [{"turn": 1, "reason": reason} for reason in REASONS],
    "turn/start": [{"turn": 1}],
    "user/message": [
        USER,
        said({"kind": "user"}, content=BLOCKS),
        *(said(source) for source in SOURCES),
    ],
    "web/deepseek-search-llm-request": [{"endpoint": "e", "apiVersion": "v", "body": SEARCH}],
}
