"""Looks a store over and reports what is wrong; changes nothing, and never raises for damage.

Decides in which order things are looked at and what is still worth looking at after a fault. What
makes a fault is for the modules beside this one: `store_findings`, `row_findings`,
`surface_findings`, `import_findings` for damage, `log_findings` for the faults of a log itself.
A session is read row by row, once; memory is needed for live surface nodes and a page of rows.
What other processes append meanwhile is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import structs

from dshstore.db import Database
from dshstore.engine.findings import Fault, Finding, make_finding
from dshstore.engine.import_findings import ImportCheck, ImportRecord
from dshstore.engine.log_findings import LogRules
from dshstore.engine.read import SessionRow, make_event, session_by_key
from dshstore.engine.row_findings import BLOCKING, UNREADABLE, check_row, is_run, read_event
from dshstore.engine.store_findings import (
    FileStatements,
    Part,
    check_file,
    check_header,
    check_parts,
)
from dshstore.engine.surface_findings import KeptNode, SurfaceCheck
from dshstore.errors import CorruptStore, StoreBusy, TextUnreadable
from dshstore.formats.dsh import rows
from dshstore.jsontext import parse
from dshstore.model import MAX_SAFE, Header, StoredEvent
from dshstore.sqlfiles import Statement, load

#: A page of events is this many rows or bytes, a page of nodes this many.
_ROWS, _BYTES, _NODES = 256, 4 * 1024 * 1024, 1024

#: Before any seq, also one that damage made.
_BEGIN = -(2**63)


class _Statements(FileStatements, frozen=True):
    keys: Statement
    owners: Statement
    generations: Statement
    segments: Statement
    shared_segments: Statement
    page_end: Statement
    page: Statement
    nodes: Statement
    imports: Statement


_SQL = load("verify", _Statements)


def verify(database: Database, session: SessionRow | None = None) -> Iterator[Finding]:
    """What is wrong with a store, or with one session and those whose events it shares.

    Raises StoreBusy alone: whatever else is in the way is a finding.
    """
    keys: list[int] = []

    def list_keys() -> Iterator[Finding]:
        asked = {"session": session.key} if session else {}
        found = database.query(_SQL.owners if session else _SQL.keys, asked)
        keys.extend(row[0] for row in found)
        yield from ()

    if session is None:
        yield from _guarded(check_file(database, _SQL))
    yield from _guarded(list_keys())
    for key in keys:
        yield from _guarded(_verify_session(database, key), f"session number {key}")


def _verify_session(database: Database, key: int) -> Iterator[Finding]:
    records = [ImportRecord(*row) for row in database.query(_SQL.imports, {"session": key})]
    session = session_by_key(database, key)
    if session is None:
        return  # it was deleted since it was listed
    several = database.query(_SQL.generations, {"session": key})[0][0] > 1
    generation = f"v{session.format_version}" if several else ""
    faults = _Verification(database, session, records).faults()
    findings = (make_finding(fault, session.session_id, generation) for fault in faults)
    yield from _guarded(findings, generation, session.session_id)


def _guarded(
    findings: Iterable[Finding], generation: str = "", session_id: str | None = None
) -> Iterator[Finding]:
    """The findings, and one more for what ends them too early."""
    try:
        yield from findings
    except StoreBusy:
        raise
    except TextUnreadable as error:
        yield make_finding(Fault(None, "session-unreadable", str(error)), session_id, generation)
    except CorruptStore as error:
        yield make_finding(Fault(None, "file-damaged", str(error)), session_id, generation)
    except Exception as error:
        detail = f"{type(error).__name__}: {error}"
        yield make_finding(Fault(None, "session-unreadable", detail), session_id, generation)


class _Verification:
    """One session, from its header to the end of its log."""

    def __init__(
        self, database: Database, session: SessionRow, records: list[ImportRecord]
    ) -> None:
        self._database, self._session = database, session
        self._version = session.format_version
        self._surface = SurfaceCheck(self._version, self._nodes())
        self._rules = LogRules(self._version, session.session_id, self._surface.surface)
        self._imports = ImportCheck(session.header_line, self._version, records)
        self._expected = 0
        self._is_lost = False  # an event cannot be told, so nothing is said of what comes after it

    def faults(self) -> Iterator[Fault]:
        """Everything that is wrong with the session."""
        header, faults = check_header(self._session)
        yield from faults
        parts = self._parts(_SQL.segments)
        fault = check_parts(self._session, parts, self._parts(_SQL.shared_segments))
        if fault is not None:
            yield fault
            return
        for part in parts[:-1]:
            self._read_inherited(part)
        own = parts[-1]
        if own.first and not self._is_lost and not self._surface.lost:
            yield from self._surface.begin_own(own.first)
        yield from self._read_own(own)
        yield from self._finish(header)

    def _parts(self, statement: Statement) -> list[Part]:
        found = self._database.query(statement, {"session": self._session.key})
        return [Part(*row) for row in found]

    def _nodes(self) -> Iterator[KeptNode]:
        """The nodes that the store keeps, in the order of their seqs."""
        page = {"session": self._session.key, "limit": self._session.next_seq, "page": _NODES}
        found = self._database.query(_SQL.nodes, {**page, "after": _BEGIN})
        while found:
            yield from (KeptNode(*row) for row in found)
            found = self._database.query(_SQL.nodes, {**page, "after": found[-1][0]})

    def _rows(self, part: Part, after: int) -> Iterator[StoredEvent | Fault]:
        """The rows of a part, and a fault for each that cannot even be fetched."""
        limit = self._session.next_seq if part.owner == self._session.key else MAX_SAFE
        size = _ROWS
        while True:
            page = {"owner": part.owner, "limit": limit, "after": after}
            end = {"last": part.last, "page": size, "bytes": _BYTES}
            upto = self._database.query(_SQL.page_end, {**page, **end})[0][0]
            if upto is None:
                return
            try:
                found = self._database.query(_SQL.page, {**page, "upto": upto})
            except TextUnreadable as error:
                if size > 1:  # it is in one of these
                    size = 1
                    continue
                yield Fault(upto, "event-unreadable", str(error))
            else:
                yield from map(make_event, found)
            after, size = upto, _ROWS

    def _read_inherited(self, part: Part) -> None:
        """Take the events of an ancestor, whose faults are not this session's."""
        self._rules.streams = False
        for row in self._rows(part, part.first - 1):
            if isinstance(row, Fault) or row.seq != self._expected or self._is_lost:
                self._is_lost = True
                return
            keep = min(row.count, part.last - row.seq + 1)
            for _ in self._compare_lines(row, keep):
                pass
            if not is_run(row):
                row = structs.replace(row, stream=None)
            for _ in self._follow(row, keep, part.owner, inherited=True):
                pass
            self._expected += keep
        self._rules.streams = True
        self._is_lost |= self._expected != part.last + 1

    def _read_own(self, part: Part) -> Iterator[Fault]:
        self._expected = part.first
        for row in self._rows(part, _BEGIN):
            if isinstance(row, Fault):
                yield row
                self._is_lost = True
                self._expected = (row.seq or 0) + 1
                continue
            if row.seq != self._expected:
                yield self._gap(row.seq)
                self._is_lost = True
                if row.seq < self._expected:
                    continue
            faults = check_row(row, self._version)
            yield from faults
            if BLOCKING.isdisjoint(fault.code for fault in faults):
                yield from self._compare_lines(row, row.count)
            else:  # the columns alone tell what the event is
                self._imports.lose()
                row = row if is_run(row) else structs.replace(row, stream=None, raw=None)
            self._rules.streams = row.stream is not None or not faults
            yield from self._follow(row, row.count, part.owner, inherited=False)
            self._expected = row.seq + max(row.count, 1)

    def _gap(self, seq: int) -> Fault:
        expected = self._expected
        if seq > expected:
            return Fault(expected, "seq-gap", f"event {expected} is missing, the next is {seq}")
        return Fault(seq, "seq-gap", f"event {seq} has no place there, event {expected} is due")

    def _compare_lines(self, row: StoredEvent, keep: int) -> Iterator[Fault]:
        """Take the lines of a row, or of the first `keep` members of a run."""
        try:
            if self._imports.is_done or self._is_lost:
                return
            yield from self._imports.push(rows.clip(row, keep, self._version))
        except UNREADABLE:  # which is a finding already, or will be
            self._imports.lose()

    def _follow(
        self, row: StoredEvent, count: int, owner: int, *, inherited: bool
    ) -> Iterator[Fault]:
        """Take a row, or the first `count` members of a run, into the fold and the log's order."""
        if self._is_lost:
            return
        try:
            if is_run(row) or row.count != 1:
                self._surface.pass_over(count)
                yield from self._rules.push_run(row.seq, parse(row.data))
                return
            event = read_event(row, self._version)
            if isinstance(event, Fault):
                self._is_lost = True
                yield event
                return
            yield from self._rules.push(event)
            yield from self._surface.push(event, owner, inherited=inherited)
        except (*UNREADABLE, AttributeError) as error:
            self._is_lost = True
            yield Fault(row.seq, "event-unreadable", f"{type(error).__name__}: {error}")
            return
        if self._surface.lost:
            self._rules.surface = None

    def _finish(self, header: Header | None) -> Iterator[Fault]:
        if self._is_lost:
            return
        count = self._session.next_seq
        yield from self._imports.finish(count)
        yield from self._surface.finish()
        yield from self._rules.finish(header, count)
