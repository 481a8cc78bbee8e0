"""Stores that the plugins are shown: the sample logs, and one with all that is odd."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import dshstore
from tests.plugins.serving import Site, datasette
from tests.plugins.stores import write_garden, write_odd


@pytest.fixture(scope="session")
def garden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the sample logs, and a fork that copies nothing. Tests only read it."""
    return write_garden(tmp_path_factory.mktemp("garden") / "garden.db")


@pytest.fixture(scope="session")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with sessions that are odd in one way each. Tests only read it."""
    return write_odd(tmp_path_factory.mktemp("odd") / "odd.db")


@pytest.fixture(scope="session")
def site(garden: Path, odd: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A Datasette that serves both, an empty store, and a database of another program."""
    folder = tmp_path_factory.mktemp("others")
    dshstore.open(folder / "empty.db").close()
    with datasette(garden, odd, folder / "empty.db", options=("--memory",)) as running:
        yield running
