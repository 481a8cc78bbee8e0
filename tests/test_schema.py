from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE

import pytest

from dshstore import schema
from dshstore.db import Database
from dshstore.errors import CorruptStore, NotAStore, StoreError, UnsupportedSchema, WriteFailed
from dshstore.sqlfiles import SchemaObject, schema_objects
from tests.real_parts import require
from tests.sql.plain import PlainWriter

OPENERS: dict[str, Callable[[str], object]] = {
    "identify": schema.identify,
    "open_reading": schema.open_reading,
    "open_store": schema.open_store,
    "create": schema.create,
}
OBJECTS = {item.name: item for item in schema_objects()}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new store, closed; for copying."""
    path = tmp_path_factory.mktemp("sound") / "store.db"
    schema.create(str(path)).close()
    return path


@pytest.fixture
def store(sound: Path, tmp_path: Path) -> Path:
    """A store of one's own, closed."""
    return Path(shutil.copy(sound, tmp_path / "store.db"))


def run_shell(path: Path, sql: str) -> None:
    """Let the `sqlite3` shell run statements, and end."""
    shell = require("sqlite3")
    subprocess.run([shell, "-batch", "-bail", path, sql], check=True, capture_output=True)


@contextmanager
def open_in_shell(path: Path, sql: str) -> Iterator[subprocess.Popen[str]]:
    """A `sqlite3` shell that has run statements and keeps the file open."""
    arguments = [require("sqlite3"), "-batch", "-bail", str(path)]
    with subprocess.Popen(arguments, stdin=PIPE, stdout=PIPE, text=True) as shell:
        assert shell.stdin is not None
        assert shell.stdout is not None
        shell.stdin.write(f"{sql}; SELECT 'done';\n")
        shell.stdin.flush()
        while shell.stdout.readline() != "done\n":
            assert shell.poll() is None
        yield shell


def look(folder: Path) -> dict[str, object]:
    """What is in a folder, to the byte; but -shm is where processes talk to each other."""
    return {
        path.name: path.name.endswith("-shm")
        or (path.stat().st_size, path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest())
        for path in folder.iterdir()
    }


def refuse(path: Path, error: type[StoreError], words: str, openers: str = "") -> None:
    """Every way to open the file (or those named) refuses it and leaves no trace."""
    before = look(path.parent)
    for name in openers.split() or OPENERS:
        with pytest.raises(error, match=words) as refused:
            OPENERS[name](str(path))
        assert type(refused.value) is error
        assert str(path) in str(refused.value)
        assert look(path.parent) == before, name


# -- what is no store --


@pytest.mark.parametrize("text", ["x", "just a few words\n", "word " * 50_000])
def test_a_text_file_is_no_store(tmp_path: Path, text: str) -> None:
    (tmp_path / "notes.txt").write_text(text)
    refuse(tmp_path / "notes.txt", NotAStore, "SQLite file")


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    refuse(tmp_path / "folder", NotAStore, "it is a folder")


def test_a_file_that_is_not_there_is_no_store_until_it_is_made(tmp_path: Path) -> None:
    reading = "identify open_reading open_store"
    refuse(tmp_path / "store.db", NotAStore, "no such file", reading)
    with pytest.raises(WriteFailed, match="No such file or directory"):
        schema.create(str(tmp_path / "nowhere" / "store.db"))
    schema.create(str(tmp_path / "store.db")).close()
    schema.identify(str(tmp_path / "store.db"))


def test_an_empty_file_is_no_store_until_it_is_made_one(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.touch()
    refuse(path, NotAStore, "the file is empty", "identify open_reading open_store")
    schema.create(str(path)).close()
    schema.identify(str(path))


def test_an_empty_file_beside_the_log_of_a_lost_store_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.touch()
    (tmp_path / "store.db-wal").write_bytes(b"all that is left")
    refuse(path, NotAStore, "empty")


def test_an_sqlite_file_of_another_program_is_no_store(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    run_shell(path, "CREATE TABLE sessions (id); PRAGMA application_id = 7")
    refuse(path, NotAStore, r"another program \(application id 7\)")


def test_an_sqlite_file_that_another_program_is_writing_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    change = (
        "CREATE TABLE t (a); PRAGMA user_version = 1; BEGIN IMMEDIATE; INSERT INTO t VALUES (1)"
    )
    with open_in_shell(path, change):
        refuse(path, NotAStore, "another program")
    run_shell(path, "PRAGMA journal_mode = wal")
    with open_in_shell(path, "INSERT INTO t VALUES (2)"):
        assert (tmp_path / "other.db-wal").stat().st_size > 0
        refuse(path, NotAStore, "another program")


@pytest.mark.parametrize("kept", ["other.db other.db-wal other.db-shm", "other.db other.db-wal"])
def test_a_log_that_another_program_left_behind_is_left_alone(tmp_path: Path, kept: str) -> None:
    change = "PRAGMA journal_mode = wal; CREATE TABLE t (a)"
    with open_in_shell(tmp_path / "other.db", change) as shell:
        shell.kill()
    for path in tmp_path.iterdir():
        if path.name not in kept.split():
            path.unlink()
    refuse(tmp_path / "other.db", NotAStore, "another program")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(kept.split())


def test_a_transaction_that_another_program_broke_off_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    change = "PRAGMA cache_size = 1; BEGIN; INSERT INTO t VALUES (randomblob(99999))"
    run_shell(path, "CREATE TABLE t (a)")
    with open_in_shell(path, change) as shell:
        shell.kill()
    assert (tmp_path / "other.db-journal").stat().st_size > 0
    refuse(path, NotAStore, "another program")


def test_a_damaged_store_is_told_from_no_store(store: Path) -> None:
    data = bytearray(store.read_bytes())
    data[100:200] = b"\xff" * 100
    store.write_bytes(data)
    refuse(store, CorruptStore, "damaged")


# -- bump and reject --


@pytest.mark.parametrize("version", [0, schema.SCHEMA_VERSION + 1])
@pytest.mark.parametrize("place", ["file", "log", "log left behind"])
def test_a_store_of_another_version_is_refused(store: Path, version: int, place: str) -> None:
    words = (
        f"store schema {version} is not supported: this release reads schema"
        f" {schema.SCHEMA_VERSION}; export .* import "
    )
    stamp = f"PRAGMA user_version = {version}"
    if place == "file":
        run_shell(store, stamp)
        refuse(store, UnsupportedSchema, words)
        return
    with open_in_shell(store, stamp) as shell:
        assert store.read_bytes()[60:64] == schema.SCHEMA_VERSION.to_bytes(4, "big")
        if place == "log left behind":
            shell.kill()
            shell.wait()
        refuse(store, UnsupportedSchema, words)


def test_a_refused_version_is_told_in_numbers(store: Path) -> None:
    run_shell(store, "PRAGMA user_version = 9")
    with pytest.raises(UnsupportedSchema) as refused:
        schema.open_reading(str(store))
    assert (refused.value.found, refused.value.supported) == (9, schema.SCHEMA_VERSION)


@pytest.mark.parametrize("item", OBJECTS.values(), ids=OBJECTS)
def test_a_store_without_one_of_its_objects_is_refused(store: Path, item: SchemaObject) -> None:
    if item.kind == "table":
        run_shell(store, f"ALTER TABLE {item.name} RENAME TO was_{item.name}")
    else:
        run_shell(store, f"DROP {item.kind} {item.name}")
    refuse(store, UnsupportedSchema, rf"damaged: (table|{item.kind}) \w+ (is missing|was changed)")


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE events ADD COLUMN mood TEXT",
        "DROP VIEW surface; CREATE VIEW surface AS SELECT 1 AS session",
        "DROP VIEW surface; CREATE TABLE surface (session)",
        "DROP INDEX events_type; CREATE INDEX events_type ON events (type)",
        "DROP TRIGGER events_update; CREATE TRIGGER events_update BEFORE UPDATE ON events"
        " BEGIN SELECT 1; END",
    ],
)
def test_a_store_with_a_changed_object_is_refused(store: Path, change: str) -> None:
    run_shell(store, change)
    refuse(store, UnsupportedSchema, r"damaged: \w+ (events|surface|events_type|events_update) was")


@pytest.mark.parametrize(
    "head", ["BEFORE INSERT ON events", "AFTER DELETE ON sessions", "INSTEAD OF INSERT ON surface"]
)
def test_a_trigger_of_a_users_own_is_refused(store: Path, head: str) -> None:
    run_shell(store, f"CREATE TRIGGER mine {head} BEGIN SELECT 1; END")
    refuse(store, UnsupportedSchema, r"trigger mine on \w+ is not part of it")


def test_what_a_user_added_beside_is_tolerated(store: Path) -> None:
    run_shell(
        store,
        "CREATE VIEW long_turns AS SELECT * FROM turns WHERE duration > 60000;"
        "CREATE INDEX events_time ON events (time);"
        "CREATE TABLE notes (session INTEGER, note TEXT);"
        "CREATE TRIGGER noted AFTER INSERT ON notes BEGIN DELETE FROM notes WHERE note = ''; END;"
        "ANALYZE",
    )
    for opener in OPENERS.values():
        opener(str(store))


# -- creating --


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_store_is_its_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        database = schema.create(str(tmp_path / "store.db"))
        PlainWriter(database).begin(4)
        assert {path.name: mode_of(path) for path in tmp_path.iterdir()} == {
            "store.db": 0o600,
            "store.db-wal": 0o600,
            "store.db-shm": 0o600,
        }
        database.close()
    finally:
        os.umask(before)


def test_a_new_store_has_pages_of_4_kib_and_a_write_ahead_log(tmp_path: Path) -> None:
    database = schema.create(str(tmp_path / "store.db"))
    assert database.pragma("page_size") == 4096
    assert database.pragma("journal_mode") == "wal"
    database.close()
    header = (tmp_path / "store.db").read_bytes()[:100]
    assert header[16:20] == b"\x10\x00\x02\x02"
    assert header[60:64] == schema.SCHEMA_VERSION.to_bytes(4, "big")
    assert header[68:72] == b"dshs"


def test_a_store_that_is_there_is_opened_as_it_is(store: Path) -> None:
    database = schema.create(str(store))
    before = database.pragma("schema_version")
    database.close()
    again = schema.create(str(store))
    assert again.pragma("schema_version") == before
    again.close()


def test_processes_that_create_one_store_at_once_all_get_it(tmp_path: Path) -> None:
    code = (
        "import sys; from dshstore import schema; sys.stdin.readline()\n"
        "database = schema.create(sys.argv[1]); database.close(); print('mine')"
    )
    for attempt in range(5):
        path = str(tmp_path / f"{attempt}.db")
        racers = [
            subprocess.Popen(
                [sys.executable, "-c", code, path], stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True
            )
            for _ in range(8)
        ]
        for racer in racers:
            assert racer.stdin is not None
            racer.stdin.write("go\n")
            racer.stdin.flush()
        assert [racer.communicate() for racer in racers] == [("mine\n", "")] * 8
        schema.identify(path)


# -- the objects of a store --


def test_the_version_goes_with_the_objects() -> None:
    texts = sorted(f"{item.name}\n{item.sql}\n" for item in schema_objects())
    digest = hashlib.sha256("".join(texts).encode()).hexdigest()
    assert digest == schema.SCHEMA_DIGEST, (
        "objects changed: raise SCHEMA_VERSION (until the first release: just re-pin)"
    )


def test_a_new_store_holds_the_objects_of_the_folder_and_no_others(store: Path) -> None:
    database = Database.open(str(store), "read")
    rows = schema._SQL.objects
    found = {(kind, name, sql) for kind, name, _, sql in database.query(rows)}
    database.close()
    assert found == {(item.kind, item.name, item.sql) for item in schema_objects()}


def test_another_sqlite_can_build_a_store_from_the_folder(tmp_path: Path) -> None:
    script = "\n".join(f"{item.sql};" for item in schema_objects())
    stamp = f"PRAGMA application_id = {schema.APPLICATION_ID}; PRAGMA user_version = 1"
    run_shell(tmp_path / "store.db", f"{script}\n{stamp}")
    schema.identify(str(tmp_path / "store.db"))


@pytest.mark.parametrize(
    "item", [item for item in OBJECTS.values() if item.kind == "table"], ids=lambda item: item.name
)
def test_every_table_is_strict(item: SchemaObject) -> None:
    assert re.search(r"\) STRICT(, WITHOUT ROWID)?$", item.sql)


#: Functions of SQLite 3.38 that always give the same answer for the same values.
DETERMINISTIC = (
    "abs cast char coalesce count group_concat hex iif ifnull instr json_array_length json_each"
    " json_group_array json_replace json_tree json_type json_valid lag lead length lower max min"
    " nullif printf raise replace row_number rtrim substr sum trim typeof upper"
)
#: What else stands before a parenthesis.
SYNTAX = (
    "and as between by case else exists from in join key not on or over then union unique values"
    " when where"
)


@pytest.mark.parametrize("item", OBJECTS.values(), ids=OBJECTS)
def test_an_object_says_the_same_at_all_times(item: SchemaObject) -> None:
    text = re.sub(r"--[^\n]*|'(?:[^']|'')*'", " ", item.sql).lower()
    called = set(re.findall(r"\b(\w+)\s*\(", text)) - set(SYNTAX.split()) - set(OBJECTS)
    called -= set(re.findall(r"\b(\w+)\s*\([^()]*\)\s+as\s+(?:materialized\s+)?\(", text))  # WITH
    assert called <= set(DETERMINISTIC.split())
    assert not re.search(r"\bcurrent_(time|date|timestamp)\b|\brandom", text)
    assert "'now'" not in item.sql
