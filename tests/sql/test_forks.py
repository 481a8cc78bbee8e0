"""Forks made by plain SQL, and the surface as it was after any event, of forks and of others."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dshstore import schema
from dshstore.db import Database
from dshstore.engine.surface import fold
from dshstore.errors import RuleBroken
from tests.contract import fold_naively
from tests.logs import EventDict, LogBuilder, text
from tests.sql.attacks import INSERT_FORK, INSERT_RUN
from tests.sql.plain import (
    INSERT_EVENT,
    INSERT_SESSION,
    POLICIES,
    PlainWriter,
    ShellWriter,
    event_row,
    fill,
    session_row,
)
from tests.strategies import VERSIONS, logs, surface_logs

SURFACE = "SELECT seq FROM surface WHERE session = :session ORDER BY position"
SURFACE_AT = (
    "SELECT n.seq FROM segments AS g JOIN surface_nodes AS n ON n.session = g.owner"
    " WHERE g.session = :session AND :at BETWEEN g.first_seq AND g.last_seq AND n.seq <= :at"
    " AND (n.shadowed_by IS NULL OR n.shadowed_by > :at) ORDER BY n.pos"
)
LOG = "SELECT seq, count, type FROM event_log WHERE session = :session ORDER BY part, seq"
SESSION = (
    "SELECT b.next_seq, b.inherited_count, s.forked_from, s.forked_at FROM sessions AS s"
    " JOIN session_bounds AS b ON b.session = s.id WHERE s.id = :session"
)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    database = schema.create(str(tmp_path_factory.mktemp("forks") / "store.db"))
    yield database
    database.close()


@pytest.fixture
def writer(database: Database) -> Iterator[Forker]:
    writer = Forker(database)
    writer.run("BEGIN")
    yield writer
    writer.run("ROLLBACK")


class Forker(PlainWriter):
    forks = 0

    def fork(self, parent: int, at: int, policy: str = "INSERT") -> int:
        """A fork of a session behind event `at`; its number."""
        self.forks += 1
        row = {"session_id": f"fork-{self.forks}", "parent": parent, "at": at}
        self.run(INSERT_FORK.replace("INSERT", policy), row)
        return int(self.run("SELECT max(id) FROM sessions")[0][0])

    def column(self, sql: str, **parameters: int) -> list[Any]:
        return [row[0] for row in self.run(sql, parameters)]


def nodes_of(events: Sequence[EventDict], version: int) -> list[int]:
    return list(fold(events, version).nodes)


def check_surface(writer: Forker, session: int, events: Sequence[EventDict], version: int) -> None:
    """The session holds these events; its surface is right, now and after every event."""
    assert writer.column(SURFACE, session=session) == nodes_of(events, version)
    for at in range(len(events)):
        expected = nodes_of(events[: at + 1], version)
        assert writer.column(SURFACE_AT, session=session, at=at) == expected
    kept = writer.run(LOG, {"session": session})
    assert [(seq, type) for seq, _, type in kept] == [(e["seq"], e["type"]) for e in events]
    assert writer.run(SESSION, {"session": session})[0][0] == len(events)


def take_over(
    writer: Forker, session: int, before: Sequence[EventDict], version: int
) -> LogBuilder:
    """Goes on in a session with a message and one replace of the whole surface."""
    log = LogBuilder(version)
    log.events, log.nodes = list(before), nodes_of(before, version)
    log.append("user/message", log.user(text("go on")))
    first = int(version >= 3 and log.events[log.nodes[0]]["type"] == "system/message")
    log.replace("user/message", log.user(text("so far")), first, len(log.nodes) - 1)
    writer.append(session, log.events[len(before) :])
    return log


@pytest.mark.parametrize("version", VERSIONS)
@settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
)
@given(data=st.data())
def test_a_fork_is_its_parent_up_to_the_boundary(
    database: Database, version: int, data: st.DataObject
) -> None:
    drawn = data.draw(surface_logs(version) | logs(version, max_turns=1))
    refused = fold_naively(drawn, version)
    events = drawn[: refused.at] if refused.code else drawn
    writer = Forker(database)
    writer.run("BEGIN")
    try:
        parent = writer.begin(version)
        writer.append(parent, events)
        check_surface(writer, parent, events, version)
        rows = writer.column("SELECT count(*) FROM events")
        for at in range(len(events)):
            child = writer.fork(parent, at)
            check_surface(writer, child, events[: at + 1], version)
            [session] = writer.run(SESSION, {"session": child})
            assert session == (at + 1, at + 1, parent, at)
        assert writer.column("SELECT count(*) FROM events") == rows
        if not events:
            return

        # a fork of a fork, and each goes its own way
        cut = data.draw(st.integers(0, len(events) - 1))
        child = writer.fork(parent, cut)
        other = take_over(writer, child, events[: cut + 1], version)
        inner = data.draw(st.integers(0, len(other.events) - 1))
        grandchild = writer.fork(child, inner)
        check_surface(writer, grandchild, other.events[: inner + 1], version)
        last = take_over(writer, grandchild, other.events[: inner + 1], version)
        on = take_over(writer, parent, events, version)
        check_surface(writer, parent, on.events, version)
        check_surface(writer, child, other.events, version)
        check_surface(writer, grandchild, last.events, version)
    finally:
        writer.run("ROLLBACK")


@pytest.mark.parametrize("policy", POLICIES)
def test_a_fork_goes_on_like_its_parent_with_every_policy(writer: Forker, policy: str) -> None:
    log = LogBuilder(4)
    for name in "abc":
        log.append("user/message", log.user(text(name)))
    log.replace("user/message", log.user(text("ab")), 0, 1)
    log.append("user/message", log.user(text("d")))
    log.replace("user/message", log.user(text("abcd")), 0, 2)
    parent = writer.begin(4)
    writer.append(parent, log.events)
    for at in range(len(log.events)):
        child = writer.fork(parent, at, policy)
        check_surface(writer, child, log.events[: at + 1], 4)
        writer.append(child, log.events[at + 1 :])
        check_surface(writer, child, log.events, 4)


def test_an_inherited_result_is_rewritten_in_the_fork_alone(writer: Forker) -> None:
    log = LogBuilder(3)
    log.append("user/message", log.user(text("list it")))
    log.append("tool/result", log.result("c1", text("a long list")))
    parent = writer.begin(3)
    writer.append(parent, log.events)
    child = writer.fork(parent, 1)
    wrong = log.rewritten(1, text("[pruned]"))
    wrong["step"] = 9
    log.replace("tool/result", log.rewritten(1, text("[pruned]")), 1, 1)
    with pytest.raises(RuleBroken, match="result-rewrite-fields"):
        writer.append(child, [{**log.events[2], "data": wrong}])
    writer.append(child, log.events[2:])
    assert writer.column(SURFACE, session=child) == [0, 2]
    assert writer.column(SURFACE, session=parent) == [0, 1]
    grandchild = writer.fork(child, 2)
    assert writer.column(SURFACE, session=grandchild) == [0, 2]
    assert writer.column(SURFACE, session=writer.fork(grandchild, 1)) == [0, 1]


def test_a_system_message_is_protected_in_a_fork_as_well(writer: Forker) -> None:
    log = LogBuilder(4)
    log.append("system/message", log.system(text("Be brief.")))
    parent = writer.begin(4)
    writer.append(parent, log.events)
    child = writer.fork(parent, 0)
    log.replace("user/message", log.user(text("be long")), 0, 0)
    with pytest.raises(RuleBroken, match="system-head-protected"):
        writer.append(child, log.events[1:])


def test_a_boundary_may_cut_a_run(writer: Forker) -> None:
    parent = writer.begin(0)
    writer.append(parent, [{"type": "turn/start", "seq": 0, "time": 0, "data": {"turn": 1}}])
    writer.run(INSERT_RUN, (parent, 1))
    writer.append(parent, [{"type": "turn/end", "seq": 4, "time": 0, "data": {"turn": 1}}])
    runs: dict[int, Sequence[Any]] = {}
    for at in range(5):
        child = writer.fork(parent, at)
        runs[at] = writer.run(LOG, {"session": child})
        end = {"type": "turn/end", "seq": at + 1, "time": 0, "data": {"turn": 1}}
        writer.append(child, [end])
        assert writer.run(LOG, {"session": child})[-1] == (at + 1, 1, "turn/end")
        inner = writer.fork(child, at)
        assert writer.run(LOG, {"session": inner}) == runs[at]
    first, last = (0, 1, "turn/start"), (4, 1, "turn/end")
    assert runs == {
        0: [first],
        1: [first, (1, 1, "assistant/chunk")],
        2: [first, (1, 2, "assistant/chunk")],
        3: [first, (1, 3, "assistant/chunk")],
        4: [first, (1, 3, "assistant/chunk"), last],
    }


def test_a_tagged_end_of_the_seed_moves_the_cut_to_itself(writer: Forker) -> None:
    def seed(seq: int, data: Any) -> EventDict:
        return {"type": "session/end-seed", "seq": seq, "time": 0, "data": data}

    events = [seed(0, {}), seed(1, {"inherited": True}), seed(2, {"inherited": 1})]
    for version, cuts in ((2, [0, 1, 1]), (1, [0, 0, 0])):
        session = writer.begin(version)
        found = []
        for event in events:
            writer.append(session, [event])
            found.append(writer.run(SESSION, {"session": session})[0][1])
        assert found == cuts
        child = writer.fork(session, 2)
        assert writer.run(SESSION, {"session": child})[0][1] == 3


def test_forks_tell_where_they_come_from(writer: Forker) -> None:
    parent = writer.begin(4)
    writer.append(parent, [{"type": "turn/start", "seq": 0, "time": 0, "data": {"turn": 1}}])
    child = writer.fork(parent, 0)
    [fork] = writer.run("SELECT session, session_id, format_version, parent, at FROM forks")
    assert fork == (child, "fork-1", 4, parent, 0)
    parts = "SELECT first_seq, last_seq, owner FROM segments WHERE session = ? ORDER BY first_seq"
    assert writer.run(parts, (child,)) == [(0, 0, parent), (1, 2**53 - 1, child)]


def test_the_shell_makes_the_same_forks(tmp_path: Path) -> None:
    path = str(tmp_path / "store.db")
    schema.create(path).close()
    log = LogBuilder(2)
    for name in "abcd":
        log.append("user/message", log.user(text(name)))
        if len(log.nodes) > 1:
            log.replace("user/message", log.user(text("so far")), 0, 1)
    parent = {"session": "1"}
    script = [fill(INSERT_SESSION, session_row("parent", 2))]
    script += [fill(INSERT_EVENT, event_row(0, event), parent) for event in log.events]
    wanted = []
    for at in range(len(log.events)):
        script.append(fill(INSERT_FORK, {"session_id": f"f{at}", "parent": 1, "at": at}))
        for sql in (SURFACE_AT, SURFACE):
            listed = "SELECT json_group_array(seq) FROM (SURFACE)".replace("SURFACE", sql)
            script.append(fill(listed, {"session": at + 2, "at": at}))
            wanted.append(nodes_of(log.events[: at + 1], 2))
    output, errors = ShellWriter(path).run([f"{line};" for line in script])
    assert errors == {}
    assert [json.loads(line) for line in output] == wanted
