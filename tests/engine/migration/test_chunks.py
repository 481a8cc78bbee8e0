"""Runs of deltas: what they compact to, where one ends, and what no stream can hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dshstore import streams
from dshstore.engine.migration.chunks import ChunkRun, Stream, gather, read_run
from dshstore.errors import MigrationRefused
from dshstore.formats.dsh.envelope import RowRefused
from tests.logs import BASE_TIME, EventDict, Json, pack_chunks, write_line

SAFE = 2**53 - 1


def chunk_event(seq: int, chunk: Json, time: int = BASE_TIME, **place: int) -> EventDict:
    data = {"turn": 1, "step": 1, **place, "chunk": chunk}
    return {"type": "assistant/chunk", "seq": seq, "time": time, "data": data}


def delta(text: str, index: int = 0) -> EventDict:
    return {"type": "text-delta", "index": index, "text": text}


def call(arguments: str, **members: Json) -> EventDict:
    chunk = {"type": "tool-call-delta", "index": 0, "id": "c", **members}
    return {**chunk, "argumentsDelta": arguments}


FINISH = {"type": "finish", "reason": {"kind": "stop"}}

_chunks = st.one_of(
    st.builds(delta, st.text(max_size=3), st.integers(0, 1)),
    st.builds(lambda chunk: {**chunk, "type": "reasoning-delta"}, st.builds(delta, st.text())),
    st.builds(call, st.text(max_size=3), id=st.sampled_from(["c", "d", ""])),
    st.builds(call, st.text(max_size=3), name=st.sampled_from(["n", "m", ""])),
    st.just({"type": "usage", "usage": {"inputTokens": 1}}),
    st.just({"type": "block-start", "index": 0, "blockType": "text"}),
    st.just(FINISH),
)


@st.composite
def chunk_logs(draw: st.DrawFn) -> list[EventDict]:
    """Chunk events of a few turns and steps, at times that may go back or far apart."""
    times = st.sampled_from([0, 1, 1, 1, 8, -40, SAFE, -SAFE])
    chunks = draw(st.lists(st.tuples(_chunks, st.integers(1, 2), times), max_size=12))
    return [
        chunk_event(seq, chunk, time, step=step) for seq, (chunk, step, time) in enumerate(chunks)
    ]


def split(events: Sequence[EventDict]) -> Iterator[list[EventDict]]:
    """The events of each run: of one turn and step, up to a finish chunk."""
    run: list[EventDict] = []
    for event in events:
        here = run and run[-1]["data"]
        if here and (here["step"] != event["data"]["step"] or here["chunk"] == FINISH):
            yield run
            run = []
        run.append(event)
    if run:
        yield run


def described(run: ChunkRun) -> tuple[int, int, int, Json, int, bool]:
    return run.seq, run.count, run.step, run.records, run.last_time, run.finished


def wanted(events: Sequence[EventDict]) -> list[tuple[int, int, int, Json, int, bool]]:
    return [
        (
            run[0]["seq"],
            len(run),
            run[0]["data"]["step"],
            streams.compact([{"time": e["time"], "chunk": e["data"]["chunk"]} for e in run]),
            run[-1]["time"],
            run[-1]["data"]["chunk"] == FINISH,
        )
        for run in split(events)
    ]


@given(chunk_logs())
def test_events_are_gathered_to_what_their_chunks_compact_to(events: list[EventDict]) -> None:
    runs = [run for run in gather(events) if isinstance(run, ChunkRun)]
    assert [described(run) for run in runs] == wanted(events)


@given(chunk_logs())
def test_lines_are_gathered_to_what_their_chunks_compact_to(events: list[EventDict]) -> None:
    lines = b"".join(map(write_line, events))
    assert [described(run) for run in read_run(lines)] == wanted(events)


@given(chunk_logs())
def test_packed_rows_are_gathered_to_what_their_chunks_compact_to(events: list[EventDict]) -> None:
    named = [e for e in events if e["data"]["chunk"].get("id") != ""]
    named = [{**event, "seq": seq} for seq, event in enumerate(named)]
    times = [event["time"] for event in named]
    if all(abs(b - a) <= SAFE for a, b in pairwise(times)):
        lines = b"".join(map(write_line, pack_chunks(named)))
        assert [described(run) for run in read_run(lines)] == wanted(named)


@given(chunk_logs(), st.integers(1, 5))
def test_runs_are_gathered_as_the_events_in_them(events: list[EventDict], size: int) -> None:
    parts = [
        run for first in range(0, len(events), size) for run in gather(events[first : first + size])
    ]
    assert [described(run) for run in gather(parts) if isinstance(run, ChunkRun)] == wanted(events)


@pytest.mark.parametrize(
    ("members", "kinds"), [({"name": ""}, ["chunk"] * 4), ({}, ["tool-call-chunks"])]
)
def test_a_packed_row_of_calls_without_a_name_is_a_run_unless_the_name_is_empty(
    members: EventDict, kinds: list[str]
) -> None:
    events = [chunk_event(seq, call("a", **members)) for seq in range(4)]
    [row] = pack_chunks(events)
    [run] = read_run(write_line(row))
    assert [described(run)] == wanted(events)
    assert [record["type"] for record in run.records] == kinds


@pytest.mark.parametrize("chunk", [delta("a"), call("a", name="n")])
def test_deltas_further_apart_than_a_gap_can_say_are_runs_of_their_own(chunk: EventDict) -> None:
    times = (0, -SAFE, SAFE, SAFE)
    events = [chunk_event(seq, chunk, time) for seq, time in enumerate(times)]
    [run] = read_run(b"".join(map(write_line, events)))
    assert [described(run)] == wanted(events)
    assert [record["dt"] for record in run.records] == [[-SAFE], [0]]


@pytest.mark.parametrize("line", [b"junk", b'{"type":"assistant/chunk"}'])
def test_a_line_that_is_no_row_is_not_the_logs_fault(line: bytes) -> None:
    with pytest.raises(RowRefused):
        list(read_run(line + b"\n"))


def test_other_events_pass_between_the_runs() -> None:
    other = {"type": "plan/mode", "seq": 1, "time": 0, "data": {}}
    first, passed, second = gather([chunk_event(0, delta("a")), other, chunk_event(2, delta("b"))])
    assert passed is other
    assert isinstance(first, ChunkRun)
    assert isinstance(second, ChunkRun)
    assert (first.seq, second.seq) == (0, 2)


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"assistant/chunk","seq":-0,"time":5,"data":%s}',
        b'{"type":"assistant/chunk","seq":0,"time":5.0,"data":%s}',
        b'{"type":"other","type":"assistant/chunk","seq":0,"time":5,"data":%s}',
        b'{ "seq" : 0, "time":5, "data":%s, "type":"assistant/chunk"}',
    ],
)
def test_a_line_means_what_javascript_reads_in_it(line: bytes) -> None:
    data = b'{"turn":1.0,"step":1,"chunk":{"type":"text-delta","index":0.0,"text":"\\ud83c"}}'
    if b"-0" in line:
        with pytest.raises(Exception, match="seq"):
            list(read_run(line % data + b"\n"))
        return
    [run] = read_run(line % data + b"\n")
    assert (run.turn, run.last_time) == (1, 5)
    assert run.records[0]["texts"] == ["\ud83c"]


@pytest.mark.parametrize(
    "chunk",
    [
        {"type": "smell-delta"},
        {"type": "text-delta", "index": 0},
        {"type": "text-delta", "index": -1, "text": "a"},
        {"type": "text-delta", "index": -0.0, "text": "a"},
        {"type": "usage", "usage": {"inputTokens": -0.0}},
        "finish",
        None,
    ],
)
def test_a_chunk_that_no_stream_can_hold_is_refused_after_those_before_it(chunk: Json) -> None:
    events = [chunk_event(4, delta("a")), chunk_event(5, chunk)]
    lines = b"".join(write_line(event).replace(b"-0.0", b"-0") for event in events)
    for runs in (gather(events), read_run(lines)):
        assert [described(next(runs))] == wanted(events[:1])  # type: ignore[arg-type]
        with pytest.raises(MigrationRefused) as caught:
            next(runs)
        assert caught.value.seq == 5


@pytest.mark.parametrize("place", [{"turn": -1}, {"step": 0.5}, {"extra": 1}])
def test_a_chunk_with_another_place_is_refused(place: dict[str, int]) -> None:
    event = chunk_event(3, delta("a"), **place)
    for runs in (gather([event]), read_run(write_line(event))):
        with pytest.raises(MigrationRefused) as caught:
            next(runs)
        assert caught.value.seq == 3


def test_a_packed_row_without_the_id_of_its_call_is_refused() -> None:
    row = {"type": "tool-call-chunks", "seq0": 6, "time0": 0}
    data = {"turn": 1, "step": 1, "index": 0, "dt": [], "id": "", "args": ["a"]}
    with pytest.raises(MigrationRefused, match="id") as caught:
        next(read_run(write_line({**row, "data": data})))
    assert caught.value.seq == 6


@given(st.lists(st.lists(st.tuples(_chunks, st.sampled_from([0, 1, SAFE, -SAFE])), min_size=1)))
def test_a_stream_that_grows_is_one_that_was_compacted_at_once(
    parts: list[list[tuple[EventDict, int]]],
) -> None:
    stream, timed = Stream(), []
    for part in parts:
        added = [{"time": time, "chunk": chunk} for chunk, time in part]
        stream.extend(streams.compact(added), part[-1][1])
        timed += added
    assert stream.records == streams.compact(timed)
