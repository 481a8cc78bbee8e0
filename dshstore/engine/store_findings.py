"""Damage outside the events of any one session: the file, references, quarantine, headers, parts.

What SQLite can find by itself it is asked for; the rest needs no event to be read.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import msgspec

from dshstore.db import Database
from dshstore.engine.findings import Fault, Finding, make_finding
from dshstore.engine.read import SessionRow
from dshstore.errors import LogRefused
from dshstore.formats.dsh import header as headers
from dshstore.jsontext import JsonError, parse, same
from dshstore.model import MAX_SAFE, Header
from dshstore.sqlfiles import Statement


class FileStatements(msgspec.Struct, frozen=True):
    """The statements that look at the whole file."""

    integrity: Statement
    broken_references: Statement
    lost_streams: Statement
    broken_pieces: Statement


class Part(msgspec.Struct, frozen=True):
    """A row of `segments`; `there` says whether its owner is a session."""

    first: int
    last: int
    owner: int
    there: bool = True


def check_file(database: Database, sql: FileStatements) -> Iterator[Finding]:
    """What is wrong with the file as a whole, and with rows that belong to no session."""
    for (said,) in database.query(sql.integrity):
        if said != "ok":
            yield make_finding(Fault(None, "file-damaged", str(said)))
    for table, row, parent in database.query(sql.broken_references):
        detail = f"row {row} of {table} refers to a row of {parent} that is not there"
        yield make_finding(Fault(None, "reference-broken", detail))
    for session, session_id, seq in database.query(sql.lost_streams):
        detail = f"a stream of session number {session}, but no event"
        yield make_finding(Fault(seq, "stream-orphaned", detail), session_id)
    for piece, session_id, source, kind, size, length in database.query(sql.broken_pieces):
        there = f"{kind!r}, {length} of {size} bytes are there" if source else "it has no import"
        fault = Fault(None, "quarantine-broken", f"piece {piece}: {there}")
        yield make_finding(fault, session_id)


def check_header(session: SessionRow) -> tuple[Header | None, list[Fault]]:
    """The header of a session, if it can be read, and what is wrong with it."""
    try:
        if not isinstance(parse(session.header), dict):
            return None, [_header("it is not a JSON object")]
        text = parse(session.header)
    except JsonError as error:
        return None, [_header(f"it cannot be read: {error}")]
    try:
        header = headers.read(session.header_line)
    except LogRefused as error:
        if session.header_raw is not None:
            return None, [_header(f"its line cannot be read: {error.reason}")]
        return None, [Fault(None, "header-invalid", error.reason)]
    told = (header.session_id, header.version)
    if told != (session.session_id, session.format_version):
        return header, [_header(f"it is that of session {told[0]!r}, format {told[1]}")]
    if not same(parse(header.text), text):
        return header, [_header("its line and its column differ")]
    return header, []


def check_parts(session: SessionRow, parts: list[Part], shared: list[Part]) -> Fault | None:
    """What is wrong with the parts of a session's log; `shared` are those of its parent's."""
    if (session.forked_from is None) != (session.forked_at is None):
        return _parts(f"it was forked at {session.forked_at} from {session.forked_from}")
    own = Part(0 if session.forked_at is None else session.forked_at + 1, MAX_SAFE, session.key)
    if lost := [part.owner for part in parts if not part.there]:
        return _parts(f"session number {lost[0]} is not there")
    if not parts or parts[0].first != 0 or parts[-1] != own:
        return _parts("they do not lead from the first event to the session's own")
    for before, after in pairwise(parts):
        if after.first != before.last + 1:
            return _parts(f"after event {before.last} comes event {after.first}")
    if parts[:-1] != shared:
        return _parts("the shared ones are not those of its parent")
    return None


def _header(detail: str) -> Fault:
    return Fault(None, "header-mismatch", detail)


def _parts(detail: str) -> Fault:
    return Fault(None, "segments-broken", detail)
