"""Surface to messages: what a model is shown of each event on the surface.

Decides which part of an event is its message, and that some events have none; old v0 shapes are
upgraded and offloaded images marked on the way. There are two ways to the same messages: `derive`
takes a whole log as events, `message_json` one stored row at a time and keeps the bytes of the
log. Which events are on the surface is `surface`'s, fetching rows is `read`'s.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from dshstore.engine.payload import hide_images, read_targets
from dshstore.engine.surface import Surface
from dshstore.errors import EventRefused, TextUnreadable, UnknownEvent
from dshstore.formats.dsh import legacy, rows
from dshstore.formats.dsh.envelope import UNREADABLE, member_spans
from dshstore.formats.dsh.vocabulary import is_known
from dshstore.jsontext import JsonError, dump_bytes, parse
from dshstore.model import Event, StoredEvent

#: The first format whose images can be offloaded.
OFFLOADS_SINCE = 4

#: The types that have their message in a member of that name. (A user message is its payload.)
_WRAPPED = frozenset({"assistant/message", "system/message", "developer/message", "tool/result"})

#: The types whose message is there for its other members alone when its content is empty.
_SILENT_WHEN_EMPTY = frozenset({"assistant/message", "system/message", "developer/message"})


def derive(
    events: Iterable[Event],
    format_version: int = 0,
    session_id: str | None = None,
    *,
    allow_unknown: bool = False,
) -> list[dict[str, Any]]:
    """The messages that a whole log shows to a model, in order.

    They are the very objects of the log, but for old v0 shapes and offloaded images. Messages of
    the oldest v0 logs take their ids from `session_id`. Raises `EventRefused` for an event that
    breaks a rule, or whose id is to be made of a session id that is not given, and
    `UnknownEvent`, unless allowed, for one of an unknown type that is not marked ignorable.

    >>> said = {"role": "user", "content": [{"type": "text", "text": "hello"}]}
    >>> event = {"type": "user/message", "seq": 0, "time": 0, "data": said, "surfaceOp": "append"}
    >>> derive([event]) == [said]
    True
    """
    log = list(events)
    surface = Surface(format_version)
    for event in log:
        surface.push(event)
    if not allow_unknown:
        _check_types(log, format_version)
    offloaded = offloaded_images(log) if format_version >= OFFLOADS_SINCE else {}
    messages = []
    for seq in surface.nodes:
        event = log[seq]
        if format_version == 0:
            event = legacy.upgrade(event, session_id, lambda at: _id_at(log, at, session_id))
        message = _message_of(event)
        if message is not None:
            messages.append(hide_images(message, offloaded[seq]) if seq in offloaded else message)
    return messages


def offloaded_images(events: Iterable[Event]) -> dict[int, set[int]]:
    """The images that the `image/offload` events among these leave out, by seq of their message.

    An event that a fold would refuse for its shape leaves out none.
    """
    images: dict[int, set[int]] = {}
    for event in events:
        if event["type"] == "image/offload":
            try:
                targets = read_targets(event.get("data"), event["seq"])
            except EventRefused:
                continue  # written by plain SQL, where no trigger reads payloads
            for seq, indexes in targets.items():
                images.setdefault(seq, set()).update(indexes)
    return images


def message_json(
    stored: StoredEvent,
    version: int,
    *,
    session_id: str,
    message_id_at: Callable[[int], str | None] | None = None,
    offloaded: Collection[int] = (),
) -> bytes | None:
    """The message of one event on the surface as JSON, in the bytes in which the log holds it.

    None when the event shows none. The stream of `stored` is not needed. Written anew are only
    messages of an old v0 shape (`message_id_at` tells the id of the message of another event)
    and those with `offloaded` images (their indexes).
    """
    as_written = stored.raw is not None  # names may stand twice in it
    data = rows.data_bytes(stored, version) if as_written else stored.data.encode()
    message = _held_message(stored.type, data)
    if version == 0 and (message is None or stored.type == "user/message"):
        upgraded = _upgraded_message(stored, data, session_id, message_id_at)
        message = message if upgraded is None else dump_bytes(upgraded)
    if message is None or not _is_shown(stored.type, message, as_written):
        return None
    return dump_bytes(hide_images(parse_message(message), offloaded)) if offloaded else message


def plain_message_json(type: str, data: bytes) -> bytes | None:
    """As `message_json`, quickly, for an event of format v1 or later without any oddity.

    `data` is the payload as the row has it; the row has no `raw`, and no image is offloaded.
    """
    message = _held_message(type, data)
    return message if message is not None and _is_shown(type, message) else None


def parse_message(message: bytes) -> Any:
    """The value of a message as `message_json` gives it. Raises TextUnreadable."""
    try:
        return parse(message)
    except JsonError as error:  # a writer of plain SQL can leave such a text
        raise TextUnreadable(f"the message {message[:80]!r}: {error}") from None


def message_id(message: bytes) -> str | None:
    """The id of a message as `message_json` gives it, None when it has none."""
    value = parse_message(message)
    found = value.get("id") if isinstance(value, dict) else None
    return found if isinstance(found, str) else None


def _check_types(log: Sequence[Event], version: int) -> None:
    for seq, event in enumerate(log):
        if event.get("ignorable") is not True and not is_known(event["type"], version):
            raise UnknownEvent(seq, event["type"])


def _id_at(log: Sequence[Event], seq: int, session_id: str | None) -> str | None:
    """The id of the message at `seq`; an old result that replaces another has the other's."""
    asked = [seq]
    while asked:
        event = legacy.upgrade(log[asked.pop()], session_id, asked.append)
    return legacy.message_id(event)


def _message_of(event: Event) -> dict[str, Any] | None:
    kind, message = event["type"], event.get("data")
    if kind in _WRAPPED:
        message = message.get("message") if isinstance(message, Mapping) else None
    elif kind != "user/message":
        return None
    if not isinstance(message, Mapping):
        return None
    if kind in _SILENT_WHEN_EMPTY and message.get("content") in ([], ()):
        return None
    return message  # type: ignore[return-value]


# -- the bytes of a message --


def _held_message(type: str, data: bytes) -> bytes | None:
    if type == "user/message":
        return data if data.startswith(b"{") else data.lstrip(b" \t\n\r")
    return _member(data, "message", _decode_wrapped) if type in _WRAPPED else None


def _is_shown(type: str, message: bytes, as_written: bool = False) -> bool:
    """Whether it is an object, and not one that an empty content silences."""
    if not message.startswith(b"{"):
        return False
    if type not in _SILENT_WHEN_EMPTY or (not as_written and _has_content(message)):
        return True
    content = _member(message, "content", _decode_content)
    return content is None or not _is_empty_list(content)


class _Wrapped(msgspec.Struct, gc=False):
    message: Raw | UnsetType = UNSET


class _Content(msgspec.Struct, gc=False):
    content: Raw | UnsetType = UNSET


class _Identity(msgspec.Struct, gc=False):
    id: Raw | UnsetType = UNSET
    role: Raw | UnsetType = UNSET


_decode_wrapped = msgspec.json.Decoder(_Wrapped).decode
_decode_content = msgspec.json.Decoder(_Content).decode
_decode_identity = msgspec.json.Decoder(_Identity).decode

#: The beginning of most messages, up to a first block: it saves reading the rest.
_has_content = re.compile(rb'\{(?:"(?:id|role)":"[^"\\]*",)*"content":\[\{').match
_is_empty_list = re.compile(rb"\[[ \t\n\r]*\]").fullmatch


def _member(data: bytes, name: str, decode: Callable[[bytes], Any]) -> bytes | None:
    """The bytes of a member of a JSON object, None when there is none."""
    try:
        found = getattr(decode(data), name)
    except UNREADABLE:  # half a surrogate pair, great depth, or no object
        span = member_spans(data).get(name)
        return None if span is None else data[slice(*span)]
    return None if found is UNSET else bytes(found)


def _upgraded_message(
    stored: StoredEvent,
    data: bytes,
    session_id: str,
    message_id_at: Callable[[int], str | None] | None,
) -> dict[str, Any] | None:
    """The message of an event of an old v0 shape, None when its shape is not old."""
    if stored.type == "user/message" and _has_identity(data):
        return None
    value = rows.stored_value(stored.seq, data)
    event = {"type": stored.type, "seq": stored.seq, "time": stored.time, "data": value}
    if stored.surface_op is not None:
        event["surfaceOp"] = rows.stored_value(stored.seq, stored.surface_op)
    upgraded = legacy.upgrade(event, session_id, message_id_at)
    return None if upgraded is event else _message_of(upgraded)


def _has_identity(data: bytes) -> bool:
    try:
        found = _decode_identity(data)
    except UNREADABLE:
        return not {"id", "role"}.isdisjoint(member_spans(data))
    return found.id is not UNSET or found.role is not UNSET
