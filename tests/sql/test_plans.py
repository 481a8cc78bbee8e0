"""How the views are read: a condition on a session must reach the rows of all its tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

import pytest

from dshstore import schema
from tests.sql.attacks import fill_store
from tests.sql.plain import PlainWriter, ShellWriter
from tests.sql.test_views import SESSION_VIEWS

CONDITIONS = ["session = 1", "session_id = 's1'", "session_id = 's1' AND format_version = 4"]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("plans") / "store.db")


@pytest.fixture(scope="module")
def writer(path: str) -> Iterator[PlainWriter]:
    database = schema.create(path)
    fill_store(PlainWriter(database))
    yield PlainWriter(database)
    database.close()


def plans(writer: PlainWriter, path: str, sql: str) -> list[list[str]]:
    """The steps of both SQLites."""
    ours = [row[3] for row in writer.run(f"EXPLAIN QUERY PLAN {sql}")]
    output, errors = ShellWriter(path).run([f"EXPLAIN QUERY PLAN {sql};"])
    assert errors == {}
    return [ours, [re.sub(r"^[| ]*[|`]--", "", line) for line in output[1:]]]


def scans(steps: list[str]) -> list[str]:
    """The steps that read a whole table or index, or all events of a type."""
    made = {step.split()[1] for step in steps if step.startswith(("CO-ROUTINE", "MATERIALIZE"))}
    made |= {name for step in steps for name in re.findall(r"^SCAN (\(subquery-\d+\))", step)}
    read = [step for step in steps if step.startswith("SCAN ")]
    read = [step for step in read if not re.search("VIRTUAL TABLE|CONSTANT ROW", step)]
    return [step for step in read if step.split()[1] not in made] + [
        step for step in steps if "(type=?)" in step
    ]


@pytest.mark.parametrize(("view", "condition"), list(product(SESSION_VIEWS, CONDITIONS)))
def test_a_condition_on_a_session_reads_no_other(
    writer: PlainWriter, path: str, view: str, condition: str
) -> None:
    sql = "SELECT * FROM surface".replace("surface", view)
    for steps in plans(writer, path, f"{sql} WHERE {condition}"):
        assert steps != []
        assert scans(steps) == []


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_type_in_a_log_is_found_by_session_and_type(
    writer: PlainWriter, path: str, condition: str
) -> None:
    sql = "SELECT seq FROM event_log WHERE type = 'x'"
    for steps in plans(writer, path, f"{sql} AND {condition}"):
        assert any("events_type (type=? AND session=? AND seq>?" in step for step in steps)


@pytest.mark.parametrize("condition", [CONDITIONS[0], CONDITIONS[2]])
def test_the_log_is_in_order_without_sorting(
    writer: PlainWriter, path: str, condition: str
) -> None:
    sql = "SELECT seq, type FROM event_log"
    for steps in plans(writer, path, f"{sql} WHERE {condition} ORDER BY part, seq"):
        assert not any("TEMP B-TREE" in step for step in steps)


@pytest.mark.parametrize("condition", ["n.session = 1 AND n.pos BETWEEN 2 AND 5", "n.session = 1"])
def test_live_nodes_are_read_by_their_index(writer: PlainWriter, path: str, condition: str) -> None:
    sql = "SELECT seq FROM surface_nodes AS n WHERE n.shadowed_by IS NULL"
    for steps in plans(writer, path, f"{sql} AND {condition} ORDER BY n.pos"):
        [step] = steps
        assert "INDEX surface_nodes_live (session=?" in step


def test_a_scan_would_be_found(writer: PlainWriter, path: str) -> None:
    for sql in ("SELECT * FROM events", "SELECT count(*) FROM surface", "SELECT * FROM turns"):
        for steps in plans(writer, path, sql):
            assert scans(steps) != []
    for steps in plans(writer, path, "SELECT * FROM events WHERE type = 'turn/end'"):
        assert scans(steps) != []
