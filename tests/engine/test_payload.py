"""Tool results: which call they answer, and digests, equal where JavaScript finds them equal."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dshstore.engine.payload import answered_call, digest_result
from dshstore.jsontext import same

numbers = [0, 1, 1.0, -0.0, 1.5, 2**53, float(2**53), 2**53 + 1, 10**14, 10**15, 1e15, -7, -7.0]
numbers += [10**22, 1e22, 10**400, float("inf")]
texts = ["", "1", "a", "é", "\U0001f331", "\ud83c\udf31", "\ud83c", "\udf31"]
scalars = st.sampled_from([None, True, False, *numbers, *texts])
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "é", "\ud83c"]), inner, max_size=3)
    ),
    max_leaves=5,
)


def digest(meta: Any) -> bytes:
    return digest_result({"message": {"content": []}, "meta": meta}, 4)


@given(values, values)
def test_digests_are_equal_exactly_when_the_values_are(one: Any, other: Any) -> None:
    assert (digest(one) == digest(other)) == same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([1, {"a": 2}], [1.0, {"a": 2.0}]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"\ud83c\udf31": 0.0}, {"\U0001f331": -0.0}),
        (2**53 + 1, float(2**53)),
        (10**15, 1e15),
        (10**400, float("inf")),
        ([[[["\ud83c", 1]]]], [[[["\ud83c", 1.0]]]]),
        ((1, 2), [1, 2]),
    ],
)
def test_two_spellings_of_one_value_have_one_digest(one: Any, other: Any) -> None:
    assert digest(one) == digest(other)


@pytest.mark.parametrize("depth", [50, 150, 900])
def test_depth_does_not_matter(depth: int) -> None:
    def nest(leaf: Any) -> Any:
        for _ in range(depth):
            leaf = {"a": [leaf]}
        return leaf

    assert digest(nest(1)) == digest(nest(1.0))
    assert digest(nest(1)) != digest(nest(2))


@pytest.mark.parametrize(
    ("data", "call_id"),
    [
        ({"message": {"source": {"kind": "tool", "callId": "c1"}}}, "c1"),
        ({"callId": "c1", "content": []}, "c1"),  # format v0 had no message at first
        ({"message": {"source": "tool"}}, None),
        ({"message": "so", "callId": "c1"}, None),
        ({}, None),
    ],
)
def test_a_result_names_the_call_that_it_answers(data: Any, call_id: str | None) -> None:
    assert answered_call(data) == call_id
