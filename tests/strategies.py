"""Hypothesis strategies for session logs of every format version.

`logs` are whole and look real: turns, steps, attempts with their chunks or streams, tools,
compactions. `sessions` add a header. `surface_logs` are for the rules of the surface: dense, in
any order of events, full of nested replaces, and often with an event at the end that breaks a
rule or two, or nearly does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from hypothesis import strategies as st

from tests.logs import TOOL, EventDict, Json, LogBuilder, image, make_header, text

VERSIONS = range(0, 5)

WORDS = (
    "beans",
    "",
    'so-called "late" frost',
    "世界",
    "🌲 tree",
    "a\u2028b\n",
    "\\n {}[],:",
    "é" * 40,
)

#: Keys that a path or a comparison in SQL could stumble over.
KEYS = ("a", "b", "a.b", 'q"q', "", "é", "[0]", "back\\slash", "message", "content")

scalars = st.one_of(
    st.none(), st.booleans(), st.sampled_from([0, 1, -7, 2**40, 0.5, 1e300]), st.sampled_from(WORDS)
)


def json_values(max_leaves: int = 6) -> st.SearchStrategy[Json]:
    """Any JSON value that every SQLite can hold as text."""
    return st.recursive(
        scalars,
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3)
        ),
        max_leaves=max_leaves,
    )


def split_text(whole: str) -> st.SearchStrategy[list[str]]:
    """The pieces in which a text may arrive; a cut may go through a surrogate pair."""
    units = whole.encode("utf-16-le", "surrogatepass")
    cuts = st.lists(st.integers(0, len(units) // 2), max_size=4).map(sorted)

    def cut(at: list[int]) -> list[str]:
        ends = [0, *(2 * i for i in at), len(units)]
        pieces = [units[a:b] for a, b in pairwise(ends)]
        return [piece.decode("utf-16-le", "surrogatepass") for piece in pieces]

    return cuts.map(cut)


# -- whole logs --


@st.composite
def logs(draw: st.DrawFn, version: int, *, max_turns: int = 3) -> list[EventDict]:
    """The events of a log of this version, as a harness could have written them."""
    return _write_turns(
        draw, LogBuilder(version, draw(_ticks)), draw(st.integers(0, max_turns))
    ).events


class SampleSession(NamedTuple):
    """A log before it is written: `tests.logs.write_log` makes the file of it."""

    header: EventDict
    events: list[EventDict]


@st.composite
def sessions(draw: st.DrawFn, version: int | None = None) -> SampleSession:
    """A header and its events; about one in four begins with a prefix from a parent."""
    if version is None:
        version = draw(st.sampled_from(VERSIONS))
    log = _write_turns(draw, LogBuilder(version, draw(_ticks)), draw(st.integers(0, 2)))
    members: EventDict = {"delegationDepth": draw(st.integers(0, 2))}
    members |= draw(st.sampled_from([{}, {"cwd": "/srv/garden"}, {"cwd": "/Gärten/süd 2"}]))
    members |= draw(st.sampled_from([{}, {"agentPreset": "plan"}, {"origin": "subagent"}]))
    if draw(st.integers(0, 3)) == 0:
        inherited = len(log.events)
        members["parentSession"] = "parent"
        members |= {"seedLength": inherited} if version < 2 else {"isSeeded": True}
        log.add("session/end-seed", {} if version < 2 else {"inherited": True})
        log = _write_turns(draw, log, draw(st.integers(0, 1)))
    session_id = str(draw(st.uuids(version=4)))
    return SampleSession(make_header(version, session_id, **members), log.events)


_ticks = st.lists(st.sampled_from([7, 1, 0, 250, -40]), min_size=1, max_size=5)


def _write_turns(draw: st.DrawFn, log: LogBuilder, turns: int) -> LogBuilder:
    for _ in range(turns):
        log.start_turn()
        for _ in range(draw(st.integers(0, 2))):
            _write_step(draw, log)
        if draw(st.booleans()) and log.nodes:
            log.add("todo/write", {"todos": [{"content": "water", "status": "pending"}]})
        log.end_turn()
        if draw(st.integers(0, 3)) == 0:
            log.add("pack/thing", {"any": draw(json_values())}, ignorable=True)
        first = 1 if log.version >= 3 else 0
        if len(log.nodes) > first + 1 and draw(st.booleans()):
            start = draw(st.integers(first, len(log.nodes) - 1))
            log.compact(start, draw(st.integers(start, len(log.nodes) - 1)))
    return log


def _write_step(draw: st.DrawFn, log: LogBuilder) -> None:
    words = st.sampled_from(WORDS)
    log.start_step()
    if log.version >= 3 and not log.nodes:
        log.append("system/message", log.system(*draw(st.sampled_from([[], [text("Be brief.")]]))))
    images = [image(f"i{n}") for n in range(draw(st.integers(0, 2)))]
    log.append("user/message", log.user(text(draw(words)), *images))
    if log.version >= 4 and images and draw(st.booleans()):
        log.offload((log.nodes[-1], range(draw(st.integers(1, len(images))))))
    if draw(st.booleans()):
        header = log.header(TOOL)
        if log.version >= 4 and draw(st.booleans()):
            added = {"type": "tool-addition", "toolName": "shell"}
            log.append("developer/message", log.developer(added, headerSeq=header))
    spoken = [text(word) for word in draw(st.lists(words.filter(bool), max_size=2))]
    calls = [
        {"type": "tool-call", "id": f"c{len(log.events)}-{n}", "name": "shell", "arguments": word}
        for n, word in enumerate(draw(st.lists(words.filter(bool), max_size=2)))
    ]
    blocks = [(block, draw(split_text(block["text"]))) for block in spoken]
    log.settle(blocks + [(call, draw(split_text(call["arguments"]))) for call in calls])
    for call in calls:
        started = log.call(call)
        error = draw(st.sampled_from([{}, {"error": {"name": "Failed", "code": "FAILED"}}]))
        meta = {"meta": draw(json_values())} if draw(st.booleans()) else {}
        said = log.result(call["id"], text(draw(words)), **error, **meta)
        log.append("tool/result", said, [started])
        if draw(st.integers(0, 3)) == 0:
            at = len(log.nodes) - 1
            log.replace("tool/result", log.rewritten(log.nodes[at], text("[pruned]")), at, at)
    log.end_step()


# -- the rules of the surface --


@st.composite
def surface_logs(draw: st.DrawFn, version: int) -> list[EventDict]:
    """Events for the fold; only the last one may break a rule, in one way or in several."""
    log = LogBuilder(version)
    moves = [move for move, since in _MOVES if version >= since]
    for _ in range(draw(st.integers(0, 14))):
        draw(st.sampled_from(moves))(draw, log)
    faults = draw(st.integers(0, 3))
    if faults:
        draw(st.sampled_from([_append, _replace, _replace, _rewrite_result, moves[-1]]))(draw, log)
        for fault in draw(st.lists(st.sampled_from(_FAULTS), min_size=faults, max_size=faults)):
            if log.events:
                fault(draw, log, log.events[-1])
    return log.events


_Move = Callable[[st.DrawFn, LogBuilder], Any]


def _append(draw: st.DrawFn, log: LogBuilder) -> None:
    kind = draw(st.sampled_from(eligible_types(log.version)))
    sources = None
    settles = kind == "assistant/message" and log.version >= 3
    if draw(st.booleans()) and log.events and not settles:
        sources = draw(st.lists(st.integers(0, len(log.events) - 1), min_size=1, unique=True))
    log.append(kind, _payload(draw, log, kind), sources)


def _log_only(draw: st.DrawFn, log: LogBuilder) -> None:
    data = {"turn": 1, "step": 1}
    log.add(draw(st.sampled_from(["step/start", "turn/end", "todo/write"])), data)


def _opaque(draw: st.DrawFn, log: LogBuilder) -> None:
    sources = draw(_sources(log).filter(lambda seqs: seqs != [[0, 1]]))  # in a log, a range
    carried = {"surfaceOp": draw(_ops(log)), "sourceEventSeqs": sources}
    kept = draw(st.sets(st.sampled_from(sorted(carried))))
    kind = draw(st.sampled_from(["pack/thing", "plugin:x/y", "session/checkpointed"]))
    log.add(kind, {"any": 1}, ignorable=True, **{key: carried[key] for key in kept})


def _replace(draw: st.DrawFn, log: LogBuilder) -> None:
    kinds = [kind for kind in eligible_types(log.version) if kind != "tool/result"]
    if log.version >= 3:
        kinds.remove("assistant/message")  # it cites nothing there, so it cannot replace
    first = draw(st.integers(0, len(log.nodes)))
    if _has_head(log) and first == 0:
        first = 1
    if first >= len(log.nodes):
        return
    last = draw(st.integers(first, len(log.nodes) - 1))
    shadowed = log.nodes[first : last + 1]
    others = [seq for seq in range(len(log.events)) if seq not in shadowed]
    extra = draw(st.lists(st.sampled_from(others), unique=True, max_size=3)) if others else []
    kind = draw(st.sampled_from(kinds))
    sources = draw(st.permutations(shadowed + extra))
    log.replace(kind, _payload(draw, log, kind), first, last, sources)


def _rewrite_result(draw: st.DrawFn, log: LogBuilder) -> None:
    results = [i for i, seq in enumerate(log.nodes) if log.events[seq]["type"] == "tool/result"]
    if not results:
        meta = draw(json_values())
        log.append("tool/result", log.result(f"c{len(log.events)}", text("long"), meta=meta))
        results = [len(log.nodes) - 1]
    at = draw(st.sampled_from(results))
    data = log.rewritten(log.nodes[at], *[text("[pruned]")] * draw(st.integers(0, 2)))
    log.replace("tool/result", draw(respelled(data)), at, at)


def _rewrite_head(draw: st.DrawFn, log: LogBuilder) -> None:
    if _has_head(log):
        log.replace("system/message", log.system(text(draw(st.sampled_from(WORDS)))), 0, 0)


def _offload(draw: st.DrawFn, log: LogBuilder) -> None:
    shown = _shown_images(log)
    if not shown:
        log.append("user/message", log.user(image("i0"), text("and"), image("i1")))
        shown = {log.nodes[-1]: [0, 1]}
    seqs = draw(st.lists(st.sampled_from(sorted(shown)), min_size=1, max_size=2, unique=True))
    chosen = {seq: draw(st.sets(st.sampled_from(shown[seq]), min_size=1)) for seq in seqs}
    log.offload(*((seq, sorted(indexes)) for seq, indexes in chosen.items()))


def _header(draw: st.DrawFn, log: LogBuilder) -> None:
    tools = [{**TOOL, "name": draw(st.sampled_from(["shell", "dig"]))} for _ in range(2)]
    tools[0] |= draw(st.sampled_from([{}, {}, {"description": 1}, {"deferLoading": False}]))
    log.header(*tools)


def _developer(draw: st.DrawFn, log: LogBuilder) -> None:
    """Adds a tool that the last header defines well, after a new header if there is none."""
    headers = [event["seq"] for event in log.events if event["type"] == "request/header"]
    if not headers or not _addable(log, headers[-1]):
        headers.append(log.header(TOOL))
    added = draw(st.sampled_from(_addable(log, headers[-1])))
    content = draw(st.permutations([{"type": "tool-addition", "toolName": added}, text("note")]))
    log.append("developer/message", log.developer(*content, headerSeq=headers[-1]))


def _addable(log: LogBuilder, header: int) -> list[str]:
    tools = log.events[header]["data"]["header"].get("tools", [])
    names = [tool["name"] for tool in tools]
    whole = [
        t["name"]
        for t in tools
        if t["description"] == TOOL["description"] and "deferLoading" not in t
    ]
    return [name for name in whole if names.count(name) == 1]


_MOVES: list[tuple[_Move, int]] = [
    *[(_append, 0)] * 3,
    (_log_only, 0),
    (_opaque, 0),
    *[(_replace, 0)] * 2,
    (_rewrite_result, 0),
    (_rewrite_head, 3),
    (_header, 4),
    (_developer, 4),
    *[(_offload, 4)] * 2,
]


def eligible_types(version: int) -> list[str]:
    """The types that may be on the surface of a log of this version."""
    types = ["user/message", "assistant/message", "tool/result"]
    types += ["context/message", "steering/message"] if version == 0 else []
    types += ["system/message"] if version >= 3 else []
    return types + (["developer/message"] if version >= 4 else [])


def _payload(draw: st.DrawFn, log: LogBuilder, kind: str) -> Json:
    said = [text(draw(st.sampled_from(WORDS)))]
    if draw(st.booleans()):
        said += [image("i0"), {**image("i1"), "offloaded": True}, image("i2")]
    match kind:
        case "tool/result":
            meta = {"meta": draw(json_values())} if draw(st.booleans()) else {}
            return log.result(f"c{len(log.events)}", *said, **meta)
        case "assistant/message":
            return log.assistant(*(said if draw(st.booleans()) else []))
        case "system/message":
            return log.system(*said)
        case "developer/message":
            return log.developer(*draw(st.sampled_from([[], said, [_REMOVAL]])))
        case _:
            return log.user(*said)


_REMOVAL = {"type": "tool-removal", "toolName": "shell"}


def _has_head(log: LogBuilder) -> bool:
    head = log.events[log.nodes[0]]["type"] if log.nodes else None
    return log.version >= 3 and head == "system/message"


def _shown_images(log: LogBuilder) -> dict[int, list[int]]:
    """The images that can be offloaded yet, by the seq of their message."""
    shown: dict[int, list[int]] = {}
    for seq in log.nodes:
        event = log.events[seq]
        if event["type"] in ("user/message", "tool/result"):
            data = event["data"]
            blocks = (
                data["content"] if event["type"] == "user/message" else data["message"]["content"]
            )
            images = [block for block in blocks if block["type"] == "image"]
            shown[seq] = [i for i, block in enumerate(images) if not block.get("offloaded")]
    for event in log.events:
        if event["type"] == "image/offload":
            for target in event["data"]["targets"]:
                left = shown.get(target["seq"], [])
                shown[target["seq"]] = [i for i in left if i not in target["imageIndexes"]]
    return {seq: indexes for seq, indexes in shown.items() if indexes}


# -- faults --

_ODD_SEQS: list[Json] = [-1, 1.5, -0.0, 2**53, 1e300, True, None, "1", [1], {}]
_ODD_OPS: list[Json] = [
    None,
    [],
    {},
    "replace",
    "Append",
    5,
    True,
    {"op": "append"},
    {"op": "replace"},
    ["append"],
]
_ODD_SOURCES: list[Json] = [
    None,
    "1",
    {},
    7,
    [],
    [True],
    ["1"],
    [None],
    [[0, 1]],
    [1.5],
    [-0.0],
    [-1],
    [2**53],
]


def _seqs(log: LogBuilder) -> st.SearchStrategy[Json]:
    """A seq near the log, perhaps spelled as a float, perhaps none at all."""
    near = st.integers(0, len(log.events) + 1)
    return near | near.map(float) | st.sampled_from(_ODD_SEQS)


@st.composite
def _ops(draw: st.DrawFn, log: LogBuilder) -> Json:
    if draw(st.booleans()):
        return draw(st.sampled_from(_ODD_OPS))
    op = log.replace_op(draw(_seqs(log)), draw(_seqs(log)))
    changes: Sequence[EventDict] = [
        {},
        {},
        {"extra": 1},
        {"op": "remove"},
        {"start": 0},
        {"endSeq": 0},
    ]
    return {**op, **draw(st.sampled_from(changes))}


def _sources(log: LogBuilder) -> st.SearchStrategy[Json]:
    return st.lists(_seqs(log), max_size=4) | st.sampled_from(_ODD_SOURCES)


def _fault_op(draw: st.DrawFn, log: LogBuilder, event: EventDict) -> None:
    event["surfaceOp"] = draw(_ops(log))


def _fault_no_op(draw: st.DrawFn, log: LogBuilder, event: EventDict) -> None:
    event.pop("surfaceOp", None)


def _fault_end(draw: st.DrawFn, log: LogBuilder, event: EventDict) -> None:
    if isinstance(event.get("surfaceOp"), dict) and event["surfaceOp"]:
        event["surfaceOp"][draw(st.sampled_from(sorted(event["surfaceOp"])))] = draw(_seqs(log))


def _fault_span(draw: st.DrawFn, log: LogBuilder, event: EventDict) -> None:
    """A replace between two events that are or were on the surface, in any order."""
    ends = [e["seq"] for e in log.events[:-1] if "surfaceOp" in e]
    if ends:
        start, end = draw(st.sampled_from(ends)), draw(st.sampled_from(ends))
        event["surfaceOp"] = log.replace_op(start, end)
        event["sourceEventSeqs"] = draw(st.permutations(range(len(log.events) - 1)))


def _fault_sources(draw: st.DrawFn, log: LogBuilder, event: EventDict) -> None:
    event["sourceEventSeqs"] = draw(_sources(log))


def _fault_source(draw: st.DrawFn, log: LogBuilder, event: EventDict) -> None:
    """One cited event more, less or another."""
    sources = event.get("sourceEventSeqs")
    if isinstance(sources, list):
        at = draw(st.integers(0, len(sources)))
        put = draw(st.lists(_seqs(log), max_size=1))
        event["sourceEventSeqs"] = sources[:at] + put + sources[at + draw(st.integers(0, 1)) :]


def _fault_no_sources(draw: st.DrawFn, log: LogBuilder, event: EventDict) -> None:
    event.pop("sourceEventSeqs", None)


def _fault_type(draw: st.DrawFn, log: LogBuilder, event: EventDict) -> None:
    types = ["turn/start", "pack/thing", "system/message", "developer/message", "context/message"]
    event["type"] = draw(st.sampled_from(types + eligible_types(log.version)))


def _fault_ignorable(draw: st.DrawFn, log: LogBuilder, event: EventDict) -> None:
    event["ignorable"] = True


def _fault_seq(draw: st.DrawFn, log: LogBuilder, event: EventDict) -> None:
    event["seq"] += draw(st.sampled_from([-1, 1]))


def _fault_data(draw: st.DrawFn, log: LogBuilder, event: EventDict) -> None:
    """Another value somewhere in the payload, or a member more or less."""
    holder = json.loads(json.dumps(event["data"]))
    event["data"] = holder
    while isinstance(holder, dict | list) and holder:
        keys = sorted(holder) if isinstance(holder, dict) else range(len(holder))
        key = draw(st.sampled_from(keys))
        inner = holder[key]
        if not isinstance(inner, dict | list) or not inner or draw(st.booleans()):
            if isinstance(holder, dict) and draw(st.booleans()):
                del holder[key]
            else:
                holder[key] = draw(scalars)
            return
        holder = inner


_FAULTS: list[Callable[[st.DrawFn, LogBuilder, EventDict], None]] = [
    _fault_op,
    _fault_no_op,
    _fault_end,
    *[_fault_span] * 2,
    _fault_sources,
    *[_fault_source] * 2,
    _fault_no_sources,
    _fault_type,
    _fault_ignorable,
    _fault_seq,
    *[_fault_data] * 2,
]


@st.composite
def respelled(draw: st.DrawFn, value: Json) -> Json:
    """The same value for JavaScript: keys in another order, 1.0 for 1."""
    if isinstance(value, dict):
        return {key: draw(respelled(value[key])) for key in draw(st.permutations(list(value)))}
    if isinstance(value, list):
        return [draw(respelled(item)) for item in value]
    if type(value) is int and draw(st.booleans()):
        return float(value)
    return value
