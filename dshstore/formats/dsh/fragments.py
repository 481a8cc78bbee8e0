"""A line that is no row of a log -> what can be told of it: records, debris, padding.

A write that was cut, and the next one behind it on the same line, leave a piece of a record and a
whole one; a lost line end leaves two whole ones; a crash may leave a run of NUL bytes. This module
decides where in such a line a record begins and ends, and says so only where nothing else can be
meant: it begins where the text before it stops making sense as JSON, and ends at the end of the
line, at NUL bytes, or where another begins. Whether a record is a good one is for others.
"""

from __future__ import annotations

import re
from json import JSONDecodeError, JSONDecoder
from typing import Any, Literal, NamedTuple

from dshstore.streams.records import safe_integer

Kind = Literal["record", "header", "debris", "padding"]

#: What the begin of a record looks like.
_OPENING = '{"'

#: A cut in a string shows two characters behind the begin of the next record (its quote ends the
#: string), a cut in an escape or a word some characters before it.
_BEFORE, _BEHIND = 2, 6

_parts = re.compile(rb"\0+|[^\0]+").finditer


class _NotJson(ValueError):
    """NaN or Infinity, words that Python's reader knows and JSON does not."""


def _refuse(word: str) -> Any:
    raise _NotJson(word)


_decode = JSONDecoder(parse_constant=_refuse).raw_decode


class Fragment(NamedTuple):
    """The bytes `start` to `end` (not included) of a line, and what they are."""

    kind: Kind
    start: int
    end: int


def split_line(line: bytes) -> list[Fragment]:
    """What a line (no LF; it need not be UTF-8) consists of, every byte once, in order."""
    found: list[Fragment] = []
    for part in _parts(line):
        if part[0].startswith(b"\0"):
            found.append(Fragment("padding", *part.span()))
        else:
            found += _split_text(part[0], part.start())
    return found


def _split_text(part: bytes, offset: int) -> list[Fragment]:
    """The records and the debris of bytes without NUL."""
    text = part.decode("utf-8", "surrogateescape")
    found: list[Fragment] = []
    at = 0
    while at < len(text):
        kind, end = _next(text, at)
        size = len(text[at:end].encode("utf-8", "surrogateescape"))
        if kind == "debris" and found and found[-1].kind == "debris":
            found[-1] = found[-1]._replace(end=offset + size)
        else:
            found.append(Fragment(kind, offset, offset + size))
        at, offset = end, offset + size
    return found


def _next(text: str, at: int) -> tuple[Kind, int]:
    """What begins at `at`, and where it ends."""
    try:
        value, end = _decode(text, at)
    except JSONDecodeError as error:
        first = max(at + 1, error.pos - _BEFORE)
        begin = text.find(_OPENING, first, error.pos + _BEHIND + len(_OPENING))
        return "debris", begin if begin > 0 else len(text)
    except (RecursionError, _NotJson):
        return "debris", len(text)
    kind = _kind(value, text[at:end])
    if kind is not None and (end == len(text) or text.startswith(_OPENING, end)):
        return kind, end
    return "debris", len(text)


def _kind(value: Any, text: str) -> Kind | None:
    if not isinstance(value, dict) or not isinstance(value.get("type"), str) or not _is_utf8(text):
        return None
    if any(safe_integer(value.get(key)) is not None for key in ("seq", "seq0")):
        return "record"
    return "header" if value["type"] == "session" else None


def _is_utf8(text: str) -> bool:
    """Whether no byte was escaped; half a surrogate pair cannot stand in it, being an escape."""
    return text.isascii() or not re.search("[\ud800-\udfff]", text)
