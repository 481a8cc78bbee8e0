"""Why an event stands where it does: what it was made of, and what stands for it now.

Decides which events belong to the answer: backwards what is cited, down to events that cite
nothing; forwards what took an event's place, up to the node that is on the surface now; for a
tool result also its call. How an answer looks is for others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Literal

import msgspec

from dshstore.db import Database
from dshstore.engine import read
from dshstore.engine.payload import answered_call
from dshstore.formats.dsh import rows
from dshstore.formats.dsh.vocabulary import is_surface
from dshstore.model import StoredEvent
from dshstore.sqlfiles import Statement, load

#: `live`: on the surface now. `shadowed`: another took its place. `log-only`: never on it.
State = Literal["live", "shadowed", "log-only"]

#: Characters of an event's first words, and members of a run that they are taken from.
_WORDS, _MEMBERS = 120, 64


class EventBrief(msgspec.Struct, frozen=True, kw_only=True):
    """An event in a few words; a run of `count` token chunks from `seq` on is told as one.

    `time` is in epoch ms. `now` is the event that stands for it on the surface now, itself when
    it is live, None when it never was on the surface. `cites` are the seqs that it names.
    """

    seq: int
    count: int
    type: str
    time: int
    text: str
    state: State
    now: int | None
    cites: list[int]


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to say of one event: the object that `why --json` prints.

    `sources` are all events that it was made of: those that it cites, that these cite, and so on,
    each once, the nearest first. `shadowed` are the events whose place it took, in the order in
    which they stood; `shadowed_by` is who took its place, who took the place of that one, and so
    on, up to what is on the surface now. `cited_by` are the events that cite it. `call` and
    `message` are the `tool/call` and the assistant message that a tool result goes back to.
    """

    session_id: str
    format_version: int
    event: EventBrief
    sources: list[EventBrief]
    shadowed: list[EventBrief]
    shadowed_by: list[EventBrief]
    cited_by: list[EventBrief]
    call: EventBrief | None
    message: EventBrief | None


class _Statements(msgspec.Struct, frozen=True):
    is_live: Statement
    shadower: Statement
    shadowed: Statement
    citing: Statement
    call: Statement
    message: Statement


_SQL = load("why", _Statements)


def explain(database: Database, session: read.SessionRow, seq: int) -> Explanation:
    """Why event `seq` of a session stands where it does. Raises EventNotFound."""
    read.check_seq(session, seq)
    return _Inquiry(database, session).explain(seq)


class _Inquiry:
    """One question to one session."""

    def __init__(self, database: Database, session: read.SessionRow) -> None:
        self._database, self._session = database, session
        self._shadowers: dict[int, int | None] = {}

    def explain(self, seq: int) -> Explanation:
        row = self._row(seq)
        event = self._brief(_member(row, seq, self._session.format_version))
        call_id = _call_id(row)
        return Explanation(
            session_id=self._session.session_id,
            format_version=self._session.format_version,
            event=event,
            sources=list(self._sources(event)),
            shadowed=self._briefs(self._seqs(_SQL.shadowed, seq)),
            shadowed_by=self._briefs(self._chain(seq)),
            cited_by=self._briefs(self._seqs(_SQL.citing, seq)),
            call=self._last(_SQL.call, seq, call_id) if row.type == "tool/result" else None,
            message=self._last(_SQL.message, seq, call_id),
        )

    def _sources(self, event: EventBrief) -> Iterator[EventBrief]:
        seen: set[tuple[int, int]] = set()  # a run may be cited in parts
        todo = deque([event])
        while todo:
            for row in self._rows(todo.popleft().cites):
                if (row.seq, row.count) not in seen:
                    seen.add((row.seq, row.count))
                    brief = self._brief(row)
                    todo.append(brief)
                    yield brief

    def _chain(self, seq: int) -> Iterator[int]:
        """Who took the place of an event, of that one, and so on."""
        while (shadower := self._shadower(seq)) is not None:
            yield shadower
            seq = shadower

    def _shadower(self, seq: int) -> int | None:
        if seq not in self._shadowers:
            found = self._seqs(_SQL.shadower, seq)
            self._shadowers[seq] = found[0] if found else None
        return self._shadowers[seq]

    def _last(self, statement: Statement, seq: int, call_id: Any) -> EventBrief | None:
        if not isinstance(call_id, str):
            return None
        found = self._seqs(statement, seq, call_id=call_id)
        return self._brief(self._row(found[0])) if found else None

    def _seqs(self, statement: Statement, seq: int, **more: Any) -> list[int]:
        asked = {"session": self._session.key, "seq": seq, **more}
        return [row[0] for row in self._database.query(statement, asked)]

    def _row(self, seq: int) -> StoredEvent:
        return next(read.stored_events(self._database, self._session, seq, seq))

    def _rows(self, seqs: Iterable[int]) -> Iterator[StoredEvent]:
        """The rows of these events, each once, in order."""
        for first, last in _spans(seqs):
            yield from read.stored_events(self._database, self._session, first, last)

    def _briefs(self, seqs: Iterable[int]) -> list[EventBrief]:
        return [self._brief(self._row(seq)) for seq in seqs]

    def _brief(self, row: StoredEvent) -> EventBrief:
        version = self._session.format_version
        state, now = self._place(row.seq)
        sources = rows.stored_value(row.seq, row.source_event_seqs or "[]")
        return EventBrief(
            seq=row.seq,
            count=row.count,
            type=row.type,
            time=row.time,
            text=_first_words(row, version),
            state=state,
            now=now,
            cites=[int(source) for source in sources] if is_surface(row.type, version) else [],
        )

    def _place(self, seq: int) -> tuple[State, int | None]:
        *_, last = seq, *self._chain(seq)
        if not self._seqs(_SQL.is_live, last):
            return "log-only", None
        return ("live" if last == seq else "shadowed"), last


def _spans(seqs: Iterable[int]) -> list[tuple[int, int]]:
    """The seqs as ranges from first to last."""
    spans: list[tuple[int, int]] = []
    for seq in sorted(seqs):
        if spans and seq <= spans[-1][1] + 1:
            spans[-1] = spans[-1][0], seq
        else:
            spans.append((seq, seq))
    return spans


def _member(row: StoredEvent, seq: int, version: int) -> StoredEvent:
    """The row of one event, which may be a member of a run."""
    if row.count == 1:
        return row
    event = next(event for event in rows.logical(row, version) if event["seq"] == seq)
    return rows.store(event, version)


def _call_id(row: StoredEvent) -> Any:
    """The id of the call that an event starts or answers."""
    if row.type not in ("tool/call", "tool/result"):
        return None
    data = rows.stored_value(row.seq, row.data)
    if not isinstance(data, Mapping):
        return None
    return data.get("callId") if row.type == "tool/call" else answered_call(data)


def _first_words(row: StoredEvent, version: int) -> str:
    """How an event begins: what is said in it, or its payload where nothing is."""
    if row.stream is not None and row.stream.at is None:
        members = islice(rows.logical(row, version), _MEMBERS)
        words = "".join(_chunk_words(event["data"]["chunk"]) for event in members)
    else:
        data = rows.stored_value(row.seq, row.data)
        words = " ".join(_words(data)) if isinstance(data, Mapping) else ""
    return (words or row.data)[:_WORDS]


def _words(data: Mapping[str, Any]) -> Iterator[str]:
    """What the payload of an event says, in pieces."""
    match data:
        case {"chunk": Mapping() as chunk}:
            yield _chunk_words(chunk)
        case {"message": {"content": list(blocks)}} | {"content": list(blocks)}:
            yield from _block_words(blocks)
        case {"summary": list(blocks)}:
            yield from _block_words(blocks)
        case {"callId": str(), "name": str(name), "arguments": str(arguments)}:
            yield f"{name} {arguments}"
        case {"title": str(title)}:
            yield title
        case _:
            pass


def _block_words(blocks: list[Any]) -> Iterator[str]:
    for block in blocks:
        match block:
            case {"type": "text" | "reasoning", "text": str(text)}:
                yield text
            case {"type": "tool-call", "name": str(name), "arguments": str(arguments)}:
                yield f"{name} {arguments}"
            case {"type": "tool-result", "content": list(inner)}:
                yield from _block_words(inner)
            case {"type": str(kind)}:
                yield f"[{kind}]"
            case _:
                pass


def _chunk_words(chunk: Mapping[str, Any]) -> str:
    for key in ("text", "argumentsDelta"):
        if isinstance(chunk.get(key), str):
            return str(chunk[key])
    return ""
