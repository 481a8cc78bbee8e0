"""Streams of settlements whose values are at hand: what comes of their text comes of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dshstore import lossless
from dshstore.formats.dsh.cutting import cut_stream
from dshstore.formats.dsh.settling import cut_plain, summarize_values
from dshstore.model import MAX_SAFE
from dshstore.streams import Summary, summarize

RUN = {"type": "text-chunks", "time0": 100, "index": 0, "dt": [5, -2], "texts": ["Row ", "1", "!"]}
USAGE = {"type": "chunk", "time": 104, "chunk": {"type": "usage", "usage": {"inputTokens": 4}}}
FINISH = {"type": "chunk", "time": 105, "chunk": {"type": "finish", "reason": {"kind": "stop"}}}
STREAM = [RUN, USAGE, FINISH]

odd = st.sampled_from(
    [None, True, -1, MAX_SAFE, MAX_SAFE + 1, 2**63, "", "usage", [], [1, True], [2**63, -(2**63)]]
) | st.sampled_from([{}, {"kind": 1}, {"type": "usage", "usage": [1]}, {"type": "finish"}])
names = st.sampled_from(["type", "time", "time0", "dt", "chunk"])
records = st.builds(
    lambda record, changed, left_out: {
        name: value for name, value in {**record, **changed}.items() if name not in left_out
    },
    st.sampled_from(STREAM),
    st.dictionaries(names, odd, max_size=2),
    st.sets(names, max_size=1),
)


@given(st.lists(records | odd, min_size=1, max_size=4))
def test_values_tell_what_their_text_tells_or_nothing(stream: list[Any]) -> None:
    text, plain = lossless.encode(stream)
    found = summarize_values(stream)
    assert plain
    assert found is None or found == summarize(text)


def test_a_usual_stream_tells_all() -> None:
    assert summarize_values(STREAM) == Summary(100, 105, '{"inputTokens":4}', "stop")
    assert summarize_values([USAGE, RUN]) == Summary(104, 103, '{"inputTokens":4}', None)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["stream", "message", 'a "stream":']),
            st.sampled_from(
                [STREAM, STREAM[:1], [], None, "", ',"stream":[', {"id": 1, "stream": STREAM}]
            )
            | st.lists(records, min_size=1, max_size=3),
        ),
        max_size=3,
    )
)
def test_the_same_is_cut_or_nothing_is_said(members: list[tuple[str, Any]]) -> None:
    payload = dict(members)
    text, plain = lossless.encode(payload)
    found = cut_plain(payload, text)
    assert plain
    if found is not None:
        cut = cut_stream(text)
        assert found == ((text, None) if cut is None else cut)


@pytest.mark.parametrize("stream", [STREAM, STREAM * 40, []])
def test_usual_settlements_take_this_way(stream: list[Any]) -> None:
    payload = {"turn": 1, "message": {"content": 'a ,"stream":['}, "stream": stream}
    found = cut_plain(payload, lossless.encode(payload)[0])
    assert found is not None
    assert (found[1] is None) == (not stream)


def test_a_stream_that_may_be_too_deep_is_left_to_the_other_way() -> None:
    payload = {"turn": 1, "stream": STREAM * 200}
    assert cut_plain(payload, lossless.encode(payload)[0]) is None
