"""How far a long import, or the making of a search index, has come.

On stderr, for a person at a terminal, gone when it is done.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn, TaskID

    Columns = tuple[str | ProgressColumn, ...]

#: Seconds that a log, or an index, may take before there is a word of it.
_PATIENCE = 0.5


class ImportProgress:
    """Call it with the bytes that were read of the present log; `clear` it after each log."""

    def __init__(self, patience: float = _PATIENCE) -> None:
        self._line = _Line(patience, self._columns)
        self._logs = 0

    @staticmethod
    def wanted() -> bool:
        """Whether there is somebody to see it."""
        return sys.stderr.isatty()

    def __call__(self, read: int) -> None:
        self._line.update(read)

    def clear(self) -> None:
        """Take the line away: the log is done, and its own line comes."""
        self._line.clear()
        self._logs += 1

    def _columns(self) -> Columns:
        from rich.progress import (
            DownloadColumn,
            SpinnerColumn,
            TimeElapsedColumn,
            TransferSpeedColumn,
        )

        size = DownloadColumn(binary_units=True)
        name = f"reading log {self._logs + 1}"
        return (SpinnerColumn(), name, size, TransferSpeedColumn(), TimeElapsedColumn())


class SearchProgress:
    """Call it with how many events were looked at, and of how many; leave it when all is done."""

    def __init__(self, patience: float = _PATIENCE) -> None:
        self._line = _Line(patience, self._columns)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._line.clear()

    def __call__(self, done: int, total: int) -> None:
        if sys.stderr.isatty():
            self._line.update(done, total)

    @staticmethod
    def _columns() -> Columns:
        from rich.progress import BarColumn, MofNCompleteColumn, TimeRemainingColumn

        return ("reading events", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())


class _Line:
    """A line on stderr of something that takes more than `patience` seconds, until it is cleared.

    `columns` says what is in it, when it comes to that.
    """

    def __init__(self, patience: float, columns: Callable[[], Columns]) -> None:
        self._patience = patience
        self._columns = columns
        self._since = time.monotonic()
        self._shown: tuple[Progress, TaskID] | None = None

    def update(self, completed: int, total: int | None = None) -> None:
        if self._shown is None and time.monotonic() - self._since >= self._patience:
            self._shown = self._show()
        if self._shown is not None:
            progress, task = self._shown
            progress.update(task, completed=completed, total=total)

    def clear(self) -> None:
        """Take it away, and be patient again."""
        if self._shown is not None:
            self._shown[0].stop()
        self._shown = None
        self._since = time.monotonic()

    def _show(self) -> tuple[Progress, TaskID]:
        from rich.console import Console
        from rich.progress import Progress

        progress = Progress(
            *self._columns(),
            console=Console(stderr=True),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        progress.start()
        return progress, progress.add_task("", total=None)
