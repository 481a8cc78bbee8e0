"""How events and messages read to people: text as it is, everything else in a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dshstore import dump_json
from dshstore.cli.output import shorten, time_text

#: Characters that are shown of what is only hinted at: arguments, payloads, unknown blocks.
_HINT = 100

#: A piece of text, and the `rich` style that it has on a terminal.
Styled = tuple[str, str]


def event_line(event: Mapping[str, Any]) -> str:
    """An event in one line: seq, time, type, what it does to the surface, how its data begin."""
    op = event.get("surfaceOp")
    done = op if isinstance(op, str) else dump_json(op) if op is not None else ""
    data = shorten(dump_json(event["data"]), _HINT)
    words = [f"{event['seq']:>6}", time_text(event["time"]), f"{shorten(event['type'], 40):<22}"]
    return "  ".join([*words, *([done] if done else []), data])


def message_pieces(position: int, message: Any) -> Iterator[Styled]:
    """A derived message: a line with its place and role, then its blocks."""
    members = message if isinstance(message, dict) else {}
    yield f"[{position}] {shorten(str(members.get('role')), _HINT)}", "bold"
    content = members.get("content")
    if isinstance(content, str):
        yield content, ""
    elif isinstance(content, list):
        for block in content:
            yield from block_pieces(block)
    else:
        yield shorten(dump_json(message), _HINT), "dim"


def block_pieces(block: Any) -> Iterator[Styled]:
    """One block of a message's content."""
    match block:
        case {"type": "text", "text": str(text)}:
            yield text, ""
        case {"type": "reasoning", "text": str(text)}:
            yield f"(reasoning) {text}", "dim"
        case {"type": "tool-call", "name": str(name), "arguments": str(arguments)}:
            yield f"(call) {shorten(name, _HINT)} {shorten(arguments, _HINT)}", "cyan"
        case {"type": "tool-result", "content": list(blocks)}:
            for inner in blocks:
                yield from block_pieces(inner)
        case {"type": "image", "attachment": {"mediaType": str(media), **attachment}}:
            shown = attachment.get("name") or attachment.get("attachmentId") or ""
            yield f"(image) {shorten(f'{media} {shown}', _HINT)}", "magenta"
        case {"type": str(kind)}:
            yield f"({shorten(kind, _HINT)}) {shorten(dump_json(block), _HINT)}", "dim"
        case _:
            yield shorten(dump_json(block), _HINT), "dim"
