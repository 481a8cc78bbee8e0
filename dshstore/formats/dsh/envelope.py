"""One line of a log <-> the members of its row; the payload stays text.

This module decides which keys a row may have and of what type they are (format notes v0-v4,
sections 1 and 3), and in which order writers put them. msgspec does the work; what it does not
take, or takes in another sense than JavaScript (`1.0`, `-0`, half a surrogate pair, deep
nesting), goes a slower way to the same row. Only that way looks into the payload: whoever takes
the payload out of a row must see to it that it can be read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, Final

import msgspec
from msgspec import UNSET, Raw, UnsetType

from dshstore.jsontext import JsonError, dump, dump_bytes, parse
from dshstore.model import MAX_SAFE
from dshstore.streams.records import safe_integer

Count = Annotated[int, msgspec.Meta(ge=0, le=MAX_SAFE)]
Safe = Annotated[int, msgspec.Meta(ge=-MAX_SAFE, le=MAX_SAFE)]

#: What msgspec raises for a text that it does not take.
UNREADABLE: Final = (msgspec.MsgspecError, UnicodeError, RecursionError)

#: The type of a token delta, and the types of rows that hold several (v0 and v1).
CHUNK = "assistant/chunk"
PACKED = frozenset({"text-chunks", "reasoning-chunks", "tool-call-chunks"})

_EVENT_KEYS = ("type", "seq", "time", "data")
_OPTIONAL_KEYS = ("ignorable", "sourceEventSeqs", "surfaceOp")
_PACKED_KEYS = ("type", "seq0", "time0", "data")


#: Where in a log a line stands: the line, the offset and the frame of its `StoredEvent`.
Place = tuple[int, int, int | None]


class RowRefused(ValueError):
    """A line, or an event, that is no row of its format; the text is the reason."""


class Row(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The row of one event."""

    type: str
    seq: Count
    time: Safe
    data: Raw
    ignorable: bool | UnsetType = UNSET
    sourceEventSeqs: Raw | UnsetType = UNSET
    surfaceOp: Raw | UnsetType = UNSET


class PackedRow(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The row of several token deltas (v0 and v1)."""

    type: str
    seq0: Count
    time0: Safe
    data: Raw


_decode_row = msgspec.json.Decoder(Row).decode
_decode_packed = msgspec.json.Decoder(PackedRow).decode


def read_row(line: bytes, version: int) -> Row | PackedRow:
    """The row of a line (no LF). Raises `RowRefused`."""
    try:
        row = _decode_row(line)
    except UNREADABLE:
        packed = _read_packed(line) if version < 2 else None
        return packed or _read_carefully(line, version)
    exact = (row.seq and row.time) or b"-0" not in line  # msgspec takes -0 for 0
    if not exact or row.ignorable is False or (version < 2 and row.type in PACKED):
        return _read_carefully(line, version)
    return row


def check_event(event: Mapping[str, Any]) -> tuple[int, int]:
    """The seq and the time of a logical event. Raises `RowRefused` for a wrong envelope."""
    return _check(event, _EVENT_KEYS, _OPTIONAL_KEYS)


def write_line(type: str, seq: int, time: int, payload: bytes, after: bytes = b"}") -> bytes:
    """The line (no LF) that a writer makes of an event. (Section 3.1.)"""
    return b'{"type":%b,"seq":%d,"time":%d,"data":%b%b' % (_quoted(type), seq, time, payload, after)


def after_payload(ignorable: bool, sources: str | None, surface_op: str | None) -> bytes:
    """What a writer puts after the payload, given the JSON texts of the keys that are there."""
    after = ',"ignorable":true' if ignorable else ""
    if sources is not None:
        after += f',"sourceEventSeqs":{sources}'
    if surface_op is not None:
        after += f',"surfaceOp":{surface_op}'
    return after.encode() + b"}"


def refusal_of(line: bytes, error: JsonError) -> RowRefused:
    """The refusal of a line in which something is not JSON that can be read."""
    try:
        parse(line)
    except JsonError as exact:
        error = exact
    return RowRefused(f"cannot be read as JSON: {error.reason} (column {error.position + 1})")


_tokens = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[][{}:,]|[^][{}:,"\s]++', re.DOTALL).finditer


def member_spans(text: bytes) -> dict[str, tuple[int, int]]:
    """Where in the text of a JSON object the values of its members stand: start and end.

    Of members with the same name the last counts. Other values have none; what comes out for a
    text that is not JSON means nothing. Raises `JsonError` for a name that is no JSON string.
    """
    spans: dict[str, tuple[int, int]] = {}
    if not text.lstrip().startswith(b"{"):
        return spans
    name: str | None = None  # None: the next string is one
    depth = start = end = 0
    for token in _tokens(text):
        char = chr(text[token.start()])
        if char in "]}":
            depth -= 1
        if name is None:
            if depth == 1 and char == '"':
                name, start = parse(token[0]), 0
        elif (depth == 1 and char == ",") or (depth == 0 and char == "}"):
            spans[name] = start, end
            name = None
        elif not start and char != ":":
            start = token.start()
        if char in "[{":
            depth += 1
        end = token.end()
    return spans


def _read_packed(line: bytes) -> PackedRow | None:
    try:
        row = _decode_packed(line)
    except UNREADABLE:
        return None
    exact = (row.seq0 and row.time0) or b"-0" not in line
    return row if exact and row.type in PACKED else None


def _read_carefully(line: bytes, version: int) -> Row | PackedRow:
    if not line.strip():
        raise RowRefused("a blank line")
    try:
        spans = member_spans(line)
        at, end = spans.get("data", (0, 0))
        # the payload is read on its own, for it may be as deep as a text can be
        envelope = parse(line[:at] + b"null" + line[end:] if end else line)
        if end:
            parse(line[at:end])
    except JsonError as error:
        raise refusal_of(line, error) from None
    if not isinstance(envelope, dict):
        raise RowRefused("JSON, but not an object")
    kind: Any = envelope.get("type")
    packed = version < 2 and isinstance(kind, str) and kind in PACKED
    seq, time = _check(envelope, _PACKED_KEYS, ()) if packed else check_event(envelope)
    data = Raw(line[at:end])
    if packed:
        return PackedRow(kind, seq, time, data)
    texts = {key: Raw(line[slice(*spans[key])]) for key in _OPTIONAL_KEYS[1:] if key in envelope}
    return Row(kind, seq, time, data, envelope.get("ignorable", UNSET), **texts)


def _check(
    envelope: Mapping[str, Any], required: tuple[str, ...], optional: tuple[str, ...]
) -> tuple[int, int]:
    """The seq and the time of an envelope in which everything is as it must be."""
    for key in required:
        if key not in envelope:
            raise RowRefused(f"the key {dump(key)} is missing")
    for key in envelope:
        if key not in required and key not in optional:
            raise RowRefused(f"the key {dump(key)} has no place in a row")
    seq, time = safe_integer(envelope[required[1]]), safe_integer(envelope[required[2]])
    if not isinstance(envelope["type"], str):
        raise RowRefused('"type" must be a string')
    if seq is None or seq < 0:
        raise RowRefused(f'"{required[1]}" must be an integer from 0 to 2^53-1')
    if time is None:
        raise RowRefused(f'"{required[2]}" must be an integer, at most 2^53-1 from 0')
    if envelope.get("ignorable", True) is not True:
        raise RowRefused('"ignorable" can only be true')
    return seq, time


@lru_cache(maxsize=256)
def _quoted(type: str) -> bytes:
    return dump_bytes(type)
