"""Stream records -> the content blocks, usage and finish reason of the attempt's message.

Decides how chunks add up to blocks and which blocks a message keeps that was cut off by the token
limit or interrupted. Blocks are passed on, not copied.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from dshstore.errors import StreamRefused, shown
from dshstore.streams.records import chunk_index, joined_chunk, text_of

#: What JavaScript's trim() takes away; Python's strip() has other ideas (U+001C, U+0085, U+FEFF).
_SPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)

_has_surrogates = re.compile("[\ud800-\udfff]").search


class Assembled(msgspec.Struct, frozen=True):
    """What a stream adds up to; None where it does not say.

    `blocks` are the content blocks of a settled message, `interrupted_blocks` those that are left
    of an interrupted one. `finish` is the reason of the last finish chunk, `{"kind": "stop"}`
    without one; `replay_state` is what the model's adapter wants to see again.
    """

    blocks: list[dict[str, Any]]
    interrupted_blocks: list[dict[str, Any]]
    usage: Any
    finish: Any
    replay_state: Any


def assemble(records: Iterable[Any]) -> Assembled:
    """The message content that the records add up to.

    Blocks stand in the order in which their index first appears. Raises `StreamRefused` for a
    record that does not expand, a chunk of no known kind, and a block that never ended and is
    neither text nor reasoning nor a tool call.
    """
    partials: dict[int, _Partial] = {}
    usage = reason = replay = None
    for record in records:
        chunk = joined_chunk(record)
        match chunk.get("type"):
            case "usage":
                usage = chunk.get("usage")
            case "finish":
                reason, replay = chunk.get("reason"), chunk.get("replayState")
            case _:
                _add(partials, chunk)
    finish: Any = {"kind": "stop"} if reason is None else reason
    blocks = [partial.block(index) for index, partial in partials.items()]
    # a tool call that the token limit may have cut short cannot be run
    cut = isinstance(finish, dict) and finish.get("kind") == "max-tokens"
    kept = [not cut or block.get("type") != "tool-call" for block in blocks]
    return Assembled(
        blocks=_pick(blocks, kept),
        interrupted_blocks=[block for block in blocks if _is_visible(block)],
        usage=usage,
        finish=finish,
        replay_state=_replay_state(replay, kept),
    )


@dataclass(slots=True)
class _Partial:
    """A block in the making; `closed` is the whole block once its block-end came."""

    kind: Any
    texts: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    call_id: str | None = None
    name: str = ""
    closed: dict[str, Any] | None = None

    def block(self, index: int) -> dict[str, Any]:
        if self.closed is not None:
            return self.closed
        match self.kind:
            case "text" | "reasoning":
                return {"type": self.kind, "text": _joined(self.texts)}
            case "tool-call":
                return {
                    "type": self.kind,
                    "id": f"call-{index}" if self.call_id is None else self.call_id,
                    "name": self.name,
                    "arguments": _joined(self.arguments),
                }
            case _:
                raise StreamRefused(f"block {index} has no end and its kind is {shown(self.kind)}")


def _add(partials: dict[int, _Partial], chunk: dict[str, Any]) -> None:
    """Adds a block-start, a delta or a block-end to the block of its index.

    Whichever comes first decides the kind, the first end decides the block.
    """
    kind = chunk.get("type")
    match kind:
        case "block-start":
            partials.setdefault(chunk_index(chunk), _Partial(chunk.get("blockType")))
        case "text-delta" | "reasoning-delta":
            kind = kind.removesuffix("-delta")
            partial = partials.setdefault(chunk_index(chunk), _Partial(kind))
            partial.texts.append(text_of(chunk, "text"))
        case "tool-call-delta":
            partial = partials.setdefault(chunk_index(chunk), _Partial("tool-call"))
            partial.call_id = text_of(chunk, "id")
            if "name" in chunk:
                partial.name = text_of(chunk, "name") or partial.name
            partial.arguments.append(text_of(chunk, "argumentsDelta"))
        case "block-end":
            block = chunk.get("block")
            if not isinstance(block, dict):
                raise StreamRefused("the block of a block-end must be an object")
            partial = partials.setdefault(chunk_index(chunk), _Partial(block.get("type")))
            if partial.closed is None:
                partial.closed = block
        case _:
            raise StreamRefused(f"unknown type of chunk: {shown(kind)}")


def _is_visible(block: dict[str, Any]) -> bool:
    """Whether an interrupted message keeps the block: a call it must not keep, it never ran."""
    return block.get("type") in ("text", "reasoning") and bool(text_of(block, "text").strip(_SPACE))


def _replay_state(state: Any, kept: list[bool]) -> Any:
    """The replay state of a finish chunk, in step with the blocks that were kept."""
    if not isinstance(state, dict) or "blocks" not in state:
        return state
    entries = state["blocks"]
    if not isinstance(entries, list) or len(entries) != len(kept):
        return None
    if all(kept):
        return state
    response = {"response": state["response"]} if "response" in state else {}
    return response | {"blocks": _pick(entries, kept)}


def _pick(values: list[Any], kept: list[bool]) -> list[Any]:
    return [value for value, keep in zip(values, kept, strict=True) if keep]


def _joined(texts: list[str]) -> str:
    """The texts as one; a character that was cut in half between two of them is whole again."""
    text = "".join(texts)
    if _has_surrogates(text):
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text
