"""The token streams of attempts: the rules by example, the laws by property, the reference data."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dshstore.errors import StoreError
from dshstore.jsontext import dump_bytes, parse
from dshstore.model import MAX_SAFE
from dshstore.streams import (
    Accumulator,
    Assembled,
    StreamRefused,
    Summary,
    assemble,
    compact,
    expand,
    summarize,
)

SHARED = Path(__file__).parents[1] / ".." / "shared"

Json = Any
Chunk = dict[str, Any]

USAGE = {"inputTokens": 7, "outputTokens": 2}


def text(value: str, index: int = 0) -> Chunk:
    return {"type": "text-delta", "index": index, "text": value}


def reasoning(value: str, index: int = 0) -> Chunk:
    return {"type": "reasoning-delta", "index": index, "text": value}


def call(arguments: str, id: str = "c", index: int = 0, **name: Json) -> Chunk:
    return {"type": "tool-call-delta", "index": index, "id": id, **name} | {
        "argumentsDelta": arguments
    }


def start(kind: str, index: int = 0) -> Chunk:
    return {"type": "block-start", "index": index, "blockType": kind}


def end(block: Json, index: int = 0) -> Chunk:
    return {"type": "block-end", "index": index, "block": block}


def finish(kind: str, **members: Json) -> Chunk:
    return {"type": "finish", "reason": {"kind": kind}, **members}


def usage_chunk() -> Chunk:
    return {"type": "usage", "usage": USAGE}


def at(*timed: tuple[Json, Json]) -> list[dict[str, Any]]:
    return [{"time": time, "chunk": chunk} for time, chunk in timed]


def assemble_chunks(*chunks: Chunk) -> Assembled:
    return assemble([{"type": "chunk", "time": 0, "chunk": chunk} for chunk in chunks])


def text_run(**members: Json) -> dict[str, Any]:
    run = {"type": "text-chunks", "time0": 5, "index": 0, "dt": [2], "texts": ["a", "b"]}
    return run | members


def call_run(**members: Json) -> dict[str, Any]:
    run = {"type": "tool-call-chunks", "time0": 5, "index": 0, "dt": [], "id": "c", "args": ["{"]}
    return run | members


def raw(**members: Json) -> dict[str, Any]:
    return {"type": "chunk", "time": 5, "chunk": {"type": "usage", "usage": USAGE}} | members


# -- compacting --


def test_a_run_goes_on_while_kind_and_index_stay_the_same() -> None:
    records = compact(
        at(
            (100, text("a")),
            (95, text("")),
            (95, text("b", 1)),
            (96, reasoning("r", 1)),
            (97, usage_chunk()),
            (98, reasoning("s", 1)),
        )
    )
    assert records == [
        {"type": "text-chunks", "time0": 100, "index": 0, "dt": [-5], "texts": ["a", ""]},
        {"type": "text-chunks", "time0": 95, "index": 1, "dt": [], "texts": ["b"]},
        {"type": "reasoning-chunks", "time0": 96, "index": 1, "dt": [], "texts": ["r"]},
        {"type": "chunk", "time": 97, "chunk": usage_chunk()},
        {"type": "reasoning-chunks", "time0": 98, "index": 1, "dt": [], "texts": ["s"]},
    ]


def test_a_run_of_tool_call_deltas_keeps_one_id_and_one_name_or_none() -> None:
    unnamed, nameless, idless = call("x"), call("y", name=""), call("z", id="")
    named = [call("{", name="bash"), call("}", name="bash")]
    records = compact(at(*enumerate([*named, unnamed, nameless, idless], start=1)))
    run = {"type": "tool-call-chunks", "time0": 1, "index": 0, "dt": [1], "id": "c"}
    assert records == [
        run | {"name": "bash", "args": ["{", "}"]},
        run | {"time0": 3, "dt": [], "args": ["x"]},
        {"type": "chunk", "time": 4, "chunk": nameless},
        {"type": "chunk", "time": 5, "chunk": idless},
    ]


def test_a_raw_chunk_ends_a_run_even_if_it_is_a_delta() -> None:
    records = compact(at((1, call("a")), (2, call("b", id="")), (3, call("c"))))
    assert [record["type"] for record in records] == [
        "tool-call-chunks",
        "chunk",
        "tool-call-chunks",
    ]


@pytest.mark.parametrize("sign", [1, -1])
def test_a_gap_that_is_no_safe_integer_begins_a_new_run(sign: int) -> None:
    records = compact(at((-MAX_SAFE * sign, text("a")), (MAX_SAFE * sign, text("b"))))
    assert [(record["time0"], record["dt"]) for record in records] == [
        (-MAX_SAFE * sign, []),
        (MAX_SAFE * sign, []),
    ]


def test_the_largest_safe_gap_goes_on_with_the_run() -> None:
    assert compact(at((0, text("a")), (MAX_SAFE, text("b"))))[0]["dt"] == [MAX_SAFE]


def test_the_keys_of_a_record_stand_in_the_order_of_the_logs() -> None:
    records = compact(at((1, text("a")), (2, call("b", name="n")), (3, finish("stop"))))
    assert [list(record) for record in records] == [
        ["type", "time0", "index", "dt", "texts"],
        ["type", "time0", "index", "dt", "id", "name", "args"],
        ["type", "time", "chunk"],
    ]


def test_what_a_delta_holds_beside_its_own_keys_is_dropped() -> None:
    assert compact(at((1, text("a") | {"note": 1}))) == compact(at((1, text("a"))))


def test_integers_that_are_spelled_as_floats_are_integers() -> None:
    (record,) = compact(at((1.0, text("a") | {"index": 0.0}), (3.0, text("b"))))
    assert dump_bytes(record) == dump_bytes(text_run(time0=1))


def test_records_are_not_changed_by_later_chunks() -> None:
    accumulator = Accumulator()
    accumulator.push(1, text("a"))
    before = accumulator.records
    accumulator.push(2, text("b"))
    assert before[0]["texts"] == ["a"]
    assert accumulator.records[0]["texts"] == ["a", "b"]


def deep(levels: int) -> Json:
    value: Json = 0
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("time", [None, True, "1", 1.5, -0.0, nan, inf, MAX_SAFE + 1, -(2**60)])
def test_a_time_must_be_a_safe_integer(time: Json) -> None:
    with pytest.raises(StreamRefused, match="safe integer"):
        compact(at((time, text("a"))))
    with pytest.raises(StreamRefused, match="safe integer"):
        expand([text_run(time0=time)])
    with pytest.raises(StreamRefused, match="safe integer"):
        expand([raw(time=time)])


NOT_LOSSLESS = [nan, inf, -inf, -0.0, [-0.0], {"a": {1: 2}}, {1}, (1,), 10**400, deep(1000), b"a"]


@pytest.mark.parametrize("value", NOT_LOSSLESS)
def test_a_chunk_must_survive_json(value: Json) -> None:
    chunk = {"type": "usage", "usage": value}
    with pytest.raises(StreamRefused, match="survives JSON"):
        compact(at((1, chunk)))
    with pytest.raises(StreamRefused, match="survives JSON"):
        expand([raw(chunk=chunk)])


def test_a_chunk_may_hold_any_other_value() -> None:
    value: Json = [deep(998), None, True, 0, -1, 2.5, 2**70, "\ud83c", {"a": []}, 1e300]
    chunk = {"type": "usage", "usage": value}
    assert expand(compact(at((1, chunk)))) == at((1, chunk))


@pytest.mark.parametrize(
    "chunk",
    [
        None,
        [],
        "text",
        {},
        {"type": ["usage"]},
        {"type": "words", "index": 0},
        {"type": "text-chunks", "index": 0, "text": "a"},
        text("a") | {"index": -1},
        text("a") | {"index": True},
        text("a") | {"index": "0"},
        text("a") | {"index": 0.5},
        text("a") | {"index": MAX_SAFE + 1},
        {"type": "text-delta", "text": "a"},
        {"type": "text-delta", "index": 0},
        reasoning("a") | {"text": None},
        call("a") | {"index": None},
        call("a") | {"id": 1},
        call("a") | {"name": None},
        call("a") | {"argumentsDelta": {}},
        {"type": "tool-call-delta", "index": 0, "id": "c"},
        {"type": "tool-call-delta", "index": 0, "argumentsDelta": ""},
        {"type": "tool-call-delta", "index": 0, "id": "", "name": 1, "argumentsDelta": ""},
    ],
)
def test_a_chunk_of_no_known_shape_is_refused(chunk: Json) -> None:
    with pytest.raises(StreamRefused):
        compact(at((1, chunk)))


@pytest.mark.parametrize("timed", [None, 1, [], {}, {"time": 1}, {"chunk": text("a")}])
def test_a_timed_chunk_must_have_time_and_chunk(timed: Json) -> None:
    with pytest.raises(StreamRefused):
        compact([timed])


def test_a_refusal_is_an_error_of_the_store_and_a_value_error() -> None:
    assert issubclass(StreamRefused, StoreError)
    assert issubclass(StreamRefused, ValueError)


# -- expanding --


def test_a_record_expands_to_its_members_at_their_times() -> None:
    records = [text_run(dt=[-7, 0], texts=["a", "", "b"]), call_run(name="n"), raw()]
    assert expand(records) == at(
        (5, text("a")),
        (-2, text("")),
        (-2, text("b")),
        (5, call("{", name="n")),
        (5, usage_chunk()),
    )


def test_the_content_of_a_raw_chunk_is_not_looked_at() -> None:
    chunk = {"type": "text-delta", "surprise": [1]}
    assert expand([raw(chunk=chunk)]) == at((5, chunk))


@pytest.mark.parametrize(
    "record",
    [
        None,
        4,
        "text-chunks",
        [],
        {},
        {"type": ["chunk"]},
        raw(type="words"),
        raw(type="text-chunks"),
        raw(extra=1),
        {"type": "chunk", "time": 1},
        raw(chunk=None),
        raw(chunk=[]),
        raw(chunk="usage"),
        text_run(extra=1),
        text_run(name="n"),
        text_run(index=-1),
        text_run(index=-0.0),
        text_run(index=True),
        text_run(index=None),
        text_run(texts=[], dt=[]),
        text_run(texts="ab"),
        text_run(texts=["a", 1]),
        text_run(texts=None),
        text_run(dt=[]),
        text_run(dt=[1, 1]),
        text_run(dt=None),
        text_run(dt=[True]),
        text_run(dt=[0.5]),
        text_run(dt=[-0.0]),
        text_run(dt=["1"]),
        text_run(dt=[MAX_SAFE]),
        text_run(dt=[-1], time0=-MAX_SAFE),
        text_run(dt=[MAX_SAFE, -MAX_SAFE], texts=["a", "b", "c"]),
        call_run(id=""),
        call_run(id=None),
        call_run(name=""),
        call_run(name=None),
        call_run(args=[]),
        call_run(args=[None]),
        call_run(texts=["a"]),
        {key: value for key, value in call_run().items() if key != "id"},
    ],
)
@pytest.mark.parametrize("read", [expand, assemble])
def test_a_record_of_no_known_shape_is_refused(
    record: Json, read: Callable[[list[Json]], object]
) -> None:
    with pytest.raises(StreamRefused):
        read([raw(), record])


# -- assembling --


def test_blocks_stand_in_the_order_in_which_their_index_first_appears() -> None:
    message = assemble_chunks(
        start("text", 3), reasoning("r", 1), text("b", 3), reasoning("s", 1), text("c", 2)
    )
    assert message.blocks == [
        {"type": "text", "text": "b"},
        {"type": "reasoning", "text": "rs"},
        {"type": "text", "text": "c"},
    ]


def test_the_first_start_decides_the_kind_and_the_first_end_the_block() -> None:
    done = {"type": "text", "text": "done", "extra": 1}
    message = assemble_chunks(
        start("text"),
        start("tool-call"),
        text("a"),
        end(done),
        text("b"),
        end({"type": "text", "text": "again"}),
        start("reasoning", 1),
        text("kept", 1),
    )
    assert message.blocks == [done, {"type": "reasoning", "text": "kept"}]


def test_a_tool_call_has_the_last_id_and_the_last_name_that_is_not_empty() -> None:
    message = assemble_chunks(
        call("{", id="first", name="read"), call("", id="last", name=""), call("}", id="", index=1)
    )
    assert message.blocks == [
        {"type": "tool-call", "id": "last", "name": "read", "arguments": "{"},
        {"type": "tool-call", "id": "", "name": "", "arguments": "}"},
    ]


def test_a_tool_call_without_any_delta_gets_an_id_from_its_index() -> None:
    assert assemble_chunks(start("tool-call", 4)).blocks == [
        {"type": "tool-call", "id": "call-4", "name": "", "arguments": ""}
    ]


def test_a_block_of_another_kind_needs_its_end() -> None:
    image = {"type": "image", "attachment": {}}
    assert assemble_chunks(start("image"), end(image)).blocks == [image]
    with pytest.raises(StreamRefused, match="image"):
        assemble_chunks(start("image"))
    with pytest.raises(StreamRefused):
        assemble_chunks({"type": "block-start", "index": 0})


def test_the_last_usage_and_the_last_finish_count() -> None:
    message = assemble_chunks(
        {"type": "usage", "usage": {"inputTokens": 1}},
        finish("tool-calls", replayState={"response": 1}),
        usage_chunk(),
        finish("max-tokens"),
    )
    assert (message.usage, message.finish) == (USAGE, {"kind": "max-tokens"})
    assert message.replay_state is None


def test_a_stream_without_usage_and_finish_stops() -> None:
    assert assemble([]) == Assembled([], [], None, {"kind": "stop"}, None)


def test_the_token_limit_drops_tool_calls_and_their_replay_entries() -> None:
    state = {"response": {"kind": "x"}, "blocks": [{"type": "text"}, {"type": "tool-call"}, 3]}
    chunks = [text("a"), call("{", index=1), end({"type": "image"}, 2)]
    whole = assemble_chunks(*chunks, finish("stop", replayState=state))
    assert whole.replay_state == state
    cut = assemble_chunks(*chunks, finish("max-tokens", replayState=state))
    assert cut.blocks == [{"type": "text", "text": "a"}, {"type": "image"}]
    assert cut.replay_state == {"response": {"kind": "x"}, "blocks": [{"type": "text"}, 3]}


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("any", "any"),
        ({"response": 1}, {"response": 1}),
        ({"blocks": []}, None),
        ({"blocks": [1, 2]}, None),
        ({"blocks": "a"}, None),
        ({"blocks": [1], "other": 2}, {"blocks": [1], "other": 2}),
    ],
)
def test_a_replay_state_must_have_one_entry_for_each_block(state: Json, expected: Json) -> None:
    message = assemble_chunks(text("a"), finish("stop", replayState=state))
    assert message.replay_state == expected


def test_an_interrupted_message_keeps_visible_text_and_reasoning() -> None:
    message = assemble_chunks(
        text(" \n\ufeff\u2028\u3000", 0),
        text(" a ", 1),
        call("{", index=2),
        reasoning("r", 3),
        end({"type": "text", "text": "\x1f\x85"}, 4),
        end({"type": "image"}, 5),
        start("text", 6),
        finish("max-tokens"),
    )
    assert message.interrupted_blocks == [
        {"type": "text", "text": " a "},
        {"type": "reasoning", "text": "r"},
        {"type": "text", "text": "\x1f\x85"},
    ]


def test_a_character_that_two_deltas_share_is_whole_in_the_message() -> None:
    message = assemble_chunks(text("a\ud83c"), text("\udf31b"), text("\ud83c"))
    assert message.blocks == [{"type": "text", "text": "a\N{SEEDLING}b\ud83c"}]


@pytest.mark.parametrize(
    "chunk",
    [
        {},
        {"type": "words"},
        start("text") | {"index": "0"},
        text("a") | {"text": 1},
        call("a") | {"id": None},
        call("a") | {"name": 1},
        end(None),
        end("text"),
        end({"type": "text"}),
    ],
)
def test_a_raw_chunk_that_says_nothing_of_a_message_is_refused(chunk: Chunk) -> None:
    with pytest.raises(StreamRefused):
        assemble_chunks(chunk)


# -- summing up --


def test_a_summary_has_times_usage_and_finish() -> None:
    records = [text_run(time0=40, dt=[1]), raw(), raw(time=9, chunk=finish("stop")), text_run()]
    assert summarize(dump_bytes(records)) == Summary(
        40, 7, '{"inputTokens":7,"outputTokens":2}', "stop"
    )


def test_a_summary_reads_over_half_a_surrogate_pair() -> None:
    records = compact(at((1, text("a\ud83c")), (2, text("\udf31", 1)), (3, finish("stop"))))
    assert summarize(dump_bytes(records)) == Summary(1, 3, None, "stop")


def test_a_summary_reads_numbers_keys_and_spaces_as_javascript_does() -> None:
    stream = b""" [ {"time0": 1.0, "dt": [2e0], "type": "text-chunks", "texts": ["a", "b"]} ,
        {"type": "chunk", "time": 0, "chunk": {"usage": {"a": 1, "\\u0061": 2}, "type": "usage"},
         "time": 8e0}\r\n]"""
    assert summarize(stream) == Summary(1, 8, '{"a":2}', None)


@pytest.mark.parametrize(
    "stream",
    [
        b"",
        b"null",
        b"{}",
        b"[",
        b"[]",
        b"[]]",
        b"[1]",
        b"[null]",
        b"\xff",
        b'[{"type":"\xff"}]',
        b'[{"type":["chunk"],"time":1}]',
        b'[{"type":"words","time":1}]',
        b'[{"type":"chunk","time":"1"}]',
        b'[{"type":"chunk","time":1.5}]',
        b'[{"type":"chunk","time":9007199254740992}]',
        b'[{"type":"text-chunks","time":1}]',
        b'[{"type":"chunk","time0":1,"chunk":{"type":"usage"}}]',
        b'[{"type":"chunk","chunk":{"type":"finish","reason":{"kind":1}}}]',
        b'[{"type":"chunk","chunk":{"type":"finish","reason":"stop"}}]',
        b'[{"type":"chunk","chunk":{"type":"usage","usage":[1]}}]',
        b'["\\ud83c"]',
        b'["\\ud83c"',
        b"[" * 5000 + b"]" * 5000,
    ],
)
def test_a_summary_of_odd_text_tells_nothing(stream: bytes) -> None:
    assert summarize(stream) == Summary()


def test_a_summary_tells_what_it_can_of_a_stream_that_does_not_expand() -> None:
    records = [text_run(dt=["x"]), raw(time=None), 1, raw(chunk=finish("stop")), text_run(dt=None)]
    assert summarize(dump_bytes(records)) == Summary(
        5, None, '{"inputTokens":7,"outputTokens":2}', "stop"
    )


# -- laws --

TIMES = st.integers(0, 40) | st.sampled_from([-MAX_SAFE, MAX_SAFE, 1_790_000_000_000])
INDEXES = st.integers(0, 2)
TEXTS = st.text(st.sampled_from('a {\n"\ud83c\udf31\N{SEEDLING}\u2028'), max_size=4)
NAMES = st.fixed_dictionaries({}, optional={"name": st.sampled_from(["", "read", "write"])})
BLOCKS = st.one_of(
    TEXTS.map(lambda value: {"type": "text", "text": value}),
    st.just({"type": "tool-call", "id": "c", "name": "read", "arguments": "{}"}),
    st.just({"type": "image"}),
)
CHUNKS: st.SearchStrategy[Chunk] = st.one_of(
    st.builds(text, TEXTS, INDEXES),
    st.builds(reasoning, TEXTS, INDEXES),
    st.builds(
        lambda arguments, id, index, name: call(arguments, id, index, **name),
        TEXTS,
        st.sampled_from(["", "c", "d"]),
        INDEXES,
        NAMES,
    ),
    st.builds(start, st.sampled_from(["text", "reasoning", "tool-call"]), INDEXES),
    st.builds(end, BLOCKS, INDEXES),
    st.just(usage_chunk()),
    st.builds(finish, st.sampled_from(["stop", "tool-calls", "max-tokens"])),
)
STREAMS = st.lists(st.tuples(TIMES, CHUNKS), max_size=12).map(lambda timed: at(*timed))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
)


@given(STREAMS)
def test_expanding_undoes_compacting(stream: list[dict[str, Any]]) -> None:
    assert expand(compact(stream)) == stream


@given(STREAMS)
def test_compacting_what_was_compact_changes_nothing(stream: list[dict[str, Any]]) -> None:
    records = compact(stream)
    assert dump_bytes(compact(expand(records))) == dump_bytes(records)


@given(STREAMS)
def test_a_message_does_not_depend_on_how_its_deltas_are_recorded(
    stream: list[dict[str, Any]],
) -> None:
    single = [{"type": "chunk", **timed} for timed in stream]
    assert assemble(compact(stream)) == assemble(single)


@given(STREAMS)
def test_a_summary_agrees_with_the_stream(stream: list[dict[str, Any]]) -> None:
    records = compact(stream)
    message, summary = assemble(records), summarize(dump_bytes(records))
    times = [timed["time"] for timed in stream]
    assert (summary.first_time, summary.last_time) == (
        (times[0], times[-1]) if times else (None, None)
    )
    assert (None if summary.usage is None else json.loads(summary.usage)) == message.usage
    assert summary.finish in (None, message.finish["kind"])
    assert (summary.finish is None) == all(c["chunk"]["type"] != "finish" for c in stream)


@given(st.lists(st.fixed_dictionaries({"time": VALUES, "chunk": VALUES}), min_size=2, max_size=4))
def test_a_record_that_is_none_does_not_change_what_the_others_tell(
    records: list[dict[str, Any]],
) -> None:
    odd = [records[0], {"type": 7}, *records[1:]]
    for kind in ("chunk", "text-chunks", 1):
        for record in records:
            record["type"] = kind
        assert summarize(dump_bytes(odd)) == summarize(dump_bytes(records))


@given(st.lists(st.fixed_dictionaries({"time": VALUES, "chunk": VALUES}), max_size=3))
def test_compacting_refuses_or_keeps_whatever_comes(stream: list[dict[str, Any]]) -> None:
    try:
        records = compact(stream)
    except StreamRefused:
        return
    expand(records)


@given(st.binary(max_size=30) | st.lists(VALUES, max_size=3).map(repr).map(str.encode))
def test_a_summary_never_raises(stream: bytes) -> None:
    assert isinstance(summarize(stream), Summary)


# -- reference data --


def read_lines(path: Path) -> list[Json]:
    return [parse(line) for line in path.read_bytes().split(b"\n") if line]


@pytest.mark.shared
def test_every_reference_stream_comes_out_right() -> None:
    path = SHARED / "vectors" / "streams.jsonl"
    if not path.exists():
        pytest.skip("no reference data")
    for vector in read_lines(path):
        try:
            found = run_vector(vector)
        except StreamRefused:
            found = None
        assert found == vector.get("output"), vector["name"]


def run_vector(vector: Json) -> Json:
    match vector["op"]:
        case "compact":
            return compact(vector["input"])
        case "expand":
            return expand(vector["input"])
        case _:
            message = assemble(vector["input"])
            return {
                "blocks": message.blocks,
                "interruptedBlocks": message.interrupted_blocks,
                "usage": message.usage,
                "finish": message.finish,
                "replayState": message.replay_state,
            }


@pytest.mark.shared
def test_every_reference_message_is_what_its_stream_adds_up_to() -> None:
    paths = [p for v in ("v2", "v3", "v4", "live") for p in (SHARED / "corpus" / v).glob("*.jsonl")]
    if not paths:
        pytest.skip("no reference data")
    for event in (event for path in paths for event in read_lines(path)):
        data = event.get("data")
        records = data.get("stream") if isinstance(data, dict) else None
        if not records:
            continue
        assert compact(expand(records)) == records
        if event["type"] == "assistant/message":
            message = assemble(records)
            blocks = message.interrupted_blocks if "interrupted" in data else message.blocks
            assert data["message"]["content"] == blocks
            assert data.get("usage") == message.usage
            assert data["message"]["source"].get("replayState") == message.replay_state
            summary = summarize(dump_bytes(records))
            assert (None if summary.usage is None else json.loads(summary.usage)) == message.usage
