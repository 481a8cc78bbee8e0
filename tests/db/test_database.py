from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dshstore import schema
from dshstore.db import Database
from dshstore.errors import (
    CorruptStore,
    NotAStore,
    QueryFailed,
    RuleBroken,
    StoreBusy,
    StoreError,
    WriteFailed,
)
from dshstore.sqlfiles import Statement
from tests.test_schema import look, open_in_shell, run_shell

INSERT = Statement("insert", "INSERT INTO t (id, name) VALUES (:id, :name)")
SELECT = Statement("select", "SELECT id, name FROM t ORDER BY id")
COUNT = Statement("count", "SELECT count(*) FROM t")

TABLE = (
    "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT) STRICT;"
    "CREATE INDEX t_name ON t (name);"
    "CREATE TRIGGER t_named BEFORE INSERT ON t WHEN NEW.name = ''"
    " BEGIN SELECT RAISE(ABORT, 'name-empty'); END"
)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "some.db")


@pytest.fixture
def database(path: str) -> Iterator[Database]:
    database = Database.create(path, lambda new: new.execute_script(TABLE))
    database.set_journal_wal()
    yield database
    database.close()


@pytest.fixture
def reader(database: Database, path: str) -> Iterator[Database]:
    database.write([(INSERT, [(1, "one"), (2, "two"), (3, "drei")])])
    reader = Database.open(path, "read")
    yield reader
    reader.close()


# -- writing --


def test_parameters_are_named_or_in_order_one_row_or_many(database: Database) -> None:
    database.write([(INSERT, {"id": 1, "name": "one"}), (INSERT, (2, "two"))])
    database.write([(INSERT, [(3, "three"), {"id": 4, "name": None}]), (INSERT, [])])
    assert database.query(SELECT) == [(1, "one"), (2, "two"), (3, "three"), (4, None)]


@pytest.mark.parametrize("count", [7, 8, 64, 65, 200])
def test_of_many_rows_the_refused_one_is_named_and_none_is_written(
    database: Database, count: int
) -> None:
    rows: list[Any] = [(number, "x") for number in range(count)]
    for place in {0, count // 2, count - 1}:
        doubled = [*rows[: place + 1], rows[place], *rows[place + 1 :]]
        with pytest.raises(RuleBroken) as broken:
            database.write([(INSERT, doubled)])
        assert broken.value.row == rows[place]
        assert database.query(COUNT) == [(0,)]
    database.write([(INSERT, rows)])
    assert database.query(SELECT) == rows


def test_items_are_made_while_they_are_written_and_see_what_was(database: Database) -> None:
    seen = []

    def items() -> Iterator[tuple[Statement, Any]]:
        for number in range(3):
            seen.append(database.query(COUNT)[0][0])
            yield INSERT, (number, "x")

    database.write(items())
    assert seen == [0, 1, 2]


@pytest.mark.parametrize("error", [ValueError("mine"), OSError("mine"), KeyboardInterrupt()])
def test_what_the_items_raise_undoes_everything_and_stays_what_it_is(
    database: Database, error: BaseException
) -> None:
    def items() -> Iterator[tuple[Statement, Any]]:
        yield INSERT, [(1, "one"), (2, "two")]
        raise error

    with pytest.raises(type(error)) as raised:
        database.write(items())
    assert raised.value is error
    assert database.query(SELECT) == []
    database.write([(INSERT, (1, "one"))])
    assert database.query(SELECT) == [(1, "one")]


def test_a_broken_rule_tells_its_code_and_its_row_and_undoes_everything(
    database: Database,
) -> None:
    rows = [(1, "one"), (2, ""), (3, "three")]
    with pytest.raises(RuleBroken) as broken:
        database.write([(INSERT, (9, "nine")), (INSERT, rows)])
    assert (broken.value.code, broken.value.row) == ("name-empty", (2, ""))
    assert database.query(SELECT) == []
    with pytest.raises(RuleBroken) as broken:
        database.write([(INSERT, {"id": 1, "name": b"x"})])
    assert broken.value.code == "cannot store BLOB value in TEXT column t.name"


def test_sql_that_is_wrong_undoes_everything(database: Database) -> None:
    with pytest.raises(StoreError, match="no such table"):
        database.write([(INSERT, (1, "one")), (Statement("bad", "INSERT INTO u VALUES (1)"), ())])
    assert database.query(SELECT) == []


def test_a_full_disk_undoes_everything(database: Database) -> None:
    database.pragma("max_page_count", database.pragma("page_count") + 2)
    rows = [(number, "x" * 9999) for number in range(100)]
    with pytest.raises(WriteFailed, match="no space left"):
        database.write([(INSERT, rows)])
    assert database.query(COUNT) == [(0,)]


def test_a_lock_that_is_held_for_too_long_is_told(database: Database, path: str) -> None:
    database.pragma("busy_timeout", 20)
    with open_in_shell(Path(path), "BEGIN IMMEDIATE"):
        with pytest.raises(StoreBusy, match="another process has held the store's lock"):
            database.write([(INSERT, (1, "one"))])
        assert database.query(SELECT) == []
    database.write([(INSERT, (1, "one"))])
    assert database.query(SELECT) == [(1, "one")]


def test_a_lock_that_is_given_up_in_time_is_waited_for(database: Database, path: str) -> None:
    with open_in_shell(Path(path), "BEGIN IMMEDIATE; INSERT INTO t VALUES (1, 'theirs')") as shell:
        assert shell.stdin is not None
        shell.stdin.write("COMMIT;\n")
        shell.stdin.flush()
        database.write([(INSERT, (2, "ours"))])
    assert database.query(SELECT) == [(1, "theirs"), (2, "ours")]


# -- opening --


@pytest.mark.parametrize("name", ["plain.db", "a b ?#%41&mode=ro;.db", "Gärten 🌲.db", "-v"])
def test_any_name_of_a_file_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Database.create(name, lambda new: new.execute_script(TABLE)).close()
    assert [path.name for path in tmp_path.iterdir()] == [name]
    database = Database.open(name, "write")
    database.write([(INSERT, (1, "one"))])
    database.close()
    assert Database.peek(name).query(SELECT) == [(1, "one")]


def test_a_building_that_fails_leaves_an_empty_file(path: str) -> None:
    def build(new: Database) -> None:
        new.execute_script(TABLE)
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        Database.create(path, build)
    assert Path(path).stat().st_size == 0


@pytest.mark.parametrize("mode", ["read", "write"])
def test_what_cannot_be_opened_is_no_store(tmp_path: Path, mode: Any) -> None:
    (tmp_path / "notes.txt").write_text("just words " * 100)
    for name, words in (
        ("nothing.db", "no such file"),
        ("nowhere/some.db", "no folder"),
        ("notes.txt", "not an SQLite file"),
    ):
        with pytest.raises(StoreError, match=words) as refused:
            Database.open(str(tmp_path / name), mode).query(COUNT)
        assert isinstance(refused.value, NotAStore), name


def test_a_reader_never_writes(reader: Database, database: Database) -> None:
    with pytest.raises(WriteFailed):
        reader.write([(INSERT, (4, "four"))])
    with pytest.raises(WriteFailed):
        reader.query(INSERT, (4, "four"))
    assert database.query(COUNT) == [(3,)]


def test_a_reader_sees_what_others_wrote_since(reader: Database, database: Database) -> None:
    assert reader.query(COUNT) == [(3,)]
    database.write([(INSERT, (4, "four"))])
    assert reader.query(COUNT) == [(4,)]


def test_closing_twice_is_harmless(path: str) -> None:
    database = Database.create(path, lambda new: None)
    database.close()
    database.close()


def test_text_that_is_not_utf_8_is_damage(database: Database, path: str) -> None:
    run_shell(Path(path), "INSERT INTO t VALUES (1, CAST(x'61ff62' AS TEXT))")
    with pytest.raises(CorruptStore, match=r"not UTF-8: b'a\\xffb'"):
        database.query(SELECT)


def test_settings_are_those_of_a_store(database: Database, path: str) -> None:
    assert database.pragma("foreign_keys") == 1
    assert database.pragma("trusted_schema") == 0
    assert database.pragma("synchronous") == 2
    assert database.pragma("busy_timeout") == 5000
    quick = Database.open(path, "write", durability="NORMAL")
    assert quick.pragma("synchronous") == 1
    quick.close()
    with pytest.raises(StoreError):  # defensive: nobody edits the schema as a table
        database.execute_script("PRAGMA writable_schema = 1; DELETE FROM sqlite_schema")


# -- where nothing can be written --


def run_without_rights(check: Callable[[], None]) -> None:
    """Run a check as a user who is not root: in a process of its own, for root has all rights."""
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            check()
        except BaseException as error:
            os.write(2, f"{error!r}\n".encode())
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Makes a folder that cannot be written, with copies of some files; the path of the first."""
    with tempfile.TemporaryDirectory() as folder:  # not below a folder that is root's alone

        def lock(*files: Path) -> str:
            for file in files:
                shutil.copy(file, folder)
                (Path(folder) / file.name).chmod(0o444)
            Path(folder).chmod(0o555)
            return str(Path(folder) / files[0].name)

        yield lock
        Path(folder).chmod(0o755)


def test_a_store_can_be_read_where_nothing_can_be_written(
    tmp_path: Path, locked: Callable[..., str]
) -> None:
    schema.create(str(tmp_path / "store.db")).close()
    path = locked(tmp_path / "store.db")

    def check() -> None:
        before = look(Path(path).parent)
        database = schema.open_reading(path)
        assert database.query(Statement("all", "SELECT * FROM sessions")) == []
        database.close()
        with pytest.raises(StoreError, match=r"store\.db: "):
            schema.open_store(path).write([])
        assert look(Path(path).parent) == before

    run_without_rights(check)


def test_a_log_left_behind_where_nothing_can_be_written_is_told(
    tmp_path: Path, locked: Callable[..., str]
) -> None:
    store = tmp_path / "store.db"
    schema.create(str(store)).close()
    with open_in_shell(store, "PRAGMA user_version = 1") as shell:
        shell.kill()
    path = locked(store, tmp_path / "store.db-wal")

    def check() -> None:
        before = look(Path(path).parent)
        with pytest.raises(StoreError, match="cannot be read here: the folder is not writable"):
            schema.open_reading(path)
        assert look(Path(path).parent) == before

    run_without_rights(check)


# -- backup --


def test_a_backup_is_a_store_of_its_own(database: Database, path: str, tmp_path: Path) -> None:
    database.write([(INSERT, (1, "one"))])
    copy = tmp_path / "copy.db"
    database.backup(str(copy))
    database.write([(INSERT, (2, "two"))])
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    other = Database.open(str(copy), "read")
    assert other.query(SELECT) == [(1, "one")]
    assert (other.pragma("journal_mode"), other.pragma("page_size")) == ("wal", 4096)
    other.close()
    with pytest.raises(WriteFailed, match="the file exists"):
        database.backup(str(copy))


# -- a user's own words --


def test_columns_and_rows_come_as_asked_for(reader: Database) -> None:
    columns, rows = reader.ask("SELECT id AS number, name FROM t WHERE id > :from", {"from": 1})
    assert columns == ["number", "name"]
    assert list(rows) == [(2, "two"), (3, "drei")]
    columns, rows = reader.ask("SELECT id FROM t WHERE 0; -- none", ())
    assert (columns, list(rows)) == (["id"], [])


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO t VALUES (9, 'nine')",
        "WITH one AS (SELECT 9) INSERT INTO t SELECT *, 'x' FROM one RETURNING id",
        "UPDATE t SET name = 'x'",
        "DELETE FROM t",
        "DROP TABLE t",
        "CREATE TABLE u (a)",
        "CREATE TEMP TABLE u (a)",
        "CREATE TEMP VIEW u AS SELECT 1",
        "CREATE VIRTUAL TABLE u USING fts5(a)",
        "ALTER TABLE t ADD COLUMN a",
        "ATTACH ':memory:' AS other",
        "DETACH main",
        "VACUUM",
        "VACUUM INTO 'other.db'",
        "BEGIN",
        "BEGIN IMMEDIATE",
        "SAVEPOINT s",
        "ROLLBACK",
        "REINDEX",
        "ANALYZE",
        "PRAGMA query_only = 0",
        "PRAGMA writable_schema = 1",
        "PRAGMA user_version = 9",
        "PRAGMA application_id = 9",
        "PRAGMA schema_version = 9",
        "PRAGMA journal_mode = delete",
        "PRAGMA journal_mode(memory)",
        "PRAGMA wal_checkpoint",
        "PRAGMA wal_checkpoint(truncate)",
        "PRAGMA optimize",
        "PRAGMA incremental_vacuum",
        "PRAGMA locking_mode = exclusive",
        "PRAGMA busy_timeout = 0",
        "SELECT load_extension('x')",
        "EXPLAIN DELETE FROM t",
    ],
)
def test_whoever_asks_can_only_read(
    reader: Database, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sql: str
) -> None:
    monkeypatch.chdir(tmp_path)
    before = look(tmp_path)
    with pytest.raises(QueryFailed) as failed:
        list(reader.ask(sql, ())[1])
    assert failed.value.sql == sql
    assert look(tmp_path) == before
    assert list(reader.ask("SELECT count(*) FROM t", ())[1]) == [(3,)]
    assert database.pragma("user_version") == 0
    database.write([(INSERT, (4, "four"))])  # no lock is left


@pytest.mark.parametrize(
    "sql",
    [
        "PRAGMA table_info(t)",
        "PRAGMA user_version",
        "PRAGMA journal_mode",
        "SELECT name FROM pragma_table_info('t')",
        "SELECT name FROM sqlite_schema",
        "EXPLAIN QUERY PLAN SELECT * FROM t",
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3) SELECT i FROM n",
        "SELECT value FROM json_each('[1]')",
        "VALUES (1)",
    ],
)
def test_whoever_asks_can_look_at_everything(reader: Database, sql: str) -> None:
    columns, rows = reader.ask(sql, ())
    assert columns != []
    assert list(rows) != []


@pytest.mark.parametrize(
    ("sql", "offset"),
    [
        ("SELECT nope FROM t", 7),
        ("SELECT 'é🌲', nope FROM t", 13),
        ("SELEC 1", 0),
        ("SELECT 1; SELECT 2", 10),
        ("SELECT (", None),
        ("SELECT json('x')", None),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    reader: Database, sql: str, offset: int | None
) -> None:
    with pytest.raises(QueryFailed) as failed:
        list(reader.ask(sql, ())[1])
    assert failed.value.offset == offset
    assert str(failed.value) != ""


def test_what_is_asked_together_is_of_one_moment(reader: Database, database: Database) -> None:
    answers = reader.read_together([(COUNT, ()), (SELECT, ()), (COUNT, ())])
    assert [list(rows) for _, rows in [next(answers)]] == [[(3,)]]
    database.write([(INSERT, (4, "four"))])
    columns, rows = next(answers)
    assert (columns, len(list(rows))) == (["id", "name"], 3)
    assert [list(rows) for _, rows in answers] == [[(3,)]]
    assert reader.query(COUNT) == [(4,)]


def test_a_parameter_that_is_not_given_is_told(reader: Database) -> None:
    with pytest.raises(QueryFailed, match="no value is given for the parameter :what"):
        reader.ask("SELECT :what", {"other": 1})


def test_a_question_that_takes_too_long_is_stopped(reader: Database) -> None:
    endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
    with pytest.raises(QueryFailed, match=r"stopped: it took longer than 0\.05 s"):
        list(reader.ask(endless.replace("SELECT i FROM", "SELECT max(i) FROM"), (), 0.05)[1])
    _, rows = reader.ask(endless, (), 0.05)
    assert next(rows) == (1,)
    with pytest.raises(QueryFailed, match="stopped"):
        list(rows)
