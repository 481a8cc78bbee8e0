"""One store: open it, bring logs in, find sessions, ask it questions.

What a method is done by is imported when it is called: who lists sessions need not load what
migrates them.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, Self, get_args

from dshstore import schema
from dshstore.db import Database, Durability, Guard, Parameters, Row, check_output
from dshstore.engine import overview
from dshstore.formats.dsh.limits import DEFAULT_LIMITS, Limits
from dshstore.model import CURRENT_FORMAT, MAX_DELAY

if TYPE_CHECKING:
    from dshstore.committing import Committer
    from dshstore.engine.findings import Finding
    from dshstore.engine.importing import ImportResult
    from dshstore.engine.intake import Intake
    from dshstore.engine.read import SessionRow
    from dshstore.engine.salvage import QuarantinedPiece
    from dshstore.engine.search import SearchFilters, SearchHit
    from dshstore.engine.searching.sidefile import Progress as SearchProgress
    from dshstore.engine.sources import Progress
    from dshstore.live import LiveSession
    from dshstore.session import Session


class Store:
    """An open store; `dshstore.open` gives one. Close it, or use it in a `with` block.

    Threads may share it, and the sessions it gives: they wait for each other, also for an import
    or a backup to end. An iterator is for one thread at a time. A child that was forked opens the
    store anew: its parent's is closed there.
    """

    def __init__(self, database: Database, durability: Durability = "FULL") -> None:
        self._database = database
        self._durability = durability
        self._committer: Committer | None = None
        self._making = Guard()  # of the committer: there is one

    def __repr__(self) -> str:
        return f"<Store {self.path}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def path(self) -> str:
        """The file, as it was named."""
        return self._database.path

    def close(self) -> None:
        """Close the store and its open sessions; doing so twice is harmless.

        Raises what kept a session from being flushed, after closing the others; that session
        and the store stay open then.
        """
        if self._committer is not None:
            self._committer.close()
        self._database.close()

    def import_log(
        self,
        path: str | os.PathLike[str],
        *,
        salvage: bool = False,
        limits: Limits = DEFAULT_LIMITS,
    ) -> ImportResult:
        """Import one log file: new, longer than before, or the same as before.

        `salvage` takes the sound part of a broken log and sets the rest aside (see `quarantine`).
        Raises LogRefused with line, frame and byte for a log that cannot be taken, or that
        differs from the same session in the store; then nothing has changed.
        """
        return self._intake(salvage, limits).take_file(os.fspath(path))

    def import_stream(
        self,
        stream: BinaryIO,
        name: str = "-",
        *,
        salvage: bool = False,
        limits: Limits = DEFAULT_LIMITS,
    ) -> ImportResult:
        """As `import_log`, from an open binary stream; `name` stands in messages.

        To be salvaged, a stream that cannot be read twice is copied to a temporary file first; so
        is one of which a part has been read.
        """
        return self._intake(salvage, limits).take_stream(stream, name)

    def import_paths(
        self,
        paths: Iterable[str | os.PathLike[str]],
        *,
        salvage: bool = False,
        all_generations: bool = False,
        limits: Limits = DEFAULT_LIMITS,
        progress: Progress | None = None,
        passed_over: Callable[[str], object] | None = None,
    ) -> Iterator[ImportResult]:
        """Import files, and all logs below folders, one result each; a bad log stops no other.

        `passed_over` is told each file in a folder that has not the name of a log.
        """
        intake = self._intake(salvage, limits)
        return intake.take_paths(paths, all_generations, progress, passed_over)

    def _intake(self, salvage: bool, limits: Limits) -> Intake:
        from dshstore.engine.intake import Intake

        return Intake(self._database, salvaging=salvage, limits=limits)

    def quarantine(self, session_id: str | None = None) -> Iterator[QuarantinedPiece]:
        """What was set aside of the logs of one session, or of all, in the order of the logs.

        Raises SessionNotFound.
        """
        from dshstore.engine import salvage

        row = None if session_id is None else self._find(session_id)
        return salvage.quarantine(self._database, row)

    def quarantined_bytes(self, piece: QuarantinedPiece) -> bytes:
        """The bytes of something set aside, as they stood in the log (without a line end)."""
        from dshstore.engine import salvage

        return salvage.quarantined_bytes(self._database, piece.id)

    def export_log(
        self, session_id: str, path: str | os.PathLike[str], *, zstd: bool = False
    ) -> None:
        """Write a session's log to a file, byte for byte as it came in; `zstd`: as frames.

        A file is written beside `path` first and takes its name when it is whole; what is no
        file (a pipe, a device) is written into. Raises OutputRefused, WriteFailed.
        """
        from dshstore.engine import exporting

        check_output(self.path, path)
        exporting.write_pieces(self.session(session_id).log(zstd=zstd), Path(path))

    def verify(self, session_id: str | None = None) -> Iterator[Finding]:
        """What is wrong with the store, or with one session and those whose events it shares.

        Findings of kind `store` are damage, those of kind `log` are the faults of a log itself.
        Nothing is changed. Raises SessionNotFound.
        """
        from dshstore.engine import verify

        row = None if session_id is None else self._find(session_id)
        return verify.verify(self._database, row)

    def session(self, session_id: str) -> Session:
        """The session with this id, `ID@vN` for one generation, or an unambiguous prefix.

        Raises SessionNotFound.
        """
        from dshstore.session import Session

        return Session(self._database, self._find(session_id))

    def create(
        self,
        *,
        session_id: str | None = None,
        format_version: int = CURRENT_FORMAT,
        cwd: str | None = None,
        parent_session: str | None = None,
        origin: Literal["subagent"] | None = None,
        delegation_depth: int = 0,
        agent_preset: str | None = None,
        commit_each: bool = False,
        max_delay: float = MAX_DELAY,
    ) -> LiveSession:
        """Begin a session and open it for writing; its header is in the store on return.

        A new id is made when none is given; `cwd` is an absolute path. `max_delay` is how many
        seconds an append may wait for others before it is committed (infinity: for a flush), with
        `commit_each` it waits for none. Raises SessionExists.
        """
        from dshstore.engine import append
        from dshstore.formats.dsh import header as headers
        from dshstore.writer import check_delay

        check_delay(max_delay)
        header = headers.write(
            version=format_version,
            session_id=str(uuid.uuid4()) if session_id is None else session_id,
            created_at=time.time_ns() // 1_000_000,
            cwd=cwd,
            parent_session=parent_session,
            origin=origin,
            delegation_depth=delegation_depth,
            agent_preset=agent_preset,
        )
        append.begin_session(self._database, header)
        row = self._find(f"{header.session_id}@v{format_version}")
        return self._open_live(row, commit_each, max_delay)

    def resume(
        self,
        session_id: str,
        *,
        allow_unknown: bool = False,
        commit_each: bool = False,
        max_delay: float = MAX_DELAY,
    ) -> LiveSession:
        """Take up a session: close the turn in which it was interrupted, and open it for writing.

        Raises SessionNotFound; UnknownEvent for a log with a required event of unknown type,
        unless `allow_unknown`; Conflict when another writer is at it.
        """
        from dshstore.engine import resuming
        from dshstore.writer import check_delay

        check_delay(max_delay)
        row, standing, seed_due = resuming.take_up(
            self._database, self._find(session_id), allow_unknown=allow_unknown
        )
        return self._open_live(row, commit_each, max_delay, standing=standing, resumed=seed_due)

    def fork(
        self,
        session_id: str,
        at: int | None = None,
        *,
        new_id: str | None = None,
        allow_unknown: bool = False,
        commit_each: bool = False,
        max_delay: float = MAX_DELAY,
    ) -> LiveSession:
        """Begin a session that shares the log of another one up to event `at`, that included.

        Without `at` it shares all of it; no event is copied. A turn that is open there is closed
        in the fork, open calls with results that say so. Raises SessionNotFound, EventNotFound,
        SessionExists; ForkRefused for an open turn before format v4; UnknownEvent as `resume`.
        """
        from dshstore.engine import fork
        from dshstore.writer import check_delay

        check_delay(max_delay)
        parent = self._find_flushed(session_id)
        row = fork.fork_session(
            self._database,
            parent,
            at,
            session_id=new_id or str(uuid.uuid4()),
            created_at=time.time_ns() // 1_000_000,
            allow_unknown=allow_unknown,
        )
        return self._open_live(row, commit_each, max_delay)

    def migrate(self, session_id: str, to: int = 2) -> Session:
        """The session in log format `to` (1 or 2), beside the generation that it had so far.

        It is what its harness would make of the log, and shows a model what the old generation
        shows. A session of that format comes back as it is, and one that was migrated before
        as it was, however it went on. Raises SessionNotFound; MigrationRefused, with the seq of
        the event that cannot be migrated: then nothing has changed.
        """
        from dshstore.engine import migrate
        from dshstore.session import Session

        row = migrate.migrate(self._database, self._find_flushed(session_id), to)
        return Session(self._database, row)

    def _find(self, session_id: str) -> SessionRow:
        from dshstore.engine import read

        return read.find_session(self._database, session_id)

    def _find_flushed(self, session_id: str) -> SessionRow:
        """The session, with all that was appended to it here."""
        from dshstore.engine import read

        row = self._find(session_id)
        written = self._committer is not None and self._committer.flush(row.session_id)
        return read.reload(self._database, row) if written else row

    def repair(self, session_id: str) -> list[dict[str, Any]]:
        """Close the turn in which a session was interrupted; the events that were appended.

        Raises SessionNotFound; Conflict when another writer is at it.
        """
        from dshstore.engine import repair

        return repair.append_closers(self._database, self._find(session_id))

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Copy the store, as it is at one moment, to a new file, while others write to it.

        Raises OutputRefused, WriteFailed; nothing is left at `path` then.
        """
        self._database.backup(os.fspath(path))

    def _open_live(
        self, row: SessionRow, commit_each: bool, max_delay: float, **resumed: Any
    ) -> LiveSession:
        from dshstore.committing import Committer
        from dshstore.live import LiveSession

        with self._making.lock:
            self._committer = self._committer or Committer(self._database, self._durability)
        writer = self._committer.open_writer(row, max_delay)
        return LiveSession(self._database, row, writer, commit_each=commit_each, **resumed)

    def sessions(
        self,
        *,
        project: str | None = None,
        since: int | None = None,
        model: str | None = None,
        text: str | None = None,
        limit: int | None = None,
    ) -> list[overview.SessionSummary]:
        """Every session, or those that fit, the one that was last written to first.

        Of a project (a folder or one below it); written to `since` a time (epoch ms); whose
        model's name holds `model`; with `text` in a title or in what people and models wrote,
        whatever the case of its ASCII letters. Raises ValueError for a limit below 1.
        """
        chosen = overview.Filters(project=project, since=since, model=model, text=text)
        return overview.summarize_sessions(self._database, chosen, limit)

    def search(
        self,
        query: str,
        filters: SearchFilters | None = None,
        *,
        limit: int = 20,
        like: bool = False,
        anew: bool = False,
        progress: SearchProgress | None = None,
    ) -> list[SearchHit]:
        """Texts in which words stand, the best match first; `dshstore search --help` has more.

        `like` takes the query as it stands, the latest text first; `anew` distrusts the index.
        Raises QueryFailed for what means nothing, SessionNotFound, ValueError for a limit below 1.
        """
        from dshstore.engine import search

        wanted = filters or search.SearchFilters()
        return search.search(self._database, query, wanted, limit, like, anew, progress)

    def sql(
        self, statement: str, parameters: Parameters = (), *, seconds: float | None = None
    ) -> tuple[list[str], Iterator[Row]]:
        """Run one reading SQL statement: its column names, and its rows as they come.

        Raises QueryFailed with the place in the SQL, also after `seconds`, and for a statement
        that would change something.
        """
        # on a connection of its own: what a user's SQL may do is no measure for the store's
        return Database.open(self.path, "read").ask(statement, parameters, seconds)

    def info(self) -> dict[str, Any]:
        """What the file is and how much it holds."""
        return overview.describe_store(self._database)


def open_store(
    path: str | os.PathLike[str],
    mode: Literal["write", "read"] = "write",
    *,
    durability: Durability = "FULL",
) -> Store:
    """Open a store; to write, it is made when it is not there.

    `durability`: FULL keeps every flushed event through a power cut, NORMAL through the death
    of the process. Raises NotAStore, UnsupportedSchema, CorruptStore, StoreBusy.
    """
    if durability not in get_args(Durability):
        raise ValueError(f"durability is FULL or NORMAL, not {durability!r}")
    place = os.fspath(path)
    if mode == "read":
        return Store(schema.open_reading(place))
    if not Path(place).exists() or not Path(place).stat().st_size:
        schema.create(place).close()
    return Store(schema.open_store(place, durability=durability), durability)
