"""Hypothesis profiles, and the reference data for tests that are held against it.

`HYPOTHESIS_PROFILE=campaign` makes every property test a long run.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

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
