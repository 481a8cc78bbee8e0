"""Which Python values survive JSON unchanged: the only ones that may enter a live session.

Refused are what JSON has no word for (NaN, infinities, bytes, dates, sets, objects) and what it
would change in silence (-0.0, names that are not strings). Tuples count as lists. Format notes
v0, section 4.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import copysign, isfinite
from typing import Any


def find_fault(value: Any) -> str | None:
    """Where `value` is not lossless JSON and why, as a sentence; None when it is.

    `value` must be free of cycles: encode it first, which refuses them.
    """
    level = [value]
    while level:
        below: list[Any] = []
        for item in level:
            kind = type(item)
            if kind is str or kind is int or kind is bool or item is None:
                continue
            if kind is dict:
                if not all(map(_is_text, item)):
                    return _describe(value)
                below.extend(item.values())
            elif kind is list or kind is tuple:
                below.extend(item)
            elif kind is not float or _float_fault(item):
                return _describe(value)
        level = below
    return None


def _is_text(key: Any) -> bool:
    return type(key) is str


def _float_fault(number: float) -> str | None:
    if not isfinite(number):
        return f"{number} is no JSON number"
    if number == 0 and copysign(1, number) < 0:
        return "-0.0 would come back as 0"
    return None


def _describe(value: Any) -> str | None:
    todo: list[tuple[Any, str]] = [(value, "data")]
    while todo:
        item, path = todo.pop()
        match item:
            case str() | int() | None:
                continue
            case float():
                fault = _float_fault(item)
            case Mapping():
                odd = next((key for key in item if not _is_text(key)), None)
                fault = f"the name {odd!r} is not a string" if odd is not None else None
                todo.extend((below, f"{path}.{key}") for key, below in item.items())
            case list() | tuple():
                fault = None
                todo.extend((below, f"{path}[{at}]") for at, below in enumerate(item))
            case _:
                fault = f"a {type(item).__name__} is no JSON value"
        if fault is not None:
            return f"{path}: {fault}"
    return f"data: a {type(value).__name__} of another class"
