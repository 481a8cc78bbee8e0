"""A fork's log whose parent is in the store: how much of it is there already.

Decides what such a log may share with its parent: the lines up to its cut, if they are the
parent's, byte for byte. Anything else about the log is for `importing`. Format notes v0, section
4.5; v0-v4, section 3.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from dshstore.db import Database
from dshstore.engine import read
from dshstore.formats.dsh import rows
from dshstore.jsontext import JsonError, parse
from dshstore.model import Block, Header


class Shared(NamedTuple):
    """The first `events` of a log, on `lines` lines below its header, are those of `parent`."""

    parent: read.SessionRow
    events: int
    lines: int


def find_parent(database: Database, header: Header) -> read.SessionRow | None:
    """The session that a log was forked from, if it is here in the same format version."""
    if header.parent_session is None or not header.seeded:
        return None
    found = read.generations(database, header.parent_session)
    return next((row for row in found if row.format_version == header.version), None)


def find_shared(
    database: Database, parent: read.SessionRow, header: Header, blocks: Iterable[Block]
) -> Shared | None:
    """What the log, whose events stand in `blocks`, shares with its parent; None for nothing."""
    cut = parent.next_seq if header.version >= 2 else header.seed_length or 0
    if not 0 < cut <= parent.next_seq:
        return None
    ours = _lines(block.data for block in blocks)
    common = 0
    for theirs in _lines(_pieces(database, parent, cut)):
        following = next(ours, None)
        if following != theirs:
            break
        common += 1
    else:
        if header.version < 2:
            return Shared(parent, cut, common)
        following = next(ours, None)
    # in later formats each line is an event, and a fork's own events begin with the mark
    marked = header.version >= 2 and common > 0 and following is not None and _marks_cut(following)
    return Shared(parent, common, common) if marked else None


def _pieces(database: Database, session: read.SessionRow, events: int) -> Iterator[bytes]:
    for stored in read.stored_events(database, session, last=events - 1):
        yield rows.log_lines(stored, session.format_version)


def drop_lines(
    blocks: Iterator[Block], count: int, dropped: Callable[[bytes, int | None], None]
) -> Iterator[Block]:
    """The blocks without their first `count` lines, which are handed to `dropped`."""
    for block in blocks:
        size = 0
        while count and size < len(block.data):
            size = block.data.index(b"\n", size) + 1
            count -= 1
        if not size:
            yield block
            continue
        dropped(block.data[:size], block.frame)
        if size < len(block.data):
            line = block.line + block.data.count(b"\n", 0, size)
            offset = block.offset + (size if block.frame is None else 0)
            yield Block(block.data[size:], line, offset, block.frame)


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        yield from piece.split(b"\n")[:-1]


def _marks_cut(line: bytes) -> bool:
    try:
        event = parse(line)
    except JsonError:
        return False
    return (
        isinstance(event, dict)
        and event.get("type") == "session/end-seed"
        and event.get("data") == {"inherited": True}
    )
