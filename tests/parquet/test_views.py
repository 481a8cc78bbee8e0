"""The declared columns are those of the views, all of them, and hold what is declared."""

from __future__ import annotations

from pathlib import Path

import pytest

import dshstore
from dshstore.parquet import VIEWS
from dshstore.parquet.views import statements
from dshstore.sqlfiles import schema_objects

#: Views that are there for their triggers and never read.
PROCEDURES = {"surface_rules", "surface_spans"}


def test_every_view_is_declared() -> None:
    views = {found.name for found in schema_objects() if found.kind == "view"}
    assert set(VIEWS) == views - PROCEDURES


@pytest.mark.parametrize("view", VIEWS)
def test_the_columns_of_a_view_are_declared_in_their_order(tmp_path: Path, view: str) -> None:
    with dshstore.open(tmp_path / "store.db") as store:
        columns, rows = store.sql("SELECT name FROM pragma_table_xinfo(:view)", {"view": view})
        assert [name for (name,) in rows] == list(VIEWS[view])
        columns, rows = store.sql(statements()[view].sql, {"first": 0, "last": 9})
    assert columns == list(VIEWS[view])


def test_every_view_of_sessions_begins_alike() -> None:
    for view, kinds in VIEWS.items():
        if view != "event_types":
            assert list(kinds)[:3] == ["session", "session_id", "format_version"]
