"""A log beside what the store would give back of it: what is new in the log, or where it differs.

Bytes are compared first, so that an equal part of a log is never parsed again; line ends of CR LF
count as LF, as they do when a log is imported. Where bytes differ the events may be the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from dshstore.errors import StoreError
from dshstore.formats.dsh import rows
from dshstore.jsontext import same
from dshstore.model import Block, StoredEvent


class LogDiffers(StoreError):
    """Line `line` of the log is not what the store has in its place."""

    def __init__(self, block: Block, consumed: int) -> None:
        self.line = block.line + block.data.count(b"\n", 0, consumed)
        begins = block.data.rfind(b"\n", 0, consumed) + 1
        self.offset = block.offset + (begins if block.frame is None else 0)
        self.frame = block.frame
        super().__init__(f"line {self.line} differs from what the store has")

    def move(self, event: StoredEvent) -> None:
        """It is this event that differs; the line stays if it may be one of the event's."""
        if event.count == 1 or event.line > self.line:
            self.line, self.offset, self.frame = event.line, event.offset, event.frame


def new_blocks(stored: Iterator[bytes], blocks: Iterator[Block]) -> Iterator[Block]:
    """The blocks of the log that come after all that is stored; nothing when it has no more.

    Raises LogDiffers at the first line that differs.
    """
    have = memoryview(b"")
    for block in blocks:
        line_ends = b"\r\n" in block.data
        data = block.data.replace(b"\r\n", b"\n") if line_ends else block.data
        at = 0
        while at < len(data):
            if not have and not (have := memoryview(next(stored, b""))):
                yield _rest(block, data, at, line_ends)
                yield from blocks
                return
            size = min(len(have), len(data) - at)
            if have[:size] != data[at : at + size]:
                raise LogDiffers(block, _first_difference(have, data, at))
            have, at = have[size:], at + size


def first_other(
    here: Iterator[dict[str, Any]], events: Iterable[StoredEvent], version: int
) -> StoredEvent | None:
    """The first of a log's events that is not what the store has `here`; None without any."""
    for event in events:
        for logical in rows.logical(event, version):
            if not same(logical, next(here, None)):
                return event
    return None


def _rest(block: Block, data: bytes, at: int, line_ends: bool) -> Block:
    if not at:
        return block
    lines = data.count(b"\n", 0, at)
    before = at + lines if line_ends else at
    offset = block.offset + (before if block.frame is None else 0)
    return Block(block.data[before:], block.line + lines, offset, block.frame)


def _first_difference(have: memoryview, data: bytes, at: int) -> int:
    return next(
        (at + k for k, (a, b) in enumerate(zip(have, data[at:], strict=False)) if a != b), at
    )
