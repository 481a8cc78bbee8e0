"""What an event was made of, and what stands for it now; the views that say it in SQL."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from shutil import copyfile

import pytest
from hypothesis import given

import dshstore
from dshstore import EventBrief, Explanation, fold
from tests.logs import write_log
from tests.real_parts import require
from tests.stores import SAMPLES, take_samples
from tests.strategies import SampleSession, sessions


@pytest.fixture(scope="module")
def garden(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dshstore.Store]:
    path = tmp_path_factory.mktemp("why") / "garden.db"
    with dshstore.open(path) as store:
        take_samples(store)
        with store.create(session_id="long", format_version=4) as log:
            log.append("user/message", {"content": []}, surface_op="append")
            for seq in range(1, 4):
                log.append("user/message", {}, surface_op=(seq - 1, seq - 1), sources=[seq - 1])
            log.append("user/message", {}, surface_op="append")
        yield store


def ask(store: dshstore.Store, session: str, seq: int) -> Explanation:
    return store.session(session).why(seq)


def seqs(briefs: list[EventBrief]) -> list[int]:
    return [brief.seq for brief in briefs]


def test_a_checkpoint_goes_back_to_the_raw_events(garden: dshstore.Store) -> None:
    found = ask(garden, "bean-bed", 38)
    assert (found.event.state, found.event.now) == ("live", 38)
    assert found.event.cites == [36, 37, 2, 19, 21, 33]
    assert seqs(found.sources) == [2, 19, 21, 33, 36, 37, 6, 20, 24]
    assert [brief.count for brief in found.sources[-3:]] == [13, 1, 9]
    assert seqs(found.shadowed) == [2, 19, 21, 33]
    assert found.shadowed_by == []


def test_a_shadowed_result_leads_to_its_call_and_to_what_stands_for_it(
    garden: dshstore.Store,
) -> None:
    found = ask(garden, "bean-bed", 21)
    assert (found.event.state, found.event.now) == ("shadowed", 38)
    assert seqs(found.shadowed_by) == seqs(found.cited_by) == [38]
    assert found.call is not None
    assert found.message is not None
    assert (found.call.seq, found.message.seq) == (20, 19)
    assert found.call.text == 'read_sensor {"sensor":"soil/bean-bed"}'


def test_a_rewritten_result_has_the_call_of_the_first(garden: dshstore.Store) -> None:
    found = ask(garden, "compost", 14)
    assert found.call is not None
    assert found.message is not None
    assert (seqs(found.shadowed), found.call.seq, found.message.seq) == ([9], 7, 6)


def test_a_member_of_a_run_is_told_alone(garden: dshstore.Store) -> None:
    found = ask(garden, "bean-bed", 8)
    assert (found.event.seq, found.event.count, found.event.text) == (8, 1, " leaves can also mean")
    assert (found.event.state, found.event.now) == ("log-only", None)
    assert [(brief.seq, brief.now) for brief in found.cited_by] == [(19, 38)]


def test_a_place_that_was_taken_often_is_followed_to_the_end(garden: dshstore.Store) -> None:
    found = ask(garden, "long", 0)
    assert seqs(found.shadowed_by) == [1, 2, 3]
    assert [brief.now for brief in found.shadowed_by] == [3, 3, 3]
    assert seqs(ask(garden, "long", 3).sources) == [2, 1, 0]


def test_a_seq_that_is_not_there_is_refused(garden: dshstore.Store) -> None:
    with pytest.raises(dshstore.EventNotFound):
        ask(garden, "long", 5)


def test_a_fork_tells_of_its_own_future_and_of_its_parents_past(tmp_path: Path) -> None:
    with dshstore.open(tmp_path / "store.db") as store:
        with store.create(session_id="parent") as parent:
            parent.append("user/message", {}, surface_op="append")
            parent.append("user/message", {}, surface_op=(0, 0), sources=[0])
            parent.append("user/message", {}, surface_op="append")
            parent.append("user/message", {}, surface_op=(1, 2), sources=[1, 2])
        with store.fork("parent", at=2, new_id="child") as child:
            last = child.append("user/message", {}, surface_op=(2, 2), sources=[2])
        inherited, replaced = ask(store, "child", 0), ask(store, "child", 2)
        assert (seqs(inherited.shadowed_by), inherited.event.now) == ([1], 1)
        assert seqs(replaced.shadowed_by) == seqs(replaced.cited_by) == [last]
        assert seqs(ask(store, "parent", 2).shadowed_by) == [3]
        _, shadowed = store.sql("SELECT seq, shadowed_by FROM shadowed WHERE session_id = 'child'")
        assert list(shadowed) == [(0, 1), (2, last)]
        _, cited = store.sql("SELECT seq, source_seq FROM provenance WHERE session_id = 'child'")
        assert list(cited) == [(1, 0), (last, 2)]


@given(session=sessions())
def test_the_views_say_what_the_log_and_its_fold_say(
    tmp_path_factory: pytest.TempPathFactory, session: SampleSession
) -> None:
    folder = tmp_path_factory.mktemp("views")
    (folder / "log.jsonl").write_bytes(write_log(session.header, session.events))
    version = session.header["version"]
    with dshstore.open(folder / "store.db") as store:
        store.import_log(folder / "log.jsonl")
        cited = list(store.sql("SELECT seq, source_seq FROM provenance")[1])
        shadowed = list(store.sql("SELECT seq, shadowed_by FROM shadowed ORDER BY seq")[1])
    assert cited == [
        (event["seq"], source)
        for event in session.events
        for source in event.get("sourceEventSeqs", ())
    ]
    assert shadowed == sorted(
        (seq, done.seq)
        for done in fold(session.events, version).replacements
        for seq in done.shadowed_seqs
    )


@given(session=sessions())
def test_every_event_of_any_log_can_be_explained(
    tmp_path_factory: pytest.TempPathFactory, session: SampleSession
) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / "log.jsonl").write_bytes(write_log(session.header, session.events))
    live = fold(session.events, session.header["version"]).nodes
    with dshstore.open(folder / "store.db") as store:
        store.import_log(folder / "log.jsonl")
        for event in session.events:
            found = ask(store, session.header["id"], event["seq"])
            assert (found.event.seq, found.event.type) == (event["seq"], event["type"])
            assert (found.event.state == "live") == (event["seq"] in live)
            assert found.event.now is None or found.event.now in live


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM provenance WHERE session = 1",
        "SELECT * FROM provenance WHERE session_id = 'bean-bed'",
        "SELECT * FROM shadowed WHERE session = 1",
        "SELECT * FROM shadowed WHERE session_id = 'bean-bed'",
    ],
)
def test_one_sessions_rows_are_found_without_reading_the_others(
    garden: dshstore.Store, tmp_path: Path, statement: str
) -> None:
    statement = f"EXPLAIN QUERY PLAN {statement}"
    _, ours = garden.sql(statement)
    copy = tmp_path / "copy.db"
    copyfile(garden.path, copy)
    shell = [require("sqlite3"), str(copy), statement]
    theirs = subprocess.run(shell, capture_output=True, text=True, check=True).stdout
    for plan in ("\n".join(row[-1] for row in ours), theirs):
        assert "SEARCH s USING" in plan
        scanned = [line for line in plan.split("\n") if "SCAN" in line]
        assert all("VIRTUAL TABLE" in line for line in scanned)


def test_an_old_sqlite_reads_the_views(garden: dshstore.Store, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    with dshstore.open(copy) as store:
        store.import_log(SAMPLES / "bean-bed" / "session.jsonl")
    ask_it = (
        "SELECT count(*) FROM provenance;"
        "SELECT session_id, format_version, seq, type, shadowed_by FROM shadowed"
        " ORDER BY seq LIMIT 1;"
    )
    done = subprocess.run(
        [require("sqlite3"), str(copy), ask_it], capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n")[1] == "bean-bed|0|2|user/message|38"
