"""What people type, and what it means to the index."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dshstore.engine.searching.queries import parse_query
from dshstore.errors import QueryFailed


@pytest.mark.parametrize(
    ("query", "match"),
    [
        ("runner beans", '"runner" "beans"'),
        ('"runner beans" soil', '"runner beans" "soil"'),
        ("water*", '"water"*'),
        ('"cold fra"*', '"cold fra"*'),
        ("foo-bar", '"foo bar"'),
        ("file.py a:b don't", '"file py" "a b" "don t"'),
        ("C++", '"c ＋ ＋"'),  # noqa: RUF001
        ("print(x)", '"print x"'),
        ("(see above", '"see" "above"'),
        ('5" pipe', '"5" "pipe"'),
        ("- -- & !", None),
        ("a - b", '"a" "b"'),
        ("-rf", '"rf"'),
        ("or and not", '"or" "and" "not"'),
        ("frost OR fleece", '"frost" OR "fleece"'),
        ("frost NOT snow", '"frost" NOT "snow"'),
        ("frost AND NOT snow", '"frost" NOT "snow"'),
        ("(a OR b) c", '( "a" OR "b" ) AND "c"'),
        ("c (a OR b) (d OR e)", '"c" AND ( "a" OR "b" ) AND ( "d" OR "e" )'),
        ("f(x) OR g(y)", '"f x" OR "g y"'),
        ('"OR" OR "and"', '"or" OR "and"'),
        ('"say ""hello"""', '"say hello"'),
        ("再等一周", '"再 等 一 周"'),
        ("NEAR(a b)", '"near a" "b"'),
        ("^a + b", '"a" "b"'),
    ],
)
def test_a_query_means(query: str, match: str | None) -> None:
    if match is None:
        with pytest.raises(QueryFailed, match="nothing to look for"):
            parse_query(query)
    else:
        assert parse_query(query).match == match


@pytest.mark.parametrize(
    ("query", "reason", "offset"),
    [
        ("", "nothing to look for", None),
        ('""', "nothing to look for", None),
        ('say "hello', "this quote is not closed", 4),
        ("AND a", 'AND needs a word before and after it; .* in quotes: "AND"', 0),
        ("a OR", "OR needs", 2),
        ("NOT a", "NOT needs", 0),
        ("a OR NOT b", "NOT needs", 5),
        ("a AND AND b", "AND needs", 6),
        ("(a OR b", r'this "\(" is not closed', 0),
        ("a OR b)", r'this "\)" closes nothing', 6),
        ("a OR ()", "nothing in these parentheses", 6),
        ("(a OR) b", "OR needs", 3),
        ("a OR !", "no letter, digit or emoji", 5),
        ("a " * 201, "more than 200 words", 400),
        ("水" * 201, "more than 200 words", 0),
        ("水" * 200 + " a", "more than 200 words", 201),
        ('"' + "a " * 20_000 + '"', "more than 200 words", 0),
        ("(" * 21 + "a OR b" + ")" * 21, "more than 20 deep", 20),
    ],
)
def test_a_query_that_means_nothing_is_refused_at_its_place(
    query: str, reason: str, offset: int | None
) -> None:
    with pytest.raises(QueryFailed, match=reason) as caught:
        parse_query(query)
    assert caught.value.offset == offset


def test_what_must_not_be_there_is_not_marked() -> None:
    phrases = parse_query("(a NOT (b OR c)) OR d*").phrases
    assert [(phrase.terms, phrase.is_prefix) for phrase in phrases] == [
        (("a",), False),
        (("d",), True),
    ]


@given(st.text(alphabet="ab \"()*-+:'字", max_size=20))
def test_without_operators_only_an_open_quote_is_wrong(query: str) -> None:
    reason = find_reason_against(query)
    assert reason is None or re.search("not closed|nothing to look for", reason)


def find_reason_against(query: str) -> str | None:
    try:
        parse_query(query)
    except QueryFailed as refusal:
        return refusal.reason
    return None
