"""`dshstore fork`, `backup`, and `messages --diff`."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

import dshstore
from tests.cli.running import cli


@pytest.fixture
def beans(tmp_path: Path) -> Path:
    path = tmp_path / "beans.db"
    with dshstore.open(path) as store, store.create(session_id="beans") as session:
        with session.turn(), session.step():
            session.user("Is there frost?")
            session.assistant("Tonight.", provider="p", model="m")
        session.compact(2, 3, "frost tonight", provider="p", model="m")
    return path


def test_fork_writes_the_id_of_the_fork(beans: Path) -> None:
    done = cli("fork", beans, "beans", "--at", "5", "--id", "shoot")
    assert (done.status, done.text, done.err) == (0, "shoot\n", "")
    new = cli("fork", beans, "beans").text.strip()
    with dshstore.open(beans, mode="read") as store:
        assert store.session("shoot").surface == [2, 3]
        assert store.session(new).surface == store.session("beans").surface
    [made] = cli("fork", beans, "be", "--at", "2", "--id", "leaf", "--json").objects
    assert made == {
        "session_id": "leaf",
        "parent_session": "beans",
        "format_version": 4,
        "events": 6,
    }


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["beans", "--at", "99"], 2, "no event 99"),
        (["peas"], 3, "no session 'peas'"),
        (["beans", "--id", "beans"], 3, "already in this store"),
    ],
)
def test_a_fork_that_cannot_be_is_refused(
    beans: Path, arguments: list[str], status: int, said: str
) -> None:
    done = cli("fork", beans, *arguments)
    assert (done.status, done.text) == (status, "")
    assert said in done.err


def test_a_fork_inside_a_turn_of_an_old_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with dshstore.open(path) as store, store.create(session_id="old", format_version=2) as session:
        session.start_turn()
    done = cli("fork", path, "old", "--at", "0")
    assert done.status == 3
    assert "turn 1 is open there" in done.err


def test_backup_copies_the_store(beans: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    done = cli("backup", beans, copy)
    assert (done.status, done.text) == (0, "")
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    shown = [cli("messages", path, "beans", "--json").out for path in (beans, copy)]
    assert shown[0] == shown[1]
    again = cli("backup", beans, copy)
    assert again.status == 3
    assert "exists" in again.err


def test_messages_can_be_compared(beans: Path) -> None:
    done = cli("messages", beans, "beans", "--at", "5", "--diff", "9", "--json")
    assert [(row["change"], row["seq"]) for row in done.objects] == [
        ("left", 2),
        ("left", 3),
        ("came", 8),
    ]
    shown = cli("messages", beans, "beans", "--at", "5", "--diff", "9").text
    assert "left, event 2:" in shown
    assert "frost tonight" in shown
    assert cli("messages", beans, "beans", "--diff", "9").status == 2
