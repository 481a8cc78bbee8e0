"""Sessions open for writing: what is refused, what is seen, what survives, turn by turn."""

from __future__ import annotations

import doctest
import gc
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import dshstore
from dshstore import (
    Conflict,
    EventRefused,
    LiveSession,
    OutOfTurn,
    SessionExists,
    Store,
    StoreError,
    UnknownEvent,
    fold,
    live,
)
from dshstore.writer import Writer

CALL = {"type": "tool-call", "id": "c1", "name": "shell", "arguments": "{}"}
ROUTE = ("gardeners", "trowel-1")
NEVER = 3600.0


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with dshstore.open(tmp_path / "store.db", durability="NORMAL") as opened:
        yield opened


def types(session: dshstore.Session) -> list[str]:
    return [event["type"] for event in session.events()]


def code(error: pytest.ExceptionInfo[EventRefused]) -> str:
    return error.value.code


def test_the_examples_of_the_documentation_are_true() -> None:
    assert doctest.testmod(live).failed == 0


# -- append --


def test_what_was_appended_is_seen_at_once_and_stays(store: Store, tmp_path: Path) -> None:
    with store.create(session_id="beans", max_delay=NEVER) as session:
        seq = session.append("user/message", {"content": []}, surface_op="append", time=5)
        assert (seq, session.next_seq, session.surface) == (0, 1, [0])
        assert [event["seq"] for event in session.pending] == [0]
        expected = {"type": "user/message", "seq": 0, "time": 5, "data": {"content": []}}
        assert list(session.events()) == [{**expected, "surfaceOp": "append"}]
        assert session.pending == []
    with dshstore.open(tmp_path / "store.db", mode="read") as other:
        assert other.session("beans").surface == [0]


def test_what_is_appended_is_copied(store: Store) -> None:
    session = store.create(session_id="beans", max_delay=NEVER)
    data = {"content": [{"type": "text", "text": "before"}]}
    session.append("user/message", data, surface_op="append")
    data["content"][0]["text"] = "after"
    assert session.messages() == [{"content": [{"type": "text", "text": "before"}]}]


def test_a_bad_event_is_refused_with_its_code_and_changes_nothing(store: Store) -> None:
    session = store.create(session_id="beans")
    said = session.user("hello")
    before = session.surface
    with pytest.raises(EventRefused) as refused:
        session.append("user/message", {})
    assert code(refused) == "op-missing"
    with pytest.raises(EventRefused) as refused:
        session.append("todo/write", {}, surface_op="append")
    assert code(refused) == "op-on-log-only"
    with pytest.raises(EventRefused) as refused:
        session.append("user/message", {}, surface_op=(said, said), sources=[])
    assert code(refused) == "sources-empty"
    with pytest.raises(EventRefused) as refused:
        session.append("user/message", {}, surface_op=(said, said))
    assert code(refused) == "sources-miss-shadowed"
    for value in (float("nan"), b"x", {1: 2}, {"a": {2, 3}}):
        with pytest.raises(EventRefused) as refused:
            session.append("todo/write", value)
        assert code(refused) == "data-not-json"
    with pytest.raises(EventRefused) as refused:
        session.append("todo/write", {}, time=2**60)
    assert code(refused) == "event-invalid"
    assert (session.surface, session.next_seq) == (before, said + 1)
    assert session.user("again") == said + 1
    session.flush()


@pytest.mark.parametrize("version", [0, 1, 2, 3, 4])
def test_a_replace_is_spelled_as_its_format_does(store: Store, version: int) -> None:
    session = store.create(session_id="beans", format_version=version)
    first, last = session.user("one"), session.user("two")
    new = session.append("user/message", {}, surface_op=(first, last), sources=[first, last])
    assert session.surface == [new]
    op = list(session.events())[-1]["surfaceOp"]
    assert op.keys() - {"op"} == ({"startSeq", "endSeq"} if version >= 3 else {"start", "end"})


def test_threads_may_share_a_session(store: Store) -> None:
    session = store.create(session_id="beans", max_delay=0.0)

    def append_some() -> None:
        for _ in range(100):
            session.user("hello")

    threads = [threading.Thread(target=append_some) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    session.flush()
    assert session.surface == list(range(400))
    assert store.session("beans").next_seq == 400


def test_committing_each_append_leaves_nothing_pending(store: Store) -> None:
    session = store.create(session_id="beans", commit_each=True)
    session.user("hello")
    assert session.pending == []
    assert store.session("beans").next_seq == 1


def test_half_a_surrogate_pair_and_floats_come_back_as_they_were(store: Store) -> None:
    session = store.create(session_id="beans")
    data = {"a": "\ud83c", "b": 1.5, "c": [1e300, 10**20], "d": ("x",), "e\0": "\0"}
    session.append("todo/write", data)
    [event] = session.events()
    assert event["data"] == {**data, "d": ["x"]}


# -- two writers --


def test_of_two_writers_of_one_session_only_one_wins(store: Store) -> None:
    first = store.create(session_id="beans", max_delay=NEVER)
    first.user("seed")
    first.flush()
    second = store.resume("beans", max_delay=NEVER)
    first.user("mine")
    first.flush()
    second.user("no, mine")
    with pytest.raises(Conflict) as conflict:
        second.flush()
    assert (conflict.value.expected, conflict.value.actual) == (1, 2)
    with pytest.raises(Conflict):
        second.user("still mine")
    with pytest.raises(Conflict):
        second.close()
    left = second.abandon()
    assert [event["type"] for event in left] == ["session/end-seed", "user/message"]
    assert left[1]["data"]["content"] == [{"type": "text", "text": "no, mine"}]
    assert store.session("beans").next_seq == 2


def test_a_fork_that_another_writer_took_up_first_is_a_conflict_too(store: Store) -> None:
    with store.create(session_id="beans") as parent:
        parent.user("hello")
    fork = store.fork("beans", new_id="peas")
    with store.resume("peas") as other:
        other.user("mine")
    fork.user("no, mine")
    with pytest.raises(Conflict) as conflict:
        fork.flush()
    assert (conflict.value.expected, conflict.value.actual) == (fork.next_seq - 1, other.next_seq)
    assert [event["type"] for event in fork.abandon()] == ["user/message"]


def test_a_commit_whose_end_was_not_seen_is_no_conflict(store: Store) -> None:
    """Ctrl-C between the commit and its noting: the events are there, and queued as well."""
    session = store.create(session_id="beans", max_delay=NEVER)
    session.user("hello")
    row = store.session("beans")._row
    session._writer._commit(list(session._writer.pending))
    assert store.session("beans").next_seq == 1
    session.user("and on")
    session.flush()
    assert len(session.messages()) == row.next_seq + 2


def test_ids_are_unique(store: Store) -> None:
    store.create(session_id="beans")
    with pytest.raises(SessionExists):
        store.create(session_id="beans")
    assert store.create().session_id != store.create().session_id


# -- the end of a session --


def test_an_exception_in_the_block_loses_nothing(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.create(session_id="beans") as session:  # noqa: PT012
        session.user("hello")
        raise ZeroDivisionError
    assert len(store.session("beans").messages()) == 1
    with pytest.raises(StoreError, match="closed"):
        session.user("too late")


def test_closing_the_store_closes_its_sessions(tmp_path: Path) -> None:
    store = dshstore.open(tmp_path / "store.db")
    session = store.create(session_id="beans", max_delay=NEVER)
    session.user("hello")
    store.close()
    session.close()
    with dshstore.open(tmp_path / "store.db") as again:
        assert again.session("beans").next_seq == 1


def test_a_forgotten_session_is_written_even_out_of_a_cycle(store: Store) -> None:
    def forget() -> None:
        session = store.create(session_id="beans", max_delay=0.0)
        session.user("hello")
        session.cycle = session  # type: ignore[attr-defined]

    forget()
    gc.collect()
    reading = store.session("beans")
    for _ in range(10_000):
        if reading.next_seq:
            break
    assert reading.next_seq == 1


# -- taking a session up again --


def test_resuming_goes_on_where_the_log_ends_and_marks_the_place(store: Store) -> None:
    with store.create(session_id="beans") as session, session.turn():
        session.user("hello")
    with store.resume("beans") as session:
        assert session.pending == []
        assert session.next_seq == 3
        assert session.start_turn() == 2
        assert types(session)[3:] == ["session/end-seed", "turn/start"]
    with store.resume("beans") as session:
        assert session.next_seq == 6  # its open turn was closed


def test_resuming_closes_the_turn_that_was_interrupted(store: Store) -> None:
    with store.create(session_id="beans") as session:
        session.start_turn()
        session.start_step()
        session.assistant([CALL], provider="p", model="m")
        session.tool_call("c1", "shell", "{}")
    expected = store.session("beans").closers()
    assert [event["type"] for event in expected] == ["tool/result", "step/end", "turn/end"]
    resumed = store.resume("beans")
    assert list(resumed.events(4)) == expected
    assert [m["role"] for m in resumed.messages()] == ["assistant", "tool"]
    assert store.repair("beans") == []


def test_repair_appends_the_closers_and_nothing_else(store: Store) -> None:
    with store.create(session_id="beans") as session:
        session.start_turn()
    expected = store.session("beans").closers()
    assert store.repair("beans") == expected
    assert store.repair("beans") == []
    assert types(store.session("beans")) == ["turn/start", "turn/end"]


def test_a_log_with_a_required_event_of_unknown_type_is_not_taken_up(store: Store) -> None:
    with store.create(session_id="beans") as session:
        session.append("weather/seen", {})
        session.append("weather/guessed", {}, ignorable=True)
    with pytest.raises(UnknownEvent, match="weather/seen"):
        store.resume("beans")
    assert store.resume("beans", allow_unknown=True).next_seq == 2


@pytest.mark.parametrize("version", [0, 1, 2, 3, 4])
def test_a_resumed_surface_takes_and_refuses_what_the_old_one_did(
    store: Store, version: int
) -> None:
    with store.create(session_id="beans", format_version=version) as session:
        session.start_turn()
        session.start_step()
        session.assistant([CALL], provider="p", model="m")
        session.tool_call("c1", "shell", {})
        result = session.tool_result("c1", "long", meta={"rows": 1.0})
        session.end_step()
        session.end_turn()
        payload = list(session.events())[result]["data"]
    with store.resume("beans") as session:
        other = {**payload, "meta": {"rows": 2}}
        with pytest.raises(EventRefused) as refused:
            session.append("tool/result", other, surface_op=(result, result), sources=[result])
        assert code(refused) == "result-rewrite-fields"
        with session.turn():
            new = session.prune(result, "short")
        assert new in session.surface
        assert list(fold(session.events(), version).nodes) == session.surface


# -- turns --


def test_the_order_of_a_turn(store: Store) -> None:
    """What its readers rely on: the question before the request, the answer before its calls."""
    session = store.create(session_id="beans", cwd="/srv/garden")
    with session.turn() as turn, session.step() as step:
        assert (turn, step, session.open_turn, session.open_step) == (1, 1, 1, 1)
        session.system("You tend a garden.")
        session.user("Is there frost?")
        session.request_header(*ROUTE)
        session.assistant([CALL])
        session.tool_call("c1", "shell", {"command": "date"})
        session.tool_result("c1", "minus two")
    assert types(session) == [
        "turn/start",
        "step/start",
        "system/message",
        "user/message",
        "request/header",
        "assistant/message",
        "tool/call",
        "tool/result",
        "step/end",
        "turn/end",
    ]
    assert (session.open_turn, session.open_step) == (None, None)
    assert session.closers() == []


def test_turns_and_steps_are_numbered_and_cannot_overlap(store: Store) -> None:
    session = store.create()
    for out_of_turn in (session.start_step, session.end_step, session.end_turn):
        with pytest.raises(OutOfTurn):
            out_of_turn()
    assert session.start_turn() == 1
    with pytest.raises(OutOfTurn, match="turn 1 is still open"):
        session.start_turn()
    assert session.start_step() == 1
    with pytest.raises(OutOfTurn, match="step 1 is still open"):
        session.end_turn()
    with pytest.raises(OutOfTurn):
        session.start_step()
    session.end_step()
    assert session.start_step() == 2
    session.end_step()
    session.end_turn("max-tokens")
    assert session.start_turn() == 2
    assert session.start_step() == 1
    assert list(session.events())[5]["data"]["reason"] == {"kind": "max-tokens"}


def test_numbers_go_on_after_events_that_were_appended_by_hand(store: Store) -> None:
    session = store.create()
    session.append("turn/start", {"turn": 1})
    assert session.open_turn == 1
    session.append("turn/end", {"turn": 1, "reason": {"kind": "completed"}})
    assert session.start_turn() == 2


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError("odd"), {"kind": "error", "error": {"message": "odd", "code": "ValueError"}}),
        (KeyboardInterrupt(), {"kind": "aborted", "reason": {"kind": "user"}}),
    ],
)
def test_what_breaks_a_turn_off_leaves_a_history_that_a_provider_takes(
    store: Store, error: BaseException, reason: dict[str, Any]
) -> None:
    session = store.create()
    with pytest.raises(type(error)), session.turn(), session.step():  # noqa: PT012
        session.assistant([CALL, {**CALL, "id": "c2"}], provider="p", model="m")
        session.tool_call("c1", "shell", "{}")
        raise error
    assert types(session)[-4:] == ["tool/result", "tool/result", "step/end", "turn/end"]
    assert list(session.events())[-1]["data"]["reason"] == reason
    assert [m["role"] for m in session.messages()] == ["assistant", "tool", "tool"]
    assert session.closers() == []
    with session.turn() as turn:
        assert turn == 2


def test_a_turn_may_be_ended_inside_its_block(store: Store) -> None:
    session = store.create()
    with session.turn():
        session.end_turn("blocked")
    assert types(session) == ["turn/start", "turn/end"]


# -- messages --


@pytest.mark.parametrize("version", [0, 1, 2])
def test_before_v3_the_system_prompt_is_the_headers(store: Store, version: int) -> None:
    session = store.create(format_version=version)
    with session.turn(), session.step():
        with pytest.raises(StoreError, match="request_header"):
            session.system("You tend a garden.")
        session.request_header(*ROUTE, system="You tend a garden.", tools=[{"name": "t"}])
    request = session.request()
    assert request.system == [{"type": "text", "text": "You tend a garden."}]
    assert request.tools == [{"name": "t"}]


@pytest.mark.parametrize("version", [3, 4])
def test_a_second_system_prompt_takes_the_place_of_the_first(store: Store, version: int) -> None:
    session = store.create(format_version=version)
    with session.turn(), session.step():
        session.system("You tend a garden.")
        session.user("hello")
        second = session.system("You tend two gardens.")
        with pytest.raises(StoreError, match="system"):
            session.request_header(*ROUTE, system="three")
    assert session.surface == [second, 3]
    assert session.request().system == [{"type": "text", "text": "You tend two gardens."}]


def test_the_reason_of_a_header_is_that_of_its_place(store: Store) -> None:
    def reasons(session: LiveSession) -> list[str]:
        return [e["data"]["reason"] for e in session.events(type="request/header")]

    with store.create(session_id="beans") as session, session.turn():
        session.request_header(*ROUTE)
        session.request_header("others", "spade-2", max_tokens=9, temperature=0.5, stop=["x"])
    with store.resume("beans") as session, session.turn(), session.step():
        session.assistant("Yes.")
        session.request_header("others", "spade-2")
        assert reasons(session) == ["initial", "change", "resume"]
        source = session.messages()[0]["source"]
    assert source == {"kind": "model", "provider": "others", "model": "spade-2"}


def test_an_answer_needs_a_provider(store: Store) -> None:
    session = store.create()
    with session.turn(), session.step(), pytest.raises(StoreError, match="provider"):
        session.assistant("Yes.")


def test_a_result_cites_its_call_and_says_how_it_failed(store: Store) -> None:
    session = store.create()
    with session.turn(), session.step():
        session.assistant([CALL, {**CALL, "id": "c2"}], provider="p", model="m")
        call = session.tool_call("c1", "shell", '{"a": 1}')
        failed = session.tool_result("c1", "no", error={"name": "Denied", "code": "DENIED"})
        unstarted = session.tool_result("c2", "never ran", is_error=True)
    events = list(session.events())
    assert events[call]["data"]["arguments"] == '{"a": 1}'
    assert events[failed]["sourceEventSeqs"] == [call]
    assert events[failed]["data"]["message"]["isError"] is True
    assert "sourceEventSeqs" not in events[unstarted]


# -- what the model need not see any more --


@pytest.mark.parametrize("version", [0, 2, 3, 4])
def test_a_compaction_cites_what_it_shadows(store: Store, version: int) -> None:
    session = store.create(format_version=version)
    said = [session.user(word) for word in ("one", "two", "three")]
    new = session.compact(
        said[0], said[1], "so far", provider="p", model="m", shadowed_tokens=9, max_tokens=5
    )
    assert session.surface == [new, said[2]]
    start, summary, replacement, end = session.events(3)
    assert [e["type"].split("/")[1] for e in (start, summary, end)] == ["start", "summary", "end"]
    assert replacement["sourceEventSeqs"] == [start["seq"], summary["seq"], *said[:2]]
    assert summary["data"]["shadowedSeqs"] == said[:2]
    assert summary["data"]["shadowedRange"] == {"start": said[0], "end": said[1]}
    assert start["data"] == end["data"] == {**start["data"], "turn": None}
    assert json.loads(json.dumps(session.messages()[0]["source"]))["compactionId"]
    with session.turn():
        session.compact(new, said[2], "all", checkpoint="told", provider="p", model="m")
    assert list(session.events(type="compaction/end"))[-1]["data"]["turn"] == 1
    assert session.messages()[0]["content"] == [{"type": "text", "text": "told"}]


def test_a_compaction_that_cannot_be_leaves_no_trace(store: Store) -> None:
    session = store.create()
    with session.turn(), session.step():
        head = session.system("You tend a garden.")
        said = session.user("hello")
    before = session.next_seq
    for first, last, expected in (
        (head, said, "system-head-protected"),
        (said, head, "replace-inverted"),
        (0, said, "replace-start-not-on-surface"),
        (said, 99, "replace-end-not-on-surface"),
    ):
        with pytest.raises(EventRefused) as refused:
            session.compact(first, last, "so far", provider="p", model="m")
        assert code(refused) == expected
    assert session.next_seq == before


@pytest.mark.parametrize("version", [0, 2, 4])
def test_a_result_is_pruned_right_behind_its_mark(store: Store, version: int) -> None:
    session = store.create(format_version=version)
    with session.turn(), session.step():
        session.assistant([CALL], provider="p", model="m")
        session.tool_call("c1", "shell", {})
        result = session.tool_result("c1", "long" * 99)
        said = session.user("and?")
        new = session.prune(result, "short", shadowed_tokens=80)
        with pytest.raises(EventRefused):
            session.prune(result, "shorter")
        with pytest.raises(dshstore.EventNotFound):
            session.prune(99, "shorter")
        with pytest.raises(EventRefused):
            session.prune(said, "shorter")
    mark, rewritten = session.events(new - 1, new)
    assert mark["type"] == "compaction/prune"
    assert mark["data"]["shadowedSeqs"] == [result]
    assert rewritten["sourceEventSeqs"] == [mark["seq"], result]
    assert session.surface.index(new) == 1
    assert "long" not in json.dumps(session.messages())


def test_a_title_is_the_users_or_made_of_messages(store: Store) -> None:
    session = store.create(session_id="beans")
    session.title("Beans", [session.user("hello")])
    session.title("My beans")
    kinds = [e["data"]["source"]["kind"] for e in session.events(type="session/title")]
    assert kinds == ["fallback", "user"]
    assert [summary.title for summary in store.sessions()] == ["My beans"]


# -- what is no delay, and what is too large --


@pytest.mark.parametrize("delay", [-1, float("nan"), float("-inf"), None, "1", [], True])
def test_what_is_no_delay_is_refused_before_anything_is_written(store: Store, delay: Any) -> None:
    with store.create(session_id="beans") as session:
        session.start_turn()
    before = store.info()
    ways: list[Callable[[], object]] = [
        lambda: store.create(session_id="peas", max_delay=delay),
        lambda: store.resume("beans", max_delay=delay),
        lambda: store.fork("beans", new_id="peas", max_delay=delay),
    ]
    for way in ways:
        with pytest.raises((TypeError, ValueError), match="max_delay is"):
            way()
    assert store.info() == before


def test_an_event_that_is_too_large_is_refused_at_once(store: Store) -> None:
    row = store.create(session_id="beans")._found
    written: list[Any] = []
    writer = Writer("beans", written.extend, 0, max_delay=NEVER)
    session = LiveSession(store._database, row, writer, max_data=20)
    with pytest.raises(EventRefused, match="has 21 bytes as JSON, an event may have 20") as refused:
        session.append("todo/write", "x" * 19)
    assert code(refused) == "event-invalid"
    assert session.append("todo/write", "x" * 18) == 0
    session.close()
    assert [event.seq for event in written] == [0]
