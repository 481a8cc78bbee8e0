"""What is read to go on writing: enough to take and refuse what the whole log would."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dshstore
from dshstore import EventRefused
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
