"""When tokens came: which chunks are one attempt, and the same figures in every format."""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict

import dshstore
from dshstore.engine.timing import AttemptTiming, Gap, time_attempts
from tests.engine.migration.old_logs import SESSION_ID, OldLog, Sample, migrated, old_logs
from tests.logs import BASE_TIME, EventDict, LogBuilder, make_header, text, write_log
from tests.stores import new_store
from tests.strategies import VERSIONS, SampleSession, sessions

USAGE = {"inputTokens": 9, "outputTokens": 30}


def figures(events: Iterable[EventDict], **options: int) -> list[dict[str, Any]]:
    """All but the seqs, which a migration changes."""
    return [asdict(one) | {"seq": None} for one in time_attempts(events, **options)]


def outcomes(log: LogBuilder) -> list[tuple[int, str, int]]:
    return [(one.seq, one.outcome, one.chunks) for one in time_attempts(log.events)]


def chunk(time: int, chunk: EventDict, turn: int = 1, step: int = 1) -> EventDict:
    data = {"turn": turn, "step": step, "chunk": chunk}
    return {"type": "assistant/chunk", "seq": 0, "time": time, "data": data}


def delta(time: int, **place: int) -> EventDict:
    return chunk(time, {"type": "text-delta", "index": 0, "text": "x"}, **place)


def step_start(time: int) -> EventDict:
    return {"type": "step/start", "seq": 0, "time": time, "data": {"turn": 1, "step": 1}}


#: An attempt of two tokens a second apart, and a message that came of it.
TIMED: list[tuple[int, EventDict]] = [
    (1200, {"type": "block-start", "index": 0, "blockType": "text"}),
    (1250, {"type": "text-delta", "index": 0, "text": "fro"}),
    (3250, {"type": "text-delta", "index": 0, "text": "st"}),
    (3250, {"type": "usage", "usage": USAGE}),
    (4200, {"type": "finish", "reason": {"kind": "stop"}}),
]


def as_chunks() -> list[EventDict]:
    events = [step_start(1000), *(chunk(*timed) for timed in TIMED)]
    message = {"type": "assistant/message", "time": 4300, "data": {"turn": 1, "step": 1}}
    events.append({**message, "sourceEventSeqs": [1, 2, 3, 4, 5]})
    return [{**event, "seq": seq} for seq, event in enumerate(events)]


def as_stream() -> list[EventDict]:
    stream = dshstore.streams.compact({"time": time, "chunk": chunk} for time, chunk in TIMED)
    data = {"turn": 1, "step": 1, "stream": stream}
    return [
        step_start(1000),
        {"type": "todo/write", "seq": 1, "time": 1100, "data": {}},
        {"type": "assistant/message", "seq": 6, "time": 4300, "data": data},
    ]


@pytest.mark.parametrize("events", [as_chunks(), as_stream()], ids=["chunks", "stream"])
def test_the_figures_of_an_attempt(events: list[EventDict]) -> None:
    [found] = time_attempts(events, min_gap=900)
    assert found == AttemptTiming(
        seq=6,
        turn=1,
        step=1,
        outcome="message",
        requested=1000,
        first_time=1200,
        last_time=4200,
        first_token_delay=250,
        duration=3000,
        chunks=5,
        output_tokens=30,
        tokens_per_second=10.0,
        longest_gap=2000,
        gaps=(Gap(1250, 2000), Gap(3250, 950)),
        finish="stop",
    )


# -- which chunks are one attempt --


def test_an_attempt_ends_where_it_is_settled_or_retried_or_its_step_ends() -> None:
    log = OldLog()
    log.begin()
    assert log.fail("a", "b") == 7  # two deltas, a finish, the retry
    log.retry_started(1)
    log.say("c")
    log.retry(2)
    log.answer("be", "ans")
    log.say("and")
    log.end()
    assert outcomes(log) == [
        (6, "failed", 3),
        (9, "failed", 1),
        (14, "message", 3),
        (15, "failed", 1),
    ]


def test_what_happens_while_tokens_come_does_not_end_an_attempt() -> None:
    log = OldLog()
    log.begin()
    first = log.say("a")
    log.header()
    log.add("todo/write", {"todos": []})
    second = log.say("b")
    log.append("assistant/message", log.assistant(text("ab")), [*first, *second])
    assert outcomes(log) == [(8, "message", 2)]


def test_chunks_after_a_finish_are_another_attempt() -> None:
    log = OldLog()
    log.begin()
    log.say("a")
    log.finish("error")
    log.answer("b")
    assert outcomes(log) == [(5, "failed", 2), (8, "message", 2)]


def test_a_message_that_cites_nothing_is_an_attempt_without_chunks() -> None:
    log = OldLog()
    log.begin()
    log.say("a")
    log.append("assistant/message", log.assistant(text("b")), [])
    found = list(time_attempts(log.events))
    assert [(one.outcome, one.chunks, one.first_time) for one in found] == [
        ("failed", 1, log.events[4]["time"]),
        ("message", 0, None),
    ]
    assert found[1].requested is None  # that was for the first


def test_chunks_of_another_step_are_another_attempt() -> None:
    found = time_attempts([delta(1), delta(2), delta(3, step=2), delta(4, turn=2, step=2)])
    assert [(one.turn, one.step, one.chunks) for one in found] == [(1, 1, 2), (1, 2, 1), (2, 2, 1)]


def test_an_attempt_whose_harness_was_killed_failed() -> None:
    assert [one.outcome for one in time_attempts([delta(1), delta(2)])] == ["failed"]


@pytest.mark.parametrize("version", VERSIONS)
def test_an_interrupted_message_is_told_from_a_whole_one(version: int) -> None:
    log = LogBuilder(version)
    log.start_turn()
    log.start_step()
    log.settle([(text("frost"), ["frost"])])
    log.settle([(text("frost"), ["frost"])], interrupted=True)
    assert [one.outcome for one in time_attempts(log.events)] == ["message", "interrupted"]


# -- what is measured --


def test_the_delay_is_from_the_step_or_the_retry_to_the_first_token() -> None:
    retried = {"type": "llm/retry-started", "seq": 0, "time": 500, "data": {"turn": 1, "step": 1}}
    usage = chunk(80, {"type": "usage", "usage": USAGE})
    found = time_attempts([step_start(10), usage, delta(100), retried, delta(507)])
    assert [one.first_token_delay for one in found] == [90, 7]


def test_a_delay_is_not_told_without_a_request_or_a_token() -> None:
    retry = {"type": "llm/retry", "seq": 0, "time": 500, "data": {"turn": 1, "step": 1}}
    finish = chunk(90, {"type": "finish", "reason": {"kind": "error"}})
    found = time_attempts([step_start(10), finish, delta(100), retry, delta(507)])
    assert [one.first_token_delay for one in found] == [None, None, None]


def test_a_clock_that_goes_back_makes_no_gap_and_no_rate() -> None:
    usage = chunk(200, {"type": "usage", "usage": USAGE})
    [found] = time_attempts([step_start(700), delta(600), delta(100), usage], min_gap=0)
    assert (found.first_token_delay, found.duration) == (-100, -400)
    assert (found.longest_gap, found.gaps) == (100, (Gap(100, 100),))
    assert (found.output_tokens, found.tokens_per_second) == (30, None)
    [found] = time_attempts([delta(600), delta(100)])
    assert found.longest_gap == 0


def test_one_token_has_no_gap_and_no_rate() -> None:
    [found] = time_attempts([delta(600)])
    assert (found.longest_gap, found.duration, found.tokens_per_second) == (None, 0, None)


@pytest.mark.parametrize(
    "usage", [None, 7, [], {}, {"outputTokens": "many"}, {"outputTokens": 0.5}]
)
def test_a_usage_that_is_none_is_no_figure(usage: Any) -> None:
    [found] = time_attempts([chunk(1, {"type": "usage", "usage": usage}), delta(1001)])
    assert (found.output_tokens, found.tokens_per_second) == (None, None)


def test_the_last_usage_counts_and_a_messages_own_where_no_chunk_tells_one() -> None:
    more = {"type": "usage", "usage": {"inputTokens": 9, "outputTokens": 5.0}}
    message = {"type": "assistant/message", "seq": 0, "time": 9}
    message["data"] = {"turn": 1, "step": 1, "usage": {"outputTokens": 7}}
    first, second = chunk(1, {"type": "usage", "usage": USAGE}), chunk(2, more)
    assert [one.output_tokens for one in time_attempts([first, second, message])] == [5]
    assert [one.output_tokens for one in time_attempts([delta(1), message])] == [7]


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {"turn": "x", "step": None},
        {"turn": 1, "step": 1, "chunk": "x", "stream": "x"},
        {"turn": 1, "step": 1, "chunk": {"type": []}, "stream": [{"type": "text-chunks"}]},
        {"chunk": {"type": "finish", "reason": 7}, "stream": [7]},
    ],
)
@pytest.mark.parametrize("kind", ["assistant/chunk", "assistant/message", "assistant/attempt"])
def test_nothing_is_refused(kind: str, data: Any) -> None:
    [found] = time_attempts([{"type": kind, "seq": 3, "time": 5, "data": data}])
    assert (found.seq, found.output_tokens, found.finish) == (3, None, None)


# -- laws --


@given(old_logs(1), st.integers(-1, 300))
def test_a_log_has_the_same_figures_before_and_after_its_migration(
    sample: Sample, min_gap: int
) -> None:
    log, members = sample
    before = figures(log.events, min_gap=min_gap)
    assert figures(migrated(log, **members), min_gap=min_gap) == before


@given(sessions(), st.booleans())
def test_a_stored_session_has_the_figures_of_its_events(
    sample: SampleSession, packed: bool
) -> None:
    log = write_log(sample.header, sample.events, packed=packed)
    with new_store() as store:
        session_id = store.import_stream(BytesIO(log)).session_id or ""
        found = list(store.session(session_id).attempts(min_gap=5))
    assert found == list(time_attempts(sample.events, min_gap=5))


def test_a_stored_run_of_chunks_that_no_stream_could_hold_is_told_too(tmp_path: Path) -> None:
    noise = {"type": "noise"}
    events = [delta(1000), chunk(1010, noise), delta(1030), chunk(1060, {"index": 0})]
    events = [{**event, "seq": seq} for seq, event in enumerate(events)]
    with dshstore.open(tmp_path / "store.db") as store:
        log = write_log(make_header(1, SESSION_ID), events, packed=False)
        store.import_stream(BytesIO(log))
        found = list(store.session(SESSION_ID).attempts(min_gap=15))
    assert found == list(time_attempts(events, min_gap=15))
    assert [(one.chunks, one.duration, one.longest_gap) for one in found] == [(4, 60, 30)]


def test_a_fork_has_the_attempts_that_it_inherited(tmp_path: Path) -> None:
    log = OldLog(0)
    log.begin()
    log.answer("be", "ans")
    log.end()
    data = write_log(make_header(0, SESSION_ID), log.events)
    with dshstore.open(tmp_path / "store.db") as store:
        store.import_stream(BytesIO(data))
        with store.fork(SESSION_ID, new_id="fork") as fork:
            assert list(fork.attempts()) == list(store.session(SESSION_ID).attempts())
            assert [one.first_time for one in fork.attempts()] == [BASE_TIME + 5 * 7]


def test_a_live_session_has_the_attempts_that_it_settled(tmp_path: Path) -> None:
    with dshstore.open(tmp_path / "store.db") as store, store.create() as session:
        with session.turn(), session.step():
            session.request_header("gardeners", "trowel-1")
            for settle in ("fail", "cancel", "settle"):
                with session.attempt() as attempt:
                    for time, chunk in TIMED:
                        attempt.push(chunk, time)
                    getattr(attempt, settle)()
        assert [(one.outcome, one.duration) for one in session.attempts()] == [
            ("failed", 3000),
            ("interrupted", 3000),
            ("message", 3000),
        ]
