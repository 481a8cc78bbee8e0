"""Streams cut out of settlements, and put back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from dshstore.errors import CorruptStore
from dshstore.formats.dsh.cutting import cut_stream, pack, put_back, unpack
from dshstore.formats.dsh.envelope import member_spans
from dshstore.jsontext import JsonError, parse, same
from dshstore.model import StreamPart
from tests.formats.dsh.odd_lines import settlements

STREAM = [
    {"type": "text-chunks", "time0": 100, "index": 0, "dt": [5, -2], "texts": ["Row ", "1", "!"]},
    {"type": "chunk", "time": 104, "chunk": {"type": "usage", "usage": {"inputTokens": 4}}},
    {"type": "chunk", "time": 105, "chunk": {"type": "finish", "reason": {"kind": "stop"}}},
]
TEXT = json.dumps(STREAM, separators=(",", ":"))


def part_of(body: bytes, size: int) -> StreamPart:
    return StreamPart(None, size, body, None, None)


def test_a_null_stands_where_the_stream_was_and_the_figures_beside_it() -> None:
    payload = f'{{"turn":1,"message":"世","stream":{TEXT}}}'.encode()
    cut = cut_stream(payload)
    assert cut is not None
    rest, part = cut
    assert rest == '{"turn":1,"message":"世","stream":null}'.encode()
    assert part.at is not None
    assert rest[part.at :] == b"null}"
    assert (part.size, unpack(part)) == (len(TEXT), TEXT.encode())
    assert (part.first_time, part.last_time) == (100, 105)
    assert (part.usage, part.finish) == ('{"inputTokens":4}', "stop")
    assert put_back(rest, part) == payload


@pytest.mark.parametrize(
    "payload",
    [
        f'{{"stream":{TEXT},"x":{{"stream":{TEXT}}}}}',
        f'{{"x":{{"stream":{TEXT}}},"stream" : {TEXT} }}',
        f'{{"stream":null,"stream":{TEXT},"usage":[1]}}',
        f'{{"stre\\u0061m":{TEXT}}}',
        f'{{"\\ud83c":"\\ud83c","stream":{TEXT}}}',
        f'{{"say \\"stream\\":":{TEXT},"stream":{TEXT}}}',
        f'{{"deep":{"[" * 990 + "]" * 990},"stream":{TEXT}}}',
    ],
)
def test_the_member_that_counts_is_cut_wherever_it_stands(payload: str) -> None:
    cut = cut_stream(payload.encode())
    assert cut is not None
    rest, part = cut
    assert parse(rest)["stream"] is None
    assert unpack(part) == TEXT.encode()
    assert put_back(rest, part) == payload.encode()


@pytest.mark.parametrize(
    "payload",
    [
        '{"turn":1}',
        '{"stream":[]}',
        '{"stream":[1,2,3]}',
        '{"stream":null}',
        f'{{"stream":{{"records":{TEXT}}}}}',
        f'{{"stream":{json.dumps(TEXT)}}}',
        f'{{"message":{{"stream":{TEXT}}}}}',
        f'{{"stream":{TEXT},"stream":0}}',
        f'["stream",{TEXT}]',
        '"stream"',
    ],
)
def test_anything_else_stays_where_it_is(payload: str) -> None:
    assert cut_stream(payload.encode()) is None


def test_a_stream_that_is_nested_too_deep_is_refused() -> None:
    payload = f'{{"stream":[{"[" * 999 + "]" * 999}]}}'
    with pytest.raises(JsonError):
        cut_stream(payload.encode())


@given(settlements)
def test_a_cut_can_be_undone_and_leaves_the_rest(text: str) -> None:
    payload = text.encode()
    start, end = member_spans(payload).get("stream", (0, 0))
    stream = payload[start:end]
    cut = cut_stream(payload)
    assert (cut is not None) == (stream.startswith(b"[") and len(stream) >= 64)
    if cut is not None:
        rest, part = cut
        assert put_back(rest, part) == payload
        assert unpack(part) == stream
        assert same(parse(rest), parse(payload) | {"stream": None})


def test_a_damaged_part_is_told() -> None:
    body = pack(b"x" * 300)
    assert unpack(part_of(body, 300)) == b"x" * 300
    for broken in (b"", b"nonsense", body[:-1], body[:-4] + b"\0\0\0\0"):
        with pytest.raises(CorruptStore):
            unpack(part_of(broken, 300))
    with pytest.raises(CorruptStore):
        unpack(part_of(body, 299))
