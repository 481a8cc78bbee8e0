"""`dshstore follow`: a process of its own, for it ends with Ctrl-C."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dshstore
from tests.cli.running import cli


@contextmanager
def following(store: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    """The process, which is interrupted in the end; that is how it ends well."""
    command = [sys.executable, "-m", "dshstore", "follow", str(store), *options]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True)
    try:
        yield process
        process.send_signal(signal.SIGINT)
        assert process.communicate()[1] == ""
        assert process.returncode == 0
    finally:
        process.kill()
        process.communicate()


def read_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def test_events_are_written_as_they_are_committed(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with dshstore.open(path) as store, store.create(session_id="live") as session:
        session.append("turn/start", {"turn": 1})
        session.flush()
        with following(path, "live", "-n", "5", "--interval", "0.01", "--json") as process:
            first = json.loads(read_line(process))
            assert (first["seq"], first["type"]) == (0, "turn/start")
            session.append("step/start", {"turn": 1, "step": 1})
            session.append("step/end", {"turn": 1, "step": 1})
            session.flush()
            assert [json.loads(read_line(process))["seq"] for _ in "12"] == [1, 2]
            session.append("turn/end", {"turn": 1, "reason": {"kind": "completed"}})
            session.flush()
            assert json.loads(read_line(process))["type"] == "turn/end"


def test_older_events_are_named_by_seq_or_count(garden: Path) -> None:
    with following(garden, "bean-bed", "--from", "50", "--json") as process:
        assert [json.loads(read_line(process))["seq"] for _ in "12"] == [50, 51]
    with following(garden, "bean-bed", "-n", "1") as process:
        assert read_line(process).split()[0] == "51"
    with following(garden, "bean-bed", "--from", "2", "-n", "1") as process:
        assert read_line(process).split()[0] == "51"


def test_a_session_that_is_not_there_is_told(garden: Path) -> None:
    assert cli("follow", garden, "nobody").status == 3
