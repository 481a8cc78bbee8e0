"""Lines to stored events and back, byte for byte."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from dshstore.errors import CorruptStore, LogRefused
from dshstore.formats.dsh.chunkruns import MAX_MEMBERS, MAX_SIZE
from dshstore.formats.dsh.rows import RowDecoder, clip, data_bytes, log_lines, logical, store
from dshstore.jsontext import dump, parse, same
from dshstore.model import FORMAT_VERSIONS, Block, StoredEvent
from tests.formats.dsh.odd_lines import OddLine, odd_lines
from tests.logs import write_line, write_log
from tests.real_parts import require
from tests.strategies import SampleSession, sessions

PLACE = {"turn": 1, "step": 1}


def decode(lines: bytes | Iterable[bytes], version: int, next_seq: int = 0) -> list[StoredEvent]:
    data = lines if isinstance(lines, bytes) else b"".join(line + b"\n" for line in lines)
    return list(RowDecoder(version, next_seq=next_seq).decode([Block(data, 2, 100)]))


def one(line: str, version: int = 4, seq: int = 3) -> StoredEvent:
    [stored] = decode([line.encode()], version, seq)
    assert log_lines(stored, version) == line.encode() + b"\n"
    return stored


def event(type: str, data: object, seq: int = 3, **members: object) -> str:
    return dump({"type": type, "seq": seq, "time": 5, "data": data, **members})


def chunk(seq: int, turn: int = 1, **members: object) -> bytes:
    delta = {"type": "text-delta", "index": 0, "text": "x"} | members
    return event("assistant/chunk", {"turn": turn, "step": 1, "chunk": delta}, seq).encode()


def refusal(lines: Sequence[bytes], version: int = 0, next_seq: int = 0) -> LogRefused:
    with pytest.raises(LogRefused) as refused:
        decode(lines, version, next_seq)
    return refused.value


# -- whole logs --


def blocks_of(lines: Sequence[bytes], cuts: Iterable[int]) -> Iterator[Block]:
    ends = [0, *sorted({cut % (len(lines) + 1) for cut in cuts}), len(lines)]
    for start, end in pairwise(ends):
        if start < end:
            offset = 100 + sum(len(line) + 1 for line in lines[:start])
            yield Block(b"".join(line + b"\n" for line in lines[start:end]), start + 2, offset)


@given(sessions(), st.booleans(), st.lists(st.integers(0, 99), max_size=4))
def test_a_log_goes_in_and_out_unchanged_however_it_is_cut_into_blocks(
    session: SampleSession, packed: bool, cuts: list[int]
) -> None:
    version = session.header["version"]
    lines = write_log(session.header, session.events, packed=packed).split(b"\n")[1:-1]
    decoder = RowDecoder(version)
    stored = list(decoder.decode(blocks_of(lines, cuts)))
    assert b"".join(log_lines(row, version) for row in stored) == b"".join(
        line + b"\n" for line in lines
    )
    events = [event for row in stored for event in logical(row, version)]
    assert events == session.events
    assert list(map(list, events)) == list(map(list, session.events))
    assert [row.seq + row.count for row in stored[:-1]] == [row.seq for row in stored[1:]]
    assert decoder.next_seq == decoder.events == len(events)
    assert decoder.notes == []
    assert stored == list(RowDecoder(version).decode(blocks_of(lines, [])))


@given(sessions())
def test_a_line_as_a_writer_puts_it_is_not_kept_besides(session: SampleSession) -> None:
    version = session.header["version"]
    for row in decode(write_log(session.header, session.events).partition(b"\n")[2], version):
        if b"\\ud" not in log_lines(row, version):
            assert row.raw is None


@given(sessions())
def test_an_event_is_stored_as_its_line_would_be(session: SampleSession) -> None:
    version = session.header["version"]
    for event in session.events:
        stored = store(event, version)
        lines = log_lines(stored, version)
        [decoded] = decode(lines, version, event["seq"])
        assert stored == structs.replace(decoded, line=0, offset=0, frame=None)


@given(sessions(), st.booleans())
def test_a_run_cut_short_is_the_run_of_a_log_that_ends_there(
    session: SampleSession, packed: bool
) -> None:
    version = session.header["version"]
    log = write_log(session.header, session.events, packed=packed).partition(b"\n")[2]
    for row in decode(log, version):
        events = list(logical(row, version))
        assert clip(row, row.count, version) is row
        for keep in range(1, row.count):
            clipped = clip(row, keep, version)
            assert (clipped.seq, clipped.count, clipped.line) == (row.seq, keep, row.line)
            assert list(logical(clipped, version)) == events[:keep]
            assert decode(log_lines(clipped, version), version, row.seq) == [
                structs.replace(clipped, line=2, offset=100)
            ]


# -- odd lines --


@st.composite
def odd_logs(draw: st.DrawFn) -> tuple[int, list[OddLine]]:
    version = draw(st.sampled_from(FORMAT_VERSIONS))
    return version, [draw(odd_lines(seq, version)) for seq in range(draw(st.integers(1, 8)))]


@given(odd_logs())
def test_an_odd_line_comes_out_as_it_went_in_and_means_what_javascript_sees(
    log: tuple[int, list[OddLine]],
) -> None:
    version, lines = log
    stored = decode([line.line for line in lines], version)
    assert b"".join(log_lines(row, version) for row in stored) == b"".join(
        line.line + b"\n" for line in lines
    )
    events = [event for row in stored for event in logical(row, version)]
    assert [event["seq"] for event in events] == list(range(len(lines)))
    for event, line in zip(events, lines, strict=True):
        assert event["type"] == json.loads(line.type)
        assert same(event["data"], parse(line.payload))
    for row, line in zip(stored, lines, strict=True):
        assert data_bytes(row, version) == line.payload.encode()


@settings(max_examples=15)
@given(st.lists(odd_logs(), min_size=3, max_size=6))
def test_an_old_sqlite_reads_every_column_with_the_same_meaning(
    logs: list[tuple[int, list[OddLine]]],
) -> None:
    columns: list[str] = []
    for version, lines in logs:
        for row in decode([line.line for line in lines], version):
            texts = [row.data, row.source_event_seqs, row.surface_op]
            texts += [row.stream.usage] if row.stream else []
            columns += [text for text in texts if text is not None]
            row.type.encode()
            if row.stream is not None and row.stream.at is not None:
                assert row.data.encode()[row.stream.at :].startswith(b"null")
    script = "".join(f"SELECT json_valid(CAST(x'{c.encode().hex()}' AS TEXT));\n" for c in columns)
    shell = subprocess.run(
        [require("sqlite3"), ":memory:"], input=script, capture_output=True, text=True, check=True
    )
    assert shell.stdout.split() == ["1"] * len(columns)


# -- columns --


def test_a_plain_event_has_its_members_in_columns() -> None:
    stored = one('{"type":"user/message","seq":3,"time":-5,"data":{"a":"世"},"surfaceOp":"append"}')
    assert stored == StoredEvent(
        3, 1, "user/message", -5, '{"a":"世"}', None, '"append"', line=2, offset=100
    )


def test_all_members_are_in_the_order_of_a_writer() -> None:
    stored = one(
        '{"type":"t","seq":30,"time":5,"data":0,"ignorable":true,"sourceEventSeqs":[3,[5,8]],'
        '"surfaceOp":{"op":"replace","startSeq":3,"endSeq":8}}',
        seq=30,
    )
    assert (stored.ignorable, stored.source_event_seqs) == (1, "[3,5,6,7,8]")
    assert stored.surface_op == '{"op":"replace","startSeq":3,"endSeq":8}'
    assert stored.raw is None
    [back] = logical(stored, 4)
    assert list(back) == [
        "type",
        "seq",
        "time",
        "data",
        "ignorable",
        "sourceEventSeqs",
        "surfaceOp",
    ]
    assert back["sourceEventSeqs"] == [3, 5, 6, 7, 8]


@pytest.mark.parametrize(
    "line",
    [
        '{"seq":3,"type":"t","time":5,"data":0}',
        '{"type":"t","seq":3,"time":5,"data":0} ',
        '{"type":"t", "seq":3,"time":5,"data":0}',
        '{"type":"t","seq":3.0,"time":5,"data":0}',
        '{"type":"\\u0074","seq":3,"time":5,"data":0}',
        '{"type":"t","seq":3,"time":5,"data":0,"surfaceOp":"append","sourceEventSeqs":[1]}',
        '{"type":"t","seq":3,"time":5,"data":0,"sourceEventSeqs":[0,1,2]}',
        '{"type":"t","seq":3,"time":5,"data":1,"data":0}',
    ],
)
def test_a_line_that_no_writer_puts_so_is_kept_besides(line: str) -> None:
    assert one(line).raw == line.encode()


@pytest.mark.parametrize(
    ("payload", "data"),
    [
        ('{"a":1,"a":2}', '{"a":2}'),
        ('{"a":"x\\ud83c"}', '{"a":"x\ufffd"}'),
        ("[" * 501 + "]" * 501, '{"$deep":true}'),
    ],
)
def test_what_no_column_can_hold_is_made_readable_and_the_line_kept(
    payload: str, data: str
) -> None:
    line = f'{{"type":"t","seq":3,"time":5,"data":{payload}}}'
    stored = one(line)
    assert (stored.data, stored.raw) == (data, line.encode())
    assert data_bytes(stored, 4) == payload.encode()
    assert same(next(logical(stored, 4))["data"], parse(payload))


def test_half_a_surrogate_pair_in_a_type_is_kept_in_the_line() -> None:
    stored = one('{"type":"a\\ud83c","seq":3,"time":5,"data":0}')
    assert stored.type == "a\ufffd"
    assert next(logical(stored, 4))["type"] == "a\ud83c"
    assert store({"type": "a\ud83c", "seq": 3, "time": 5, "data": 0}, 4).raw == stored.raw


@pytest.mark.parametrize(
    ("payload", "data"),
    [
        ('{"meta":1.0}', '{"meta":1}'),
        ('{"meta":[1e3,-0,9007199254740993]}', '{"meta":[1000,0,9007199254740992]}'),
        ('{"met\\u0061":1}', '{"meta":1}'),
    ],
)
def test_equal_tool_results_have_equal_columns(payload: str, data: str) -> None:
    stored = one(f'{{"type":"tool/result","seq":3,"time":5,"data":{payload}}}')
    assert stored.data == data
    assert stored.raw is not None


@pytest.mark.parametrize(
    "payload", ['{"meta":1,"text":"1.0 and 1e3, -0"}', '{"a":0.5,"b":true,"c":"\\\\"}']
)
def test_a_tool_result_in_one_spelling_is_not_kept_besides(payload: str) -> None:
    assert one(f'{{"type":"tool/result","seq":3,"time":5,"data":{payload}}}').raw is None


# -- settlements --

STREAM = [
    {"type": "text-chunks", "time0": 100, "index": 0, "dt": [5], "texts": ["a\ud83c", "\udf31"]},
    {"type": "chunk", "time": 107, "chunk": {"type": "usage", "usage": {"outputTokens": 2}}},
    {"type": "chunk", "time": 108, "chunk": {"type": "finish", "reason": {"kind": "stop"}}},
]


@pytest.mark.parametrize("kind", ["assistant/message", "assistant/attempt"])
@pytest.mark.parametrize("version", [2, 3, 4])
def test_the_stream_of_a_settlement_is_cut_out(kind: str, version: int) -> None:
    line = event(kind, {**PLACE, "x": "世", "stream": STREAM})
    stored = one(line, version)
    part = stored.stream
    assert part is not None
    assert (stored.data, stored.raw) == ('{"turn":1,"step":1,"x":"世","stream":null}', None)
    assert part.at == len('{"turn":1,"step":1,"x":"世","stream":'.encode())
    assert (part.first_time, part.last_time, part.finish) == (100, 108, "stop")
    assert part.usage == '{"outputTokens":2}'
    assert data_bytes(stored, version).decode() in line
    assert next(logical(stored, version))["data"]["stream"] == STREAM
    assert store(json.loads(line), version).stream == part


def test_a_cut_keeps_its_place_when_the_rest_is_made_readable() -> None:
    data = dump({"stream": STREAM})[1:-1]
    stored = one(f'{{"type":"assistant/message","seq":3,"time":5,"data":{{"a":0,"a":1,{data}}}}}')
    assert stored.data == '{"a":1,"stream":null}'
    assert stored.stream is not None
    assert stored.data[stored.stream.at :] == "null}"


def test_nothing_is_cut_where_no_place_is_left_for_it() -> None:
    data = {"deep": parse("[" * 600 + "]" * 600), "stream": STREAM}
    stored = one(event("assistant/message", data))
    assert (stored.data, stored.stream) == ('{"$deep":true}', None)
    assert parse(data_bytes(stored, 4)) == data


def test_no_stream_is_cut_before_v2_nor_from_another_event() -> None:
    assert one(event("assistant/message", {"stream": STREAM}), 1).stream is None
    assert one(event("user/message", {"stream": STREAM}), 4).stream is None


def test_a_v2_settlement_with_sources_is_noted_once() -> None:
    lines = [
        event("assistant/message", {}, seq, sourceEventSeqs=[0], surfaceOp="append").encode()
        for seq in (1, 2)
    ]
    for version, notes in ((1, 0), (2, 1), (3, 0)):
        decoder = RowDecoder(version, next_seq=1)
        list(decoder.decode([Block(b"\n".join([*lines, b""]), 7, 0)]))
        assert len(decoder.notes) == notes
        assert all("line 7" in note for note in decoder.notes)


# -- runs --


def test_deltas_of_one_attempt_are_one_event() -> None:
    usage = {"type": "usage", "usage": {"outputTokens": 4}}
    packed = (
        b'{"type":"text-chunks","seq0":1,"time0":9,"data":'
        b'{"turn":1,"step":1,"index":0,"dt":[4,4],"texts":["a","b","c"]}}'
    )
    lines = [
        chunk(0),
        packed,
        event("assistant/chunk", {**PLACE, "chunk": usage}, 4).encode(),
        chunk(5, type="finish", reason={"kind": "stop"}),
    ]
    [run] = decode(lines, 0)
    assert (run.seq, run.count, run.type, run.time) == (0, 6, "assistant/chunk", 5)
    assert (run.data, run.raw, run.line) == ('{"turn":1,"step":1}', None, 2)
    part = run.stream
    assert part is not None
    assert (part.at, part.size) == (None, sum(len(line) + 1 for line in lines))
    assert (part.first_time, part.last_time) == (5, 5)
    assert (part.usage, part.finish) == ('{"outputTokens":4}', "stop")
    assert decode(lines[:2], 1)[0].stream is not None
    assert decode(lines[:2], 1)[0].stream.last_time == 17  # type: ignore[union-attr]
    with pytest.raises(ValueError, match="run"):
        data_bytes(run, 0)


@pytest.mark.parametrize(
    "lines",
    [
        [chunk(0), chunk(1), chunk(2, type="finish"), chunk(3), chunk(4)],
        [chunk(0), chunk(1), chunk(2), chunk(3, turn=2), chunk(4, turn=2)],
        [chunk(0), chunk(1), chunk(2, x="\ud83c"), chunk(3, turn=2), chunk(4, turn=2)],
    ],
)
def test_a_run_ends_with_its_attempt(lines: list[bytes]) -> None:
    assert [row.count for row in decode(lines, 0)] == [3, 2]


def test_a_run_ends_at_any_other_event() -> None:
    other = event("todo/write", {}, 2).encode()
    rows = decode([chunk(0), chunk(1), other, chunk(3), chunk(4)], 0)
    assert [row.count for row in rows] == [2, 1, 2]


def test_a_single_chunk_is_an_event_of_its_own() -> None:
    [row] = decode([chunk(0)], 0)
    assert (row.count, row.stream) == (1, None)
    assert row.data == '{"turn":1,"step":1,"chunk":{"type":"text-delta","index":0,"text":"x"}}'


@pytest.mark.parametrize(
    "odd",
    [
        event("assistant/chunk", {**PLACE, "chunk": {"type": "x"}}, 2, ignorable=True),
        event("assistant/chunk", {**PLACE, "chunk": {"type": "x"}}, 2, surfaceOp="append"),
        event("assistant/chunk", {**PLACE, "chunk": {"type": "x"}}, 2, sourceEventSeqs=[]),
        event("assistant/chunk", {"turn": 1, "chunk": {"type": "x"}}, 2),
        event("assistant/chunk", {"turn": "1", "step": 1, "chunk": {"type": "x"}}, 2),
        event("assistant/chunk", 7, 2),
    ],
)
def test_a_chunk_that_has_more_or_no_place_is_an_event_of_its_own(odd: str) -> None:
    rows = decode([chunk(0), chunk(1), odd.encode(), chunk(3), chunk(4)], 0)
    assert [row.count for row in rows] == [2, 1, 2]
    assert rows[1].stream is None


def test_odd_lines_of_an_attempt_stay_in_its_run() -> None:
    odd = chunk(1).replace(b'"seq":1', b' "seq":1e0').replace(b'"turn":1', b'"turn":7,"turn":1.0')
    lines = [chunk(0), odd, chunk(2, text="\ud83c"), chunk(3, text="x" * 3000), chunk(4)]
    [run] = decode(lines, 0)
    assert log_lines(run, 0) == b"".join(line + b"\n" for line in lines)


def test_later_versions_have_no_runs() -> None:
    assert [row.count for row in decode([chunk(0), chunk(1)], 2)] == [1, 1]


@pytest.mark.parametrize("odd", [False, True])
def test_a_run_is_limited_in_members_and_bytes(odd: bool) -> None:
    space = b" " if odd else b""
    many = [chunk(seq) + space for seq in range(MAX_MEMBERS + 3)]
    assert [row.count for row in decode(many, 0)] == [MAX_MEMBERS, 3]
    text = "\\ud83c" if odd else "x"
    long = [chunk(seq, text=text * (900 // len(text))) for seq in range(1200)]
    runs = decode(long, 0)
    assert len(runs) == 2
    assert all(row.stream is not None and row.stream.size <= MAX_SIZE for row in runs)
    assert b"".join(log_lines(row, 0) for row in runs) == b"".join(line + b"\n" for line in long)


def test_a_packed_row_beyond_the_limits_is_a_run_of_its_own() -> None:
    members = MAX_MEMBERS + 1
    data = {**PLACE, "index": 0, "dt": [0] * (members - 1), "texts": ["x"] * members}
    row = {"type": "text-chunks", "seq0": 1, "time0": 9, "data": data}
    rows = decode([chunk(0), write_line(row)[:-1], chunk(members + 1)], 0)
    assert [row.count for row in rows] == [1, members, 1]


# -- refusals --


def test_everything_before_a_bad_line_is_given_out() -> None:
    lines = [event("a", 0, 0).encode(), chunk(1), chunk(2), b"nonsense", chunk(3)]
    decoder = RowDecoder(0)
    rows = decoder.decode([Block(b"\n".join([*lines, b""]), 2, 100)])
    assert [next(rows).count, next(rows).count] == [1, 2]
    with pytest.raises(LogRefused) as refused:
        next(rows)
    assert (refused.value.line, refused.value.frame) == (5, None)
    assert refused.value.offset == 100 + sum(len(line) + 1 for line in lines[:3])
    assert (decoder.next_seq, decoder.events) == (3, 3)


def test_what_ends_the_blocks_comes_after_the_events_before_it() -> None:
    def blocks() -> Iterator[Block]:
        yield Block(chunk(0) + b"\n" + chunk(1) + b"\n", 2, 0)
        raise LogRefused("torn")

    rows = RowDecoder(0).decode(blocks())
    assert next(rows).count == 2
    with pytest.raises(LogRefused, match="torn"):
        next(rows)


def test_places_count_carriage_returns_and_name_the_frame() -> None:
    lines = [event("a", 0, 0), event("b", 0, 1), "nonsense"]
    data = "\r\n".join([*lines, ""]).encode()
    for frame in (None, 6):
        decoder = RowDecoder(4)
        rows = decoder.decode([Block(data, 9, 70, frame)])
        offsets = [70 + (len(lines[0]) + 2) * n if frame is None else 70 for n in range(3)]
        for n in range(2):
            row = next(rows)
            assert (row.line, row.offset, row.frame) == (9 + n, offsets[n], frame)
            assert (row.raw, log_lines(row, 4)) == (None, lines[n].encode() + b"\n")
        with pytest.raises(LogRefused) as refused:
            next(rows)
        refusal = refused.value
        assert (refusal.line, refusal.offset, refusal.frame) == (11, offsets[2], frame)


def test_only_a_line_feed_ends_a_line() -> None:
    line = event("a", "x\u2028y\u0085z\x0c"[:-1], 0)
    assert log_lines(decode([line.encode()], 4)[0], 4) == line.encode() + b"\n"


def broken_at(line: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The line in two, at every place where JSON may have a space."""
    for at in (line.index(b",") + 1, line.index(b'"data":') + 7, line.rindex(b"}"), len(line) - 2):
        yield line[:at], line[at:]


def test_every_line_of_a_run_is_a_row_of_its_own() -> None:
    for between in (b"", b" "):
        for first, second in broken_at(chunk(4)):
            lines = [chunk(0), chunk(1), chunk(2) + between + chunk(3), first, second, chunk(5)]
            assert refusal(lines).line == 4
            assert refusal([chunk(2), chunk(3), first, second], next_seq=2).line == 4


def test_a_line_on_its_own_that_is_not_utf8_is_refused() -> None:
    for line in (chunk(0), event("a", "x", 0).encode()):
        assert "UTF-8" in refusal([line.replace(b'"x"', b'"\xff"')]).reason


def test_a_gap_is_refused_with_both_seqs() -> None:
    assert "seq 2, expected 1" in refusal([chunk(0), chunk(2)]).reason
    assert "seq 4, expected 9" in refusal([chunk(4)], 0, 9).reason


@pytest.mark.parametrize("packed", [False, True])
def test_a_seq_that_stands_twice_is_refused_with_both_lines(packed: bool) -> None:
    data = {**PLACE, "index": 0, "dt": [0, 0], "texts": ["a", "b", "c"]}
    row = {"type": "text-chunks", "seq0": 1, "time0": 9, "data": data}
    lines = [write_line(row)[:-1]] if packed else [chunk(1), chunk(2), chunk(3)]
    decoder = RowDecoder(0)
    blocks = [
        Block(chunk(0) + b"\n", 2, 0),
        Block(b"\n".join([*lines, b""]), 3, 0),
        Block(chunk(2) + b"\n", 90, 0),
    ]
    with pytest.raises(LogRefused) as refused:
        list(decoder.decode(blocks))
    earlier = 3 if packed else 4
    assert f"seq 2 stands twice, on lines {earlier} and 90" in refused.value.reason


def test_a_seq_that_stands_twice_is_found_past_the_block_before() -> None:
    blocks = [Block(chunk(0) + b"\n", 2, 0), Block((chunk(1) + b"\n") * 2, 3, 200)]
    with pytest.raises(LogRefused, match="seq 1 stands twice, on lines 3 and 4"):
        list(RowDecoder(0).decode(blocks))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "blank line"),
        ('{"type":"a","seq":0,"time":5,"data":0,"x":1}', '"x"'),
        ('{"type":"a","seq":0,"time":5,"data":0,"sourceEventSeqs":[[2,1]]}', "sources-not-seqs"),
        ('{"type":"a","seq":0,"time":5,"data":' + "[" * 1001 + "]" * 1001 + "}", "1000 levels"),
        (
            '{"type":"assistant/chunk","seq":0,"time":5,"data":' + "[" * 1001 + "]" * 1001 + "}",
            "1000 levels",
        ),
        ('{"type":"text-chunks","seq0":0,"time0":5,"data":{}}', "malformed text-chunks row"),
        ('{"type":"a","seq":0,"time":5,"data":{]}', "column 38"),
    ],
)
def test_a_bad_line_is_refused_with_the_reason(line: str, words: str) -> None:
    refused = refusal([line.encode()])
    assert words in refused.reason
    assert refused.line == 2


# -- events from elsewhere --


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"seq": -1}, '"seq"'),
        ({"time": 1.5}, '"time"'),
        ({"type": None}, '"type"'),
        ({"ignorable": False}, '"ignorable"'),
        ({"more": 1}, '"more"'),
        ({"data": object()}, "JSON"),
        ({"data": {1: 2}}, "JSON"),
        ({"data": parse("[" * 1000 + "]" * 1000)}, None),
        ({"data": [parse("[" * 1000 + "]" * 1000)]}, "JSON"),
        ({"sourceEventSeqs": [[5, 4]]}, "sources-not-seqs"),
    ],
)
def test_an_event_that_is_no_row_is_refused(change: dict[str, Any], words: str | None) -> None:
    value = {"type": "t", "seq": 3, "time": 5, "data": 0} | change
    if words is None:
        assert store(value, 4).data == '{"$deep":true}'
    else:
        with pytest.raises(ValueError, match=words):
            store(value, 4)


def test_an_event_needs_all_its_members() -> None:
    with pytest.raises(ValueError, match='"data" is missing'):
        store({"type": "t", "seq": 3, "time": 5}, 4)


def test_json_that_came_in_by_sql_leaves_on_one_line() -> None:
    stored = StoredEvent(3, 1, "t", 5, '{\n "a": 1\n}', "[1,\n2]", '"append"')
    line = log_lines(stored, 4)
    assert line.count(b"\n") == 1
    assert parse(line) == next(logical(stored, 4))


# -- damage --


def test_a_damaged_row_is_told() -> None:
    [run] = decode([chunk(0), chunk(1)], 0)
    assert run.stream is not None
    junk = zstandard.compress(b"nonsense\n" * 2)
    for body, size in ((b"", 1), (junk, 18), (junk, 17)):
        broken = structs.replace(run, stream=structs.replace(run.stream, body=body, size=size))
        with pytest.raises(CorruptStore):
            list(logical(broken, 0))
        with pytest.raises(CorruptStore):
            clip(broken, 1, 0)
    for raw in (b"nonsense", chunk(0)[:-1]):
        with pytest.raises(CorruptStore):
            data_bytes(StoredEvent(0, 1, "t", 5, "0", raw=raw), 0)


@pytest.mark.parametrize("keep", [0, -1, 3])
def test_only_members_that_are_there_can_be_kept(keep: int) -> None:
    [run] = decode([chunk(0), chunk(1)], 0)
    with pytest.raises(ValueError, match="2 members"):
        clip(run, keep, 0)


# -- the logs of the harness --


def read_log(path: Path) -> bytes:
    data = path.read_bytes()
    if path.suffix not in (".zst", ".zstd"):
        return data
    whole = b""
    while data:
        frame = zstandard.ZstdDecompressor().decompressobj()
        whole += frame.decompress(data)
        data = frame.unused_data
    return whole


@pytest.mark.shared
@pytest.mark.parametrize(
    "folder", ["corpus/v0", "corpus/v2", "corpus/v3", "corpus/v4", "corpus/live"]
)
def test_the_logs_of_the_harness_go_in_and_out_unchanged(shared: Path, folder: str) -> None:
    paths = [path for path in (shared / folder).glob("*.jsonl*") if path.stem != "expected"]
    assert paths
    for path in paths:
        header, _, log = read_log(path).partition(b"\n")
        version = json.loads(header).get("version")
        if version is None:
            continue
        whole = log[: log.rfind(b"\n") + 1]
        rows = decode(whole, version)
        assert b"".join(log_lines(row, version) for row in rows) == whole, path.name
        for row in rows:
            events = list(logical(row, version))
            assert len(events) == row.count
            for keep in {1, 2, 3, row.count // 2, row.count - 1} & set(range(1, row.count)):
                assert list(logical(clip(row, keep, version), version)) == events[:keep]


@pytest.mark.shared
def test_odd_logs_from_the_field_go_in_and_out_unchanged(shared: Path) -> None:
    expected = json.loads((shared / "cases/expected.json").read_text(encoding="utf-8"))
    names = [
        name
        for name, case in expected.items()
        if case["kind"] == "valid" and "bom" not in name and "big" not in name
    ]
    assert names
    for name in names:
        header, _, log = read_log(shared / "cases" / name).partition(b"\n")
        version = json.loads(header)["version"]
        rows = decode(log, version)
        assert b"".join(log_lines(row, version) for row in rows) == log, name
        assert sum(row.count for row in rows) == expected[name]["events_before_defect"]
