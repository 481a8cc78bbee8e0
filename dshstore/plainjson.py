"""Which JSON texts can be stored as they are, seen at little cost.

Most texts of a log come from `JSON.stringify`, and of those nearly all mean the same to every
reader. This module tells them from texts that have to be looked at, which is for `jsontext`.
"""

from __future__ import annotations

from typing import Final

import msgspec

from dshstore.jsontext import READABLE_DEPTH, count_openers

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode

#: Makes a letter of every byte that is not ASCII. It spares the decoding of UTF-8: equal keys
#: stay equal, and outside of a string there is no place for a letter more than for the byte.
_AS_ASCII: Final = bytes(range(128)) + b"x" * 128


def is_plain(text: bytes) -> bool:
    """Whether the text is clearly one for which `jsontext.readable` has no other to store.

    It must be UTF-8. False says nothing: the text may be as good, or no JSON.
    """
    if len(text) > 2 * READABLE_DEPTH and count_openers(text) > READABLE_DEPTH:
        return False
    plain = text if text.isascii() else text.translate(_AS_ASCII)
    try:
        again = _encode(_decode(plain))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return False
    # so written, no key stands twice, is spelled in another way or holds half a surrogate pair
    return again == plain and not (b"\\" in plain and b"\\u0000" in plain)
