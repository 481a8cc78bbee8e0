"""sourceEventSeqs and surfaceOp, in the log and in their columns."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dshstore.formats.dsh.envelope import RowRefused
from dshstore.formats.dsh.references import read_sources, read_surface_op, write_sources
from dshstore.model import FORMAT_VERSIONS
from tests.logs import _with_ranges

VERSIONS = st.sampled_from(FORMAT_VERSIONS)


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("[]", "[]"),
        ("[3,4,[7,9],12]", "[3,4,7,8,9,12]"),
        ("[[0,0]]", "[0]"),
        ("[ 1.0 , [2e0, 3.0] ]", "[1,2,3]"),
        ("[19,20,4]", "[19,20,4]"),
        ("[4,4]", "[4,4]"),
        ("[99]", "[99]"),
    ],
)
@pytest.mark.parametrize("version", FORMAT_VERSIONS)
def test_ranges_are_expanded_and_integers_made_plain(text: str, column: str, version: int) -> None:
    assert read_sources(text.encode(), 30, version) == column


@pytest.mark.parametrize(
    "text", ["null", '"x"', "{}", "7", "[null]", '["1"]', "[-1]", "[-0]", "[1.5]", "[1, true]"]
)
@pytest.mark.parametrize("version", FORMAT_VERSIONS)
def test_what_is_no_list_of_seqs_goes_through_as_it_is(text: str, version: int) -> None:
    assert read_sources(text.encode(), 30, version) == text
    assert write_sources(text, version) == text


@pytest.mark.parametrize(
    "text",
    ["[[4]]", "[[1,2,3]]", "[[]]", '[["1",2]]', "[[-1,2]]", "[[5,4]]", "[[0,30]]", "[[1,3],3]"],
)
@pytest.mark.parametrize("version", FORMAT_VERSIONS)
def test_a_bad_range_is_refused(text: str, version: int) -> None:
    with pytest.raises(RowRefused, match="sources-not-seqs"):
        read_sources(text.encode(), 30, version)


def test_a_range_beyond_the_event_is_bad_from_v2_on() -> None:
    assert read_sources(b"[[29,31]]", 30, 1) == "[29,30,31]"
    with pytest.raises(RowRefused, match="sources-not-seqs"):
        read_sources(b"[[29,31]]", 30, 2)


def test_a_huge_range_is_refused_before_it_is_expanded() -> None:
    with pytest.raises(RowRefused):
        read_sources(b"[[0,9007199254740991]]", 30, 0)


def test_ranges_are_written_from_v2_on_for_three_and_more() -> None:
    assert write_sources("[3,4,7,8,9,12]", 2) == "[3,4,[7,9],12]"
    assert write_sources("[3,4,7,8,9,12]", 1) == "[3,4,7,8,9,12]"
    assert write_sources("[9,7,8,9]", 4) == "[9,7,8,9]"


@given(st.lists(st.integers(0, 40), max_size=12) | st.sets(st.integers(0, 40)).map(sorted))
def test_what_is_written_reads_back_and_is_what_a_harness_writes(seqs: list[int]) -> None:
    column = json.dumps(seqs, separators=(",", ":"))
    for version in FORMAT_VERSIONS:
        written = write_sources(column, version)
        assert read_sources(written.encode(), 41, version) == column
        expected = _with_ranges({"sourceEventSeqs": seqs}) if version >= 2 else {}
        assert json.loads(written) == expected.get("sourceEventSeqs", seqs)


@pytest.mark.parametrize(
    ("text", "column", "version"),
    [
        ('"append"', '"append"', 0),
        ('"\\u0061ppend"', '"append"', 4),
        (
            '{"op":"replace","start":4,"end":5}',
            '{"op":"replace","start":4,"end":5}',
            2,
        ),
        (
            '{"end": 5.0, "start": 4e0, "op": "replac\\u0065"}',
            '{"op":"replace","start":4,"end":5}',
            0,
        ),
        (
            '{"endSeq":5,"startSeq":7,"startSeq":4,"op":"replace"}',
            '{"op":"replace","startSeq":4,"endSeq":5}',
            3,
        ),
    ],
)
def test_a_surface_op_has_one_spelling(text: str, column: str, version: int) -> None:
    assert read_surface_op(text.encode(), version) == column


@pytest.mark.parametrize(
    "text",
    [
        "null",
        '"Append"',
        "[]",
        '{"op":"replace"}',
        '{"op":"remove","start":4,"end":5}',
        '{"op":"replace","start":4,"end":5,"more":1}',
        '{"op":"replace","start":-0,"end":5}',
        '{"op":"replace","start":"4","end":5}',
    ],
)
@given(version=VERSIONS)
def test_what_is_no_surface_op_goes_through_as_it_is(text: str, version: int) -> None:
    assert read_surface_op(text.encode(), version) == text


def test_the_keys_of_a_replacement_are_those_of_its_version() -> None:
    old, new = b'{"end":5, "op":"replace","start":4}', b'{"endSeq":5, "op":"replace","startSeq":4}'
    assert read_surface_op(old, 3) == old.decode()
    assert read_surface_op(new, 2) == new.decode()
