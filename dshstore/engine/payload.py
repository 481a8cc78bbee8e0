"""What the payloads of events say that bears on the surface and on calls.

Decides which call a tool result answers, when two of them differ in their content alone, which
images of a message there are and which of them are offloaded, and which tools a developer message
may add. Who asks, and where on the surface an event stands, is `surface`'s; what a message looks
like in the end is `derive`'s. Everything here is pure and forgiving about shapes that no rule
speaks of.

Images and developer messages have rules from format v4 on; older formats ask neither.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from hashlib import blake2b
from itertools import count
from math import inf, isfinite
from typing import Any

import msgspec

from dshstore.errors import EventRefused, shown
from dshstore.streams.records import safe_integer

#: The flag of an image that is left out; that of any other is 0.
OFFLOADED = 1

#: Tuples, for a union would be made anew at each check.
_NUMBER, _ARRAY = (int, float), (list, tuple)

_TOOL_BLOCKS = ("tool-addition", "tool-removal")


def to_seq(value: Any) -> int | None:
    """The value as a seq, None when JavaScript would not take it for a count: 1.0 is one."""
    number = safe_integer(value)
    return None if number is None or number < 0 else number


# -- tool results --


def answered_call(data: Mapping[str, Any]) -> Any:
    """The id of the call that the payload of a `tool/result` answers, if it names one."""
    message = data.get("message", {"source": data})  # old v0 results have no message
    source = message.get("source") if isinstance(message, Mapping) else None
    return source.get("callId") if isinstance(source, Mapping) else None


def digest_result(data: Any, format_version: int) -> bytes:
    """A digest of a tool result's payload with its content blanked.

    Two digests are equal exactly when JavaScript finds the two payloads deeply equal but for
    their content: `message.content` from v4 on, `message.content[0].content` before that (the
    message wraps one block), and `content` where a v0 result has no message yet.
    """
    blanked = _blank(data, format_version)
    text = _write_even(blanked)
    if text is None or text.count(b"{") + text.count(b"[") > _FLAT_DEPTH:
        text = _write_flat(blanked)
    return blake2b(text, digest_size=16).digest()


#: What may be nested more often than this is written without recursion.
_FLAT_DEPTH = 100

_write_sorted = msgspec.json.Encoder(order="sorted").encode
_FLOAT = object()
_read_integers = msgspec.json.Decoder(float_hook=lambda text: _FLOAT).decode

#: Every digit as a zero (a search for sixteen of them is then quick), and as many as are too many.
_AS_ZEROS, _LONG_NUMBER = bytes.maketrans(b"123456789", b"000000000"), b"0" * 16


def _write_even(value: Any) -> bytes | None:
    """The JSON text that all equal values have; None for what has no such text."""
    try:
        text = _write_sorted(value)
        # what comes back equal had no floats, and these integers are the same as doubles
        if _read_integers(text) == value and _LONG_NUMBER not in text.translate(_AS_ZEROS):
            return text
    except _UNWRITABLE:
        pass
    try:
        return _write_sorted(_even_out(value))
    except _UNWRITABLE:
        return None


_UNWRITABLE = (msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError)


def _even_out(value: Any) -> Any:
    """The value with one spelling for equal numbers and strings. Raises ValueError for some."""
    if isinstance(value, str):
        joined = value if value.isascii() else _join_halves(value)
        if isinstance(joined, bytes):
            raise ValueError("half a surrogate pair")
        return joined
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, _NUMBER):
        number = _to_double(value)
        if not isfinite(number):
            raise ValueError("an infinite number")
        return int(number) if number.is_integer() and abs(number) < 1e15 else number
    if isinstance(value, _ARRAY):
        return [_even_out(item) for item in value]
    return {_even_out(key): _even_out(item) for key, item in value.items()}


def _write_flat(whole: Any) -> bytes:
    """The value as one flat list, for what no JSON text holds."""
    # Numbers are doubles in it, so an int can say how many members follow (of an object, its keys
    # sorted) or, negative, how many elements.
    flat: list[Any] = []
    todo = [whole]
    while todo:
        value = todo.pop()
        if isinstance(value, str):
            flat.append(value if value.isascii() else _join_halves(value))
        elif value is None or isinstance(value, bool):
            flat.append(value)
        elif isinstance(value, _NUMBER):
            flat.append(_to_double(value))
        elif isinstance(value, _ARRAY):
            flat.append(~len(value))
            todo.extend(reversed(value))
        else:
            flat.append(len(value))
            for key in sorted(value, reverse=True):
                todo += (value[key], key)
    return msgspec.msgpack.encode(flat)


def _blank(data: Any, format_version: int) -> Any:
    """A copy of a result's payload whose content, if it has one, is null."""
    if not isinstance(data, Mapping):
        return data
    message = data.get("message")
    if "message" not in data and format_version == 0:
        return _null(data, "content")
    if not isinstance(message, Mapping):
        return data
    if format_version >= 4:
        return {**data, "message": _null(message, "content")}
    blocks = message.get("content")
    if not isinstance(blocks, _ARRAY) or not blocks or not isinstance(blocks[0], Mapping):
        return data
    return {**data, "message": {**message, "content": [_null(blocks[0], "content"), *blocks[1:]]}}


def _null(holder: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    return {**holder, key: None} if key in holder else holder


def _join_halves(text: str) -> str | bytes:
    """The text as JavaScript compares it; as bytes when half a surrogate pair stays alone."""
    data = text.encode("utf-16-le", "surrogatepass")
    try:
        return data.decode("utf-16-le")
    except UnicodeDecodeError:
        return data


def _to_double(number: float) -> float:
    try:
        return float(number) + 0.0  # -0 equals 0
    except OverflowError:
        return inf if number > 0 else -inf


# -- images --


def flag_images(type: str, data: Any) -> bytes | None:
    """One flag for each image of a message, in order, OFFLOADED or 0; None when it has none.

    Only the images of user messages and tool results can be offloaded; others have none here.
    """
    if type == "tool/result":
        data = _get(data, "message")
    elif type != "user/message":
        return None
    blocks = _get(data, "content")
    if not isinstance(blocks, _ARRAY):
        return None
    flags = bytes(_get(block, "offloaded") is True for block in blocks if _is_image(block))
    return flags or None


def read_targets(data: Any, seq: int) -> dict[int, list[int]]:
    """The images that an `image/offload` names: image indexes by the seq of their message.

    Raises `EventRefused` (offload-invalid) when the payload is not of the one shape that the
    format knows; whether the images exist is `offload_images`' to say.
    """
    targets = _get(data, "targets")
    if not isinstance(targets, _ARRAY) or not targets or len(data) != 1:
        raise _offload_fault(seq, "the payload must be a non-empty list of targets")
    indexes_by_seq: dict[int, list[int]] = {}
    for target in targets:
        of, listed = to_seq(_get(target, "seq")), _get(target, "imageIndexes")
        if of is None or not isinstance(listed, _ARRAY) or not listed or len(target) != 2:
            raise _offload_fault(seq, "a target must be a seq and a non-empty list of indexes")
        indexes = [to_seq(index) for index in listed]
        if of in indexes_by_seq:
            raise _offload_fault(seq, f"event {of} is named twice")
        known = [index for index in indexes if index is not None]
        if known != sorted(set(known)) or len(known) != len(indexes):
            raise _offload_fault(seq, "indexes of images must be counts that increase")
        indexes_by_seq[of] = known
    return indexes_by_seq


def offload_images(flags: bytes | None, indexes: list[int], seq: int) -> bytes:
    """The flags of a message's images after the event `seq` offloaded those of `indexes`.

    Raises `EventRefused` (offload-invalid) for an image that is not there or already offloaded.
    """
    changed = bytearray(flags or b"")
    for index in indexes:
        if index >= len(changed) or changed[index] == OFFLOADED:
            there = index < len(changed)
            raise _offload_fault(
                seq, f"image {index} {'is offloaded already' if there else 'does not exist'}"
            )
        changed[index] = OFFLOADED
    return bytes(changed)


def hide_images(message: Mapping[str, Any], indexes: Collection[int]) -> dict[str, Any]:
    """A copy of a message whose images of these indexes carry `"offloaded":true`."""
    counted = count()

    def hide(block: Any) -> Any:
        hidden = _is_image(block) and next(counted) in indexes
        return {**block, "offloaded": True} if hidden else block

    blocks = message.get("content")
    if not isinstance(blocks, _ARRAY):
        return dict(message)
    return {**message, "content": [hide(block) for block in blocks]}


def _is_image(block: Any) -> bool:
    return bool(_get(block, "type") == "image")


def _offload_fault(seq: int, detail: str) -> EventRefused:
    return EventRefused("offload-invalid", None, seq, detail)


# -- tools --


def read_tool_names(data: Any) -> frozenset[str]:
    """The tools of a `request/header` that a developer message may add by name.

    A name counts that stands there once and whose definition is complete: a description, an
    object of parameters, and a `deferLoading`, if any, of true.
    """
    tools = _get(_get(data, "header"), "tools")
    complete: dict[str, bool] = {}
    for tool in tools if isinstance(tools, _ARRAY) else ():
        name = _get(tool, "name")
        if isinstance(name, str):
            complete[name] = name not in complete and (
                isinstance(tool.get("description"), str)
                and isinstance(tool.get("parameters"), Mapping)
                and tool.get("deferLoading", True) is True
            )
    return frozenset(name for name, is_complete in complete.items() if is_complete)


def check_developer(data: Any, seq: int, headers: Mapping[int, Collection[str]]) -> None:
    """Refuse a developer message that adds tools which no earlier request header defines.

    `headers` has the tool names of the `request/header` events before `seq`, by their seqs.
    Raises `EventRefused` (developer-header-invalid).
    """
    message = _get(data, "message")
    if isinstance(message, Mapping) and message.get("role") != "developer":
        raise _developer_fault(seq, "the role of the message must be developer")
    added: list[str] = []
    for block in _changed_tools(_get(message, "content")):
        name = block.get("toolName")
        if not isinstance(name, str) or not name:
            raise _developer_fault(seq, "an added or removed tool must have a name")
        if block["type"] == "tool-addition":
            if "tool" in block:
                raise _developer_fault(seq, f"tool {shown(name)} must not be defined in place")
            added.append(name)
    if not added:
        if isinstance(data, Mapping) and "headerSeq" in data:
            raise _developer_fault(seq, "headerSeq is for messages that add tools")
        return
    header = to_seq(_get(data, "headerSeq"))
    names = None if header is None else headers.get(header)
    if names is None:
        raise _developer_fault(seq, "headerSeq must be the seq of an earlier request/header")
    for name in added:
        if name not in names:
            raise _developer_fault(
                seq, f"event {header} has not exactly one complete definition of tool {shown(name)}"
            )


def _changed_tools(blocks: Any) -> Iterable[Mapping[str, Any]]:
    if isinstance(blocks, _ARRAY):
        for block in blocks:
            if _get(block, "type") in _TOOL_BLOCKS:
                yield block


def _developer_fault(seq: int, detail: str) -> EventRefused:
    return EventRefused("developer-header-invalid", None, seq, detail)


def _get(holder: Any, key: str) -> Any:
    if type(holder) is dict:  # as it nearly always is: asking for an abstract class takes time
        return holder.get(key)
    return holder.get(key) if isinstance(holder, Mapping) else None
