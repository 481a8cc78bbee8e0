"""What the events of a v2 log have to do with each other: a log for every rule that breaks it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dshstore.engine.migration.relationships import Relationships
from dshstore.engine.repair import closers
from dshstore.errors import MigrationRefused
from dshstore.formats.dsh import header as headers
from tests.engine.migration.old_logs import OldLog, migrated
from tests.logs import EventDict, Json, text

Write = Callable[[OldLog], object]

CALL = {"type": "tool-call", "id": "c", "name": "shell", "arguments": "{}"}
SOURCE = {"kind": "plugin", "plugin": "compact", "compactionId": "z"}
TITLE = {"kind": "plugin", "plugin": "dsh-session-title-llm"}


def opened() -> OldLog:
    """A log with an open turn and step; the next seq is 4, the user spoke at 2."""
    log = OldLog()
    log.begin()
    return log


def outcome(write: Write, start: Callable[[], OldLog] = opened) -> tuple[int | None, str] | None:
    """The seq and the words with which a log is refused; None when it is not."""
    log = start()
    write(log)
    try:
        migrated(log)
    except MigrationRefused as refusal:
        return refusal.seq, refusal.reason
    return None


def steps(*writes: Write) -> Write:
    def write(log: OldLog) -> None:
        for each in writes:
            each(log)

    return write


def announce(*calls: EventDict) -> Write:
    """A settlement that announces calls (of no attempt that was logged)."""
    return lambda log: log.append("assistant/message", log.assistant(*(calls or [CALL])), [])


def call(**members: Json) -> Write:
    return lambda log: log.call({**CALL, **members})


def answer(call_id: str = "c", **members: Json) -> Write:
    return lambda log: log.append("tool/result", {**log.result(call_id, text("ok")), **members})


def add(type: str, **data: Json) -> Write:
    return lambda log: log.add(type, data)


def dispatch(sub: str, parent: str = "r", ends: bool = False, **members: Json) -> Write:
    kind = "tool/code-dispatch" if ends else "tool/code-dispatch-start"
    data = {"rootCallId": "r", "parentCallId": parent, "subCallId": sub, "name": "n"}
    end = {"isError": False, "content": []} if ends else {}
    return add(kind, **{**data, "arguments": {"a": 1.0}, **end, **members})


def retry(number: int, **members: Json) -> Write:
    return lambda log: log.retry(number, **members)


def started(number: int, **members: Json) -> Write:
    def write(log: OldLog) -> None:
        log.retry_started(number)
        log.events[-1]["data"].update(members)

    return write


def bracket(edge: str, **members: Json) -> Write:
    return add(f"compaction/{edge}", **{"compactionId": "z", "turn": None, **members})


def summary(*seqs: int, **members: Json) -> Write:
    range_ = {"start": seqs[0], "end": seqs[-1]}
    shadowed = {"shadowedRange": range_, "shadowedSeqs": list(seqs), "shadowedTokenCount": 0}
    data = {"compactionId": "z", "summary": [], **shadowed, "provider": "p", "model": "m"}
    return add("compaction/summary", **{**data, **members})


def checkpoint(source: EventDict) -> Write:
    return lambda log: log.replace("user/message", log.user(text("so far"), source=source), 0, 0)


def title(*seqs: int, source: Json = None) -> Write:
    return add(
        "session/title", title="t", messageSeqs=list(seqs), source=source or {"kind": "fallback"}
    )


def title_request(*seqs: int, content: Json = None, source: Json = None, count: int = 1) -> Write:
    def write(log: OldLog) -> None:
        message = log.user(*(content or [text("as it was")]), source=source or TITLE)
        log.add(
            "session/title-llm-request",
            {
                "titleProvider": "t",
                "messageSeqs": list(seqs),
                "route": {"provider": "p", "model": "m"},
                "system": "",
                "messages": [message] * count,
                "maxTokens": 1,
            },
        )

    return write


def run(command_id: str = "k") -> Write:
    return add("command/run", commandId=command_id, name="n", source={"kind": "user"})


def done(command_id: str = "k", **members: Json) -> Write:
    return add("command/done", **{"commandId": command_id, "kind": "success", **members})


def delivered(session_id: str, version: int = 2) -> Write:
    kind = "session-log-deepseek/delivery-accepted"
    return add(kind, sessionId=session_id, throughSeq=0, sessionFormatVersion=version)


def end(log: OldLog) -> None:
    log.end()


def close_not_started(log: OldLog) -> None:
    """What a harness wrote when it came back to a call that it had not started."""
    for event in closers(log.events, 1):
        log.events.append(event)


ACCEPTED: dict[str, Write] = {
    "an empty step": end,
    "a call and its result": steps(announce(), call(), answer(), end),
    "results in another order": steps(
        announce(CALL, {**CALL, "id": "d"}),
        call(),
        call(id="d"),
        answer("d"),
        answer(),
        end,
    ),
    "a call that is announced again after its result": steps(
        announce(), call(), answer(), announce(), call(), answer(), end
    ),
    "a call that was not started, repaired": steps(announce(), close_not_started),
    "a result rewritten in a later step": steps(
        announce(),
        call(),
        answer(),
        lambda log: log.end_step(),
        lambda log: log.start_step(),
        lambda log: log.replace("tool/result", log.rewritten(log.nodes[-1], text("-")), 2, 2),
        end,
    ),
    "code that calls, and what it calls": steps(
        dispatch("a"), dispatch("b", "a"), dispatch("b", "a", ends=True, arguments={"a": 1})
    ),
    "retries of a chain": steps(retry(1), started(1), retry(2), started(2), end),
    "a retry between steps": steps(lambda log: log.end_step(), retry(1)),
    "a retry before the first step": steps(
        end, lambda log: log.start_turn(), retry(1, step=0, retryId="x")
    ),
    "chains of two policies": steps(retry(1), retry(1, policyKey="other", retryId="other")),
    "a title that the user gave": title(source={"kind": "user"}),
    "a title of messages": title(2),
    "a request for a title": title_request(2),
    "commands and what they did": steps(run(), done(sourceEventSeq=2), run("l"), done("l")),
    "a compaction between turns": steps(
        end,
        bracket("start"),
        summary(2),
        lambda log: checkpoint(SOURCE)(log),
        bracket("end"),
    ),
    "a compaction of a command in a turn": steps(
        bracket("start", turn=1, sourceCommandId="k"),
        summary(2, sourceCommandId="k"),
        checkpoint({**SOURCE, "sourceCommandId": "k"}),
        bracket("end", turn=1, sourceCommandId="k"),
    ),
    "a compaction that failed": steps(end, bracket("start"), bracket("end", error="e")),
    "a compaction that was inherited open": steps(
        end,
        bracket("start"),
        lambda log: log.start_turn(),
        lambda log: log.end_turn(),
        add("session/end-seed"),
        bracket("start"),
        bracket("end", error="e"),
    ),
    "a compaction that is open where the log ends": steps(end, bracket("start")),
    "a message of the compaction plugin that replaces nothing": lambda log: log.append(
        "user/message", log.user(text("a"), source=SOURCE)
    ),
    "a delivery of this session": delivered("old-session"),
    "a delivery of another generation": delivered("other", version=3),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_log_that_fits_together_is_migrated(name: str) -> None:
    assert outcome(ACCEPTED[name]) is None


#: What breaks a rule, the seq that is at fault, and a word of the reason.
REFUSED: dict[str, tuple[Write, int, str]] = {
    "turn 3 after turn 1": (
        steps(end, lambda log: setattr(log, "turn", 2), lambda log: log.start_turn()),
        6,
        "turn 2 is due",
    ),
    "the end of another turn": (
        steps(lambda log: log.end_step(), add("turn/end", turn=2, reason={"kind": "blocked"})),
        5,
        "not open",
    ),
    "a turn that ends twice": (steps(end, lambda log: log.end_turn()), 6, "not open"),
    "a turn that ends in a step": (lambda log: log.end_turn(), 4, "step 1"),
    "a step in a step": (lambda log: log.start_step(), 4, "between"),
    "a step in no turn": (steps(end, lambda log: log.start_step()), 6, "between"),
    "a step of another turn": (
        steps(lambda log: log.end_step(), add("step/start", turn=2, step=2)),
        5,
        "between",
    ),
    "step 3 after step 1": (
        steps(lambda log: log.end_step(), add("step/start", turn=1, step=3)),
        5,
        "step 2 is due",
    ),
    "the end of another step": (add("step/end", turn=1, step=2), 4, "names"),
    "a message of another step": (
        lambda log: log.append("assistant/message", {**log.assistant(), "step": 2}, []),
        4,
        "names",
    ),
    "an attempt of another step": (
        lambda log: log.chunk({"type": "usage", "usage": {}}, step=2),
        4,
        "names",
    ),
    "a call that was announced twice": (announce(CALL, CALL), 4, "again"),
    "a call that no message announced": (call(), 4, "waits"),
    "a call of another name": (steps(announce(), call(name="dig")), 5, "waits"),
    "a call with other arguments": (steps(announce(), call(arguments="[]")), 5, "waits"),
    "a call that starts twice": (steps(announce(), call(), call()), 6, "waits"),
    "a call of another step": (
        steps(announce(), lambda log: setattr(log, "step", 2), call()),
        5,
        "names",
    ),
    "a result of no call": (answer(), 4, "no open call"),
    "a second result": (steps(announce(), call(), answer(), answer()), 7, "no open call"),
    "a result of another step": (
        steps(announce(), call(), answer(step=2)),
        6,
        "names",
    ),
    "a result of what was not started": (steps(announce(), answer()), 5, "repair"),
    "a step that leaves a call open": (steps(announce(), lambda log: log.end_step()), 5, "'c'"),
    "a result rewritten in no turn": (
        steps(
            announce(),
            call(),
            answer(),
            end,
            lambda log: log.replace("tool/result", log.rewritten(log.nodes[-1], text("-")), 2, 2),
        ),
        9,
        "no turn",
    ),
    "a request in no turn": (steps(end, lambda log: log.header()), 6, "no turn"),
    "a context in no turn": (
        steps(end, add("request/context", provider="p", model="m")),
        6,
        "turn",
    ),
    "a dispatch in no turn": (steps(end, dispatch("a")), 6, "turn"),
    "a dispatch that starts twice": (steps(dispatch("a"), dispatch("a")), 5, "again"),
    "a dispatch of a stranger": (dispatch("a", "x"), 4, "no call of its root"),
    "a dispatch of another root": (
        steps(dispatch("a", rootCallId="x", parentCallId="x"), dispatch("b", "a")),
        5,
        "no call of its root",
    ),
    "a dispatch that ends before it starts": (dispatch("a", ends=True), 4, "no open call"),
    "a dispatch that ends twice": (
        steps(dispatch("a"), dispatch("a", ends=True), dispatch("a", ends=True)),
        6,
        "no open call",
    ),
    "a dispatch that ends as another": (
        steps(dispatch("a"), dispatch("a", ends=True, arguments={"a": 2})),
        5,
        "otherwise",
    ),
    "a retry of another step": (retry(1, step=2), 4, "names"),
    "a retry in no turn": (steps(end, retry(1)), 6, "names"),
    "a retry of another provider": (retry(1, provider="other"), 4, "provider"),
    "a chain that begins with 2": (retry(2), 4, "not due"),
    "a chain that skips": (steps(retry(1), retry(3)), 5, "not due"),
    "a chain of two ids": (steps(retry(1), retry(2, retryId="x")), 5, "chain"),
    "an id of two chains": (steps(retry(1), retry(1, policyKey="other")), 5, "chain"),
    "the start of no retry": (started(1), 4, "not scheduled"),
    "the start of a retry elsewhere": (steps(retry(1), started(1, step=2)), 5, "not scheduled"),
    "a retry that starts twice": (steps(retry(1), started(1), started(1)), 6, "before"),
    "a title of no message": (title(), 4, "names messages"),
    "a title of the user that names messages": (title(2, source={"kind": "user"}), 4, "names"),
    "a title of what no user said": (title(3), 4, "messages of the user"),
    "a title of what a plugin said": (
        steps(lambda log: log.append("user/message", log.user(source={"kind": "x"})), title(2, 4)),
        5,
        "messages of the user",
    ),
    "a request for a title of what no user said": (title_request(3), 4, "of the user"),
    "a request for a title by another plugin": (
        title_request(2, source={"kind": "plugin", "plugin": "x"}),
        4,
        "one text",
    ),
    "a request for a title in two texts": (
        title_request(2, content=[text("a"), text("b")]),
        4,
        "one text",
    ),
    "a request for a title in two messages": (title_request(2, count=2), 4, "one text"),
    "a command that is run twice": (steps(run(), run()), 5, "repeats"),
    "a command that was not run": (done(), 4, "not run"),
    "a failed command that did something": (
        steps(run(), done(kind="error", sourceEventSeq=2)),
        5,
        "source",
    ),
    "a command that did a command": (steps(run(), done(sourceEventSeq=4)), 5, "source"),
    "a command that did the end of one": (
        steps(run(), done(), run("l"), done("l", sourceEventSeq=5)),
        7,
        "source",
    ),
    "a compaction in a compaction": (
        steps(end, bracket("start"), bracket("start", compactionId="y")),
        7,
        "another is open",
    ),
    "a compaction of a turn that is not open": (
        steps(end, bracket("start", turn=1)),
        6,
        "turn",
    ),
    "a compaction of no turn in one": (bracket("start"), 4, "turn"),
    "a summary of no compaction": (summary(2), 4, "not open"),
    "a summary of another compaction": (
        steps(end, bracket("start"), summary(2, compactionId="y")),
        7,
        "not open",
    ),
    "a summary of another command": (
        steps(end, bracket("start"), summary(2, sourceCommandId="k")),
        7,
        "not open",
    ),
    "a summary in another turn": (
        steps(end, bracket("start"), lambda log: log.start_turn(), summary(2)),
        8,
        "turn of its compaction",
    ),
    "two summaries": (steps(end, bracket("start"), summary(2), summary(2)), 8, "second"),
    "a summary of what is not on the surface": (
        steps(end, bracket("start"), summary(3)),
        7,
        "surface",
    ),
    "a summary that leaves one out": (
        steps(
            lambda log: log.append("user/message", log.user()),
            lambda log: log.append("user/message", log.user()),
            end,
            bracket("start"),
            summary(2, 5),
        ),
        9,
        "surface",
    ),
    "the end of no compaction": (bracket("end"), 4, "not open"),
    "the end of another compaction": (
        steps(end, bracket("start"), bracket("end", compactionId="y", error="e")),
        7,
        "not open",
    ),
    "an end in another turn": (
        steps(end, bracket("start"), bracket("end", turn=1, error="e")),
        7,
        "turn",
    ),
    "a success without a summary": (steps(end, bracket("start"), bracket("end")), 7, "no summary"),
    "a checkpoint of no compaction": (steps(end, checkpoint(SOURCE)), 6, "not open"),
    "a checkpoint of another compaction": (
        steps(end, bracket("start"), checkpoint({**SOURCE, "compactionId": "y"})),
        7,
        "not open",
    ),
    "a turn that begins in a compaction": (
        steps(
            end,
            bracket("start"),
            lambda log: log.start_turn(),
            lambda log: log.end_turn(),
            bracket("end", error="e"),
        ),
        7,
        "middle of a compaction",
    ),
    "a turn that ends in a compaction": (
        steps(bracket("start", turn=1), end),
        6,
        "middle of a compaction",
    ),
    "a prune of what is not on the surface": (
        add(
            "compaction/prune",
            shadowedRange={"start": 3, "end": 3},
            shadowedSeqs=[3],
            shadowedTokenCount=0,
        ),
        4,
        "surface",
    ),
    "a delivery of another session": (delivered("other"), 4, "another one"),
    "an event of the log on the surface": (
        lambda log: log.append("plan/mode", {"active": True}),
        4,
        "op-on-log-only",
    ),
    "a message that is on no surface": (
        lambda log: log.add("user/message", log.user()),
        4,
        "op-missing",
    ),
    "a replacement of what is not on the surface": (
        lambda log: log.add(
            "user/message",
            log.user(),
            sourceEventSeqs=[3],
            surfaceOp={"op": "replace", "start": 3, "end": 3},
        ),
        4,
        "replace-start-not-on-surface",
    ),
    "a replacement that does not cite what it replaces": (
        lambda log: log.replace("user/message", log.user(), 0, 0, [3]),
        4,
        "sources-miss-shadowed",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_log_that_breaks_a_rule_is_refused_at_the_event_that_breaks_it(name: str) -> None:
    write, seq, words = REFUSED[name]
    refused = outcome(write)
    assert refused is not None
    assert refused[0] == seq
    assert words in refused[1]


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data["error"].update(code="OTHER"),
        lambda data: data["message"].update(id="interrupted-tool-result-c-4"),
        lambda data: data["message"]["content"][0].update(isError=False),
        lambda data: data["message"]["content"][0]["content"][0].update(text="Retry it."),
        lambda data: data["message"]["content"][0]["content"].append(text("more")),
        lambda data: data.pop("error"),
    ],
)
def test_a_repair_must_be_one_to_the_letter(change: Callable[[EventDict], object]) -> None:
    def write(log: OldLog) -> None:
        announce()(log)
        close_not_started(log)
        change(log.events[5]["data"])

    assert outcome(write) == (
        5,
        "tool/result: answers 'c', which was not started, and is not its repair",
    )


def test_a_repair_names_its_own_seq_so_it_cannot_follow_deltas() -> None:
    log = opened()
    log.settle([(CALL, ["{", "}"])])
    close_not_started(log)
    with pytest.raises(MigrationRefused, match="repair") as caught:
        migrated(log)
    assert caught.value.seq == 9


def test_a_delivery_of_the_parent_passes_where_it_was_inherited() -> None:
    log = opened()
    delivered("parent")(log)
    end(log)
    assert migrated(log, parentSession="parent", seedLength=7)
    for members in ({"parentSession": "parent", "seedLength": 4}, {"seedLength": 7}, {}):
        with pytest.raises(MigrationRefused):
            migrated(log, **members)


def test_a_refusal_names_the_event_of_the_log_that_it_was_told() -> None:
    relationships = Relationships(headers.write(version=2, session_id="s", created_at=0))
    event = {"type": "step/start", "seq": 0, "time": 0, "data": {"turn": 1, "step": 1}}
    with pytest.raises(MigrationRefused) as caught:
        relationships.push(event, 77)
    assert caught.value.seq == 77
