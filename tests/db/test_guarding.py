"""Connections that threads share, and that are at rest when the process is forked."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from dshstore.db import Database, Guard
from dshstore.errors import StoreError
from dshstore.sqlfiles import Statement

INSERT = Statement("insert", "INSERT INTO t (name) VALUES (?)")
COUNT = Statement("count", "SELECT count(*) FROM t")
NAMES = Statement("names", "SELECT name FROM t ORDER BY id")

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    path = str(tmp_path / "some.db")
    table = "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT) STRICT"
    database = Database.create(path, lambda new: new.execute_script(table))
    database.set_journal_wal()
    yield database
    database.close()


def at_once(*works: Callable[[], None]) -> None:
    """Run each in a thread of its own, begun together; raise what one of them raised."""
    together = threading.Barrier(len(works))

    def run(work: Callable[[], None]) -> None:
        together.wait()
        work()

    with ThreadPoolExecutor(len(works)) as threads:
        for done in [threads.submit(run, work) for work in works]:
            done.result()


@contextmanager
def meanwhile(work: Callable[[], None]) -> Iterator[None]:
    """Do it again and again in another thread; it has been done once when this begins."""
    begun, ended = threading.Event(), threading.Event()

    def run() -> None:
        while not ended.is_set():
            work()
            begun.set()

    with ThreadPoolExecutor(1) as threads:
        done = threads.submit(run)
        begun.wait()
        try:
            yield
        finally:
            ended.set()
        done.result()


def in_child(work: Callable[[], None]) -> bool:
    """Whether it succeeds in a forked child."""
    child = os.fork()
    if not child:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1] == 0


def test_threads_that_share_a_connection_wait_for_each_other(database: Database) -> None:
    def write() -> None:
        for _ in range(100):
            before = database.query(COUNT)[0][0]
            database.write_row(INSERT, ("bean",))
            assert database.query(COUNT)[0][0] > before

    def write_together() -> None:
        for _ in range(100):
            counts = [0, 0]

            def items(counts: list[int] = counts) -> Iterator[tuple[Statement, tuple[str]]]:
                for turn in range(2):
                    counts[turn] = database.query(COUNT)[0][0]
                    yield INSERT, ("pea",)

            database.write(items())
            assert counts[1] == counts[0] + 1

    def read_together() -> None:
        for _ in range(100):
            with database.reading():
                assert len({database.query(COUNT)[0][0] for _ in range(5)}) == 1
            database.pragma("user_version")

    at_once(write, write, write_together, write_together, read_together, read_together)
    assert database.query(COUNT) == [(600,)]


def test_rows_are_asked_for_while_other_threads_use_the_connection(database: Database) -> None:
    database.write([(INSERT, [("bean",)] * 500)])
    with closing(Database.open(database.path, "read")) as reader:

        def ask() -> None:
            for _ in range(20):
                _, rows = reader.ask("SELECT name FROM t", ())
                assert len(list(rows)) == 500

        at_once(ask, ask, ask)


@forks
def test_a_child_that_is_forked_while_a_thread_writes_opens_the_file(database: Database) -> None:
    def open_it() -> None:
        with closing(Database.open(database.path, "write")) as other:
            other.write_row(INSERT, ("child",))

    def write() -> None:
        database.write((INSERT, ("parent",)) for _ in range(50))

    with meanwhile(write):
        assert all(in_child(open_it) for _ in range(5))


@forks
def test_a_fork_waits_for_threads_that_wait_for_each_other(
    database: Database, tmp_path: Path
) -> None:
    with closing(Database.open(database.path, "read")) as other:

        def use_both() -> None:
            for first, second in ((database, other), (other, database)):
                with first.reading():
                    second.query(COUNT)

        with meanwhile(use_both):
            assert all(in_child(lambda: None) for _ in range(20))


@forks
def test_files_are_opened_while_the_process_forks(database: Database) -> None:
    def open_it() -> None:
        with closing(Database.open(database.path, "read")) as other:
            assert other.query(COUNT) == [(0,)]

    with meanwhile(open_it):
        assert all(in_child(open_it) for _ in range(20))


@forks
def test_a_lock_that_the_forking_thread_holds_is_free_in_the_child() -> None:
    guard = Guard()

    def take() -> None:
        with ThreadPoolExecutor(1) as threads:
            assert threads.submit(guard.lock.acquire, timeout=5).result()

    with guard.lock:
        assert in_child(take)
    take()


@forks
def test_what_a_child_writes_stays_when_its_parent_was_the_last_to_close(
    database: Database,
) -> None:
    from_child, to_parent = os.pipe()
    from_parent, to_child = os.pipe()

    def write_twice() -> None:
        with closing(Database.open(database.path, "write")) as own:
            own.write_row(INSERT, ("before",))
            os.write(to_parent, b".")
            os.read(from_parent, 1)
            own.write_row(INSERT, ("after",))

    def close_and_write() -> None:
        os.read(from_child, 1)
        database.close()
        with closing(Database.open(database.path, "write")) as other:
            other.write_row(INSERT, ("meanwhile",))
        os.write(to_child, b".")

    with ThreadPoolExecutor(1) as threads:
        closed = threads.submit(close_and_write)
        assert in_child(write_twice)
        closed.result()
    with closing(Database.open(database.path, "read")) as found:
        assert found.query(NAMES) == [("before",), ("meanwhile",), ("after",)]
    for pipe in (from_child, to_parent, from_parent, to_child):
        os.close(pipe)


@forks
def test_a_connection_of_the_parents_is_closed_in_the_child_and_goes_on_in_the_parent(
    database: Database,
) -> None:
    def use() -> None:
        with pytest.raises(StoreError, match="opened before this process was forked"):
            database.query(COUNT)
        with pytest.raises(StoreError, match="opened before this process was forked"):
            database.write_row(INSERT, ("child",))
        database.close()

    database.write_row(INSERT, ("parent",))
    with closing(Database.open(database.path, "read")) as reader:
        _, rows = reader.ask("SELECT name FROM t, (VALUES (1), (2))", ())
        assert next(rows) == ("parent",)
        assert in_child(use)
        assert list(rows) == [("parent",)]
    database.write_row(INSERT, ("parent",))
    assert database.query(COUNT) == [(2,)]


@forks
def test_a_write_that_waits_for_a_child_does_not_keep_it_from_being_forked(
    database: Database,
) -> None:
    reading, writing = os.pipe()
    begun = threading.Event()

    def items() -> Iterator[tuple[Statement, tuple[str]]]:
        begun.set()
        yield INSERT, (os.read(reading, 5).decode(),)

    def fill() -> None:
        os.write(writing, b"child")

    with ThreadPoolExecutor(1) as threads:
        written = threads.submit(lambda: database.write(items()))
        begun.wait()
        assert in_child(fill)
        written.result()
    assert database.query(NAMES) == [("child",)]
    for pipe in (reading, writing):
        os.close(pipe)
