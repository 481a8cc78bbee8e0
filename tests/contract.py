"""The rules of the surface as one abstract test class: whatever keeps a surface must pass it.

A subclass says how its subject takes a log (`run`), and inherits the reference vectors, examples
with at least one for every code, and generated logs. Those are held against `fold_naively`: the
rules once more, over plain lists, in the order of their codes, with no thought for speed.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from math import copysign
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dshstore import jsontext
from dshstore.engine.surface import Surface
from dshstore.errors import EventRefused
from dshstore.formats.dsh.vocabulary import is_known
from tests.logs import EventDict, Json
from tests.strategies import VERSIONS, eligible_types, surface_logs
from tests.surface_examples import EXAMPLES

PAYLOAD_CODES = ("offload-invalid", "developer-header-invalid")


class Outcome(NamedTuple):
    """What became of a log: its surface, and what each replace shadowed, in order.

    A refusal has its code and the index in the log of the event that was refused; surface and
    shadowed are then those of the events before it.
    """

    nodes: list[int]
    shadowed: list[tuple[int, list[int]]]
    code: str | None = None
    at: int | None = None


def push_all(surface: Surface, events: Iterable[EventDict]) -> Outcome:
    """Give a surface a log, event by event, up to the first one that it refuses."""
    shadowed: list[tuple[int, list[int]]] = []
    for at, event in enumerate(events):
        try:
            done = surface.push(event)
        except EventRefused as refused:
            return Outcome(list(surface.nodes), shadowed, refused.code, at)
        if done is not None:
            shadowed.append((done.seq, list(done.shadowed_seqs)))
    return Outcome(list(surface.nodes), shadowed)


class SurfaceContract(ABC):
    """What holds for every keeper of a surface."""

    #: Whether the subject knows the rules that read payloads (images, developer messages).
    payload_rules = True

    @abstractmethod
    def run(self, events: Sequence[EventDict], format_version: int) -> Outcome:
        """Give the subject a log, event by event, up to the first one that it refuses."""

    @pytest.mark.shared
    @pytest.mark.parametrize("name", ["surface.jsonl", "surface-v4.jsonl"])
    def test_the_reference_vectors_come_out_the_same(self, shared: Path, name: str) -> None:
        wrong = []
        for line in (shared / "vectors" / name).read_bytes().removesuffix(b"\n").split(b"\n"):
            vector = json.loads(line)
            want = vector["expect"]
            reads_payload = want.get("refused", "").startswith(("image/", "developer/message "))
            if self.payload_rules or not reads_payload:
                got = self.run(vector["events"], vector.get("format_version", 0))
                if not _is_wanted(got, want):
                    wrong.append((vector["name"], got, want))
        assert wrong == []

    @pytest.mark.parametrize("name", EXAMPLES)
    def test_an_example_is_taken_or_refused(self, name: str) -> None:
        version, events, code = EXAMPLES[name]
        if code in PAYLOAD_CODES and not self.payload_rules:
            code = None
        outcome = self.run(events, version)
        assert (outcome.code, outcome.at) == (code, len(events) - 1 if code else None)

    @pytest.mark.parametrize("version", VERSIONS)
    @settings(suppress_health_check=[HealthCheck.differing_executors])
    @given(data=st.data())
    def test_a_generated_log_folds_as_plain_lists_do(
        self, version: int, data: st.DataObject
    ) -> None:
        events = data.draw(surface_logs(version))
        want = fold_naively(events, version, payload_rules=self.payload_rules)
        assert self.run(events, version) == want


def _is_wanted(got: Outcome, want: Mapping[str, Any]) -> bool:
    if "nodes" in want:
        shadowed = [(r["seq"], r["shadowedSeqs"]) for r in want["replacements"]]
        return got == Outcome(want["nodes"], shadowed)
    code = want.get("error")  # the reference names our codes for v0 alone
    return got.at == want["seq"] and got.code == (code or got.code)


# -- the rules over plain lists --


def fold_naively(
    events: Sequence[EventDict], version: int, *, payload_rules: bool = True
) -> Outcome:
    """Fold a log by searching lists; every rule stands where its code stands in the order."""
    nodes: list[int] = []
    shadowed: list[tuple[int, list[int]]] = []
    for at, event in enumerate(events):
        code = _surface_fault(events, at, nodes, version)
        if code is None and payload_rules and version >= 4:
            code = _payload_fault(events, at, nodes)
        if code is not None:
            return Outcome(nodes, shadowed, code, at)
        op = event.get("surfaceOp")
        if event["type"] not in eligible_types(version):
            continue
        if op == "append":
            nodes.append(at)
        else:
            first, last = _span(op, nodes, version)
            shadowed.append((at, nodes[first : last + 1]))
            nodes[first : last + 1] = [at]
    return Outcome(nodes, shadowed)


def _surface_fault(
    events: Sequence[EventDict], at: int, nodes: list[int], version: int
) -> str | None:
    event = events[at]
    kind, op, sources = event["type"], event.get("surfaceOp"), event.get("sourceEventSeqs")
    start, end = ("startSeq", "endSeq") if version >= 3 else ("start", "end")
    if event["seq"] != at:
        return "seq-not-contiguous"
    if kind not in eligible_types(version):
        if event.get("ignorable") is True and not is_known(kind, version):
            return None
        if "surfaceOp" in event:
            return "op-on-log-only"
        return "sources-on-log-only" if "sourceEventSeqs" in event else None
    if "surfaceOp" not in event:
        return "op-missing"
    if op != "append":
        if not isinstance(op, dict):
            return "op-invalid"
        if op.keys() != {"op", start, end} or op["op"] != "replace":
            return "replace-invalid"
        if not _is_seq(op[start]) or not _is_seq(op[end]):
            return "replace-invalid"
        if op[start] not in nodes:
            return "replace-start-not-on-surface"
        if op[end] not in nodes:
            return "replace-end-not-on-surface"
        if nodes.index(op[start]) > nodes.index(op[end]):
            return "replace-inverted"
    if "sourceEventSeqs" in event:
        if not isinstance(sources, list):
            return "sources-not-array"
        if not sources and (kind != "assistant/message" or version >= 3):
            return "sources-empty"
        if kind == "assistant/message" and version >= 3:
            return "sources-on-settlement"
        if not all(_is_seq(source) for source in sources):
            return "sources-not-seqs"
        if any(sources.count(source) > 1 for source in sources):
            return "sources-duplicate"
        if any(source >= at for source in sources):
            return "sources-not-earlier"
    if op != "append":
        first, last = _span(op, nodes, version)
        target = events[nodes[first]]
        if any(seq not in (sources or []) for seq in nodes[first : last + 1]):
            return "sources-miss-shadowed"
        if kind == "tool/result":
            if first != last:
                return "result-rewrite-span"
            if target["type"] != "tool/result":
                return "result-rewrite-target"
            if not jsontext.same(_blank(event["data"], version), _blank(target["data"], version)):
                return "result-rewrite-fields"
        rewrites = kind == "system/message" and first == last
        if version >= 3 and first == 0 and target["type"] == "system/message" and not rewrites:
            return "system-head-protected"
    return None


def _span(op: Json, nodes: list[int], version: int) -> tuple[int, int]:
    start, end = ("startSeq", "endSeq") if version >= 3 else ("start", "end")
    return nodes.index(op[start]), nodes.index(op[end])


def _is_seq(value: Json) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return value == value // 1 and 0 <= value < 2**53 and copysign(1, value) > 0


def _blank(data: Json, version: int) -> Json:
    blank = json.loads(json.dumps(data))
    holder: Json = blank
    if version > 0 or not isinstance(blank, dict) or "message" in blank:
        path: list[Json] = ["message"] if version >= 4 else ["message", "content", 0]
        for key in path:
            if not isinstance(holder, dict if isinstance(key, str) else list):
                return blank
            if (key not in holder) if isinstance(key, str) else not holder:
                return blank
            holder = holder[key]
    if isinstance(holder, dict) and "content" in holder:
        holder["content"] = None
    return blank


def _payload_fault(events: Sequence[EventDict], at: int, nodes: list[int]) -> str | None:
    event = events[at]
    if event["type"] == "image/offload":
        before = events[:at]
        return None if _offload_is_valid(before, event["data"], nodes) else "offload-invalid"
    if event["type"] == "developer/message":
        return None if _developer_is_valid(events, at) else "developer-header-invalid"
    return None


def _offload_is_valid(before: Sequence[EventDict], data: Json, nodes: list[int]) -> bool:
    if not isinstance(data, dict) or data.keys() != {"targets"}:
        return False
    targets = data["targets"]
    if not isinstance(targets, list) or not targets:
        return False
    seen: list[Json] = []
    for target in targets:
        if not isinstance(target, dict) or target.keys() != {"seq", "imageIndexes"}:
            return False
        seq, indexes = target["seq"], target["imageIndexes"]
        if not isinstance(indexes, list) or not indexes or not _is_seq(seq):
            return False
        if seq in seen or seq not in nodes or not all(map(_is_seq, indexes)):
            return False
        seen.append(seq)
        shown = _images_shown(before, int(seq))
        if indexes != sorted(set(indexes)) or not all(index in shown for index in indexes):
            return False
    return True


def _images_shown(before: Sequence[EventDict], seq: int) -> list[int]:
    """The indexes of the images of a message that no event has offloaded yet."""
    event = before[seq]
    data = event["data"]
    if event["type"] == "tool/result":
        data = data.get("message") if isinstance(data, dict) else None
    elif event["type"] != "user/message":
        return []
    blocks = data.get("content") if isinstance(data, dict) else None
    images = [
        block
        for block in (blocks if isinstance(blocks, list) else [])
        if isinstance(block, dict) and block.get("type") == "image"
    ]
    hidden = [i for i, block in enumerate(images) if block.get("offloaded") is True]
    for earlier in before:
        if earlier["type"] == "image/offload":
            for target in earlier["data"]["targets"]:
                hidden += target["imageIndexes"] if target["seq"] == seq else []
    return [i for i in range(len(images)) if i not in hidden]


def _developer_is_valid(events: Sequence[EventDict], at: int) -> bool:
    data = events[at]["data"]
    message = data.get("message") if isinstance(data, dict) else None
    if isinstance(message, dict) and message.get("role") != "developer":
        return False
    content = message.get("content") if isinstance(message, dict) else None
    blocks = (
        [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    )
    changed = [b for b in blocks if b.get("type") in ("tool-addition", "tool-removal")]
    added = [block for block in changed if block["type"] == "tool-addition"]
    if not all(isinstance(b.get("toolName"), str) and b["toolName"] for b in changed):
        return False
    if not added:
        return not (isinstance(data, dict) and "headerSeq" in data)
    header = data.get("headerSeq")
    if any("tool" in block for block in added) or not _is_seq(header) or header >= at:
        return False
    defined = events[int(header)]
    if defined["type"] != "request/header":
        return False
    held = defined["data"].get("header") if isinstance(defined["data"], dict) else None
    tools = held.get("tools") if isinstance(held, dict) else None
    tools = [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    return all(_defines_once(tools, block["toolName"]) for block in added)


def _defines_once(tools: Sequence[EventDict], name: str) -> bool:
    named = [tool for tool in tools if tool.get("name") == name]
    return (
        len(named) == 1
        and isinstance(named[0].get("description"), str)
        and isinstance(named[0].get("parameters"), dict)
        and named[0].get("deferLoading", True) is True
    )
