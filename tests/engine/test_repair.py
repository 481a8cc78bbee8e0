"""What closes a turn that was cut off, byte for byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dshstore.engine.repair import TRACKED_TYPES, Cause, TurnTracker, closers
from dshstore.jsontext import dump, parse
from dshstore.model import Event

SHARED = Path(__file__).parents[2] / ".." / "shared"

Json = Any

#: Texts that the format fixes: validators of the harness compare them.
UNKNOWN_TEXT = (
    "The tool call was interrupted after it was recorded, but no result was durably recorded. Its "
    "outcome is unknown. Decide whether to retry from the tool semantics: retry only if the "
    "operation is read-only or idempotent; if it may have side effects, first verify external "
    "state or ask the user. Do not retry blindly."
)
NOT_STARTED_TEXT = (
    "The tool call was interrupted before the Harness recorded it as started. Retry it if it is "
    "still needed."
)


def number(*events: tuple[str, Json]) -> list[dict[str, Any]]:
    """The events of a log; their time steps back now and then."""
    return [
        {"type": type_, "seq": seq, "time": 100 + 7 * (seq % 5), "data": data}
        for seq, (type_, data) in enumerate(events)
    ]


def turn(at: int = 1) -> tuple[str, Json]:
    return "turn/start", {"turn": at}


def turn_end(at: int = 1) -> tuple[str, Json]:
    return "turn/end", {"turn": at, "reason": {"kind": "completed"}}


def step(at: int = 1) -> tuple[str, Json]:
    return "step/start", {"turn": 1, "step": at}


def step_end(at: int = 1) -> tuple[str, Json]:
    return "step/end", {"turn": 1, "step": at}


def settled(*call_ids: Json, at: int = 1) -> tuple[str, Json]:
    calls = [{"type": "tool-call", "id": id, "name": "t", "arguments": ""} for id in call_ids]
    content = [{"type": "text", "text": "I will"}, *calls]
    return "assistant/message", {"turn": 1, "step": at, "message": {"content": content}}


def called(call_id: Json) -> tuple[str, Json]:
    return "tool/call", {"turn": 1, "step": 1, "callId": call_id}


def answered(call_id: Json) -> tuple[str, Json]:
    message = {"source": {"kind": "tool", "callId": call_id}}
    return "tool/result", {"turn": 1, "step": 1, "message": message}


def outline(events: list[dict[str, Any]]) -> list[Json]:
    """Type of each event, and of results their call, step, error code and sources."""
    return [
        (
            event["data"]["message"]["source"]["callId"],
            event["data"]["step"],
            event["data"]["error"]["code"],
            event.get("sourceEventSeqs"),
        )
        if event["type"] == "tool/result"
        else event["type"]
        for event in events
    ]


OPEN = number(turn(), step(), settled("a", "b"), called("a"))


@pytest.mark.parametrize("version", range(4))
def test_an_interrupted_turn_is_closed_in_the_bytes_of_the_harness(version: int) -> None:
    found = [dump(event) for event in closers(OPEN, version)]
    assert found == [
        '{"type":"tool/result","seq":4,"time":121,"data":{"turn":1,"step":1,"message":{"id":'
        '"interrupted-tool-result-a-4","role":"user","source":{"kind":"tool","callId":"a"},'
        '"content":[{"type":"tool-result","toolCallId":"a","isError":true,"content":[{"type":'
        f'"text","text":"{UNKNOWN_TEXT}"}}]}}]}},"error":{{"name":"ToolOutcomeUnknownError",'
        '"code":"TOOL_OUTCOME_UNKNOWN"}},"surfaceOp":"append","sourceEventSeqs":[3]}',
        '{"type":"tool/result","seq":5,"time":121,"data":{"turn":1,"step":1,"message":{"id":'
        '"interrupted-tool-result-b-5","role":"user","source":{"kind":"tool","callId":"b"},'
        '"content":[{"type":"tool-result","toolCallId":"b","isError":true,"content":[{"type":'
        f'"text","text":"{NOT_STARTED_TEXT}"}}]}}]}},"error":{{"name":"ToolNotStartedError",'
        '"code":"TOOL_NOT_STARTED"}},"surfaceOp":"append"}',
        '{"type":"step/end","seq":6,"time":121,"data":{"turn":1,"step":1}}',
        '{"type":"turn/end","seq":7,"time":121,"data":{"turn":1,"reason":{"kind":"interrupted"}}}',
    ]


def test_a_v4_result_is_a_message_of_its_own() -> None:
    started, waiting, *_ = closers(OPEN, 4)
    assert dump(started["data"]["message"]) == (
        '{"id":"interrupted-tool-result-a-4","role":"tool","toolCallId":"a","isError":true,'
        '"source":{"kind":"tool","callId":"a"},'
        f'"content":[{{"type":"text","text":"{UNKNOWN_TEXT}"}}]}}'
    )
    assert waiting["data"]["message"]["content"] == [{"type": "text", "text": NOT_STARTED_TEXT}]


def test_a_fork_inside_a_turn_closes_it_for_its_own_cause() -> None:
    forked, interrupted = closers(OPEN, 4, cause="forked"), closers(OPEN, 4)
    assert outline(forked) == outline(interrupted)
    assert [event["data"]["message"]["id"] for event in forked[:2]] == [
        "forked-tool-result-a-4",
        "forked-tool-result-b-5",
    ]
    texts = [event["data"]["message"]["content"][0]["text"] for event in forked[:2]]
    assert len({*texts, UNKNOWN_TEXT, NOT_STARTED_TEXT}) == 4
    assert all("parent may have run it" in text and "fork point" in text for text in texts)
    assert forked[-1]["data"]["reason"] == {"kind": "forked"}
    assert [list(event) for event in forked] == [list(event) for event in interrupted]


@pytest.mark.parametrize("version", range(4))
def test_before_v4_no_fork_is_made_inside_a_turn(version: int) -> None:
    with pytest.raises(ValueError, match="forked inside a turn"):
        closers(OPEN, version, cause="forked")


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([], []),
        ([turn(), turn_end()], []),
        ([step(), settled("a")], []),
        ([turn()], ["turn/end"]),
        ([turn(), step()], ["step/end", "turn/end"]),
        ([turn(), step(), step_end()], ["turn/end"]),
        ([turn(), step(), step_end(), ("session/title", {})], ["turn/end"]),
        ([turn(), turn_end(), turn(2), step(2)], ["step/end", "turn/end"]),
        # calls are closed in the order in which a message asked for them
        (
            [turn(), step(), settled("a", "b", "c"), called("c"), called("a"), answered("b")],
            [
                ("a", 1, "TOOL_OUTCOME_UNKNOWN", [4]),
                ("c", 1, "TOOL_OUTCOME_UNKNOWN", [3]),
                "step/end",
                "turn/end",
            ],
        ),
        # the same id again keeps its place, but is not started any more
        (
            [turn(), step(), settled("a", "b"), called("a"), settled("a", at=2)],
            [
                ("a", 2, "TOOL_NOT_STARTED", None),
                ("b", 1, "TOOL_NOT_STARTED", None),
                "step/end",
                "turn/end",
            ],
        ),
        # a call that no message asked for gets no result
        ([turn(), step(), called("x")], ["step/end", "turn/end"]),
        ([turn(), step(), called("a"), settled("a")], ["a", "step/end", "turn/end"]),
        # the end of a step or a turn, and the start of a turn, leave no call open
        ([turn(), step(), settled("a"), step_end()], ["turn/end"]),
        ([turn(), step(), settled("a"), turn_end(), turn(2)], ["turn/end"]),
        ([turn(), step(), settled("a"), turn(2)], ["turn/end"]),
        # a call may be open although its step is not
        ([turn(), settled("a")], ["a", "turn/end"]),
    ],
)
def test_what_is_open_is_closed(events: list[tuple[str, Json]], expected: list[Json]) -> None:
    not_started = ("a", 1, "TOOL_NOT_STARTED", None)
    wanted = [not_started if item == "a" else item for item in expected]
    assert outline(closers(number(*events), 0)) == wanted


def test_calls_of_v0_messages_in_their_old_shape_are_followed_too() -> None:
    content = [{"type": "tool-call", "id": id, "name": "t", "arguments": ""} for id in "ab"]
    old = number(
        turn(),
        step(),
        ("assistant/message", {"turn": 1, "step": 1, "content": content, "provenance": {}}),
        ("tool/result", {"turn": 1, "step": 1, "callId": "a", "content": [], "isError": False}),
    )
    assert outline(closers(old, 0))[0][0] == "b"
    assert len(closers(old, 0)) == 3


@pytest.mark.parametrize(
    ("type_", "data"),
    [
        ("turn/start", {}),
        ("turn/start", None),
        ("step/start", {"turn": 1}),
        ("assistant/message", {"message": {"content": [{"type": "tool-call", "id": ["a"]}]}}),
        ("assistant/message", {"message": {"content": "text"}}),
        ("assistant/message", {"message": None}),
        ("assistant/message", []),
        ("tool/call", {"callId": ["a"]}),
        ("tool/call", {}),
        ("tool/result", {"message": {"source": {"callId": ["a"]}}}),
        ("tool/result", {"message": {}}),
        ("tool/result", {"message": 1}),
        ("tool/result", {}),
    ],
)
def test_an_event_of_an_odd_shape_opens_and_closes_nothing(type_: str, data: Json) -> None:
    assert closers(number((type_, data)), 4) == []
    before = [turn(), step(), settled("a")]
    assert outline(closers(number(*before, (type_, data)), 4)) == outline(
        closers(number(*before), 4)
    )


IDS = st.sampled_from(["a", "b", "c", "\N{SEEDLING}", ""])
STEPS = st.integers(1, 3)
EVENTS = st.one_of(
    st.builds(turn, STEPS),
    st.builds(turn_end, STEPS),
    st.builds(step, STEPS),
    st.builds(step_end, STEPS),
    st.builds(lambda ids, at: settled(*ids, at=at), st.lists(IDS, max_size=3), STEPS),
    st.builds(called, IDS),
    st.builds(answered, IDS),
    st.just(("user/message", {"role": "user"})),
)
LOGS = st.lists(EVENTS, max_size=14).map(lambda events: number(*events))
KINDS: list[tuple[int, Cause]] = [(v, "interrupted") for v in range(5)] + [(4, "forked")]


@given(LOGS, st.sampled_from(KINDS))
def test_what_was_closed_needs_no_closing(
    log: list[dict[str, Any]], kind: tuple[int, Cause]
) -> None:
    version, cause = kind
    closing = closers(log, version, cause=cause)
    assert closers([*log, *closing], version, cause=cause) == []
    assert [event["seq"] for event in closing] == list(range(len(log), len(log) + len(closing)))
    assert all(event["time"] == log[-1]["time"] for event in closing)
    assert closing == closers(log, version, cause=cause)


@given(LOGS)
def test_tracked_events_and_the_last_place_are_enough(log: list[dict[str, Any]]) -> None:
    tracker = TurnTracker()
    for event in log:
        if event["type"] in TRACKED_TYPES:
            tracker.push(event)
    if log:
        tracker.reach(log[-1]["seq"], log[-1]["time"])
    assert tracker.closers(4) == closers(log, 4) == tracker.closers(4)


# -- reference data --


def read_events(path: Path) -> list[Event]:
    """The events of a plain log up to its first line that is none."""
    events: list[Event] = []
    for line in path.read_bytes().split(b"\n")[1:-1]:
        row = parse(line)
        if "seq0" in row:  # a packed row of deltas: where it ends is all that counts
            count = len(row["data"].get("texts", row["data"].get("args")))
            time = row["time0"] + sum(row["data"]["dt"])
            seq = row["seq0"] + count - 1
            row = {"type": "assistant/chunk", "seq": seq, "time": time, "data": None}
        events.append(row)
    return events


@pytest.mark.shared
def test_a_killed_reference_log_is_closed_byte_for_byte_as_the_harness_closed_it() -> None:
    live = SHARED / "corpus" / "live"
    if not live.exists():
        pytest.skip("no reference data")
    killed = (live / "sdk-minimal-hang-killed.v4.jsonl").read_bytes()
    resumed = (live / "sdk-minimal-hang-resumed.v4.jsonl").read_bytes()
    closing = closers(read_events(live / "sdk-minimal-hang-killed.v4.jsonl"), 4)
    written = killed + b"".join(dump(event).encode() + b"\n" for event in closing)
    assert len(closing) == 4
    assert resumed.startswith(written)


@pytest.mark.shared
def test_reference_logs_are_closed_as_the_reference_closes_them() -> None:
    live = SHARED / "corpus" / "live"
    if not live.exists():
        pytest.skip("no reference data")
    for expected in (parse(x) for x in (live / "expected.jsonl").read_bytes().split(b"\n") if x):
        if expected["name"].endswith(".jsonl"):
            found = closers(read_events(live / expected["name"]), 4)
            assert dump(found) == dump(expected.get("closers", [])), expected["name"]
    cases = json.loads((SHARED / "cases" / "expected.json").read_bytes())
    for name in ("case-01-packed-clock-back.jsonl", "case-13-fork-inside-turn.jsonl"):
        found = closers(read_events(SHARED / "cases" / name), 0)
        assert [[event["seq"], event["type"]] for event in found] == [
            closer[:2] for closer in cases[name]["closers"]
        ]
        assert [event.get("sourceEventSeqs") for event in found if "surfaceOp" in event] == [
            closer[4] for closer in cases[name]["closers"] if closer[1] == "tool/result"
        ]
