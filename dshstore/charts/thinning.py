"""Fewer points where a picture has no room for all: of each column the largest, as it is.

Decides which; what is drawn of them, and that others are left out, is told by `drawing`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")

#: Into how many columns a log is cut: each is about two points wide.
COLUMNS = 250


def keep_largest(
    points: Sequence[T], place: Callable[[T], int], size: Callable[[T], int], end: int
) -> list[T]:
    """Of each column the first largest point, in their order; few come back as they are.

    `place` is where a point lies in a log of `end` events.
    """
    if len(points) <= COLUMNS:
        return list(points)
    largest: dict[int, T] = {}
    for point in points:
        column = place(point) * COLUMNS // end
        if column not in largest or size(point) > size(largest[column]):
            largest[column] = point
    return list(largest.values())
