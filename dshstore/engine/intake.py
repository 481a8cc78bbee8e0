"""Logs into a store from wherever they are: files, folders, streams; one result each.

Decides whether a log is imported or salvaged, and that a bad one among many stops no other. What
is read of it is `importing`'s and `salvage`'s, where it is found `discovery`'s.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

from dshstore.db import Database
from dshstore.engine import discovery, importing, salvage, sources
from dshstore.engine.importing import ImportResult
from dshstore.engine.sources import Progress, Source
from dshstore.errors import LogRefused
from dshstore.formats.dsh.limits import Limits


class Intake:
    """What takes logs into the store: their sound part alone with `salvaging`, else all of them.

    Its methods raise LogRefused for a log that cannot be taken.
    """

    def __init__(self, database: Database, *, salvaging: bool, limits: Limits) -> None:
        self._database, self._salvaging, self._limits = database, salvaging, limits

    def take_paths(
        self,
        paths: Iterable[str | os.PathLike[str]],
        all_generations: bool,
        progress: Progress | None,
        passed_over: Callable[[str], object] | None,
    ) -> Iterator[ImportResult]:
        """Take files, and all logs below folders; a refused log is a result like the others.

        `passed_over` is told each file in a folder that has not the name of a log.
        """
        for path in paths:
            place = os.fspath(path)
            for found in discovery.find_logs(
                place, all_generations=all_generations, passed_over=passed_over
            ):
                if found.skipped or found.refused:
                    yield ImportResult(
                        path=found.path,
                        outcome="skipped" if found.skipped else "refused",
                        reason=found.skipped or found.refused,
                    )
                    continue
                try:
                    yield self.take_file(found.path, progress)
                except LogRefused as error:
                    yield importing.refused(found.path, error)

    def take_file(self, path: str, progress: Progress | None = None) -> ImportResult:
        """Take the log in a file."""
        with sources.open_log(path, progress, twice=self._salvaging) as source:
            return self._take(source, path)

    def take_stream(self, stream: BinaryIO, name: str) -> ImportResult:
        """Take the log in the rest of a stream; `name` stands in messages."""
        with sources.from_here(stream, name, twice=self._salvaging) as source:
            return self._take(source, name)

    def _take(self, source: Source, name: str) -> ImportResult:
        take = salvage.salvage_log if self._salvaging else importing.import_log
        try:
            return take(self._database, source, name, limits=self._limits)
        except LogRefused as error:
            error.path = error.path or name
            raise
