"""The short way to cut the stream out of a live settlement, whose values are at hand.

Decides which streams come out the same without reading their text: those take this way,
`cutting.cut_stream` takes all others. It exists for speed alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from dshstore.formats.dsh.cutting import pack
from dshstore.jsontext import MAX_DEPTH, count_openers
from dshstore.model import MAX_SAFE, StreamPart
from dshstore.streams.summary import Summary

#: Shorter streams stay where they are.
_SHORT = 64

#: What stands before the stream; no string holds it, for its first quote is not escaped.
_BEFORE = b',"stream":'

_INTEGERS = frozenset({int})

_encode = msgspec.json.Encoder().encode


def cut_plain(payload: Any, text: bytes) -> tuple[bytes, StreamPart | None] | None:
    """The text with null in place of its stream, and the stream, None when it stays; None: ask.

    `text` is `payload` as msgspec writes it, and holds no float.
    """
    if type(payload) is not dict or "stream" not in payload:
        return None
    records = payload["stream"]
    at = text.find(_BEFORE) + len(_BEFORE)
    stream = text[at:-1]
    if (
        type(records) is not list
        or next(reversed(payload)) != "stream"
        or len(payload) < 2
        or text.rfind(_BEFORE) + len(_BEFORE) != at
    ):
        return None
    if len(stream) < _SHORT:
        return text, None
    figures = summarize_values(records)
    if figures is None or (len(stream) > MAX_DEPTH and count_openers(stream) >= MAX_DEPTH):
        return None
    part = StreamPart(
        at,
        len(stream),
        pack(stream),
        figures.first_time,
        figures.last_time,
        figures.usage,
        figures.finish,
    )
    return text[:at] + b"null}", part


def summarize_values(records: Sequence[Any]) -> Summary | None:
    """What `streams.summary.summarize` tells of records, one at least; None: ask it.

    They hold no floats.
    """
    begun, ended = _first_time(records[0]), _last_time(records[-1])
    if begun is None or ended is None:
        return None
    said: dict[str, Any] = {}
    for record in reversed(records):
        if type(record) is not dict:
            return None
        chunk = record.get("chunk") if record.get("type") == "chunk" else None
        if type(chunk) is dict and (kind := chunk.get("type")) in ("usage", "finish"):
            said.setdefault(kind, chunk)
            if len(said) == 2:
                break
    usage = said["usage"].get("usage") if "usage" in said else None
    reason = said["finish"].get("reason") if "finish" in said else None
    finish = reason.get("kind") if isinstance(reason, dict) else None
    return Summary(
        begun,
        ended,
        _encode(usage).decode() if isinstance(usage, dict) else None,
        finish if isinstance(finish, str) else None,
    )


def _first_time(record: Any) -> int | None:
    """When a record begins (epoch ms); None for one that is not as writers make it."""
    if type(record) is not dict or type(kind := record.get("type")) is not str:
        return None
    own, other = ("time", "time0") if kind == "chunk" else ("time0", "time")
    time = record.get(own)
    return time if type(time) is int and abs(time) <= MAX_SAFE and other not in record else None


def _last_time(record: Any) -> int | None:
    """When a record ends; None as for `_first_time`."""
    time = _first_time(record)
    if time is None or ("dt" in record) is (record["type"] == "chunk"):
        return None
    steps = record.get("dt", [])
    if type(steps) is not list or not _INTEGERS.issuperset(map(type, steps)):
        return None
    time += sum(steps)
    return time if abs(time) <= MAX_SAFE else None
