"""A log as a person reads it, held to what the surface says."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given

import dshstore
from dshstore import EventNotFound, Session, Store
from tests.logs import LogBuilder, make_header, text, write_log
from tests.strategies import SampleSession, sessions


def live(session: Session, at: int | None = None) -> list[int]:
    return [entry.seq for entry in session.transcript(at) if entry.state == "live"]


@given(sample=sessions())
def test_what_is_live_in_a_transcript_is_the_surface(sample: SampleSession) -> None:
    with TemporaryDirectory() as folder, dshstore.open(Path(folder) / "s.db") as store:
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


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with dshstore.open(tmp_path / "store.db", durability="NORMAL") as opened:
        yield opened


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
