"""Rows that are read together are read as they are one by one, whatever is odd about a log."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from dshstore.errors import LogRefused
from dshstore.formats.dsh.envelope import RowRefused
from dshstore.formats.dsh.rows import RowDecoder
from dshstore.model import FORMAT_VERSIONS, Block, StoredEvent
from tests.formats.dsh.odd_lines import odd_lines, values
from tests.logs import write_line

TEXTS = ("a", "", "世界 ", 'x"', "\\", "{[", "\n", "\ud83c", '"usage"', '"assistant/message"', "-0")

ENDS: tuple[dict[str, Any], ...] = (
    {"type": "usage", "usage": {"outputTokens": 2}},
    {"type": "usage", "usage": {"a\0": 1, "a\ufffd": 1.5, "c": "\0"}},
    {"type": "usage", "usage": 7},
    {"type": "usage"},
    {"type": "finish", "reason": {"kind": "stop"}},
    {"type": "finish", "reason": {"kind": 1}},
    {"type": "finish"},
)

_deltas = st.tuples(st.sampled_from(["text-delta", "reasoning-delta"]), st.sampled_from(TEXTS)).map(
    lambda delta: {"type": delta[0], "index": 0, "text": delta[1]}
)
_chunks = st.one_of(_deltas, _deltas, _deltas, st.sampled_from(ENDS))
_others: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [
        {"type": "assistant/message", "data": {"turn": 1, "step": 1}, "surfaceOp": "append"},
        {"type": "step/end", "data": {"turn": 1, "step": 1}},
        {"type": "assistant/chunk", "data": {"turn": 1, "step": 1, "chunk": None}},
        {"type": "assistant/chunk", "data": {"turn": 1, "chunk": {"type": "text-delta"}}},
    ]
)


@st.composite
def rows(draw: st.DrawFn) -> list[bytes]:
    """Lines of a log of runs, as a writer puts them, each with its LF."""
    lines: list[bytes] = []
    seq = turn = 0
    for _ in range(draw(st.integers(1, 4))):
        turn += draw(st.integers(0, 1))
        for chunk in draw(st.lists(_chunks, min_size=1, max_size=12)):
            data = {"turn": turn, "step": 1, "chunk": chunk}
            lines.append(
                write_line({"type": "assistant/chunk", "seq": seq, "time": 9 + seq, "data": data})
            )
            seq += 1
        if draw(st.integers(0, 3)) == 0:
            data = {"turn": turn, "step": 1, "index": 0, "dt": [1], "texts": ["a", "b"]}
            row = {"type": "text-chunks", "seq0": seq, "time0": 9, "data": data}
            lines.append(write_line(row))
            seq += 2
        for other in draw(st.lists(_others, max_size=2)):
            event = {"type": other["type"], "seq": seq, "time": 9, **other}
            lines.append(write_line(event))
            seq += 1
    return lines


def _put(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    return lambda line: line.replace(old, new, 1)


def _turned(line: bytes) -> bytes:
    return json.dumps(dict(reversed(json.loads(line).items()))).encode() + b"\n"


#: What may have happened to a line.
ODDITIES: tuple[Callable[[bytes], bytes], ...] = (
    _put(b":", b": "),
    _put(b"{", b"{ "),
    _put(b"{", b"{\n"),
    _put(b",", b",\n"),
    _put(b",", b"\n"),
    _put(b'"chunk":{', b'"chunk":\n{'),
    _put(b'"text":"', b'"text":"\n'),
    _put(b"\n", b""),
    _put(b"\n", b" "),
    _put(b"\n", b","),
    _put(b"\n", b",\n"),
    _put(b"\n", b"\r\n"),
    _put(b"\n", b"\n\n"),
    _put(b"\n", b"\n \n"),
    _put(b'"seq":', b'"seq":1'),
    _put(b'"seq":', b'"seq":-'),
    _put(b'"seq":', b'"seq":0,"seq":'),
    _put(b',"time"', b'.0,"time"'),
    _put(b'"time":', b'"time":-'),
    _put(b'"time":', b'"time":0,"x":'),
    _put(b'"time":9', b'"time":-0'),
    _put(b'"time":9', b'"time":9007199254740992'),
    _put(b'"turn":1', b'"turn":1.0'),
    _put(b'"turn":1', b'"turn":2,"turn":1'),
    _put(b'"turn":0', b'"turn":-0'),
    _put(b'"turn":1', b'"turn":9007199254740992'),
    _put(b'"turn":1', b'"turn":true'),
    _put(b'"step"', b'"st\\u0065p"'),
    _put(b'"step":1', b'"step":1,"deep":' + b"[" * 998 + b"]" * 998),
    _put(b'"step":1', b'"step":1,"deep":' + b"[" * 999 + b"]" * 999),
    _put(b'"index":0', b'"index":' + b"[" * 480 + b"]" * 480),
    _put(b'"index":0', b'"index":"' + b"x" * 1000 + b'"'),
    _put(b'"index":0', b'"index":{"a":1,"a":2}'),
    _put(b'"index":0', b'"index":01'),
    _put(b'"text":"', b'"text":"\\ud83c'),
    _put(b'"text":"', b'"text":"\\u0000'),
    _put(b'"text":"', b'"text":"\\x'),
    _put(b'"usage":{', b'"usage":{"b":1,"b":-0,'),
    _put(b'"usage":{', b'"usage":{"b":1e400,'),
    _put(b'"text-delta"', b'"more-delta"'),
    _put(b'"text-delta"', b'"usage","type":"text-delta"'),
    _put(b'"text-delta"', b'"text-delta","type":"finish"'),
    _put(b'"text-delta"', b'"text-delta","usage":{"a":1}'),
    _put(b"assistant/chunk", b"assistant\\/chunk"),
    _put(b"}\n", b',"ignorable":true}\n'),
    _put(b"}\n", b',"surfaceOp":"append"}\n'),
    _put(b"}\n", b',"more":1}\n'),
    _put(b"}\n", b"\n"),
    _turned,
    lambda line: b"",
    lambda line: line * 2,
    lambda line: line[: len(line) // 2] + b"\n" + line[len(line) // 2 :],
)


@st.composite
def odd_events(draw: st.DrawFn) -> tuple[int, bytes]:
    """A version, and lines of events with odd values, some of which a writer may have put."""
    version = draw(st.sampled_from(FORMAT_VERSIONS))
    lines = [draw(odd_lines(seq, version)) for seq in range(draw(st.integers(1, 6)))]
    return version, b"".join(line.line + b"\n" for line in lines)


_STREAM = [{"type": "chunk", "time": 5, "chunk": {"type": "text-delta", "text": "x" * 40}}]
_REPLACE = {"op": "replace", "startSeq": 0, "endSeq": 0}
_PAYLOADS: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{"turn": 1}, {"a": 1, "stream": _STREAM}, {"stream": []}, {"a": {"stream": _STREAM}}]
)
_members: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"type": st.sampled_from(["assistant/message", "tool/result", "plain", "世"])},
    optional={
        "ignorable": st.just(True),
        "sourceEventSeqs": st.sampled_from([[0], [0, 1, 2], [[0, 2]], [[1, 0]], ["é"]]),
        "surfaceOp": st.sampled_from(["append", "é", {"stream": _STREAM}, 1, _REPLACE]),
    },
)


@st.composite
def plain_events(draw: st.DrawFn) -> tuple[int, bytes]:
    """A version, and lines as a writer puts them, but for some text here and there."""
    version = draw(st.sampled_from(FORMAT_VERSIONS))
    lines: list[bytes] = []
    for seq in range(draw(st.integers(1, 5))):
        members = draw(_members)
        kind = members.pop("type")
        data = {"x": "é", **draw(_PAYLOADS)}
        line = write_line({"type": kind, "seq": seq, "time": 9, "data": data, **members})
        for old in draw(
            st.lists(st.sampled_from([b"1", b'"x"', b"40", b"]", b"\xa9"]), max_size=2)
        ):
            line = line.replace(old, draw(values).encode(), 1)
        lines.append(line)
    return version, b"".join(lines)


@st.composite
def odd_runs(draw: st.DrawFn) -> tuple[int, bytes]:
    """A version, and lines some of which are not as a writer puts them."""
    lines = draw(rows())
    for oddity in draw(st.lists(st.sampled_from(ODDITIES), max_size=3)):
        at = draw(st.integers(0, len(lines) - 1))
        lines[at] = oddity(lines[at])
    return draw(st.sampled_from([0, 1, 1, 4])), b"".join(lines)


odd_logs = st.one_of(odd_runs(), odd_runs(), odd_events(), plain_events())


def outcome(events: Iterator[StoredEvent]) -> list[object]:
    """The events, and the refusal if they end with one."""
    found: list[object] = []
    try:
        for event in events:
            found.append(event)
    except LogRefused as refused:
        found.append((refused.reason, refused.line, refused.offset, refused.frame))
    return found


def together(data: bytes, version: int, cuts: Iterable[int]) -> Iterator[StoredEvent]:
    ends = [place + 1 for place, byte in enumerate(data) if byte == ord("\n")]
    chosen = sorted({0, len(data)} | {ends[cut % len(ends)] for cut in cuts if ends})
    return RowDecoder(version).decode(
        Block(data[start:end], 2 + data.count(b"\n", 0, start), 100 + start)
        for start, end in pairwise(chosen)
    )


def one_by_one(data: bytes, version: int) -> Iterator[StoredEvent]:
    """The events of the lines, each read as if it were odd."""
    decoder = RowDecoder(version)
    decoder._recent = [Block(data, 2, 100)]
    offset = 100
    for number, line in enumerate(data.removesuffix(b"\n").split(b"\n") if data else [], 2):
        place = (number, offset, None)
        try:
            yield from decoder._decode_odd(line.removesuffix(b"\r"), place)
        except RowRefused as refusal:
            yield from decoder._end_run()
            raise LogRefused(str(refusal), line=number, offset=offset) from None
        offset += len(line) + 1
    yield from decoder._end_run()


@given(odd_logs)
def test_rows_read_together_are_those_read_one_by_one(log: tuple[int, bytes]) -> None:
    version, data = log
    assert outcome(together(data, version, [])) == outcome(one_by_one(data, version))


@given(odd_logs, st.lists(st.integers(0, 99), max_size=1))
def test_where_a_log_is_cut_into_blocks_makes_no_difference(
    log: tuple[int, bytes], cuts: Sequence[int]
) -> None:
    version, data = log
    assert outcome(together(data, version, cuts)) == outcome(together(data, version, []))


@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(0, 1499), st.sampled_from(ODDITIES)), max_size=3))
def test_odd_lines_in_a_long_run_are_found_wherever_they_stand(
    odd: list[tuple[int, Callable[[bytes], bytes]]],
) -> None:
    chunk = {"type": "text-delta", "index": 0, "text": "beans " * 9}
    data = {"turn": 1, "step": 1, "chunk": chunk}
    lines = [
        write_line({"type": "assistant/chunk", "seq": seq, "time": 9 + seq, "data": data})
        for seq in range(1500)
    ]
    for at, oddity in odd:
        lines[at] = oddity(lines[at])
    log = b"".join(lines)
    assert outcome(together(log, 0, [])) == outcome(one_by_one(log, 0))
