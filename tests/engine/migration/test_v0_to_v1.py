"""The shapes of v0 in the words of v1, and those that v1 has no words for."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from dshstore.engine.migration.pipeline import migrate_events
from dshstore.errors import MigrationRefused
from tests.engine.migration.old_logs import (
    SESSION_ID,
    OldLog,
    Sample,
    make_old_header,
    old_logs,
)
from tests.logs import EventDict, Json, text

FAILURE = {"message": "busy", "code": "HTTP_ERROR"}


def upgraded(log: OldLog, **members: Json) -> list[EventDict]:
    _, events = migrate_events(make_old_header(0, **members), log.events, 1)
    return [dict(event) for event in events]


def one(type: str, data: Json, **members: Json) -> EventDict:
    """An event of this kind, as v1 has it, behind one that takes seq 0."""
    log = OldLog(0)
    log.begin()
    log.add(type, data, **members)
    return upgraded(log)[-1]


def spelled(value: Json) -> str:
    return json.dumps(value, separators=(",", ":"))


@given(old_logs(version=0))
def test_a_log_of_the_last_shapes_passes_unchanged(sample: Sample) -> None:
    header = make_old_header(0, **sample.members)
    _, events = migrate_events(header, sample.log.events, 1)
    assert all(a is b for a, b in zip(events, sample.log.events, strict=True))


def test_a_turn_loses_what_triggered_it() -> None:
    assert one("turn/start", {"turn": 1, "trigger": {"kind": "user"}})["data"] == {"turn": 1}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"kind": "aborted"}, {"kind": "aborted", "reason": {"kind": "legacy"}}),
        ({"kind": "disposed"}, {"kind": "aborted", "reason": {"kind": "disposed"}}),
        ({"kind": "error", "step": 1, "failure": FAILURE}, {"kind": "error", "error": FAILURE}),
        (
            {"kind": "error", "step": 1, "message": "m"},
            {"kind": "error", "error": {"message": "m", "code": "UNKNOWN"}},
        ),
    ],
)
def test_a_turn_ends_for_a_reason_of_today(old: Json, new: Json) -> None:
    assert one("turn/end", {"turn": 1, "reason": old})["data"] == {"turn": 1, "reason": new}


def test_compactions_have_their_later_name_and_an_id_that_they_share() -> None:
    log = OldLog(0)
    log.append("user/message", log.user(text("a")))
    log.add("compact/start", {"turn": None})
    shadowed = {"shadowedRange": {"start": 0, "end": 0}, "shadowedSeqs": [0]}
    log.add(
        "compact/summary",
        {"summary": [], **shadowed, "shadowedTokenCount": 0, "provider": "p", "model": "m"},
    )
    checkpoint = log.user(text("b"), source={"kind": "plugin", "plugin": "compact"})
    log.replace("user/message", checkpoint, 0, 0, [0])
    log.add("compact/end", {"turn": None})
    log.append("user/message", log.user(text("c")))
    start, summary, message, end, after = upgraded(log)[1:]
    minted = f"legacy-compaction:{SESSION_ID}:1"
    assert spelled(start["data"]) == f'{{"turn":null,"compactionId":"{minted}"}}'
    assert [start["type"], end["type"]] == ["compaction/start", "compaction/end"]
    assert summary["data"]["compactionId"] == end["data"]["compactionId"] == minted
    assert spelled(message["data"]["source"]) == (
        f'{{"kind":"plugin","plugin":"compact","compactionId":"{minted}"}}'
    )
    assert after == log.events[-1]


def test_a_compaction_that_was_inherited_open_gives_its_id_to_nothing_after_the_seed() -> None:
    log = OldLog(0)
    log.add("compact/start", {"turn": None})
    log.add("session/end-seed", {})
    log.add("compact/end", {"turn": None})
    with pytest.raises(MigrationRefused, match="compactionId") as caught:
        upgraded(log)
    assert caught.value.seq == 2


def test_the_retries_of_a_chain_share_an_id_that_is_minted_or_that_one_of_them_has() -> None:
    log = OldLog(0)
    log.begin()
    for step, retry_id in [(1, None), (1, None), (2, "own"), (2, None)]:
        log.retry(1, step=step)
        del log.events[-1]["data"]["retryId"]
        if retry_id is not None:
            log.events[-1]["data"]["retryId"] = retry_id
    retries = [event["data"] for event in upgraded(log)[-4:]]
    minted = f"legacy-retry:{SESSION_ID}:4"
    assert [data["retryId"] for data in retries] == [minted, minted, "own", "own"]
    assert list(retries[0])[-1] == "retryId"


def test_a_request_loses_the_messages_before_it() -> None:
    header = {"config": {"provider": "p", "model": "m"}, "messagePrefix": [{"role": "user"}]}
    after = one("request/header", {"header": header, "reason": "initial"})
    assert after["data"]["header"] == {"config": {"provider": "p", "model": "m"}}


def test_a_steering_message_is_one_of_the_user() -> None:
    source = {"kind": "user"}
    after = one(
        "steering/message", {"turn": 1, "content": [], "source": source}, surfaceOp="append"
    )
    assert after["type"] == "user/message"
    minted = f"legacy-message:{SESSION_ID}:4"
    assert spelled(after["data"]) == (
        f'{{"content":[],"source":{{"kind":"user"}},"id":"{minted}","role":"user"}}'
    )
    whole = {"id": "m", "role": "user", "content": [], "source": source}
    after = one("steering/message", {"turn": 1, "message": whole}, surfaceOp="append")
    assert after["data"] == whole


def test_an_old_settlement_and_an_old_result_are_messages() -> None:
    log = OldLog(0)
    log.begin()
    call = {"type": "tool-call", "id": "c", "name": "shell", "arguments": "{}"}
    provenance = {"provider": "p", "model": "m"}
    old = {"turn": 1, "step": 1, "content": [call], "provenance": provenance}
    log.append("assistant/message", old, [])
    told = {"turn": 1, "step": 1, "callId": "c", "content": [text("a")], "isError": False}
    log.append("tool/result", told)
    log.replace("tool/result", {**told, "content": [text("b")]}, 2, 2)
    settled, result, rewritten = upgraded(log)[-3:]
    assert spelled(settled["data"]) == (
        '{"turn":1,"step":1,"message":{"id":"legacy-message:old-session:4","role":"assistant",'
        '"content":[{"type":"tool-call","id":"c","name":"shell","arguments":"{}"}],'
        '"source":{"provider":"p","model":"m","kind":"model"}}}'
    )
    assert spelled(result["data"]) == (
        '{"turn":1,"step":1,"message":{"id":"legacy-message:old-session:5","role":"user",'
        '"content":[{"type":"tool-result","toolCallId":"c","content":[{"type":"text","text":"a"}],'
        '"isError":false}],"source":{"kind":"tool","callId":"c"}}}'
    )
    assert rewritten["data"]["message"]["id"] == "legacy-message:old-session:5"


def test_a_rewritten_result_of_an_event_without_a_message_is_refused() -> None:
    log = OldLog(0)
    told = {"turn": 1, "step": 1, "callId": "c", "content": [], "isError": False}
    log.add("plan/mode", {"active": True})
    op = {"op": "replace", "start": 0, "end": 0}
    log.add("tool/result", told, sourceEventSeqs=[0], surfaceOp=op)
    with pytest.raises(MigrationRefused) as caught:
        upgraded(log)
    assert caught.value.seq == 1


REFUSED: dict[str, tuple[str, Json, str]] = {
    "a changed header": ("request/header-delta", {}, "no later format"),
    "a mode": ("mode/set", {}, "no later format"),
    "a fallback": ("request/header", {"reason": "fallback"}, "fallback"),
    "a prefix that is no list": (
        "request/header",
        {"header": {"messagePrefix": {}}, "reason": "initial"},
        "messagePrefix",
    ),
    "a retry of an odd id": ("llm/retry", {"retryId": 1, "mode": "always"}, "llm/retry"),
    "a turn 0": ("turn/end", {"turn": 0, "reason": {"kind": "completed"}}, "from 1"),
    "the end of no turn": ("turn/end", {"reason": {"kind": "completed"}}, 'no "turn"'),
    "a trigger without a kind": ("turn/start", {"turn": 1, "trigger": {}}, "trigger"),
    "a trigger and more": ("turn/start", {"turn": 1, "trigger": {"kind": "a"}, "b": 1}, "trigger"),
    "an abort with more": (
        "turn/end",
        {"turn": 1, "reason": {"kind": "aborted", "a": 1}},
        "reason",
    ),
    "an error of no step": ("turn/end", {"turn": 1, "reason": {"kind": "error"}}, "error"),
    "a steering message of nothing": ("steering/message", {"turn": 1}, "unknown"),
    "a context message": ("context/message", {}, "unknown"),
    "a payload that is no object": ("turn/start", [1], "object"),
    "a delivery of another session": (
        "session-log-deepseek/delivery-accepted",
        {"sessionId": "other", "throughSeq": 0},
        "another session",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_v1_cannot_say_is_refused(name: str) -> None:
    kind, data, words = REFUSED[name]
    with pytest.raises(MigrationRefused, match=words) as caught:
        one(kind, data)
    assert caught.value.seq == 4


def test_an_unknown_event_is_refused_even_when_it_is_ignorable() -> None:
    with pytest.raises(MigrationRefused, match="unknown"):
        one("pack/thing", {}, ignorable=True)


def test_a_delivery_of_the_parent_passes_where_it_was_inherited() -> None:
    log = OldLog(0)
    log.begin()
    data = {"sessionId": "parent", "throughSeq": 0}
    log.add("session-log-deepseek/delivery-accepted", data)
    assert upgraded(log, parentSession="parent", seedLength=5)
    for members in ({"parentSession": "parent", "seedLength": 4}, {"seedLength": 5}):
        with pytest.raises(MigrationRefused):
            upgraded(log, **members)
