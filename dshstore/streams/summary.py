"""The JSON text of a stream -> what SQL needs of it, without building its deltas.

Every settlement that is imported passes through here, so only the few records that matter are
decoded, and of those only what is wanted. Nothing is refused: what cannot be told is None.
"""

from __future__ import annotations

from typing import Any

import msgspec

from dshstore.jsontext import JsonError, readable
from dshstore.streams.records import safe_integer


class Summary(msgspec.Struct, frozen=True):
    """The figures of one attempt, None where its stream does not tell.

    Times are epoch ms of the first and the last chunk, `usage` is the JSON text of the last usage
    chunk's value as every SQLite reads it, `finish` the kind of the last finish chunk's reason.
    """

    first_time: int | None = None
    last_time: int | None = None
    usage: str | None = None
    finish: str | None = None


class _Start(msgspec.Struct):
    """Of a record: when it begins."""

    type: str
    time: int | float | None = None
    time0: int | float | None = None


class _Span(_Start):
    """Of a record: when it begins and ends."""

    dt: list[int | float] = []


class _Chunk(msgspec.Struct):
    """Of a raw chunk: what a usage or a finish chunk says."""

    type: str
    usage: Any = None
    reason: Any = None


class _Raw(msgspec.Struct):
    """Of a record: the chunk, if it is a raw one."""

    type: str
    chunk: _Chunk | None = None


_UNREADABLE = (msgspec.MsgspecError, UnicodeError, RecursionError)
_encode = msgspec.json.Encoder().encode
_split = msgspec.json.Decoder(list[msgspec.Raw]).decode
_start = msgspec.json.Decoder(_Start).decode
_span = msgspec.json.Decoder(_Span).decode
_raw = msgspec.json.Decoder(_Raw).decode


def summarize(text: bytes) -> Summary:
    """What the JSON text of a `stream` array says of its attempt; never raises.

    The stream is not checked: for one that does not expand, some figures may still be told.
    """
    records = split(text)
    if records is None:
        try:
            clean = readable(text)
            records = _split(text if clean is None else clean)
        except (JsonError, *_UNREADABLE):
            return Summary()
    return summarize_records(records)


def summarize_records(records: list[msgspec.Raw]) -> Summary:
    """`summarize` for a text whose records are split already."""
    if not records:
        return Summary()
    usage, finish = _last_chunks(records)
    return Summary(_first_time(records[0]), _last_time(records[-1]), usage, finish)


def split(text: bytes) -> list[msgspec.Raw] | None:
    """The items of the text of a JSON array; None for another, or one with half a surrogate pair.

    msgspec does not always see where a string with half a pair ends.
    """
    if b"\\u" in text and (b"\\ud" in text or b"\\uD" in text):
        return None
    try:
        return _split(text)
    except _UNREADABLE:
        return None


def _first_time(record: msgspec.Raw) -> int | None:
    try:
        start = _start(record)
    except msgspec.MsgspecError:
        return None
    return safe_integer(start.time if start.type == "chunk" else start.time0)


def _last_time(record: msgspec.Raw) -> int | None:
    try:
        span = _span(record)
    except msgspec.MsgspecError:
        return None
    if span.type == "chunk":
        return safe_integer(span.time)
    return None if span.time0 is None else safe_integer(span.time0 + sum(span.dt))


def _last_chunks(records: list[msgspec.Raw]) -> tuple[str | None, str | None]:
    """The usage text of the last usage chunk and the finish kind of the last finish chunk."""
    last: dict[str, _Chunk] = {}
    for record in reversed(records):
        try:
            raw = _raw(record)
        except msgspec.MsgspecError:
            continue
        if raw.type == "chunk" and raw.chunk is not None and raw.chunk.type in ("usage", "finish"):
            last.setdefault(raw.chunk.type, raw.chunk)
            if len(last) == 2:
                break
    usage = last["usage"].usage if "usage" in last else None
    reason = last["finish"].reason if "finish" in last else None
    finish = reason.get("kind") if isinstance(reason, dict) else None
    return (
        _encode(usage).decode() if isinstance(usage, dict) else None,
        finish if isinstance(finish, str) else None,
    )
