"""Stores for tests: empty ones, and what the sample logs are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import dshstore
from dshstore import Store

#: The folder of the sample logs.
SAMPLES = Path(__file__).parents[1] / "fixtures" / "logs"


def take_samples(store: Store) -> None:
    """Import the sample logs."""
    assert {result.outcome for result in store.import_paths([SAMPLES])} == {"imported"}


@contextmanager
def new_store() -> Iterator[Store]:
    """An empty store for as long as it is in use: a property test needs one for each example."""
    with (
        TemporaryDirectory() as folder,
        dshstore.open(Path(folder) / "store.db", durability="NORMAL") as store,
    ):
        yield store
