"""Broken logs in: the sound part becomes the session, all the rest goes to quarantine, raw.

What is sound is for `survey` and the store's triggers to say. A log that is here already extends
its session if its sound part agrees with it, and sets aside what is not there yet; so a second
salvage of the same log changes nothing. A log without a header makes no session. All that comes
of one log comes in one transaction.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import chain

import msgspec

from dshstore.db import Database
from dshstore.engine import append, comparing, exporting, importing, read
from dshstore.engine.importing import ImportResult, Outcome, Overtaken
from dshstore.engine.recording import record_import, source_name
from dshstore.engine.scanning import Piece
from dshstore.engine.sources import Rewindable
from dshstore.engine.survey import Survey
from dshstore.errors import LogRefused, UnsupportedFormat
from dshstore.formats.dsh import rows
from dshstore.formats.dsh.limits import DEFAULT_LIMITS, Limits
from dshstore.model import Block, Header
from dshstore.sqlfiles import Statement, load

#: Pieces of one page of a listing.
_PAGE = 256


class QuarantinedPiece(msgspec.Struct, frozen=True, kw_only=True):
    """Something that a salvage set aside: one line of `quarantine --json`.

    `kind`: a record reads whole, debris does not, padding is NUL bytes. `branch` numbers the
    continuations of a log that has several. `line` counts from 1 with the header, `frame` from 0,
    `offset` is the byte of the piece in a plain log and of the frame in a zstd one; None where
    they do not apply, as is the session of a log without a header.
    """

    id: int
    path: str
    session_id: str | None
    format_version: int | None
    kind: str
    branch: int | None
    seq: int | None
    line: int | None
    frame: int | None
    offset: int
    size: int
    reason: str


class _Statements(msgspec.Struct, frozen=True):
    last_import: Statement
    insert_piece: Statement
    pieces_of_last_import: Statement
    page: Statement
    page_of_session: Statement
    raw: Statement


_SQL = load("salvage", _Statements)


class _NothingNew(Exception):
    """All that came of the log is in the store already."""


def salvage_log(
    database: Database, stream: Rewindable, path: str, *, limits: Limits = DEFAULT_LIMITS
) -> ImportResult:
    """Import what can be imported of a log, and set the rest aside; `stream` must be seekable.

    A clean log is imported as usual. Raises LogRefused for a log of which nothing can be kept,
    that differs from its session in the store, is of a newer format or over a limit.
    """
    try:
        return importing.import_whole(database, stream, path, limits=limits, torn=False)
    except (importing.LogConflicts, UnsupportedFormat):
        raise
    except LogRefused as error:
        refusal = error
    for _ in range(importing.ATTEMPTS):
        with suppress(Overtaken):
            return _Salvage(database, stream, path, limits, refusal).run()
    raise LogRefused(importing.OVERTAKEN)


def quarantine(
    database: Database, session: read.SessionRow | None = None
) -> Iterator[QuarantinedPiece]:
    """What was set aside, of all logs or those of one session, in the order of the logs."""
    last = 0
    while True:
        page = {"after": last, "page": _PAGE}
        found = (
            database.query(_SQL.page, page)
            if session is None
            else database.query(_SQL.page_of_session, {"session": session.key, **page})
        )
        for row in found:
            fields = QuarantinedPiece.__struct_fields__
            yield QuarantinedPiece(**dict(zip(fields, row, strict=True)))
        if len(found) < _PAGE:
            return
        last = found[-1][0]


def quarantined_bytes(database: Database, piece: int) -> bytes:
    """The bytes of a piece, by its id, as they stood in the log. Raises KeyError."""
    found = database.query(_SQL.raw, {"id": piece})
    if not found:
        raise KeyError(piece)
    raw, size = found[0]
    return bytes(size) if raw is None else bytes(raw)


class _Salvage:
    """One attempt to salvage a log that was refused."""

    def __init__(
        self,
        database: Database,
        stream: Rewindable,
        path: str,
        limits: Limits,
        refusal: LogRefused,
    ) -> None:
        self._database, self._path, self._refusal = database, path, refusal
        self._survey = Survey(stream, path, limits)

    def run(self) -> ImportResult:
        header, survey = self._survey.header, self._survey
        if header is None and not survey.set_aside:
            raise self._refusal
        while True:
            present = importing.generation(self._database, header) if header else None
            try:
                return self._write(header, present)
            except importing.LogBreaksRule as error:
                survey.end_before(error.seq, error.reason)
            except comparing.LogDiffers as error:
                assert present is not None
                raise importing.conflict(present.session_id, error) from error

    def _write(self, header: Header | None, present: read.SessionRow | None) -> ImportResult:
        notes = self._notes(header)
        decoder = rows.RowDecoder(
            header.version if header else 0, next_seq=present.next_seq if present else 0
        )
        batches = append.Batches(decoder.decode(self._new_blocks(header, present)))

        def items() -> Iterator[append.Item]:
            key = present.key if present else append.next_key(self._database) if header else None
            if key is not None and header and not present:
                yield append.new_session(key, header)
            mark = self._survey.mark if header else None
            if mark and present:
                mark.content = None
            yield record_import(key, self._survey.reader, mark, notes)
            if key is not None:
                yield from batches.items(key)
            yield from self._set_aside(key, present)
            if not decoder.events and (present or not header) and not self._was_set_aside():
                raise _NothingNew

        changed = True
        try:
            with importing.refusals(batches, header.session_id if header else ""):
                self._database.write(items())
        except _NothingNew:
            changed = False
        return self._result(header, present, changed, notes)

    def _new_blocks(
        self, header: Header | None, present: read.SessionRow | None
    ) -> Iterator[Block]:
        """The lines of the sound part that the store does not have. Raises LogDiffers."""
        if header is None:
            return iter(())
        if present is None:
            return self._survey.kept()
        line = Block((header.raw or header.text.encode()) + b"\n", 1, 0)
        stored = exporting.log_pieces(self._database, present)
        return comparing.new_blocks(stored, chain([line], self._survey.kept()))

    def _set_aside(self, key: int | None, present: read.SessionRow | None) -> Iterator[append.Item]:
        """The items for all that is not in the store yet, the import being on record."""
        reader = self._survey.reader
        source = {
            "import": self._database.query(_SQL.last_import)[0][0],
            "session": key,
            "path": source_name(reader.name),
            "sha256": reader.sha256,
        }
        for piece, reason, branch in self._survey.aside():
            if present and self._is_stored(piece, present):
                continue
            yield (
                _SQL.insert_piece,
                {
                    **source,
                    "kind": piece.kind,
                    "branch": branch,
                    "seq": piece.seq,
                    "line": piece.line,
                    "frame": piece.frame,
                    "offset": piece.offset,
                    "size": len(piece.raw),
                    "reason": reason,
                    "raw": None if piece.kind == "padding" else piece.raw,
                },
            )

    def _is_stored(self, piece: Piece, present: read.SessionRow) -> bool:
        """Whether the session has this very record."""
        if piece.kind != "record" or piece.seq is None or not 0 <= piece.seq < present.next_seq:
            return False
        last = piece.seq + piece.events - 1
        stored = read.stored_events(self._database, present, piece.seq, last)
        lines = [rows.log_lines(event, present.format_version) for event in stored]
        return b"\n%b\n" % piece.raw in b"".join([b"\n", *lines])

    def _was_set_aside(self) -> bool:
        """Whether anything was set aside of the log that was put on record last."""
        return bool(self._database.query(_SQL.pieces_of_last_import)[0][0])

    def _notes(self, header: Header | None) -> list[str]:
        survey = self._survey
        if header is None:
            reason = self._refusal.reason
            return [f"no session was made: {reason}", f"set aside: {survey.describe_aside()}"]
        parts = [
            *importing.name_notes(self._path, header),
            *survey.reader.notes,
            f"kept: {survey.describe_kept()}; set aside: {survey.describe_aside()}",
        ]
        return parts + [part for part in (survey.why, survey.describe_branches()) if part]

    def _result(
        self,
        header: Header | None,
        present: read.SessionRow | None,
        changed: bool,
        notes: list[str],
    ) -> ImportResult:
        row = importing.generation(self._database, header) if header else None
        added = row.next_seq - (present.next_seq if present else 0) if row else 0
        outcome: Outcome = "salvaged" if changed else "unchanged"
        refusal: LogRefused | None = self._refusal
        if self._survey.only_torn and header:
            refusal = None
            if changed and (added or not present):
                outcome = "extended" if present else "imported"
        return ImportResult(
            path=self._path,
            outcome=outcome,
            session_id=row.session_id if row else None,
            format_version=row.format_version if row else None,
            events=row.next_seq if row else 0,
            added=added,
            inherited=row.inherited_count if row else 0,
            notes=notes,
            reason=refusal.reason if refusal else None,
            line=refusal.line if refusal else None,
            frame=refusal.frame if refusal else None,
            offset=refusal.offset if refusal else None,
        )
