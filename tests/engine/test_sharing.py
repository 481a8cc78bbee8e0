"""A fork's log whose parent is here shares what is equal, and comes out as it went in."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import dshstore
from dshstore import ImportResult, Store
from tests.engine.test_fork import a_turn
from tests.logs import make_header, write_line, write_log

VERSIONS = [0, 1, 2, 3, 4]


def take(store: Store, log: bytes) -> ImportResult:
    return store.import_stream(io.BytesIO(log), "log.jsonl")


def fork_log(version: int, at: int | None = None) -> tuple[bytes, bytes, int]:
    """The logs of a parent and of its fork, and how many events they share."""
    events = a_turn(version, a_turn(version)).events
    cut = len(events) if at is None else at + 1
    members = {"isSeeded": True} if version >= 2 else {"seedLength": cut}
    header = make_header(version, "shoot", parentSession="beans", **members)
    mark = {"inherited": True} if version >= 2 else {}
    own = [{"type": "session/end-seed", "seq": cut, "time": 7, "data": mark}]
    own.append({"type": "todo/write", "seq": cut + 1, "time": 8, "data": {"todos": []}})
    child = write_log(header, events[:cut]) + b"".join(map(write_line, own))
    return write_log(make_header(version, "beans"), events), child, cut


def own_seqs(store: Store, session_id: str) -> list[int]:
    """The seqs of the rows that are the session's own."""
    asked = "select e.seq from events e join sessions s on s.id = e.session where session_id = ?"
    return [row[0] for row in store.sql(asked, (session_id,))[1]]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("at", [None, 2])
def test_the_prefix_is_shared_and_said_so(store: Store, version: int, at: int | None) -> None:
    parent, child, cut = fork_log(version, at)
    take(store, parent)
    result = take(store, child)
    assert (result.outcome, result.events, result.added) == ("imported", cut + 2, cut + 2)
    assert result.inherited == cut
    assert result.notes == [f"its first {cut} events are those of session 'beans': shared"]
    assert own_seqs(store, "shoot") == [cut, cut + 1]
    assert b"".join(store.session("shoot").log()) == child
    assert [f for f in store.verify() if f.kind == "store"] == []
    assert take(store, child).outcome == "unchanged"
    more = write_line({"type": "todo/write", "seq": cut + 2, "time": 9, "data": {}})
    assert take(store, child + more).outcome == "extended"
    assert b"".join(store.session("shoot").log()) == child + more


@pytest.mark.parametrize("version", VERSIONS)
def test_it_is_the_same_session_as_without_its_parent(
    store: Store, tmp_path: Path, version: int
) -> None:
    parent, child, _ = fork_log(version)
    take(store, parent)
    take(store, child)
    with dshstore.open(tmp_path / "alone.db") as alone:
        assert take(alone, child).notes == []
        ours, theirs = store.session("shoot"), alone.session("shoot")
        assert ours.surface == theirs.surface
        assert ours.messages() == theirs.messages()
        assert list(ours.events()) == list(theirs.events())


@pytest.mark.parametrize("version", VERSIONS)
def test_a_prefix_that_is_not_equal_is_stored_again(store: Store, version: int) -> None:
    parent, child, cut = fork_log(version)
    take(store, parent)
    other = child.replace(b'"dig"', b'"sow"', 1)
    result = take(store, other)
    assert (result.outcome, result.notes, result.inherited) == ("imported", [], cut)
    assert b"".join(store.session("shoot").log()) == other
    assert len(own_seqs(store, "shoot")) > 2


@pytest.mark.parametrize("version", VERSIONS)
def test_a_zstd_log_shares_too(store: Store, tmp_path: Path, version: int) -> None:
    parent, child, _ = fork_log(version)
    take(store, parent)
    with dshstore.open(tmp_path / "other.db") as other:
        take(other, child)
        framed = b"".join(other.session("shoot").log(zstd=True))
    assert "shared" in take(store, framed).notes[0]
    assert b"".join(store.session("shoot").log()) == child
    assert take(store, framed).outcome == "unchanged"


def test_a_log_that_only_names_a_parent_shares_nothing(store: Store) -> None:
    parent, _, _ = fork_log(4)
    take(store, parent)
    header = make_header(4, "shoot", parentSession="beans")
    log = parent.replace(parent.split(b"\n", 1)[0] + b"\n", write_line(header))
    assert take(store, log).notes == []
    assert b"".join(store.session("shoot").log()) == log


def test_the_log_of_a_fork_made_here_shares_again(store: Store, tmp_path: Path) -> None:
    parent, _, _ = fork_log(4)
    take(store, parent)
    fork = store.fork("beans", 6, new_id="shoot")
    fork.user("and now?")
    fork.flush()
    log = b"".join(fork.log())
    with dshstore.open(tmp_path / "other.db") as other:
        take(other, parent)
        assert take(other, log).notes == ["its first 7 events are those of session 'beans': shared"]
        assert b"".join(other.session("shoot").log()) == log


def test_what_cannot_be_read_twice_is_stored_whole(store: Store) -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

    parent, child, _ = fork_log(4)
    take(store, parent)
    result = store.import_stream(Pipe(child))
    assert (result.outcome, result.notes) == ("imported", [])
    assert b"".join(store.session("shoot").log()) == child
