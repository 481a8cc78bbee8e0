"""Tables of the views, read back by the library that wrote them and by DuckDB."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet
import pytest
from duckdb import DuckDBPyRelation

import dshstore
from dshstore import OutputRefused, SessionNotFound, Store, WriteFailed, schema
from dshstore.errors import TextUnreadable
from dshstore.parquet import VIEWS, write_views
from dshstore.parquet.views import statements
from tests.logs import LogBuilder, make_header, text, write_log
from tests.sql.plain import PlainWriter
from tests.sql.test_view_answers import write_odd_store
from tests.stores import take_samples

#: What DuckDB takes each kind of column for.
DUCKDB_TYPES = {
    "int": "BIGINT",
    "float": "DOUBLE",
    "bool": "BOOLEAN",
    "text": "VARCHAR",
    "json": "VARCHAR",
    "time": "TIMESTAMP WITH TIME ZONE",
}


@pytest.fixture
def store(store: Store) -> Store:
    take_samples(store)
    store.migrate("bean-bed", to=2)
    with store.fork("seedlings", new_id="fork"):
        pass
    return store


def rows_of(store: Store, view: str, first: int = 0, last: int = 2**63 - 1) -> list[Any]:
    return list(store.sql(statements()[view].sql, {"first": first, "last": last})[1])


def plain(table: Any, view: str) -> list[Any]:
    """The rows of a table as SQLite gives them: times as epoch ms, truth as 0 and 1."""
    columns = []
    for name, kind in VIEWS[view].items():
        column = table.column(name)
        columns.append(column.cast("int64" if kind in ("time", "bool") else column.type))
    return list(zip(*(column.to_pylist() for column in columns), strict=True))


@contextmanager
def in_duckdb(path: str | Path) -> Iterator[DuckDBPyRelation]:
    """The table as DuckDB reads it."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection.read_parquet(str(path))


def test_every_view_comes_back_as_it_is(store: Store, tmp_path: Path) -> None:
    written = list(write_views(store, tmp_path / "out"))
    assert [table.view for table in written] == list(VIEWS)
    for table in written:
        read = pyarrow.parquet.read_table(table.path)
        assert plain(read, table.view) == rows_of(store, table.view)
        assert (table.rows, table.left_out) == (read.num_rows, {})
        assert Path(table.path) == tmp_path / "out" / f"{table.view}.parquet"
    assert sum(table.rows == 0 for table in written) == 0


def test_duckdb_sees_the_types_and_the_same_sums(store: Store, tmp_path: Path) -> None:
    for table in write_views(store, tmp_path):
        kinds = VIEWS[table.view]
        columns = zip(*rows_of(store, table.view), strict=True)
        sums = {
            name: sum(filter(None, values))
            for (name, kind), values in zip(kinds.items(), columns, strict=True)
            if kind == "int"
        }
        with in_duckdb(table.path) as read:
            assert read.columns == list(kinds)
            assert [str(type) for type in read.types] == [DUCKDB_TYPES[k] for k in kinds.values()]
            assert read.count("*").fetchall() == [(table.rows,)]
            for name, wanted in sums.items():
                assert (read.sum(f'"{name}"').fetchall()[0][0] or 0) == wanted


def test_duckdb_takes_times_for_times(store: Store, tmp_path: Path) -> None:
    list(write_views(store, tmp_path, "bean-bed"))
    with in_duckdb(tmp_path / "turns.parquet") as turns:
        days = turns.aggregate("started::DATE::VARCHAR AS day, count(*)").fetchall()
    assert days == [("2026-08-01", 2)]


def test_a_session_is_written_alone(store: Store, tmp_path: Path) -> None:
    key = next(iter(store.sql("SELECT id FROM sessions WHERE session_id = 'seedlings'")[1]))[0]
    for table in write_views(store, tmp_path, "seedlings"):
        read = pyarrow.parquet.read_table(table.path)
        assert plain(read, table.view) == rows_of(store, table.view, key, key)
        if table.view != "event_types":
            assert set(read.column("session_id").to_pylist()) <= {"seedlings"}
    with pytest.raises(SessionNotFound):
        list(write_views(store, tmp_path, "nobody"))


def test_tables_of_an_empty_store_have_their_types(tmp_path: Path) -> None:
    with dshstore.open(tmp_path / "empty.db") as store:
        for table in write_views(store, tmp_path):
            with in_duckdb(table.path) as read:
                assert [str(t) for t in read.types] == [
                    DUCKDB_TYPES[kind] for kind in VIEWS[table.view].values()
                ]
            assert table.rows == (70 if table.view == "event_types" else 0)


def test_what_is_not_of_its_columns_type_is_left_out_and_counted(tmp_path: Path) -> None:
    log = LogBuilder(4)
    log.add("turn/start", {"turn": "first"})
    log.add("turn/end", {"turn": 1.5, "reason": {"kind": 7}})
    log.add("turn/start", {"turn": 2.0})
    log.add("turn/start", {"turn": 1e300})
    header = make_header(4, "odd")
    with dshstore.open(tmp_path / "odd.db") as store:
        store.import_stream(BytesIO(write_log(header, log.events)))
        written = {table.view: table for table in write_views(store, tmp_path)}
    assert written["turns"].left_out == {"turn": 2}
    turns = pyarrow.parquet.read_table(tmp_path / "turns.parquet")
    assert turns.column("turn").to_pylist() == [None, 2, None]
    assert turns.column("reason").to_pylist() == ["7", None, None]


def test_a_time_that_no_calendar_has_is_left_out(tmp_path: Path) -> None:
    log = LogBuilder(4)
    for time in (0, 253_402_300_799_999, 253_402_300_800_000, -1):
        log.add("turn/start", {"turn": 1})
        log.events[-1]["time"] = time
    with dshstore.open(tmp_path / "old.db") as store:
        store.import_stream(BytesIO(write_log(make_header(4, "old"), log.events)))
        written = {table.view: table for table in write_views(store, tmp_path)}
    assert written["event_log"].left_out == {"time": 1}
    with in_duckdb(tmp_path / "event_log.parquet") as log_table:
        years = log_table.order("seq").project("year(time)").fetchall()
    assert years == [(1970,), (9999,), (None,), (1969,)]


def test_no_odd_payload_stops_a_table(tmp_path: Path) -> None:
    path = write_odd_store(tmp_path / "odd.db", 4)
    with dshstore.open(path, mode="read") as store:
        for table in write_views(store, tmp_path):
            assert table.rows == len(rows_of(store, table.view))
            with in_duckdb(table.path) as read:
                assert read.to_arrow_table().num_rows == table.rows


def test_text_that_is_not_utf_8_is_damage(tmp_path: Path) -> None:
    database = schema.create(str(tmp_path / "bad.db"))
    writer = PlainWriter(database)
    writer.append(writer.begin(4), [])
    writer.run(
        "INSERT INTO events (session, seq, type, time, data)"
        " VALUES (1, 0, CAST(x'ff' AS TEXT), 0, '{}')"
    )
    database.close()
    damage = pytest.raises(TextUnreadable, match="view event_log holds text that is not UTF-8")
    with dshstore.open(tmp_path / "bad.db", mode="read") as store, damage:
        list(write_views(store, tmp_path / "out"))
    assert not (tmp_path / "out" / "event_log.parquet").exists()


def test_text_of_all_kinds_comes_back(tmp_path: Path) -> None:
    said = ["a\0b", "再等一周 🌱", "\u2028", "half \ud83c", ""]
    log = LogBuilder(4)
    for words in said:
        log.append("user/message", log.user(text(words)))
    with dshstore.open(tmp_path / "text.db") as store:
        store.import_stream(BytesIO(write_log(make_header(4, "text"), log.events)))
        list(write_views(store, tmp_path))
    wanted = [words.replace("\ud83c", "\ufffd") for words in said]
    read = pyarrow.parquet.read_table(tmp_path / "messages.parquet").column("text").to_pylist()
    assert read == wanted
    with in_duckdb(tmp_path / "messages.parquet") as messages:
        assert messages.order("position").project("text").fetchall() == [(w,) for w in wanted]


def test_large_tables_are_written_in_groups(tmp_path: Path) -> None:
    log = LogBuilder(4)
    for _ in range(40):
        log.append("user/message", log.user(text("x" * 1_000_000)))
    with dshstore.open(tmp_path / "large.db", durability="NORMAL") as store:
        store.import_stream(BytesIO(write_log(make_header(4, "large"), log.events)))
        list(write_views(store, tmp_path))
        file = pyarrow.parquet.ParquetFile(tmp_path / "event_log.parquet")
        assert file.metadata.num_row_groups == 3
        assert file.metadata.row_group(0).column(8).compression == "ZSTD"
        assert plain(file.read(), "event_log") == rows_of(store, "event_log")


def test_all_tables_are_of_one_moment(store: Store, tmp_path: Path) -> None:
    written = write_views(store, tmp_path)
    before = {next(written).view}
    with dshstore.open(store.path) as other, other.create(session_id="later") as live:
        with live.turn():
            pass
        live.flush()
    rest = {table.view: table.rows for table in written}
    assert before == {"sessions_overview"}
    assert rest["turns"] == len(rows_of(store, "turns")) - 1
    assert rest["current_sessions"] == len(rows_of(store, "current_sessions")) - 1


def test_files_are_replaced_whole_and_others_left_alone(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "out"
    folder.mkdir(parents=True)
    (folder / "turns.parquet").write_text("before")
    (folder / "mine.txt").write_text("mine")
    list(write_views(store, folder))
    names = {f"{view}.parquet" for view in VIEWS}
    assert {path.name for path in folder.iterdir()} == names | {"mine.txt"}
    assert pyarrow.parquet.read_table(folder / "turns.parquet").num_rows > 0
    with pytest.raises(WriteFailed, match="cannot be made a folder"):
        list(write_views(store, folder / "mine.txt"))


#: In a process of its own, for what is loaded there.
LAZY = """
import sys
import dshstore.parquet
assert not any(name.split(".")[0] in ("pyarrow", "numpy") for name in sys.modules)
sys.modules["pyarrow"] = None
from dshstore.cli.process import run
sys.exit(run(sys.argv[1:]))
"""


def test_without_the_library_it_says_what_to_install(store: Store, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LAZY, "export", store.path, "--parquet", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == (
        "dshstore: Parquet files are written by pyarrow, which is not installed: "
        "pip install 'dshstore[parquet]'\n"
    )
    assert not (tmp_path / "out").exists()


def test_nothing_is_written_for_a_session_that_is_not_there(store: Store, tmp_path: Path) -> None:
    with pytest.raises(SessionNotFound):
        list(write_views(store, tmp_path / "tables", "nobody"))
    assert not (tmp_path / "tables").exists()


def test_nothing_is_written_where_a_folder_is_in_the_way(store: Store, tmp_path: Path) -> None:
    (tmp_path / "tables" / "turns.parquet").mkdir(parents=True)
    with pytest.raises(OutputRefused, match="is a folder"):
        list(write_views(store, tmp_path / "tables"))
    assert [path.name for path in (tmp_path / "tables").iterdir()] == ["turns.parquet"]
