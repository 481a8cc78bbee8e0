"""Full-text search over what people and models wrote, in all sessions of a store.

Decides what is found: in the highest generation of each session, each event once (what a fork
inherited is found with its parent, unless the fork is asked for), the best match first; and what
is told of a hit. The index is `searching.sidefile`'s; whether the model still sees an event is
asked of the store.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Literal

import msgspec

from dshstore.db import Database
from dshstore.engine import read
from dshstore.engine.choosing import check_limit, name_folder
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
from dshstore.model import MAX_SAFE, StoredEvent
from dshstore.sqlfiles import Statement, load

#: What became of an event on its session's surface.
State = Literal["surface", "shadowed", "log-only"]


class SearchHit(msgspec.Struct, frozen=True, kw_only=True):
    """A text in which something was found.

    `session_id` is the session whose own event it is, or the one that was asked for and has it
    from its parent. `turn` is the turn in which it stands, `time` epoch ms. `state` is whether the
    model sees it in that session: on the `surface`, `shadowed` by the event
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
    """Which texts are wanted: those that fit all of these.

    `roles`: who wrote them; a call of a tool and its result are of the role `tool`, what a model
    thought is `reasoning`, a prompt is `system`. `session` takes what `Store.session` takes, and
    what that session inherited; `project` is a folder in which sessions ran, or one above; `since`
    is epoch ms.
    """

    roles: tuple[Role, ...] = SAID
    state: State | None = None
    session: str | None = None
    project: str | None = None
    since: int | None = None


class _Statements(msgspec.Struct, frozen=True):
    event: Statement
    states: Statement
    in_project: Statement


_SQL = load("search", _Statements)

#: Matches whose state is asked for at once.
_BATCH = 500

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
    Raises QueryFailed for a query that means nothing, SessionNotFound; ValueError for a limit that
    is none.
    """
    check_limit(limit)
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
                return _best_hits(store, index, parsed, chosen, limit, trusted)
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
    scanned = _in_state(store, _scan(store, pattern, chosen, progress), chosen)
    matches = heapq.nlargest(limit, scanned, key=lambda match: match[3])
    found = _hits(store, matches, chosen, find)
    return list(islice((hit for hit in found if hit is not None), limit))


class _Choice(msgspec.Struct, frozen=True):
    """The filters, as statements take them: JSON lists, None for all.

    `asked` is the one session in which is looked (its key), and `parts` are the parts of its log,
    each with whose events they are: in a fork what it inherited is looked through too.
    """

    roles: tuple[Role, ...]
    state: State | None
    since: int | None
    sessions: list[int] | None
    asked: int | None
    parts: list[tuple[int, int, int]] | None

    @classmethod
    def of(cls, store: Database, filters: SearchFilters) -> _Choice:
        asked = parts = sessions = None
        if filters.session is not None:
            named = read.find_session(store, filters.session)
            [session, *_] = read.generations(store, named.session_id)
            asked = session.key
            parts = [(owner, a, b) for a, b, owner in read.segments(store, session)]
        if filters.project is not None:
            found = store.query(_SQL.in_project, {"project": name_folder(filters.project)})
            sessions = [key for (key,) in found]
        return cls(filters.roles, filters.state, filters.since, sessions, asked, parts)

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


def _best_hits(
    store: Database, index: Database, query: Query, chosen: _Choice, limit: int, trusted: bool
) -> list[SearchHit]:
    hits: list[SearchHit] = []
    for ranked in (RANKED, MAX_SAFE):
        # what became of an event is not in the index, so all matches may have to be asked for it
        most = ranked if chosen.state is not None else min(limit, ranked)
        matches = _matches(index, query, chosen, ranked, most)
        in_state = _in_state(store, matches, chosen)
        found = _hits(store, in_state, chosen, lambda text: find_phrases(text, query.phrases))
        hits = list(islice(_sure(found, trusted), limit))
        if len(hits) == limit or len(matches) < ranked:
            break
    return hits


def _matches(index: Database, query: Query, chosen: _Choice, ranked: int, most: int) -> list[Match]:
    try:
        return find_matches(index, {"match": query.match, **chosen.parameters}, ranked, most)
    except StoreBusy:
        raise
    except StoreError as error:
        if ": fts5: " in str(error):
            reason = "this search is too large; make it simpler"
            raise QueryFailed(reason, query.match) from error
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


def _in_state(store: Database, matches: Iterable[Match], chosen: _Choice) -> Iterator[Match]:
    """Those matches whose events are in the state that is wanted, or all."""
    if chosen.state is None:
        yield from matches
        return
    remaining = iter(matches)
    while batch := list(islice(remaining, _BATCH)):
        places = to_list((session, seq) for session, seq, *_ in batch)
        rows = store.query(_SQL.states, {"places": places, "asked": chosen.asked})
        for match, row in zip(batch, rows, strict=True):
            if _state(*row) == chosen.state:
                yield match


def _state(has_joined: int, shadowed_by: int | None) -> State:
    if not has_joined:
        return "log-only"
    return "surface" if shadowed_by is None else "shadowed"


def _hits(
    store: Database, matches: Iterable[Match], chosen: _Choice, find: _Find
) -> Iterator[SearchHit | None]:
    """The hits among matches; None for a match in whose text nothing is found."""
    for session, seq, role, time, score in matches:
        place = {"session": session, "seq": seq, "asked": chosen.asked}
        rows = store.query(_SQL.event, place)
        if not rows:
            continue  # its session was deleted just now
        session_id, version, type, data, raw, has_joined, shadowed_by, turn = rows[0]
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
            state=_state(has_joined, shadowed_by),
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
