"""The package itself: where its names are found, and that none is loaded before it is asked for."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import dshstore
from tests.loading import loaded_by


def names_for_type_checkers() -> dict[str, str]:
    """The imports under `if TYPE_CHECKING`, in the words of the table."""
    found = {}
    for block in ast.parse(Path(dshstore.__file__).read_text(encoding="utf-8")).body:
        match block:
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), body=imports):
                for node in imports:
                    assert isinstance(node, ast.ImportFrom)
                    module = str(node.module).removeprefix("dshstore").removeprefix(".")
                    for alias in node.names:
                        home = f"{module}:{alias.name}" if module else alias.name
                        found[alias.asname or alias.name] = home
    return found


def test_a_name_is_found_where_type_checkers_find_it() -> None:
    assert names_for_type_checkers() == dshstore._HOMES


@pytest.mark.parametrize("name", dshstore.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(dshstore, name) is getattr(dshstore, name)
    assert name in dir(dshstore)


def test_all_names_can_be_imported_at_once() -> None:
    names: dict[str, object] = {}
    exec("from dshstore import *", names)
    assert set(dshstore.__all__) <= set(names)


def test_another_name_is_not_there() -> None:
    with pytest.raises(AttributeError, match="module 'dshstore' has no attribute 'sores'"):
        _ = dshstore.sores  # type: ignore[attr-defined]
    with pytest.raises(ImportError, match="cannot import name 'sores'"):
        from dshstore import sores  # type: ignore[attr-defined]  # noqa: F401


def test_importing_the_package_loads_its_errors_alone() -> None:
    loaded = loaded_by("import dshstore")
    assert {name for name in loaded if name.startswith("dshstore")} == {
        "dshstore",
        "dshstore.errors",
    }
    assert not loaded & {"apsw", "click", "msgspec", "rich", "zstandard"}
