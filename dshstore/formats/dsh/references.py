"""What an event says of other events: `sourceEventSeqs` and `surfaceOp`, log <-> column.

A column holds canonical JSON: ranges expanded, keys in one order, integers as integers. Whether
the seqs are on the surface is for the triggers; so that they can refuse with the rule's code,
whatever is no list of seqs or no surface op goes through as it is written.
"""

from __future__ import annotations

import re
from itertools import groupby, pairwise
from typing import Annotated, Any

import msgspec

from dshstore.formats.dsh.envelope import RowRefused
from dshstore.jsontext import parse
from dshstore.model import MAX_SAFE
from dshstore.streams.records import safe_integer

#: Of valid JSON: a list of non-negative integers (or an empty one), with no ranges and no spaces.
_is_plain = re.compile(rb"\[[0-9,]*\]").fullmatch

_decode_seqs = msgspec.json.Decoder(list[Annotated[int, msgspec.Meta(ge=0, le=MAX_SAFE)]]).decode

#: As many consecutive seqs as a range is worth.
_RANGE = 3


def read_sources(text: bytes, seq: int, version: int) -> str:
    """The column for the `sourceEventSeqs` of event `seq`.

    Members are seqs or inclusive ranges `[first, last]`. Raises `RowRefused` for a bad range.
    (Format notes v0-v4, section 3.1.)
    """
    if _is_plain(text):
        return text.decode()
    members = parse(text)
    if not isinstance(members, list):
        return text.decode()
    seqs: list[int] = []
    ranges = False
    for member in members:
        if isinstance(member, list):
            ranges = True
            seqs.extend(_range(member, seq, seq - len(seqs), version))
        elif (source := _count(member)) is not None:
            seqs.append(source)
        else:
            return text.decode()
    if ranges and not _is_rising(seqs):
        raise RowRefused("sources-not-seqs: sourceEventSeqs with ranges must rise strictly")
    return f"[{','.join(map(str, seqs))}]"


def write_sources(column: str, version: int) -> str:
    """The `sourceEventSeqs` that a writer of format `version` makes of the column."""
    if version < 2 or column.count(",") < _RANGE - 1:
        return column
    try:
        seqs = _decode_seqs(column)
    except msgspec.MsgspecError:
        return column
    if not _is_rising(seqs):
        return column
    parts: list[str] = []
    for _, group in groupby(enumerate(seqs), key=lambda pair: pair[1] - pair[0]):
        run = [seq for _, seq in group]
        parts += [f"[{run[0]},{run[-1]}]"] if len(run) >= _RANGE else map(str, run)
    return f"[{','.join(parts)}]"


def read_surface_op(text: bytes, version: int) -> str:
    """The column for a `surfaceOp`: `"append"`, or a replacement with its keys in order."""
    if text == b'"append"':
        return '"append"'
    op = parse(text)
    if op == "append":
        return '"append"'
    start, end = ("startSeq", "endSeq") if version >= 3 else ("start", "end")
    if isinstance(op, dict) and op.keys() == {"op", start, end} and op["op"] == "replace":
        first, last = _count(op[start]), _count(op[end])
        if first is not None and last is not None:
            return f'{{"op":"replace","{start}":{first},"{end}":{last}}}'
    return text.decode()


def _range(member: list[Any], seq: int, room: int, version: int) -> range:
    ends = [_count(end) for end in member]
    if len(ends) != 2 or ends[0] is None or ends[1] is None:
        raise RowRefused("sources-not-seqs: a range in sourceEventSeqs is not two seqs")
    first, last = ends[0], ends[1]
    if not first <= last or (version >= 2 and last >= seq) or last - first >= room:
        raise RowRefused(
            f"sources-not-seqs: the range {first} to {last} in sourceEventSeqs is turned round "
            f"or reaches beyond the event's own seq {seq}"
        )
    return range(first, last + 1)


def _count(value: Any) -> int | None:
    number = safe_integer(value)
    return number if number is not None and number >= 0 else None


def _is_rising(seqs: list[int]) -> bool:
    return all(a < b for a, b in pairwise(seqs))
