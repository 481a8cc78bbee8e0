"""What a column can hold of a payload or a type, where that is not the text itself.

Decides which text stands for one that some SQLite reads in another sense, or that SQL could not
compare. When the line is kept besides is for `rows`.
"""

from __future__ import annotations

import re

from dshstore.jsontext import canonical, decoded, dump, parse, readable

#: Of a JSON text without its strings: whether it has a number that can be spelled in two ways.
_has_odd_number = re.compile(rb"[0-9][.eE]|-0|[0-9]{16}").search


def column_text(payload: bytes, kind: str) -> tuple[str, bool]:
    """The text to store for the payload of an event, and whether it is another.

    Raises `JsonError` for a payload that is no JSON in UTF-8.
    """
    text = decoded(payload)
    stored = readable(payload) or text
    if kind == "tool/result" and _has_odd_number(_without_strings(payload)):
        stored = canonical(stored)  # SQL compares the fields of a rewritten result as text
    return stored, stored != text


def whole_text(text: str) -> str:
    """The text with U+FFFD for half a surrogate pair, which no column can hold."""
    quoted = dump(text)
    whole: str = parse(readable(quoted) or quoted)
    return whole


def _without_strings(payload: bytes) -> bytes:
    if b"\\" in payload:
        payload = payload.replace(b"\\\\", b"").replace(b'\\"', b"")
    return b"".join(payload.split(b'"')[::2])
