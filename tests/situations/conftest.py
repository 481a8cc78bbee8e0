"""Logs, folders and limits that the situations share."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dshstore import Store
from tests.logs import make_header, turns, write_log


def write_session(session_id: str, count: int = 1, version: int = 4, said: str = "hello") -> bytes:
    """The log of a session of so many turns."""
    return write_log(make_header(version, session_id), turns(count, version, said))


def check_sound(store: Store) -> None:
    """Nothing in the store is damaged."""
    assert [finding for finding in store.verify() if finding.kind == "store"] == []


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """An empty folder for logs."""
    folder = tmp_path / "logs"
    folder.mkdir()
    return folder


@pytest.fixture
def cases(shared: Path, tmp_path: Path) -> Path:
    """A copy of the folder of odd and broken logs."""
    return shutil.copytree(shared / "cases", tmp_path / "cases")
