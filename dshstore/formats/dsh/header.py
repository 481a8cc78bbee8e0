"""The header: the first line of a log, read and written.

Which headers are taken is decided here, for every version of the format: what is wrong with one
is refused, what is odd but harmless is taken with a note, and the line stays as it is. Whether
the header fits the file's name or the events after it is for others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import copysign, isinf
from typing import Any

from dshstore import jsontext
from dshstore.errors import LogRefused, UnsupportedFormat
from dshstore.model import CURRENT_FORMAT, FORMAT_VERSIONS, MAX_SAFE, Header

_RETIRED = frozenset({"sandboxMode", "approvalPolicy"})
_KNOWN = frozenset(
    {"type", "version", "id", "createdAt", "cwd", "parentSession", "seedLength", "isSeeded"}
    | {"origin", "delegationDepth", "agentPreset"}
)
_is_absolute = re.compile(r"/|\\|[A-Za-z]:[\\/]").match
_find_half = re.compile("[\ud800-\udfff]").search
_file_name = re.compile(r"session(?:\.v([1-9][0-9]*))?\.jsonl(?:\.zstd|\.zst)?").fullmatch


def generation(filename: str) -> int | None:
    """The format version that the name of a log's file says, None when it says none.

    The harness calls the logs of a session `session.jsonl` (version 0) and `session.vN.jsonl`,
    with `.zstd` behind it when they are compressed.
    """
    match = _file_name(filename)
    return int(match[1] or 0) if match else None


def read(line: bytes) -> Header:
    """The header that the first line of a log holds; its line end may follow.

    Raises `LogRefused`; `UnsupportedFormat` for a newer format, whatever else the line says.
    """
    line = line.removesuffix(b"\n").removesuffix(b"\r")
    try:
        members = jsontext.parse(line)
        text = jsontext.readable(line)
    except jsontext.JsonError as error:
        raise _refused(f"the header is not JSON: {error}") from None
    if not isinstance(members, dict):
        raise _refused("the header is not a JSON object")
    version = _read_version(members)
    if text == jsontext.DEEP:
        raise _refused(f"the header is nested more than {jsontext.READABLE_DEPTH} levels deep")
    if _holds_odd_number(members):
        raise _refused("the header holds a number that its writer cannot have meant (-0, 1e999)")
    session_id = _read_id(members)
    if text is not None:
        members = jsontext.parse(text)  # as the columns have it
    seed_length = _read_cut(members, version)
    origin = _optional_string(members, "origin")
    if origin not in (None, "subagent"):
        raise _refused('the header\'s origin is not "subagent"')
    cwd = _optional_string(members, "cwd")
    return Header(
        version=version,
        session_id=session_id,
        created_at=_count(members, "createdAt"),
        seeded=members["isSeeded"] if version >= 2 else seed_length is not None,
        seed_length=seed_length,
        cwd=cwd,
        parent_session=_optional_string(members, "parentSession"),
        origin=origin,
        delegation_depth=_count(members, "delegationDepth"),
        agent_preset=_optional_string(members, "agentPreset"),
        text=line.decode() if text is None else text,
        raw=None if text is None else line,
        notes=tuple(_list_oddities(members, cwd)),
    )


def write(
    *,
    version: int = CURRENT_FORMAT,
    session_id: str,
    created_at: int,
    cwd: str | None = None,
    parent_session: str | None = None,
    seeded: bool = False,
    seed_length: int | None = None,
    origin: str | None = None,
    delegation_depth: int = 0,
    agent_preset: str | None = None,
) -> Header:
    """The header of a new log, its members in the order in which the harness writes them.

    `seed_length` is for versions 0 and 1 (where it says that a log is seeded), `seeded` for the
    later ones. Raises `LogRefused` for what `read` would refuse.
    """
    members = {
        "type": "session",
        "version": version,
        "id": session_id,
        "createdAt": created_at,
        "cwd": cwd,
        "parentSession": parent_session,
        "seedLength": seed_length,
        "isSeeded": seeded if version >= 2 else None,
        "origin": origin,
        "delegationDepth": delegation_depth,
        "agentPreset": agent_preset,
    }
    return read(jsontext.dump_bytes({k: v for k, v in members.items() if v is not None}))


def _refused(reason: str) -> LogRefused:
    return LogRefused(reason, line=1, offset=0)


def _read_version(members: dict[str, Any]) -> int:
    """The version of a header; it is looked at first, so that a newer log never looks broken."""
    version = _count(members, "version") if "version" in members else None
    if version is not None and version not in FORMAT_VERSIONS:
        raise UnsupportedFormat(version, f"{FORMAT_VERSIONS[0]}..{FORMAT_VERSIONS[-1]}")
    if members.get("type") != "session":
        if "type" in members and ("seq" in members or "seq0" in members):
            raise _refused("line 1 is an event, not a session header")
        raise _refused('line 1 is no session header: its type is not "session"')
    if version is None:
        raise _refused("the header has no version")
    return version


def _read_id(members: dict[str, Any]) -> str:
    session_id = _optional_string(members, "id")
    if session_id is None:
        raise _refused("the header has no id")
    if not session_id:
        raise _refused("the header's id is empty")
    if "\0" in session_id or _find_half(session_id):
        raise _refused("the header's id holds NUL or half a surrogate pair")
    return session_id


def _read_cut(members: dict[str, Any], version: int) -> int | None:
    """The inherited cut of versions 0 and 1; checks that the later ones say `isSeeded` instead."""
    wrong = "seedLength" if version >= 2 else "isSeeded"
    if wrong in members:
        raise _refused(f"the header has {wrong}, which format version {version} does not have")
    if version >= 2:
        if not isinstance(members.get("isSeeded"), bool):
            raise _refused("the header's isSeeded is missing or not a boolean")
        return None
    return _count(members, "seedLength") if "seedLength" in members else None


def _count(members: dict[str, Any], key: str) -> int:
    """A count as JavaScript has it: 1.0 is one, -0 and true are not."""
    value = members.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _refused(f"the header's {key} is missing or not a number")
    if not 0 <= value <= MAX_SAFE or value != int(value) or _is_odd(value):
        raise _refused(f"the header's {key} is not a whole number from 0 to 2^53 - 1")
    return int(value)


def _optional_string(members: dict[str, Any], key: str) -> str | None:
    value = members.get(key)
    if key in members and not isinstance(value, str):
        raise _refused(f"the header's {key} is not a string")
    return value


def _is_odd(number: float) -> bool:
    """Whether JSON.stringify would not write the number: -0, or an infinite one."""
    return isinf(number) or (number == 0 and copysign(1, number) < 0)


def _holds_odd_number(value: Any) -> bool:
    rest = [value]
    while rest:
        value = rest.pop()
        if isinstance(value, dict):
            rest.extend(value.values())
        elif isinstance(value, list):
            rest.extend(value)
        elif isinstance(value, float) and _is_odd(value):
            return True
    return False


def _list_oddities(members: dict[str, Any], cwd: str | None) -> Iterator[str]:
    if cwd is not None and not _is_absolute(cwd):
        yield "the header's cwd is not an absolute path"
    if retired := sorted(members.keys() & _RETIRED):
        yield f"the header has retired keys: {', '.join(retired)}"
    if unknown := [key for key in members if key not in _KNOWN | _RETIRED]:
        yield f"the header has unknown keys: {', '.join(unknown)}"
