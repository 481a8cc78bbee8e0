"""Whether a settlement says what its stream adds up to."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from dshstore.engine.migration.settlements import check_settlement
from dshstore.engine.migration.shapes import Misfit
from tests.engine.migration.old_logs import OldLog, migrated
from tests.logs import EventDict, text


def settled(**members: object) -> EventDict:
    log = OldLog()
    log.begin()
    call = {"type": "tool-call", "id": "c", "name": "shell", "arguments": "{}"}
    log.settle([(text("beans"), ["be", "ans"]), (call, ["{", "}"])], **members)
    event: EventDict = json.loads(json.dumps(migrated(log)[4]))
    assert event["type"] == "assistant/message"
    return event


def test_a_message_that_says_what_came_is_taken() -> None:
    check_settlement(settled())


def test_a_message_without_deltas_has_nothing_to_be_held_against() -> None:
    event = settled()
    event["data"]["stream"] = []
    event["data"]["message"]["content"] = [text("anything")]
    check_settlement(event)


def test_an_interrupted_message_keeps_only_what_can_be_seen() -> None:
    event = settled(interrupted=True)
    with pytest.raises(Misfit, match="content"):
        check_settlement(event)
    del event["data"]["message"]["content"][1]
    check_settlement(event)


@pytest.mark.parametrize(
    ("change", "member"),
    [
        (lambda data: data["message"]["content"].pop(), "content"),
        (lambda data: data["message"]["content"][0].update(text="bean"), "content"),
        (lambda data: data["usage"].update(outputTokens=0), "usage"),
        (lambda data: data.pop("usage"), "usage"),
        (lambda data: data["message"]["source"].update(replayState={}), "replayState"),
        (lambda data: data["stream"][-1]["chunk"].update(replayState={"a": 1}), "replayState"),
        (lambda data: data["stream"].append({"type": "smell"}), "stream"),
        (lambda data: data["stream"][0].update(dt=[]), "stream"),
    ],
)
def test_a_message_that_says_something_else_is_refused(
    change: Callable[[EventDict], object], member: str
) -> None:
    event = settled()
    change(event["data"])
    with pytest.raises(Misfit, match=f"assistant/message: its {member}"):
        check_settlement(event)


def test_the_stream_of_an_attempt_must_add_up_too() -> None:
    start = {"type": "block-start", "index": 0, "blockType": "image"}
    stream = [{"type": "chunk", "time": 0, "chunk": start}]
    event = {"type": "assistant/attempt", "data": {"turn": 1, "step": 1, "stream": stream}}
    with pytest.raises(Misfit, match="assistant/attempt: its stream"):
        check_settlement(event)
    stream[0]["chunk"] = {**start, "blockType": "text"}
    check_settlement(event)
