"""What is put on record of a reading: how far it got, and from where a later one can go on.

Decides where that place is: a line end (in a zstd log, the end of a frame too) up to which the
number of events is known. What a log holds, and whether it may enter, is for others.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable

import msgspec

from dshstore.engine.append import Item
from dshstore.formats.dsh.frames import LogReader, Start
from dshstore.sqlfiles import Statement, load

#: Before anything of a log.
BEGIN = Start(0, 0, 0, hashlib.sha256().hexdigest())


class _Statements(msgspec.Struct, frozen=True):
    insert_import: Statement


_SQL = load("recording", _Statements)


class Mark:
    """The furthest place from which a log can be read on, and the events of the session there."""

    def __init__(self, reader: LogReader, start: Start = BEGIN, events: int = 0) -> None:
        self.start, self.events = start, events
        #: The hash of the lines up to there as the store gives them back; None when not known.
        self.content: str | None = None
        self._reader = reader
        self._lines = hashlib.sha256()

    def pass_over(self, lines: bytes, frame: int | None) -> None:
        """Take in the lines that come next."""
        if frame is not None:  # those of a plain log are what the reader hashes
            self._lines.update(lines)

    def move(self, lines: int, events: int) -> None:
        """Behind so many lines, which hold so many events, if the log can be read on from there."""
        start = self._reader.kept
        if start.lines != lines:
            return
        self.start, self.events = start, events
        if self._reader.respelled:
            self.content = None
        elif self._reader.encoding == "plain":
            self.content = start.sha256
        else:
            self.content = self._lines.hexdigest()


def record_import(
    session: int | None, reader: LogReader, mark: Mark | None, notes: Iterable[str]
) -> Item:
    """The item that puts a reading on record; without a `mark` no later one goes on from it."""
    start = mark.start if mark else BEGIN
    return _SQL.insert_import, {
        "session": session,
        "path": source_name(reader.name),
        "encoding": reader.encoding,
        "size": reader.size,
        "sha256": reader.sha256,
        "kept_size": start.offset,
        "kept_sha256": start.sha256,
        "lines": start.lines,
        "frames": start.frames,
        "events": mark.events if mark else 0,
        "content_sha256": mark.content if mark else None,
        "notes": msgspec.json.encode(list(notes)).decode(),
        "imported_at": time.time_ns() // 1_000_000,
    }


def source_name(path: str) -> str:
    """The path as a column can hold it: a name need not be UTF-8."""
    return path.encode("utf-8", "backslashreplace").decode()
