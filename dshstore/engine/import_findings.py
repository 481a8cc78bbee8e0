"""What was put on record of an imported log against what the store would give back of it now."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dshstore.engine.findings import Fault
from dshstore.formats.dsh import rows
from dshstore.model import StoredEvent


class ImportRecord(NamedTuple):
    """Of a row of `imports`: at the end of so many lines the log had so many events."""

    id: int
    lines: int
    events: int
    content_sha256: str | None


class ImportCheck:
    """Takes a session's rows in order; `records` stand in the order of their `events`."""

    def __init__(self, header_line: bytes, version: int, records: Iterable[ImportRecord]) -> None:
        self._version = version
        self._records = list(records)[::-1]
        self._lines = 1
        self._hash = hashlib.sha256(header_line + b"\n")

    @property
    def is_done(self) -> bool:
        """Whether no record is left to compare with."""
        return not self._records

    def push(self, stored: StoredEvent) -> Iterator[Fault]:
        """Take the next row. Raises what reading a damaged row raises."""
        while self._records and self._records[-1].events < stored.seq + stored.count:
            record = self._records.pop()
            part = b""
            if record.events > stored.seq:  # the log was torn within a run
                clipped = rows.clip(stored, record.events - stored.seq, self._version)
                part = rows.log_lines(clipped, self._version)
            yield from self._compare(record, part)
        if self._records:
            lines = rows.log_lines(stored, self._version)
            self._hash.update(lines)
            self._lines += lines.count(b"\n")

    def finish(self, count: int) -> Iterator[Fault]:
        """The log ends after `count` events."""
        for record in reversed(self._records):
            if record.events > count:
                yield _mismatch(record, f"it counted {record.events} events, here are {count}")
            else:
                yield from self._compare(record)

    def lose(self) -> None:
        """A row cannot be read: nothing can be said of what comes after it."""
        self._records.clear()

    def _compare(self, record: ImportRecord, more: bytes = b"") -> Iterator[Fault]:
        """Compare a record with the lines so far, and some more."""
        lines = self._lines + more.count(b"\n")
        if lines != record.lines:
            yield _mismatch(record, f"it counted {record.lines} lines, here are {lines}")
        elif record.content_sha256 is not None:
            content = self._hash.copy()
            content.update(more)
            if content.hexdigest() != record.content_sha256:
                events = record.events
                yield _mismatch(record, f"the log was not what the first {events} events give back")


def _mismatch(record: ImportRecord, detail: str) -> Fault:
    return Fault(None, "import-mismatch", f"import {record.id}: {detail}")
