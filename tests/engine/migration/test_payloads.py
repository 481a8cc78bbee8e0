"""The frozen vocabulary, held to an example of every type and to what it must not take."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator

import pytest

from dshstore.engine.migration.payloads import check_payload
from dshstore.engine.migration.shapes import Misfit
from tests.engine.migration.old_logs import OldLog
from tests.engine.migration.payload_examples import (
    ASSISTANT,
    CHANGE,
    EXAMPLES,
    GOAL,
    PICTURE,
    PLACE,
    RECALL,
    REFERENCE,
    REQUEST,
    RESULT,
    ROUTE,
    SCHEDULE,
    SHADOWED,
    USER,
    said,
)
from tests.logs import EventDict, Json, text

#: Members whose value is their owner's, or is not looked at in a log of another generation.
OPAQUE = {
    ("tool/result", "meta"),
    ("tool/code-dispatch", "arguments"),
    ("tool/code-dispatch-start", "arguments"),
}


def fault(kind: str, data: Json, version: int = 0) -> str | None:
    """Why a payload of an event of seq 9 is refused; None if it is not."""
    try:
        check_payload({"type": kind, "seq": 9, "time": 0, "data": data}, version)
    except Misfit as misfit:
        return str(misfit)
    return None


def holders(value: Json) -> Iterator[EventDict]:
    """Every object in a payload that has a closed set of members."""
    if isinstance(value, dict) and "anything" not in value:
        yield value
        for key, inner in value.items():
            if key not in ("meta", "arguments", "replayState", "parameters"):
                yield from holders(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from holders(inner)


EACH = [(kind, data) for kind, examples in EXAMPLES.items() for data in examples]


def test_there_is_an_example_of_every_type_that_the_formats_froze() -> None:
    assert len(EXAMPLES) == 50  # and token deltas
    assert fault("assistant/chunk", "anything") is None


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize(("kind", "data"), EACH)
def test_a_payload_of_a_frozen_type_is_taken(kind: str, data: Json, version: int) -> None:
    assert fault(kind, data, version) is None


@pytest.mark.parametrize(("kind", "data"), EACH)
def test_a_member_more_is_refused_wherever_the_set_of_members_is_closed(
    kind: str, data: Json
) -> None:
    data = copy.deepcopy(data)
    for holder in holders(data):
        holder["extra"] = 1
        assert '"extra"' in (fault(kind, data) or ""), holder
        del holder["extra"]


@pytest.mark.parametrize(("kind", "examples"), EXAMPLES.items())
def test_a_member_that_is_needed_cannot_be_left_out(kind: str, examples: list[Json]) -> None:
    for key in examples[0]:
        assert fault(kind, {k: v for k, v in examples[0].items() if k != key}), key


@pytest.mark.parametrize(("kind", "data"), EACH)
@pytest.mark.parametrize("value", [{"odd": 1}, -0.0, None])
def test_a_member_of_another_kind_is_refused(kind: str, data: EventDict, value: Json) -> None:
    for key in data:
        if (kind, key) not in OPAQUE and not (key == "turn" and value is None):
            assert fault(kind, {**data, key: value}), key


@pytest.mark.parametrize(("kind", "examples"), EXAMPLES.items())
@pytest.mark.parametrize("data", [None, [], "x", 1])
def test_a_payload_that_is_no_object_is_refused(
    kind: str, examples: list[Json], data: Json
) -> None:
    assert fault(kind, data)


@pytest.mark.parametrize("kind", ["mystery/event", "assistant/attempt", "system/message", ""])
def test_an_unknown_type_is_refused_even_when_a_log_marks_it_ignorable(kind: str) -> None:
    event = {"type": kind, "seq": 9, "time": 0, "data": {}, "ignorable": True}
    with pytest.raises(Misfit, match="unknown"):
        check_payload(event, 1)


def aborted(cause: Json) -> EventDict:
    return {"turn": 1, "reason": {"kind": "aborted", "reason": cause}}


def plugin(**members: Json) -> EventDict:
    return said({"kind": "plugin", "plugin": "p", **members})


def recalled(*references: Json) -> EventDict:
    return said({**RECALL, "references": list(references)})


def pictured(**members: Json) -> EventDict:
    return {**USER, "content": [{"type": "image", "attachment": {**PICTURE, **members}}]}


RETRY = EXAMPLES["llm/retry"][0]
NORMAL = EXAMPLES["llm/retry"][1]
AGENT = EXAMPLES["subagent/descriptor"][2]
SET_GOAL = EXAMPLES["goal/change"][0]
TOLD = EXAMPLES["tool/result"][0]["message"]
DELIVERY = "session-log-deepseek/delivery-accepted"

REFUSED: dict[str, tuple[str, Json]] = {
    "an aborted turn of unknown cause": ("turn/end", aborted({"kind": "weather"})),
    "an aborted turn without a cause": ("turn/end", {"turn": 1, "reason": {"kind": "aborted"}}),
    "a reason without a kind": ("turn/end", {"turn": 1, "reason": {}}),
    "a status below 100": ("llm/retry", {**RETRY, "failure": {**RETRY["failure"], "status": 99}}),
    "a status above 599": ("llm/retry", {**RETRY, "failure": {**RETRY["failure"], "status": 600}}),
    "a retry after nothing": (
        "llm/retry",
        {**RETRY, "failure": {**RETRY["failure"], "providerRetryAfterMs": 0}},
    ),
    "a delay beyond timers": ("llm/retry", {**RETRY, "delayMs": 2**31}),
    "a negative delay": ("llm/retry", {**RETRY, "delayMs": -1}),
    "an infinite delay": ("llm/retry", {**RETRY, "delayMs": math.inf}),
    "retry 0": ("llm/retry", {**RETRY, "retry": 0}),
    "a limit for a mode without one": ("llm/retry", {**RETRY, "maxRetries": 3}),
    "a retry beyond its limit": ("llm/retry", {**NORMAL, "retry": 3}),
    "an unknown mode of retries": ("llm/retry", {**RETRY, "mode": "sometimes"}),
    "sections without a snapshot": ("user/message", plugin(sections=[])),
    "a snapshot without sections": ("user/message", plugin(form="snapshot")),
    "a summary without a notice": ("user/message", plugin(form="relay", summary="s")),
    "a notice without a summary": ("user/message", plugin(form="notice")),
    "an unknown form": ("user/message", plugin(form="poster")),
    "a compaction id of another plugin": ("user/message", plugin(compactionId="z")),
    "a checkpoint of no compaction": ("user/message", plugin(plugin="compact")),
    "a source without a kind": ("user/message", said({})),
    "no references": ("user/message", recalled()),
    "a reference out of order": ("user/message", recalled({**REFERENCE, "inputIndex": 1})),
    "one session twice": ("user/message", recalled(REFERENCE, {**REFERENCE, "inputIndex": 1})),
    "messages that do not add up": ("user/message", recalled({**REFERENCE, "omittedMessages": 2})),
    "truncated without loss": (
        "user/message",
        recalled({**REFERENCE, "omittedMessages": 0, "retainedMessages": 3}),
    ),
    "a user message of an assistant": ("user/message", {**USER, "role": "assistant"}),
    "a message without an id": ("user/message", {**USER, "id": ""}),
    "an image of unknown kind": ("user/message", pictured(mediaType="image/bmp")),
    "an image without width": ("user/message", pictured(width=0)),
    "a call without a name": (
        "assistant/message",
        {
            **PLACE,
            "message": {
                **ASSISTANT,
                "content": [{"type": "tool-call", "id": "c", "name": "", "arguments": ""}],
            },
        },
    ),
    "an assistant that is no model": (
        "assistant/message",
        {**PLACE, "message": {**ASSISTANT, "source": {"kind": "user"}}},
    ),
    "interrupted: false": (
        "assistant/message",
        {**PLACE, "message": ASSISTANT, "interrupted": False},
    ),
    "a result of no tool": (
        "tool/result",
        {**PLACE, "message": {**TOLD, "source": {"kind": "user"}}},
    ),
    "a result of two calls": (
        "tool/result",
        {**PLACE, "message": {**TOLD, "content": [RESULT] * 2}},
    ),
    "a result of words": ("tool/result", {**PLACE, "message": {**TOLD, "content": [text("a")]}}),
    "a result of another call": (
        "tool/result",
        {**PLACE, "message": {**TOLD, "content": [{**RESULT, "toolCallId": "d"}]}},
    ),
    "a default of nothing": (
        "request/header",
        {"header": {**REQUEST, "adapterDefaults": {"maxTokens": True}}, "reason": "initial"},
    ),
    "a header of unknown reason": ("request/header", {"header": REQUEST, "reason": "fallback"}),
    "a raw call without output": (
        "compaction/summary",
        {"compactionId": "z", "summary": [], **SHADOWED, **ROUTE, "llmStreamCall": True},
    ),
    "a range of other ends": (
        "compaction/prune",
        {**SHADOWED, "shadowedRange": {"start": 1, "end": 2}},
    ),
    "a shadowed event to come": (
        "compaction/prune",
        {**SHADOWED, "shadowedRange": {"start": 9, "end": 9}, "shadowedSeqs": [9]},
    ),
    "an event shadowed twice": (
        "compaction/prune",
        {**SHADOWED, "shadowedRange": {"start": 2, "end": 2}, "shadowedSeqs": [2, 2]},
    ),
    "nothing shadowed": ("compaction/prune", {**SHADOWED, "shadowedSeqs": []}),
    "a source to come": (
        "command/done",
        {"commandId": "k", "kind": "success", "sourceEventSeq": 9},
    ),
    "a title of a message to come": (
        "session/title",
        {"title": "t", "messageSeqs": [9], "source": {"kind": "fallback"}},
    ),
    "a title of no provider": (
        "session/title",
        {"title": "t", "messageSeqs": [], "source": {"kind": "provider"}},
    ),
    "an active goal that is blocked": (
        "goal/change",
        {**SET_GOAL, "goal": {**GOAL, "blockedReason": {"code": "c", "message": "m"}}},
    ),
    "a blocked goal without a reason": (
        "goal/change",
        {**SET_GOAL, "goal": {**GOAL, "phase": "blocked"}},
    ),
    "a cleared goal that is set": (
        "goal/change",
        {**CHANGE, "operation": "clear", "goal": GOAL, "clearedAt": 0},
    ),
    "an agent of no provider": (
        "subagent/descriptor",
        {k: v for k, v in AGENT.items() if k != "agentProvider"},
    ),
    "a filter of nothing": ("subagent/descriptor", {**AGENT, "toolFilter": {}}),
    "one model twice": ("subagent/model-selection-policy", {"allowedModels": [ROUTE, ROUTE]}),
    "no models": ("subagent/model-selection-policy", {"allowedModels": []}),
    "a schedule at no time": (
        "schedule/change",
        {
            "version": 1,
            "operation": "create",
            "schedule": {**SCHEDULE, "kind": "at", "scheduledAt": "2026-02-30T00:00:00.000Z"},
        },
    ),
    "a schedule in seconds": (
        "schedule/change",
        {
            "version": 1,
            "operation": "create",
            "schedule": {**SCHEDULE, "kind": "every", "everySeconds": 299},
        },
    ),
    "a hook of negative duration": (
        "hook/result",
        {**EXAMPLES["hook/result"][0], "durationMs": -1},
    ),
    "a delivery of what is to come": (DELIVERY, {"sessionId": "s", "throughSeq": 9}),
    "a delivery to no session": (DELIVERY, {"sessionId": "", "throughSeq": 8}),
    "a descriptor of version 2": ("subagent/descriptor", {**AGENT, "version": 2}),
    "true for a count": ("turn/start", {"turn": True}),
    "half a turn": ("turn/start", {"turn": 0.5}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_payload_that_breaks_a_rule_is_refused(name: str) -> None:
    kind, data = REFUSED[name]
    assert (fault(kind, data) or "").startswith(f"{kind}: data")


def test_a_refusal_says_where_in_the_payload_it_was() -> None:
    message = {**USER, "content": [text("a"), {**RESULT, "content": [{"type": "text", "text": 1}]}]}
    assert fault("user/message", message) == (
        "user/message: data.content[1].content[0].text must be a string"
    )


def test_numbers_are_those_of_javascript() -> None:
    assert fault("turn/start", {"turn": 1.0}) is None
    assert fault("turn/start", {"turn": 2.0**53})
    assert fault("team/task", {"version": 1.0, "teamId": "t", "task": {}}) == (
        'team/task: data.task has no "id"'
    )


def test_what_only_v1_has_is_refused_in_v0() -> None:
    captured = recalled({**REFERENCE, "capturedFormatVersion": 1})
    assert fault("user/message", captured, 1) is None
    assert fault("user/message", captured, 0)
    assert fault("user/message", recalled({**REFERENCE, "capturedFormatVersion": 2}), 1)
    marked = {"sessionId": "s", "throughSeq": 8, "sessionFormatVersion": 1}
    assert fault(DELIVERY, marked, 1) is None
    assert fault(DELIVERY, marked, 0)


def test_a_delivery_of_another_generation_is_not_looked_into() -> None:
    other = {"sessionId": None, "throughSeq": "all"}
    assert fault(DELIVERY, other, 1) is None
    assert fault(DELIVERY, other, 0)
    assert fault(DELIVERY, {**other, "sessionFormatVersion": 1}, 1)


def test_a_descriptor_of_another_version_passes_in_v1_as_it_is() -> None:
    assert fault("subagent/descriptor", {"version": 2, "anything": 1}, 1) is None
    assert fault("subagent/descriptor", {"version": "2"}, 1)


class TestOldGoal:
    """A user message that carries a change of a goal, as one once did."""

    def message(self) -> EventDict:
        log = OldLog()
        log.goal()
        return copy.deepcopy(log.events[0]["data"])

    def test_it_is_taken(self) -> None:
        assert fault("user/message", self.message()) is None

    @pytest.mark.parametrize(
        ("member", "value"),
        [("round", 1), ("goalId", "h"), ("revision", 2), ("extra", 1), ("change", {})],
    )
    def test_its_source_must_be_that_of_its_change(self, member: str, value: Json) -> None:
        message = self.message()
        message["source"][member] = value
        assert fault("user/message", message)

    def test_its_text_must_be_that_of_its_change(self) -> None:
        message = self.message()
        message["content"][0]["text"] += " "
        assert fault("user/message", message)
        message["content"] *= 2
        assert fault("user/message", message)

    def test_a_goal_may_be_cleared(self) -> None:
        cleared = EXAMPLES["goal/change"][2]
        source = {"kind": "goal", "goalId": "g", "revision": 1, "round": 0, "change": cleared}
        state = '<goal_state>{"cleared":{"id":"g","revision":1},"clearedAt":0}</goal_state>'
        assert fault("user/message", said(source, content=[text(state)])) is None
