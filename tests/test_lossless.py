"""Which values may enter a live session, and that they come back as they were."""

from __future__ import annotations

import datetime
import enum
import json
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dshstore.jsontext import dump_bytes, parse, same
from dshstore.lossless import NotLossless, encode, find_fault

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: x != 0 or str(x) == "0.0")
    | st.text(st.characters(), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)


class Color(enum.Enum):
    RED = "red"


cycle: list[Any] = []
cycle.append({"again": cycle})


@given(values)
def test_what_is_lossless_is_written_as_ever_and_comes_back(value: Any) -> None:
    text, plain = encode(value)
    assert text == dump_bytes(value)
    assert same(parse(text), value)
    assert not plain or json.loads(text) == value


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"a": [1, float("nan")]}, "data.a[1]: nan is no JSON number"),
        ([float("-inf")], "data[0]: -inf is no JSON number"),
        ({"a": -0.0}, "data.a: -0.0 would come back as 0"),
        ({1: 2}, "not int"),
        ({"a": {None: 2}}, "not NoneType"),
        (b"bytes", "bytes has no JSON form"),
        ({"a": bytearray(b"x")}, "bytearray has no JSON form"),
        ({1, 2}, "set has no JSON form"),
        (Color.RED, "Color has no JSON form"),
        (Decimal(1), "Decimal has no JSON form"),
        (UUID(int=1), "UUID has no JSON form"),
        (datetime.datetime(2026, 8, 1), "datetime has no JSON form"),
        (object(), "object has no JSON form"),
        (cycle, "nested"),
    ],
)
def test_what_json_would_change_or_cannot_hold_is_refused_with_a_sentence(
    value: Any, said: str
) -> None:
    with pytest.raises(NotLossless) as refused:
        encode(value)
    assert said in str(refused.value)


def test_one_value_in_two_places_is_no_cycle() -> None:
    shared = [1]
    assert encode({"a": shared, "b": shared})[0] == b'{"a":[1],"b":[1]}'


def test_a_fault_is_found_where_it_is() -> None:
    assert find_fault({"a": [{"b": {"c": float("nan")}}]}) == "data.a[0].b.c: nan is no JSON number"
    assert find_fault({"a": {2: 1}}) == "data.a: the name 2 is not a string"
    assert find_fault([(1, {3})]) == "data[0][1]: a set is no JSON value"
    assert find_fault({"a": ["x", 1, 1.5, None, True, (2,)]}) is None
