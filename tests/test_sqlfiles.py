from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from dshstore import schema
from dshstore.db import Database
from dshstore.sqlfiles import Statement, load, schema_objects
from dshstore.store import open_store
from tests.sql.plain import PlainWriter

ROOT = Path(__file__).parents[1]
QUERY = re.compile(r"^-- (\w+): .*\n((?:(?!-- \w+: ).*\n?)*)", re.MULTILINE)


def statements() -> dict[str, str]:
    """Every statement of the folder `sql/query`, read without the help of the module."""
    return {
        f"{path.stem}-{name}": sql.strip()
        for path in sorted((ROOT / "sql" / "query").iterdir())
        for name, sql in QUERY.findall(path.read_text(encoding="utf-8"))
    }


STATEMENTS = statements()


class _Read(msgspec.Struct, frozen=True):
    one: Statement


def test_an_insert_of_one_row_can_be_one_of_several() -> None:
    one = Statement("one", "INSERT INTO t (a, b)\nVALUES (:a, :b)")
    assert one.for_rows(2) == "INSERT INTO t (a, b)\nVALUES (?, ?), (?, ?)"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT :a",
        "INSERT INTO t (a) SELECT :a",
        "INSERT INTO t (a) VALUES (:a + 1)",
        "INSERT INTO t (a) VALUES (:a) ON CONFLICT DO NOTHING",
        "INSERT INTO t (a) VALUES (:a) RETURNING a",
    ],
)
def test_any_other_statement_stays_one(sql: str) -> None:
    assert Statement("other", sql).for_rows(2) is None


def test_objects_come_tables_first_and_triggers_last() -> None:
    kinds = [item.kind for item in schema_objects()]
    assert set(kinds) == {"table", "index", "view", "trigger"}
    assert kinds == sorted(kinds, key=["table", "index", "view", "trigger"].index) or all(
        kinds.index("view") > place and kinds.index("trigger") > place
        for place, kind in enumerate(kinds)
        if kind in ("table", "index")
    )
    assert kinds.index("trigger") > max(i for i, kind in enumerate(kinds) if kind == "view")


def test_every_file_gives_its_object_without_comment_and_semicolon() -> None:
    names = {item.name for item in schema_objects() if item.kind != "index"}
    folders = (ROOT / "sql" / kind for kind in ("table", "view", "trigger"))
    assert names == {path.stem for folder in folders for path in folder.iterdir()}
    for item in schema_objects():
        assert re.match(r"CREATE (UNIQUE )?(TABLE|INDEX|VIEW|TRIGGER) ", item.sql)
        assert not item.sql.endswith((";", "\n"))


def test_a_record_that_names_other_statements_than_its_file_is_refused() -> None:
    with pytest.raises(TypeError, match=r"sql/query/schema\.sql and _Read differ in objects, one"):
        load("schema", _Read)


def test_a_statement_is_what_stands_below_its_name() -> None:
    sql = schema._SQL.objects
    assert sql.name == "objects"
    assert sql.sql.startswith("SELECT ")
    assert not sql.sql.endswith(";")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("sqlfiles") / "store.db")
    schema.create(path).close()
    return path


@pytest.fixture(scope="module")
def side_file(path: str) -> str:
    """What a search leaves beside a store."""
    with open_store(path, "read") as store:
        store.search("beans")
    return f"{path}-search"


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_is_one_and_its_parameters_have_names(
    path: str, side_file: str, name: str
) -> None:
    if name.startswith("sidefile-"):
        path = side_file
    sql = STATEMENTS[name]
    assert sql.count(";") == 1
    assert "?" not in re.sub(r"'[^']*'|--.*", "", sql)
    database = Database.open(path, "read")
    given = dict.fromkeys(re.findall(r":(\w+)", sql))
    assert PlainWriter(database).run(f"EXPLAIN {sql}", given) != []
    database.close()
