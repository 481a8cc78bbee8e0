"""Builds logs event by event, in the shapes that a harness writes, and writes them as lines.

A `LogBuilder` is for tests that need a log of their own and for the strategies that make many.
It keeps the surface as a plain list, the slow and obvious way. What it builds is a valid log,
turn structure included, if its methods are called in an order that makes sense.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

Json = Any
EventDict = dict[str, Any]

MODEL = {"provider": "gardeners", "model": "trowel-1"}
TOOL = {"name": "shell", "description": "Runs a command.", "parameters": {"type": "object"}}
BASE_TIME = 1_790_000_000_000


def text(value: str) -> EventDict:
    return {"type": "text", "text": value}


def image(name: str) -> EventDict:
    attachment = {"attachmentId": name, "mediaType": "image/png", "bytes": 9}
    return {"type": "image", "attachment": {**attachment, "width": 3, "height": 3}}


class LogBuilder:
    """A log that grows: `events` as a log has them, `nodes` the seqs on its surface."""

    def __init__(self, version: int, ticks: Sequence[int] = (7,)) -> None:
        self.version = version
        self.events: list[EventDict] = []
        self.nodes: list[int] = []
        self.turn = self.step = 0
        self._time, self._ticks = BASE_TIME, ticks

    # -- any event --

    def add(self, type: str, data: Json, **members: Json) -> int:
        """Log an event that is not on the surface; its seq."""
        seq = len(self.events)
        self._time += self._ticks[seq % len(self._ticks)]
        self.events.append({"type": type, "seq": seq, "time": self._time, "data": data, **members})
        return seq

    def append(self, type: str, data: Json, sources: Sequence[int] | None = None) -> int:
        cited = {} if sources is None else {"sourceEventSeqs": list(sources)}
        seq = self.add(type, data, **cited, surfaceOp="append")
        self.nodes.append(seq)
        return seq

    def replace(
        self, type: str, data: Json, first: int, last: int, sources: Sequence[int] | None = None
    ) -> int:
        """Log a replace of the nodes at positions `first` to `last`, which it cites."""
        shadowed = self.nodes[first : last + 1]
        cited = shadowed if sources is None else list(sources)
        op = self.replace_op(shadowed[0], shadowed[-1])
        seq = self.add(type, data, sourceEventSeqs=cited, surfaceOp=op)
        self.nodes[first : last + 1] = [seq]
        return seq

    def replace_op(self, start: Json, end: Json) -> EventDict:
        if self.version >= 3:
            return {"op": "replace", "startSeq": start, "endSeq": end}
        return {"op": "replace", "start": start, "end": end}

    @property
    def place(self) -> EventDict:
        return {"turn": max(self.turn, 1), "step": max(self.step, 1)}

    # -- turns and steps --

    def start_turn(self) -> None:
        self.turn, self.step = self.turn + 1, 0
        self.add("turn/start", {"turn": self.turn})

    def start_step(self) -> None:
        self.step += 1
        self.add("step/start", self.place)

    def end_step(self) -> None:
        self.add("step/end", self.place)

    def end_turn(self, kind: str = "completed") -> None:
        self.add("turn/end", {"turn": self.turn, "reason": {"kind": kind}})

    def exchange(self, asked: str, said: str, **members: Json) -> None:
        """Log a turn of six events: what a user asked, and what a model said to it."""
        self.start_turn()
        self.start_step()
        self.append("user/message", self.user(text(asked)))
        self.append("assistant/message", {**self.assistant(text(said)), **members})
        self.end_step()
        self.end_turn()

    # -- messages --

    def user(self, *content: Json, source: Json = None) -> EventDict:
        """The payload of a user message."""
        message = {"content": list(content), "source": source or {"kind": "user"}, "role": "user"}
        return {**message, "id": f"u{len(self.events)}"}

    def assistant(self, *content: Json) -> EventDict:
        """The payload of an assistant message without its stream."""
        source = {"kind": "model", **MODEL}
        message = {"role": "assistant", "content": list(content), "source": source}
        return {**self.place, "message": {**message, "id": f"a{len(self.events)}"}}

    def system(self, *content: Json) -> EventDict:
        source = {"kind": "system-prompt"}
        if self.version < 4:
            source = {"kind": "plugin", "plugin": "@deepseek-ai/dsh-system-prompt"}
        message = {"role": "system", "content": list(content), "source": source}
        return {**self.place, "message": {**message, "id": f"s{len(self.events)}"}}

    def developer(self, *content: Json, **members: Json) -> EventDict:
        message = {"role": "developer", "source": {"kind": "tools"}, "content": list(content)}
        return {**self.place, **members, "message": {**message, "id": f"d{len(self.events)}"}}

    def result(self, call_id: str, *content: Json, **members: Json) -> EventDict:
        """The payload of a tool result."""
        id, source = f"r{len(self.events)}", {"kind": "tool", "callId": call_id}
        is_error = "error" in members
        if self.version >= 4:
            message: EventDict = {"role": "tool", "source": source, "toolCallId": call_id}
            message |= {"content": list(content), "isError": is_error, "id": id}
        else:
            block: EventDict = {"type": "tool-result", "toolCallId": call_id}
            block["content"] = list(content)
            block["isError"] = is_error
            message = {"id": id, "role": "user", "source": source, "content": [block]}
        return {**self.place, "message": message, **members}

    def rewritten(self, seq: int, *content: Json) -> EventDict:
        """The payload of a tool result that says the same as event `seq` with other content."""
        data = json.loads(json.dumps(self.events[seq]["data"]))
        holder = data["message"] if self.version >= 4 else data["message"]["content"][0]
        holder["content"] = list(content)
        return data  # type: ignore[no-any-return]

    def header(self, *tools: Json) -> int:
        header = {"config": {**MODEL, "maxTokens": 4096}}
        data = {"header": {**header, **({"tools": list(tools)} if tools else {})}}
        return self.add("request/header", {**data, "reason": "initial"})

    # -- what a model says --

    def settle(self, blocks: Sequence[tuple[EventDict, Sequence[str]]], **members: Json) -> int:
        """Log an attempt and its settlement: each block with the pieces that it came in."""
        chunks = [c for i, (block, parts) in enumerate(blocks) for c in _deltas(i, block, parts)]
        usage = {"inputTokens": 11, "outputTokens": len(chunks)}
        kind = "tool-calls" if any(b["type"] == "tool-call" for b, _ in blocks) else "stop"
        rest = [{"type": "usage", "usage": usage}, {"type": "finish", "reason": {"kind": kind}}]
        data = {**self.assistant(*(block for block, _ in blocks)), **members, "usage": usage}
        if self.version >= 2:
            stream = _records(chunks, self._time)
            stream += [{"type": "chunk", "time": self._time, "chunk": chunk} for chunk in rest]
            return self.append("assistant/message", {**data, "stream": stream})
        seqs = [self.add("assistant/chunk", {**self.place, "chunk": c}) for c in chunks + rest]
        data["message"]["id"] = f"a{len(self.events)}"
        return self.append("assistant/message", data, seqs)

    def call(self, block: EventDict) -> int:
        """Log the start of a tool call that a settlement announced."""
        data = {"callId": block["id"], "name": block["name"], "arguments": block["arguments"]}
        return self.add("tool/call", {**self.place, **data})

    def compact(self, first: int, last: int) -> int:
        """Log a compaction of the nodes at positions `first` to `last`, between turns."""
        id, shadowed = f"z{len(self.events)}", self.nodes[first : last + 1]
        bracket = {"compactionId": id, "turn": None}
        start = self.add("compaction/start", bracket)
        at: EventDict = {"shadowedRange": {"start": shadowed[0], "end": shadowed[-1]}}
        at |= {"shadowedSeqs": shadowed, "shadowedTokenCount": 40}
        summary = {"compactionId": id, "summary": [text("so far")], **at, **MODEL}
        cited = self.add("compaction/summary", summary)
        source = {"kind": "plugin", "plugin": "compact", "compactionId": id}
        if self.version >= 4:
            source = {"kind": "compact-checkpoint", "compactionId": id}
        message = self.user(text("so far"), source=source)
        seq = self.replace("user/message", message, first, last, [start, cited, *shadowed])
        self.add("compaction/end", bracket)
        return seq

    def offload(self, *targets: tuple[int, Sequence[int]]) -> int:
        """Log that images are left out from now on: seqs of messages and indexes of images."""
        data = [{"seq": seq, "imageIndexes": list(indexes)} for seq, indexes in targets]
        return self.add("image/offload", {"targets": data})


def _deltas(index: int, block: EventDict, parts: Sequence[str]) -> list[EventDict]:
    if block["type"] == "tool-call":
        delta = {"type": "tool-call-delta", "index": index}
        delta |= {"id": block["id"], "name": block["name"]}
        return [{**delta, "argumentsDelta": part} for part in parts]
    return [{"type": f"{block['type']}-delta", "index": index, "text": part} for part in parts]


_PAYLOADS = {"text-delta": "text", "reasoning-delta": "text", "tool-call-delta": "argumentsDelta"}


def _records(chunks: Sequence[EventDict], time: int) -> list[EventDict]:
    """The stream of a v2+ settlement: a run for every block."""
    records: list[EventDict] = []
    for chunk in chunks:
        key = _PAYLOADS[chunk["type"]]
        kept = {k: v for k, v in chunk.items() if k not in ("type", key)}
        members = "args" if key == "argumentsDelta" else "texts"
        if records and records[-1]["index"] == chunk["index"]:
            records[-1]["dt"].append(2)
            records[-1][members].append(chunk[key])
        else:
            record = {"type": f"{chunk['type'].removesuffix('-delta')}-chunks", "time0": time}
            index = {"index": kept.pop("index")}
            records.append({**record, **index, "dt": [], **kept, members: [chunk[key]]})
    return records


# -- lines --


def turns(count: int, version: int = 4, said: str = "hello") -> list[EventDict]:
    """The events of so many turns, six each."""
    log = LogBuilder(version)
    for number in range(count):
        log.exchange(f"{said} {number}", "Yes.")
    return log.events


def make_header(version: int, session_id: str, **members: Json) -> EventDict:
    """The header of a log, its keys in the order in which a harness writes them."""
    order = ["cwd", "parentSession", "seedLength", "isSeeded", "origin", "delegationDepth"]
    values: EventDict = {"delegationDepth": 0, **members}
    if version >= 2:
        values.setdefault("isSeeded", False)
    header = {"type": "session", "version": version, "id": session_id, "createdAt": BASE_TIME}
    return header | {key: values[key] for key in [*order, "agentPreset"] if key in values}


def write_log(
    header: Mapping[str, Any], events: Iterable[EventDict], *, packed: bool = True
) -> bytes:
    """A plain log, byte for byte as a harness writes it (all events as one batch).

    `packed`: runs of token chunks stand in packed rows (v0, v1), as they do by default.
    """
    rows: Iterable[EventDict] = events
    if header["version"] >= 2:
        rows = map(_with_ranges, events)
    elif packed:
        rows = pack_chunks(list(events))
    return b"".join(write_line(row) for row in [header, *rows])


_HALF = re.compile("[\ud800-\udfff]")


def write_line(row: Mapping[str, Any]) -> bytes:
    """One line of a log with its LF; half a surrogate pair is escaped, nothing else need be."""
    line = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
    return _HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", line).encode() + b"\n"


def _with_ranges(event: EventDict) -> EventDict:
    """The event with runs of three and more sources written as ranges."""
    sources = event.get("sourceEventSeqs")
    if not isinstance(sources, list) or not all(type(seq) is int for seq in sources):
        return event  # of an opaque event, to which they may mean anything
    if not sources or any(b <= a for a, b in pairwise(sources)):
        return event
    runs: list[list[int]] = []
    for seq in sources:
        if runs and runs[-1][-1] == seq - 1:
            runs[-1].append(seq)
        else:
            runs.append([seq])
    written: list[Json] = []
    for run in runs:
        written += [[run[0], run[-1]]] if len(run) >= 3 else run
    return {**event, "sourceEventSeqs": written}


def pack_chunks(events: Sequence[EventDict]) -> list[EventDict]:
    """The rows of v0/v1 events: three and more like deltas in a row are one packed row."""
    rows: list[EventDict] = []
    run: list[EventDict] = []
    for event in [*events, None]:
        if event is not None and run and _run_key(event) == _run_key(run[-1]) is not None:
            run.append(event)
            continue
        rows += [_pack(run)] if len(run) >= 3 and _run_key(run[0]) is not None else run
        run = [] if event is None else [event]
    return rows


def _run_key(event: EventDict) -> Json:
    if event["type"] != "assistant/chunk" or event["data"]["chunk"]["type"] not in _PAYLOADS:
        return None
    data = event["data"]
    chunk = {k: v for k, v in data["chunk"].items() if k not in ("text", "argumentsDelta")}
    return [data["turn"], data["step"], chunk]


def _pack(run: Sequence[EventDict]) -> EventDict:
    data = run[0]["data"]
    chunk = dict(data["chunk"])
    kind, index = chunk.pop("type"), chunk.pop("index")
    key = _PAYLOADS[kind]
    del chunk[key]
    packed = {"turn": data["turn"], "step": data["step"], "index": index}
    packed["dt"] = [b["time"] - a["time"] for a, b in pairwise(run)]
    members = [event["data"]["chunk"][key] for event in run]
    packed |= {**chunk, "args" if key == "argumentsDelta" else "texts": members}
    tag = f"{kind.removesuffix('-delta')}-chunks"
    return {"type": tag, "seq0": run[0]["seq"], "time0": run[0]["time"], "data": packed}
