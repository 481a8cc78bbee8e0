"""Strategies for event lines as no harness writes them, yet JSON that a reader has to take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hypothesis import strategies as st

#: Numbers that parsers read, or writers spell, in different ways.
NUMBERS = ("0", "-0", "1", "1.0", "1.10", "-2.5e-7", "1e3", "1E400", "9007199254740993", "1" * 30)

#: Strings, quotes included: escapes of all kinds, halves of surrogate pairs, what ends no line.
STRINGS = (
    '""',
    '"a"',
    '"\\u0061"',
    '"\\ud83c"',
    '"\\udf31 x"',
    '"\\ud83c\\udf31"',
    '"\\\\ud83c"',
    '"\\""',
    '"\\\\"',
    '"\\u0000"',
    '"\u2028\u0085"',
    '"🌲 世界"',
    '"},\\"seq\\":7,["',
    '"stream"',
    '"data"',
    '"__proto__"',
)

_spaces = st.sampled_from(["", "", "", " ", "\t "])
_scalars = st.sampled_from([*NUMBERS, *STRINGS, "true", "false", "null"])


@st.composite
def _joined(draw: st.DrawFn, ends: str, items: Sequence[str]) -> str:
    parts = [draw(_spaces) + item + draw(_spaces) for item in items]
    return ends[0] + draw(_spaces) + ",".join(parts) + ends[1]


def _containers(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    lists = st.lists(inner, max_size=3).flatmap(lambda items: _joined("[]", items))
    members = _members(st.sampled_from(STRINGS), inner)
    return lists | st.lists(members, max_size=4).flatmap(lambda items: _joined("{}", items))


def _members(
    names: st.SearchStrategy[str], inner: st.SearchStrategy[str]
) -> st.SearchStrategy[str]:
    return st.tuples(names, _spaces, inner).map(lambda member: "{}{}:{}".format(*member))


#: The text of any JSON value; keys may stand twice.
values = st.recursive(_scalars, _containers, max_leaves=8)

#: Values on both sides of the limits on depth.
deep_values = st.sampled_from([499, 500, 501, 950, 999, 1000]).flatmap(
    lambda levels: st.sampled_from(
        ["[" * levels + "]" * levels, '{"a":' * levels + "1" + "}" * levels]
    )
)

_streams = st.lists(values, min_size=1, max_size=4).flatmap(lambda items: _joined("[]", items))
_names = ('"stream"', '"stre\\u0061m"', '"message"', '"usage"', '"turn"')

#: Payloads of settlements: one member `stream`, several, or none on top.
settlements = st.lists(
    _members(st.sampled_from(_names), _streams | values), min_size=1, max_size=5
).flatmap(lambda members: _joined("{}", members))


class OddLine(NamedTuple):
    """A line without its LF, and the texts of the members that count."""

    line: bytes
    type: str
    payload: str


@st.composite
def odd_lines(draw: st.DrawFn, seq: int, version: int) -> OddLine:
    """An event line with its members in any order, some of them twice, spaced in any way."""
    kinds = ["todo/write", "plain", "tool/result", "assistant/message", "assistant/chunk"]
    kind = draw(st.sampled_from([f'"{kind}"' for kind in kinds] + ['"a\\/b"', '"\\udf31"', '"é"']))
    payload = draw(st.one_of(values, values, deep_values, settlements))
    spelled = draw(st.sampled_from([str(seq), f"{seq}.0", f"{seq}e0"]))
    members = [("type", kind), ("seq", spelled), ("time", draw(st.sampled_from(TIMES)))]
    members += [("data", payload)]
    for name, choices in _OPTIONAL.items():
        if draw(st.integers(0, 3)) == 0:
            members.append((name, draw(st.sampled_from(choices))))
    if draw(st.booleans()):
        members = draw(st.permutations(members))
    if draw(st.integers(0, 3)) == 0:  # what stands before its namesake does not count
        name = draw(st.sampled_from(["data", "type", "time"]))
        members.insert(0, (name, draw(values)))
    texts = [f"{draw(_key(name))}{draw(_spaces)}:{value}" for name, value in members]
    line = draw(_joined("{}", texts)) + draw(_spaces)
    return OddLine(line.encode(), kind, payload)


TIMES = ("1790000000000", "0", "-5", "1.79e12", "1790000000000.0")

_OPTIONAL = {
    "ignorable": ["true"],
    "sourceEventSeqs": ["[]", "[0]", "[ 0 ]", "[1.0]", "null", '"x"', "[-1]", '[0,"\\ud83c"]'],
    "surfaceOp": [
        '"append"',
        '"\\u0061ppend"',
        "null",
        '{"op":"replace","start":0,"end":0}',
        '{"endSeq":0.0,"startSeq":0,"op":"replace"}',
        '{"op":"replace","start":0,"start":-0,"end":0}',
        '"\\ud83c"',
    ],
}


def _key(name: str) -> st.SearchStrategy[str]:
    escaped = f"\\u{ord(name[0]):04x}{name[1:]}"
    return st.sampled_from([f'"{name}"', f'"{name}"', f'"{name}"', f'"{escaped}"'])
