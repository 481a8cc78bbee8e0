from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dshstore import jsontext
from dshstore.engine.derive import (
    OFFLOADS_SINCE,
    derive,
    message_id,
    message_json,
    offloaded_images,
)
from dshstore.engine.surface import fold
from dshstore.errors import EventRefused, UnknownEvent
from dshstore.formats.dsh.rows import RowDecoder, store
from dshstore.model import Block, StoredEvent
from tests.logs import EventDict, Json, LogBuilder, image, text, write_line
from tests.strategies import VERSIONS, logs

versions = st.sampled_from(VERSIONS)


def derive_stored(
    stored: Sequence[StoredEvent], events: Sequence[EventDict], version: int
) -> list[bytes]:
    """The messages of a log by way of its rows, one row for each event."""
    offloaded = offloaded_images(events) if version >= OFFLOADS_SINCE else {}

    def message_of(seq: int) -> bytes | None:
        return message_json(
            stored[seq],
            version,
            session_id="s",
            message_id_at=lambda at: message_id(message_of(at) or b"null"),
            offloaded=offloaded.get(seq, ()),
        )

    nodes = fold(events, version).nodes
    return [message for seq in nodes if (message := message_of(seq)) is not None]


def message_of_line(line: str, version: int) -> bytes | None:
    """The message of the only event in a log, by way of its row."""
    decoder = RowDecoder(version)
    [stored] = decoder.decode([Block(line.encode() + b"\n", 2, 0)])
    return message_json(stored, version, session_id="s")


# -- which events have a message --


@pytest.mark.shared
@pytest.mark.parametrize("name", ["surface.jsonl", "surface-v4.jsonl"])
def test_the_reference_messages_come_out_the_same(shared: Path, name: str) -> None:
    wrong = []
    for line in (shared / "vectors" / name).read_bytes().removesuffix(b"\n").split(b"\n"):
        vector = json.loads(line)
        version, events = vector.get("format_version", 0), vector["events"]
        if "messages" in vector["expect"]:
            want = vector["expect"]["messages"]
            stored = [store(event, version) for event in events]
            by_rows = [jsontext.parse(m) for m in derive_stored(stored, events, version)]
            if derive(events, version) != want or by_rows != want:
                wrong.append(vector["name"])
    assert wrong == []


@pytest.mark.parametrize(
    ("kind", "version"),
    [("assistant/message", 0), ("system/message", 3), ("developer/message", 4)],
)
def test_a_message_without_content_stays_on_the_surface_and_is_not_shown(
    kind: str, version: int
) -> None:
    log = LogBuilder(version)
    for content in ([], [text("said")]):
        make = {"assistant": log.assistant, "system": log.system, "developer": log.developer}
        log.append(kind, make[kind.partition("/")[0]](*content))
    assert fold(log.events, version).nodes == (0, 1)
    assert derive(log.events, version) == [log.events[1]["data"]["message"]]


def test_a_user_message_and_a_result_are_shown_even_without_content() -> None:
    log = LogBuilder(4)
    log.append("user/message", log.user())
    log.append("tool/result", log.result("c1"))
    assert derive(log.events, 4) == [log.events[0]["data"], log.events[1]["data"]["message"]]


@given(st.data(), versions)
def test_messages_are_the_very_objects_of_the_log(data: st.DataObject, version: int) -> None:
    events = data.draw(logs(version))
    hidden = offloaded_images(events)
    own = {id(part) for event in events for part in (event["data"], event["data"].get("message"))}
    for seq, message in zip(_shown(events, version), derive(events, version), strict=True):
        assert id(message) in own or seq in hidden


def _shown(events: Sequence[EventDict], version: int) -> list[int]:
    """The seqs on the surface whose events have a message."""
    empty = {e["seq"] for e in events if e["data"].get("message", {}).get("content") == []}
    return [
        seq
        for seq in fold(events, version).nodes
        if seq not in empty or events[seq]["type"] == "tool/result"
    ]


# -- what is not known --


def test_an_unknown_event_is_named_unless_it_may_be_passed_over() -> None:
    log = LogBuilder(4)
    log.append("user/message", log.user())
    log.add("pack/thing", {})
    with pytest.raises(UnknownEvent) as unknown:
        derive(log.events, 4)
    assert (unknown.value.seq, unknown.value.type) == (1, "pack/thing")
    assert derive(log.events, 4, allow_unknown=True) == [log.events[0]["data"]]


def test_an_unknown_event_that_is_ignorable_is_passed_over() -> None:
    log = LogBuilder(4)
    log.add("pack/thing", {}, ignorable=True)
    assert derive(log.events, 4) == []


def test_a_context_message_is_on_the_surface_and_has_no_message() -> None:
    log = LogBuilder(0)
    log.append("context/message", {"content": [text("weather")]})
    with pytest.raises(UnknownEvent):
        derive(log.events)
    assert derive(log.events, allow_unknown=True) == []
    assert derive_stored([store(log.events[0], 0)], log.events, 0) == []


def test_a_log_that_breaks_a_rule_has_no_messages() -> None:
    with pytest.raises(EventRefused):
        derive([{"type": "user/message", "seq": 0, "time": 0, "data": {}}])


# -- old shapes --


def _old_log() -> LogBuilder:
    log = LogBuilder(0)
    log.append("user/message", {"content": [text("hello")], "source": {"kind": "user"}})
    log.append(
        "steering/message", {"turn": 1, "content": [text("wait")], "source": {"kind": "user"}}
    )
    provenance = {"provider": "p", "model": "m"}
    said = {"content": [text("yes")], "provenance": provenance}
    log.append("assistant/message", {**log.place, **said})
    result = {**log.place, "callId": "c1", "content": [text("long")], "isError": False}
    log.append("tool/result", result)
    for _ in range(2):
        log.replace("tool/result", {**result, "content": [text("[pruned]")]}, 3, 3)
    return log


def test_messages_of_old_shapes_get_what_they_lack() -> None:
    hello, wait, yes, pruned = derive(_old_log().events, session_id="s")
    assert hello["id"] == "legacy-message:s:0"
    assert (wait["id"], wait["role"]) == ("legacy-message:s:1", "user")
    assert yes["source"] == {"kind": "model", "provider": "p", "model": "m"}
    assert pruned["content"][0]["content"] == [text("[pruned]")]


def test_an_old_result_that_replaces_another_has_the_first_ones_id() -> None:
    assert derive(_old_log().events, session_id="s")[3]["id"] == "legacy-message:s:3"


def test_ids_of_old_messages_are_not_made_without_a_session_id() -> None:
    with pytest.raises(EventRefused) as refused:
        derive(_old_log().events)
    assert refused.value.code == "session-id-missing"


def test_rows_of_old_shapes_have_the_same_messages() -> None:
    events = _old_log().events
    got = derive_stored([store(event, 0) for event in events], events, 0)
    assert [jsontext.parse(message) for message in got] == derive(events, session_id="s")


# -- images --


def _images() -> LogBuilder:
    log = LogBuilder(4)
    first = {**image("a"), "offloaded": False}
    log.append("user/message", log.user(first, text("and"), image("b"), image("c")))
    log.append("tool/result", log.result("c1", image("d")))
    log.offload((0, [1]))
    log.offload((1, [0]), (0, [0]))
    return log


def test_offloaded_images_are_marked_and_nothing_else_is_changed() -> None:
    log = _images()
    before = json.dumps(log.events)
    user, result = derive(log.events, 4)
    marks = [block.get("offloaded") for block in user["content"]]
    assert marks == [True, None, True, None]
    assert result["content"] == [{**image("d"), "offloaded": True}]
    assert user["id"] == log.events[0]["data"]["id"]
    assert json.dumps(log.events) == before


def test_a_mark_goes_last_in_its_block() -> None:
    [message, _] = derive_stored([store(e, 4) for e in _images().events], _images().events, 4)
    assert b'"height":3},"offloaded":true},{"type":"image"' in message


def test_the_replacement_of_a_message_shows_its_images_again() -> None:
    log = _images()
    log.replace("tool/result", log.rewritten(1, image("d")), 1, 1)
    assert derive(log.events, 4)[1]["content"] == [image("d")]


def test_before_format_4_no_image_is_offloaded() -> None:
    log = LogBuilder(3)
    log.append("user/message", log.user(image("a")))
    log.offload((0, [0]))
    assert derive(log.events, 3) == [log.events[0]["data"]]


def test_an_offload_that_no_fold_would_take_hides_nothing() -> None:
    event = {"type": "image/offload", "seq": 1, "data": {"targets": [{"seq": 0}]}}
    assert offloaded_images([event]) == {}


# -- bytes --


@given(st.data(), versions)
def test_rows_have_the_messages_of_the_events_in_the_bytes_of_the_log(
    data: st.DataObject, version: int
) -> None:
    events = data.draw(logs(version))
    stored = [store(event, version) for event in events]
    got = derive_stored(stored, events, version)
    assert [jsontext.parse(message) for message in got] == derive(events, version)
    hidden = offloaded_images(events)
    for seq, message in zip(_shown(events, version), got, strict=True):
        assert message in write_line(events[seq]) or seq in hidden


LINE = '{{"type":"{}","seq":0,"time":0,"data":{},"surfaceOp":"append"}}'

_DEEP = "[" * 900 + "]" * 900


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ('{"message":{"content":[{"x":1e2}]}}', '{"content":[{"x":1e2}]}'),
        ('{ "message" : { "content" : [ 1 ] } , "stream":[ ] }', '{ "content" : [ 1 ] }'),
        ('{"message":{"content":[ ]}}', None),
        ('{"message":{"content":[\\t]}}'.replace("\\t", "\t"), None),
        ('{"message":{"id":"[]","content":["[]"]}}', '{"id":"[]","content":["[]"]}'),
        (
            '{"message":{"source":{"content":[]},"content":[1]}}',
            '{"source":{"content":[]},"content":[1]}',
        ),
        ('{"message":{"a":{"content":[{}]},"content":[]}}', None),
        ('{"message":1,"message":{"content":[2]}}', '{"content":[2]}'),
        ('{"message":{"content":[{}],"content":[]}}', None),
        ('{"message":{"content":[],"content":[{}]}}', '{"content":[],"content":[{}]}'),
        ('{"m\\u0065ssage":{"c\\u006fntent":[3]}}', '{"c\\u006fntent":[3]}'),
        ('{"m\\u0065ssage":{"c\\u006fntent":[]}}', None),
        ('{"message":{"content":["\\ud83c"]}}', '{"content":["\\ud83c"]}'),
        ('{"message":{"id":"\\ud83c","content":[]}}', None),
        ('{"message":{"content":' + _DEEP + "}}", '{"content":' + _DEEP + "}"),
        ('{"message":{"deep":' + _DEEP + ',"content":[]}}', None),
        ('{"message":{"text":"no content"}}', '{"text":"no content"}'),
        ('{"message":null}', None),
        ('{"message":["content"]}', None),
        ('{"text":"no message"}', None),
        ('"no object"', None),
        ("[]", None),
    ],
)
@pytest.mark.parametrize("version", [0, 4])
def test_a_message_is_cut_out_of_its_line_as_it_stands(
    data: str, message: str | None, version: int
) -> None:
    line = LINE.format("assistant/message", data)
    got = message_of_line(line, version)
    assert got == (None if message is None else message.encode())
    derived = derive([jsontext.parse(line)], version)
    assert jsontext.same(derived, [] if got is None else [jsontext.parse(got)])


@pytest.mark.parametrize("version", VERSIONS)
def test_a_user_message_is_the_whole_payload_as_it_stands(version: int) -> None:
    data = '{ "role":"user", "content":["\\ud83c", 1.50] }'
    assert message_of_line(LINE.format("user/message", data), version) == data.encode()


@pytest.mark.parametrize("data", ["null", "7", '"text"', "[{}]"])
def test_a_payload_that_is_no_object_has_no_message(data: str) -> None:
    line = LINE.format("user/message", data)
    assert message_of_line(line, 4) is None
    assert derive([jsontext.parse(line)], 4) == []


@pytest.mark.parametrize(
    ("message", "id"), [(b'{"id":"m1"}', "m1"), (b'{"id":7}', None), (b"{}", None), (b"[]", None)]
)
def test_a_message_tells_its_id(message: bytes, id: Json) -> None:
    assert message_id(message) == id
