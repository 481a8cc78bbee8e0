"""The SQL functions, in a process of sqlite-utils: `dshstore/plugins/functions.py`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import dshstore
from dshstore import streams
from tests.real_parts import require


class Done(NamedTuple):
    status: int
    out: str
    err: str


def sqlite_utils(*arguments: str | Path) -> Done:
    """Run `sqlite-utils`, as a user does."""
    done = subprocess.run(
        [require("sqlite-utils"), *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def ask(store: Path, sql: str) -> list[dict[str, Any]]:
    done = sqlite_utils(store, sql)
    assert (done.status, done.err) == (0, ""), done.err
    rows: list[dict[str, Any]] = json.loads(done.out)
    return rows


def test_messages_are_those_of_every_session_as_of_every_event(garden: Path) -> None:
    rows = ask(
        garden,
        "SELECT session_id, e.seq, dsh_messages(e.session, e.seq) AS seen, "
        "dsh_messages(session_id) AS now FROM event_log AS e",
    )
    assert len(rows) > 100
    with dshstore.open(garden, mode="read") as store:
        for row in rows:
            session = store.session(row["session_id"])
            assert json.loads(row["seen"]) == session.messages(row["seq"])
            assert json.loads(row["now"]) == session.messages()


def test_old_shapes_are_upgraded_and_images_marked(garden: Path, odd: Path) -> None:
    [old] = ask(odd, "SELECT dsh_messages('legacy') AS m")
    assert json.loads(old["m"])[0]["id"] == "legacy-message:legacy:1"
    [new] = ask(garden, "SELECT dsh_messages('seedlings') AS m")
    assert '"offloaded":true' in new["m"]


def test_half_a_surrogate_pair_stays_as_the_log_has_it(odd: Path) -> None:
    [row] = ask(odd, "SELECT dsh_messages('half') AS m")
    assert "\\ud83c" in row["m"]


def test_messages_are_rows_of_json_each(garden: Path) -> None:
    rows = ask(
        garden,
        "SELECT key, value ->> '$.role' AS role FROM json_each(dsh_messages('bean-bed', 35))",
    )
    assert [row["role"] for row in rows] == ["user", "assistant", "user", "assistant"]


def test_streams_are_those_of_every_attempt(garden: Path) -> None:
    rows = ask(
        garden,
        "SELECT session, seq, dsh_stream(session, seq) AS chunks, dsh_blocks(session, seq) AS "
        "blocks FROM streams",
    )
    assert len(rows) > 10
    with dshstore.open(garden, mode="read") as store:
        ids: dict[int, str] = dict(store.sql("SELECT id, session_id FROM sessions")[1])
        for row in rows:
            found = store.session(ids[row["session"]]).stream(row["seq"])
            assert json.loads(row["chunks"]) == found
            blocks = streams.assemble(streams.compact(found)).blocks
            assert json.loads(row["blocks"]) == blocks


def test_a_run_is_one_stream_wherever_in_it_the_event_is(garden: Path) -> None:
    [row] = ask(garden, "SELECT dsh_stream('bean-bed', 6) = dsh_stream('bean-bed', 12) AS same")
    assert row["same"] == 1


def test_events_are_as_the_log_has_them(garden: Path) -> None:
    [row] = ask(garden, "SELECT dsh_events('bean-bed', 4, 20) AS events")
    with dshstore.open(garden, mode="read") as store:
        assert json.loads(row["events"]) == list(store.session("bean-bed").events(4, 20))


@pytest.mark.parametrize(
    "call",
    [
        "dsh_messages('nobody')",
        "dsh_messages(NULL)",
        "dsh_messages('bean-bed', 99999)",
        "dsh_stream('bean-bed', 0)",
        "dsh_stream('bean-bed', 99999)",
        "dsh_blocks(99999, 0)",
    ],
)
def test_what_is_not_there_is_null(garden: Path, call: str) -> None:
    assert ask(garden, f"SELECT {call} AS found") == [{"found": None}]


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("dsh_messages('unknown')", "event 3 is of unknown type 'garden/gnome'"),
        ("dsh_messages('script', 'x')", "a seq is an integer, not 'x'"),
        ("dsh_messages('s')", "session id 's' is ambiguous: script, shapes"),
    ],
)
def test_a_refusal_tells_its_reason(odd: Path, call: str, reason: str) -> None:
    done = sqlite_utils(odd, f"SELECT {call}")
    assert (done.status, done.out) == (1, "")
    assert reason in done.err
    assert "Traceback" not in done.err


def test_any_other_file_has_no_such_function(tmp_path: Path) -> None:
    done = sqlite_utils(tmp_path / "other.db", "SELECT dsh_messages('a')")
    assert (done.status, done.err) == (1, "Error: no such function: dsh_messages\n")


def test_no_more_is_loaded_than_a_file_of_another_kind_needs(tmp_path: Path) -> None:
    program = """
import sqlite3, sys
import dshstore.plugins.for_sqlite_utils
from dshstore.plugins.functions import APPLICATION_ID, register_functions
assert not register_functions(sqlite3.connect(":memory:"))
print(sorted(name for name in sys.modules if name.startswith(("apsw", "dshstore.engine"))))
from dshstore.schema import APPLICATION_ID as marked
assert APPLICATION_ID == marked
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout == "[]\n"


def test_what_an_open_transaction_wrote_is_seen(garden: Path, tmp_path: Path) -> None:
    """In a process of its own: Python's SQLite library must not meet ours on one file."""
    program = """
import shutil, sqlite3, sys
from dshstore.plugins.functions import register_functions
path = shutil.copy(sys.argv[1], sys.argv[2])
connection = sqlite3.connect(path)
assert register_functions(connection)
connection.row_factory = sqlite3.Row  # the owner's own business
said = '{"role":"user","content":[],"id":"x","source":{"kind":"user"}}'
count = "SELECT json_array_length(dsh_messages('rain-barrel'))"
before = connection.execute(count).fetchone()[0]
connection.execute(
    "INSERT INTO events (session, seq, type, time, data, surface_op) SELECT session, next_seq, "
    "'user/message', 0, ?, '\\"append\\"' FROM session_bounds WHERE session_id = 'rain-barrel'",
    (said,))
assert connection.in_transaction
assert connection.execute(count).fetchone()[0] == before + 1
connection.rollback()
assert connection.execute(count).fetchone()[0] == before
"""
    command = [sys.executable, "-c", program, str(garden), str(tmp_path / "copy.db")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
