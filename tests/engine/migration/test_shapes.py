"""What shapes are put together of; the vocabulary itself is held to examples elsewhere."""

from __future__ import annotations

import math

import pytest

from dshstore.engine.migration.shapes import (
    Misfit,
    Shape,
    anything,
    cases,
    count,
    finite,
    flag,
    instant,
    integer,
    listed,
    literal,
    name,
    nullable,
    positive,
    record,
    text,
    within,
)
from tests.logs import Json


def fits(shape: Shape, value: Json) -> bool:
    try:
        shape(value)
    except Misfit:
        return False
    return True


@pytest.mark.parametrize(
    ("shape", "good", "bad"),
    [
        (text, ["", "a"], [None, 1, ["a"]]),
        (name, ["a"], ["", None, 1]),
        (flag, [True, False], [1, 0, None, "true"]),
        (integer, [0, -1, 1.0, 2**53 - 1], [-0.0, 0.5, 2**53, True, "1", None]),
        (count, [0, 1.0], [-1, -0.0, True]),
        (positive, [1, 1.0], [0, -1, True]),
        (finite, [0, -1.5, 2**80], [-0.0, math.inf, math.nan, True, "1"]),
        (within(integer, 1, 2), [1, 2.0], [0, 3, 1.5]),
        (nullable(count), [None, 1], [-1, "1"]),
        (literal("a", "b"), ["a", "b"], ["c", "", None, ["a"]]),
        (literal(True), [True], [1, 1.0, "true", False]),
        (literal(1), [1, 1.0], [True, "1", 2]),
        (listed(text), [[], ["a"]], ["a", None, [1], {"0": "a"}]),
        (listed(text, least=1, most=1), [["a"]], [[], ["a", "b"]]),
        (record({"a": count}, {"b": text}), [{"a": 1}, {"b": "", "a": 1}], [{}, {"b": ""}, []]),
        (
            cases("k", {"a": record({"k": anything})}, otherwise=anything),
            [{"k": "a"}, {"k": "b", "c": 1}],
            [{"k": "a", "c": 1}, {"k": ""}, {"k": 1}, {}, None],
        ),
        (cases("k", {"a": anything}), [{"k": "a"}], [{"k": "b"}, {"k": ["a"]}]),
        (
            instant,
            ["2026-08-01T00:00:00.000Z", "0001-12-31T23:59:59.999Z"],
            ["2026-08-01T00:00:00Z", "2026-02-29T00:00:00.000Z", "0000-01-01T00:00:00.000Z", 1],
        ),
    ],
)
def test_a_shape_takes_what_it_says_and_nothing_else(
    shape: Shape, good: list[Json], bad: list[Json]
) -> None:
    assert [value for value in good if not fits(shape, value)] == []
    assert [value for value in bad if fits(shape, value)] == []


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"a": [{"b": ""}, {}]}, 'a[1] has no "b"'),
        ({"a": [{"b": 1}]}, "a[0].b must be a string"),
        ({"a": 1}, "a must be an array"),
        ({"a": [], "c": 1}, 'has "c", which has no place in it'),
        ([], "must be an object"),
    ],
)
def test_a_misfit_says_where_it_is(value: Json, reason: str) -> None:
    with pytest.raises(Misfit) as caught:
        record({"a": listed(record({"b": text}))})(value)
    assert str(caught.value) == reason
