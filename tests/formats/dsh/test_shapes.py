"""Payloads in the shapes of a harness: their keys stand in the order of its own logs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dshstore.formats.dsh import shapes

PLACE = {"turn": 2, "step": 1}


def key_order(value: Any) -> Any:
    """The value with its leaves blanked: what is left is which keys stand where."""
    if isinstance(value, dict):
        return [(key, key_order(inner)) for key, inner in value.items()]
    return None


def test_a_user_message_is_the_message_itself() -> None:
    data = shapes.user_message("u1", shapes.blocks("hello"), {"kind": "user"})
    assert json.dumps(data) == (
        '{"content": [{"type": "text", "text": "hello"}], "source": {"kind": "user"}, '
        '"role": "user", "id": "u1"}'
    )


@pytest.mark.parametrize("version", [0, 1])
def test_before_v2_a_settlement_has_no_stream(version: int) -> None:
    data = shapes.assistant_message(
        version, PLACE, "a1", [], provider="p", model="m", usage={}, interrupted=True
    )
    assert list(data) == ["turn", "step", "message", "usage", "interrupted"]


@pytest.mark.parametrize("version", [2, 3, 4])
def test_an_interrupted_settlement_says_so_before_usage_and_stream(version: int) -> None:
    data = shapes.assistant_message(
        version, PLACE, "a1", [], provider="p", model="m", usage={}, interrupted=True
    )
    assert list(data) == ["turn", "step", "message", "interrupted", "usage", "stream"]


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_before_v4_a_result_is_wrapped(version: int) -> None:
    data = shapes.tool_result(version, PLACE, "r1", "c1", [{"type": "text", "text": "x"}])
    [block] = data["message"]["content"]
    assert data["message"]["role"] == "user"
    assert block["toolCallId"] == data["message"]["source"]["callId"] == "c1"
    again = shapes.rewritten_result(version, data, [])
    assert again["message"]["content"][0] == {**block, "content": []}


def test_from_v4_a_result_is_a_message_of_its_own() -> None:
    data = shapes.tool_result(4, PLACE, "r1", "c1", [], meta={"a": 1}, is_error=True)
    assert list(data) == ["turn", "step", "message", "meta"]
    assert data["message"]["role"] == "tool"
    again = shapes.rewritten_result(4, data, shapes.blocks("short"))
    assert {**again["message"], "content": []} == data["message"]


def test_the_source_of_a_system_prompt_and_of_a_checkpoint_depends_on_the_version() -> None:
    assert shapes.system_message(3, PLACE, "s", [])["message"]["source"]["kind"] == "plugin"
    assert shapes.system_message(4, PLACE, "s", [])["message"]["source"]["kind"] == "system-prompt"
    assert shapes.checkpoint_source(2, "z") == {
        "kind": "plugin",
        "plugin": "compact",
        "compactionId": "z",
    }
    assert shapes.checkpoint_source(4, "z") == {"kind": "compact-checkpoint", "compactionId": "z"}


# -- beside logs that the harness wrote --


def logged(folder: Path, type: str) -> Iterator[dict[str, Any]]:
    for log in folder.glob("*.jsonl"):
        if log.name != "expected.jsonl":
            for line in log.read_bytes().split(b"\n")[1:-1]:
                event = json.loads(line)
                if event["type"] == type:
                    yield event["data"]


BLOCK = {"type": "text", "text": "x"}
ROUTE = {"provider": "p", "model": "m"}
USAGE = {"inputTokens": 1, "outputTokens": 1}


def ours(version: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """A payload of each type, as `shapes` makes it."""
    yield "user/message", shapes.user_message("i", [BLOCK], {"kind": "user"})
    yield "tool/call", shapes.tool_call(PLACE, "c", "n", "{}")
    yield "tool/result", shapes.tool_result(version, PLACE, "i", "c", [BLOCK])
    yield "session/title", shapes.title("t", [1])
    yield "compaction/start", shapes.compaction_bracket("z", 1)
    made = shapes.assistant_message(
        version, PLACE, "i", [BLOCK], provider="p", model="m", usage=USAGE
    )
    yield "assistant/message", made
    system = "s" if version < 3 else None
    made = shapes.request_header(version, ROUTE, system=system, tools=[{}], reason="initial")
    yield "request/header", made


@pytest.mark.shared
@pytest.mark.parametrize(("folder", "version"), [("v0", 0), ("v2", 2), ("v4", 4)])
def test_keys_stand_as_the_harness_writes_them(shared: Path, folder: str, version: int) -> None:
    for type, data in ours(version):
        found = [key_order(other) for other in logged(shared / "corpus" / folder, type)]
        assert not found or key_order(data) in found, type


@pytest.mark.shared
def test_a_system_prompt_stands_as_the_harness_writes_it(shared: Path) -> None:
    data = shapes.system_message(4, PLACE, "i", [BLOCK])
    found = list(logged(shared / "corpus" / "live", "system/message"))
    assert found
    assert {str(key_order(other)) for other in found} == {str(key_order(data))}


@pytest.mark.parametrize("content", [b"bytes", None, 7, ["text"], [None]])
def test_content_that_is_no_text_and_no_blocks_is_refused(content: Any) -> None:
    with pytest.raises(TypeError, match="content is a str or a list"):
        shapes.blocks(content)
