"""Which Python values survive JSON unchanged: the only ones that may enter a live session.

Refused are what JSON has no word for (NaN, infinities, bytes, dates, sets, objects) and what it
would change in silence (-0.0, names that are not strings). Tuples count as lists. Format notes
v0, section 4.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import copysign, isfinite
from typing import Any

import msgspec

from dshstore.jsontext import JsonError, dump_bytes

_encode = msgspec.json.Encoder().encode
_FLOAT = object()
#: Reads back what was written; what stands for a float equals nothing.
_decode = msgspec.json.Decoder(float_hook=lambda text: _FLOAT).decode


class NotLossless(ValueError):
    """A value that JSON would change, or cannot hold; its text says where and why."""


def encode(value: Any) -> tuple[bytes, bool]:
    """The JSON text of a value that survives it, as `JSON.stringify` writes it.

    Also whether it is plain: without floats, tuples and halves of surrogate pairs. Raises
    NotLossless for any other value.
    """
    try:
        text = _encode(value)
        if _decode(text) == value:
            return text, True  # what is equal when it comes back has not been changed
    except (msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError):
        pass
    try:
        text = dump_bytes(value)  # refuses cycles, on which `find_fault` would not end
    except JsonError as error:
        raise NotLossless(f"data: {error.reason}") from None
    except (TypeError, RecursionError) as error:
        raise NotLossless(f"data: {error}") from None
    if fault := find_fault(value):
        raise NotLossless(fault)
    return text, False


def find_fault(value: Any) -> str | None:
    """Where `value` is not lossless JSON and why, as a sentence; None when it is.

    `value` must be free of cycles.
    """
    level = [(value, "data")]
    while level:
        below: list[tuple[Any, str]] = []
        for item, path in level:
            match item:
                case str() | int() | None:
                    continue
                case float():
                    fault = _float_fault(item)
                case Mapping():
                    odd = next((key for key in item if not isinstance(key, str)), None)
                    fault = f"the name {odd!r} is not a string" if odd is not None else None
                    below.extend((held, f"{path}.{name}") for name, held in item.items())
                case list() | tuple():
                    fault = None
                    below.extend((held, f"{path}[{at}]") for at, held in enumerate(item))
                case _:
                    fault = f"a {type(item).__name__} is no JSON value"
            if fault is not None:
                return f"{path}: {fault}"
        level = below
    return None


def _float_fault(number: float) -> str | None:
    if not isfinite(number):
        return f"{number} is no JSON number"
    if number == 0 and copysign(1, number) < 0:
        return "-0.0 would come back as 0"
    return None
