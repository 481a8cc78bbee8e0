"""Full-text search over what people and models wrote, in all sessions of a store.

Decides what is found: in the highest generation of each session, each event once (what a fork
inherited is found with its parent), the best match first; and what is told of a hit. The index
is `searching.sidefile`'s; whether the model still sees an event is asked of the store.
"""

from __future__ import annotations

import heapq
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Literal

import msgspec

from dshstore.db import Database
from dshstore.engine import read
from dshstore.engine.searching import texts
from dshstore.engine.searching.queries import Query, parse_query
from dshstore.engine.searching.sidefile import (
    RANKED,
    Doubt,
    Match,
    Progress,
    SideFile,
    find_matches,
)
from dshstore.engine.searching.snippets import Span, find_phrases, make_snippet
from dshstore.engine.searching.texts import SAID, Role, to_list
from dshstore.errors import QueryFailed, StoreBusy, StoreError
from dshstore.model import StoredEvent
from dshstore.sqlfiles import Statement, load

#: What became of an event on its session's surface.
State = Literal["surface", "shadowed", "log-only"]


class SearchHit(msgspec.Struct, frozen=True, kw_only=True):
    """A text in which something was found.

    `session_id` is the session whose own event it is, `turn` the turn in which it stands, `time`
    epoch ms. `state` is whether the model sees it: on the `surface`, `shadowed` by the event
    `shadowed_by`, or `log-only`. A lower `score` is a better match. `snippet` is the text around
    the first place, on one line; `marks` are the places in it, each from a character to the one
    behind its last.
    """

    session_id: str
    format_version: int
    seq: int
    turn: int | None
    role: Role
    time: int
    state: State
    shadowed_by: int | None
    score: float | None
    snippet: str
    marks: tuple[Span, ...]

    def marked(self, before: str = "[", after: str = "]") -> str:
        """The snippet with something before and after each mark."""
        pieces: list[str] = []
        at = 0
        for begin, end in self.marks:
            pieces += (self.snippet[at:begin], before, self.snippet[begin:end], after)
            at = end
        return "".join([*pieces, self.snippet[at:]])


class SearchFilters(msgspec.Struct, frozen=True, kw_only=True):
    """Which texts are wanted: those that fit all of these (see `Store.search`)."""

    roles: tuple[Role, ...] = SAID
    state: State | None = None
    session: str | None = None
    project: str | None = None
    since: int | None = None


class _Statements(msgspec.Struct, frozen=True):
    event: Statement
    in_project: Statement


_SQL = load("search", _Statements)

#: Where a query stands in a text.
_Find = Callable[[str], list[Span]]


def search(
    store: Database,
    query: str,
    filters: SearchFilters,
    limit: int,
    like: bool,
    anew: bool,
    progress: Progress | None,
) -> list[SearchHit]:
    """The best `limit` hits; `anew` makes the index again before.

    `like` looks for the query as it stands, whatever the case, without an index: the latest hits.
    Raises QueryFailed for a query that means nothing, SessionNotFound.
    """
    if like:
        return _search_like(store, query, filters, limit, progress)
    parsed = parse_query(query)
    chosen = _Choice.of(store, filters)
    side = SideFile(store, not set(filters.roles) <= set(SAID), progress)
    if anew:
        side.discard()
    for trusted in (True, False):
        try:
            with side.opened() as index:
                matches = _matches(index, parsed, query, chosen, limit)
                found = _hits(store, matches, chosen, lambda t: find_phrases(t, parsed.phrases))
                return list(islice(_sure(found, trusted), limit))
        except StoreBusy:
            if not trusted:
                raise
        except Doubt as doubt:
            if not trusted:
                raise StoreError(f"{side.path}: {doubt}") from doubt
            side.discard()
    raise AssertionError("unreachable")


def _search_like(
    store: Database, wanted: str, filters: SearchFilters, limit: int, progress: Progress | None
) -> list[SearchHit]:
    if not wanted:
        raise QueryFailed("nothing to look for", wanted)
    pattern = re.compile(re.escape(wanted), re.IGNORECASE)

    def find(text: str) -> list[Span]:
        return [match.span() for match in pattern.finditer(text)]

    chosen = _Choice.of(store, filters)
    # whether the model sees an event is known when it is looked at
    most = sys.maxsize if filters.state is not None else limit
    scanned = _scan(store, pattern, chosen, progress)
    matches = heapq.nlargest(most, scanned, key=lambda match: match[3])
    found = _hits(store, matches, chosen, find)
    return list(islice((hit for hit in found if hit is not None), limit))


class _Choice(msgspec.Struct, frozen=True):
    """The filters, as statements take them: JSON lists, None for all.

    `parts` are the parts of one session's log, each with whose events they are: what is looked for
    in a fork is looked for in what it inherited too.
    """

    roles: tuple[Role, ...]
    state: State | None
    since: int | None
    sessions: list[int] | None
    parts: list[tuple[int, int, int]] | None

    @classmethod
    def of(cls, store: Database, filters: SearchFilters) -> _Choice:
        parts = sessions = None
        if filters.session is not None:
            named = read.find_session(store, filters.session)
            [session, *_] = read.generations(store, named.session_id)
            parts = [(owner, a, b) for a, b, owner in read.segments(store, session)]
        if filters.project is not None:
            found = store.query(_SQL.in_project, {"project": filters.project})
            sessions = [key for (key,) in found]
        return cls(filters.roles, filters.state, filters.since, sessions, parts)

    @property
    def parameters(self) -> dict[str, Any]:
        return {
            "roles": to_list(self.roles),
            "since": self.since,
            "sessions": to_list(self.sessions),
            "parts": to_list(self.parts),
        }

    def holds(self, session: texts.SearchedSession, text: texts.Text) -> bool:
        """Whether a text is one of those that are wanted."""
        if text.role not in self.roles or (self.since is not None and text.time < self.since):
            return False
        if self.parts is None:
            return text.seq >= session.own_from
        return any(k == session.key and a <= text.seq <= b for k, a, b in self.parts)

    def may_hold(self, session: texts.SearchedSession) -> bool:
        """Whether a session may have such a text."""
        if self.sessions is not None and session.key not in self.sessions:
            return False
        return self.parts is None or any(key == session.key for key, *_ in self.parts)


def _matches(index: Database, query: Query, asked: str, chosen: _Choice, limit: int) -> list[Match]:
    wanted = {"match": query.match, **chosen.parameters}
    try:
        # whether the model sees an event is known when it is looked at
        return find_matches(index, wanted, RANKED if chosen.state is not None else limit)
    except StoreBusy:
        raise
    except StoreError as error:
        if ": fts5: " in str(error):
            raise QueryFailed("this search is too large; make it simpler", asked) from error
        raise Doubt(str(error)) from error


def _scan(
    store: Database, pattern: re.Pattern[str], chosen: _Choice, progress: Progress | None
) -> Iterator[Match]:
    everything = not set(chosen.roles) <= set(SAID)
    sessions = [s for s in texts.searched_sessions(store) if chosen.may_hold(s)]
    done, total = 0, sum(session.next_seq for session in sessions)
    for session in sessions:
        first = 0
        while first < session.next_seq:
            page, following = texts.read_page(store, session, first, everything=everything)
            for text in page:
                if chosen.holds(session, text) and pattern.search(text.text):
                    yield session.key, text.seq, text.role, text.time, None
            done, first = done + following - first, following
            if progress is not None:
                progress(done, total)


def _hits(
    store: Database, matches: Iterable[Match], chosen: _Choice, find: _Find
) -> Iterator[SearchHit | None]:
    """The hits among matches; None for a match in whose text nothing is found."""
    for session, seq, role, time, score in matches:
        rows = store.query(_SQL.event, {"session": session, "seq": seq})
        if not rows:
            continue  # its session was deleted just now
        session_id, version, type, data, raw, has_joined, shadowed_by, turn = rows[0]
        state: State = "log-only" if not has_joined else "shadowed" if shadowed_by else "surface"
        if chosen.state not in (None, state):
            continue
        event = StoredEvent(seq, 1, type, time, data, raw=raw)
        text = dict(texts.read_texts(event, version, everything=role not in SAID)).get(role, "")
        spans = find(text)
        if not spans:
            yield None
            continue
        snippet, marks = make_snippet(text, spans)
        yield SearchHit(
            session_id=session_id,
            format_version=version,
            seq=seq,
            turn=turn if isinstance(turn, int) else None,
            role=role,
            time=time,
            state=state,
            shadowed_by=shadowed_by,
            score=score,
            snippet=snippet,
            marks=marks,
        )


def _sure(hits: Iterator[SearchHit | None], trusted: bool) -> Iterator[SearchHit]:
    """The hits; an index that names a text without one is in doubt, or that text passed over."""
    for hit in hits:
        if hit is not None:
            yield hit
        elif trusted:
            raise Doubt("it names texts in which nothing is found")
