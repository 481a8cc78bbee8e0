"""Shapes: what a JSON value must be, as a closed vocabulary puts it together.

A shape is a function that takes a parsed value and raises `Misfit` when it is not of that shape.
This module has the scalars and the ways to build shapes of shapes; which shapes a format knows
is for others. Numbers are JavaScript's: `1.0` is an integer, `-0` and `true` are none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from math import copysign, isfinite
from typing import Any, Final

from dshstore.jsontext import dump, same
from dshstore.streams.records import safe_integer

Shape = Callable[[Any], None]


class Misfit(ValueError):
    """A value that is not what it must be; the text says where in it, and why."""

    def __init__(self, reason: str) -> None:
        self.reason, self.path = reason, ""
        super().__init__(reason)

    def __str__(self) -> str:
        return f"{self.path.removeprefix('.')} {self.reason}".lstrip()


def text(value: Any) -> None:
    """A string."""
    if not isinstance(value, str):
        raise Misfit("must be a string")


def name(value: Any) -> None:
    """A string that is not empty."""
    if not isinstance(value, str) or not value:
        raise Misfit("must be a string that is not empty")


def flag(value: Any) -> None:
    """A boolean."""
    if not isinstance(value, bool):
        raise Misfit("must be true or false")


def integer(value: Any) -> None:
    """A safe integer."""
    if safe_integer(value) is None:
        raise Misfit("must be an integer")


def count(value: Any) -> None:
    """A safe integer from 0."""
    if (number := safe_integer(value)) is None or number < 0:
        raise Misfit("must be an integer from 0")


def positive(value: Any) -> None:
    """A safe integer from 1."""
    if (number := safe_integer(value)) is None or number < 1:
        raise Misfit("must be an integer from 1")


def finite(value: Any) -> None:
    """A number that JSON can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Misfit("must be a number")
    if isinstance(value, float) and not (isfinite(value) and (value or copysign(1, value) > 0)):
        raise Misfit("must be a finite number, and not -0")


def anything(value: Any) -> None:
    """Whatever its owner meant by it."""


def mapping(value: Any) -> None:
    """An object, whatever is in it."""
    if not isinstance(value, Mapping):
        raise Misfit("must be an object")


_matches_instant: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z"
).fullmatch


def instant(value: Any) -> None:
    """A moment as `Date.toISOString` writes it."""
    try:
        if isinstance(value, str) and _matches_instant(value):
            datetime.fromisoformat(value)
            return
    except ValueError:
        pass
    raise Misfit("must be a UTC instant such as 2026-08-01T00:00:00.000Z")


def within(shape: Shape, least: float, most: float) -> Shape:
    """A number of that shape, and neither less nor more."""

    def check(value: Any) -> None:
        shape(value)
        if not least <= value <= most:
            raise Misfit(f"must be from {least} to {most}")

    return check


def literal(*allowed: str | int) -> Shape:
    """One of these values."""
    strings = frozenset(value for value in allowed if isinstance(value, str))

    def check(value: Any) -> None:
        if isinstance(value, str):
            if value in strings:
                return
        elif any(same(value, one) for one in allowed):
            return
        raise Misfit(f"must be {' or '.join(map(dump, allowed))}")

    return check


def nullable(shape: Shape) -> Shape:
    """A value of that shape, or null."""

    def check(value: Any) -> None:
        if value is not None:
            shape(value)

    return check


def listed(shape: Shape, *, least: int = 0, most: int | None = None) -> Shape:
    """An array of values of that shape, so many of them."""

    def check(value: Any) -> None:
        if not isinstance(value, list):
            raise Misfit("must be an array")
        if len(value) < least or (most is not None and len(value) > most):
            raise Misfit(f"must have {'exactly' if least == most else 'at least'} {least} members")
        for index, member in enumerate(value):
            try:
                shape(member)
            except Misfit as misfit:
                misfit.path = f"[{index}]{misfit.path}"
                raise

    return check


def record(required: Mapping[str, Shape], optional: Mapping[str, Shape] | None = None) -> Shape:
    """An object with these members and, but for the optional ones, no others."""
    shapes = {**required, **(optional or {})}
    needed = required.keys()

    def check(value: Any) -> None:
        mapping(value)
        if not needed <= value.keys():
            missing = next(key for key in required if key not in value)
            raise Misfit(f"has no {dump(missing)}")
        for key, member in value.items():
            shape = shapes.get(key)
            if shape is None:
                raise Misfit(f"has {dump(key)}, which has no place in it")
            try:
                shape(member)
            except Misfit as misfit:
                misfit.path = f".{key}{misfit.path}"
                raise

    return check


def cases(key: str, shapes: Mapping[str, Shape], otherwise: Shape | None = None) -> Shape:
    """An object of the shape that its member `key` names; `otherwise` for any other name."""

    def check(value: Any) -> None:
        mapping(value)
        case = value.get(key)
        shape = shapes.get(case) if isinstance(case, str) else None
        if shape is None:
            try:
                name(case)
            except Misfit as misfit:
                misfit.path = f".{key}"
                raise
            if otherwise is None:
                raise Misfit(f"has the unknown {key} {dump(case)}")
            shape = otherwise
        shape(value)

    return check


def both(*shapes: Shape) -> Shape:
    """A value that is of all these shapes; they are tried in this order."""

    def check(value: Any) -> None:
        for shape in shapes:
            shape(value)

    return check
