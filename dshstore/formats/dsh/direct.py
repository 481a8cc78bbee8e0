"""The short way from a live event to its columns, for the great majority that have no oddities.

Decides which events come out the same without being made into a line and read back: those take
this way, `rows.store` takes all others. It exists for speed alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from dshstore.formats.dsh.cutting import SETTLEMENTS, cut_stream
from dshstore.jsontext import READABLE_DEPTH, JsonError, count_openers
from dshstore.model import MAX_SAFE, StoredEvent

#: A number of 16 digits may be spelled in two ways; with each digit as a zero it is found quickly.
_AS_ZEROS, _LONG_NUMBER = bytes.maketrans(b"123456789", b"000000000"), b"0" * 16


def store_plain(event: Mapping[str, Any], text: bytes, version: int) -> StoredEvent | None:
    """What `rows.store` makes of the event, whose payload is written as `text`; None: ask it.

    `text` has no spaces, no floats and no key twice, and no escape that it could do without.
    """
    kind, time, op = event["type"], event["time"], event.get("surfaceOp")
    sources = event.get("sourceEventSeqs")
    if (
        type(kind) is not str
        or (op is not None and op != "append")
        or "ignorable" in event
        or type(time) is not int
        or not -MAX_SAFE <= time <= MAX_SAFE
        or (b"\\" in text and b"\\u0000" in text)
        or not _is_plain_type(kind)
        or (sources is not None and not all(type(source) is int for source in sources))
        or (kind == "tool/result" and _LONG_NUMBER in text.translate(_AS_ZEROS))
    ):
        return None
    part = None
    if version >= 2 and kind in SETTLEMENTS:
        try:
            cut = cut_stream(text)
        except JsonError:
            return None
        text, part = cut or (text, None)
    if len(text) > 2 * READABLE_DEPTH and count_openers(text) > READABLE_DEPTH:
        return None
    return StoredEvent(
        event["seq"],
        1,
        kind,
        time,
        text.decode(),
        None if sources is None else f"[{','.join(map(str, sources))}]",
        None if op is None else '"append"',
        stream=part,
    )


@lru_cache(maxsize=256)
def _is_plain_type(kind: str) -> bool:
    return re.fullmatch(r"[a-z0-9/_.:-]+", kind) is not None
