"""The JSON text of a stream -> what SQL needs of it, without building its deltas.

Every settlement that is imported passes through here, so only the few records that matter are
decoded, and of those only what is wanted. Nothing is refused: what cannot be told is None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

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


class _Start(msgspec.Struct, gc=False):
    """Of a record: when it begins."""

    type: str
    time: int | float | None = None
    time0: int | float | None = None


class _Span(_Start, gc=False):
    """Of a record: when it begins and ends."""

    dt: list[int | float] = []


class _Chunk(msgspec.Struct, gc=False):
    """Of a raw chunk: what a usage or a finish chunk says."""

    type: str
    usage: Any = None
    reason: Any = None


class _Raw(msgspec.Struct, gc=False):
    """Of a record: the chunk, if it is a raw one."""

    type: str
    chunk: _Chunk | None = None


class _Record(_Start, gc=False):
    """All that is wanted of a record, its `dt` still unread."""

    dt: msgspec.Raw = msgspec.Raw(b"[]")
    chunk: _Chunk | None = None


T = TypeVar("T")

_UNREADABLE = (msgspec.MsgspecError, UnicodeError, RecursionError)
_encode = msgspec.json.Encoder().encode
_records = msgspec.json.Decoder(list[_Record]).decode
_times = msgspec.json.Decoder(list[int | float]).decode
_split = msgspec.json.Decoder(list[msgspec.Raw]).decode
_start = msgspec.json.Decoder(_Start).decode
_span = msgspec.json.Decoder(_Span).decode
_raw = msgspec.json.Decoder(_Raw).decode


def summarize(text: bytes) -> Summary:
    """What the JSON text of a `stream` array says of its attempt; never raises.

    The stream is not checked: for one that does not expand, some figures may still be told.
    """
    return summarize_plain(text) or _summarize_odd(text)


def summarize_plain(text: bytes) -> Summary | None:
    """`summarize`, where one look will do; None where not, and for what is no JSON array."""
    if _has_half(text):
        return None
    try:
        records = _records(text)
    except _UNREADABLE:
        return None
    if not records:
        return Summary()
    first, last = records[0], records[-1]
    try:
        times = _times(last.dt)
    except msgspec.MsgspecError:
        return None
    usage, finish = _last_chunks(reversed(records))
    return Summary(_first_time(first), _last_time(last, times), usage, finish)


def _summarize_odd(text: bytes) -> Summary:
    """`summarize`, record by record."""
    records = None if _has_half(text) else _read(_split, text)
    if records is None:
        try:
            records = _read(_split, readable(text) or text)
        except JsonError:
            return Summary()
    if not records:
        return Summary()
    first, last = _read(_start, records[0]), _read(_span, records[-1])
    usage, finish = _last_chunks(filter(None, (_read(_raw, item) for item in reversed(records))))
    return Summary(
        None if first is None else _first_time(first),
        None if last is None else _last_time(last, last.dt),
        usage,
        finish,
    )


def _read(
    decode: Callable[[msgspec.Raw | bytes | str], T], text: msgspec.Raw | bytes | str
) -> T | None:
    try:
        return decode(text)
    except _UNREADABLE:
        return None


def _has_half(text: bytes) -> bool:
    """Whether half a surrogate pair may be in it: msgspec does not always see where it ends."""
    # the first is found the fastest
    return b"\\" in text and b"\\u" in text and (b"\\ud" in text or b"\\uD" in text)


def _first_time(record: _Start) -> int | None:
    return safe_integer(record.time if record.type == "chunk" else record.time0)


def _last_time(record: _Start, times: list[int | float]) -> int | None:
    if record.type == "chunk":
        return safe_integer(record.time)
    return None if record.time0 is None else safe_integer(record.time0 + sum(times))


def _last_chunks(records: Iterable[_Raw | _Record]) -> tuple[str | None, str | None]:
    """The usage text of the last usage chunk and the finish kind of the last finish chunk.

    The last record comes first.
    """
    last: dict[str, _Chunk] = {}
    for record in records:
        chunk = record.chunk if record.type == "chunk" else None
        if chunk is not None and chunk.type in ("usage", "finish"):
            last.setdefault(chunk.type, chunk)
            if len(last) == 2:
                break
    usage = last["usage"].usage if "usage" in last else None
    reason = last["finish"].reason if "finish" in last else None
    finish = reason.get("kind") if isinstance(reason, dict) else None
    return (
        _encode(usage).decode() if isinstance(usage, dict) else None,
        finish if isinstance(finish, str) else None,
    )
