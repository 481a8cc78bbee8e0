"""Holds the package to its layers: the imports of every module, wherever in it they stand."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.conftest import Plant

PACKAGE = Path(__file__).parents[2] / "dshstore"

#: The design's rows, top to bottom and left to right: a module imports only from rows above its
#: own, or from the left within its row. A new module is added here, at its place.
ROWS: tuple[tuple[str, ...], ...] = (
    ("errors", "model"),
    (
        "jsontext",
        "sqlfiles",
        "db.refusals",
        "db.guarding",
        "db.ownfiles",
        "db.connecting",
        "db.asking",
        "db.database",
        "db",
        "streams.records",
        "streams.assembly",
        "streams.summary",
        "streams",
        "formats.dsh.vocabulary",
        "formats.dsh.legacy",
        "formats.dsh.header",
        "formats.dsh.limits",
        "formats.dsh.zstd",
        "formats.dsh.frames",
        "formats.dsh.envelope",
        "formats.dsh.fragments",
        "formats.dsh.references",
        "formats.dsh.cutting",
        "formats.dsh.chunkruns",
        "formats.dsh.plainrows",
        "formats.dsh.columns",
        "formats.dsh.rows",
        "formats.dsh.direct",
        "formats.dsh.shapes",
    ),
    ("schema",),
    (
        "engine.choosing",
        "engine.payload",
        "engine.surface",
        "engine.derive",
        "engine.append",
        "engine.read",
        "engine.exporting",
        "engine.discovery",
        "engine.comparing",
        "engine.sharing",
        "engine.branching",
        "engine.recording",
        "engine.sources",
        "engine.scanning",
        "engine.survey",
        "engine.importing",
        "engine.salvage",
        "engine.intake",
        "engine.repair",
        "engine.resuming",
        "engine.findings",
        "engine.row_findings",
        "engine.surface_findings",
        "engine.import_findings",
        "engine.store_findings",
        "engine.bracket_findings",
        "engine.log_findings",
        "engine.verify",
        "engine.why",
        "engine.transcript",
        "engine.fork",
        "engine.requesting",
        "engine.overview",
        "engine.migration.shapes",
        "engine.migration.messages",
        "engine.migration.nested",
        "engine.migration.payloads",
        "engine.migration.references",
        "engine.migration.chunks",
        "engine.migration.brackets",
        "engine.migration.relationships",
        "engine.migration.v0_to_v1",
        "engine.migration.source",
        "engine.migration.v1_to_v2",
        "engine.migration.pipeline",
        "engine.migration.settlements",
        "engine.migrate",
        "engine.timing",
        "engine.searching.terms",
        "engine.searching.queries",
        "engine.searching.texts",
        "engine.searching.sidefile",
        "engine.searching.snippets",
        "engine.search",
    ),
    (
        "lossless",
        "writer",
        "session",
        "borrowed",
        "committing",
        "appending",
        "turns",
        "attempt",
        "live",
        "store",
        "charts.palette",
        "charts.svg",
        "charts.context",
        "charts.story",
        "charts.thinning",
        "charts.drawing",
        "charts",
        "parquet.views",
        "parquet.writing",
        "parquet",
        "reports",
        "shell",
    ),
)

#: The last row: `dshstore` itself, which holds names only, and what is built upon those names.
PUBLIC = (
    "dshstore",
    "dshstore.borrowed",
    "dshstore.charts",
    "dshstore.errors",
    "dshstore.parquet",
    "dshstore.reports",
    "dshstore.shell",
    "dshstore.streams",
)
OUTSIDE = ("dshstore.adapters", "dshstore.plugins", "dshstore.cli", "dshstore.__main__")

#: Folders of the rows above: their `__init__` says what they are and imports nothing.
FOLDERS = (
    "dshstore.formats",
    "dshstore.formats.dsh",
    "dshstore.engine",
    "dshstore.engine.migration",
    "dshstore.engine.searching",
)

PLACES = {
    f"dshstore.{name}": (row, column)
    for row, names in enumerate(ROWS)
    for column, name in enumerate(names)
}


def find_modules(package: Path) -> dict[str, Path]:
    """Every module under `package` by its dotted name; a folder's name is its `__init__`."""
    modules = {}
    for path in sorted(package.rglob("*.py")):
        parts = (package.name, *path.relative_to(package).with_suffix("").parts)
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules


def find_imports(name: str, path: Path, modules: dict[str, Path]) -> Iterator[tuple[int, str]]:
    """The modules of the package that module `name` imports, each with its line.

    Looks into functions, classes and `if TYPE_CHECKING`, at relative imports, and at
    `import_module` and `__import__` of a literal name.
    """
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    yield node.lineno, alias.name
            case ast.ImportFrom(module=module, names=names, level=level):
                parts = package.split(".")[: len(package.split(".")) - level + 1] if level else []
                origin = ".".join([*parts, *([module] if module else [])])
                for alias in names:
                    inner = f"{origin}.{alias.name}"
                    yield node.lineno, inner if inner in modules else origin
            case ast.Call(func=func, args=[ast.Constant(value=str(target)), *_]):
                called = getattr(func, "attr", getattr(func, "id", None))
                if called in ("import_module", "__import__"):
                    yield node.lineno, target
            case _:
                pass


def outer_part(name: str) -> str | None:
    """The part of the last row that a module belongs to: `dshstore.cli` for `dshstore.cli.show`."""
    return next((p for p in OUTSIDE if name == p or name.startswith(f"{p}.")), None)


def fault_of(name: str, target: str) -> str | None:
    """Why module `name` may not import module `target` of the package; None if it may."""
    part, target_part = outer_part(name), outer_part(target)
    if part is not None:
        allowed = (
            target in PUBLIC
            or target_part == part
            or (part, target_part) == ("dshstore.__main__", "dshstore.cli")
        )
        return None if allowed else f"may import {', '.join(PUBLIC)} and its own folder only"
    if name in FOLDERS:
        return "the __init__ of a folder imports nothing"
    if name == "dshstore":
        return None if target_part is None else "the names are below what is built upon them"
    here, there = PLACES.get(name), PLACES.get(target)
    if here is None:
        return None  # its missing place is a fault of its own
    if there is None:
        return "it has no place in ROWS, or is further down"
    if there > here:
        return "it stands further down, or further right in the same row"
    return None


def find_faults(package: Path) -> list[str]:
    modules = find_modules(package)
    faults = [
        f"{name}: has no place yet: add it to ROWS in tests/architecture/test_layers.py"
        for name in modules
        if name not in PLACES
        and name not in FOLDERS
        and name != "dshstore"
        and outer_part(name) is None
    ]
    for name, path in modules.items():
        for line, target in dict.fromkeys(find_imports(name, path, modules)):
            if target == "dshstore" or target.startswith("dshstore."):
                reason = fault_of(name, target)
                if reason:
                    faults.append(f"{name}, line {line}: imports {target}: {reason}")
    return faults


def test_every_module_imports_only_from_above_or_from_the_left() -> None:
    faults = find_faults(PACKAGE)
    assert faults == [], "\n".join(faults)


#: A package that keeps every rule; each case below adds one line to it.
LEGAL = {
    "dshstore/__init__.py": "from dshstore.store import Store\n",
    "dshstore/__main__.py": "from dshstore.cli import main\n",
    "dshstore/errors.py": "import json\n",
    "dshstore/model.py": "from dshstore.errors import StoreError\n",
    "dshstore/jsontext.py": "",
    "dshstore/db.py": "import apsw\nfrom . import errors, jsontext\n",
    "dshstore/streams.py": "",
    "dshstore/formats/__init__.py": "",
    "dshstore/formats/dsh/__init__.py": "from __future__ import annotations\n",
    "dshstore/formats/dsh/header.py": "from ...model import Header\n",
    "dshstore/formats/dsh/rows.py": "from dshstore.formats.dsh import header\n",
    "dshstore/schema.py": "from dshstore.db import Connection\n",
    "dshstore/engine/__init__.py": "",
    "dshstore/engine/surface.py": "from dshstore.formats.dsh import rows\n",
    "dshstore/engine/append.py": "from .surface import fold\n",
    "dshstore/store.py": "def open():\n    from dshstore.engine import append\n",
    "dshstore/cli/__init__.py": "from dshstore import Store\nfrom dshstore.cli import words\n",
    "dshstore/cli/words.py": "import dshstore.streams\nfrom dshstore.errors import StoreError\n",
    "dshstore/adapters/__init__.py": "",
}


def test_a_package_that_keeps_to_the_rows_has_no_faults(plant: Plant) -> None:
    assert find_faults(plant(LEGAL) / "dshstore") == []


@pytest.mark.parametrize(
    ("file", "source", "fault"),
    [
        ("errors.py", "import dshstore.model", "further right"),
        ("jsontext.py", "from dshstore import db", "further right"),
        ("db.py", "from dshstore.schema import create", "further down"),
        ("db.py", "def f():\n    from dshstore import schema", "further down"),
        ("db.py", "if TYPE_CHECKING:\n    from dshstore.store import Store", "further down"),
        ("db.py", "from . import store", "further down"),
        ("db.py", "import_module('dshstore.store')", "further down"),
        ("db.py", "importlib.import_module('dshstore.store')", "further down"),
        ("db.py", "__import__('dshstore.store')", "further down"),
        ("schema.py", "import dshstore", "no place in ROWS"),
        ("schema.py", "from dshstore import Store", "no place in ROWS"),
        ("schema.py", "from dshstore.cli import main", "no place in ROWS"),
        ("formats/dsh/header.py", "from .rows import read", "further right"),
        ("engine/surface.py", "from dshstore.engine import append", "further right"),
        ("engine/__init__.py", "from dshstore.engine import append", "imports nothing"),
        ("formats/dsh/__init__.py", "from .rows import read", "imports nothing"),
        ("__init__.py", "from dshstore.cli import main", "built upon them"),
        ("cli/words.py", "from dshstore.store import Store", "its own folder only"),
        ("cli/words.py", "from dshstore import engine", "its own folder only"),
        ("cli/words.py", "from ..adapters import acp", "its own folder only"),
        ("adapters/__init__.py", "from dshstore import cli", "its own folder only"),
        ("__main__.py", "import dshstore.db", "its own folder only"),
        ("streams2.py", "", "add it to ROWS"),
        ("engine/tidy.py", "", "add it to ROWS"),
    ],
)
def test_an_import_against_the_rows_is_found(
    plant: Plant, file: str, source: str, fault: str
) -> None:
    path = f"dshstore/{file}"
    tree = plant(LEGAL | {path: f"{LEGAL.get(path, '')}{source}\n"})
    [found] = find_faults(tree / "dshstore")
    assert fault in found
