"""Ctrl-C at any line of a call: the session refuses to go on, or the log it writes is sound."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import dshstore
from dshstore import EventRefused, LiveSession, OutOfTurn, Store, StoreError, fold

NEVER = 3600.0

#: The modules that a session's state is in.
_PACKAGE = Path(dshstore.__file__).parent
_HOLDERS = frozenset(
    str(_PACKAGE / name)
    for name in (
        "appending.py",
        "turns.py",
        "live.py",
        "attempt.py",
        "writer.py",
        "engine/surface.py",
        "engine/repair.py",
    )
)

Step = Callable[[LiveSession], object]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with dshstore.open(tmp_path / "store.db", durability="NORMAL") as opened:
        yield opened


def is_with(frame: FrameType) -> bool:
    """Whether a block is entered or left, which Python does without looking for signals."""
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    return line.lstrip().startswith("with ")


def call_interrupted(call: Callable[[], object], at: int) -> bool:
    """Raise KeyboardInterrupt at a line of a call, counted from 1; False when it has fewer."""
    count = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal count
        if frame.f_code.co_filename not in _HOLDERS or frame.f_code.co_name == "flush":
            return None  # a flush changes nothing of what a session knows
        if event == "line" and not is_with(frame):
            count += 1
            if count == at:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def in_turn(session: LiveSession) -> None:
    session.start_turn()


def in_step(session: LiveSession) -> None:
    session.start_turn()
    session.start_step()
    session.system("You tend a garden.")
    session.user("Is there frost tonight?")
    session.request_header("gardeners", "trowel-1")


def at_call(session: LiveSession) -> None:
    in_step(session)
    call = {"type": "tool-call", "id": "c1", "name": "weather", "arguments": "{}"}
    session.assistant([call])


def after_call(session: LiveSession) -> None:
    at_call(session)
    session.tool_call("c1", "weather", {})


def after_result(session: LiveSession) -> None:
    after_call(session)
    session.tool_result("c1", "minus two")


def in_attempt(session: LiveSession) -> None:
    in_step(session)
    attempt = session.attempt()
    attempt.push({"type": "text-delta", "index": 0, "text": "Yes."})
    ATTEMPTS[session.session_id] = attempt


def after_failure(session: LiveSession) -> None:
    in_attempt(session)
    ATTEMPTS.pop(session.session_id).fail()


def before_retry(session: LiveSession) -> None:
    after_failure(session)
    retry(session)


def retry(session: LiveSession) -> None:
    session.retry({"message": "busy", "code": "429"}, delay_ms=1, policy_key="p")


def whole_turn(session: LiveSession) -> None:
    with session.turn(), session.step():
        session.user("And tomorrow?")


def compact(session: LiveSession) -> None:
    session.compact(session.surface[1], session.surface[-1], "It was about frost.")


def call_tool(session: LiveSession) -> None:
    session.tool_call("c1", "weather", {})


def give_result(session: LiveSession) -> None:
    session.tool_result("c1", "minus two")


#: Nothing keeps a caller from calling these twice.
TOOLS = (call_tool, give_result)

#: The attempts that are open, by the ids of their sessions.
ATTEMPTS: dict[str, dshstore.Attempt] = {}

CALLS: dict[str, tuple[Step, Step]] = {
    "start_turn": (lambda session: None, LiveSession.start_turn),
    "end_turn": (in_turn, LiveSession.end_turn),
    "start_step": (in_turn, LiveSession.start_step),
    "end_step": (in_step, LiveSession.end_step),
    "turn": (lambda session: None, whole_turn),
    "break_off": (after_call, lambda session: session.break_off({"kind": "aborted"})),
    "system": (in_step, lambda session: session.system("You tend two gardens.")),
    "user": (in_step, lambda session: session.user("And tomorrow?")),
    "request_header": (in_step, lambda session: session.request_header("gardeners", "spade-2")),
    "tool_call": (at_call, call_tool),
    "tool_result": (after_call, give_result),
    "compact": (after_result, compact),
    "prune": (after_result, lambda session: session.prune(session.surface[-1], "cold")),
    "settle": (in_attempt, lambda session: ATTEMPTS[session.session_id].settle()),
    "retry": (after_failure, retry),
    "start_retry": (before_retry, LiveSession.start_retry),
}


def go_on(session: LiveSession, step: Step) -> str:
    """Use a session after an interrupt as people do; why it refuses, "" if it does not."""
    try:
        if step not in TOOLS:  # whoever is told of no success tries again
            with suppress(OutOfTurn):
                step(session)
        if session.open_turn is not None:
            session.break_off({"kind": "aborted", "reason": {"kind": "user"}})
        whole_turn(session)
    except StoreError as error:
        return str(error)
    return ""


def check_whole(store: Store, session: LiveSession) -> None:
    events = list(session.events())
    assert session.surface == list(fold(events, 4).nodes)
    for single in ("turn/start", "llm/retry", "llm/retry-started", "session/end-seed"):
        told = [event["data"] for event in events if event["type"] == single]
        assert all(data not in told[:at] or not data for at, data in enumerate(told)), events
    numbers = [event["data"]["retry"] for event in events if event["type"] == "llm/retry"]
    assert len(set(numbers)) == len(numbers)


@pytest.mark.parametrize("name", CALLS)
def test_an_interrupted_session_refuses_to_go_on_or_writes_a_sound_log(
    store: Store, name: str
) -> None:
    prepare, step = CALLS[name]
    at, interrupted = 0, True
    while interrupted:
        at += 1
        session = store.create(session_id=f"bed-{at}", max_delay=NEVER)
        prepare(session)
        interrupted = call_interrupted(lambda: step(session), at)  # noqa: B023
        if refusal := go_on(session, step):
            assert "interrupted halfway: close the session" in refusal
            session.close()
            session = store.resume(session.session_id, max_delay=NEVER)
            whole_turn(session)
        check_whole(store, session)
    assert at > 10
    assert list(store.verify()) == []


def test_a_compaction_whose_summary_is_refused_leaves_no_trace(store: Store) -> None:
    session = store.create(session_id="beans", max_delay=NEVER)
    after_result(session)
    before = session.next_seq
    with pytest.raises(EventRefused):
        session.compact(
            session.surface[1], session.surface[-1], "frost", usage={"in": float("nan")}
        )
    assert session.next_seq == before
    whole = list(session.surface)
    session.user("Go on.")
    assert session.surface == [*whole, before]
