"""Logs in: whole, grown, the same, or other than what is here."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dshstore
from dshstore import ImportResult, Limits, LogRefused, Store, schema
from dshstore.engine import read, repair
from dshstore.formats.dsh import frames
from tests.logs import LogBuilder, make_header, text, turns, write_line, write_log
from tests.strategies import SampleSession, sessions


def take(store: Store, log: bytes, name: str = "log.jsonl") -> ImportResult:
    return store.import_stream(io.BytesIO(log), name)


def refusal(store: Store, log: bytes, name: str = "log.jsonl") -> LogRefused:
    with pytest.raises(LogRefused) as error:
        take(store, log, name)
    return error.value


def exported(store: Store, id: str = "beans") -> bytes:
    return b"".join(store.session(id).log())


def contents(store: Store) -> list[tuple[object, ...]]:
    """All that came of the logs."""
    statements = (
        "select session_id, header from sessions",
        "select seq, count, type, time, data, source_event_seqs, surface_op, raw from events",
        "select seq, at, size, body, first_time, last_time, usage, finish from streams",
        "select seq, pos, shadowed_by from surface_nodes",
    )
    return [row for statement in statements for row in store.sql(statement)[1]]


def beans(count: int, version: int = 4) -> bytes:
    return write_log(make_header(version, "beans"), turns(count, version))


def per_line(log: bytes) -> bytes:
    """The log as zstd, a frame for each line."""
    return b"".join(frames.frame(line + b"\n") for line in log.split(b"\n")[:-1])


# -- again --


@given(sample=sessions())
def test_a_log_comes_out_as_it_went_in_and_a_second_time_changes_nothing(
    sample: SampleSession, tmp_path_factory: pytest.TempPathFactory
) -> None:
    log = write_log(*sample)
    with dshstore.open(tmp_path_factory.mktemp("again") / "store.db") as store:
        result = take(store, log)
        assert (result.outcome, result.events) == ("imported", len(sample.events))
        assert exported(store, sample.header["id"]) == log
        before = store.info()
        for again, name in ((log, "copy.jsonl"), (per_line(log), "copy.jsonl.zstd")):
            result = take(store, again, name)
            assert (result.outcome, result.added) == ("unchanged", 0)
        assert store.info() == before


def test_a_part_of_what_is_here_changes_nothing(store: Store) -> None:
    take(store, beans(3))
    result = take(store, beans(1))
    assert (result.outcome, result.events, result.added) == ("unchanged", 18, 0)


@pytest.mark.parametrize("spell", [bytes, per_line])
def test_a_log_that_grew_extends_its_session(store: Store, spell: Callable[[bytes], bytes]) -> None:
    name = "log.jsonl" if spell is bytes else "log.jsonl.zstd"
    for count in (1, 2, 4):
        result = take(store, spell(beans(count)), name)
        assert result.events == 6 * count
    assert (result.outcome, result.added) == ("extended", 12)
    assert exported(store) == beans(4)


def test_plain_and_zstd_copies_are_one_session(store: Store) -> None:
    take(store, beans(1))
    assert take(store, per_line(beans(2)), "log.jsonl.zstd").outcome == "extended"
    assert take(store, beans(3)).outcome == "extended"
    assert take(store, frames.frame(beans(3)), "log.jsonl.zstd").outcome == "unchanged"
    assert exported(store) == beans(3)


def test_of_a_log_that_grew_only_the_new_part_is_decoded(store: Store) -> None:
    long = turns(1)
    long[2]["data"]["content"] = [text("x" * 9000)]
    log = write_log(make_header(4, "beans"), long)
    take(store, per_line(log), "log.jsonl.zstd")
    grown = per_line(log + b"".join(map(write_line, turns(2)[6:])))
    short = Limits(max_line=1000)
    result = store.import_stream(io.BytesIO(grown), "log.jsonl.zstd", limits=short)
    assert result.outcome == "extended"


def test_a_damaged_beginning_of_a_grown_log_is_found(store: Store) -> None:
    take(store, beans(2))
    grown = beans(3)
    at = grown.index(b"hello 0")
    found = refusal(store, grown[:at] + b"HELLO" + grown[at + 5 :])
    assert (found.line, found.reason[:8]) == (4, "conflict")


def test_another_log_with_the_same_id_is_a_conflict_that_changes_nothing(store: Store) -> None:
    take(store, beans(2))
    before = contents(store)
    other = beans(2).replace(b"hello 1", b"goodbye")
    found = refusal(store, other)
    assert (found.line, found.offset) == (10, other.index(b'{"type":"user/message","seq":8'))
    assert "session 'beans'" in found.reason
    assert "salvage" not in found.reason
    assert contents(store) == before


def test_the_same_events_in_other_bytes_change_nothing(store: Store) -> None:
    events = turns(2, 0)
    log = LogBuilder(0)
    log.events = events
    log.nodes = []
    log.settle([(text("Hi there"), ["Hi", " the", "re"])])
    header = make_header(0, "beans")
    packed, plain = write_log(header, log.events), write_log(header, log.events, packed=False)
    assert packed != plain
    take(store, packed)
    result = take(store, plain)
    assert (result.outcome, result.added) == ("unchanged", 0)
    assert "every event is the same" in result.notes[-1]
    spaced = plain.replace(b'"seq":', b'"seq": ')
    assert take(store, spaced).outcome == "unchanged"
    part = spaced[: spaced.index(b"\n", 600) + 1]
    assert take(store, frames.frame(part), "a.zst").outcome == "unchanged"
    assert exported(store) == packed


def test_the_place_of_a_conflict_is_where_the_events_differ(store: Store) -> None:
    take(store, beans(2))
    other = beans(2).replace(b'"seq":3', b'"seq": 3').replace(b"hello 1", b"goodbye")
    assert refusal(store, other).line == 10


def test_a_bad_line_is_a_bad_line_where_another_stands_in_the_store(store: Store) -> None:
    take(store, beans(2))
    lines = beans(2).split(b"\n")
    lines[5] = b"garbage"
    found = refusal(store, b"\n".join(lines))
    assert found.line == 6
    assert "conflict" not in found.reason


def test_generations_stand_side_by_side(store: Store) -> None:
    take(store, beans(1, 0))
    take(store, beans(1, 4))
    assert [s.generations for s in store.sessions()] == [[0, 4]]


def test_a_session_that_was_made_here_is_extended_by_its_own_log(store: Store) -> None:
    with store.create(session_id="beans") as session:
        for event in turns(1):
            op = event.get("surfaceOp")
            session.append(event["type"], event["data"], surface_op=op, time=event["time"])
    made = exported(store)
    more = b"".join(map(write_line, turns(2)[6:]))
    assert take(store, made + more).outcome == "extended"
    assert exported(store) == made + more


# -- while the log is written --


def grow(store: Store, log: bytes, name: str, cuts: list[int]) -> None:
    """Import a log as it is at each cut, and whole; none of that is an error."""
    known = 0
    for cut in [*cuts, len(log)]:
        try:
            result = take(store, log[:cut], name)
        except LogRefused:
            assert known == 0
            assert b"\n" not in log[:cut] or name.endswith("zstd")
            continue
        assert result.events == known + result.added
        known = result.events
        assert [finding for finding in store.verify() if finding.kind == "store"] == []


@pytest.mark.parametrize("name", ["log.jsonl", "log.jsonl.zstd"])
@pytest.mark.parametrize("version", [0, 4])
def test_a_log_that_is_imported_again_and_again_as_it_grows_is_the_log(
    store: Store, tmp_path: Path, name: str, version: int
) -> None:
    log = beans(1, version)
    if name.endswith("zstd"):
        lines = log.split(b"\n")
        pieces = [lines[:1], lines[1:3], lines[3:6], lines[6:-1]]
        log = b"".join(frames.frame(b"".join(line + b"\n" for line in piece)) for piece in pieces)
    grow(store, log, name, list(range(1, len(log), 11)))
    with dshstore.open(tmp_path / "whole.db") as whole:
        take(whole, log, name)
        assert contents(store) == contents(whole)
    assert exported(store) == beans(1, version)


@given(sample=sessions(), data=st.data())
def test_a_log_that_is_imported_while_it_grows_is_the_log(
    sample: SampleSession, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    log = write_log(*sample)
    name = data.draw(st.sampled_from(["log.jsonl", "log.jsonl.zstd"]))
    if name.endswith("zstd"):
        ends = sorted(data.draw(st.lists(st.integers(1, len(log)), max_size=4)))
        log = b"".join(
            frames.frame(log[a:b]) for a, b in zip([0, *ends], [*ends, len(log)], strict=True)
        )
    cuts = sorted(data.draw(st.lists(st.integers(0, len(log)), max_size=5)))
    folder = tmp_path_factory.mktemp("growth")
    with dshstore.open(folder / "grown.db") as grown:
        grow(grown, log, name, cuts)
        assert exported(grown, sample.header["id"]) == write_log(*sample)
        assert take(grown, log, name).outcome == "unchanged"


@pytest.mark.shared
def test_the_case_of_many_frames_may_be_cut_at_any_byte(store: Store, shared: Path) -> None:
    log = (shared / "cases" / "case-09-many-frames.jsonl.zst").read_bytes()
    grow(store, log, "log.jsonl.zst", list(range(1, len(log), 29)))
    [session] = store.sessions()
    assert session.events == 24


# -- what the harness does with a log that we repaired --


@pytest.mark.shared
def test_a_killed_session_that_was_closed_here_is_extended_by_the_harness(
    store: Store, shared: Path
) -> None:
    killed = shared / "corpus" / "live" / "sdk-minimal-hang-killed.v4.jsonl"
    resumed = killed.with_name("sdk-minimal-hang-resumed.v4.jsonl")
    id = store.import_log(killed).session_id
    assert id is not None
    database = schema.open_store(store.path)
    closers = repair.append_closers(database, read.find_session(database, id))
    database.close()
    result = store.import_log(resumed)
    assert (result.outcome, result.added) == ("extended", result.events - 13 - len(closers))
    assert exported(store, id) == resumed.read_bytes()


# -- refusals --


def test_a_refused_log_leaves_nothing_behind(store: Store) -> None:
    before = store.info()
    log = beans(300).replace(b'"seq":1790', b'"seq":9999')
    found = refusal(store, log)
    assert found.line == 1792
    assert "would keep events 0..1789 and set 10 records aside" in found.reason
    assert store.info() == before


def test_a_rule_that_is_broken_is_named_with_its_place(store: Store) -> None:
    events = turns(1)
    events[2]["surfaceOp"] = "prepend"
    log = write_log(make_header(4, "beans"), events)
    found = refusal(store, log)
    assert (found.line, found.offset) == (4, log.index(b'{"type":"user/message"'))
    assert "event 2 (user/message) breaks a rule: op-invalid" in found.reason


def test_the_file_name_does_not_count_but_is_noted(store: Store) -> None:
    result = take(store, beans(1, 0), "garden/session.v3.jsonl")
    assert (result.format_version, len(result.notes)) == (0, 1)
    assert "v3" in result.notes[0]
    assert "v0" in result.notes[0]


def test_a_file_that_is_not_there_is_refused_by_its_path(store: Store, tmp_path: Path) -> None:
    with pytest.raises(LogRefused, match=r"missing\.jsonl: No such file"):
        store.import_log(tmp_path / "missing.jsonl")


def test_a_name_that_is_not_utf8_is_no_hindrance(store: Store, tmp_path: Path) -> None:
    place = tmp_path / "b\udcffans.jsonl"
    place.write_bytes(beans(1))
    assert store.import_log(place).outcome == "imported"


@pytest.mark.parametrize(
    ("limits", "option"),
    [
        (Limits(max_line=200), "--max-line"),
        (Limits(max_decoded=2000), "--max-decoded"),
    ],
)
def test_a_log_over_a_limit_is_refused_with_the_option_that_raises_it(
    store: Store, limits: Limits, option: str
) -> None:
    log = frames.frame(beans(9))
    with pytest.raises(LogRefused, match=option):
        store.import_stream(io.BytesIO(log), "log.zst", limits=limits)
    assert store.import_stream(io.BytesIO(log), "log.zst").events == 54


def test_nesting_over_the_limit_is_refused_with_its_line(store: Store) -> None:
    events = turns(1)
    for levels, taken in ((996, True), (1100, False)):
        log = write_log(make_header(4, f"beans-{levels}"), events)
        deep = b'"deep":' + b"[" * levels + b"]" * levels + b',"turn":1'
        log = log.replace(b'"turn":1', deep, 1)
        if taken:
            take(store, log)
            assert exported(store, f"beans-{levels}") == log
        else:
            found = refusal(store, log)
            assert found.line == 2
            assert "1000 levels" in found.reason
