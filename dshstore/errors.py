"""Every error that dshstore raises on purpose: one root, leaves that carry their facts as fields.

The text of an error is one sentence for a person; programs read the fields. Nothing here knows
SQL, files or formats.
"""

from __future__ import annotations

from collections.abc import Sequence
from reprlib import Repr

_brief = Repr()
_brief.maxlevel, _brief.maxstring, _brief.maxlong, _brief.maxother = 3, 200, 40, 200


def shown(value: object) -> str:
    """A value of a log as it stands in a sentence: short, however long or deep it is."""
    return _brief.repr(value)


class StoreError(Exception):
    """Anything that dshstore refuses or could not do; catch this to catch all of it."""


class NotAStore(StoreError):
    """The file is there but is not a dshstore store (or there is no file at all)."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path}: not a dshstore store: {reason}")


class UnsupportedSchema(StoreError):
    """A store of another schema version, or one whose tables and triggers were changed."""

    def __init__(self, path: str, found: int, supported: int, reason: str = "") -> None:
        self.path, self.found, self.supported, self.reason = path, found, supported, reason
        super().__init__(
            f"{path}: {reason}"
            if reason
            else f"{path}: store schema {found} is not supported: this release reads schema "
            f"{supported}; export the sessions with the release that wrote it and import the "
            "logs with this one"
        )


class CorruptStore(StoreError):
    """SQLite itself finds the file damaged."""


class TextUnreadable(CorruptStore):
    """A row holds text that is not UTF-8, or JSON nested too deep: plain SQL can leave such."""


class SessionNotFound(StoreError):
    """No session has this id, or a prefix of it fits several (then `candidates` has them)."""

    def __init__(self, session_id: str, candidates: Sequence[str] = ()) -> None:
        self.session_id, self.candidates = session_id, tuple(candidates)
        super().__init__(
            f"session id {session_id!r} is ambiguous: {', '.join(self.candidates)}"
            if candidates
            else f"no session {session_id!r} in this store"
        )


class EventNotFound(StoreError):
    """The session has no event of this seq."""

    def __init__(self, session_id: str, seq: int, next_seq: int) -> None:
        self.session_id, self.seq, self.next_seq = session_id, seq, next_seq
        has = f"its events are 0 to {next_seq - 1}" if next_seq else "it has no events"
        super().__init__(f"session {session_id!r} has no event {seq}: {has}")


class SessionExists(StoreError):
    """A session of this id and format version is already in the store."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        super().__init__(f"session {session_id!r} is already in this store")


class EventRefused(StoreError):
    """An event breaks a rule of the surface; `code` names the rule, `seq` the event."""

    def __init__(self, code: str, session_id: str | None, seq: int, detail: str = "") -> None:
        self.code, self.session_id, self.seq, self.detail = code, session_id, seq, detail
        where = f"session {session_id!r}, event {seq}" if session_id else f"event {seq}"
        super().__init__(f"{where}: {code}" + (f" ({detail})" if detail else ""))


class Conflict(StoreError):
    """Another writer got there first: the session ends at `actual`, not at `expected`."""

    def __init__(self, expected: int, actual: int, session_id: str = "") -> None:
        self.expected, self.actual, self.session_id = expected, actual, session_id
        super().__init__(
            f"session {session_id!r}: another writer appended: expected next seq {expected}, "
            f"the store is at {actual}"
        )


class LogRefused(StoreError):
    """A log file that cannot be taken as it is.

    `line` counts from 1 with the header; `frame` (zstd only) from 0; `offset` is the byte
    offset of the line in a plain file and of the frame in a zstd file. Each is None where it
    does not apply.
    """

    def __init__(
        self,
        reason: str,
        *,
        path: str = "",
        line: int | None = None,
        offset: int | None = None,
        frame: int | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason, self.path = reason, path
        self.line, self.offset, self.frame = line, offset, frame

    def __str__(self) -> str:
        places = [
            f"{name} {value}"
            for name, value in (("line", self.line), ("frame", self.frame), ("byte", self.offset))
            if value is not None
        ]
        return ": ".join(p for p in (self.path, ", ".join(places), self.reason) if p)


class UnsupportedFormat(LogRefused):
    """A log of a format version that this release does not know (newer is not corrupt)."""

    def __init__(self, version: int, supported: str, *, path: str = "") -> None:
        self.version, self.supported = version, supported
        super().__init__(
            f"log format version {version} is not supported: this release reads versions "
            f"{supported}; a newer release may read it",
            path=path,
            line=1,
            offset=0,
        )


class UnknownEvent(StoreError):
    """The log holds an event of a type that is unknown and not marked ignorable."""

    def __init__(self, seq: int, type: str) -> None:
        self.seq, self.type = seq, type
        super().__init__(
            f"event {seq} is of unknown type {type!r} and not marked ignorable, so what the "
            "model saw cannot be told; --allow-unknown (allow_unknown=True) passes over it"
        )


class ForkRefused(StoreError):
    """A session cannot be forked there: turn `turn` is open after event `seq`.

    From format v4 on a fork closes the turn; older formats know no such turn.
    """

    def __init__(self, session_id: str, seq: int, turn: object, format_version: int) -> None:
        self.session_id, self.seq, self.turn = session_id, seq, turn
        super().__init__(
            f"session {session_id!r} cannot be forked at event {seq}: turn {turn} is open there, "
            f"and a log of format v{format_version} cannot be cut inside a turn; fork it at the "
            "end of a turn"
        )


class OutOfTurn(StoreError):
    """An event out of order: of a turn or step that is not open, or that is open already."""


class MigrationRefused(StoreError):
    """The log cannot move to the asked version without losing meaning; nothing was changed."""

    def __init__(self, seq: int | None, reason: str) -> None:
        self.seq, self.reason = seq, reason
        super().__init__(f"event {seq}: {reason}" if seq is not None else reason)


class StreamRefused(StoreError, ValueError):
    """A token stream that the format forbids."""


class StoreBusy(StoreError):
    """Another process held the store's lock for longer than the busy timeout."""


class RuleBroken(StoreError):
    """A trigger of the store refused a row: `code` names the rule, `row` has the parameters."""

    def __init__(self, code: str, row: object = None) -> None:
        self.code, self.row = code, row
        super().__init__(code)


class QueryFailed(StoreError):
    """A user's own SQL that SQLite refuses, or a search that means nothing.

    `sql` is its text, `offset` the character where it went wrong.
    """

    def __init__(self, reason: str, sql: str, offset: int | None = None) -> None:
        self.reason, self.sql, self.offset = reason, sql, offset
        super().__init__(reason)


class NoWriteAheadLog(UserWarning):
    """The store keeps a rollback journal, for its file system has no write-ahead log.

    Nothing is less safe for that: only, who writes waits for who reads, and the other way round.
    """

    def __init__(self, path: str, journal_mode: str) -> None:
        self.path, self.journal_mode = path, journal_mode
        super().__init__(
            f"{path}: no write-ahead log can be had here (is it a network file system?), so the "
            f"journal mode is {journal_mode!r}: readers and writers wait for one another"
        )


class SearchIndexBusy(UserWarning):
    """A search has to wait, for another process holds the side file that has its index."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(f"waiting for another process, which holds the search index {path}")


class SearchIndexUnwritten(UserWarning):
    """The side file of a search cannot be kept, so an index was made for one search alone."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(
            f"the search index {path} cannot be kept, so each search makes its own: {reason}"
        )


class WriteFailed(StoreError):
    """The operating system would not take a write (disk full, read-only, I/O error)."""


class OutputRefused(StoreError):
    """What is given out cannot be written there: it is a file of the store itself, or a folder."""


class ExtraMissing(StoreError):
    """A library that an optional part needs is not installed: extra `extra` of the package."""

    def __init__(self, extra: str, library: str, doing: str) -> None:
        self.extra, self.library = extra, library
        super().__init__(
            f"{doing} by {library}, which is not installed: pip install 'dshstore[{extra}]'"
        )
