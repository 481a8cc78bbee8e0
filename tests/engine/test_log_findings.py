"""The faults that a log has by itself: a log for each code, and sound logs that have none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

import dshstore
from dshstore.engine.findings import LOG_CODES
from dshstore.engine.read import SessionRow
from dshstore.engine.repair import closers
from dshstore.engine.store_findings import check_header
from dshstore.streams import compact
from tests.logs import EventDict, LogBuilder, image, make_header, text, write_log
from tests.strategies import SampleSession, sessions

Found = list[tuple[int | None, str]]


def find(folder: Path, log: LogBuilder, **header: Any) -> Found:
    """What `verify` finds in a log; nothing of it may be damage."""
    return find_in(folder, make_header(log.version, "s", **header), log.events)


def find_in(folder: Path, header: EventDict, events: list[EventDict]) -> Found:
    path = folder / "log.jsonl"
    path.write_bytes(write_log(header, events))
    with dshstore.open(folder / "store.db") as store:
        store.import_log(path)
        found = list(store.verify())
    assert all(finding.kind == "log" for finding in found), found
    return [(finding.seq, finding.code) for finding in found]


def begin(version: int = 4) -> LogBuilder:
    """A log with an open step: events 0 and 1."""
    log = LogBuilder(version)
    log.start_turn()
    log.start_step()
    return log


def end(log: LogBuilder) -> None:
    log.end_step()
    log.end_turn()


CALL: EventDict = {"type": "tool-call", "id": "c1", "name": "shell", "arguments": "{}"}


def announced() -> LogBuilder:
    """A log in which event 2 announces a call."""
    log = begin()
    log.settle([(CALL, ["{}"])])
    return log


def turn_in_turn() -> LogBuilder:
    log = LogBuilder(4)
    log.start_turn()
    log.start_turn()
    log.end_turn()
    return log


def turn_ends_twice() -> LogBuilder:
    log = LogBuilder(4)
    log.start_turn()
    log.end_turn()
    log.end_turn()
    return log


def turn_ends_in_a_step() -> LogBuilder:
    log = begin()
    log.end_turn()
    return log


def turn_three_after_one() -> LogBuilder:
    log = LogBuilder(4)
    for turn in (1, 3, 4):
        log.turn = turn - 1
        log.start_turn()
        log.end_turn()
    return log


def step_in_step() -> LogBuilder:
    log = begin()
    log.start_step()
    end(log)
    return log


def step_ends_twice() -> LogBuilder:
    log = begin()
    log.end_step()
    end(log)
    return log


def step_between_turns() -> LogBuilder:
    log = begin()
    end(log)
    log.step = 1
    log.start_step()
    log.end_step()
    return log


def step_two_first() -> LogBuilder:
    log = LogBuilder(4)
    log.start_turn()
    log.step = 1
    log.start_step()
    end(log)
    return log


def request_between_turns() -> LogBuilder:
    log = LogBuilder(4)
    log.header()
    return log


def settlement_of_another_step() -> LogBuilder:
    log = begin()
    log.step = 2
    log.settle([(text("hello"), ["hello"])])
    log.step = 1
    end(log)
    return log


def chunks_between_steps() -> LogBuilder:
    log = LogBuilder(0)
    log.start_turn()
    log.settle([(text("hello"), ["h", "e", "l", "l", "o"])])
    log.end_turn()
    return log


def killed() -> LogBuilder:
    log = announced()
    log.call(CALL)
    return log


def empty_id_announced() -> LogBuilder:
    log = begin()
    data = log.assistant({**CALL, "id": ""})
    log.append("assistant/message", {**data, "stream": []})
    end(log)
    return log


def empty_id_started() -> LogBuilder:
    log = begin()
    log.call({**CALL, "id": ""})
    end(log)
    return log


def empty_id_answered() -> LogBuilder:
    log = begin()
    log.append("tool/result", log.result("", text("done")))
    end(log)
    return log


def announced_twice() -> LogBuilder:
    log = announced()
    log.settle([(CALL, ["{}"])])
    log.call(CALL)
    log.append("tool/result", log.result("c1"))
    end(log)
    return log


def started_twice() -> LogBuilder:
    log = announced()
    log.call(CALL)
    log.call(CALL)
    log.append("tool/result", log.result("c1"))
    end(log)
    return log


def started_unannounced() -> LogBuilder:
    log = begin()
    log.call(CALL)
    log.append("tool/result", log.result("c1"))
    end(log)
    return log


def started_otherwise() -> LogBuilder:
    log = announced()
    log.call({**CALL, "arguments": '{"a":1}'})
    log.append("tool/result", log.result("c1"))
    end(log)
    return log


def never_answered() -> LogBuilder:
    log = announced()
    log.call(CALL)
    end(log)
    return log


def answered_twice() -> LogBuilder:
    log = announced()
    log.call(CALL)
    log.append("tool/result", log.result("c1"))
    log.append("tool/result", log.result("c1"))
    end(log)
    return log


def answered_before_start() -> LogBuilder:
    log = announced()
    log.append("tool/result", log.result("c1"))
    end(log)
    return log


def rewritten_between_turns() -> LogBuilder:
    log = announced()
    log.call(CALL)
    seq = log.append("tool/result", log.result("c1", text("long")))
    end(log)
    log.replace("tool/result", log.rewritten(seq, text("short")), 1, 1)
    return log


def attempt_that_does_not_expand() -> LogBuilder:
    log = begin()
    log.add("assistant/attempt", {**log.place, "stream": [{"type": "text-chunks"}]})
    end(log)
    return log


def settlement_without_stream() -> LogBuilder:
    log = begin(2)
    log.append("assistant/message", log.assistant(text("hello")))
    end(log)
    return log


def settled_otherwise(**members: Any) -> LogBuilder:
    log = begin()
    chunks = [{"time": 1, "chunk": {"type": "text-delta", "index": 0, "text": "hello"}}]
    data = {**log.assistant(text(members.pop("text", "hello"))), "stream": compact(chunks)}
    log.append("assistant/message", {**data, **members})
    end(log)
    return log


def settlement_that_cites() -> LogBuilder:
    log = begin(2)
    seq = log.settle([(text("hello"), ["hello"])])
    log.events[seq]["sourceEventSeqs"] = [0]
    end(log)
    return log


def offload_of_nothing() -> LogBuilder:
    log = begin()
    log.append("user/message", log.user(image("soil")))
    log.offload((2, [1]))
    log.offload((2, [0]))
    end(log)
    return log


def tools_of_no_header() -> LogBuilder:
    log = begin()
    block = {"type": "tool-addition", "toolName": "rake"}
    log.append("developer/message", log.developer(block, headerSeq=0))
    log.append("user/message", log.user(text("so?")))
    end(log)
    return log


def unknown_type() -> LogBuilder:
    log = begin()
    log.add("weather/report", {})
    log.add("weather/forecast", {}, ignorable=True)
    end(log)
    return log


def compaction(change: Callable[[list[EventDict]], object]) -> Callable[[], LogBuilder]:
    """A log with a compaction (events 5 to 8) of which something is changed."""

    def build() -> LogBuilder:
        log = begin()
        log.append("user/message", log.user(text("hello")))
        end(log)
        log.compact(0, 0)
        log.start_turn()
        log.end_turn()
        change(log.events)
        for seq, event in enumerate(log.events):
            event["seq"] = seq
        return log

    return build


def drop(seq: int) -> Callable[[list[EventDict]], object]:
    return lambda events: events.pop(seq)


def change(seq: int, **members: Any) -> Callable[[list[EventDict]], object]:
    return lambda events: events[seq]["data"].update(members)


def end_too_late(events: list[EventDict]) -> None:
    events.append(events.pop(8))


def leave_open(events: list[EventDict]) -> None:
    del events[8:]


def start_again(events: list[EventDict]) -> None:
    events.insert(6, {**events[5], "data": dict(events[5]["data"])})
    events[8]["sourceEventSeqs"] = [2, 5, 7]


def checkpoint_alone(events: list[EventDict]) -> None:
    events[7]["data"]["source"]["compactionId"] = "another"


#: A log for every code that needs no header of its own, and all that is found in it.
CASES: list[tuple[str, Callable[[], LogBuilder], Found]] = [
    ("turn-order", turn_in_turn, [(1, "turn-order")]),
    ("turn-order", turn_ends_twice, [(2, "turn-order")]),
    ("turn-order", turn_ends_in_a_step, [(2, "turn-order")]),
    ("turn-number", turn_three_after_one, [(2, "turn-number")]),
    ("step-order", step_in_step, [(2, "step-order")]),
    ("step-order", step_ends_twice, [(3, "step-order")]),
    ("step-order", step_between_turns, [(4, "step-order"), (5, "step-order")]),
    ("step-number", step_two_first, [(1, "step-number")]),
    ("outside-turn", request_between_turns, [(0, "outside-turn")]),
    ("outside-turn", rewritten_between_turns, [(7, "outside-turn")]),
    ("outside-step", settlement_of_another_step, [(2, "outside-step")]),
    ("outside-step", chunks_between_steps, [(1, "outside-step"), (8, "outside-step")]),
    ("open-turn", killed, [(0, "open-turn"), (2, "call-open")]),
    ("call-open", killed, [(0, "open-turn"), (2, "call-open")]),
    ("call-id-empty", empty_id_announced, [(2, "call-id-empty")]),
    ("call-id-empty", empty_id_started, [(2, "call-id-empty")]),
    ("call-id-empty", empty_id_answered, [(2, "call-id-empty")]),
    ("call-repeated", announced_twice, [(3, "call-repeated")]),
    ("call-repeated", started_twice, [(4, "call-repeated")]),
    ("call-unannounced", started_unannounced, [(2, "call-unannounced")]),
    ("call-mismatch", started_otherwise, [(3, "call-mismatch")]),
    ("call-unanswered", never_answered, [(2, "call-unanswered")]),
    ("result-unpaired", answered_twice, [(5, "result-unpaired")]),
    ("result-not-started", answered_before_start, [(3, "result-not-started")]),
    ("stream-invalid", attempt_that_does_not_expand, [(2, "stream-invalid")]),
    ("stream-invalid", settlement_without_stream, [(2, "stream-invalid")]),
    ("stream-differs", lambda: settled_otherwise(text="hallo"), [(2, "stream-differs")]),
    (
        "stream-differs",
        lambda: settled_otherwise(usage={"inputTokens": 1}),
        [(2, "stream-differs")],
    ),
    ("settlement-cites", settlement_that_cites, [(2, "settlement-cites")]),
    ("offload-invalid", offload_of_nothing, [(3, "offload-invalid")]),
    ("developer-header-invalid", tools_of_no_header, [(2, "developer-header-invalid")]),
    ("event-unknown", unknown_type, [(2, "event-unknown")]),
    ("compaction-order", compaction(start_again), [(6, "compaction-order")]),
    (
        "compaction-order",
        compaction(change(5, turn=1)),
        [(5, "compaction-order"), (8, "compaction-order")],
    ),
    ("compaction-order", compaction(end_too_late), [(8, "compaction-order")]),
    ("compaction-span", compaction(change(6, shadowedSeqs=[3])), [(6, "compaction-span")]),
    ("checkpoint-outside", compaction(checkpoint_alone), [(7, "checkpoint-outside")]),
    ("open-compaction", compaction(leave_open), [(5, "open-compaction")]),
]


@pytest.mark.parametrize(("code", "build", "expected"), CASES)
def test_a_fault_of_a_log_is_found_once_where_it_is(
    tmp_path: Path, code: str, build: Callable[[], LogBuilder], expected: Found
) -> None:
    found = find(tmp_path, build())
    assert found == expected
    assert code in dict(map(reversed, found))  # type: ignore[arg-type]


#: A log for each code that is a matter of the header.
HEADERS: list[tuple[str, int, dict[str, Any], Found]] = [
    ("seed-marker-missing", 4, {"isSeeded": True}, [(None, "seed-marker-missing")]),
    ("seed-beyond-log", 0, {"seedLength": 9}, [(None, "seed-beyond-log")]),
]


@pytest.mark.parametrize(("code", "version", "header", "expected"), HEADERS)
def test_what_the_header_says_of_the_inherited_part_is_held_against_the_log(
    tmp_path: Path, code: str, version: int, header: dict[str, Any], expected: Found
) -> None:
    log = begin(version)
    end(log)
    assert find(tmp_path, log, **header) == expected


def test_a_mark_in_a_log_that_is_not_seeded_is_told(tmp_path: Path) -> None:
    log = begin()
    end(log)
    log.add("session/end-seed", {"inherited": True})
    assert find(tmp_path, log) == [(4, "seed-marker-unexpected")]


def test_a_header_that_a_log_could_not_have_is_told(tmp_path: Path) -> None:
    # only plain SQL can make one
    row = SessionRow(1, "s", 4, 0, '{"id":"s"}', None, "dsh", 0, 0, None, None)
    header, faults = check_header(row)
    assert header is None
    assert [fault.code for fault in faults] == ["header-invalid"]


def test_every_code_of_a_log_has_an_example() -> None:
    shown = {code for code, _, _ in CASES} | {code for code, *_ in HEADERS}
    assert shown | {"seed-marker-unexpected", "header-invalid"} == set(LOG_CODES)


def test_clocks_that_go_back_are_no_fault(tmp_path: Path) -> None:
    log = LogBuilder(4, ticks=(-5, 3, -90))
    log.start_turn()
    log.start_step()
    end(log)
    assert find(tmp_path, log) == []


def test_a_compaction_of_an_earlier_life_may_stay_open(tmp_path: Path) -> None:
    log = LogBuilder(4)
    log.add("compaction/start", {"compactionId": "z", "turn": None})
    log.start_turn()
    log.end_turn()
    log.add("session/end-seed", {})
    assert find(tmp_path, log) == []


def test_closers_of_a_killed_session_make_it_faultless(tmp_path: Path) -> None:
    log = killed()
    log.events += closers(log.events, log.version)
    assert find(tmp_path, log) == []


def test_old_shapes_of_v0_are_followed(tmp_path: Path) -> None:
    log = LogBuilder(0)
    log.add("turn/start", {"turn": 1, "trigger": {"kind": "user"}})
    log.start_step()
    log.turn = 1
    provenance = {"provider": "gardeners", "model": "trowel-1"}
    log.append("assistant/message", {**log.place, "content": [CALL], "provenance": provenance}, [])
    log.call(CALL)
    result = {"callId": "c1", "content": [text("done")], "isError": False}
    log.append("tool/result", {**log.place, **result})
    end(log)
    assert find(tmp_path, log) == []


@given(session=sessions())
def test_a_log_that_a_harness_could_have_written_has_no_fault(
    tmp_path_factory: pytest.TempPathFactory, session: SampleSession
) -> None:
    assert find_in(tmp_path_factory.mktemp("log"), session.header, session.events) == []
