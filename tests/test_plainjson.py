"""Texts that are seen at a glance to need no other in a column."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dshstore.jsontext import READABLE_DEPTH, dump_bytes, readable
from dshstore.plainjson import is_plain
from tests.formats.dsh.odd_lines import deep_values, settlements, values
from tests.strategies import json_values


@given(st.one_of(values, deep_values, settlements))
def test_for_a_plain_text_there_is_no_other_to_store(text: str) -> None:
    if is_plain(text.encode()):
        assert readable(text) is None


@given(st.one_of(values, settlements), st.integers(0, 99), st.sampled_from('"\\{}[]:,0x é\n'))
def test_a_text_that_is_no_json_is_not_plain(text: str, at: int, char: str) -> None:
    broken = text[: at % len(text)] + char + text[at % len(text) :]
    if is_plain(broken.encode()):
        assert readable(broken) is None


@given(json_values())
def test_what_a_writer_writes_is_plain(value: object) -> None:
    text = dump_bytes(value)
    assert is_plain(text) or b"e+" in text or b"\\u" in text


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1,"a":2}',
        '{"é":1,"é":2}',
        '{"\\u00e9":1}',
        '{"a\\u0000":1}',
        '"\\ud83c"',
        '{"a":é}',
        "é",
        "",
        "[" * (READABLE_DEPTH + 1) + "]" * (READABLE_DEPTH + 1),
    ],
)
def test_a_text_that_some_reader_takes_otherwise_is_not_plain(text: str) -> None:
    assert not is_plain(text.encode())
