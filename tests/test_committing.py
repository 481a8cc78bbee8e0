"""The connection by which all live sessions of a store write."""

from __future__ import annotations

import gc
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import dshstore
from dshstore import StoreError

#: Longer than any test: nothing is written before a flush.
NEVER = 3600.0


def texts(path: Path, session_id: str) -> list[str]:
    with dshstore.open(path, mode="read") as store:
        found = store.session(session_id).messages()
        return [message["content"][0]["text"] for message in found]


def test_sessions_of_one_store_write_from_many_threads(tmp_path: Path) -> None:
    path = tmp_path / "garden.db"
    store = dshstore.open(path, durability="NORMAL")
    sessions = [store.create(session_id=f"bed-{n}", max_delay=0.0) for n in range(8)]

    def write(session: dshstore.LiveSession) -> None:
        for number in range(50):
            session.user(str(number))
            if number % 7 == 0:
                session.flush()

    threads = [threading.Thread(target=write, args=(session,)) for session in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.close()
    for session in sessions:
        assert texts(path, session.session_id) == [str(number) for number in range(50)]


def test_a_session_that_was_closed_leaves_the_others_their_connection(tmp_path: Path) -> None:
    path = tmp_path / "garden.db"
    with dshstore.open(path) as store:
        first, second = store.create(session_id="first"), store.create(session_id="second")
        first.user("frost")
        first.close()
        second.user("thaw")
        second.flush()
        assert texts(path, "first") == ["frost"]
        assert texts(path, "second") == ["thaw"]


def test_another_file_in_the_place_of_the_store_is_never_written_to(tmp_path: Path) -> None:
    path, moved, other = (tmp_path / name for name in ("garden.db", "moved.db", "other.db"))
    with dshstore.open(other) as another:
        another.create(session_id="beans").close()
    before = other.read_bytes()
    store = dshstore.open(path)
    session = store.create(session_id="beans", max_delay=NEVER)
    session.user("hello")
    path.rename(moved)
    with pytest.raises(StoreError, match=r"moved, removed or replaced"):
        session.flush()
    other.rename(path)
    with pytest.raises(StoreError, match=r"moved, removed or replaced"):
        session.flush()
    with pytest.raises(StoreError):
        store.close()
    assert len(session.pending) == 1
    assert path.read_bytes() == before
    moved.replace(path)
    store.close()
    assert texts(path, "beans") == ["hello"]


def test_the_store_is_found_again_from_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with dshstore.open("garden.db") as store:
        session = store.create(session_id="beans")
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir("elsewhere")
        session.user("hello")
    assert texts(tmp_path / "garden.db", "beans") == ["hello"]


@pytest.mark.parametrize("max_delay", [0.0, NEVER])
def test_what_a_forgotten_session_queued_is_there_when_the_store_is_closed(
    tmp_path: Path, max_delay: float
) -> None:
    with dshstore.open(tmp_path / "garden.db") as store:
        session = store.create(session_id="beans", max_delay=max_delay)
        session.user("hello")
        del session
        gc.collect()
    assert texts(tmp_path / "garden.db", "beans") == ["hello"]


def test_what_a_forgotten_session_queued_is_in_a_fork_of_it(tmp_path: Path) -> None:
    with dshstore.open(tmp_path / "garden.db") as store:
        session = store.create(session_id="beans", max_delay=NEVER)
        session.user("hello")
        del session
        gc.collect()
        fork = store.fork("beans")
        assert [message["content"][0]["text"] for message in fork.messages()] == ["hello"]


def test_what_a_forgotten_session_could_not_write_is_told_and_keeps_no_store_open(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "garden.db"
    store = dshstore.open(path)
    session = store.create(session_id="beans", max_delay=NEVER)
    session.user("hello")
    path.rename(tmp_path / "moved.db")
    del session
    gc.collect()
    store.close()
    assert "'beans': 1 event not written" in capsys.readouterr().err


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_child_forked_while_a_thread_commits_writes_to_the_store_itself(tmp_path: Path) -> None:
    path = tmp_path / "garden.db"
    store = dshstore.open(path, durability="NORMAL")
    session = store.create(session_id="beans", max_delay=NEVER)
    ended = threading.Event()

    def write() -> None:
        while not ended.is_set():
            session.user("x" * 1000)
            session.flush()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for number in range(20):
            child = os.fork()
            if not child:
                status = 1
                try:
                    with dshstore.open(path) as own, own.create(session_id=f"pea-{number}") as pea:
                        pea.user("hello")
                    status = 0
                finally:
                    os._exit(status)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        ended.set()
        thread.join()
    store.close()
    for number in range(20):
        assert texts(path, f"pea-{number}") == ["hello"]
    with dshstore.open(path, mode="read") as found:
        assert list(found.verify()) == []


def test_threads_share_a_store_and_its_sessions(tmp_path: Path) -> None:
    store = dshstore.open(tmp_path / "garden.db", durability="NORMAL")
    together = threading.Barrier(6)

    def work(number: int) -> None:
        together.wait()  # nobody has made what sessions write by
        mine = store.create(session_id=f"bed-{number}")
        for turn in range(20):
            mine.user(str(turn))
            fork = store.fork(mine.session_id)
            assert len(fork.messages()) == len(mine.messages()) == turn + 1
            fork.close()
            store.create()
            store.resume(fork.session_id).close()
            assert store.session(mine.session_id).surface == mine.surface
            assert len(store.sessions()) > turn
            assert list(store.sql("SELECT 1")[1]) == [(1,)]

    with ThreadPoolExecutor(6) as threads:
        for done in [threads.submit(work, number) for number in range(6)]:
            done.result()
    assert store.info()["sessions"] == 6 * 41
    store.close()
