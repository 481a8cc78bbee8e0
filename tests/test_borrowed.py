"""A store read through another connection: `dshstore/borrowed.py`.

Its own connection is one of Python's `sqlite3`, in a process of its own; here the other connection
is that of an open store, asked in its own words.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

import dshstore
from dshstore import NotAStore, SessionNotFound, Store, UnsupportedSchema, borrowed
from tests.stores import take_samples


@pytest.fixture(scope="module")
def garden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("garden") / "garden.db"
    with dshstore.open(path) as store:
        take_samples(store)
        store.fork("seedlings", new_id="branched")
    return path


def asker(store: Store) -> borrowed.Ask:
    def ask(sql: str, parameters: dict[str, Any]) -> Iterable[Sequence[Any]]:
        named = {key: value for key, value in parameters.items() if f":{key}" in sql}
        return store.sql(sql, named)[1]

    return ask


def test_a_session_reads_as_the_store_reads_it(garden: Path) -> None:
    with dshstore.open(garden, mode="read") as store:
        for summary in store.sessions():
            own = store.session(summary.session_id)
            other = borrowed.session(asker(store), summary.session_id)
            assert list(other.messages_json()) == list(own.messages_json())
            assert list(other.events()) == list(own.events())
            assert list(other.transcript()) == list(own.transcript())
            assert b"".join(other.log()) == b"".join(own.log())
            for at in range(own.next_seq):
                assert other.surface_at(at) == own.surface_at(at)


def test_a_session_is_found_by_its_number_too(garden: Path) -> None:
    with dshstore.open(garden, mode="read") as store:
        for number, session_id in store.sql("SELECT id, session_id FROM sessions")[1]:
            assert borrowed.session(asker(store), number).session_id == session_id
        for name in (99, "nobody"):
            with pytest.raises(SessionNotFound):
                borrowed.session(asker(store), name)


@pytest.mark.parametrize(
    ("marks", "error"),
    [((0, 1), NotAStore), ((0x64736873, 99), UnsupportedSchema)],
)
def test_what_is_no_store_of_this_release_is_refused(
    marks: tuple[int, int], error: type[dshstore.StoreError]
) -> None:
    application_id, version = marks

    def ask(sql: str, parameters: dict[str, Any]) -> Iterable[Sequence[Any]]:
        return [(application_id if "application_id" in sql else version,)]

    assert not borrowed.is_store(ask)
    with pytest.raises(error):
        borrowed.session(ask, "any")


def test_python_s_own_library_will_do(garden: Path) -> None:
    program = """
import sqlite3, sys
from dshstore import borrowed
connection = sqlite3.connect(sys.argv[1])
found = borrowed.session(connection.execute, "bean-bed")
print(found.surface, found.surface_at(35), len(found.messages()))
try:
    borrowed.session(connection.execute, "\\ud83c")  # which no column can hold
except borrowed.SessionNotFound as error:
    print(error)
try:
    borrowed.session(sqlite3.connect(":memory:").execute, "bean-bed")
except borrowed.NotAStore as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(garden)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "[38, 42, 49] [2, 19, 21, 33] 3\n"
        "no session '\\ud83c' in this store\n"
        "this file: not a dshstore store: an SQLite file of another program (application id 0)\n"
    )
