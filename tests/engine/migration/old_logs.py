"""Logs of format v0 and v1 for the migration: a builder with what old harnesses wrote, and a
strategy that uses all of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from hypothesis import strategies as st

from dshstore.engine.migration.pipeline import migrate_events
from dshstore.formats.dsh import header as headers
from dshstore.model import Header
from tests.logs import (
    MODEL,
    TOOL,
    EventDict,
    Json,
    LogBuilder,
    image,
    make_header,
    text,
    write_line,
)
from tests.strategies import WORDS, split_text

SESSION_ID = "old-session"

FAILURE = {"message": "busy", "code": "HTTP_ERROR", "status": 503}


def make_old_header(version: int, session_id: str = SESSION_ID, **members: Json) -> Header:
    """The header of an old log; `members` as in the log."""
    return headers.read(write_line(make_header(version, session_id, **members)))


def migrated(log: LogBuilder, **members: Json) -> list[EventDict]:
    """The events of the log as v2; `members` are more members of its header."""
    _, events = migrate_events(make_old_header(log.version, **members), log.events, 2)
    return [dict(event) for event in events]


class OldLog(LogBuilder):
    """A log of format v0 or v1, with more of what its harness wrote."""

    def __init__(self, version: int = 1, ticks: Sequence[int] = (7,)) -> None:
        super().__init__(version, ticks)
        self.said: list[int] = []
        self.failed = 0

    def begin(self) -> None:
        """A turn, its first step, what the user said, and the request."""
        self.start_turn()
        self.start_step()
        self.said.append(self.append("user/message", self.user(text("how do beans grow?"))))
        self.header(TOOL)

    def end(self) -> None:
        self.end_step()
        self.end_turn()

    def chunk(self, chunk: EventDict, **place: int) -> int:
        return self.add("assistant/chunk", {**self.place, **place, "chunk": chunk})

    def say(self, *parts: str) -> list[int]:
        """Deltas of text."""
        return [self.chunk({"type": "text-delta", "index": 0, "text": part}) for part in parts]

    def finish(self, kind: str = "stop") -> int:
        failure = {"failure": FAILURE} if kind in ("error", "aborted") else {}
        return self.chunk({"type": "finish", "reason": {"kind": kind, **failure}})

    def answer(self, *parts: str, **members: Json) -> int:
        """An attempt and the message that cites it."""
        seqs = [*self.say(*parts), self.finish()]
        content = [text("".join(parts))]
        return self.append("assistant/message", {**self.assistant(*content), **members}, seqs)

    def fail(self, *parts: str) -> int:
        """An attempt that came to nothing, and the retry that was planned; its seq."""
        self.say(*parts)
        self.finish("error")
        return self.retry(self.failed + 1)

    def retry(self, retry: int, **members: Json) -> int:
        self.failed = retry
        data = {"retryId": f"r{self.turn}-{self.step}", **self.place, **_POLICY, "retry": retry}
        return self.add("llm/retry", {**data, "delayMs": 10, "failure": FAILURE, **members})

    def retry_started(self, retry: int) -> int:
        data = {"retryId": f"r{self.turn}-{self.step}", **self.place, "retry": retry}
        return self.add("llm/retry-started", data)

    def start_step(self) -> None:
        super().start_step()
        self.failed = 0

    def command(self, **members: Json) -> int:
        """A command, and that it is done."""
        identity = {"commandId": f"k{len(self.events)}"}
        self.add("command/run", {**identity, "name": "note", "source": {"kind": "user"}})
        return self.add("command/done", {**identity, "kind": "success", **members})

    def title(self, *seqs: int) -> int:
        source = {"kind": "provider", "provider": "titles"}
        return self.add(
            "session/title", {"title": "Beans", "messageSeqs": list(seqs), "source": source}
        )

    def splice(self, *inserted: Json, target: str = "next-turn") -> int:
        data = {"target": target, "start": 0, "inserted": list(inserted)}
        return self.add("agent/inbox/spliced", data)

    def goal(self) -> int:
        """A change of a goal in the message of a user, as it once was."""
        told = {
            "goal": {"id": "g", "revision": 1, "objective": "é <beans>", "phase": "active"},
            "roundsStarted": 0,
            "createdAt": 1,
            "updatedAt": 2,
        }
        told["goal"] |= {"maxGoalRounds": 3}  # type: ignore[operator]
        change = {"kind": "goal/change", "version": 1, "operation": "create", **told}
        source = {"kind": "goal", "goalId": "g", "revision": 1, "round": 0, "change": change}
        state = (
            '<goal_state>{"goal":{"id":"g","revision":1,"objective":"é <beans>","phase":"active",'
            '"maxGoalRounds":3},"roundsStarted":0,"createdAt":1,"updatedAt":2}</goal_state>'
        )
        return self.append("user/message", self.user(text(state), source=source))

    def prune(self, position: int) -> int:
        """A tool result that was cut, and that this was meant."""
        seq = self.nodes[position]
        range_ = {"shadowedRange": {"start": seq, "end": seq}, "shadowedSeqs": [seq]}
        self.add("compaction/prune", {**range_, "shadowedTokenCount": 7})
        data = self.rewritten(seq, text("[pruned]"))
        return self.replace("tool/result", data, position, position)

    def use_tool(self, call_id: str, *result: Json) -> int:
        """An attempt that calls a tool, the call, and its result."""
        call = {"type": "tool-call", "id": call_id, "name": "shell", "arguments": "{}"}
        self.settle([(call, ["{", "}"])])
        return self.append("tool/result", self.result(call_id, *result), [self.call(call)])


_POLICY = {"provider": MODEL["provider"], "mode": "normal", "policyKey": "k", "maxRetries": 9}


class Sample(NamedTuple):
    """An old log, and the members of its header beside the usual ones."""

    log: OldLog
    members: EventDict


@st.composite
def old_logs(draw: st.DrawFn, version: int | None = None) -> Sample:
    """A whole log that can be migrated; about one in four begins with a prefix from a parent."""
    if version is None:
        version = draw(st.sampled_from([0, 1]))
    log = OldLog(version, draw(st.lists(st.sampled_from([7, 1, 0, 250, -40]), min_size=1)))
    members: EventDict = draw(
        st.sampled_from([{}, {"cwd": "/srv/garden"}, {"agentPreset": "plan"}])
    )
    turns = draw(st.integers(0, 4))
    cut = draw(st.integers(0, turns)) if draw(st.integers(0, 3)) == 0 else None
    for turn in range(turns + 1):
        if cut is not None and turn >= cut and (turn == turns or _is_closed(log)):
            members, cut = {**members, "parentSession": "p", "seedLength": len(log.events)}, None
            if draw(st.booleans()):
                log.add("session/end-seed", {})
        if turn == turns:
            break
        _write_turn(draw, log, is_last=turn == turns - 1)
        if len(log.nodes) > 1 and draw(st.integers(0, 2)) == 0 and _is_closed(log):
            start = draw(st.integers(0, len(log.nodes) - 1))
            log.compact(start, draw(st.integers(start, len(log.nodes) - 1)))
    return Sample(log, members)


def _is_closed(log: OldLog) -> bool:
    kinds = [e["type"] for e in log.events if e["type"] in ("turn/start", "turn/end")]
    return kinds[-1:] != ["turn/start"]


def _write_turn(draw: st.DrawFn, log: OldLog, *, is_last: bool) -> None:
    log.begin()
    for step in range(draw(st.integers(1, 2))):
        if step:
            log.start_step()
        for _ in range(draw(st.integers(0, 3))):
            draw(st.sampled_from(_MOVES))(draw, log)
        if is_last and draw(st.integers(0, 4)) == 0:  # killed in the middle of an attempt
            log.say(*draw(st.lists(st.sampled_from(WORDS), max_size=3)))
            return
        _settle(draw, log)
        log.end_step()
    if not is_last and draw(st.integers(0, 5)) == 0:  # killed, and resumed with the next turn
        log.splice(log.user(text("go on")))
        return
    log.end_turn()


def _settle(draw: st.DrawFn, log: OldLog) -> None:
    """An attempt and its message; now and then a message without deltas, or cut short."""
    words = st.sampled_from([word for word in WORDS if word.strip()])
    if draw(st.integers(0, 5)) == 0:
        none = draw(st.sampled_from([None, ()]))
        log.append("assistant/message", log.assistant(text(draw(words))), none)
        return
    whole = draw(words)
    seqs: list[int] = []
    for part in draw(split_text(whole)):
        if draw(st.integers(0, 4)) == 0:
            _note(draw, log)
        seqs += log.say(part)
    if draw(st.integers(0, 5)) == 0:
        data = {**log.assistant(text(whole)), "interrupted": True}
    else:
        seqs.append(log.chunk({"type": "usage", "usage": {"inputTokens": 1, "outputTokens": 2}}))
        seqs.append(log.finish())
        data = {**log.assistant(text(whole)), "usage": {"inputTokens": 1, "outputTokens": 2}}
    if draw(st.integers(0, 3)) == 0:
        _note(draw, log)
    log.append("assistant/message", data, seqs)


def _note(draw: st.DrawFn, log: OldLog) -> None:
    """Something else that happens while a model speaks."""
    notes = [
        ("todo/write", {"todos": [{"content": "water", "status": "pending"}]}),
        ("plan/mode", {"active": True}),
        ("feedback/record", {"text": "good"}),
    ]
    log.add(*draw(st.sampled_from(notes)))


def _fail(draw: st.DrawFn, log: OldLog) -> None:
    parts = draw(st.lists(st.sampled_from(WORDS), max_size=4))
    log.say(*parts)
    if draw(st.booleans()):
        _note(draw, log)
    log.finish("error")
    if draw(st.booleans()):
        _note(draw, log)
    retry = log.failed + 1
    log.retry(retry)
    if draw(st.booleans()):
        log.retry_started(retry)


def _use_tool(draw: st.DrawFn, log: OldLog) -> None:
    log.use_tool(f"c{len(log.events)}", text(draw(st.sampled_from(WORDS))))
    if draw(st.integers(0, 2)) == 0:
        log.prune(len(log.nodes) - 1)


def _talk(draw: st.DrawFn, log: OldLog) -> None:
    said = log.user(text(draw(st.sampled_from(WORDS))), image("i"))
    log.said.append(log.append("user/message", said))


def _command(draw: st.DrawFn, log: OldLog) -> None:
    source = {"sourceEventSeq": draw(st.sampled_from(log.said))} if draw(st.booleans()) else {}
    log.command(**source)


def _title(draw: st.DrawFn, log: OldLog) -> None:
    log.title(*draw(st.lists(st.sampled_from(log.said), min_size=1, unique=True)))


def _goal(draw: st.DrawFn, log: OldLog) -> None:
    log.goal()


_MOVES: list[Callable[[st.DrawFn, OldLog], None]] = [
    _fail,
    _fail,
    _use_tool,
    _use_tool,
    _talk,
    _command,
    _title,
    _goal,
    _note,
]
