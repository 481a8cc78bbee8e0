"""Packed rows, and the runs that token deltas are stored in."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dshstore.formats.dsh.chunkruns import Deltas, expand_run, first_lines, read_chunk
from dshstore.formats.dsh.envelope import PackedRow, RowRefused, read_row
from dshstore.jsontext import parse
from dshstore.model import MAX_SAFE
from tests.logs import pack_chunks, write_line

TEXTS: dict[str, Any] = {"turn": 1, "step": 2, "index": 0, "dt": [3, -1], "texts": ["a", "", "b"]}
CALLS: dict[str, Any] = {
    "turn": 1,
    "step": 2,
    "index": 1,
    "dt": [0],
    "id": "c",
    "name": "dig",
    "args": ["{", "}"],
}


def packed(kind: str, data: object, seq: int = 4, time: int = 100) -> Deltas:
    row = {"type": f"{kind}-chunks", "seq0": seq, "time0": time, "data": data}
    return deltas(write_line(row)[:-1])


def deltas(line: bytes) -> Deltas:
    row = read_row(line, 0)
    assert isinstance(row, PackedRow)
    return Deltas(row)


def delta(seq: int, time: int, chunk: dict[str, Any]) -> dict[str, Any]:
    data = {"turn": 1, "step": 2, "chunk": chunk}
    return {"type": "assistant/chunk", "seq": seq, "time": time, "data": data}


@pytest.mark.parametrize("kind", ["text", "reasoning"])
def test_a_packed_row_of_texts_is_so_many_deltas(kind: str) -> None:
    chunk = {"type": f"{kind}-delta", "index": 0}
    assert list(packed(kind, TEXTS).expand()) == [
        delta(4, 100, chunk | {"text": "a"}),
        delta(5, 103, chunk | {"text": ""}),
        delta(6, 102, chunk | {"text": "b"}),
    ]


def test_a_packed_row_of_arguments_has_the_call_in_every_delta() -> None:
    chunk = {"type": "tool-call-delta", "index": 1, "id": "c", "name": "dig"}
    nameless = {key: value for key, value in CALLS.items() if key != "name"}
    for data, name in ((CALLS, {"name": "dig"}), (nameless, {})):
        shared = {"type": "tool-call-delta", "index": 1, "id": "c"} | name
        assert list(packed("tool-call", data).expand()) == [
            delta(4, 100, shared | {"argumentsDelta": "{"}),
            delta(5, 100, shared | {"argumentsDelta": "}"}),
        ]
    assert list(chunk) == list(next(packed("tool-call", CALLS).expand())["data"]["chunk"])[:-1]


def test_a_packed_row_is_read_as_javascript_reads_it() -> None:
    line = (
        b'{"seq0":4.0,"type":"text-chunks","time0":1e2,"data":{"turn":9,"turn":1.0,"step":2,'
        b'"index":0e1,"dt":[3.0,-1],"texts":["a\\ud83c","\\udf31","-0"]}}'
    )
    found = [(e["time"], e["data"]["chunk"]["text"]) for e in deltas(line).expand()]
    assert found == [(100, "a\ud83c"), (103, "\udf31"), (102, "-0")]


def test_a_row_with_fewer_members_than_a_writer_packs_is_read() -> None:
    assert len(packed("text", TEXTS | {"dt": [], "texts": [""]}).members) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"turn": -1},
        {"turn": True},
        {"step": 1.5},
        {"step": None},
        {"index": "0"},
        {"index": -0.0},
        {"dt": [3]},
        {"dt": [3, -1, 0]},
        {"dt": [3, 0.5]},
        {"dt": [3, -0.0]},
        {"dt": [3, MAX_SAFE]},
        {"dt": [3, "1"]},
        {"dt": {}},
        {"dt": 7},
        {"dt": [], "texts": []},
        {"texts": ["a", "b", 1]},
        {"texts": "abc"},
        {"more": 1},
        {"\ud83c": 1},
        {"id": "c"},
    ],
)
def test_a_malformed_row_of_texts_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(RowRefused, match="malformed text-chunks row"):
        packed("text", TEXTS | change)


@pytest.mark.parametrize(
    "change", [{"id": None}, {"name": None}, {"args": None}, {"args": []}, {"texts": ["a"]}]
)
def test_a_malformed_row_of_arguments_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(RowRefused, match="malformed tool-call-chunks row"):
        packed("tool-call", CALLS | change)


@pytest.mark.parametrize("data", [[], "x", None, {}])
def test_a_packed_row_needs_its_payload(data: object) -> None:
    with pytest.raises(RowRefused, match="malformed"):
        packed("text", data)


def test_times_and_seqs_stay_safe_integers() -> None:
    assert packed("text", TEXTS, MAX_SAFE - 2, MAX_SAFE - 3).times[1] == MAX_SAFE
    with pytest.raises(RowRefused, match="a time is beyond"):
        packed("text", TEXTS, 4, MAX_SAFE - 2)
    with pytest.raises(RowRefused, match="a seq is beyond"):
        packed("text", TEXTS, MAX_SAFE - 1)


@st.composite
def chunk_events(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Deltas of one attempt, in runs that a writer would pack, and single ones."""
    events: list[dict[str, Any]] = []
    for _ in range(draw(st.integers(1, 4))):
        chunk, key = draw(st.sampled_from(SHAPES))
        for text in draw(
            st.lists(st.sampled_from(["", "a", "é\ud83c", "\udf31", '"']), max_size=5)
        ):
            time = 100 + draw(st.integers(-5, 5))
            events.append(delta(len(events), time, chunk | ({key: text} if key else {})))
    return events


SHAPES: list[tuple[dict[str, Any], str]] = [
    ({"type": "text-delta", "index": 0}, "text"),
    ({"type": "reasoning-delta", "index": 1}, "text"),
    ({"type": "tool-call-delta", "index": 2, "id": "c"}, "argumentsDelta"),
    ({"type": "tool-call-delta", "index": 2, "id": "c", "name": "dig"}, "argumentsDelta"),
    ({"type": "block-end", "index": 0, "block": {"type": "text", "text": "x"}}, ""),
]


@given(chunk_events())
def test_the_lines_of_a_run_expand_to_its_events_and_can_be_cut_anywhere(
    events: list[dict[str, Any]],
) -> None:
    for rows in (events, pack_chunks(events)):
        lines = b"".join(map(write_line, rows))
        assert list(expand_run(lines)) == events
        for keep in range(1, len(events) + 1):
            kept = first_lines(lines, keep)
            assert list(expand_run(kept)) == events[:keep]
            # only the row in which the cut lies is written anew, as a writer writes it
            assert kept == lines[: len(kept)] or kept == b"".join(
                map(write_line, pack_chunks(events[:keep]) if rows is not events else rows[:keep])
            )


def test_a_chunk_tells_its_place_unless_it_cannot_join_a_run() -> None:
    good = {"turn": 1.0, "step": 2, "chunk": {"type": "anything"}}
    assert read_chunk(json.dumps(good).encode()) == (1, 2, {"type": "anything"})
    assert read_chunk(b'{"turn":1,"step":2,"chunk":{"a":1,"a":"\\ud83c"}}') == (
        1,
        2,
        {"a": "\ufffd"},
    )
    odd: list[dict[str, Any]] = [{"turn": None}, {"step": 1.5}, {"chunk": []}, {"turn": "1"}]
    for change in odd:
        assert read_chunk(json.dumps(good | change).encode()) is None
    assert read_chunk(b"[1]") is None
    assert read_chunk(b'{"turn":1,"step":2,"chunk":' + b'{"a":' * 600 + b"1" + b"}" * 601) is None


def test_lines_that_are_no_rows_are_refused() -> None:
    with pytest.raises(RowRefused):
        list(expand_run(b"nonsense\n"))
    assert parse(first_lines(write_line(delta(0, 5, {"type": "x"})), 1)) == delta(
        0, 5, {"type": "x"}
    )
