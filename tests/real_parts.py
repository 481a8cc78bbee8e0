"""Finds the real programs that tests hold a store against, such as the `sqlite3` shell.

A missing program skips the test, unless DSHSTORE_REQUIRE_REAL is set, as it is in CI: there
nothing may be left out unnoticed, so it fails.
"""

from __future__ import annotations

import os
import shutil
import sysconfig

import pytest

REQUIRE_REAL = "DSHSTORE_REQUIRE_REAL"


def require(name: str) -> str:
    """The path of program `name`: of this environment, else of PATH. Skips or fails without it."""
    search = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    found = shutil.which(name, path=search)
    if found is not None:
        return found
    reason = f"the program {name!r} is not installed"
    if os.environ.get(REQUIRE_REAL):
        pytest.fail(f"{reason}, and {REQUIRE_REAL} is set")
    pytest.skip(reason)
