"""Processes that share a store, end in odd ways, or run out of disk."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import dshstore
from tests.crash.processes import start


def finish(process: subprocess.Popen[str], status: int = 0) -> tuple[str, str]:
    out, err = process.communicate(timeout=100)
    assert process.returncode == status, err
    return out, err


def messages(path: Path, session_id: str = "beans") -> list[str]:
    with dshstore.open(path, mode="read") as store:
        found = store.session(session_id).messages()
        return [message["content"][0]["text"] for message in found]


def test_eight_processes_make_one_store_and_write_to_it_at_once(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    writers = [start("write_session", path, f"bed-{n}", 40) for n in range(8)]
    for writer in writers:
        assert finish(writer)[0] == "done\n"
    for n in range(8):
        assert messages(path, f"bed-{n}") == [f"message {k}" for k in range(40)]
    with dshstore.open(path, mode="read") as store:
        assert list(store.verify()) == []


@pytest.mark.parametrize(("how", "status"), [("exit", 0), ("exception", 1), ("cycle", 0)])
def test_a_process_that_ends_without_closing_loses_nothing(
    tmp_path: Path, how: str, status: int
) -> None:
    finish(start("forget", tmp_path / "store.db", how), status)
    assert messages(tmp_path / "store.db") == ["message 0", "message 1", "message 2"]


def test_what_an_exit_handler_appends_is_written_too(tmp_path: Path) -> None:
    assert finish(start("forget", tmp_path / "store.db", "late")) == ("3\n", "")
    assert messages(tmp_path / "store.db")[-1] == "at exit"


@pytest.mark.skipif(sys.platform == "win32", reason="the system has no signals")
def test_ctrl_c_in_the_middle_of_a_flush_loses_nothing_and_is_no_conflict(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    process = start("shrug_off", path, 3000)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    for _ in range(200):
        process.send_signal(signal.SIGINT)
        for _ in range(20_000):
            pass  # so that they fall anywhere
    events = int(finish(process)[0])
    with dshstore.open(path, mode="read") as store:
        session = store.session("beans")
        assert list(store.verify()) == []
        assert session.next_seq == events
        numbers = [int(message["content"][0]["text"]) for message in session.messages()]
        assert numbers == sorted(numbers)
        assert set(numbers) == set(range(3000))
        beside = store.session("peas").messages()
        assert [message["content"][0]["text"] for message in beside] == [
            str(number) for number in range(len(beside))
        ]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_after_a_fork_of_the_process_the_parent_alone_writes(tmp_path: Path) -> None:
    out, err = finish(start("fork_process", tmp_path / "store.db"))
    assert (out, err) == ("session 'beans' is closed\n", "")
    assert messages(tmp_path / "store.db") == ["hello", "and on"]


@pytest.mark.skipif(sys.platform == "win32", reason="the system has no limit of file sizes")
def test_a_full_disk_is_reported_and_nothing_is_lost_when_there_is_room_again(
    tmp_path: Path,
) -> None:
    path = tmp_path / "store.db"
    out, err = finish(start("fill_disk", path, 3_000_000))
    said, counts, closed = out.splitlines()
    assert str(path) in said
    assert closed == "closed"
    assert err == ""
    appended = int(counts.split()[0])
    found = messages(path)
    assert found == ["before", *["x" * 200_000] * appended, "after"]
    assert len(found) > 3


def test_a_lock_that_another_process_holds_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with dshstore.open(path) as store, store.create(session_id="beans") as session:
        session.user("hello")
        others = [start("write_session", path, f"bed-{n}", 300) for n in range(2)]
        for _ in range(100):
            session.user("and on")
            session.flush()
        for other in others:
            finish(other)
        assert len(session.messages()) == 101


def test_a_backup_is_whole_while_others_write(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    writer = start("write_turns", path, "beans", "backup")
    assert writer.stdout is not None
    try:
        for number in range(3):
            for _ in range(10):
                flushed = int(writer.stdout.readline())
            copy = tmp_path / f"copy-{number}.db"
            with dshstore.open(path, mode="read") as store:
                store.backup(copy)
            assert stat.S_IMODE(copy.stat().st_mode) == 0o600
            with dshstore.open(copy, mode="read") as store:
                assert [f for f in store.verify() if f.kind == "store"] == []
                assert store.session("beans").next_seq >= flushed
    finally:
        writer.kill()
        writer.communicate()
