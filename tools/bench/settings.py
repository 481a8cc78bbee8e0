"""How much is measured: the sizes of the three modes, and the folders in which it happens."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

import dshstore
from bench.clock import Progress, check
from bench.logs import SESSION, Log, make_log


class Mode(NamedTuple):
    """Sizes in events, and how often the sides take turns.

    `surfaces` are the sizes of surfaces in messages, `calls` how many calls of microseconds are
    made in a turn. Other libraries are given `patience` seconds to append `histories` of so many
    messages.
    """

    name: str
    chunk: int
    settled: int
    surfaces: tuple[int, int, int]
    rounds: int
    calls: int
    replaces: int
    histories: tuple[int, ...]
    patience: float
    peer_rounds: int


MODES = {
    mode.name: mode
    for mode in (
        Mode(
            "tiny",
            chunk=2_000,
            settled=700,
            surfaces=(50, 100, 200),
            rounds=1,
            calls=20,
            replaces=5,
            histories=(10, 20),
            patience=5,
            peer_rounds=1,
        ),
        Mode(
            "quick",
            chunk=100_000,
            settled=10_000,
            surfaces=(1_000, 10_000, 100_000),
            rounds=5,
            calls=100,
            replaces=50,
            histories=(1_000, 10_000),
            patience=15,
            peer_rounds=3,
        ),
        Mode(
            "full",
            chunk=1_000_000,
            settled=100_000,
            surfaces=(1_000, 10_000, 100_000),
            rounds=5,
            calls=100,
            replaces=50,
            histories=(1_000, 10_000, 100_000),
            patience=60,
            peer_rounds=1,
        ),
    )
}


class Setting:
    """A mode, the folder that keeps logs from run to run, and one that goes away after the run."""

    def __init__(self, mode: Mode, logs: Path, stores: Path) -> None:
        self.mode, self._logs, self.stores = mode, logs, stores
        self.say = Progress()
        self._imported: dict[Path, Path] = {}
        self._count = 0

    def log(self, kind: str, events: int) -> Log:
        return make_log(kind, events, self._logs)

    @property
    def chunk(self) -> Log:
        return self.log("chunk", self.mode.chunk)

    @property
    def settled(self) -> Log:
        return self.log("settled", self.mode.settled)

    def fresh(self, suffix: str = ".db") -> Path:
        """The path of a file that is not there."""
        self._count += 1
        return self.stores / f"{self._count}{suffix}"

    def imported(self, log: Log) -> Path:
        """A store that holds this log; to read only."""
        if log.path not in self._imported:
            path = self.fresh()
            with dshstore.open(path) as store:
                check(store.import_log(log.path).events, log.events, "events imported")
            self._imported[log.path] = path
        return self._imported[log.path]

    def copied(self, log: Log) -> Path:
        """A store of one's own that holds this log."""
        return Path(shutil.copyfile(self.imported(log), self.fresh()))

    def empty(self) -> Path:
        """An empty store."""
        path = self.fresh()
        dshstore.open(path).close()
        return path


def remove(store: Path) -> None:
    """Remove an SQLite file and what stands beside it."""
    for suffix in ("", "-wal", "-shm"):
        Path(f"{store}{suffix}").unlink(missing_ok=True)


__all__ = ["MODES", "SESSION", "Mode", "Setting", "remove"]
