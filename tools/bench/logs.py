"""The logs that are measured: made here, the same bytes on every machine, kept in a folder.

Decides what a log of so many events looks like, in the sizes that real ones have: `chunk` logs
(format v0) have every token as an event of its own, about 190 bytes an event and 200 tokens an
attempt; `settled` ones (v4) have the tokens packed in the settlement, about 1.3 KB an event; of
`messages` (v4) every event is on the surface. Prose is made of invented words and some Chinese.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import zstandard

from bench.clock import Failed

Json = Any

SESSION = "benchmark"

#: What the zstd logs are made of: the header alone, then frames of about this many bytes.
_FRAME = 64 * 1024

#: Every so many turns all but the last few messages give way to a summary.
_COMPACT_EVERY, _KEPT = 12, 5

_MODEL = {"provider": "gardeners", "model": "trowel-1"}
_TIME = 1_790_000_000_000
_encode = msgspec.json.Encoder().encode


class Log(NamedTuple):
    """A log on disk, plain and zstd."""

    path: Path
    zstd: Path
    version: int
    events: int

    @property
    def size(self) -> int:
        return self.path.stat().st_size


class Prose:
    """Words without end, as common and as rare as words are."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        syllables = [a + b for a in "bdfgklmnprst" for b in ("a", "e", "i", "o", "u", "er", "an")]
        words = ["".join(self._random.choices(syllables, k=n)) for n in (1, 2, 2, 3) * 1000]
        words += ["".join(map(chr, self._random.choices(range(0x4E00, 0x5E00), k=3)))
                  for _ in range(400)]  # fmt: skip
        self._random.shuffle(words)
        weights = [1 / (rank + 8) for rank in range(len(words))]
        self._words = [f"{word} " for word in self._random.choices(words, weights, k=100_000)]

    def number(self, low: int, high: int) -> int:
        return low + int(self._random.random() * (high - low))

    def tokens(self, count: int) -> list[str]:
        start = self.number(0, len(self._words) - count)
        return self._words[start : start + count]

    def text(self, words: int) -> str:
        return "".join(self.tokens(words))


class Writer:
    """A log that grows in a file."""

    def __init__(self, path: Path, version: int, seed: int) -> None:
        self._file = path.open("wb")
        self.version, self.prose = version, Prose(seed)
        self.seq, self.turn, self.step, self.time = 0, 0, 0, _TIME
        self.nodes: list[int] = []
        header: dict[str, Json] = {"type": "session", "version": version, "id": SESSION}
        header |= {"createdAt": _TIME, "cwd": "/srv/garden"}
        header |= {"isSeeded": False} if version >= 2 else {}
        self._line({**header, "delegationDepth": 0})

    def close(self) -> None:
        self._file.close()

    def _line(self, row: Json) -> None:
        self._file.write(_encode(row) + b"\n")

    @property
    def place(self) -> dict[str, int]:
        return {"turn": self.turn, "step": self.step}

    def add(self, type: str, data: Json, **members: Json) -> int:
        seq = self.seq
        self.time += self.prose.number(3, 40)
        self._line({"type": type, "seq": seq, "time": self.time, "data": data, **members})
        self.seq += 1
        return seq

    def append(self, type: str, data: Json, **members: Json) -> int:
        self.nodes.append(seq := self.add(type, data, **members, surfaceOp="append"))
        return seq

    def user(self, words: int) -> None:
        content = [{"type": "text", "text": self.prose.text(words)}]
        message = {"content": content, "source": {"kind": "user"}, "role": "user"}
        self.append("user/message", {**message, "id": f"message-{self.seq}"})

    def settle(self, block: dict[str, Json], tokens: list[str]) -> None:
        """An attempt that came in these tokens: an event for each (v0), or all in one (v4)."""
        message = {"role": "assistant", "content": [block], "source": {"kind": "model", **_MODEL}}
        data: dict[str, Json] = {**self.place, "message": message}
        usage = {"inputTokens": 2000, "outputTokens": len(tokens), "cacheReadTokens": 1800}
        call = block["type"] == "tool-call"
        finish = {"kind": "tool-calls" if call else "stop"}
        named = {"id": block["id"], "name": block["name"]} if call else {}
        last = [{"type": "usage", "usage": usage}, {"type": "finish", "reason": finish}]
        if self.version >= 2:
            run = {"type": f"{block['type']}-chunks", "time0": self.time, "index": 0}
            dt = [self.prose.number(3, 40) for _ in tokens[1:]]
            self.time += sum(dt)
            stream = [{**run, "dt": dt, **named, "args" if call else "texts": tokens}]
            stream += [{"type": "chunk", "time": self.time, "chunk": chunk} for chunk in last]
            message["id"] = f"message-{self.seq}"
            self.append("assistant/message", {**data, "usage": usage, "stream": stream})
            return
        kind, key = f"{block['type']}-delta", "argumentsDelta" if call else "text"
        start = self.seq
        for token in tokens:
            delta = {"type": kind, "index": 0, **named, key: token}
            self.add("assistant/chunk", {**self.place, "chunk": delta})
        for chunk in last:
            self.add("assistant/chunk", {**self.place, "chunk": chunk})
        message["id"] = f"message-{self.seq}"
        cited = list(range(start, self.seq))
        self.append("assistant/message", {**data, "usage": usage}, sourceEventSeqs=cited)

    def call(self) -> None:
        """The model calls a tool, which answers."""
        call_id = f"call-{self.seq}"
        arguments = '{"path":"/srv/garden/' + self.prose.text(3).strip() + '"}'
        named = {"id": call_id, "name": "read"}
        pieces = [arguments[at : at + 6] for at in range(0, len(arguments), 6)]
        self.settle({"type": "tool-call", **named, "arguments": arguments}, pieces)
        started = {"callId": call_id, "name": "read", "arguments": arguments}
        cited = self.add("tool/call", {**self.place, **started})
        words = self.prose.number(200, 1500 if self.version == 0 else 2400)
        content = [{"type": "text", "text": self.prose.text(words)}]
        source = {"kind": "tool", "callId": call_id}
        message: dict[str, Json]
        if self.version >= 4:
            message = {"role": "tool", "source": source, "toolCallId": call_id}
            message |= {"content": content, "isError": False, "id": f"message-{self.seq}"}
        else:
            block = {"type": "tool-result", "toolCallId": call_id, "content": content}
            message = {"id": f"message-{self.seq}", "role": "user", "source": source}
            message["content"] = [{**block, "isError": False}]
        result = {**self.place, "message": message}
        self.append("tool/result", result, sourceEventSeqs=[cited])

    def compact(self) -> None:
        """All but the last messages give way to one, which cites them."""
        shadowed = self.nodes[:-_KEPT]
        bracket = {"compactionId": f"compaction-{self.seq}", "turn": None}
        summary = [{"type": "text", "text": self.prose.text(150)}]
        spanned = {"start": shadowed[0], "end": shadowed[-1]}
        told = {**bracket, "summary": summary, "shadowedRange": spanned, "shadowedSeqs": shadowed}
        del told["turn"]
        cited = [self.add("compaction/start", bracket)]
        cited += [self.add("compaction/summary", {**told, "shadowedTokenCount": 9000, **_MODEL})]
        source: dict[str, Json] = {"kind": "plugin", "plugin": "compact"}
        first, last = "start", "end"
        if self.version >= 4:
            source, first, last = {"kind": "compact-checkpoint"}, "startSeq", "endSeq"
        source["compactionId"] = bracket["compactionId"]
        message = {"content": summary, "source": source, "role": "user"}
        seq = self.add(
            "user/message",
            {**message, "id": f"message-{self.seq}"},
            sourceEventSeqs=cited + shadowed,
            surfaceOp={"op": "replace", first: shadowed[0], last: shadowed[-1]},
        )
        self.nodes = [seq, *self.nodes[-_KEPT:]]
        self.add("compaction/end", bracket)


def _write_turns(log: Writer, events: int) -> None:
    while log.seq < events:
        log.turn, log.step = log.turn + 1, 1
        log.add("turn/start", {"turn": log.turn})
        log.add("step/start", log.place)
        log.user(log.prose.number(20, 240))
        if log.turn == 1:
            log.add("request/header", {"header": {"config": _MODEL}, "reason": "initial"})
        log.call()
        log.add("step/end", log.place)
        log.step = 2
        log.add("step/start", log.place)
        tokens = log.prose.tokens(200)
        log.settle({"type": "text", "text": "".join(tokens)}, tokens)
        log.add("step/end", log.place)
        log.add("turn/end", {"turn": log.turn, "reason": {"kind": "completed"}})
        if log.turn % _COMPACT_EVERY == 0:
            log.compact()


def _write_messages(log: Writer, events: int) -> None:
    while log.seq < events:
        log.user(log.prose.number(100, 200))


_KINDS: dict[str, tuple[int, Callable[[Writer, int], None]]] = {
    "chunk": (0, _write_turns),
    "settled": (4, _write_turns),
    "messages": (4, _write_messages),
}


def make_log(kind: str, events: int, folder: Path) -> Log:
    """A log of `events` events, up to the end of the turn; one that is in the folder is reused."""
    version, write = _KINDS[kind]
    code = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]
    path = folder / f"{kind}-{events}-{code}.jsonl"
    zstd, made = path.with_suffix(".jsonl.zstd"), path.with_suffix(".events")
    if not made.exists():
        log = Writer(path, version, seed=events)
        write(log, events)
        log.close()
        _compress(path, zstd)
        made.write_text(str(log.seq), encoding="ascii")  # last: now both are whole
    count = int(made.read_text(encoding="ascii"))
    if count < events:
        raise Failed(f"{made} says {count} events: remove it")
    return Log(path, zstd, version, count)


def _compress(plain: Path, zstd: Path) -> None:
    compress = zstandard.ZstdCompressor(level=3, write_checksum=True).compress
    with plain.open("rb") as lines, zstd.open("wb") as frames:
        frames.write(compress(lines.readline()))
        while block := lines.readlines(_FRAME):
            frames.write(compress(b"".join(block)))
