"""Holds the files to the design: size, names, who imports SQLite, one object in each SQL file."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.architecture.conftest import Plant

ROOT = Path(__file__).parents[2]

LINES = 400
BANNED_NAMES = {
    "util",
    "utils",
    "helper",
    "helpers",
    "common",
    "base",
    "misc",
    "manager",
    "managers",
}

#: The libraries that open SQLite files, and the modules that may import each. The plugins are
#: loaded by programs that have the other libraries.
SQLITE = {
    "apsw": ("db/", "shell.py"),
    "sqlite3": ("plugins/",),
    "_sqlite3": (),
    "sqlite_utils": ("plugins/for_sqlite_utils.py",),
}

#: What may stand in `dshstore/__init__.py` beside its docstring and imports: what it is, and how a
#: name is found when it is first asked for.
NAMES = {"__all__", "__version__", "_HOMES", "__getattr__", "__dir__"}

KINDS = ("table", "view", "trigger")

#: Folders of other SQL: what Python runs, and what files other than stores are made of.
SCRIPTS = ("query", "sidefile")
CREATE = re.compile(
    r"\bCREATE\s+(?:TEMP(?:ORARY)?\s+)?(?:UNIQUE\s+)?(?:VIRTUAL\s+)?(TABLE|VIEW|TRIGGER|INDEX)\s+"
    r"(?:IF\s+NOT\s+EXISTS\s+)?(\w+)(?:\s+ON\s+(\w+))?",
    re.IGNORECASE,
)
COMMENTS_AND_STRINGS = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'", re.DOTALL)
SILENCED = re.compile(r"#\s*(?:ruff:\s*)?noqa(?!:)|noqa\s*:[^#\n]*\b(?:S608|TID251)")


def sources(folder: Path) -> Iterator[tuple[str, str]]:
    """Every Python file under `folder`: its path from there, and its text."""
    for path in sorted(folder.rglob("*.py")):
        yield path.relative_to(folder).as_posix(), path.read_text(encoding="utf-8")


def find_long_files(package: Path) -> list[str]:
    return [
        f"{name}: {lines} lines, {LINES} is the most"
        for name, text in sources(package)
        if (lines := len(text.split("\n")) - text.endswith("\n")) > LINES
    ]


def find_banned_names(paths: Iterable[Path]) -> list[str]:
    return [str(path) for path in paths if path.stem.lower().strip("_") in BANNED_NAMES]


def find_foreign_sqlite(package: Path) -> list[str]:
    """Imports of a library that opens SQLite files, other than by the modules that may."""
    faults = []
    for name, text in sources(package):
        for node in ast.walk(ast.parse(text)):
            match node:
                case ast.Import(names=aliases):
                    imported = [alias.name for alias in aliases]
                case ast.ImportFrom(module=str(module), level=0):
                    imported = [module]
                case ast.Call(func=func, args=[ast.Constant(value=str(module)), *_]) if getattr(
                    func, "attr", getattr(func, "id", None)
                ) in ("import_module", "__import__"):
                    imported = [module]
                case _:
                    continue
            tops = {module.split(".")[0] for module in imported}
            faults += [
                f"{name}: imports {top}"
                for top in tops & set(SQLITE)
                if not name.startswith(SQLITE[top])
            ]
    return faults


def find_silenced_rules(folder: Path) -> list[str]:
    """Lines that silence the rules about SQL strings and SQLite imports, or every rule at once."""
    return [
        f"{name}, line {number}: {line.strip()}"
        for name, text in sources(folder)
        for number, line in enumerate(text.split("\n"), 1)
        if SILENCED.search(line)
    ]


def find_code(init: str) -> list[str]:
    """What in the text of an `__init__` is more than a docstring, imports and NAMES.

    Type checkers may be told something else: imports in place of how names are found.
    """
    faults = []
    nodes = deque(ast.parse(init).body)
    while nodes:
        match node := nodes.popleft():
            case ast.If(
                test=ast.Name(id="TYPE_CHECKING")
                | ast.UnaryOp(op=ast.Not(), operand=ast.Name(id="TYPE_CHECKING"))
            ):
                nodes.extend([*node.body, *node.orelse])
                continue
            case ast.FunctionDef(name=name) if name in NAMES:
                continue
            case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant(value=str())):
                continue
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                if name in NAMES:
                    continue
            case _:
                pass
        faults.append(f"line {node.lineno}: {ast.unparse(node)}")
    return faults


def find_sql_faults(folder: Path) -> list[str]:
    """Files of `sql/` that are not one object, named like the file, under a comment."""
    faults = [
        f"{path.relative_to(folder)}: stands outside {', '.join((*KINDS, *SCRIPTS))}"
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and (path.parent.parent != folder or path.parent.name not in (*KINDS, *SCRIPTS))
    ]
    for path in sorted(folder.glob("*/*.sql")):
        name = path.relative_to(folder).as_posix()
        text = path.read_text(encoding="utf-8")
        if not re.match(r"-- \S", text):
            faults.append(f"{name}: the first line is no comment")
        created = [
            (kind.lower(), object_name, table)
            for kind, object_name, table in CREATE.findall(COMMENTS_AND_STRINGS.sub(" ", text))
        ]
        kind = path.parent.name
        if kind == "query":
            if created:
                faults.append(f"{name}: creates {created[0][1]}, but a query file creates nothing")
            continue
        if kind == "sidefile":
            continue
        objects = [(k, n) for k, n, _ in created if k != "index"]
        if objects != [(kind, path.stem)]:
            faults.append(f"{name}: should create the {kind} {path.stem} alone, creates {objects}")
        faults += [
            f"{name}: the index {n} belongs to {table}"
            for k, n, table in created
            if k == "index" and (kind, table) != ("table", path.stem)
        ]
    return faults


def find_orphan_queries(folder: Path, package: Path) -> list[str]:
    """Files of `sql/query` that are not named like a module."""
    modules = {path.stem for path in package.rglob("*.py")}
    return [p.name for p in sorted(folder.glob("query/*.sql")) if p.stem not in modules]


def test_no_module_is_longer_than_the_limit() -> None:
    assert find_long_files(ROOT / "dshstore") == []


def test_no_file_has_a_name_that_says_nothing() -> None:
    folders = (ROOT / name for name in ("dshstore", "sql", "tests", "tools"))
    paths = (path for folder in folders for path in folder.rglob("*"))
    assert find_banned_names(p for p in paths if "node_modules" not in p.parts) == []


def test_only_the_db_folder_imports_a_sqlite_library() -> None:
    assert find_foreign_sqlite(ROOT / "dshstore") == []


def test_the_rules_about_sql_strings_and_sqlite_imports_are_on() -> None:
    lint = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"][
        "lint"
    ]
    ignored = [*lint.get("ignore", []), *lint.get("extend-ignore", [])]
    ignored += [r for rules in lint.get("per-file-ignores", {}).values() for r in rules]
    assert {"S608", "TID251"} <= set(lint["select"])
    assert "S608" not in ignored
    assert lint["per-file-ignores"].get("dshstore/db/*.py") == ["TID251"]
    assert {"apsw", "sqlite3", "sqlite_utils"} <= set(lint["flake8-tidy-imports"]["banned-api"])


@pytest.mark.parametrize("folder", ["dshstore", "tests", "tools"])
def test_no_line_silences_those_rules(folder: str) -> None:
    assert find_silenced_rules(ROOT / folder) == []


def test_the_package_itself_holds_names_only() -> None:
    assert find_code((ROOT / "dshstore" / "__init__.py").read_text(encoding="utf-8")) == []


def test_every_sql_file_is_one_object_named_like_the_file_under_a_comment() -> None:
    assert find_sql_faults(ROOT / "sql") == []


def test_every_query_file_is_named_like_the_module_that_runs_it() -> None:
    assert find_orphan_queries(ROOT / "sql", ROOT / "dshstore") == []


# -- the rules can fail --


def test_a_module_at_the_limit_passes_and_one_above_it_is_found(plant: Plant) -> None:
    tree = plant({"at.py": "x\n" * LINES, "above.py": "x\n" * (LINES + 1)})
    assert find_long_files(tree) == ["above.py: 401 lines, 400 is the most"]


@pytest.mark.parametrize("name", ["utils.py", "_helpers.py", "base/a.py", "Common.sql"])
def test_a_banned_name_is_found(plant: Plant, name: str) -> None:
    tree = plant({name: "", "database.py": "", "compact.py": ""})
    assert len(find_banned_names(tree.rglob("*"))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "import apsw",
        "import apsw.ext",
        "from apsw import Connection",
        "def f():\n    import sqlite3",
        "import os, sqlite_utils.db as x",
        "import_module('sqlite_utils')",
    ],
)
def test_a_second_importer_of_a_sqlite_library_is_found(plant: Plant, source: str) -> None:
    tree = plant({"db/database.py": "import apsw\n", "engine/db.py": f"{source}\n"})
    [found] = find_foreign_sqlite(tree)
    assert found.startswith("engine/db.py: imports ")


@pytest.mark.parametrize("codes", [": S608", ": E501, S608", ":TID251", ""])
def test_a_silenced_rule_is_found(plant: Plant, codes: str) -> None:
    tree = plant({"a.py": "x = 1  # noqa: E501\n", "b.py": f"import apsw  # no{'qa'}{codes}\n"})
    [found] = find_silenced_rules(tree)
    assert found.startswith("b.py, line 1: ")


@pytest.mark.parametrize(
    "line",
    [
        "def f(): ...",
        "x = 1",
        "if True: pass",
        "if TYPE_CHECKING: x = 1",
        "if not TYPE_CHECKING: f()",
        "for m in (): pass",
        "__all__.append('x')",
    ],
)
def test_code_in_the_package_itself_is_found(line: str) -> None:
    names = '"""Names."""\nfrom dshstore.store import Store\n__all__ = ["Store"]\n'
    assert find_code(names) == []
    assert len(find_code(names + line)) == 1


GOOD_SQL = {
    "table/nodes.sql": "-- One row: a node; CREATE TABLE is said here.\n"
    "CREATE TABLE nodes (a TEXT DEFAULT 'CREATE VIEW x') STRICT;\n"
    "CREATE UNIQUE INDEX nodes_a ON nodes (a);\n",
    "view/live.sql": "-- One row: a live node.\nCREATE VIEW live AS SELECT a FROM nodes;\n",
    "trigger/nodes_kept.sql": "-- A node stays.\nCREATE TRIGGER nodes_kept BEFORE DELETE ON nodes\n"
    "BEGIN\n  SELECT RAISE(ABORT, 'node-kept');\nEND;\n",
    "sidefile/index.sql": "-- A side file.\nCREATE TABLE a (b);\nCREATE TABLE c (d);\n",
    "query/read.sql": "-- What read.py runs.\n\n-- live: the live nodes\nSELECT a FROM live;\n",
}


def test_good_sql_files_have_no_faults(plant: Plant) -> None:
    tree = plant({f"sql/{name}": text for name, text in GOOD_SQL.items()} | {"pkg/read.py": ""})
    assert find_sql_faults(tree / "sql") == []
    assert find_orphan_queries(tree / "sql", tree / "pkg") == []


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("table/other.sql", GOOD_SQL["table/nodes.sql"], "should create the table other alone"),
        (
            "view/nodes.sql",
            "-- A.\nCREATE TABLE nodes (a);\n",
            "should create the view nodes alone",
        ),
        ("view/live.sql", GOOD_SQL["view/live.sql"] * 2, "should create the view live alone"),
        ("view/none.sql", "-- Nothing.\n", "should create the view none alone"),
        ("view/live.sql", "CREATE VIEW live AS SELECT 1;\n", "the first line is no comment"),
        (
            "view/live.sql",
            GOOD_SQL["view/live.sql"] + "CREATE INDEX i ON nodes (a);\n",
            "the index i belongs to nodes",
        ),
        (
            "table/nodes.sql",
            GOOD_SQL["table/nodes.sql"] + "CREATE INDEX i ON others (a);\n",
            "the index i belongs to others",
        ),
        ("query/read.sql", "-- A.\nCREATE TABLE t (a);\n", "a query file creates nothing"),
        ("loose.sql", "-- A.\n", "stands outside"),
        ("index/nodes_a.sql", "-- A.\nCREATE INDEX nodes_a ON nodes (a);\n", "stands outside"),
    ],
)
def test_a_faulty_sql_file_is_found(plant: Plant, name: str, text: str, fault: str) -> None:
    assert any(fault in found for found in find_sql_faults(plant({name: text})))


def test_a_query_file_without_its_module_is_found(plant: Plant) -> None:
    tree = plant({"query/lost.sql": "-- A.\n", "pkg/read.py": ""})
    assert find_orphan_queries(tree, tree / "pkg") == ["lost.sql"]
