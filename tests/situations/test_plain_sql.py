"""Payloads that came in by plain SQL, which nobody brought into a form before."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import dshstore
from dshstore import TextUnreadable
from dshstore.db import Database
from dshstore.sqlfiles import Statement
from tests.logs import LogBuilder, text
from tests.real_parts import require

INSERT = """
INSERT INTO events (session, seq, type, time, data, source_event_seqs, surface_op)
SELECT session, next_seq, ?, 0, ?, NULL, '"append"' FROM session_bounds WHERE session_id = 'beans'
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with dshstore.open(tmp_path / "garden.db") as store:
        store.create(session_id="beans").user("first")
        store.create(session_id="peas").user("another")
    return tmp_path / "garden.db"


@pytest.mark.parametrize("lead", [" ", "\t", "\n", "\r\n  "])
def test_a_payload_may_begin_and_end_with_white_space(path: Path, lead: str) -> None:
    log = LogBuilder(4)
    said = [
        ("user/message", log.user(text("Hello"))),
        (
            "assistant/message",
            {"turn": 1, "step": 1, "message": log.assistant(text("Hi"))["message"]},
        ),
        ("tool/result", log.result("c1", text("found"))),
    ]
    database = Database.open(str(path), "write")
    for type, data in said:
        database.write_row(Statement("", INSERT), (type, f"{lead}{json.dumps(data)}{lead}"))
    database.close()
    with dshstore.open(path, "read") as store:
        session = store.session("beans")
        shown = session.messages()
        assert [message["content"][0]["text"] for message in shown[1:]] == ["Hello", "Hi", "found"]
        assert shown == dshstore.derive(session.events(), 4)
        assert shown == [json.loads(message) for message in session.messages_json()]
        assert [finding for finding in store.verify() if finding.kind != "log"] == []


def test_what_another_sqlite_lets_in_deeper_than_can_be_read_is_told(path: Path) -> None:
    shell = require("sqlite3")
    deep = '{"content":[{"type":"text","text":"n","x":' + "[" * 1200 + "]" * 1200 + "}]}"
    done = subprocess.run(
        [shell, "-batch", str(path)],
        input=INSERT.replace("?", "'user/message'", 1).replace("?", f"'{deep}'", 1) + ";",
        capture_output=True,
        text=True,
        check=False,
    )
    if "data-not-json" in done.stderr:
        pytest.skip("this sqlite3 takes no JSON that is nested so deep")
    assert done.returncode == 0, done.stderr
    with dshstore.open(path) as store:
        session = store.session("beans")
        for read in (
            lambda: list(session.events()),
            session.messages,
            lambda: list(session.transcript()),
            lambda: session.why(1),
            lambda: store.resume("beans"),
        ):
            with pytest.raises(TextUnreadable):
                read()
        assert [hit.session_id for hit in store.search("another")] == ["peas"]
        assert [finding.code for finding in store.verify()] == ["event-unreadable"]
        assert len(store.sessions()) == 2
        assert len(store.session("peas").messages()) == 1
