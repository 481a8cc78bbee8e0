"""How SQLite goes about a view that is filtered by session: through indexes, in every release."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import pytest

from dshstore import schema
from dshstore.sqlfiles import Statement, schema_objects
from tests.sql.plain import PlainWriter, ShellWriter

#: What an analyst may ask. The others are lists of rules, and one that only takes inserts.
VIEWS = sorted(
    item.name
    for item in schema_objects()
    if item.kind == "view" and item.name not in ("event_types", "forks")
    if not item.name.startswith("surface_")
)

#: Tables that grow with a store. What a subquery found, and a JSON value, may be gone through.
TABLES = re.compile(
    r"\b(?:SCAN (?!\(|json_each|cited)(?:TABLE )?(\w+)(?! VIRTUAL)|USING AUTOMATIC)"
)

EXPLAIN = "EXPLAIN QUERY PLAN SELECT * FROM"

Explain = Callable[[str], Iterable[str]]


@pytest.fixture(scope="module", params=["own", "shell"])
def explain(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Explain:
    """Tells the steps of a plan, each as SQLite words it."""
    path = str(tmp_path_factory.mktemp("plans") / "store.db")
    database = schema.create(path)
    PlainWriter(database).begin(4)

    def explain_here(sql: str) -> Iterable[str]:
        return [row[3] for row in database.query(Statement("plan", sql))]

    def explain_in_shell(sql: str) -> Iterable[str]:
        return ShellWriter(path).run([f"{sql};"])[0]

    return explain_here if request.param == "own" else explain_in_shell


def find_scans(plan: Iterable[str], aliases: set[str]) -> list[str]:
    """The steps that read a whole table, or build an index because they would have to."""
    found = []
    for step in plan:
        match = TABLES.search(step)
        if match and (match[1] is None or match[1] in aliases):
            found.append(step.strip(" |-`"))
    return found


def aliases_of(view: str) -> set[str]:
    """The names that tables have in a view, and in the views that it reads."""
    text = next(item.sql for item in schema_objects() if item.name == view)
    tables = "sessions|segments|events|streams|surface_nodes"
    found = set(re.findall(rf"\b(?:{tables}) AS (\w+)", text)) | set(tables.split("|"))
    for other in VIEWS:
        if re.search(rf"(?:FROM|JOIN) {other}\b", text) and other != view:
            found |= aliases_of(other)
    return found


@pytest.mark.parametrize("filter", ["session = 1", "session_id = 's1'"])
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_of_one_session_reads_no_whole_table(
    explain: Explain, view: str, filter: str
) -> None:
    plan = explain(f"{EXPLAIN} {view} WHERE {filter}")
    assert plan
    assert find_scans(plan, aliases_of(view)) == []


def test_a_whole_table_that_is_read_is_found(explain: Explain) -> None:
    plan = explain("EXPLAIN QUERY PLAN SELECT * FROM events AS e WHERE time > 5")
    assert find_scans(plan, {"e"}) == ["SCAN e"]
