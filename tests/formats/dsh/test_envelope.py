"""The members of a line, whatever way the line is read."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from dshstore.formats.dsh.envelope import (
    PackedRow,
    Row,
    RowRefused,
    check_event,
    member_spans,
    read_row,
)
from tests.formats.dsh.odd_lines import values

PACKED = '{"type":"text-chunks","seq0":3,"time0":5,"data":{}}'


def event(line: str, version: int = 4) -> Row:
    row = read_row(line.encode(), version)
    assert isinstance(row, Row)
    return row


def reason(line: str | bytes, version: int = 4) -> str:
    with pytest.raises(RowRefused) as refused:
        read_row(line.encode() if isinstance(line, str) else line, version)
    return str(refused.value)


def test_a_row_has_its_members_and_the_text_of_its_payload() -> None:
    row = event('{"type":"t","seq":3,"time":-5,"data":{"a": 1.10} }')
    assert (row.type, row.seq, row.time, bytes(row.data)) == ("t", 3, -5, b'{"a": 1.10}')
    assert (row.ignorable, row.sourceEventSeqs, row.surfaceOp) == (UNSET, UNSET, UNSET)


def test_the_last_of_two_equal_members_counts() -> None:
    row = event('{"type":"t","seq":"x","time":0,"data":1,"d\\u0061ta":[2],"seq":3}')
    assert (row.seq, bytes(row.data)) == (3, b"[2]")


def test_integers_are_what_javascript_takes_for_integers() -> None:
    row = event('{"type":"t","seq":3.0,"time":1.79e3,"data":0,"sourceEventSeqs":[1.0]}')
    assert (row.seq, row.time) == (3, 1790)
    assert isinstance(row.sourceEventSeqs, bytes | object)
    assert bytes(row.sourceEventSeqs) == b"[1.0]"  # type: ignore[arg-type]


def test_half_a_surrogate_pair_is_read_wherever_it_stands() -> None:
    row = event('{"type":"\\ud83c","seq":3,"time":5,"data":["\\udf31"],"surfaceOp":"\\ud83c"}')
    assert (row.type, bytes(row.data)) == ("\ud83c", b'["\\udf31"]')


@pytest.mark.parametrize("levels", [1, 400, 980, 1000])
def test_a_payload_may_have_a_thousand_levels(levels: int) -> None:
    payload = "[" * levels + "]" * levels
    assert (
        bytes(event(f'{{"type":"t","seq":3,"time":5,"data":{payload}}}').data).decode() == payload
    )


def test_a_payload_of_more_levels_is_refused() -> None:
    deep = "[" * 1001 + "]" * 1001
    assert "1000 levels" in reason(f'{{"type":"t","seq":3,"time":5,"data":{deep}}}')


def test_a_packed_row_is_one_in_v0_and_v1_only() -> None:
    for version in (0, 1):
        row = read_row(PACKED.encode(), version)
        assert isinstance(row, PackedRow)
        assert (row.type, row.seq0, row.time0, bytes(row.data)) == ("text-chunks", 3, 5, b"{}")
    assert '"seq" is missing' in reason(PACKED, 2)
    assert event(PACKED.replace("seq0", "seq").replace("time0", "time"), 2).type == "text-chunks"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "blank line"),
        (" \t", "blank line"),
        ("[1]", "not an object"),
        ("7", "not an object"),
        ("null", "not an object"),
        ('{"seq":3,"time":5,"data":0}', '"type" is missing'),
        ('{"type":"t","time":5,"data":0}', '"seq" is missing'),
        ('{"type":"t","seq":3,"data":0}', '"time" is missing'),
        ('{"type":"t","seq":3,"time":5}', '"data" is missing'),
        ('{"type":"t","seq":3,"time":5,"data":0,"Seq":3}', '"Seq" has no place'),
        ('{"type":"t","seq":3,"time":5,"data":0,"\\ud83c":3}', '"\\ud83c" has no place'),
        ('{"type":"t","seq0":3,"time0":5,"data":0}', '"seq" is missing'),
        ('{"type":7,"seq":3,"time":5,"data":0}', '"type"'),
        ('{"type":"t","seq":-1,"time":5,"data":0}', '"seq"'),
        ('{"type":"t","seq":-0,"time":5,"data":0}', '"seq"'),
        ('{"type":"t","seq":-0.0,"time":5,"data":0}', '"seq"'),
        ('{"type":"t","seq":1.5,"time":5,"data":0}', '"seq"'),
        ('{"type":"t","seq":true,"time":5,"data":0}', '"seq"'),
        ('{"type":"t","seq":"3","time":5,"data":0}', '"seq"'),
        ('{"type":"t","seq":9007199254740992,"time":5,"data":0}', '"seq"'),
        ('{"type":"t","seq":3,"time":-0,"data":0}', '"time"'),
        ('{"type":"t","seq":3,"time":null,"data":0}', '"time"'),
        ('{"type":"t","seq":3,"time":1e400,"data":0}', '"time"'),
        ('{"type":"t","seq":3,"time":-9007199254740992,"data":0}', '"time"'),
        ('{"type":"t","seq":3,"time":5,"data":0,"ignorable":false}', '"ignorable"'),
        ('{"type":"t","seq":3,"time":5,"data":0,"ignorable":null}', '"ignorable"'),
        ('{"type":"t","seq":3,"time":5,"data":0,"ignorable":1}', '"ignorable"'),
        ('{"type":"t","seq":3,"time":5,"data":01}', "column 38"),
        ('{"type":"t","seq":3,"time":5,"data":NaN}', "column 37"),
        ('{"type":"t","seq":3,"time":5,"data":0}}', "column 39"),
        ('{"type":"t","seq":3,"time":5,"data":}', "column 37"),
        ('{"type":"t","seq":3,"time":5,"data":"x', "cannot be read as JSON"),
        ('{"type":"t","seq":3,"time":5,"data":"a\tb"}', "cannot be read as JSON"),
        ("{'type':'t'}", "column 2"),
        (b'{"type":"t","seq":3,"time":5,"data":"\\ud83c\xff"}', "UTF-8"),
    ],
)
def test_a_line_that_is_no_row_is_refused_with_the_reason(line: str | bytes, words: str) -> None:
    assert words in reason(line)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"type":"text-chunks","seq":3,"time":5,"data":{}}', '"seq0" is missing'),
        ('{"type":"text-chunks","seq0":3,"time0":-0,"data":{}}', '"time0"'),
        ('{"type":"text-chunks","seq0":3,"time0":5,"data":{},"surfaceOp":"append"}', "no place"),
        ('{"type":"text-chunks","seq0":3,"time0":5,"data":{},"ignorable":true}', "no place"),
        ('{"type":"text-delta","seq0":3,"time0":5,"data":{}}', '"seq" is missing'),
    ],
)
def test_a_packed_row_has_four_members(line: str, words: str) -> None:
    assert words in reason(line, 0)


def test_the_envelope_of_an_event_is_held_to_the_same_rules() -> None:
    assert check_event({"type": "t", "seq": 3.0, "time": 5, "data": None}) == (3, 5)
    with pytest.raises(RowRefused, match='"extra" has no place'):
        check_event({"type": "t", "seq": 3, "time": 5, "data": None, "extra": 1})


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "\\u0061", "stream"]), values), max_size=5))
def test_the_span_of_a_member_holds_its_value(members: list[tuple[str, str]]) -> None:
    text = "{" + " ,".join(f'"{name}" : {value}' for name, value in members) + "}"
    spans = member_spans(text.encode())
    found = {name: text.encode()[start:end].decode() for name, (start, end) in spans.items()}
    assert found == {json.loads(f'"{name}"'): value for name, value in members}


@given(values.filter(lambda text: not text.startswith("{")))
def test_a_value_that_is_no_object_has_no_members(text: str) -> None:
    assert member_spans(text.encode()) == {}


@pytest.mark.parametrize("version", range(5))
@pytest.mark.parametrize("member", ["type", "seq", "time", "ignorable", "seq0", "time0"])
@pytest.mark.parametrize("value", ["[[1]]", '{"a":[]}', "null", "true", "-0", '"\\ud83c"'])
def test_a_member_may_be_any_json_and_is_refused(version: int, member: str, value: str) -> None:
    members = {"type": '"a"', "seq": "1", "time": "2", "data": "{}", member: value}
    line = ",".join(f'"{name}":{text}' for name, text in members.items())
    fine = (member, value) in [("ignorable", "true"), ("type", '"\\ud83c"')]
    if fine:
        read_row(f"{{{line}}}".encode(), version)
    else:
        with pytest.raises(RowRefused):
            read_row(f"{{{line}}}".encode(), version)
