"""What is read to go on writing: enough to take and refuse what the whole log would."""

from __future__ import annotations

import io
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dshstore
from dshstore import Conflict, EventRefused
from dshstore.engine import read, resuming
from dshstore.engine.surface import Surface
from tests.logs import EventDict, LogBuilder, make_header, text, write_log
from tests.strategies import surface_logs

VERSIONS = [0, 1, 2, 3, 4]


def judge(surface: Surface, event: EventDict) -> str | None:
    """The code with which the surface refuses the event, None when it takes it."""
    try:
        surface.push(event)
    except EventRefused as error:
        return error.code
    return None


@given(st.data())
def test_a_resumed_surface_judges_as_the_one_that_saw_the_whole_log(
    tmp_path_factory: pytest.TempPathFactory, data: Any
) -> None:
    version = data.draw(st.sampled_from(VERSIONS))
    events = data.draw(surface_logs(version))
    sound = Surface(version)
    good = next((i for i, event in enumerate(events) if judge(sound, event)), len(events))
    cut = data.draw(st.integers(0, good))
    with dshstore.open(tmp_path_factory.mktemp("resuming") / "store.db") as store:
        log = write_log(make_header(version, "beans"), events[:cut])
        store.import_stream(io.BytesIO(log))
        row = read.find_session(store._database, "beans")
        resumed = resuming.resume_surface(store._database, row)
    whole = Surface(version)
    for event in events[:cut]:
        whole.push(event)
    assert resumed.nodes == whole.nodes
    odd = [
        {**event, "seq": cut, "sourceEventSeqs": list(whole.nodes)}
        for event in events
        if "surfaceOp" in event
    ]
    for event in [*odd, *events[cut:]]:
        assert judge(resumed, event) == judge(whole, event)
        assert resumed.nodes == whole.nodes


def test_numbers_and_route_are_those_of_the_log(tmp_path: Path) -> None:
    log = LogBuilder(4)
    for _ in range(2):
        log.start_turn()
        log.header()
        log.start_step()
        log.append("user/message", log.user(text("hello")))
        log.end_step()
        log.end_turn()
    with dshstore.open(tmp_path / "store.db") as store:
        store.import_stream(io.BytesIO(write_log(make_header(4, "beans"), log.events)))
        row = read.find_session(store._database, "beans")
        tracker = resuming.resume_tracker(store._database, row)
        assert (tracker.turn, tracker.last_turn) == (None, 2)
        assert resuming.last_route(store._database, row) == ("gardeners", "trowel-1")
        store.create(session_id="empty")
        empty = read.find_session(store._database, "empty")
        assert resuming.resume_tracker(store._database, empty).last_turn == 0
        assert resuming.last_route(store._database, empty) is None


def test_a_session_is_taken_up_as_it_stands_at_one_moment_while_another_writes(
    tmp_path: Path,
) -> None:
    path = tmp_path / "store.db"
    ended = threading.Event()

    def write() -> None:
        with dshstore.open(path, durability="NORMAL") as other:
            while not ended.is_set():
                session = other.resume("beans", commit_each=True)
                try:
                    with session.turn():
                        session.user("there")
                    session.close()
                except Conflict:
                    session.abandon()

    with dshstore.open(path, durability="NORMAL") as store, ThreadPoolExecutor(1) as threads:
        store.create(session_id="beans").close()
        writing = threads.submit(write)
        taken = 0
        try:
            while taken < 300 and not writing.done():
                try:
                    session = store.resume("beans")
                except Conflict:
                    continue
                taken += 1
                assert session.open_turn is None
                assert all(seq < session.next_seq for seq in session.surface)
                session.abandon()
        finally:
            ended.set()
        writing.result()


def test_what_was_appended_since_a_session_was_found_is_taken_up(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with dshstore.open(path) as store, dshstore.open(path) as other:
        with store.create(session_id="beans") as session:
            session.user("hello")
        row = read.find_session(store._database, "beans")
        with other.resume("beans") as session:
            session.user("and on")
        taken = resuming.take_up(store._database, row, allow_unknown=False)
        assert taken.session.next_seq == taken.standing.surface.next_seq == 3
        assert taken.seed_due
        assert list(taken.standing.surface.nodes) == [0, 2]
