"""What is shown of a text in which something was found."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dshstore.engine.searching.queries import Phrase, parse_query
from dshstore.engine.searching.snippets import find_phrases, make_snippet
from dshstore.engine.searching.terms import cut_terms, locate_terms


def show(text: str, query: str) -> str:
    snippet, marks = make_snippet(text, find_phrases(text, parse_query(query).phrases))
    for begin, end in reversed(marks):
        snippet = f"{snippet[:begin]}[{snippet[begin:end]}]{snippet[end:]}"
    return snippet


def test_every_place_is_marked() -> None:
    assert show("Beans, runner beans; BEANS!", "beans") == "[Beans], runner [beans]; [BEANS]!"


def test_marks_are_whole_words_of_a_prefix_and_pieces_of_running_text() -> None:
    assert show("He was watering it", "water*") == "He was [watering] it"
    assert show("请再等一周吧", "等一周") == "请再[等一周]吧"
    assert show("Crème bru\u0302lée", "brulee") == "Crème [bru\u0302lée]"
    assert show("हिन्दी नमस्ते दुनिया", "नमस्ते") == "हिन्दी [नमस्ते] दुनिया"
    assert show("ｶﾞｰﾃﾞﾝの水", "ガーデン") == "[ｶﾞｰﾃﾞﾝ]の水"


def test_places_that_overlap_are_one() -> None:
    assert show("水水水", "水水") == "[水水水]"


def find_by_looking_at_each_place(text: str, phrase: Phrase) -> set[int]:
    terms = cut_terms(text)
    *body, last = phrase.terms
    places = set()
    for first in range(len(terms) - len(body)):
        end = terms[first + len(body)]
        is_last = end.startswith(last) if phrase.is_prefix else end == last
        if is_last and terms[first : first + len(body)] == body:
            places |= set(range(first, first + len(body) + 1))
    return places


@given(st.text("ab 水", max_size=40), st.text("ab水", min_size=1, max_size=4), st.booleans())
def test_each_place_of_a_phrase_is_found(text: str, query: str, is_prefix: bool) -> None:
    [phrase] = parse_query(query + "*" * is_prefix).phrases
    spans = find_phrases(text, [phrase])
    within = {
        number
        for number, (_, begin, end) in enumerate(locate_terms(text))
        if any(first <= begin and end <= last for first, last in spans)
    }
    assert within == find_by_looking_at_each_place(text, phrase)


def test_a_snippet_is_one_line() -> None:
    assert show("first\n\n  second\tthird", "second") == "first [second] third"


def test_a_long_text_is_cut_around_the_first_place() -> None:
    shown = show("before " * 100 + "here" + " after" * 100, "here")
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert "before [here] after" in shown
    assert set(shown.strip("…").split()) == {"before", "[here]", "after"}
    assert len(shown) < 170


def test_the_end_of_a_text_is_not_cut_off_for_what_is_before() -> None:
    assert show("before " * 100 + "here", "here").endswith("before [here]")


@given(st.text("ab \n", min_size=1, max_size=500))
def test_marks_stand_on_what_was_found(text: str) -> None:
    spans = find_phrases(text, parse_query("a").phrases)
    if spans:
        snippet, marks = make_snippet(text, spans)
        assert marks
        assert {snippet[begin:end] for begin, end in marks} == {"a"}
        assert "\n" not in snippet
