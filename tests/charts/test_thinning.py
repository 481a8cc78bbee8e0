"""What is left out of a picture, and what never is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dshstore.charts.thinning import COLUMNS, keep_largest

Point = tuple[int, int]


def thin(points: list[Point], end: int) -> list[Point]:
    return keep_largest(points, lambda point: point[0], lambda point: point[1], end)


def test_few_points_come_back_as_they_are() -> None:
    points = [(0, 5), (0, 3), (0, 9)]
    assert thin(points, 1) == points


@given(st.lists(st.integers(0, 10**9), min_size=COLUMNS + 1, max_size=3 * COLUMNS))
def test_the_largest_is_kept_and_nothing_is_made_up(sizes: list[int]) -> None:
    points = list(enumerate(sizes))
    kept = thin(points, len(points))
    assert len(kept) <= COLUMNS
    assert set(kept) <= set(points)
    assert kept == sorted(kept)
    assert max(sizes) in [size for _, size in kept]


def test_each_column_keeps_the_first_of_its_largest() -> None:
    points = [(seq, seq % 4 // 2) for seq in range(4 * COLUMNS)]
    assert thin(points, len(points)) == [(4 * column + 2, 1) for column in range(COLUMNS)]
