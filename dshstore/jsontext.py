"""JSON text as JavaScript reads and writes it; what msgspec cannot take.

Logs are written with `JSON.stringify` and their rules speak of what `JSON.parse` sees, so this
module decides what a text means: which of two equal keys counts, what half a surrogate pair is,
how a number is spelled, how deep a value may go. It also says which texts every SQLite reads with
that same meaning (`readable`) and what to store in place of the others. msgspec does the work
wherever its answer is provably the same; the exact, slower code here does not recurse, so it does
not depend on the interpreter's recursion limit. What a value means to a log is for others.

JavaScript's habit of moving integer-like keys to the front of an object is not followed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from itertools import chain, repeat
from json.encoder import encode_basestring as _quote
from math import inf, isfinite
from typing import Any

import msgspec

#: Levels of arrays and objects that a text may have; SQLite reads no more either.
MAX_DEPTH = 1000

#: Levels that go into a column: deeper values can be read by SQLite, but hardly worked with.
READABLE_DEPTH = 500

#: What stands in a column in place of a value deeper than `READABLE_DEPTH`.
DEEP = '{"$deep":true}'

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode
_read_scalar = json.JSONDecoder().raw_decode
_skip_space = re.compile(r"[ \t\n\r]*").match
_match_number = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?").match
_find_minus_zero = re.compile(rb"-0(?![0-9.eE])").search
_surrogates = re.compile("[\ud800-\udfff]")
_Half = str | Callable[[re.Match[str]], str]
_HOLDERS = {dict, list, tuple}
_KEYS = {str}
_PLAIN = {str, int, bool, type(None), *_HOLDERS}
_NO_OPENERS = bytes(set(range(256)) - set(b"{["))
_LITERALS = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}


class JsonError(ValueError):
    """A text that is not JSON, or a value that JSON cannot hold.

    `position` is the offset in the text, in characters (0 when the fault is in a value).
    """

    def __init__(self, reason: str, position: int = 0) -> None:
        self.reason, self.position = reason, position
        super().__init__(f"{reason} (at character {position})")


class _Token(str):
    """A number as it stands in the text."""


def parse(text: str | bytes) -> Any:
    """The value of a JSON text, as `JSON.parse` sees it.

    The last of two equal keys counts, in the place of the first. Half a surrogate pair stays
    one in the str. Integers are exact ints (only those too long for Python are what JavaScript
    makes of them: infinite), `-0` is the float -0.0. Raises `JsonError`.
    """
    try:
        value = _decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return _read(decoded(text), _number, str)[0]
    data = text.encode() if isinstance(text, str) else text
    if b"-0" in data and _find_minus_zero(data):
        return _read(decoded(text), _number, str)[0]
    if count_openers(data) > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        raise _too_deep()
    return value


def dump(value: Any) -> str:
    """The JSON text of a value, as `JSON.stringify` writes it; ints exactly as they are.

    Tuples and mappings are taken as lists and dicts. Raises `JsonError` for a value nested too
    deep (or in itself), `TypeError` for what has no JSON form.
    """
    try:
        text = _encode(value)
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError):
        return _write(value, _spell)
    return text.decode() if _is_plain(value) else _write(value, _spell)


def dump_bytes(value: Any) -> bytes:
    """`dump` in UTF-8."""
    return dump(value).encode()


def canonical(text: str | bytes) -> str:
    """The text rewritten so that equal values, as JavaScript sees them, have equal text.

    Key order stays. Numbers get the spelling of their double, infinity that of SQLite (9e999).
    """
    return _write(parse(text), _spell_double)


def same(a: Any, b: Any) -> bool:
    """Whether two parsed values are deeply equal in JavaScript.

    Numbers are compared as doubles (1 and 1.0 are equal, 1 and True are not), the order of keys
    does not count.
    """
    pairs, equal = [(a, b)], True
    while pairs and equal:
        a, b = pairs.pop()
        equal = False
        if a is None or b is None or isinstance(a, bool) or isinstance(b, bool):
            equal = a is b
        elif isinstance(a, str) and isinstance(b, str):
            equal = a == b or _joined(a) == _joined(b)
        elif isinstance(a, int | float) and isinstance(b, int | float):
            equal = _double(a) == _double(b)
        elif isinstance(a, Mapping) and isinstance(b, Mapping):
            equal = a.keys() == b.keys()
            pairs.extend((a[key], b[key]) for key in a if equal)
        elif isinstance(a, list | tuple) and isinstance(b, list | tuple):
            equal = len(a) == len(b)
            pairs.extend(zip(a, b, strict=False))
    return equal


def readable(text: bytes | str) -> str | None:
    """None when every SQLite reads the text with JavaScript's meaning, else the text to store.

    SQLite reads the first of two equal keys, old releases compare escaped keys as they are
    written, and a column cannot hold half a surrogate pair. In the text to store the last of
    equal keys stands, keys have no escape they can do without, U+FFFD stands for half a pair
    (and for NUL in a key), numbers stay as they were, and `DEEP` stands for a value nested too
    deep. A few texts that would do come back without spaces. Raises `JsonError` for no JSON.
    """
    try:
        data = text if isinstance(text, bytes) else text.encode()
        value = _decode(data)
        again = _encode(value)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return _rebuild(text)
    if len(data) > 2 * READABLE_DEPTH and count_openers(data) > READABLE_DEPTH:
        depth = _depth(value)
        if depth > MAX_DEPTH:
            raise _too_deep()
        if depth > READABLE_DEPTH:
            return DEEP
    if data == again and b"\\u0000" not in data:
        return None  # so written, no key can stand twice or be spelled in another way
    return None if _keys_are_plain(data, again) else _rebuild(data)


def _keys_are_plain(data: bytes, again: bytes) -> bool:
    """Whether no key of the valid text `data` is escaped or stands twice.

    `again` is its value written anew: keys that were lost on the way show in the number of
    strings. Between two quotes that are not escaped there is a string, or what separates two.
    """
    parts = _unescaped(data).split(b'"')
    if len(parts) != _unescaped(again).count(b'"') + 1:
        return False
    return b"\\" not in data or not any(
        b"\\" in string and after.lstrip().startswith(b":")
        for string, after in zip(parts[1::2], parts[2::2], strict=True)
    )


def _unescaped(data: bytes) -> bytes:
    """The JSON text with its escaped quotes made something else."""
    if b"\\" not in data:
        return data
    return data.replace(b"\\\\", b"\\-").replace(b'\\"', b"\\-")


def _rebuild(text: str | bytes) -> str | None:
    text = decoded(text)
    value, depth = _read(text, _Token, lambda key: _mend(key, "\ufffd").replace("\0", "\ufffd"))
    if depth > READABLE_DEPTH:
        return DEEP
    again = _write(value, str, "\ufffd")
    return None if again == text else again


def decoded(text: str | bytes) -> str:
    """The text as a str. Raises `JsonError` for what is not UTF-8."""
    try:
        return text if isinstance(text, str) else text.decode()
    except UnicodeDecodeError as error:
        before = len(error.object[: error.start].decode())
        raise JsonError(f"not UTF-8: {error.reason}", before) from None


def _joined(text: str) -> str:
    """The text with the two halves of a surrogate pair made one character, as in UTF-16."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _mend(text: str, half: _Half) -> str:
    found = not text.isascii() and _surrogates.search(text)
    return _surrogates.sub(half, _joined(text)) if found else text


def count_openers(data: bytes) -> int:
    """How many brackets open in the text (some in strings): no fewer than it has levels."""
    return len(data.translate(None, _NO_OPENERS))


def _levels(value: Any) -> Iterator[list[Any]]:
    """The value, what it holds, what that holds, and so on."""
    level = [value]
    while level:
        yield level
        holders = [item for item in level if type(item) in _HOLDERS]
        held = (item.values() if type(item) is dict else item for item in holders)
        level = list(chain.from_iterable(held))


def _depth(value: Any) -> int:
    return sum(not _HOLDERS.isdisjoint(map(type, level)) for level in _levels(value))


def _is_plain(value: Any) -> bool:
    """Whether msgspec writes the value like JavaScript: no floats, not too deep."""
    for depth, level in enumerate(_levels(value)):
        keys = chain.from_iterable(item for item in level if type(item) is dict)
        plain = _PLAIN.issuperset(map(type, level)) and _KEYS.issuperset(map(type, keys))
        if not plain or depth >= MAX_DEPTH:
            return False
    return True


def _read(text: str, number: Callable[[str], Any], name: Callable[[str], str]) -> tuple[Any, int]:
    """The value of a text and its levels; makes numbers with `number`, keys with `name`."""
    holders: list[Any] = []
    keys: list[str] = []
    depth = 0
    value: Any
    at = _after_space(text, 0)
    while True:
        if holders and type(holders[-1]) is dict:
            key, at = _key(text, at)
            keys.append(name(key))
        char = text[at : at + 1]
        if char == '"':
            value, at = _string(text, at)
        elif char == "{" or char == "[":
            value, end = ({}, "}") if char == "{" else ([], "]")
            at = _after_space(text, at + 1)
            depth = max(depth, len(holders) + 1)
            if depth > MAX_DEPTH:
                raise _too_deep(at)
            if text[at : at + 1] != end:
                holders.append(value)
                continue
            at += 1
        elif char in _LITERALS and text.startswith(_LITERALS[char][0], at):
            word, value = _LITERALS[char]
            at += len(word)
        elif match := _match_number(text, at):
            value, at = number(match[0]), match.end()
        else:
            raise JsonError("not a JSON value" if char else "ends too early", at)
        while holders:
            holder = holders[-1]
            if type(holder) is list:
                holder.append(value)
                end = "]"
            else:
                holder[keys.pop()] = value
                end = "}"
            at = _after_space(text, at)
            char = text[at : at + 1]
            if char == ",":
                at = _after_space(text, at + 1)
                break
            if char != end:
                raise JsonError(f"no comma and no {end}" if char else "ends too early", at)
            value, at = holders.pop(), at + 1
        else:
            at = _after_space(text, at)
            if at != len(text):
                raise JsonError("something follows the value", at)
            return value, depth


def _after_space(text: str, at: int) -> int:
    match = _skip_space(text, at)
    return match.end() if match else at


def _key(text: str, at: int) -> tuple[str, int]:
    """The key that begins at `at`, and where the value after its colon begins."""
    if text[at : at + 1] != '"':
        raise JsonError("no key" if at < len(text) else "ends too early", at)
    key, at = _string(text, at)
    at = _after_space(text, at)
    if text[at : at + 1] != ":":
        raise JsonError("no colon after a key", at)
    return key, _after_space(text, at + 1)


def _string(text: str, at: int) -> tuple[str, int]:
    try:
        value, end = _read_scalar(text, at)
    except json.JSONDecodeError as error:
        raise JsonError(error.msg.removesuffix(" at"), error.pos) from None
    return value, end


def _number(token: str) -> int | float:
    try:
        return -0.0 if token == "-0" else int(token)
    except ValueError:  # no integer, or longer than Python converts
        return float(token)


def _escaped(half: re.Match[str]) -> str:
    return f"\\u{ord(half[0]):04x}"


def _write(value: Any, spell: Callable[[Any], str], half: _Half = _escaped) -> str:
    """The text of a value, without recursion; `spell` writes numbers, `half` half pairs."""
    out: list[str] = []
    rests: list[tuple[Iterator[Any], str]] = []
    while True:
        if isinstance(value, str):
            out.append(value if type(value) is _Token else _mend(_quote(value), half))
        elif value is None:
            out.append("null")
        elif isinstance(value, bool):
            out.append("true" if value else "false")
        elif isinstance(value, int | float):
            out.append(spell(value))
        elif isinstance(value, Mapping):
            out.append("{")
            rests.append((iter(value.items()), "}"))
        elif isinstance(value, list | tuple):
            out.append("[")
            rests.append((zip(repeat(None), value), "]"))
        else:
            raise TypeError(f"{type(value).__name__} has no JSON form")
        if len(rests) > MAX_DEPTH:
            raise _too_deep()
        while rests:
            rest, end = rests[-1]
            item = next(rest, None)
            if item is None:
                out.append(rests.pop()[1])
                continue
            if out[-1] not in ("{", "["):
                out.append(",")
            key, value = item
            if end == "}":
                if not isinstance(key, str):
                    raise TypeError(f"a JSON key is a str, not {type(key).__name__}")
                out.append(_mend(_quote(key), half) + ":")
            break
        else:
            return "".join(out)


def _spell(number: float) -> str:
    """A number as `JSON.stringify` spells it; ints exactly."""
    if isinstance(number, int):
        return int.__repr__(number)
    if not isfinite(number):
        return "null"
    if number == 0:
        return "0"
    text = float.__repr__(number)
    if 1e-6 <= abs(number) < 1e21:
        return format(Decimal(text), "f") if "e" in text else text.removesuffix(".0")
    digits, exponent = text.split("e")
    return f"{digits}e{int(exponent):+d}"


def _spell_double(number: float) -> str:
    double = _double(number)
    return _spell(double) if isfinite(double) else f"{'-' * (double < 0)}9e999"


def _double(number: float) -> float:
    """The number as JavaScript holds it."""
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -inf


def _too_deep(at: int = 0) -> JsonError:
    return JsonError(f"nested more than {MAX_DEPTH} levels deep", at)
