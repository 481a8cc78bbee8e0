"""What a store tells of a session's context, through any connection."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import dshstore
from dshstore import SessionNotFound, Store
from dshstore.charts import Call, Compaction, Context, ToolResult, draw_context
from tests.sql.test_view_answers import write_odd_store
from tests.stores import take_samples

BEAN_BED = Context(
    session_id="bean-bed",
    format_version=0,
    title="Watering the runner beans",
    model="deepseek-chat",
    events=52,
    inherited=0,
    calls=(
        Call(19, "message", 412, 0, 0),
        Call(33, "message", 61, 448, 0),
        Call(37, "compaction", 336, 0, 0),
        Call(49, "message", 148, 320, 0),
    ),
    compactions=(Compaction(38, "summary"),),
    tool_results=(ToolResult(21, "read_sensor", 59),),
)


@pytest.fixture
def store(store: Store) -> Store:
    take_samples(store)
    return store


def test_a_context_has_calls_compactions_and_results_at_their_seqs(store: Store) -> None:
    assert dshstore.reports.context(store, "bean-bed") == BEAN_BED
    assert dshstore.reports.context(store, "bean") == BEAN_BED


def test_the_highest_generation_counts(store: Store) -> None:
    store.migrate("bean-bed", to=2)
    context = dshstore.reports.context(store, "bean-bed@v0")
    assert context.format_version == 2
    assert [call.context for call in context.calls] == [call.context for call in BEAN_BED.calls]
    assert len(context.tool_results) == 1


def test_a_fork_has_the_calls_of_the_part_that_it_shares(store: Store) -> None:
    with store.fork("bean-bed", 39, new_id="bean-bed-2"):
        pass
    with store.fork("bean-bed-2", new_id="bean-bed-3"):
        pass
    context = dshstore.reports.context(store, "bean-bed-3")
    assert (context.events, context.inherited) == (41, 41)
    assert context.calls == BEAN_BED.calls[:3]
    assert context.compactions == BEAN_BED.compactions
    assert context.tool_results == BEAN_BED.tool_results


def test_a_session_that_is_not_there_is_told(store: Store) -> None:
    with pytest.raises(SessionNotFound):
        dshstore.charts.read_context(lambda sql, parameters: store.sql(sql, parameters)[1], "bean")


#: Run in a process of its own: it has the store open through the standard library alone.
ANOTHER_LIBRARY = """
import sqlite3, sys
import msgspec
from dshstore.charts import read_context
connection = sqlite3.connect(sys.argv[1])
connection.row_factory = sqlite3.Row
print(msgspec.json.encode(read_context(connection.execute, "bean-bed")).decode())
"""


def test_any_connection_will_do(store: Store) -> None:
    store.close()
    done = subprocess.run(
        [sys.executable, "-c", ANOTHER_LIBRARY, store.path],
        capture_output=True,
        check=True,
        text=True,
    )
    told = json.loads(done.stdout)
    assert (told["events"], len(told["calls"])) == (52, 4)
    assert told["tool_results"] == [{"seq": 21, "name": "read_sensor", "characters": 59}]


def test_odd_payloads_are_read_and_drawn(tmp_path: Path) -> None:
    path = write_odd_store(tmp_path / "odd.db", 4)
    with dshstore.open(path, mode="read") as store:
        [(session_id,)] = store.sql("SELECT session_id FROM sessions")[1]
        context = dshstore.reports.context(store, session_id)
    assert context.tool_results
    assert draw_context(context)
