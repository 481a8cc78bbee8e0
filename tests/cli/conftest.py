"""Stores with the sample logs, and a terminal of a known width."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import dshstore
from tests.stores import SAMPLES, take_samples


@pytest.fixture(scope="session")
def logs() -> Path:
    """The folder of the sample logs."""
    return SAMPLES


@pytest.fixture
def terminal_of_60(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever terminal the tests run in, commands see one of 60 columns."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")


@pytest.fixture(scope="session")
def garden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with all sample logs. Only for commands that read: all tests share it."""
    path = tmp_path_factory.mktemp("garden") / "garden.db"
    with dshstore.open(path) as store:
        take_samples(store)
    return path


@pytest.fixture
def own_garden(garden: Path, tmp_path: Path) -> Path:
    """A store with all sample logs, for a test that writes."""
    return Path(shutil.copy(garden, tmp_path / "garden.db"))
