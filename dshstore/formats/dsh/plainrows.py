"""The short way from the line of an event to its columns, for the great majority without oddities.

Decides which lines come out the same when they are decoded once and written again: those take
this way, `rows` takes all others, runs of token deltas among them. It exists for speed alone.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from dshstore.formats.dsh.cutting import SHORT, make_part
from dshstore.formats.dsh.envelope import (
    UNREADABLE,
    Count,
    Place,
    RowRefused,
    Safe,
    after_payload,
)
from dshstore.formats.dsh.references import read_sources, read_surface_op, write_sources
from dshstore.jsontext import MAX_DEPTH, READABLE_DEPTH, count_openers
from dshstore.model import StoredEvent, StreamPart
from dshstore.streams.summary import summarize_plain

#: Makes a letter of every byte that is not ASCII. It spares the decoding of UTF-8: equal keys
#: stay equal, and outside of a string there is no more place for a letter than for the byte.
_AS_ASCII: Final = bytes(range(128)) + b"x" * 128

#: How the rows begin that may hold token deltas (v0 and v1), and those that may hold a stream.
_DELTAS = tuple(
    b'{"type":"%b"' % kind
    for kind in (b"assistant/chunk", b"text-chunks", b"reasoning-chunks", b"tool-call-chunks")
)
_SETTLEMENTS = (b'{"type":"assistant/message"', b'{"type":"assistant/attempt"')

#: What stands before a payload, and before a stream in it; no string holds either, for in one
#: the quotes are escaped. How a line ends of which the stream is the last in its payload.
_DATA = b',"data":'
_STREAM = b',"stream":['
_STREAM_ENDS = (b"]}}", b']},"surfaceOp":"append"}')
_NULL = b"null"

_APPENDED = b',"surfaceOp":"append"}'

#: From here on a number has 16 digits, and may not be the one that JavaScript makes of it.
_LONG = 10**15


class _PlainRow(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The row of an event, its members in the order in which writers put them."""

    type: str
    seq: Count
    time: Safe
    data: Any
    ignorable: bool | UnsetType = UNSET
    sourceEventSeqs: Any = UNSET
    surfaceOp: Any = UNSET


_decode = msgspec.json.Decoder(_PlainRow).decode
_encode = msgspec.json.Encoder().encode


def read_plain(line: bytes, seq: int, version: int, place: Place) -> StoredEvent | None:
    """What `rows` makes of the line, if it is of event `seq`; None: ask it."""
    if version < 2 and line.startswith(_DELTAS):
        return None
    settles = version >= 2 and line.startswith(_SETTLEMENTS)
    span = _find_stream(line) if settles else None
    short = line if span is None else line[: span[0]] + _NULL + line[span[1] :]
    row = _read(short)
    if row is None or row.seq != seq or (rest := _read_rest(row, version)) is None:
        return None
    sources, op, after = rest
    begin, end = short.find(_DATA) + len(_DATA), len(short) - len(after)
    payload = short[begin:end]
    if (
        not short.endswith(after)
        or not short[:begin].isascii()
        or (row.type == "tool/result" and _has_odd_number(row.data))
    ):
        return None
    part = None
    if span is not None:
        part = _read_stream(line[slice(*span)], span[0] - begin)
        if part is None or span[0] + len(_NULL) + 1 != end:
            return None
    elif settles and type(row.data) is dict and type(row.data.get("stream")) is list:
        return None
    try:
        data = payload.decode()
    except UnicodeDecodeError:
        return None
    ignorable = None if row.ignorable is UNSET else 1
    return StoredEvent(seq, 1, row.type, row.time, data, sources, op, ignorable, None, part, *place)


def _read(line: bytes) -> _PlainRow | None:
    """The row of a line that every reader takes in one sense; its letters may be others."""
    text = line if line.isascii() else line.translate(_AS_ASCII)
    if (len(text) > 2 * READABLE_DEPTH and count_openers(text) > READABLE_DEPTH) or (
        b"\\" in text and b"\\u0000" in text
    ):
        return None
    try:
        row = _decode(text)
        # so written, no key stands twice, is spelled in another way or holds half a pair
        plain = _encode(row) == text
    except UNREADABLE:
        return None
    return row if plain and row.ignorable is not False else None


def _read_rest(row: _PlainRow, version: int) -> tuple[str | None, str | None, bytes] | None:
    """The columns of the members after the payload, and their text; None for odd text."""
    if row.sourceEventSeqs is UNSET and row.ignorable is UNSET:
        if row.surfaceOp is UNSET:
            return None, None, b"}"
        if row.surfaceOp == "append":
            return None, '"append"', _APPENDED
    sources, op, written = None, None, None
    if row.sourceEventSeqs is not UNSET:
        text = _encode(row.sourceEventSeqs)
        try:
            sources = read_sources(text, row.seq, version)
        except RowRefused:
            return None
        written = write_sources(sources, version)
        if written != text.decode():
            return None
    if row.surfaceOp is not UNSET:
        text = _encode(row.surfaceOp)
        op = read_surface_op(text, version)
        if op != text.decode():
            return None
    return sources, op, after_payload(row.ignorable is not UNSET, written, op)


def _find_stream(line: bytes) -> tuple[int, int] | None:
    """Where in the line of a settlement a stream stands that is worth to be cut out."""
    at = line.rfind(_STREAM) + len(_STREAM) - 1
    for ending in _STREAM_ENDS:
        if line.endswith(ending):
            end = len(line) - len(ending) + 1
            return (at, end) if at >= len(_STREAM) and end - at >= SHORT else None
    return None


def _read_stream(stream: bytes, at: int) -> StreamPart | None:
    """The part that the text of a stream makes; None for one that has to be looked at."""
    if len(stream) > MAX_DEPTH and count_openers(stream) >= MAX_DEPTH:
        return None
    figures = summarize_plain(stream)
    return None if figures is None else make_part(at, stream, figures)


def _has_odd_number(value: Any) -> bool:
    """Whether a number in it can be spelled in two ways."""
    values = [value]
    for value in values:  # which grows meanwhile
        kind = type(value)
        if kind is dict:
            values.extend(value.values())
        elif kind is list:
            values.extend(value)
        elif kind is float or (kind is int and not -_LONG < value < _LONG):
            return True
    return False
