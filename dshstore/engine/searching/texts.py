"""What is written in a store: the texts that a search reads, each with who wrote it.

Decides which sessions, which events and which parts of them are read. People and models write
messages and titles; the rest (what a model thought, what tools were given and gave back, prompts
of the system) is asked for apart. Payloads of any age are read alike: what is not of a known
shape has no text. Runs of token chunks are passed over, for their message says the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, Literal

import msgspec

from dshstore.db import Database
from dshstore.formats.dsh import rows
from dshstore.jsontext import JsonError, parse
from dshstore.model import StoredEvent
from dshstore.sqlfiles import Statement, load

#: Who, or what, wrote a text: `tool` is what tools were given and gave back, `system` a prompt.
Role = Literal["user", "assistant", "title", "reasoning", "tool", "system"]

#: What people and models wrote.
SAID: tuple[Role, ...] = ("user", "assistant", "title")

#: The event types with texts of these roles, and those with any text.
_SAID_TYPES = ["user/message", "steering/message", "assistant/message", "session/title"]
_ALL_TYPES = [*_SAID_TYPES, "tool/result", "system/message", "developer/message", "request/header"]

#: Rows of one page: few, for one row may hold many megabytes.
_PAGE = 256

#: What stands in `data` for a payload that is nested too deep for it.
_DEEP = '{"$deep":true}'

_decode = msgspec.json.Decoder().decode


class _Statements(msgspec.Struct, frozen=True):
    sessions: Statement
    ends: Statement
    latest: Statement
    witness: Statement
    last_events: Statement
    page: Statement


_SQL = load("texts", _Statements)


class SearchedSession(msgspec.Struct, frozen=True):
    """A session that is searched, by its highest generation (`key` is `sessions.id`).

    `born` says when and from what it was made. Its events before `own_from` are found with its
    parent, which is here.
    """

    key: int
    format_version: int
    next_seq: int
    born: str
    own_from: int


class Text(msgspec.Struct, frozen=True):
    """A text of an event; `time` is epoch ms."""

    seq: int
    time: int
    role: Role
    text: str


def to_list(values: Iterable[Any] | None) -> str | None:
    """Values as a JSON list, for a statement to look them up in; None stays None, for all."""
    return None if values is None else msgspec.json.encode(list(values)).decode()


def searched_sessions(store: Database, keys: Iterable[int] | None = None) -> list[SearchedSession]:
    """The sessions that are searched, all or those of these keys, in the order of their making."""
    return [SearchedSession(*row) for row in store.query(_SQL.sessions, {"keys": to_list(keys)})]


def session_ends(store: Database) -> set[tuple[int, int, int]]:
    """Of each of these sessions its key, next seq and `own_from`: quicker than all of them."""
    return {(key, end, own) for key, end, own in store.query(_SQL.ends)}


#: The number of an event's row, of an import and of a session, each None for none, and as text
#: what these rows hold.
Witness = tuple[int | None, int | None, int | None, str]


def call_witness(store: Database) -> Witness:
    """The rows that were last written to the store."""
    [(event, log, session)] = store.query(_SQL.latest)
    return event, log, session, _held(store, event, log, session)


def is_witnessed(store: Database, witness: Witness) -> bool:
    """Whether the store still has the rows that were once its last.

    What was in it then is in it now, but for deleted sessions: a store only grows.
    """
    *rows, held = witness
    return _held(store, *rows) == held


def _held(store: Database, event: int | None, log: int | None, session: int | None) -> str:
    rows = {"event": event, "import": log, "session": session}
    return str(store.query(_SQL.witness, rows)[0][0])


def last_events(store: Database, ends: Iterable[tuple[int, int]]) -> dict[int, str]:
    """For each session (its key) how the last event of its own before a seq can be known again."""
    return dict(store.query(_SQL.last_events, {"ends": to_list(ends)}))


def read_page(
    store: Database, session: SearchedSession, first: int, *, everything: bool
) -> tuple[list[Text], int]:
    """The texts of some events of a session's own from `first` on, and where the next begin."""
    wanted = {
        "session": session.key,
        "first": first,
        "end": session.next_seq,
        "types": to_list(_ALL_TYPES if everything else _SAID_TYPES),
        "page": _PAGE,
    }
    page = store.query(_SQL.page, wanted)
    found = [
        Text(seq, time, role, text)
        for seq, type, time, data, raw in page
        for role, text in read_texts(
            StoredEvent(seq, 1, type, time, data, raw=raw),
            session.format_version,
            everything=everything,
        )
    ]
    return found, page[-1][0] + 1 if len(page) == _PAGE else session.next_seq


def read_texts(event: StoredEvent, version: int, *, everything: bool) -> Iterator[tuple[Role, str]]:
    """The texts of an event; without `everything` those that people and models wrote alone."""
    data = _payload(event, version)
    texts: dict[Role, list[str]] = {}
    match event.type:
        case "session/title":
            texts["title"] = [_text(data, "title")]
        case "user/message" | "steering/message":
            texts["user"] = list(_texts(_content(data)))
        case "assistant/message":
            content = _content(data)
            texts["assistant"] = list(_texts(content))
            if everything:
                texts["reasoning"] = list(_texts(content, "reasoning"))
                texts["tool"] = list(_calls(content))
        case "tool/result":
            texts["tool"] = list(_texts(_content(data)))
        case "request/header":
            texts["system"] = [_text(_member(data, "header"), "system")]
        case _:
            texts["system"] = list(_texts(_content(data)))
    for role, found in texts.items():
        if written := "\n".join(filter(None, found)):
            yield role, written


def _payload(event: StoredEvent, version: int) -> Any:
    """The payload; None for one that cannot be read, which is for `verify` to tell."""
    with suppress(JsonError):
        if event.raw is not None and event.data == _DEEP:
            return parse(rows.data_bytes(event, version))
        try:
            return _decode(event.data)
        except (msgspec.DecodeError, RecursionError):
            return parse(event.data)
    return None


def _content(data: Any) -> Any:
    """The content of a message: the payload itself, its `message`, or as it was before v1."""
    message = _member(data, "message")
    content = _member(data if message is None else message, "content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []


def _texts(content: Any, kind: str = "text") -> Iterator[str]:
    for block in content:
        if _member(block, "type") == kind:
            yield _text(block, "text")
        elif _member(block, "type") == "tool-result" and kind == "text":
            yield from _texts(_content(block))


def _calls(content: Any) -> Iterator[str]:
    for block in content:
        if _member(block, "type") == "tool-call":
            yield f"{_text(block, 'name')} {_text(block, 'arguments')}".strip()


def _member(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, dict) else None


def _text(holder: Any, name: str) -> str:
    """A text member; half a surrogate pair, which no index takes, becomes U+FFFD."""
    value = _member(holder, name)
    if not isinstance(value, str):
        return ""
    if value.isascii():
        return value
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
