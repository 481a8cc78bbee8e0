"""What a search takes for the same word, and where one word ends."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dshstore.engine.searching.terms import cut_terms, fold, locate_terms, spread_terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("BEANS", "beans"),
        ("Straße", "STRASSE"),
        ("Crème brûlée", "creme brulee"),
        ("cre\u0300me", "crème"),
        ("ＡＢＣ１２", "abc12"),  # noqa: RUF001
        ("ｶﾞｰﾃﾞﾝ", "ガーデン"),
        ("か\u3099", "が"),
        ("\u1112\u1161\u11ab", "한"),
        ("ﬁle", "file"),
        ("ΟΔΟΣ", "οδος"),
        ("שָׁלוֹם", "שלום"),
        ("👍🏽", "👍"),
        ("Đà Nẵng, Łódź, Ørsted", "da nang lodz orsted"),
        ("Æsir œuvre ǽ", "aesir oeuvre ae"),
        ("ISPARTA", "ısparta"),  # noqa: RUF001
        ("Ħal Għaxaq ŧ ƀ ɨ", "hal ghaxaq t b i"),
        ("Ísafjörður Þór", "isafjordur thor"),
        ("co\u00adoperate", "cooperate"),
    ],
)
def test_these_are_the_same(one: str, other: str) -> None:
    assert cut_terms(one) == cut_terms(other) != []


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("foo-bar_baz", ["foo", "bar", "baz"]),
        ("don’t don't", ["don", "t", "don", "t"]),  # noqa: RUF001
        ("C++ and C#, not C", ["c", "＋", "＋", "and", "c", "＃", "not", "c"]),  # noqa: RUF001
        ("# Title, 1+1 = #2, a++b", ["title", "1", "1", "2", "a", "b"]),
        ("再等一周。OK", ["再", "等", "一", "周", "ok"]),
        ("iPhone手机", ["iphone", "手", "机"]),
        ("スマートフォン", list("スマートフォン")),
        ("สวัสดี", list("สวัสดี")),
        ("हिन्दी भाषा।", ["हिन्दी", "भाषा"]),
        ("well 👩‍💻 done ✅", ["well", "👩", "💻", "done", "✅"]),
        ("«привет»—мир…", ["привет", "мир"]),
        ("½ ²", ["1", "2", "2"]),
        ("!!! --- \ufffd", []),
    ],
)
def test_a_text_has_these_terms(text: str, terms: list[str]) -> None:
    assert cut_terms(text) == terms


#: Texts in which characters meet that change one another.
TEXTS = st.text() | st.text("aEsß\u0301\u0307İｶﾞﾟが\u3099\u1112\u1161\u11ab한+#_ 1ि्न🏽👍\u200d")


@given(TEXTS)
@example("a\u0301\u0327")
@example("ﾞ")
@example("한\u11ab")
def test_terms_are_located_as_they_are_cut(text: str) -> None:
    assert [term for term, _, _ in locate_terms(text)] == cut_terms(text)


@given(st.text("a हिन्दी\u0301\u093e\u09be\u200d._-—।\n\u3000", max_size=12))
def test_what_stands_between_terms_is_no_part_of_one(text: str) -> None:
    for _, begin, end in locate_terms(text):
        assert not set(text[begin:end]) & set(" ._-—।\n\u3000")


@given(TEXTS)
def test_a_located_term_is_what_stands_there(text: str) -> None:
    at = 0
    for term, begin, end in locate_terms(text):
        assert at <= begin < end <= len(text)
        assert term in fold(text[begin:end]) or term in "＋＃"  # noqa: RUF001
        at = begin


@given(TEXTS)
def test_the_index_cuts_what_it_is_given_into_the_same_terms(text: str) -> None:
    by_the_ascii_tokenizer = re.findall("[0-9a-z\x80-\U0010ffff]+", spread_terms(text))
    assert by_the_ascii_tokenizer == cut_terms(text)
