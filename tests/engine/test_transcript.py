"""A log as a person reads it, held to what the surface says."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO

import pytest
from hypothesis import given

from dshstore import EventNotFound, Session, Store, TranscriptEntry, dump_json
from dshstore.engine.transcript import Failure
from tests.logs import Json, LogBuilder, make_header, text, write_log
from tests.stores import new_store
from tests.strategies import SampleSession, sessions


def live(session: Session, at: int | None = None) -> list[int]:
    return [entry.seq for entry in session.transcript(at) if entry.state == "live"]


@given(sample=sessions())
def test_what_is_live_in_a_transcript_is_the_surface(sample: SampleSession) -> None:
    with new_store() as store:
        store.import_stream(BytesIO(write_log(sample.header, sample.events)))
        session = store.session(sample.header["id"])
        entries = list(session.transcript())
        assert [e.seq for e in entries] == sorted(e.seq for e in entries)
        assert live(session) == sorted(session.surface)
        for at in range(0, session.next_seq, 7):
            assert live(session, at) == sorted(session.surface_at(at))
        for size in (1, 4):
            starts = session.transcript_pages(size)
            assert starts == [entry.seq for entry in entries[::size]]
            for start, number in zip(starts, range(0, len(entries), size), strict=True):
                assert list(session.transcript(first=start)) == entries[number:]
        for count in (1, 3):
            part = list(session.transcript(last=count))
            assert part == entries[len(entries) - len(part) :]
            appended = [e for e in entries if e.state != "log-only"]
            assert [e for e in part if e.state != "log-only"] == appended[-count:]


def test_a_fork_of_a_fork_reads_as_its_own_surface_says(store: Store) -> None:
    log = LogBuilder(4)
    for words in "abcd":
        log.append("user/message", log.user(text(words)))
    log.compact(0, 1)
    store.import_stream(BytesIO(write_log(make_header(4, "one"), log.events)))
    previous = "one"
    for name in ("two", "three"):
        with store.fork(previous, new_id=name) as fork:
            seen = fork.surface
            data = {**log.user(text("both")), "id": name}
            op = (seen[0], seen[1])
            fork.append("user/message", data, sources=seen[:2], surface_op=op)
        previous = name
    store.session("one")
    for name in ("one", "two", "three"):
        session = store.session(name)
        assert live(session) == sorted(session.surface)
        for at in range(session.next_seq):
            assert live(session, at) == sorted(session.surface_at(at))
    entries = {entry.seq: entry for entry in store.session("three").transcript()}
    assert entries[0].shadowed_by is not None
    assert sum(entry.replaced is not None for entry in entries.values()) == 3


def test_a_seq_that_is_not_there_is_told(store: Store) -> None:
    store.import_stream(BytesIO(write_log(make_header(4, "one"), [])))
    with pytest.raises(EventNotFound):
        list(store.session("one").transcript(0))
    assert list(store.session("one").transcript(last=3)) == []


def test_pages_as_of_an_event_end_with_it(store: Store) -> None:
    session = store.create(cwd="/")
    seqs = [session.user(f"{number}") for number in range(10)]
    session.flush()
    read = store.session(session.session_id)
    assert read.transcript_pages(4, seqs[5]) == [seqs[0], seqs[4]]
    with pytest.raises(EventNotFound):
        read.transcript_pages(4, 10)


# -- what an entry says --


def entry_of(type: str, data: Json) -> TranscriptEntry:
    return TranscriptEntry(seq=1, type=type, time=0, data=data, state="live")


HELLO = {"type": "text", "text": "hello"}


@pytest.mark.parametrize("wrap", [lambda message: message, lambda message: {"message": message}])
@pytest.mark.parametrize(
    ("type", "source", "says", "spoken"),
    [
        ("user/message", {"kind": "user"}, "user", True),
        ("user/message", {"kind": "compact"}, "compact", True),
        ("user/message", {"kind": "plugin", "plugin": "notes"}, "notes", False),
        ("system/message", {"kind": "system-prompt"}, "system-prompt", False),
        ("assistant/message", None, None, True),
        ("user/message", {"kind": [1]}, [1], False),
    ],
)
def test_a_message_tells_who_it_is_from(
    wrap: Callable[[Json], Json], type: str, source: Json, says: Json, spoken: bool
) -> None:
    speech = entry_of(type, wrap({"source": source, "content": [HELLO]})).speech
    assert (speech.source, speech.blocks, speech.spoken) == (says, [HELLO], spoken)


@pytest.mark.parametrize(
    ("data", "blocks"),
    [({"content": "so"}, ["so"]), ({"content": None}, []), ({"message": "so"}, ["so"]), (None, [])],
)
def test_a_message_without_a_list_of_blocks_has_one_or_none(data: Json, blocks: list[Json]) -> None:
    assert entry_of("user/message", data).speech.blocks == blocks


BUSY = {"code": "BUSY", "message": "try later"}


@pytest.mark.parametrize(
    ("type", "data", "failure"),
    [
        ("llm/retry", {"failure": BUSY}, ("try later", "BUSY")),
        ("turn/end", {"reason": {"kind": "error", "error": BUSY}}, ("try later", "BUSY")),
        ("compaction/end", {"error": {"code": "BUSY"}}, ({"code": "BUSY"}, "BUSY")),
        ("compaction/end", {"error": "no room"}, ("no room", None)),
        ("compaction/end", {"error": None}, None),
        ("turn/end", {"reason": {"kind": "completed"}}, None),
        ("turn/end", {"reason": "so"}, None),
        ("turn/end", 7, None),
    ],
)
def test_an_event_tells_what_went_wrong(
    type: str, data: Json, failure: tuple[Json, Json] | None
) -> None:
    found = entry_of(type, data).failure
    assert (found and (found.told, found.code)) == failure


def test_a_failure_is_told_with_its_code_if_it_has_one() -> None:
    assert Failure("try later", "BUSY").words(str) == "try later (BUSY)"
    assert Failure({"a": 1}, None).words(dump_json) == '{"a":1}'
