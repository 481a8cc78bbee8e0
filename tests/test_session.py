"""A session for reading: time travel, differences, and whole requests."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

import dshstore
from dshstore import EventNotFound, LiveSession, Store, UnknownEvent
from dshstore.errors import TextUnreadable
from tests.logs import LogBuilder, image, make_header, text, write_log
from tests.test_schema import run_shell


@pytest.fixture
def garden(store: Store) -> LiveSession:
    """One turn, then a compaction of its three messages (7 to 10), then a question (11)."""
    session = store.create(session_id="beans")
    with session.turn(), session.step():
        session.system("You tend a garden.")
        session.user("Is there frost?")
        session.request_header("gardeners", "trowel-1", tools=[{"name": "shell"}], max_tokens=9)
        session.assistant("Tonight.")
    new = session.compact(3, 5, "frost tonight")
    assert (new, session.user("And rain?")) == (10, 12)
    return session


def words(messages: list[Any]) -> list[str]:
    return [message["content"][0]["text"] for message in messages]


def test_a_difference_says_what_left_and_what_came(garden: LiveSession) -> None:
    difference = garden.diff(5, 12)
    assert list(difference.left) == [3, 5]
    assert words(list(difference.left.values())) == ["Is there frost?", "Tonight."]
    assert list(difference.came) == [10, 12]
    assert words(list(difference.came.values())) == ["frost tonight", "And rain?"]
    back = garden.diff(12, 5)
    assert (back.left, back.came) == (difference.came, difference.left)
    assert garden.diff(12, 12) == dshstore.Difference({}, {})
    with pytest.raises(EventNotFound):
        garden.diff(5, 99)


def test_a_message_whose_images_were_left_out_is_in_both(store: Store) -> None:
    log = LogBuilder(4)
    said = log.append("user/message", log.user(text("look"), image("frost")))
    log.offload((said, [0]))
    header = make_header(4, "beans")
    store.import_stream(io.BytesIO(write_log(header, log.events)))
    difference = store.session("beans").diff(0, 1)
    assert list(difference.left) == list(difference.came) == [said]
    assert "offloaded" not in difference.left[said]["content"][1]
    assert difference.came[said]["content"][1]["offloaded"] is True


def test_a_request_is_whole_at_any_point(garden: LiveSession) -> None:
    before = garden.request(at=3)
    assert (before.header_seq, before.config, before.tools) == (None, None, [])
    now = garden.request()
    assert now.header_seq == 4
    assert now.config == {"provider": "gardeners", "model": "trowel-1", "maxTokens": 9}
    assert now.tools == [{"name": "shell"}]
    assert now.system == [text("You tend a garden.")]
    assert now.messages == garden.messages()
    assert garden.request(at=5).messages == garden.messages(5)
    with pytest.raises(EventNotFound):
        garden.request(at=99)


def test_a_request_of_a_fork_has_the_header_that_it_inherited(
    store: Store, garden: LiveSession
) -> None:
    fork = store.fork("beans", 12)
    with fork.turn():
        fork.request_header("others", "spade-2")
    assert fork.request(at=12) == garden.request(at=12)
    assert fork.request().config == {"provider": "others", "model": "spade-2"}


def test_before_v3_the_system_prompt_is_the_headers(store: Store) -> None:
    session = store.create(format_version=2)
    with session.turn(), session.step():
        session.request_header("p", "m", system="old")
        session.request_header("p", "m", system="new")
    assert session.request(at=2).system == [text("old")]
    assert session.request().system == [text("new")]


def test_a_required_event_of_unknown_type_is_named(store: Store) -> None:
    session = store.create(session_id="beans")
    session.append("weather/seen", {})
    for ask in (session.request, lambda **options: session.diff(0, 0, **options)):
        with pytest.raises(UnknownEvent, match="weather/seen"):
            ask()
        ask(allow_unknown=True)


PLAIN_INSERT = """
INSERT INTO events (session, seq, type, time, data, surface_op)
VALUES (1, 0, 'KIND', 0, 'DATA', '"append"')
"""


@pytest.mark.parametrize("kind", ["user/message", "assistant/message"])
def test_text_that_is_not_utf8_is_named_and_its_bytes_can_be_had(store: Store, kind: str) -> None:
    store.create(session_id="beans").close()
    message = """{"content":[{"type":"text","text":"'||CAST(x'ff' AS TEXT)||'"}]}"""
    data = message if kind == "user/message" else f'{{"message":{message}}}'
    run_shell(Path(store.path), PLAIN_INSERT.replace("KIND", kind).replace("DATA", data))
    beans = store.session("beans")
    for read in (beans.messages, beans.request):
        with pytest.raises(TextUnreadable, match="not UTF-8"):
            read()
    assert list(beans.messages_json()) == [b'{"content":[{"type":"text","text":"\xff"}]}']


def test_the_first_unknown_event_is_told_before_it_is_in_the_way(store: Store) -> None:
    session = store.create(cwd="/")
    session.user("Hello")
    seq = session.append("garden/gnome", {"hat": "red"})
    session.flush()
    read = store.session(session.session_id)
    unknown = read.first_unknown()
    assert unknown is not None
    assert (unknown.seq, unknown.type) == (seq, "garden/gnome")
    assert read.first_unknown(at=seq - 1) is None


def test_a_stream_is_that_of_a_settlement_or_of_a_whole_run(store: Store) -> None:
    told = [
        {"time": 5 + n, "chunk": {"type": "text-delta", "index": 0, "text": t}}
        for n, t in enumerate(("so", " ", "on"))
    ]
    new = LogBuilder(4)
    new.start_turn()
    new.start_step()
    settled = new.append(
        "assistant/message",
        new.assistant(text("so on")) | {"stream": dshstore.streams.compact(told)},
    )
    old = LogBuilder(0)
    old.start_turn()
    old.start_step()
    place = {"turn": 1, "step": 1}
    chunks = [old.add("assistant/chunk", {**place, "chunk": timed["chunk"]}) for timed in told]
    for log in (new, old):
        header = make_header(log.version, f"v{log.version}")
        store.import_stream(io.BytesIO(write_log(header, log.events)))
    assert store.session("v4").stream(settled) == told
    for seq in chunks:
        run = store.session("v0").stream(seq)
        assert [timed["chunk"] for timed in run] == [timed["chunk"] for timed in told]
        assert [timed["time"] for timed in run] == [old.events[at]["time"] for at in chunks]
    assert store.session("v4").stream(0) == []
    with pytest.raises(EventNotFound):
        store.session("v4").stream(99)


def test_what_is_no_stream_is_refused_by_name(store: Store) -> None:
    session = store.create(cwd="/", format_version=0)
    seq = session.append("assistant/chunk", {"turn": 1, "step": 1})
    session.flush()
    with pytest.raises(dshstore.StreamRefused, match=f"event {seq} has no chunk"):
        store.session(session.session_id).stream(seq)
