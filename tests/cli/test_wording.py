"""How events and messages read."""

from __future__ import annotations

from typing import Any

import pytest

from dshstore.cli.wording import block_pieces, event_line, message_pieces


@pytest.mark.parametrize(
    ("block", "lines"),
    [
        ({"type": "text", "text": "a\nb"}, ["a\nb"]),
        ({"type": "reasoning", "text": "so"}, ["(reasoning) so"]),
        (
            {"type": "tool-call", "id": "1", "name": "water", "arguments": '{"minutes":\n12}'},
            ['(call) water {"minutes":\\n12}'],
        ),
        (
            {"type": "tool-result", "toolCallId": "1", "content": [{"type": "text", "text": "ok"}]},
            ["ok"],
        ),
        (
            {"type": "image", "attachment": {"attachmentId": "sha256:0", "mediaType": "image/png"}},
            ["(image) image/png sha256:0"],
        ),
        (
            {"type": "image", "attachment": {"mediaType": "image/png", "name": "bed.png"}},
            ["(image) image/png bed.png"],
        ),
        ({"type": "file", "x": 1}, ['(file) {"type":"file","x":1}']),
        ({"type": "text", "text": 5}, ['(text) {"type":"text","text":5}']),
        (7, ["7"]),
        (None, ["null"]),
    ],
)
def test_a_block_reads_as_text_or_as_one_line(block: Any, lines: list[str]) -> None:
    assert [text for text, _ in block_pieces(block)] == lines


@pytest.mark.parametrize(
    ("message", "lines"),
    [
        ({"role": "user", "content": [{"type": "text", "text": "hi"}]}, ["[3] user", "hi"]),
        ({"role": "user", "content": "hi"}, ["[3] user", "hi"]),
        ({"role": "user", "content": []}, ["[3] user"]),
        ({"role": 5}, ["[3] 5", '{"role":5}']),
        ([1], ["[3] None", "[1]"]),
    ],
)
def test_a_message_is_its_role_and_its_blocks(message: Any, lines: list[str]) -> None:
    assert [text for text, _ in message_pieces(3, message)] == lines


def test_an_event_is_one_line_however_large_it_is() -> None:
    op = {"op": "replace", "startSeq": 3, "endSeq": 5}
    event = {"seq": 7, "time": 0, "type": "user/message", "data": "x\n" * 1000, "surfaceOp": op}
    line = event_line(event)
    assert line.startswith(f"{7:>6}  1970-01-01 00:00:00Z  user/message")
    assert '{"op":"replace","startSeq":3,"endSeq":5}' in line
    assert "\n" not in line
    assert line.endswith("…")
