"""The side file: an index of a store's texts, beside it, which is made from it and never trusted.

Decides what the file has to hold so that it fits the store as it is now, and when it is thrown
away: when it is of another release, damaged, or no index at all. Sessions that are gone, went
back or are not the ones that were seen are taken in anew, one by one. Only texts are in it: what
became of an event is asked of the store. The store is only read, and nothing that happens to the
side file is an error: where it cannot be written an index is made for one search.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

import msgspec

from dshstore.db import INDEX_ENDS, Database, Parameters
from dshstore.engine.searching import texts
from dshstore.engine.searching.terms import UNICODE, spread_terms
from dshstore.engine.searching.texts import SearchedSession, to_list
from dshstore.errors import (
    NotAStore,
    SearchIndexBusy,
    SearchIndexUnwritten,
    StoreBusy,
    StoreError,
    WriteFailed,
)
from dshstore.model import MAX_SAFE
from dshstore.sqlfiles import Statement, load, side_script

#: "dshi" in ASCII, in the SQLite header of every side file.
APPLICATION_ID = 0x64736869

#: Raised with every change of its tables and of how texts are read or cut into terms. Whoever has
#: other tables of Unicode cuts them otherwise, too.
_RELEASE = 2
VERSION = (_RELEASE * 100 + UNICODE[0]) * 100 + UNICODE[1]

#: What is behind the store's name; the second holds all texts, for who searches more than was said.
SUFFIX, SUFFIX_OF_ALL = INDEX_ENDS

#: Up to this size (bytes) each use looks at the whole file for damage; beyond, only what is read
#: can be found damaged.
_LOOKED_THROUGH = 4 << 20

#: Characters of text that one transaction takes in, so that what was done is kept when a long run
#: breaks off.
_BATCH = 4_000_000

#: Seconds to wait for another process that is taking texts in, before an own index is made.
_PATIENCE = 60.0

#: Seconds of waiting before there is a word of it.
_SILENCE = 1.0

#: Of more matches only so many, the last that were taken in, are ranked as long as they are enough:
#: a word that is nearly everywhere says little of any of them, and to rank them all takes its time.
RANKED = 20_000

#: A text in which something may have been found: session (its key), seq, role, time, score.
Match = tuple[int, int, texts.Role, int, float | None]

_OTHER = "the file there is of another release or another program"

#: Told how many events were looked at, and of how many.
Progress = Callable[[int, int], None]


class _Statements(msgspec.Struct, frozen=True):
    objects: Statement
    span: Statement
    floor: Statement
    matches: Statement
    seen: Statement
    ends: Statement
    witness: Statement
    call_witness: Statement
    last_id: Statement
    add_words: Statement
    add_text: Statement
    keep: Statement
    forget_words: Statement
    forget_texts: Statement
    forget: Statement


_SQL = load("sidefile", _Statements)


class Doubt(Exception):
    """The side file is not what it should be."""


class _StoreFailed(Exception):
    """The store, not the side file, cannot be read."""

    def __init__(self, error: StoreError) -> None:
        self.error = error


class _Seen(msgspec.Struct, frozen=True):
    """What a side file knows of a session: a row of `seen`."""

    session: int
    next_seq: int
    born: str
    last: str
    own_from: int

    def is_of(self, session: SearchedSession) -> bool:
        """Whether it may be this session, grown or not."""
        return self.born == session.born and self.next_seq <= session.next_seq


class _Plan(msgspec.Struct, frozen=True):
    """What a side file lacks: sessions to forget, and those to take in, each from which seq on."""

    forgotten: list[int]
    wanted: list[tuple[SearchedSession, int]]

    def __bool__(self) -> bool:
        return bool(self.forgotten or self.wanted)

    @property
    def events(self) -> int:
        return sum(session.next_seq - first for session, first in self.wanted)


class SideFile:
    """The index of a store for one kind of search: `everything`, or what was said alone."""

    def __init__(self, store: Database, everything: bool, progress: Progress | None) -> None:
        self._store = store
        self._everything = everything
        self._progress = progress
        self._total = 0
        self._is_behind = False
        self._is_wait_told = False
        self.path = os.path.realpath(store.path) + (SUFFIX_OF_ALL if everything else SUFFIX)

    @contextmanager
    def opened(self) -> Iterator[Database]:
        """The index, in step with the store; what it cannot do raises Doubt or a StoreError."""
        database, folder = self._open()
        try:
            yield database
        finally:
            database.close()
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)

    def discard(self) -> None:
        """Throw the file away, unless another process has put a new one in its place."""
        with suppress(OSError):
            self._discard(self._identity())

    def _open(self) -> tuple[Database, str | None]:
        """The index, and the folder of one that is for this search alone."""
        try:
            return self._open_beside(), None
        except _StoreFailed as failure:
            raise failure.error from None
        except (StoreError, Doubt, OSError) as error:
            reason = error.reason if isinstance(error, NotAStore) else str(error)
            reason = reason.removeprefix(f"{self.path}: ")
            warnings.warn(SearchIndexUnwritten(self.path, reason), stacklevel=2)
        folder = tempfile.mkdtemp(prefix="dshstore-search-")
        try:
            return self._brought_up(f"{folder}/index"), folder
        except BaseException as error:
            shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, _StoreFailed):
                raise error.error from None
            raise

    def _open_beside(self) -> Database:
        deadline = time.monotonic() + _PATIENCE
        for last_try in (False, True):
            identity = self._identity()
            while True:
                try:
                    return self._current() or self._brought_up(self.path)
                except StoreBusy:
                    if time.monotonic() > deadline:
                        raise
                except (StoreError, Doubt) as error:
                    if last_try or (self._identity() == identity and self._is_shut(error)):
                        raise
                    self._discard(identity)
                    break
        raise AssertionError("unreachable")

    def _is_shut(self, error: Exception) -> bool:
        """Whether it cannot be written there, rather than that what is there is not right."""
        return isinstance(error, WriteFailed) or not os.access(Path(self.path).parent, os.W_OK)

    def _tell_waiting(self, seconds: float) -> None:
        if seconds >= _SILENCE and not self._is_wait_told:
            self._is_wait_told = True
            warnings.warn(SearchIndexBusy(self.path), stacklevel=2)

    def _identity(self) -> int | None:
        """Which file it is that stands there; None without one."""
        try:
            return os.stat(self.path).st_ino  # noqa: PTH116
        except FileNotFoundError:
            return None

    def _discard(self, identity: int | None) -> None:
        """Take the file away if it is still the one that was meant; one process at a time."""
        number = os.open(Path(self.path).parent, os.O_RDONLY)
        try:
            fcntl.flock(number, fcntl.LOCK_EX)
            if identity is not None and self._identity() == identity and not self._is_foreign():
                # first what SQLite would play back into a new file of that name
                for suffix in ("-journal", "-wal", "-shm", ""):
                    with suppress(FileNotFoundError):
                        os.unlink(self.path + suffix)  # noqa: PTH108
        finally:
            os.close(number)

    def _is_foreign(self) -> bool:
        """Whether it is a sound file of somebody else's, who happened to choose this name."""
        try:
            database = Database.open(self.path, "read")
        except StoreError:
            return False
        try:
            is_ours = database.pragma("application_id") == APPLICATION_ID
            return not is_ours and database.query(_SQL.objects) != []
        except StoreError:
            return False
        finally:
            database.close()

    def _current(self) -> Database | None:
        """The file as it is, opened for reading, if it lacks nothing. Raises Doubt."""
        if not os.path.exists(self.path) or not os.path.getsize(self.path):  # noqa: PTH110, PTH202
            return None
        database = Database.open(self.path, "read", waiting=self._tell_waiting)
        try:
            _check(database)
            if database.pragma("user_version") and not self._compare(database):
                return database
        except BaseException:
            database.close()
            raise
        database.close()
        return None

    def _brought_up(self, path: str) -> Database:
        """The file, made where there is none, after it took in what it lacks."""
        database = Database.create(path, _build, waiting=self._tell_waiting)
        try:
            plan = self._compare(database)
            self._total, self._is_behind = plan.events, bool(plan)
            while self._is_behind:
                database.write(self._batch(database))
        except BaseException:
            database.close()
            raise
        return database

    # -- what it lacks --

    def _compare(self, database: Database) -> _Plan:
        with _reading_store():
            keys = None
            witnesses = cast(list[texts.Witness], database.query(_SQL.witness))
            is_witnessed = any(texts.is_witnessed(self._store, row) for row in witnesses)
            if is_witnessed:
                ends = {(key, end, own) for key, end, own in database.query(_SQL.ends)}
                keys = {key for key, _, _ in ends ^ texts.session_ends(self._store)}
                if not keys:
                    return _Plan([], [])
            now = {s.key: s for s in texts.searched_sessions(self._store, keys)}
            seen = [_Seen(*row) for row in database.query(_SQL.seen, {"keys": to_list(keys)})]
            kept = {s.session: s for s in seen if s.session in now and s.is_of(now[s.session])}
            if not is_witnessed:
                lasts = texts.last_events(
                    self._store, [(known.session, known.next_seq) for known in kept.values()]
                )
                kept = {key: known for key, known in kept.items() if lasts[key] == known.last}
        return _Plan(
            [known.session for known in seen if known.session not in kept],
            [
                (session, kept[key].next_seq if key in kept else 0)
                for key, session in now.items()
                if key not in kept
                or kept[key].next_seq < session.next_seq
                or kept[key].own_from != session.own_from
            ],
        )

    # -- taking in --

    def _batch(self, database: Database) -> Iterator[tuple[Statement, Parameters | list[Any]]]:
        """What one transaction writes; what is lacking is looked up in it, for others write too."""
        plan = self._compare(database)
        for gone in plan.forgotten:
            for statement in (_SQL.forget_words, _SQL.forget_texts, _SQL.forget):
                yield statement, {"session": gone}
        id = database.query(_SQL.last_id)[0][0]
        left, remaining = _BATCH, plan.events
        for session, first in plan.wanted:
            upto = first
            while upto < session.next_seq and left > 0:
                with _reading_store():
                    page, following = texts.read_page(
                        self._store, session, upto, everything=self._everything
                    )
                words = [spread_terms(text.text) for text in page]
                yield _SQL.add_words, [{"id": n, "terms": w} for n, w in enumerate(words, id + 1)]
                yield (
                    _SQL.add_text,
                    [(n, session.key, t.seq, t.role, t.time) for n, t in enumerate(page, id + 1)],
                )
                id += len(page)
                left -= sum(map(len, words))
                remaining -= following - upto
                upto = following
                if self._progress is not None:
                    self._progress(self._total - remaining, self._total)
            with _reading_store():
                last = texts.last_events(self._store, [(session.key, upto)])[session.key]
            yield _SQL.keep, (session.key, upto, session.born, last, session.own_from)
            if left <= 0:
                break
        self._is_behind = left <= 0  # what came since is for the next search
        with _reading_store():
            witness = texts.call_witness(self._store)
        yield _SQL.call_witness, witness


def find_matches(
    index: Database, wanted: Mapping[str, Any], ranked: int, limit: int
) -> list[Match]:
    """The best matches in an index, of the last `ranked` that were taken in.

    `wanted` has `match`, an expression of FTS5, and as JSON lists, None for all, `roles`,
    `sessions` and `parts` (of logs: session, first and last seq); `since` is epoch ms.
    """
    first, last = 0, MAX_SAFE
    if wanted["parts"] is not None:
        [(first, last)] = index.query(_SQL.span, {"parts": wanted["parts"]})
    span = {**wanted, "first": first, "last": last}
    [(floor,)] = index.query(_SQL.floor, {**span, "ranked": ranked})
    found = index.query(_SQL.matches, {**span, "first": floor, "limit": limit})
    return cast(list[Match], found)


def _kind(database: Database) -> tuple[int, int]:
    return database.pragma("application_id"), database.pragma("user_version")


def _build(database: Database) -> None:
    """Fill a new side file. Raises Doubt for one that is there and of another kind."""
    if _kind(database) == (APPLICATION_ID, VERSION):
        return
    if _kind(database) != (0, 0) or database.query(_SQL.objects):
        raise Doubt(_OTHER)
    database.execute_script(side_script("search"))
    database.pragma("application_id", APPLICATION_ID)
    database.pragma("user_version", VERSION)


def _check(database: Database) -> None:
    """Raise Doubt, or the StoreError of SQLite, for a file that is no sound index of ours."""
    if _kind(database) not in ((APPLICATION_ID, VERSION), (0, 0)):
        raise Doubt(_OTHER)
    is_small = database.pragma("page_count") * database.pragma("page_size") <= _LOOKED_THROUGH
    if is_small and database.pragma("quick_check") != "ok":
        raise Doubt("it is damaged")


@contextmanager
def _reading_store() -> Iterator[None]:
    try:
        yield
    except StoreError as error:
        raise _StoreFailed(error) from error
