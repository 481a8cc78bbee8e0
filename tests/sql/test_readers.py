"""Every view in the tools that people open a store with, as processes of their own."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import dshstore
from tests.real_parts import require
from tests.sql.test_views import SESSION_VIEWS as VIEWS

LOGS = Path(__file__).parents[2] / "fixtures" / "logs"

Count = Callable[[Path, str], int]


def count_in_shell(path: Path, view: str) -> int:
    """How many rows the view has there, all of their columns read."""
    everything = " ".join(["SELECT * FROM", view])
    return len(json.loads(_run("sqlite3", "-readonly", "-json", str(path), everything)))


def count_in_sqlite_utils(path: Path, view: str) -> int:
    return len(json.loads(_run("sqlite-utils", "rows", str(path), view)))


def _run(program: str, *arguments: str) -> str:
    command = [require(program), *arguments]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout or "[]"


@pytest.fixture(scope="module")
def garden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("readers") / "garden.db"
    with dshstore.open(path, durability="NORMAL") as store:
        for _ in store.import_paths([LOGS]):
            pass
        with store.fork("seedlings", new_id="shared"):
            pass
        store.migrate("bean-bed", to=2)
    return path


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("count", [count_in_shell, count_in_sqlite_utils])
def test_a_view_reads_the_same_in_another_tool(garden: Path, count: Count, view: str) -> None:
    with dshstore.open(garden, mode="read") as store:
        rows = list(store.sql(" ".join(["SELECT * FROM", view]))[1])
    assert rows
    assert count(garden, view) == len(rows)
