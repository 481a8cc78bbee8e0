"""Forks: they share the log up to the boundary, mark the cut, close what it cuts, and go on."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dshstore
from dshstore import EventNotFound, ForkRefused, SessionExists, Store, UnknownEvent, fold
from dshstore.engine import read
from tests.logs import EventDict, LogBuilder, make_header, text, write_log

CALL = {"type": "tool-call", "id": "c1", "name": "shell", "arguments": "{}"}
SECOND_CALL = {**CALL, "id": "c2"}
VERSIONS = [0, 1, 2, 3, 4]


def bring(store: Store, events: list[EventDict], version: int = 4, **members: Any) -> None:
    header = make_header(version, "beans", **members)
    store.import_stream(io.BytesIO(write_log(header, events)))


def a_turn(version: int, log: LogBuilder | None = None, *, ended: bool = True) -> LogBuilder:
    """A turn with two calls, of which one was started and answered; 9 events from v2 on."""
    log = log or LogBuilder(version)
    log.start_turn()
    log.start_step()
    log.append("user/message", log.user(text("dig")))
    log.settle([(CALL, ["{", "}"]), (SECOND_CALL, ["{}"])])
    log.append("tool/result", log.result("c1", text("dug")), [log.call(CALL)])
    log.append("tool/result", log.result("c2", text("dug too")), [log.call(SECOND_CALL)])
    if ended:
        log.end_step()
        log.end_turn()
    return log


def lines(session: dshstore.Session) -> list[Any]:
    return [json.loads(line) for line in b"".join(session.log()).splitlines()]


def rows_of(store: Store, session: dshstore.Session) -> int:
    asked = "select count(*) from events e join sessions s on s.id = e.session where s.session_id=?"
    [(count,)] = store.sql(asked, (session.session_id,))[1]
    return int(count)


def stored(store: Store, session: dshstore.Session) -> read.SessionRow:
    return store.session(session.session_id)._row


@pytest.mark.parametrize("version", VERSIONS)
def test_a_fork_shares_the_events_and_marks_the_cut(store: Store, version: int) -> None:
    log = a_turn(version)
    bring(store, log.events, version, cwd="/srv/garden", delegationDepth=2)
    fork = store.fork("beans", new_id="shoot")
    end = len(log.events)
    header = lines(fork)[0]
    assert header == {
        **{"type": "session", "version": version, "id": "shoot"},
        **{"createdAt": header["createdAt"], "cwd": "/srv/garden", "parentSession": "beans"},
        **({"isSeeded": True} if version >= 2 else {"seedLength": end}),
        "delegationDepth": 0,
    }
    mark = {"inherited": True} if version >= 2 else {}
    last = log.events[-1]
    assert list(fork.events(end)) == [
        {"type": "session/end-seed", "seq": end, "time": last["time"], "data": mark}
    ]
    assert list(fork.events(0, end - 1)) == list(store.session("beans").events())
    assert fork._found == stored(store, fork)
    assert rows_of(store, fork) == 1
    assert fork.surface == store.session("beans").surface
    assert fork.messages() == store.session("beans").messages()


@pytest.mark.parametrize("version", VERSIONS)
def test_an_exported_fork_is_a_log_that_can_be_imported(
    store: Store, tmp_path: Path, version: int
) -> None:
    bring(store, a_turn(version).events, version)
    fork = store.fork("beans", new_id="shoot")
    fork.user("and now?")
    fork.flush()
    log = b"".join(fork.log())
    with dshstore.open(tmp_path / "other.db") as other:
        result = other.import_stream(io.BytesIO(log))
        assert (result.outcome, result.notes) == ("imported", [])
        assert result.inherited == len(a_turn(version).events)
        assert b"".join(other.session("shoot").log()) == log


@given(st.data())
def test_a_fork_is_as_the_parent_was(tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    """Wherever it is cut: events, surface and messages up to there are the parent's."""
    version = data.draw(st.sampled_from(VERSIONS))
    log = a_turn(version)
    log = a_turn(version, log)
    first, last = sorted(data.draw(st.tuples(st.integers(0, 3), st.integers(0, 3))))
    log.compact(first, last)
    log = a_turn(version, log)
    with dshstore.open(tmp_path_factory.mktemp("forks") / "store.db") as store:
        bring(store, log.events, version)
        at = data.draw(st.integers(0, len(log.events) - 1))
        parent = store.session("beans")
        try:
            fork = store.fork("beans", at, new_id="shoot")
        except ForkRefused:
            assert version < 4
            assert len(store.sessions()) == 1
            return
        assert list(fork.events(0, at)) == log.events[: at + 1]
        assert fork.surface_at(at) == parent.surface_at(at)
        assert fork.messages(at) == parent.messages(at)
        assert list(fold(fork.events(), version).nodes) == fork.surface
        earlier = data.draw(st.integers(0, at))
        assert fork.messages(earlier) == parent.messages(earlier)
        assert fork.closers() == []
        assert fork._found == stored(store, fork)
        assert list(store.verify("shoot")) == []


def test_an_open_turn_is_closed_in_the_fork_for_the_cause_of_the_fork(store: Store) -> None:
    log = a_turn(4)
    bring(store, log.events)
    started = next(e["seq"] for e in log.events if e["type"] == "tool/call")
    fork = store.fork("beans", started, new_id="shoot")
    mark, unknown, not_started, step_end, turn_end = fork.events(started + 1)
    assert mark["data"] == {"inherited": True}
    assert unknown["sourceEventSeqs"] == [started]
    assert unknown["data"]["error"]["code"] == "TOOL_OUTCOME_UNKNOWN"
    assert unknown["data"]["message"]["id"] == f"forked-tool-result-c1-{started + 2}"
    assert "sourceEventSeqs" not in not_started
    assert not_started["data"]["error"]["code"] == "TOOL_NOT_STARTED"
    assert not_started["data"]["message"]["id"] == f"forked-tool-result-c2-{started + 3}"
    assert (step_end["type"], turn_end["data"]["reason"]) == ("step/end", {"kind": "forked"})
    assert fork._found == stored(store, fork)
    assert {e["time"] for e in fork.events(started)} == {log.events[started]["time"]}
    assert fork.start_turn() == 2
    lines = b"".join(fork.log())
    assert lines.index(b'"surfaceOp":"append","sourceEventSeqs"')


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_before_v4_a_fork_inside_a_turn_is_refused_and_leaves_nothing(
    store: Store, version: int
) -> None:
    bring(store, a_turn(version).events, version)
    with pytest.raises(ForkRefused, match="turn 1 is open there"):
        store.fork("beans", 3, new_id="shoot")
    assert [s.session_id for s in store.sessions()] == ["beans"]


def test_the_end_of_seed_of_a_v0_parent_marks_the_cut_already(store: Store) -> None:
    log = a_turn(0)
    log.add("session/end-seed", {})
    bring(store, log.events, 0)
    fork = store.fork("beans")
    assert list(fork.events()) == log.events


@pytest.mark.parametrize("version", VERSIONS)
def test_a_session_without_events_can_be_forked(store: Store, version: int) -> None:
    bring(store, [], version)
    fork = store.fork("beans")
    [mark] = fork.events()
    assert mark["type"] == "session/end-seed"
    assert mark["seq"] == 0
    assert fork._found == stored(store, fork)
    assert fork.user("hello") == 1


def test_a_cut_may_fall_inside_a_run(store: Store) -> None:
    log = LogBuilder(0)
    for index in range(9):
        chunk = {"type": "text-delta", "index": 0, "text": f"w{index} "}
        log.add("assistant/chunk", {"turn": 1, "step": 1, "chunk": chunk})
    bring(store, log.events, 0)
    assert rows_of(store, store.session("beans")) == 1
    fork = store.fork("beans", 4, new_id="shoot")
    assert list(fork.events(0, 4)) == log.events[:5]
    assert [e["type"] for e in fork.events(5)] == ["session/end-seed"]
    assert next(fork.events(5))["time"] == log.events[4]["time"]
    assert fork.next_seq == 6
    again = store.fork("shoot", 2)
    assert [e["type"] for e in again.events()] == ["assistant/chunk"] * 3 + ["session/end-seed"]


def test_a_fork_of_a_fork_reads_through_both(store: Store) -> None:
    bring(store, a_turn(4).events)
    child = store.fork("beans", new_id="child")
    said = child.user("hello from the child")
    grandchild = store.fork("child", new_id="grandchild")
    assert grandchild.session_id == "grandchild"
    assert grandchild.surface == [*store.session("beans").surface, said]
    after = grandchild.user("hello from the grandchild")
    child.user("the child goes on")
    assert grandchild.surface[-2:] == [said, after]
    assert lines(grandchild)[0]["parentSession"] == "child"
    assert [s.events for s in store.sessions() if s.session_id == "grandchild"]


def test_an_inherited_result_can_be_rewritten_and_the_parent_keeps_its_own(store: Store) -> None:
    log = a_turn(4)
    bring(store, log.events)
    result = next(e["seq"] for e in log.events if e["type"] == "tool/result")
    fork = store.fork("beans")
    with fork.turn():
        new = fork.prune(result, "short")
    assert result not in fork.surface
    assert new in fork.surface
    assert fork.messages(result) == store.session("beans").messages(result)
    assert result in fork.surface_at(len(log.events) - 1)
    assert result in store.session("beans").surface


def test_what_the_parent_gets_later_is_not_the_forks(store: Store) -> None:
    parent = store.create(session_id="beans")
    said = parent.user("first")
    fork = store.fork("beans", said)
    parent.user("second")
    parent.flush()
    assert fork.surface == [said]
    assert len(fork.messages()) == 1


def test_the_queue_of_an_open_parent_is_part_of_what_is_shared(store: Store) -> None:
    parent = store.create(session_id="beans", max_delay=3600)
    said = parent.user("first")
    assert store.fork("beans").surface == [said]


def test_a_boundary_or_an_id_that_cannot_be_is_refused(store: Store) -> None:
    bring(store, a_turn(4).events)
    with pytest.raises(EventNotFound):
        store.fork("beans", 400)
    with pytest.raises(SessionExists):
        store.fork("beans", new_id="beans")


def test_a_required_event_of_unknown_type_up_to_the_boundary_is_refused(store: Store) -> None:
    log = a_turn(4)
    log.add("weather/seen", {})
    bring(store, log.events)
    with pytest.raises(UnknownEvent):
        store.fork("beans")
    assert len(store.sessions()) == 1
    assert store.fork("beans", allow_unknown=True).next_seq == len(log.events) + 1
    assert store.fork("beans", len(log.events) - 2).next_seq == len(log.events)
