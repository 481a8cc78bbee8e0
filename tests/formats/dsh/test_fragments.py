"""Lines that are no row, taken apart."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dshstore.formats.dsh.fragments import Fragment, split_line
from tests.logs import write_line
from tests.strategies import logs

FIRST = b'{"type":"turn/start","seq":4,"time":7,"data":{"turn":1}}'
SECOND = (
    b'{"type":"user/message","seq":5,"time":8,"data":{"text":"a {\\"b\\": 1"},"surfaceOp":"append"}'
)
PACKED = b'{"type":"text-chunks","seq0":6,"time0":9,"data":{"dt":[1],"texts":["a","b"]}}'
HEADER = b'{"type":"session","version":0,"id":"beans","createdAt":1,"delegationDepth":0}'


def parts(line: bytes) -> list[tuple[str, bytes]]:
    return [(kind, line[start:end]) for kind, start, end in split_line(line)]


@pytest.mark.parametrize("record", [FIRST, SECOND, PACKED])
def test_a_whole_record_is_one(record: bytes) -> None:
    assert parts(record) == [("record", record)]


def test_records_that_lost_the_line_end_between_them_are_told_apart() -> None:
    line = FIRST + SECOND + PACKED
    assert parts(line) == [("record", FIRST), ("record", SECOND), ("record", PACKED)]


def test_a_header_is_no_record() -> None:
    assert parts(FIRST + HEADER) == [("record", FIRST), ("header", HEADER)]


def test_nul_bytes_are_padding_wherever_they_stand() -> None:
    line = b"\0" * 9 + FIRST + b"\0\0" + SECOND[:20] + b"\0"
    assert parts(line) == [
        ("padding", b"\0" * 9),
        ("record", FIRST),
        ("padding", b"\0\0"),
        ("debris", SECOND[:20]),
        ("padding", b"\0"),
    ]


@pytest.mark.parametrize("size", range(1, len(SECOND)))
def test_a_cut_record_and_the_one_behind_it_are_told_apart_where_nothing_else_can_be_meant(
    size: int,
) -> None:
    cut = SECOND[:size]
    found = parts(cut + FIRST)
    if cut.endswith(b'":') and not cut.endswith(b'\\":'):  # it may be a value of the cut one
        assert found == [("debris", cut + FIRST)]
    else:
        assert found == [("debris", cut), ("record", FIRST)]


def test_a_cut_within_a_character_is_debris_up_to_the_next_record() -> None:
    cut = '{"type":"user/message","seq":4,"time":7,"data":{"text":"世'.encode()[:-1]
    assert parts(cut + FIRST) == [("debris", cut), ("record", FIRST)]


def test_several_cuts_in_a_row_are_one_piece() -> None:
    line = FIRST[:30] + SECOND[:50] + FIRST
    assert parts(line) == [("debris", FIRST[:30] + SECOND[:50]), ("record", FIRST)]


def test_a_record_that_another_cut_one_follows_is_whole() -> None:
    assert parts(FIRST + SECOND[:40]) == [("record", FIRST), ("debris", SECOND[:40])]


@pytest.mark.parametrize(
    "line",
    [
        # a brace too many: what looks whole has lost a member
        FIRST[:-1] + b'}},"surfaceOp":"append"}',
        # a record within a payload is none of the log
        b'{"type":"a","seq":1,"time":2,"data":{"was":' + FIRST,
        b'{"type":"a","seq":1,"time":2,"data":[1,' + FIRST,
        b"words" + FIRST[1:],
        b'{"turn":1}',
        b"[1,2]",
        b'"text"',
        b"\xff\xfe",
        b"[" * 100_000,
        FIRST.replace(b"turn/start", b"turn\xff"),
    ],
)
def test_where_a_record_cannot_be_told_there_is_none(line: bytes) -> None:
    assert parts(line) == [("debris", line)]


@given(
    st.binary(max_size=60)
    | st.lists(st.sampled_from([b"\0", b"{", b'"', FIRST, b"}"])).map(b"".join)
)
def test_every_byte_is_in_one_part(line: bytes) -> None:
    found = split_line(line)
    ends = [0, *(fragment.end for fragment in found)]
    assert [fragment.start for fragment in found] == ends[:-1]
    assert ends[-1] == len(line)
    assert all(fragment.start < fragment.end for fragment in found)


@given(data=st.data())
def test_a_record_of_a_real_log_is_found_behind_any_cut_one(data: st.DataObject) -> None:
    events = data.draw(logs(data.draw(st.sampled_from([0, 2, 4])), max_turns=1))
    assume(events)
    cut, whole = (write_line(data.draw(st.sampled_from(events)))[:-1] for _ in range(2))
    cut = cut[: data.draw(st.integers(1, len(cut) - 1))]
    found = split_line(cut + whole)
    assert found[-1].end == len(cut + whole)
    if len(found) > 1:
        assert found == [
            Fragment("debris", 0, len(cut)),
            Fragment("record", len(cut), len(cut + whole)),
        ]
    else:  # it may be a value of the cut one
        assert cut.rstrip().endswith((b":", b"[", b","))


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_a_word_that_only_python_takes_for_a_number_makes_debris(word: str) -> None:
    line = f'{{"type":"turn/start","seq":0,"time":{word},"data":{{}}}}'.encode()
    assert [fragment.kind for fragment in split_line(line)] == ["debris"]
