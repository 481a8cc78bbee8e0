"""Which lines take the short way; that it leads to the same event is in tests/property."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from dshstore.formats.dsh.plainrows import read_plain
from dshstore.formats.dsh.rows import log_lines
from dshstore.model import StoredEvent
from tests.logs import write_line
from tests.strategies import SampleSession, sessions

PLACE = (7, 100, None)
STREAM = [
    {"type": "text-chunks", "time0": 100, "index": 0, "dt": [5], "texts": ["世", "b"]},
    {"type": "chunk", "time": 108, "chunk": {"type": "finish", "reason": {"kind": "stop"}}},
]


def read(line: str, version: int = 4, seq: int = 3) -> StoredEvent | None:
    return read_plain(line.encode(), seq, version, PLACE)


def line_of(type: str, data: object, **members: Any) -> str:
    row = {"type": type, "seq": 3, "time": 5, "data": data, **members}
    return write_line(row)[:-1].decode()


@pytest.mark.parametrize(
    "members",
    [
        {},
        {"surfaceOp": "append"},
        {"ignorable": True, "sourceEventSeqs": [0, 2]},
        {"sourceEventSeqs": [[0, 2]], "surfaceOp": {"op": "replace", "startSeq": 0, "endSeq": 2}},
    ],
)
def test_a_line_as_a_writer_puts_it_is_taken(members: dict[str, Any]) -> None:
    line = line_of("todo/write", {"a": 'é "\\\n', "b": [1, True, None, 0.5]}, **members)
    stored = read(line)
    assert stored is not None
    assert (stored.raw, stored.line, stored.offset) == (None, 7, 100)
    assert log_lines(stored, 4).decode() == line + "\n"


@given(sessions())
def test_nearly_every_line_of_a_log_is_taken(session: SampleSession) -> None:
    version = session.header["version"]
    for event in session.events:
        line = write_line(event)[:-1]
        if event["type"] == "assistant/chunk" or "sourceEventSeqs" in event:
            continue
        if b"." in line or b"e+" in line or b"\\u" in line or b'"stream":[]' in line:
            continue
        stored = read_plain(line, event["seq"], version, PLACE)
        assert stored is not None or b'"stream"' in line
        assert stored is None or log_lines(stored, version) == line + b"\n"


@pytest.mark.parametrize("kind", ["assistant/message", "assistant/attempt"])
def test_a_stream_at_the_end_of_a_settlement_is_cut_out(kind: str) -> None:
    line = line_of(kind, {"turn": 1, "x": "é", "stream": STREAM}, surfaceOp="append")
    stored = read(line)
    assert stored is not None
    assert stored.stream is not None
    assert stored.data == '{"turn":1,"x":"é","stream":null}'
    assert stored.data.encode()[stored.stream.at :] == b"null}"
    assert (stored.stream.last_time, stored.stream.finish) == (108, "stop")
    assert log_lines(stored, 4).decode() == line + "\n"
    earlier = read(line, 1)
    assert earlier is not None
    assert earlier.stream is None


@pytest.mark.parametrize(
    "line",
    [
        line_of("t", 0).replace(":", ": ", 1),
        line_of("t", 0).replace('"seq":3', '"seq":3.0'),
        line_of("t", 0).replace('"seq":3', '"seq":4'),
        line_of("t", 0).replace("t", "\\u0074", 1),
        line_of("é", 0),
        line_of("t", {"a": 1}).replace('"a":1', '"a":1,"a":1'),
        line_of("t", {"é": 1}).replace('"é":1', '"é":1,"ü":1'),
        line_of("t", {"a": "\ud83c"}),
        line_of("t", {"a\0": 1}),
        line_of("t", 0).replace("0}", "é}"),
        line_of("t", 0, more=1),
        line_of("t", 0).replace("}", ',"ignorable":false}'),
        line_of("t", 0, sourceEventSeqs=[0, 1, 2]),
        line_of("t", 0, sourceEventSeqs=[[2, 1]]),
        line_of("t", 0, surfaceOp={"op": "replace", "endSeq": 2, "startSeq": 0}),
        line_of("t", 0, surfaceOp="é"),
        line_of("tool/result", {"a": 0.5}),
        line_of("tool/result", {"a": [10**15]}),
        line_of("assistant/message", {"stream": STREAM, "x": 1}),
        line_of("assistant/message", {"stream": []}),
        line_of("assistant/message", {"x": {"stream": STREAM}, "stream": [1] * 40}),
        line_of("assistant/message", {"stream": None}, surfaceOp={"x": 1, "stream": STREAM}),
        "",
        "[]",
        "nonsense",
    ],
)
def test_an_odd_line_is_left_to_others(line: str) -> None:
    assert read(line) is None


def test_a_line_of_deltas_is_left_to_the_runs() -> None:
    line = line_of("assistant/chunk", {"turn": 1})
    assert read(line, 1) is None
    assert read(line, 2) is not None


@pytest.mark.parametrize(("levels", "taken"), [(499, True), (501, False)])
def test_a_payload_deeper_than_a_column_may_be_is_left_to_others(levels: int, taken: bool) -> None:
    line = line_of("t", 0).replace("0}", "[" * levels + "]" * levels + "}")
    assert (read(line) is not None) is taken
