"""How Datasette shows a cell of a store: times, messages and payloads to read, links to sessions.

Decided by the name of the column, so that it holds in the user's own queries too; a value that is
not what the name says is left to Datasette.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import msgspec
from datasette.utils import tilde_encode
from markupsafe import Markup

from dshstore.plugins.browsing.prose import (
    is_long,
    legible,
    set_json,
    set_markdown,
    set_text,
    set_time,
    shorten,
)

_TIMES = frozenset(
    {"time", "created_at", "imported_at", "first_time", "last_time", "started", "ended"}
    | {"requested"}
)
_DURATIONS = frozenset({"duration", "delay", "mean_duration", "longest_duration"})
_JSON = frozenset({"data", "header", "arguments", "usage", "source_event_seqs", "notes"})
_TEXTS = frozenset({"text", "result", "summary", "first_prompt"})
_EVENTS = frozenset({"seq", "result_seq", "first_seq", "last_seq", "shadowed_by", "source_seq"})

#: Characters of a message that are shown in a cell.
_MESSAGE = 600


def show_cell(row: Mapping[str, Any], value: Any, column: str, base: str) -> Markup | None:
    """The cell as HTML, or None where Datasette's own way will do.

    `base` is the path of the store's database.
    """
    if column == "session_id" and isinstance(value, str):
        return Markup('<a href="{}">{}</a>').format(
            session_path(base, value, _version(row)), legible(value)
        )
    if isinstance(value, int):
        return _show_number(row, value, column, base)
    if not isinstance(value, str):
        return None
    if column == "message":
        return _show_message(value)
    if column in _JSON:
        return _show_json(value)
    return set_text(value, 4) if column in _TEXTS and is_long(value, 4) else None


def session_path(base: str, session_id: str, version: int | None = None, **more: Any) -> str:
    """The path of a session's transcript: of its highest generation, or of this one.

    `more` are parameters of the page: `at`, `event`, `shadowed`, `page`.
    """
    parameters = {"format": version, **more}
    query = urlencode({key: value for key, value in parameters.items() if value is not None})
    path = f"{base}/-/session/{tilde_encode(session_id)}"
    return f"{path}?{query}" if query else path


def _show_number(row: Mapping[str, Any], value: int, column: str, base: str) -> Markup | None:
    if column in _TIMES:
        return set_time(value)
    if column in _DURATIONS:
        return Markup('<span class="dsh-number">{} ms</span>').format(f"{value:,}")
    session_id = row["session_id"] if "session_id" in row.keys() else None  # noqa: SIM118
    if column in _EVENTS and isinstance(session_id, str):
        path = session_path(base, session_id, _version(row), event=value)
        return Markup('<a href="{}#e{}">{}</a>').format(path, value, value)
    return None


def _version(row: Mapping[str, Any]) -> int | None:
    found = row["format_version"] if "format_version" in row.keys() else None  # noqa: SIM118
    return found if isinstance(found, int) else None


def _show_message(value: str) -> Markup | None:
    try:
        message = msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError):
        return None
    if not isinstance(message, dict) or "content" not in message:
        return _show_json(value)
    content = message["content"]
    pieces = [_show_block(block) for block in (content if isinstance(content, list) else [content])]
    return Markup('<div class="dsh-cell">{}</div>').format(Markup("").join(pieces))


def _show_block(block: Any) -> Markup:
    match block:
        case str(text) | {"type": "text", "text": str(text)}:
            return set_markdown(shorten(text, _MESSAGE))
        case {"type": "reasoning", "text": str(text)}:
            return Markup('<p class="dsh-reasoning">{}</p>').format(
                legible(shorten(text, _MESSAGE))
            )
        case {"type": "tool-call", "name": str(name), "arguments": arguments}:
            said = arguments if isinstance(arguments, str) else set_json(arguments)
            return Markup('<p class="dsh-call">{} <code>{}</code></p>').format(
                legible(name), legible(shorten(said, _MESSAGE))
            )
        case {"type": "tool-result", "content": list(blocks)}:
            return Markup("").join(_show_block(inner) for inner in blocks)
        case {"type": "image", "attachment": {"mediaType": str(media)}}:
            return Markup("<p>▣ {}</p>").format(legible(shorten(media, _MESSAGE)))
        case _:
            return set_text(set_json(block), 4)


def _show_json(value: str) -> Markup | None:
    try:
        return set_text(set_json(msgspec.json.decode(value)), 4, " ".join(value[:200].split()))
    except (msgspec.DecodeError, RecursionError):
        return None
