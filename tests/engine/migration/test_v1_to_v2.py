"""Attempts: which deltas go into which settlement, where it stands, and what else changes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dshstore.engine.migration.chunks import gather
from dshstore.engine.migration.v1_to_v2 import V1ToV2
from dshstore.errors import MigrationRefused
from tests.engine.migration.old_logs import OldLog, make_old_header, migrated
from tests.logs import BASE_TIME, EventDict, Json, text


def opened() -> OldLog:
    """A log with an open turn and step, at seq 4."""
    log = OldLog()
    log.begin()
    return log


def tail(log: OldLog, first: int = 4, **members: Json) -> list[EventDict]:
    """The events from `first` on in the new log."""
    return migrated(log, **members)[first:]


def types(events: list[EventDict]) -> list[str]:
    return [event["type"] for event in events]


def texts(event: EventDict) -> list[str]:
    """The pieces of text in an event's stream."""
    return [part for record in event["data"]["stream"] for part in record.get("texts", ())]


# -- settlements --


def test_a_message_takes_the_deltas_that_it_cites_as_its_stream() -> None:
    log = opened()
    log.answer("be", "ans")
    [message] = tail(log)
    assert list(message) == ["type", "seq", "time", "data", "surfaceOp"]
    assert list(message["data"]) == ["turn", "step", "message", "stream"]
    time = log.events[4]["time"]
    assert message["data"]["stream"] == [
        {"type": "text-chunks", "time0": time, "index": 0, "dt": [7], "texts": ["be", "ans"]},
        {
            "type": "chunk",
            "time": time + 14,
            "chunk": {"type": "finish", "reason": {"kind": "stop"}},
        },
    ]
    assert message["seq"] == 4


def test_an_attempt_that_no_message_cites_stands_where_its_last_delta_stood() -> None:
    log = opened()
    log.say("a", "b")
    last = log.finish("error")
    log.add("plan/mode", {"active": True})
    log.retry(1)
    attempt, mode, retry = tail(log)
    assert attempt["type"] == "assistant/attempt"
    assert attempt["time"] == log.events[last]["time"]
    assert list(attempt["data"]) == ["turn", "step", "stream"]
    assert texts(attempt) == ["a", "b"]
    assert types([mode, retry]) == ["plan/mode", "llm/retry"]


def test_what_happens_between_the_deltas_of_an_attempt_stands_before_its_settlement() -> None:
    log = opened()
    seqs = log.say("a")
    log.add("plan/mode", {"active": True})
    seqs += log.say("b")
    log.add("plan/mode", {"active": False})
    log.append("assistant/message", log.assistant(text("ab")), seqs)
    first, second, message = tail(log)
    assert types([first, second]) == ["plan/mode"] * 2
    assert texts(message) == ["a", "b"]


def test_what_happens_before_an_attempt_fails_stands_before_it_and_the_rest_after() -> None:
    log = opened()
    log.say("a")
    log.add("plan/mode", {"active": True})
    log.say("b")
    log.add("plan/mode", {"active": False})
    log.end()
    assert types(tail(log)) == [
        "plan/mode",
        "assistant/attempt",
        "plan/mode",
        "step/end",
        "turn/end",
    ]


@pytest.mark.parametrize(
    "close",
    [
        lambda log: log.end_step(),
        lambda log: log.retry(1),
        lambda log: log.chunk({"type": "text-delta", "index": 0, "text": "b"}),
        lambda log: log.append("assistant/message", log.assistant(text("b")), []),
        lambda log: None,
    ],
    ids=["the end of the step", "a retry", "another delta", "a message of none", "the log's end"],
)
def test_an_attempt_that_finished_is_settled_by_what_comes_next(
    close: Callable[[OldLog], object],
) -> None:
    log = opened()
    log.say("a")
    log.finish("error")
    close(log)
    attempt = tail(log)[0]
    assert (attempt["type"], texts(attempt)) == ("assistant/attempt", ["a"])


def test_the_start_of_a_retry_settles_what_came_before_it() -> None:
    log = opened()
    log.retry(1)
    log.say("a")
    log.retry_started(1)
    assert types(tail(log)) == ["llm/retry", "assistant/attempt", "llm/retry-started"]


def test_deltas_after_a_finish_are_another_attempt() -> None:
    log = opened()
    log.say("a")
    log.finish("error")
    log.answer("b")
    attempt, message = tail(log)
    assert (texts(attempt), texts(message)) == (["a"], ["b"])


@pytest.mark.parametrize("cited", [None, []])
def test_a_message_without_deltas_has_an_empty_stream(cited: list[int] | None) -> None:
    log = opened()
    log.append("assistant/message", log.assistant(text("a")), cited)
    [message] = tail(log)
    assert message["data"]["stream"] == []
    assert "sourceEventSeqs" not in message


def test_a_message_of_another_step_settles_what_came_before_it() -> None:
    log = opened()
    log.say("a")
    log.step = 2
    log.append("assistant/message", log.assistant(text("b")), [4])
    stages = V1ToV2(make_old_header(1))
    steps = [step for item in gather(log.events) for step in stages.push(item)]
    assert [step.event["type"] for step in steps[4:]] == ["assistant/attempt", "assistant/message"]
    assert steps[-1].event["data"]["stream"] == []


def test_runs_of_deltas_join_where_they_meet() -> None:
    log = opened()
    seqs = log.say("a")
    log.add("plan/mode", {"active": True})
    seqs += log.say("b")
    log.append("assistant/message", log.assistant(text("ab")), seqs)
    [record] = tail(log)[1]["data"]["stream"]
    assert (record["texts"], record["dt"]) == (["a", "b"], [14])


# -- numbers --


def test_every_member_of_the_closed_list_names_events_as_they_are_numbered_now() -> None:
    log = opened()
    log.use_tool("c", text("x" * 9))
    log.prune(len(log.nodes) - 1)
    log.command(sourceEventSeq=2)
    log.title(2)
    log.end()
    log.compact(1, 2)
    events = {event["type"]: event for event in migrated(log)}
    assert events["compaction/prune"]["data"]["shadowedSeqs"] == [6]
    assert events["compaction/prune"]["data"]["shadowedRange"] == {"start": 6, "end": 6}
    assert events["command/done"]["data"]["sourceEventSeq"] == 2
    assert events["session/title"]["data"]["messageSeqs"] == [2]
    assert events["compaction/summary"]["data"]["shadowedSeqs"] == [4, 8]
    checkpoint = events["user/message"]
    assert checkpoint["surfaceOp"] == {"op": "replace", "start": 4, "end": 8}
    assert checkpoint["sourceEventSeqs"] == [14, 15, 4, 8]


def test_what_only_looks_like_a_seq_stays() -> None:
    log = opened()
    log.answer("a")
    log.add("tool-workflow/agent-end", {"runId": "r", "seq": 4, "outcome": "failed"})
    data = {"sessionId": "old-session", "throughSeq": 4}
    log.add("session-log-deepseek/delivery-accepted", data)
    assert [event["data"] for event in tail(log)[1:]] == [e["data"] for e in log.events[-2:]]


def test_the_old_order_of_keys_is_the_usual_one_afterwards() -> None:
    log = opened()
    log.use_tool("c", text("a"))
    result = log.events[-1]
    log.events[-1] = {key: result[key] for key in reversed(result)}
    assert list(tail(log)[-1])[-2:] == ["sourceEventSeqs", "surfaceOp"]


# -- old habits --


def test_a_turn_that_was_resumed_without_an_end_gets_one() -> None:
    log = OldLog()
    log.start_turn()
    log.splice(log.user(text("go on")))
    log.start_turn()
    _, _, end, start = migrated(log)
    assert end == {
        "type": "turn/end",
        "seq": 2,
        "time": start["time"],
        "data": {"turn": 1, "reason": {"kind": "interrupted"}},
    }


@pytest.mark.parametrize(
    "before",
    [
        lambda log: None,
        lambda log: log.splice(),
        lambda log: log.splice(log.user(), target="next-step"),
        lambda log: (log.splice(log.user()), log.add("plan/mode", {"active": True})),
        lambda log: (log.splice(log.user()), log.chunk({"type": "usage", "usage": {}})),
        lambda log: (log.start_step(), log.splice(log.user())),
    ],
    ids=["nothing", "nothing said", "of a step", "and more", "and a delta", "an open step"],
)
def test_any_other_turn_without_an_end_is_refused(before: Callable[[OldLog], object]) -> None:
    log = OldLog()
    log.start_turn()
    before(log)
    log.start_turn()
    with pytest.raises(MigrationRefused, match="turn 1 has no end") as caught:
        migrated(log)
    assert caught.value.seq == len(log.events) - 1


def test_a_turn_that_was_resumed_must_be_the_next() -> None:
    log = OldLog()
    log.start_turn()
    log.splice(log.user())
    log.turn = 5
    log.start_turn()
    with pytest.raises(MigrationRefused):
        migrated(log)


def test_a_goal_that_changed_in_a_message_changes_in_an_event_before_it() -> None:
    log = opened()
    seq = log.goal()
    log.command(sourceEventSeq=seq)
    change, message, _, done = tail(log)
    assert (change["type"], change["time"]) == ("goal/change", message["time"])
    assert change["data"] == log.events[seq]["data"]["source"]["change"]
    assert message["data"]["source"] == {"kind": "plugin", "plugin": "goal"}
    assert done["data"]["sourceEventSeq"] == message["seq"]


def test_a_goal_that_changed_waits_for_no_attempt() -> None:
    log = opened()
    log.say("a")
    log.goal()
    log.end_step()
    kinds = ["goal/change", "user/message", "assistant/attempt", "step/end"]
    assert types(tail(log)) == kinds


def test_a_goal_of_today_stays_in_its_message() -> None:
    log = OldLog()
    source = {"kind": "goal", "goalId": "g", "revision": 1, "round": 1}
    log.append("user/message", log.user(text("a"), source=source))
    assert migrated(log)[0]["data"] == log.events[0]["data"]


# -- the cut --


def seeded(log: OldLog, cut: int) -> list[EventDict]:
    return migrated(log, parentSession="parent", seedLength=cut)


MARK = {"inherited": True}


def test_a_mark_is_put_before_the_first_event_of_the_sessions_own() -> None:
    log = opened()
    log.answer("a")
    log.end()
    log.command()
    events = seeded(log, 9)
    assert events[7]["data"] == MARK
    assert events[7]["time"] == events[8]["time"]
    assert types(events[6:9]) == ["turn/end", "session/end-seed", "command/run"]


def test_the_mark_of_the_log_itself_is_tagged_in_its_place() -> None:
    log = OldLog()
    log.command()
    log.add("session/end-seed", {})
    log.add("session/end-seed", {})
    events = seeded(log, 2)
    assert [event["data"] for event in events[2:]] == [MARK, {}]


def test_a_mark_elsewhere_is_not_tagged() -> None:
    log = OldLog()
    log.add("session/end-seed", {})
    log.command()
    log.add("session/end-seed", {})
    assert [event["data"] for event in seeded(log, 1) if event["type"] == "session/end-seed"] == [
        {},
        MARK,
        {},
    ]


def test_a_mark_is_put_at_the_end_when_all_was_inherited() -> None:
    log = OldLog()
    log.command()
    *_, mark = seeded(log, 2)
    assert mark == {
        "type": "session/end-seed",
        "seq": 2,
        "time": log.events[-1]["time"],
        "data": MARK,
    }


def test_a_log_of_nothing_but_a_header_begins_with_its_mark() -> None:
    [mark] = seeded(OldLog(), 0)
    assert (mark["seq"], mark["time"]) == (0, BASE_TIME)


def test_an_attempt_that_was_inherited_stands_before_the_mark() -> None:
    log = opened()
    log.say("a")
    log.end_step()
    assert types(seeded(log, 5)[4:]) == ["assistant/attempt", "session/end-seed", "step/end"]


@pytest.mark.parametrize("cut", [5, 6, 7, 8])
def test_a_cut_through_an_attempt_or_before_its_message_is_refused(cut: int) -> None:
    log = opened()
    log.answer("a", "b", "c")
    with pytest.raises(MigrationRefused, match="middle of an attempt") as caught:
        seeded(log, cut)
    assert caught.value.seq == cut
    assert types(seeded(log, 4)[4:]) == ["session/end-seed", "assistant/message"]


def test_a_log_that_is_not_seeded_has_no_mark() -> None:
    log = OldLog()
    log.add("session/end-seed", {})
    assert migrated(log)[0]["data"] == {}


# -- refusals --


def _cite(change: Callable[[list[int]], list[int]]) -> Callable[[OldLog], object]:
    def write(log: OldLog) -> None:
        seqs = [*log.say("a", "b"), log.finish()]
        log.append("assistant/message", log.assistant(text("ab")), change(seqs))

    return write


REFUSED: dict[str, tuple[Callable[[OldLog], object], str]] = {
    "a message that does not cite what came before it": (
        lambda log: (log.say("a"), log.append("assistant/message", log.assistant())),
        "does not cite",
    ),
    "a message that cites too little": (_cite(lambda seqs: seqs[:-1]), "does not cite"),
    "a message that cites too much": (_cite(lambda seqs: [3, *seqs]), "does not cite"),
    "a message that cites in another order": (_cite(lambda seqs: seqs[::-1]), "does not cite"),
    "a message that cites what was settled": (
        lambda log: (
            seqs := log.say("a"),
            log.retry(1),
            log.append("assistant/message", log.assistant(text("a")), seqs),
        ),
        "does not cite",
    ),
    "a result of a delta": (
        lambda log: (log.use_tool("c"), log.events[-1].update(sourceEventSeqs=[4])),
        "sourceEventSeqs names 4",
    ),
    "a command that did a delta": (
        lambda log: (log.answer("a"), log.command(sourceEventSeq=4)),
        "sourceEventSeq names 4",
    ),
    "a title of a delta": (lambda log: (log.answer("a"), log.title(2, 4)), "messageSeqs names 4"),
    "a replacement of a delta": (
        lambda log: (
            log.answer("a"),
            log.replace("user/message", log.user(), 0, 0),
            log.events[-1].update(surfaceOp={"op": "replace", "start": 2, "end": 4}),
        ),
        "surfaceOp.end names 4",
    ),
    "a prune of a delta": (
        lambda log: (
            log.use_tool("c"),
            log.prune(2),
            log.events[-2]["data"].update(shadowedRange={"start": 4, "end": 4}, shadowedSeqs=[4]),
        ),
        "shadowedRange.start names 4",
    ),
    "a delta on the surface": (
        lambda log: (log.say("a"), log.events[-1].update(surfaceOp="append")),
        "surface",
    ),
    "a delta with more": (
        lambda log: (log.say("a"), log.events[-1]["data"].update(extra=1)),
        "a turn, a step and a chunk",
    ),
    "a delta of no turn": (
        lambda log: (log.say("a"), log.events[-1]["data"].update(turn="1")),
        "integers",
    ),
    "a delta of unknown kind": (lambda log: log.chunk({"type": "smell-delta"}), "smell-delta"),
    "a delta without text": (lambda log: log.chunk({"type": "text-delta", "index": 0}), "text"),
    "a delta at no time": (lambda log: (log.say("a"), log.events[-1].update(time=0.5)), "time"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_log_that_has_no_v2_is_refused_at_the_event_that_is_at_fault(name: str) -> None:
    write, words = REFUSED[name]
    log = opened()
    write(log)
    at = {"a prune of a delta": len(log.events) - 2}.get(name, len(log.events) - 1)
    with pytest.raises(MigrationRefused, match=words) as caught:
        migrated(log)
    assert caught.value.seq == at
