"""Attempts while they stream in: one settlement each, in its place, or nothing at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dshstore
from dshstore import (
    Attempt,
    Conflict,
    EventRefused,
    LiveChunk,
    LiveSession,
    OutOfTurn,
    Store,
    StoreError,
    StreamRefused,
    streams,
)
from tests.strategies import WORDS

ROUTE = ("gardeners", "trowel-1")
USAGE = {"inputTokens": 3, "outputTokens": 2}
CALL = {"type": "tool-call", "id": "c1", "name": "shell", "arguments": "{}"}
FAILURE = {"message": "busy", "code": "HTTP_ERROR", "status": 503}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with dshstore.open(tmp_path / "store.db", durability="NORMAL") as opened:
        yield opened


def begin(store: Store, version: int = 4, **options: Any) -> LiveSession:
    """A session in its first step, with the request made."""
    session = store.create(session_id="beans", format_version=version, **options)
    session.start_turn()
    session.start_step()
    session.user("Is there frost?")
    session.request_header(*ROUTE)
    return session


def end(session: LiveSession) -> None:
    session.end_step()
    session.end_turn()
    session.close()


def say(attempt: Attempt, *parts: str, index: int = 0, kind: str = "text") -> None:
    for part in parts:
        attempt.push({"type": f"{kind}-delta", "index": index, "text": part})


def finish(attempt: Attempt, kind: str = "stop", **members: Any) -> None:
    attempt.push({"type": "finish", "reason": {"kind": kind}, **members})


def last(session: LiveSession) -> dict[str, Any]:
    return list(session.events())[-1]


def types(session: LiveSession) -> list[str]:
    return [event["type"] for event in session.events(4)]


def verified(store: Store) -> bool:
    """Whether nothing at all is wrong, in the store or with a log."""
    return list(store.verify()) == []


# -- settlements --


@pytest.mark.parametrize("version", [2, 3, 4])
def test_an_answer_is_one_message_with_the_stream_it_came_in(store: Store, version: int) -> None:
    session = begin(store, version)
    state = {"response": "r", "blocks": ["x", "y"]}
    with session.attempt() as attempt:
        attempt.push({"type": "block-start", "index": 0, "blockType": "text"}, 1000)
        attempt.push({"type": "text-delta", "index": 0, "text": "Let me "}, 1004)
        attempt.push({"type": "text-delta", "index": 0, "text": "look."}, 1002)
        attempt.push({"type": "block-end", "index": 1, "block": CALL}, 1010)
        attempt.push({"type": "usage", "usage": USAGE}, 1011)
        finish(attempt, "tool-calls", replayState=state)
        assert attempt.assembled.blocks[1] == CALL
        seq = attempt.settle(time=2000)
    assert attempt.outcome == "message"
    event = last(session)
    assert (event["type"], event["seq"], event["time"]) == ("assistant/message", seq, 2000)
    assert event["surfaceOp"] == "append"
    assert list(event["data"]) == ["turn", "step", "message", "usage", "stream"]
    message = event["data"]["message"]
    assert message["content"] == [{"type": "text", "text": "Let me look."}, CALL]
    source = {"kind": "model", "provider": "gardeners", "model": "trowel-1", "replayState": state}
    assert message["source"] == source
    chunks = streams.expand(event["data"]["stream"])
    assert [chunk["time"] for chunk in chunks[:5]] == [1000, 1004, 1002, 1010, 1011]
    session.tool_call("c1", "shell", "{}")
    session.tool_result("c1", "minus two")
    end(session)
    assert verified(store)


def test_who_answers_is_who_was_asked_last_or_who_is_named(store: Store) -> None:
    session = begin(store)
    session.request_header("others", "spade-2")
    for named, model in (({}, "spade-2"), ({"model": "spade-3"}, "spade-3")):
        with session.attempt(**named) as attempt:
            say(attempt, "frost")
            attempt.settle()
        source = last(session)["data"]["message"]["source"]
        assert source == {"kind": "model", "provider": "others", "model": model}


def test_nobody_is_asked_without_a_request_header(store: Store) -> None:
    session = store.create()
    session.start_turn()
    session.start_step()
    with pytest.raises(StoreError, match="provider and model"):
        session.attempt()


def test_what_is_cancelled_keeps_the_text_that_can_be_seen(store: Store) -> None:
    session = begin(store)
    with session.attempt() as attempt:
        say(attempt, "fro", "st")
        say(attempt, " \n", index=1, kind="reasoning")
        attempt.push({"type": "tool-call-delta", "index": 2, "id": "c", "argumentsDelta": "{"})
        attempt.push({"type": "usage", "usage": USAGE})
        attempt.cancel()
    assert attempt.outcome == "interrupted"
    data = last(session)["data"]
    assert list(data) == ["turn", "step", "message", "interrupted", "usage", "stream"]
    assert data["interrupted"] is True
    assert data["message"]["content"] == [{"type": "text", "text": "frost"}]
    end(session)
    assert verified(store)


def test_what_is_cancelled_before_there_is_text_is_an_attempt_alone(store: Store) -> None:
    session = begin(store)
    with session.attempt() as attempt:
        say(attempt, " ", "\ufeff")
        attempt.push({"type": "tool-call-delta", "index": 2, "id": "c", "argumentsDelta": "{"})
        attempt.cancel()
    assert attempt.outcome == "failed"
    event = last(session)
    assert list(event["data"]) == ["turn", "step", "stream"]
    assert (event["type"], "surfaceOp" in event) == ("assistant/attempt", False)
    assert session.surface == [2]
    end(session)
    assert verified(store)


@pytest.mark.parametrize("kind", ["error", "aborted"])
def test_a_stream_that_ends_in_a_failure_is_an_attempt_alone(store: Store, kind: str) -> None:
    session = begin(store)
    with session.attempt() as attempt:
        say(attempt, "fro")
        finish(attempt, kind)
        attempt.settle()
    assert attempt.outcome == "failed"
    assert last(session)["type"] == "assistant/attempt"
    end(session)
    assert verified(store)


def test_calls_that_the_token_limit_may_have_cut_are_not_announced(store: Store) -> None:
    session = begin(store)
    with session.attempt() as attempt:
        say(attempt, "frost")
        attempt.push({"type": "tool-call-delta", "index": 1, "id": "c", "argumentsDelta": "{"})
        finish(attempt, "max-tokens")
        attempt.settle()
    assert last(session)["data"]["message"]["content"] == [{"type": "text", "text": "frost"}]
    end(session)
    assert verified(store)


def test_a_block_that_cannot_be_told_keeps_the_attempt_open(store: Store) -> None:
    session = begin(store)
    with session.attempt() as attempt:
        attempt.push({"type": "block-start", "index": 0, "blockType": "picture"})
        with pytest.raises(StreamRefused, match="picture"):
            attempt.settle()
        assert attempt.outcome == "open"
        attempt.cancel()
    assert types(session) == ["assistant/attempt"]


def test_an_attempt_of_no_chunks_may_be_settled_either_way(store: Store) -> None:
    session = begin(store)
    for settle in (Attempt.settle, Attempt.cancel, Attempt.fail):
        with session.attempt() as attempt:
            settle(attempt)
    assert types(session) == ["assistant/message", "assistant/attempt", "assistant/attempt"]
    end(session)
    assert verified(store)


# -- nothing --


def test_an_attempt_that_is_left_unsettled_leaves_nothing(store: Store) -> None:
    session = begin(store)
    with session.attempt() as attempt:
        say(attempt, "fro")
    assert attempt.outcome == "abandoned"
    with pytest.raises(ZeroDivisionError), session.attempt() as second:  # noqa: PT012
        say(second, "fro")
        raise ZeroDivisionError
    assert second.outcome == "abandoned"
    end(session)
    assert types(session) == ["step/end", "turn/end"]
    assert verified(store)


def test_an_exception_abandons_the_attempt_and_ends_the_turn(store: Store) -> None:
    session = store.create()
    with pytest.raises(ZeroDivisionError), session.turn(), session.step():  # noqa: PT012
        session.request_header(*ROUTE)
        attempt = session.attempt()  # not in a block
        say(attempt, "fro")
        raise ZeroDivisionError
    assert attempt.outcome == "abandoned"
    assert [e["type"] for e in session.events(3)] == ["step/end", "turn/end"]
    with pytest.raises(OutOfTurn, match="abandoned"):
        attempt.cancel()


def test_nothing_is_durable_before_the_settlement(store: Store, tmp_path: Path) -> None:
    session = begin(store)
    session.flush()
    with dshstore.open(tmp_path / "store.db", mode="read") as other:
        with session.attempt() as attempt:
            say(attempt, *WORDS)
            session.flush()
            assert (session.pending, other.session("beans").next_seq) == ([], 4)
            seq = attempt.settle()
        session.flush()
        assert other.session("beans").next_seq == seq + 1


# -- order --


def test_an_attempt_is_settled_once(store: Store) -> None:
    session = begin(store)
    with session.attempt() as attempt:
        say(attempt, "frost")
        attempt.settle()
        for again in (attempt.settle, attempt.cancel, attempt.fail, lambda: say(attempt, "!")):
            with pytest.raises(OutOfTurn, match="over already: message"):
                again()
        attempt.abandon()
    assert attempt.outcome == "message"
    assert types(session) == ["assistant/message"]


def test_there_is_one_attempt_at_a_time_and_only_in_a_step(store: Store) -> None:
    session = begin(store)
    with session.attempt(), pytest.raises(OutOfTurn, match="still open"):
        session.attempt()
    session.end_step()
    with pytest.raises(OutOfTurn, match="no step"):
        session.attempt()
    session.end_turn()
    with pytest.raises(OutOfTurn, match="no turn"):
        session.attempt()


def test_nothing_that_follows_an_attempt_stands_before_its_settlement(store: Store) -> None:
    session = begin(store)
    early: list[Callable[[], object]] = [
        lambda: session.tool_call("c1", "shell", {}),
        lambda: session.append("llm/retry", {}),
        lambda: session.append("llm/retry-started", {}),
        lambda: session.assistant("frost"),
        lambda: session.append("assistant/attempt", {"turn": 1, "step": 1, "stream": []}),
        session.end_step,
        lambda: session.append("turn/end", {}),
        lambda: session.append("step/start", {}),
        lambda: session.append("turn/start", {}),
    ]
    with session.attempt() as attempt:
        say(attempt, "frost")
        for append in early:
            with pytest.raises(OutOfTurn, match="must be settled first"):
                append()
        session.append("todo/write", {"todos": []})
        attempt.settle()
    session.end_step()
    assert types(session) == ["todo/write", "assistant/message", "step/end"]


@pytest.mark.parametrize("version", [0, 1])
def test_before_v2_there_are_chunk_events_instead(store: Store, version: int) -> None:
    session = begin(store, version)
    with pytest.raises(StoreError, match="assistant/chunk"):
        session.attempt()


def test_a_settlement_that_is_refused_can_be_made_again(store: Store) -> None:
    session = begin(store)
    with session.attempt() as attempt:
        say(attempt, "frost")
        with pytest.raises(EventRefused):
            attempt.settle(time=2**60)
        assert attempt.outcome == "open"
        attempt.settle()
    assert types(session) == ["assistant/message"]


def test_an_attempt_that_another_writer_overtook_is_not_in_the_log(store: Store) -> None:
    session = begin(store, max_delay=3600.0)
    session.flush()
    with store.resume("beans") as other:
        other.user("mine")
    with pytest.raises(Conflict), session.attempt() as attempt:  # noqa: PT012
        say(attempt, "frost")
        attempt.settle()
        session.flush()
    left = session.abandon()
    assert [event["type"] for event in left] == ["assistant/message"]


def test_a_settlement_is_durable_on_return_where_each_append_is(store: Store) -> None:
    session = begin(store, commit_each=True)
    with session.attempt() as attempt:
        say(attempt, "frost")
        seq = attempt.settle()
    assert session.pending == []
    assert store.session("beans").next_seq == seq + 1


# -- chunks --


@pytest.mark.parametrize(
    "chunk",
    [
        None,
        "text",
        {},
        {"type": "noise"},
        {"type": "text-delta", "index": -1, "text": ""},
        {"type": "usage", "usage": {1, 2}},
        {"type": "usage", "usage": float("nan")},
    ],
)
def test_what_is_no_chunk_is_refused_and_told_to_nobody(store: Store, chunk: Any) -> None:
    session = begin(store)
    told: list[LiveChunk] = []
    session.listen(told.append)
    with session.attempt() as attempt:
        with pytest.raises(StreamRefused):
            attempt.push(chunk)
        attempt.fail()
    assert told == []
    assert last(session)["data"]["stream"] == []


def test_a_chunk_is_copied(store: Store) -> None:
    session = begin(store)
    chunk = {"type": "block-end", "index": 0, "block": {"type": "text", "text": "before"}}
    with session.attempt() as attempt:
        attempt.push(chunk)
        chunk["block"]["text"] = "after"  # type: ignore[index]
        attempt.settle()
    assert session.messages()[-1]["content"] == [{"type": "text", "text": "before"}]


def test_a_chunk_without_members_of_its_own_is_copied_too(store: Store) -> None:
    session = begin(store)
    chunk = {"type": "tool-call-delta", "index": 0, "id": "", "argumentsDelta": "{"}
    with session.attempt() as attempt:
        attempt.push(chunk, 1000)
        chunk["argumentsDelta"] = "["
        attempt.fail()
    [record] = last(session)["data"]["stream"]
    assert record["chunk"]["argumentsDelta"] == "{"


def test_who_listens_is_told_of_each_chunk_and_of_no_event(store: Store) -> None:
    session = begin(store)
    told: list[LiveChunk] = []
    stop = session.listen(told.append)
    chunk = {"type": "text-delta", "index": 0, "text": "fro"}
    with session.attempt() as attempt:
        attempt.push(chunk, 1000)
        attempt.fail()
    with session.attempt() as attempt:
        attempt.push(chunk, 1001)
        stop()
        attempt.push(chunk, 1002)
        attempt.settle()
    assert told == [LiveChunk(1, 1, 1, 1000, chunk), LiveChunk(2, 1, 1, 1001, chunk)]


def test_what_a_listener_raises_loses_no_chunk(store: Store) -> None:
    session = begin(store)

    def choke(chunk: LiveChunk) -> None:
        raise ZeroDivisionError

    session.listen(choke)
    with session.attempt() as attempt:
        with pytest.raises(ZeroDivisionError):
            say(attempt, "frost")
        attempt.settle()
    assert session.messages()[-1]["content"] == [{"type": "text", "text": "frost"}]


# -- retries --


def test_retries_are_numbered_in_a_chain_of_their_own(store: Store) -> None:
    session = begin(store)

    def fail(policy: str, limit: int | None) -> list[Any]:
        with session.attempt() as attempt:
            finish(attempt, "error")
            attempt.settle()
        session.retry(FAILURE, delay_ms=10, policy_key=policy, max_retries=limit)
        data = last(session)["data"]
        session.start_retry()
        started = last(session)["data"]
        same = {key: data[key] for key in ("retryId", "turn", "step", "retry")}
        assert (started, list(started)) == (same, ["retryId", "turn", "step", "retry"])
        return [data["retry"], data["mode"], data.get("maxRetries"), data["retryId"]]

    first, second, other = fail("k", 2), fail("k", 2), fail("else", None)
    assert [chain[:3] for chain in (first, second, other)] == [
        [1, "normal", 2],
        [2, "normal", 2],
        [1, "always", None],
    ]
    assert first[3] == second[3] != other[3]
    with session.attempt() as attempt:
        attempt.fail()
    with pytest.raises(StoreError, match="max_retries"):
        session.retry(FAILURE, delay_ms=10, policy_key="k", max_retries=2)
    session.end_step()
    session.start_step()
    assert fail("k", 2)[0] == 1
    end(session)
    assert verified(store)


def test_a_retry_is_written_as_the_harness_writes_it(store: Store) -> None:
    session = begin(store)
    with session.attempt() as attempt:
        attempt.fail()
    session.retry(FAILURE, delay_ms=10, policy_key="k", max_retries=3)
    keys = "retryId turn step provider mode policyKey retry maxRetries delayMs failure"
    assert " ".join(last(session)["data"]) == keys


def test_only_what_has_just_failed_is_retried_and_only_once(store: Store) -> None:
    session = begin(store)

    def retry() -> int:
        return session.retry(FAILURE, delay_ms=0, policy_key="k")

    for not_due in (retry, session.start_retry):
        with pytest.raises(OutOfTurn):
            not_due()
    with session.attempt() as attempt:
        say(attempt, "frost")
        attempt.settle()
    with pytest.raises(OutOfTurn, match="just failed"):
        retry()
    with session.attempt() as attempt:
        with pytest.raises(OutOfTurn, match="just failed"):
            retry()
        attempt.fail()
    retry()
    with pytest.raises(OutOfTurn, match="just failed"):
        retry()
    session.start_retry()
    with pytest.raises(OutOfTurn, match="no retry is due"):
        session.start_retry()
    with session.attempt() as attempt:
        attempt.fail()
    retry()
    session.end_step()
    session.start_step()
    for too_late in (retry, session.start_retry):
        with pytest.raises(OutOfTurn):
            too_late()


# -- laws --

_texts = st.builds(
    lambda kind, index, text: {"type": f"{kind}-delta", "index": index, "text": text},
    st.sampled_from(["text", "reasoning"]),
    st.integers(0, 2),
    st.sampled_from(WORDS),
)
_calls = st.builds(
    lambda id, text: {"type": "tool-call-delta", "index": 3, "id": id, "argumentsDelta": text},
    st.sampled_from(["c", "", "d"]),
    st.sampled_from(WORDS),
)
_ends = st.sampled_from(
    [
        {"type": "usage", "usage": USAGE},
        {"type": "block-end", "index": 0, "block": {"type": "text", "text": "whole"}},
        {"type": "finish", "reason": {"kind": "stop"}, "replayState": {"blocks": [1]}},
        {"type": "finish", "reason": {"kind": "max-tokens"}},
        {"type": "finish", "reason": {"kind": "error"}},
    ]
)
_chunks = st.lists(st.tuples(st.integers(-(2**40), 2**40), _texts | _calls | _ends), max_size=8)


@given(st.lists(st.tuples(_chunks, st.sampled_from(["settle", "cancel", "fail"])), max_size=3))
def test_every_settlement_holds_its_chunks_to_the_millisecond_and_agrees_with_them(
    attempts: list[tuple[list[tuple[int, dict[str, Any]]], str]],
) -> None:
    with TemporaryDirectory() as folder, dshstore.open(Path(folder) / "store.db") as store:
        session = begin(store)
        for chunks, settle in attempts:
            with session.attempt() as attempt:
                for time, chunk in chunks:
                    attempt.push(chunk, time)
                seq = getattr(attempt, settle)()
            [event] = session.events(seq, seq)
            came = [{"time": time, "chunk": chunk} for time, chunk in chunks]
            assert streams.expand(event["data"]["stream"]) == came
        session.break_off({"kind": "aborted", "reason": {"kind": "user"}})
        session.close()
        assert [f for f in store.verify() if f.code.startswith("stream") or f.kind == "store"] == []
