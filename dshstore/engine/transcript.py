"""A log as a person reads it: messages, calls, failures and compactions in the order of the log.

Decides which events a reader cares for, and what became of each on the surface; how they look is
for others. Payloads are given as stored, token streams are left where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

import msgspec

from dshstore.db import Database
from dshstore.engine import read
from dshstore.formats.dsh import rows
from dshstore.model import MAX_SAFE
from dshstore.sqlfiles import Statement, load

#: Rows of one page.
_PAGE = 256

#: Sources whose text was written to be read, rather than by a program for a model.
_SPOKEN = ("user", "compact", "compact-checkpoint")


class Replaced(msgspec.Struct, frozen=True):
    """What an event took the place of: how many nodes, and the least and the greatest seq."""

    nodes: int
    first_seq: int
    last_seq: int


class Speech(msgspec.Struct, frozen=True):
    """What a message says, in whichever shape its format has it.

    `source` is the kind of who it is from, or the name of a plugin, as stored: a string in a sound
    log. `spoken` tells whether it was written to be read, by a person or by a model.
    """

    source: Any
    blocks: list[Any]
    spoken: bool


class Failure(msgspec.Struct, frozen=True):
    """What is told of something that went wrong, and its code, as stored."""

    told: Any
    code: Any

    def words(self, spell: Callable[[Any], str]) -> str:
        """Both in words; `spell` writes what may be anything in a log of others."""
        return f"{spell(self.told)} ({spell(self.code)})" if self.code else spell(self.told)


class ToolAnswer(msgspec.Struct, frozen=True):
    """What a `tool/result` says, in whichever shape its format has it.

    `call_id` and `error_code` are as stored: strings in a sound log.
    """

    call_id: Any
    blocks: list[Any]
    failed: bool
    error_code: Any


class TranscriptEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One event of a transcript; `time` is epoch ms, `data` its payload as stored.

    `state` is whether the model sees it: live, shadowed (by the event `shadowed_by`), or log-only.
    `replaced` is what it took the place of. `finish` is how the stream of a failed attempt ended.
    """

    seq: int
    type: str
    time: int
    data: Any
    state: Literal["live", "shadowed", "log-only"]
    shadowed_by: int | None = None
    replaced: Replaced | None = None
    finish: str | None = None

    @property
    def speech(self) -> Speech:
        """What it says, if it is a message."""
        data = _object(self.data)
        message = data.get("message", data)
        source = _object(_object(message).get("source"))
        kind = source.get("kind")
        kind = source.get("plugin") if kind == "plugin" else kind
        content = message.get("content") if isinstance(message, dict) else message
        blocks = content if isinstance(content, list) else [] if content is None else [content]
        return Speech(kind, blocks, self.type == "assistant/message" or kind in _SPOKEN)

    @property
    def failure(self) -> Failure | None:
        """What went wrong, if it tells: of a turn, of an attempt that is tried again, and so on."""
        data = _object(self.data)
        failure = data.get("failure", data.get("error", _object(data.get("reason")).get("error")))
        if failure is None:
            return None
        members = _object(failure)
        message = members.get("message")
        return Failure(failure if message is None else message, members.get("code"))

    @property
    def answer(self) -> ToolAnswer:
        """What it says, if it is a `tool/result`."""
        data = _object(self.data)
        message = _object(data.get("message", data))
        content = message.get("content")
        blocks = content if isinstance(content, list) else [content]
        failed = message.get("isError") is True
        match blocks:
            case [{"type": "tool-result", "content": list(inner), **wrapper}]:
                blocks, failed = inner, wrapper.get("isError") is True
        call_id = data.get("callId") or _object(message.get("source")).get("callId")
        return ToolAnswer(call_id, blocks, failed, _object(data.get("error")).get("code"))


class _Statements(msgspec.Struct, frozen=True):
    entries: Statement
    page_starts: Statement
    nth_last_node: Statement
    shadowed: Statement
    replacements: Statement


_SQL = load("transcript", _Statements)


def read_transcript(
    database: Database,
    session: read.SessionRow,
    at: int | None = None,
    last: int | None = None,
    first: int = 0,
) -> Iterator[TranscriptEntry]:
    """The entries from event `first` up to event `at`, as they stood after it, or stand now.

    `last` begins instead with the event that was so many before the end to join the surface.
    Raises EventNotFound.
    """
    if at is not None:
        read.check_seq(session, at)
    return _entries(database, session, MAX_SAFE if at is None else at, last, first)


def _entries(
    database: Database, session: read.SessionRow, end: int, last: int | None, first: int
) -> Iterator[TranscriptEntry]:
    if last is not None:
        nth = {"session": session.key, "at": end, "skipped": last - 1}
        if found := database.query(_SQL.nth_last_node, nth):
            first = found[0][0]
    span = {"session": session.key, "first": first, "at": end}
    shadowed: dict[int, int] = dict(database.query(_SQL.shadowed, span))
    replaced = {seq: Replaced(*rest) for seq, *rest in database.query(_SQL.replacements, span)}
    for seq, type, time, data, surface_op, finish in _rows(database, session, first, end):
        by = shadowed.get(seq)
        on_surface = "live" if by is None else "shadowed"
        yield TranscriptEntry(
            seq=seq,
            type=type,
            time=time,
            data=rows.stored_value(seq, data),
            state="log-only" if surface_op is None else on_surface,  # type: ignore[arg-type]
            shadowed_by=by,
            replaced=replaced.get(seq),
            finish=finish,
        )


def page_starts(
    database: Database, session: read.SessionRow, size: int, at: int | None = None
) -> list[int]:
    """The seqs with which pages of `size` entries begin. Raises EventNotFound."""
    if at is not None:
        read.check_seq(session, at)
    end = MAX_SAFE if at is None else at
    found = database.query(_SQL.page_starts, {"session": session.key, "at": end, "size": size})
    return [seq for (seq,) in found]


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _rows(
    database: Database, session: read.SessionRow, first: int, last: int
) -> Iterator[tuple[Any, ...]]:
    for begins, ends, owner in read.segments(database, session):
        start, stop = max(first, begins), min(last, ends)
        while start <= stop:
            page = {"owner": owner, "first": start, "last": stop, "page": _PAGE}
            found = database.query(_SQL.entries, page)
            yield from found
            if len(found) < _PAGE:
                break
            start = found[-1][0] + 1
