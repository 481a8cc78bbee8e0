"""Hypothesis profiles, an empty store, and the reference data that tests are held against.

`HYPOTHESIS_PROFILE=campaign` makes every property test a long run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import dshstore
from dshstore import Store

settings.register_profile(
    "default",
    max_examples=40,
    deadline=None,  # what a machine is busy with is no fault of a test
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("campaign", settings.get_profile("default"), max_examples=5000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference data beside the checkout; tests that need it are skipped without."""
    folder = Path(__file__).parents[1] / ".." / "shared"
    if not folder.is_dir():
        pytest.skip(f"no reference data at {folder}")
    return folder.resolve()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store."""
    with dshstore.open(tmp_path / "store.db", durability="NORMAL") as opened:
        yield opened
