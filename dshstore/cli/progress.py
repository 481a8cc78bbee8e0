"""How far a long import, or the making of a search index, has come.

On stderr, for a person at a terminal, gone when it is done.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

#: Seconds that a log, or an index, may take before there is a word of it.
_PATIENCE = 0.5


class ImportProgress:
    """Call it with the bytes that were read of the present log; `clear` it after each log."""

    def __init__(self, patience: float = _PATIENCE) -> None:
        self._patience = patience
        self._logs = 0
        self._since = time.monotonic()
        self._shown: tuple[Progress, TaskID] | None = None

    @staticmethod
    def wanted() -> bool:
        """Whether there is somebody to see it."""
        return sys.stderr.isatty()

    def __call__(self, read: int) -> None:
        if self._shown is None and time.monotonic() - self._since >= self._patience:
            self._shown = self._show()
        if self._shown is not None:
            progress, task = self._shown
            progress.update(task, completed=read)

    def clear(self) -> None:
        """Take the line away: the log is done, and its own line comes."""
        if self._shown is not None:
            self._shown[0].stop()
        self._shown = None
        self._logs += 1
        self._since = time.monotonic()

    def _show(self) -> tuple[Progress, TaskID]:
        from rich.console import Console
        from rich.progress import (
            DownloadColumn,
            Progress,
            SpinnerColumn,
            TimeElapsedColumn,
            TransferSpeedColumn,
        )

        progress = Progress(
            SpinnerColumn(),
            "reading log {task.fields[log]}",
            DownloadColumn(binary_units=True),
            TransferSpeedColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        progress.start()
        return progress, progress.add_task("", total=None, log=self._logs + 1)


class SearchProgress:
    """Call it with how many events were looked at, and of how many; leave it when all is done."""

    def __init__(self, patience: float = _PATIENCE) -> None:
        self._since = time.monotonic() + patience
        self._shown: tuple[Progress, TaskID] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown is not None:
            self._shown[0].stop()

    def __call__(self, done: int, total: int) -> None:
        if self._shown is None and sys.stderr.isatty() and time.monotonic() >= self._since:
            self._shown = self._show()
        if self._shown is not None:
            progress, task = self._shown
            progress.update(task, completed=done, total=total)

    def _show(self) -> tuple[Progress, TaskID]:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

        progress = Progress(
            "reading events",
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        progress.start()
        return progress, progress.add_task("", total=None)
