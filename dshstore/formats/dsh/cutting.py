"""The `stream` member of a settlement: cut out of the payload, and put back; and its packing.

A stream is most of a settlement's bytes and of no use to SQL, so it is stored compressed beside
the event, with the figures that SQL wants (format v2 and later). A cut is made only where it is
sure that it can be undone.
"""

from __future__ import annotations

from functools import lru_cache
from threading import get_ident

import msgspec
import zstandard
from msgspec import UNSET, Raw, UnsetType, structs

from dshstore.errors import CorruptStore
from dshstore.formats.dsh.envelope import UNREADABLE, member_spans
from dshstore.jsontext import MAX_DEPTH, count_openers, parse
from dshstore.model import StreamPart
from dshstore.streams.summary import Summary, summarize, summarize_plain

#: The types of the events that settle an attempt and hold its stream.
SETTLEMENTS = frozenset({"assistant/message", "assistant/attempt"})

#: Shorter streams stay where they are: a row of their own would take more.
SHORT = 64

_KEY = b'"stream":'

#: A payload that ends with this, an array and a brace ends with its member `stream`: no string
#: holds a comma before a quote that is not escaped but at its end, and the brace is the payload's.
_LAST = b',"stream":['
_NULL = b"null"


class _Settlement(msgspec.Struct, gc=False):
    stream: Raw | UnsetType = UNSET


_decode = msgspec.json.Decoder(_Settlement).decode


def cut_stream(payload: bytes) -> tuple[bytes, StreamPart] | None:
    """The payload with null in place of its stream, and the stream; None when nothing is cut.

    Raises `JsonError` for a stream that is nested too deep.
    """
    at = payload.rfind(_LAST) + len(_LAST) - 1
    stream = payload[at:-1]
    last = at >= len(_LAST) and payload.endswith(b"]}")
    figures = summarize_plain(stream) if last else None
    if figures is None:  # it does not stand last, where writers put it, or is not easily read
        span = _find_stream(payload)
        if span is None or payload[span[0]] != ord("["):
            return None
        at, end = span
        stream = payload[at:end]
    if len(stream) < SHORT:
        return None
    if len(stream) > MAX_DEPTH and count_openers(stream) >= MAX_DEPTH:
        parse(payload)  # whether it is too deep
    figures = figures or summarize(stream)
    return _without(payload, at, at + len(stream)), make_part(at, stream, figures)


def make_part(at: int, stream: bytes, figures: Summary) -> StreamPart:
    """The part of an event out of whose payload `stream` was cut at `at`."""
    return StreamPart(
        at,
        len(stream),
        pack(stream),
        figures.first_time,
        figures.last_time,
        figures.usage,
        figures.finish,
    )


def move_part(part: StreamPart, data: str) -> StreamPart | None:
    """The part with its place in other `data`; None if that has no place for it."""
    span = member_spans(data.encode()).get("stream")
    return None if span is None else structs.replace(part, at=span[0])


def put_back(data: bytes, part: StreamPart) -> bytes:
    """The payload of which `cut_stream` made `data` and `part`."""
    at = part.at or 0
    return b"".join((data[:at], unpack(part), data[at + len(_NULL) :]))


def pack(text: bytes) -> bytes:
    """The text as one zstd frame, with its size and a checksum."""
    return _compressor(get_ident()).compress(text)


def unpack(part: StreamPart) -> bytes:
    """The text of a packed part. Raises `CorruptStore` when it is damaged."""
    try:
        if zstandard.frame_content_size(part.body) == part.size:
            return _decompressor(get_ident()).decompress(part.body)
    except zstandard.ZstdError as error:
        raise CorruptStore(f"a stream cannot be decompressed: {error}") from None
    raise CorruptStore(f"a stream is not of the size {part.size} that its row names")


def _find_stream(payload: bytes) -> tuple[int, int] | None:
    """Where in the payload the value of its member `stream` stands."""
    try:
        stream = _decode(payload).stream
        if stream is UNSET:
            return None
        text = bytes(stream)
        # where writers put it; but a member of a member may have the same name
        at = payload.rfind(_KEY) + len(_KEY)
        end = at + len(text)
        if payload.startswith(text, at) and _is_null(_decode(_without(payload, at, end)).stream):
            return at, end
    except UNREADABLE:
        pass
    return member_spans(payload).get("stream")


def _is_null(value: Raw | UnsetType) -> bool:
    return value is not UNSET and bytes(value) == _NULL


def _without(payload: bytes, at: int, end: int) -> bytes:
    return b"".join((payload[:at], _NULL, payload[end:]))


# A zstd context serves one thread at a time and is dear to make.


@lru_cache(maxsize=32)
def _compressor(thread: int) -> zstandard.ZstdCompressor:
    return zstandard.ZstdCompressor(level=1, write_checksum=True)


@lru_cache(maxsize=32)
def _decompressor(thread: int) -> zstandard.ZstdDecompressor:
    return zstandard.ZstdDecompressor()
