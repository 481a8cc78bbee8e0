"""Old v0 shapes on reading: what they become, and what is left alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dshstore.errors import EventRefused
from dshstore.formats.dsh.legacy import message_id, upgrade
from dshstore.jsontext import dump, parse
from dshstore.model import Event

SHARED = Path(__file__).parents[3] / ".." / "shared"

Json = Any

CONTENT = [{"type": "text", "text": "hello"}]
USER = {"kind": "user"}
FAILURE = {"message": "no", "code": "E_NO"}
PROVENANCE = {"provider": "p", "model": "m"}


def event(type_: str, data: Json, **members: Json) -> dict[str, Any]:
    return {"type": type_, "seq": 7, "time": 1, "data": data, **members}


def ended(**reason: Json) -> dict[str, Any]:
    return event("turn/end", {"turn": 1, "reason": reason})


def result(**members: Json) -> dict[str, Any]:
    data = {"turn": 1, "step": 2, "callId": "c", "content": CONTENT, "isError": False}
    return event("tool/result", data, **members)


def spell(event: Event) -> str:
    """The event as text, so that the order of keys counts too."""
    return dump(dict(event))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (event("compact/start", {"turn": None}), event("compaction/start", {"turn": None})),
        (event("compact/summary", {}), event("compaction/summary", {})),
        (event("compact/end", {}), event("compaction/end", {})),
        (event("compact/prune", {}), event("compaction/prune", {})),
        (
            event("turn/start", {"turn": 1, "trigger": {"kind": "message", "source": USER}}),
            event("turn/start", {"turn": 1}),
        ),
        (ended(kind="aborted"), ended(kind="aborted", reason={"kind": "legacy"})),
        (ended(kind="disposed"), ended(kind="aborted", reason={"kind": "disposed"})),
        (ended(kind="error", step=1, failure=FAILURE), ended(kind="error", error=FAILURE)),
        (
            ended(kind="error", step=0, failure={**FAILURE, "status": 500}),
            ended(kind="error", error={**FAILURE, "status": 500}),
        ),
        (ended(kind="error", step=1, **FAILURE), ended(kind="error", error=FAILURE)),
        (
            ended(kind="error", step=1, message="no"),
            ended(kind="error", error={"message": "no", "code": "UNKNOWN"}),
        ),
        (
            event("user/message", {"content": CONTENT, "source": USER}, surfaceOp="append"),
            event(
                "user/message",
                {"content": CONTENT, "source": USER, "id": "legacy-message:s:7", "role": "user"},
                surfaceOp="append",
            ),
        ),
        (
            event("steering/message", {"turn": 1, "content": CONTENT, "source": USER}),
            event(
                "user/message",
                {"content": CONTENT, "source": USER, "id": "legacy-message:s:7", "role": "user"},
            ),
        ),
        (
            event("steering/message", {"turn": 1, "message": {"id": "m", "role": "user"}}),
            event("user/message", {"id": "m", "role": "user"}),
        ),
        (
            event("steering/message", {"turn": 1, "message": {"source": USER, "content": CONTENT}}),
            event(
                "user/message",
                {"source": USER, "content": CONTENT, "id": "legacy-message:s:7", "role": "user"},
            ),
        ),
        (
            event(
                "assistant/message",
                {"turn": 1, "content": CONTENT, "provenance": PROVENANCE, "usage": {}},
            ),
            event(
                "assistant/message",
                {
                    "turn": 1,
                    "usage": {},
                    "message": {
                        "id": "legacy-message:s:7",
                        "role": "assistant",
                        "content": CONTENT,
                        "source": {**PROVENANCE, "kind": "model"},
                    },
                },
            ),
        ),
        (
            event(
                "tool/result",
                {"step": 2, "callId": "c", "content": CONTENT, "isError": True, "meta": 1},
            ),
            event(
                "tool/result",
                {
                    "step": 2,
                    "meta": 1,
                    "message": {
                        "id": "legacy-message:s:7",
                        "role": "user",
                        "content": [
                            {
                                "type": "tool-result",
                                "toolCallId": "c",
                                "content": CONTENT,
                                "isError": True,
                            }
                        ],
                        "source": {"kind": "tool", "callId": "c"},
                    },
                },
            ),
        ),
    ],
)
def test_an_old_shape_becomes_the_last_one(old: Event, new: Event) -> None:
    before = spell(old)
    assert spell(upgrade(old, "s")) == spell(new)
    assert spell(old) == before


@pytest.mark.parametrize(
    "whole",
    [
        event("compaction/start", {"turn": None}),
        event("compact/other", {}),
        event("mode/set", {"mode": "plan"}),
        event("request/header-delta", {}),
        event("request/header", {"header": {}, "reason": "fallback"}),
        event("context/message", {"content": CONTENT, "source": USER}),
        event("turn/start", {"turn": 1}),
        event("turn/start", {"turn": 0, "trigger": {"kind": "message"}}),
        event("turn/start", {"turn": True, "trigger": {"kind": "message"}}),
        event("turn/start", {"turn": 1, "trigger": {"kind": ""}}),
        event("turn/start", {"turn": 1, "trigger": None}),
        event("turn/start", {"turn": 1, "trigger": {"kind": "message"}, "extra": 1}),
        event("turn/start", None),
        ended(kind="completed"),
        ended(kind="aborted", reason=USER),
        ended(kind="aborted", extra=1),
        ended(kind="disposed", extra=1),
        ended(kind="error", error=FAILURE),
        ended(kind="error", step=1, failure=FAILURE, error=None),
        ended(kind="error", failure=FAILURE),
        ended(kind="error", step=-1, failure=FAILURE),
        ended(kind="error", step=1, failure={"message": "no"}),
        ended(kind="error", step=1, failure={**FAILURE, "extra": 1}),
        ended(kind="error", step=1, failure="no"),
        ended(kind="error", step=1, message=1),
        ended(kind="error", step=1, message="no", code=1),
        ended(kind="error", step=1, message="no", extra=1),
        ended(kind=["aborted"]),
        event("turn/end", {"turn": 1, "reason": None}),
        event("turn/end", {"reason": {"kind": "aborted"}}),
        event("turn/end", {"error": "no"}),
        event("turn/end", [1]),
        event("steering/message", {"content": CONTENT, "source": USER}),
        event("steering/message", {"turn": 1, "content": CONTENT, "source": USER, "extra": 1}),
        event("steering/message", {"turn": 1, "message": "text"}),
        event("steering/message", {"turn": 1, "message": {}, "extra": 1}),
        event("steering/message", {"turn": "1", "message": {}}),
        event("steering/message", "text"),
        event("user/message", {"id": "m", "role": "user", "content": CONTENT, "source": USER}),
        event("user/message", {"id": "m", "content": CONTENT, "source": USER}),
        event("user/message", {"role": "user", "content": CONTENT, "source": USER}),
        event("user/message", {"message": {}, "content": CONTENT, "source": USER}),
        event("user/message", {"content": CONTENT}),
        event("user/message", CONTENT),
        event("assistant/message", {"turn": 1, "step": 1, "message": {"id": "m"}}),
        event("assistant/message", {"message": {}, "content": [], "provenance": PROVENANCE}),
        event("assistant/message", {"content": CONTENT, "provenance": "p"}),
        event("assistant/message", {"content": CONTENT}),
        event("tool/result", {"turn": 1, "step": 1, "message": {"id": "m"}}),
        event("tool/result", {"callId": "c", "content": CONTENT}),
        event("tool/result", {"callId": 1, "content": CONTENT, "isError": False}),
        event("tool/result", {"callId": "c", "content": CONTENT, "isError": 0}),
        event("tool/result", None),
    ],
)
def test_what_is_not_a_whole_old_shape_is_left_alone(whole: Event) -> None:
    assert upgrade(whole, "s") is whole


REPLACE = {"op": "replace", "start": 3, "end": 3}


def test_an_old_result_that_replaces_an_event_takes_over_its_message_id() -> None:
    new = upgrade(result(surfaceOp=REPLACE), "s", {3: "old"}.get)
    assert message_id(new) == "old"
    assert upgrade(result(surfaceOp={**REPLACE, "start": 3.0}), "s", {3: "old"}.get) == {
        **new,
        "surfaceOp": {**REPLACE, "start": 3.0},
    }


@pytest.mark.parametrize("operation", [REPLACE, {**REPLACE, "start": "3"}, {"op": "replace"}])
def test_an_old_result_that_replaces_a_message_without_id_is_left_alone(operation: Json) -> None:
    old = result(surfaceOp=operation)
    assert upgrade(old, "s") is old
    assert upgrade(old, "s", lambda _: None) is old


def test_no_id_is_minted_without_a_session_id() -> None:
    with pytest.raises(EventRefused) as refusal:
        upgrade(result(), None)
    assert (refusal.value.code, refusal.value.seq) == ("session-id-missing", 7)
    assert upgrade(ended(kind="aborted"), None) == upgrade(ended(kind="aborted"), "s")
    assert upgrade(result(surfaceOp=REPLACE), None, {3: "old"}.get)["data"]["message"]["id"]


@pytest.mark.parametrize(
    ("carrier", "expected"),
    [
        (event("user/message", {"id": "m"}), "m"),
        (event("user/message", {"message": {"id": "m"}}), None),
        (event("assistant/message", {"id": "x", "message": {"id": "m"}}), "m"),
        (event("tool/result", {"message": {"id": 1}}), None),
        (event("tool/result", {"message": None}), None),
        (event("turn/start", {"turn": 1}), None),
        (event("user/message", None), None),
        (event("tool/result", []), None),
    ],
)
def test_the_id_of_a_message_is_found_where_its_type_has_it(
    carrier: Event, expected: str | None
) -> None:
    assert message_id(carrier) == expected


KEYS = "turn step trigger reason content source provenance message callId isError id kind failure"
VALUES = st.recursive(
    st.sampled_from([None, True, 0, 1, -1, "aborted", "disposed", "error", "c"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS.split()), inner)
    ),
)
TYPES = "turn/start turn/end steering/message user/message assistant/message tool/result step/end"


@given(
    st.sampled_from(TYPES.split()),
    VALUES | st.fixed_dictionaries({"turn": st.just(1), "reason": VALUES}),
    st.sampled_from([{}, {"surfaceOp": "append"}, {"surfaceOp": REPLACE}]),
)
def test_an_upgraded_event_has_nothing_old_left(type_: str, data: Json, members: Json) -> None:
    new = upgrade(event(type_, data, **members), "s", {3: "old"}.get)
    assert upgrade(new, "s", {3: "old"}.get) is new


@pytest.mark.shared
def test_the_messages_of_old_reference_logs_come_out_as_the_reference_shows_them() -> None:
    path = SHARED / "corpus" / "expected.jsonl"
    if not path.exists():
        pytest.skip("no reference data")
    upgraded = 0
    for expected in (parse(line) for line in path.read_bytes().split(b"\n") if line):
        nodes = expected["v0"].get("nodes")
        if nodes is None:
            continue
        lines = (path.parent / "v0" / expected["name"]).read_bytes().split(b"\n")
        header, *rows = (parse(line) for line in lines if line)
        events = {row["seq"]: row for row in rows if "seq" in row}
        messages = []
        for seq in nodes:
            new = upgrade(events[seq], header["id"])
            upgraded += new is not events[seq]
            message = new["data"] if new["type"] == "user/message" else new["data"]["message"]
            if message["role"] == "user" or message["content"]:
                messages.append(message)
        assert dump(messages) == dump(expected["v0"]["messages"]), expected["name"]
    assert upgraded
