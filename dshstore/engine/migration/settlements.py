"""Whether what a model said agrees with the stream in which it came.

(Format notes v0-v4, section 4.4.) What a stream adds up to is `streams`' to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dshstore.engine.migration.shapes import Misfit
from dshstore.errors import StreamRefused
from dshstore.jsontext import same
from dshstore.model import Event
from dshstore.streams import assemble


def check_settlement(event: Event) -> None:
    """Raise `Misfit` unless the stream of a settlement (v2) adds up to the message beside it.

    An attempt has no message, and a message without deltas nothing to be held against.
    """
    kind, data = event["type"], event["data"]
    try:
        whole = assemble(data["stream"])
    except StreamRefused as refusal:
        raise Misfit(f"{kind}: its stream cannot be put together: {refusal}") from None
    if kind != "assistant/message" or not data["stream"]:
        return
    message: Mapping[str, Any] = data["message"]
    blocks = whole.interrupted_blocks if data.get("interrupted") is True else whole.blocks
    pairs = {
        "content": (message["content"], blocks),
        "usage": (data.get("usage"), whole.usage),
        "replayState": (message["source"].get("replayState"), whole.replay_state),
    }
    for member, (told, came) in pairs.items():
        if not same(told, came):
            raise Misfit(f"{kind}: its {member} is not what its stream adds up to")
