"""Finds the real programs and packages that tests hold a store against: the `sqlite3` shell, say.

A missing one skips the test, unless DSHSTORE_REQUIRE_REAL is set, as it is in CI: there nothing
may be left out unnoticed, so it fails.
"""

from __future__ import annotations

import os
import shutil
import sysconfig
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import pytest

REQUIRE_REAL = "DSHSTORE_REQUIRE_REAL"

#: Where `npm ci` puts the packages of Node.js.
NODE = Path(__file__).parent / "node"


def require(name: str) -> str:
    """The path of program `name`: of this environment, else of PATH. Skips or fails without it."""
    search = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    found = shutil.which(name, path=search)
    if found is None:
        _do_without(f"the program {name!r} is not installed")
    return found


def require_package(name: str) -> None:
    """Skips or fails where the Python package `name` is not installed; it is not imported."""
    if find_spec(name) is None:
        _do_without(f"the Python package {name!r} is not installed")


def require_node_package(name: str, built: str = "package.json") -> None:
    """Skips or fails without the npm package `name` and its file `built` in the folder NODE."""
    if not (NODE / "node_modules" / name / built).is_file():
        _do_without(f"the npm package {name!r} is not installed in tests/node ({built})")


def _do_without(reason: str) -> NoReturn:
    if os.environ.get(REQUIRE_REAL):
        pytest.fail(f"{reason}, and {REQUIRE_REAL} is set")
    pytest.skip(reason)
