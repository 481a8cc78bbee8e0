"""The view `attempts` beside what Python measures, of logs that were imported or written as SQL."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dshstore import Store, schema
from dshstore.db import Database
from dshstore.engine.timing import time_attempts
from tests.engine.migration.old_logs import SESSION_ID, OldLog, old_logs
from tests.logs import EventDict, LogBuilder, make_header, text, write_log
from tests.sql.plain import PlainWriter, ShellWriter
from tests.stores import new_store
from tests.strategies import SampleSession, sessions

SELECT = (
    "SELECT seq, turn, step, outcome, requested, first_time, last_time, duration, output_tokens,"
    " tokens_per_second, finish FROM attempts WHERE session_id = '%s' ORDER BY seq"
)
COLUMNS = SELECT.removeprefix("SELECT ").partition(" FROM")[0].split(", ")
EVERYTHING = (
    "SELECT json_array(session, seq, turn, step, outcome, requested, first_time, last_time, delay,"
    " duration, output_tokens, tokens_per_second, finish) FROM attempts ORDER BY session, seq"
)

Row = tuple[Any, ...]


def told(events: Iterable[EventDict]) -> list[Row]:
    """What Python tells of a log, as the view does."""
    return [tuple(getattr(one, name) for name in COLUMNS) for one in time_attempts(events)]


def seen(store: Store, session_id: str = SESSION_ID) -> list[Row]:
    return list(store.sql(SELECT % session_id)[1])


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = schema.create(str(tmp_path / "plain.db"))
    yield opened
    opened.close()


_old = old_logs().map(
    lambda sample: SampleSession(
        make_header(sample.log.version, SESSION_ID, **sample.members), sample.log.events
    )
)


def chunk(chunk: EventDict, turn: int = 1, step: int = 1) -> EventDict:
    data = {"turn": turn, "step": step, "chunk": chunk}
    return {"type": "assistant/chunk", "time": 5, "data": data}


def message(**data: Any) -> EventDict:
    payload = {"turn": 1, "step": 1, **data}
    return {"type": "assistant/message", "time": 9, "data": payload, "surfaceOp": "append"}


def numbered(*events: EventDict) -> list[EventDict]:
    return [{**event, "seq": seq, "time": event["time"] + seq} for seq, event in enumerate(events)]


DELTA = {"type": "text-delta", "index": 0, "text": "x"}
FINISH = {"type": "finish", "reason": {"kind": "error"}}
STREAM = [
    {"type": "chunk", "time": 1, "chunk": {"type": "usage", "usage": {"outputTokens": 3}}},
    {"type": "chunk", "time": 1, "chunk": {"type": "usage", "usage": {"outputTokens": 4}}},
    {"type": "text-chunks", "time0": 7, "index": 0, "dt": [2, -4, 90], "texts": list("abcd")},
]

#: Logs that say more than those of the strategies, with the number of attempts in them.
EXAMPLES: dict[str, tuple[int, list[EventDict], int]] = {
    "usages grow less": (
        1,
        [chunk({"type": "usage", "usage": {"outputTokens": n}}) for n in (90, 100, 8)],
        1,
    ),
    "the usage of the stream counts": (
        1,
        [
            chunk({"type": "usage", "usage": {"outputTokens": 7}}),
            message(usage={"outputTokens": 900}, interrupted=True),
        ],
        1,
    ),
    "several attempts of one step": (
        1,
        [chunk(DELTA), chunk(FINISH), chunk(DELTA), chunk(FINISH), message(), message()],
        3,
    ),
    "a message that cites nothing": (1, [chunk(DELTA), {**message(), "sourceEventSeqs": []}], 2),
    "places without a bound": (0, [chunk(DELTA), chunk(DELTA, step=2), chunk(DELTA, 2, 2)], 3),
    "a clock that goes back": (
        0,
        [{**chunk(DELTA), "time": time} for time in (900, 10, 500, 200)],
        1,
    ),
    "a short stream": (2, [message(stream=STREAM[2:]), message(stream=[])], 2),
    "a stream as SQL wrote it": (2, [message(stream=STREAM), message(stream=STREAM[:2])], 2),
    "a stream that is none": (4, [message(stream="x"), message(stream=None)], 2),
    "a message without a stream": (3, [message(usage={"outputTokens": 4})], 1),
    "a message of June": (0, [message(content=[], provenance={})], 1),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_plain_rows_are_told_as_python_tells_them(database: Database, name: str) -> None:
    version, bare, count = EXAMPLES[name]
    events = numbered(*bare)
    writer = PlainWriter(database)
    writer.append(writer.begin(version), events)
    found = writer.run(SELECT % "s1")
    assert len(found) == count
    assert found == told(events)


@pytest.mark.parametrize("name", EXAMPLES)
def test_imported_rows_are_told_as_python_tells_them(store: Store, name: str) -> None:
    version, bare, _ = EXAMPLES[name]
    events = numbered(*bare)
    store.import_stream(BytesIO(write_log(make_header(version, SESSION_ID), events)))
    assert seen(store) == told(events)


@given(_old | sessions(), st.booleans())
def test_an_imported_log_is_told_as_python_tells_it(sample: SampleSession, packed: bool) -> None:
    with new_store() as store:
        log = write_log(sample.header, sample.events, packed=packed)
        session_id = store.import_stream(BytesIO(log)).session_id or ""
        assert seen(store, session_id) == told(sample.events)


@given(samples=st.lists(_old | sessions(), max_size=3))
def test_logs_written_as_sql_are_told_as_python_tells_them(samples: list[SampleSession]) -> None:
    with TemporaryDirectory() as folder:
        database = schema.create(f"{folder}/plain.db")
        writer = PlainWriter(database)
        for sample in samples:
            members = {
                key: value
                for key, value in sample.header.items()
                if key not in ("type", "version", "id", "createdAt")
            }
            session = writer.begin(sample.header["version"], **members)
            writer.append(session, sample.events)
        for number, sample in enumerate(samples, 1):
            assert writer.run(SELECT % f"s{number}") == told(sample.events)
        database.close()


def test_every_generation_has_its_attempts(store: Store) -> None:
    log = OldLog(0)
    log.begin()
    log.fail("a")
    log.answer("be", "ans")
    log.end()
    store.import_stream(BytesIO(write_log(make_header(0, SESSION_ID), log.events)))
    store.migrate(SESSION_ID)
    found = list(
        store.sql("SELECT format_version, outcome, duration FROM attempts ORDER BY 1, 3")[1]
    )
    assert found == [(v, *told) for v in (0, 2) for told in (("failed", 7), ("message", 14))]


def test_a_fork_has_the_attempts_that_it_inherited(store: Store) -> None:
    log = LogBuilder(4)
    log.start_turn()
    log.start_step()
    log.settle([(text("frost"), ["fro", "st"])])
    log.end_step()
    log.end_turn()
    store.import_stream(BytesIO(write_log(make_header(4, SESSION_ID), log.events)))
    with store.fork(SESSION_ID, 4, new_id="fork") as fork, fork.turn(), fork.step():
        fork.assistant("and snow", provider="p", model="m")
    assert seen(store, "fork")[:1] == seen(store) == told(log.events)
    assert seen(store, "fork")[1][:4] == (8, 2, 1, "message")


def test_a_run_that_a_fork_cuts_short_does_not_say_when_it_ended(store: Store) -> None:
    log = LogBuilder(0)
    log.settle([(text("frost"), ["f", "r", "o", "st"])])
    store.import_stream(BytesIO(write_log(make_header(0, SESSION_ID), log.events)))
    store.fork(SESSION_ID, 2, new_id="fork").close()
    [found] = seen(store, "fork")
    [cut] = store.session("fork").attempts()
    assert found == (2, 1, 1, "failed", None, cut.first_time, *[None] * 5)
    assert (cut.seq, cut.chunks, cut.duration) == (2, 3, 14)


def test_another_sqlite_says_the_same(database: Database, tmp_path: Path) -> None:
    writer = PlainWriter(database)
    for version, bare, _ in EXAMPLES.values():
        writer.append(writer.begin(version), numbered(*bare))
    lines, errors = ShellWriter(str(tmp_path / "plain.db")).run([f"{EVERYTHING};"])
    assert errors == {}
    found = [row[0] for row in writer.run(EVERYTHING)]
    assert list(map(json.loads, lines)) == list(map(json.loads, found))


@pytest.mark.parametrize(
    "data",
    [
        "x",
        7,
        None,
        [],
        {"stream": [7, "x", None, []]},
        {"stream": [{"type": "text-chunks", "time0": "x", "dt": ["y", {}, None]}]},
        {"stream": [{"type": "text-chunks", "time0": 2**53, "dt": [2**53] * 2000}]},
        {"stream": [{"type": "chunk", "time": {}, "chunk": "x"}], "usage": "x"},
        {"chunk": ["x"], "usage": [], "turn": {}, "interrupted": "x"},
        {"chunk": {"type": "usage", "usage": "x", "reason": "x"}},
    ],
)
def test_odd_payloads_hide_nothing_of_others(database: Database, data: Any) -> None:
    writer = PlainWriter(database)
    events = [{**one, "data": data} for one in (chunk(DELTA), message())]
    writer.append(writer.begin(2), numbered(*events, message(stream=STREAM)))
    assert [row[:4] for row in writer.run(SELECT % "s1")][-1] == (2, 1, 1, "message")


@pytest.mark.parametrize(
    "plan",
    [
        "EXPLAIN QUERY PLAN SELECT * FROM attempts WHERE session = 1",
        "EXPLAIN QUERY PLAN SELECT * FROM attempts WHERE session_id = 's1'",
    ],
)
def test_a_condition_on_a_session_reads_no_other(
    database: Database, tmp_path: Path, plan: str
) -> None:
    lines, errors = ShellWriter(str(tmp_path / "plain.db")).run([f"{plan};"])
    assert errors == {}
    for steps in ([row[3] for row in PlainWriter(database).run(plan)], lines):
        [events] = [step for step in steps if "SEARCH e " in step]
        assert "session=?" in events
        assert not any("SCAN s" in step or "SCAN e" in step for step in steps)
