"""The shell as a person has it, in a terminal, and as a program has it, through a pipe."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import dshstore
from tests.cli.running import program

ENDLESS = "WITH RECURSIVE n (x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n) SELECT x FROM n;"
PROMPT = b"dshstore> "


@pytest.fixture
def garden(tmp_path: Path) -> Path:
    with dshstore.open(tmp_path / "garden.db") as store:
        store.create(session_id="evening").close()
    return tmp_path / "garden.db"


class Terminal:
    """A shell on a store in a terminal of its own."""

    def __init__(self, store: Path, state: Path) -> None:
        self._master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "dshstore", "sql", store],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**os.environ, "TERM": "dumb", "XDG_STATE_HOME": str(state)},
        )
        os.close(slave)

    def read_until(self, end: bytes = PROMPT) -> bytes:
        """What the shell wrote, up to `end`, or to its own end."""
        said = b""
        while end not in said:
            assert select.select([self._master], [], [], 60)[0], said  # it does not hang
            try:
                said += os.read(self._master, 1 << 16)
            except OSError:  # nobody has the other side any more
                break
        return said

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def ask(self, line: str) -> bytes:
        self.type(f"{line}\n")
        return self.read_until()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._master)


@pytest.fixture
def terminal(garden: Path, tmp_path: Path) -> Iterator[Terminal]:
    terminal = Terminal(garden, tmp_path / "state")
    yield terminal
    terminal.close()


# -- a person --


def test_a_person_asks_until_ctrl_d(terminal: Terminal, garden: Path, tmp_path: Path) -> None:
    assert b"to read" in terminal.read_until()
    assert b"evening" in terminal.ask("SELECT session_id FROM sessions_overview;")
    assert b"tool_calls" in terminal.ask(".tables")
    assert b"no such column: colour" in terminal.ask("SELECT colour;")
    assert b"only reads" in terminal.ask("DELETE FROM sessions;")
    terminal.type("\x04")
    terminal.read_until(b"never")
    assert terminal.process.wait() == 0
    assert "colour" in (tmp_path / "state" / "dshstore" / "sql_history").read_text()
    assert {path.name for path in tmp_path.iterdir()} == {"garden.db", "state"}


def test_ctrl_c_ends_a_query_and_not_the_shell(terminal: Terminal) -> None:
    terminal.read_until()
    terminal.ask(".colour off")
    terminal.ask(".mode list")
    terminal.type(f"{ENDLESS}\n")
    terminal.read_until(b"\n3\r\n")
    terminal.process.send_signal(signal.SIGINT)
    terminal.read_until()
    assert b"still here" in terminal.ask("SELECT 'still ' || 'here';")


def test_a_history_that_cannot_be_kept_disturbs_nobody(garden: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    terminal = Terminal(garden, tmp_path / "file")
    terminal.read_until()
    terminal.type("\x04")
    assert b"rror" not in terminal.read_until(b"never")
    assert terminal.process.wait() == 0
    terminal.close()


# -- a pipe --


def test_statements_come_through_a_pipe(garden: Path) -> None:
    said = b"SELECT 1, 'a';\n.mode csv\nSELECT session_id, turns\n  FROM sessions_overview"
    assert program("sql", garden, stdin=said) == (0, b"1|a\nevening,0\n", "")


def test_a_statement_that_fails_ends_a_pipe(garden: Path) -> None:
    done = program("sql", garden, stdin=b"SELECT 1;\nSELECT colour;\nSELECT 2;\n")
    assert (done.status, done.out) == (2, b"1\n")
    assert done.err.startswith("no such column: colour\n")
    assert "Traceback" not in done.err
    assert program("sql", garden, stdin=b"SELECT 'open").status == 2


@pytest.mark.parametrize("line", [".read nosuch.sql", ".output no/such.txt", ".read ."])
def test_a_file_that_cannot_be_opened_is_told_once(garden: Path, line: str) -> None:
    done = program("sql", garden, stdin=f"{line}\nSELECT 1;\n".encode(), cwd=garden.parent)
    assert (done.status, done.out) == (2, b"")
    assert done.err.count(line.split()[1]) == 1
    assert "Errno" not in done.err


def test_exit_names_a_status(garden: Path) -> None:
    assert program("sql", garden, stdin=b".exit 7\nSELECT 1;\n") == (7, b"", "")


def test_a_pipe_that_nobody_reads_ends_it_quietly(garden: Path) -> None:
    command: list[str | Path] = [sys.executable, "-m", "dshstore", "sql", garden]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(ENDLESS.encode())
        process.stdin.close()
        assert process.stdout.readline() == b"1\n"
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


@pytest.mark.parametrize(
    "line",
    [
        "DELETE FROM sessions;",
        "PRAGMA query_only = 0;",
        "PRAGMA journal_mode = delete;",
        "ATTACH 'other.db' AS other;",
        "CREATE TEMP TABLE t (x);",
        "VACUUM INTO 'copy.db';",
        "BEGIN IMMEDIATE;",
        "SELECT load_extension('x');",
        ".open other.db",
        ".open --wipe garden.db",
        ".backup copy.db",
        ".restore garden.db",
        ".import garden.db sessions",
        ".autoimport garden.db",
        ".log note.txt",
        ".load x",
        ".shell touch note.txt",
        ".py open('note.txt', 'w')",
        ".dbconfig defensive 0",
        ".connection 0",
        ".close",
        ".cd /",
        ".output garden.db",
        ".output ./garden.db-wal",
        ".output link.db",
        ".output hard.db",
        ".read garden.db",
        ".read script.py",
    ],
)
def test_nothing_can_be_changed(garden: Path, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(garden.parent)
    Path("link.db").symlink_to("garden.db")
    Path("hard.db").hardlink_to("garden.db")
    Path("script.py").write_text("open('note.txt', 'w')")
    before = garden.read_bytes(), set(garden.parent.iterdir())
    done = program("sql", "garden.db", stdin=f"{line}\nSELECT 'on';\n".encode())
    assert (done.status, done.out) == (2, b"")
    assert "Traceback" not in done.err
    assert (garden.read_bytes(), set(garden.parent.iterdir())) == before


def test_what_it_shows_can_go_to_a_file(garden: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(garden.parent)
    Path("ask.sql").write_text("SELECT 1;\nSELECT 2")
    done = program("sql", "garden.db", stdin=b".output out.txt\n.read ask.sql\n")
    assert (done.status, done.out, Path("out.txt").read_text()) == (0, b"", "1\n2\n")


def test_help_tells_only_what_is_here(garden: Path) -> None:
    told = program("sql", garden, stdin=b".help\n").err
    assert ".tables" in told
    assert ".open" not in told
    assert "OFF for a person, else ON" in " ".join(told.split())
    assert ".shell" not in told


def test_a_file_that_is_no_store_is_refused_at_once(tmp_path: Path) -> None:
    assert program("sql", tmp_path / "none.db", stdin=b"SELECT 1;").status == 3
