"""The short way to the columns: it gives what the way through a line gives, or nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from dshstore import lossless
from dshstore.formats.dsh import direct, rows
from tests.formats.dsh.test_cutting import STREAM
from tests.test_lossless import values

odd = st.sampled_from(
    ["\0", "\ud83c", "é", "1e3", {"n": 10**15}, {"n": 10**16}, {"n": -(10**17)}, [[]] * 600, "-0"]
)
types = st.sampled_from(
    [
        "user/message",
        "tool/result",
        "todo/write",
        "assistant/message",
        "assistant/attempt",
        "plugin:a/b",
        "Odd type",
        "é",
    ]
)


@given(
    type=types,
    data=st.builds(
        lambda data, stream: data if stream is None else {**data, "stream": stream},
        st.dictionaries(st.text(max_size=4), values | odd, max_size=3),
        st.none() | st.sampled_from([STREAM, []]) | st.lists(values | odd, max_size=2),
    ),
    version=st.integers(0, 4),
    time=st.sampled_from([0, -5, 1_790_000_000_000, 2**53, 1.0]),
    members=st.fixed_dictionaries(
        {},
        optional={
            "surfaceOp": st.sampled_from(["append", {"op": "replace", "start": 1, "end": 2}]),
            "sourceEventSeqs": st.lists(st.integers(0, 9), max_size=4) | st.just([1.0]),
            "ignorable": st.just(True),
        },
    ),
)
def test_it_gives_the_same_columns_or_none(
    type: str, data: Any, version: int, time: Any, members: dict[str, Any]
) -> None:
    event = {"type": type, "seq": 9, "time": time, "data": data, **members}
    text, plain = lossless.encode(data)
    found = direct.store_plain(event, text, version) if plain else None
    if found is not None:
        assert found == rows.store({**event, "data": Raw(text)}, version)


@pytest.mark.parametrize(
    "type", ["user/message", "tool/result", "tool/call", "turn/start", "assistant/message"]
)
def test_usual_events_take_it(type: str) -> None:
    data: dict[str, Any] = {"turn": 1}
    data["message"] = {"content": [{"type": "text", "text": 'a "word", é\n'}]}
    data |= {"stream": STREAM} if type == "assistant/message" else {}
    event = {"type": type, "seq": 3, "time": 7, "data": data, "sourceEventSeqs": [1, 2]}
    found = direct.store_plain(event, lossless.encode(data)[0], 4)
    assert found is not None
    assert (found.stream is not None) == ("stream" in data)
