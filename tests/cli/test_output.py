"""How values become text: nothing of a log can move a terminal's cursor or break a line."""

from __future__ import annotations

import pytest

from dshstore.cli.output import display_width, legible, shorten, time_text, visible


def test_control_characters_become_escapes() -> None:
    assert visible("a\x1b[31mb\r\nc\t\x00\x7f\x9b\u2028d") == (
        "a\\u001b[31mb\\r\\nc\\t\\u0000\\u007f\\u009b\\u2028d"
    )


@pytest.mark.parametrize("control", "\u061c\u200e\u200f\u202a\u202c\u202e\u2066\u2069")
def test_what_turns_text_about_becomes_an_escape(control: str) -> None:
    assert visible(f"a{control}b") == legible(f"a{control}b") == f"a\\u{ord(control):04x}b"


def test_other_text_stays_as_it_is() -> None:
    assert visible("größe 再等 👩‍💻 שלום \ud83c") == "größe 再等 👩‍💻 שלום \ud83c"


@pytest.mark.parametrize(("text", "shown"), [("abcd", "abcd"), ("abcde", "abc…"), ("a\n", "a\\n")])
def test_long_text_is_shortened(text: str, shown: str) -> None:
    assert shorten(text, 4) == shown


@pytest.mark.parametrize(
    ("text", "columns"), [("abc", 3), ("größe", 5), ("再等", 4), ("e\u0301", 1)]
)
def test_wide_and_combining_characters_take_their_columns(text: str, columns: int) -> None:
    assert display_width(text) == columns


@pytest.mark.parametrize(
    ("milliseconds", "shown"),
    [
        (None, ""),
        (0, "1970-01-01 00:00:00Z"),
        (1_793_520_000_999, "2026-11-01 08:00:00Z"),
        (-1, "1969-12-31 23:59:59Z"),
        (2**53 - 1, "9007199254740991"),
    ],
)
def test_times_are_utc_and_those_of_no_calendar_stay_numbers(
    milliseconds: int | None, shown: str
) -> None:
    assert time_text(milliseconds) == shown
