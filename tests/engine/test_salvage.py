"""Broken logs: what becomes the session, what is set aside, and that nothing is lost."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dshstore
from dshstore import ImportResult, LogRefused, QuarantinedPiece, Store
from dshstore.formats.dsh import frames
from tests.logs import EventDict, make_header, turns, write_line, write_log
from tests.strategies import sessions

Set = list[tuple[str, int | None, int | None]]


def header(version: int = 4, id: str = "beans") -> bytes:
    return write_line(make_header(version, id))


def lines(events: list[EventDict]) -> list[bytes]:
    return [write_line(event) for event in events]


def salvage(store: Store, log: bytes, name: str = "log.jsonl") -> ImportResult:
    return store.import_stream(io.BytesIO(log), name, salvage=True)


def exported(store: Store, id: str = "beans") -> bytes:
    return b"".join(store.session(id).log())


def set_aside(store: Store) -> list[tuple[QuarantinedPiece, bytes]]:
    return [(piece, store.quarantined_bytes(piece)) for piece in store.quarantine()]


def places(store: Store) -> Set:
    return [(piece.kind, piece.line, piece.seq) for piece in store.quarantine()]


def refusal(store: Store, log: bytes, name: str = "log.jsonl") -> LogRefused:
    with pytest.raises(LogRefused) as error:
        store.import_stream(io.BytesIO(log), name)
    return error.value


def test_a_clean_log_is_imported_as_ever(store: Store) -> None:
    log = header() + b"".join(lines(turns(2)))
    assert salvage(store, log).outcome == "imported"
    assert salvage(store, log).outcome == "unchanged"
    assert exported(store) == log
    assert set_aside(store) == []


def test_a_gap_ends_the_session_and_what_follows_is_set_aside_as_records(store: Store) -> None:
    head, events = header(), lines(turns(2))
    log = head + b"".join(events[:5] + events[7:])
    assert "--salvage would keep events 0..4 and set 5 records aside" in refusal(store, log).reason
    result = salvage(store, log)
    assert (result.outcome, result.events, result.added, result.line) == ("salvaged", 5, 5, 7)
    assert exported(store) == head + b"".join(events[:5])
    assert [raw + b"\n" for _, raw in set_aside(store)] == events[7:]
    assert places(store) == [("record", line, line) for line in range(7, 12)]


def test_a_second_salvage_changes_nothing(store: Store) -> None:
    events = lines(turns(2))
    log = header() + b"".join(events[:5] + events[6:]) + b"{torn"
    salvage(store, log)
    before = store.info(), set_aside(store)
    result = salvage(store, log)
    assert (result.outcome, result.added) == ("unchanged", 0)
    assert (store.info(), set_aside(store)) == before


def test_two_writers_in_turns_leave_the_part_they_share_and_two_branches(store: Store) -> None:
    head, shared = header(), lines(turns(1))
    east, west = (lines(turns(3, said=said))[6:] for said in ("east", "west"))
    east = east[:6]
    assert east[2] != west[2]
    # the first two records of each are the same, and so is the one behind what differs
    mixed = [line for pair in zip(east, west[:6], strict=True) for line in pair] + west[6:]
    log = head + b"".join(shared + mixed)
    found = refusal(store, log)
    assert "seq 6 stands twice, on lines 8 and 9" in found.reason
    assert "would keep events 0..7 and set 16 records aside" in found.reason
    result = salvage(store, log)
    assert result.outcome == "salvaged"
    kept = exported(store)
    assert kept == head + b"".join(shared + west[:2])
    branches: dict[int | None, list[bytes]] = {}
    for piece, raw in set_aside(store):
        branches.setdefault(piece.branch, []).append(raw + b"\n")
    assert branches == {None: west[:2], 1: east[2:], 2: west[2:]}
    assert any("2 continuations, of 4 and 10 events" in note for note in result.notes)


def test_the_session_ends_before_the_first_seq_that_stands_twice(store: Store) -> None:
    events = lines(turns(2))
    other = write_line({**turns(2)[4], "time": 5})
    salvage(store, header() + b"".join([*events, other]))
    assert store.session("beans").next_seq == 4
    branches = [(piece.seq, piece.branch) for piece in store.quarantine()]
    assert branches == [*((seq, 1) for seq in range(4, 12)), (4, 2)]


def test_a_line_that_stands_twice_as_it_is_leaves_no_choice(store: Store) -> None:
    head, events = header(), lines(turns(2))
    log = head + b"".join(events[:5] + events[3:])
    refusal(store, log)
    assert salvage(store, log).events == 12
    assert exported(store) == head + b"".join(events)
    assert places(store) == [("record", 7, 3), ("record", 8, 4)]
    assert {piece.reason for piece in store.quarantine()} == {"repeats line 5", "repeats line 6"}


def test_pieces_that_are_no_record_are_stepped_over(store: Store) -> None:
    head, events = header(), lines(turns(2))
    torn, nuls = events[5][:30], b"\0" * 4096
    log = head + b"".join(events[:5]) + torn + events[5] + nuls + events[6] + b"\n\xff\n"
    log += b"".join(events[7:])
    found = refusal(store, log)
    assert found.line == 7
    assert "keep events 0..11 and set 3 pieces of 31 bytes and 4096 NUL bytes aside" in found.reason
    assert salvage(store, log).events == 12
    assert exported(store) == head + b"".join(events)
    assert [(piece.kind, raw) for piece, raw in set_aside(store)] == [
        ("debris", torn),
        ("padding", nuls),
        ("debris", b""),
        ("debris", b"\xff"),
    ]
    for piece, raw in set_aside(store):
        assert log[piece.offset : piece.offset + piece.size] == raw


def test_records_that_lost_their_line_end_are_taken(store: Store) -> None:
    head, events = header(), lines(turns(1))
    log = head + b"".join(events[:3]) + events[3][:-1] + b"".join(events[4:])
    assert "would keep events 0..5 and set nothing aside" in refusal(store, log).reason
    result = salvage(store, log)
    assert (result.outcome, result.events, result.line) == ("salvaged", 6, 5)
    assert exported(store) == head + b"".join(events)
    assert salvage(store, log).outcome == "unchanged"


def test_a_record_that_breaks_a_rule_ends_the_session(store: Store) -> None:
    events = turns(2)
    events[8] = {**events[8], "surfaceOp": {"op": "replace", "startSeq": 99, "endSeq": 99}}
    log = header() + b"".join(lines(events))
    found = refusal(store, log)
    assert (found.line, found.offset) == (10, log.index(lines(events)[8]))
    assert "replace-start-not-on-surface" in found.reason
    assert "would keep events 0..7 and set 4 records aside" in found.reason
    assert salvage(store, log).events == 8
    assert [piece.seq for piece in store.quarantine()] == [8, 9, 10, 11]
    assert next(store.quarantine()).reason == found.reason.partition(";")[0]


def test_a_record_with_a_foreign_key_reads_whole_but_cannot_be_taken(store: Store) -> None:
    events = turns(1)
    events[3]["extra"] = 1
    salvage(store, header() + b"".join(lines(events)))
    assert places(store) == [("record", 5, 3), ("record", 6, 4), ("record", 7, 5)]
    assert store.session("beans").next_seq == 3


@pytest.fixture
def deep_stack() -> Iterator[None]:
    """As many levels as the command line gives to Python."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.usefixtures("deep_stack")
@pytest.mark.parametrize("fault", [b"", b'"extra":1,', b'"ignorable":false,'])
@pytest.mark.parametrize("levels", [990, 1000, 1100, 9000, 100_000])
def test_a_record_that_is_nested_too_deep_is_set_aside(
    store: Store, levels: int, fault: bytes
) -> None:
    events = lines(turns(1))
    deep = b'%b"data":{"deep":%b,' % (fault, b"[" * levels + b"]" * levels)
    events[3] = events[3].replace(b'"data":{', deep)
    result = salvage(store, header() + b"".join(events))
    assert result.events == (6 if levels < 1000 and not fault else 3)
    rest = [raw + b"\n" for _, raw in set_aside(store)]
    assert exported(store) + b"".join(rest) == header() + b"".join(events)


@pytest.mark.usefixtures("deep_stack")
@pytest.mark.parametrize("levels", [1000, 9000])
def test_a_packed_row_that_is_nested_too_deep_is_set_aside(store: Store, levels: int) -> None:
    deep = b"[" * levels + b"]" * levels
    row = b'{"type":"text-chunks","seq0":6,"time0":1,"data":{"turn":1,"dt":[%b]}}\n' % deep
    log = header(0) + b"".join(lines(turns(1, 0))) + row
    assert salvage(store, log).events == 6
    assert [raw + b"\n" for _, raw in set_aside(store)] == [row]


def test_behind_a_second_header_is_another_log(store: Store) -> None:
    head, events, other = header(), lines(turns(1)), lines(turns(1, said="other"))
    log = head + b"".join(events) + header(id="peas") + b"".join(other)
    assert "keep events 0..5 and set 6 records and 1 piece" in refusal(store, log).reason
    assert salvage(store, log).events == 6
    assert exported(store) == head + b"".join(events)
    assert {piece.reason for piece in store.quarantine() if piece.kind == "record"} == {
        "line 8 is a second header: another log follows"
    }
    assert [summary.session_id for summary in store.sessions()] == ["beans"]


def test_a_log_that_stands_twice_in_its_file_is_one(store: Store) -> None:
    log = header() + b"".join(lines(turns(2)))
    assert refusal(store, log + log).line == 14
    result = salvage(store, log + log)
    assert (result.outcome, result.events) == ("salvaged", 12)
    assert exported(store) == log
    assert b"".join(raw + b"\n" for _, raw in set_aside(store)) == log


def test_a_log_without_a_header_makes_no_session(store: Store) -> None:
    events = lines(turns(1))
    log = b"".join(events)
    found = refusal(store, log)
    assert (found.line, found.offset) == (1, 0)
    assert "6 well-formed events" in found.reason
    assert store.info()["imports"] == 0
    result = salvage(store, log)
    assert (result.outcome, result.session_id, result.events) == ("salvaged", None, 0)
    assert store.sessions() == []
    assert b"".join(raw + b"\n" for _, raw in set_aside(store)) == log
    assert salvage(store, log).outcome == "unchanged"
    assert len(set_aside(store)) == 6


@pytest.mark.parametrize("first", [b"words", header().replace(b'"beans"', b"7")[:-1]])
def test_a_header_that_is_none_is_set_aside_with_its_records(store: Store, first: bytes) -> None:
    log = first + b"\n" + b"".join(lines(turns(2)))
    assert salvage(store, log).session_id is None
    assert b"".join(raw + b"\n" for _, raw in set_aside(store)) == log
    assert places(store) == [("debris", 1, None), *(("record", n + 2, n) for n in range(12))]


@pytest.mark.parametrize("log", [b"", b"words\n", b"{}\n[]\n", b"\0" * 99 + b"\n", b"no line end"])
def test_what_is_no_log_is_refused_even_so(store: Store, log: bytes) -> None:
    with pytest.raises(LogRefused):
        salvage(store, log)
    assert store.info()["imports"] == 0


def test_a_newer_log_is_refused_even_so(store: Store) -> None:
    log = header().replace(b'"version":4', b'"version":9') + b"".join(lines(turns(1)))
    with pytest.raises(LogRefused, match="version 9 is not supported"):
        salvage(store, log)


def test_a_torn_end_is_kept_and_is_no_fault(store: Store) -> None:
    head, events = header(), lines(turns(1))
    log = head + b"".join(events[:5]) + events[5][:-9]
    result = salvage(store, log)
    assert (result.outcome, result.events) == ("imported", 5)
    [(piece, raw)] = set_aside(store)
    assert (piece.kind, piece.line, raw) == ("debris", 7, events[5][:-9])
    assert salvage(store, log).outcome == "unchanged"
    grown = head + b"".join(events)
    assert salvage(store, grown).outcome == "extended"
    assert exported(store) == grown


def test_a_whole_record_without_a_line_end_is_set_aside_as_a_record(store: Store) -> None:
    events = lines(turns(1))
    salvage(store, header() + b"".join(events)[:-1])
    assert places(store) == [("record", 7, 5)]


def test_a_torn_end_is_set_aside_of_a_log_that_was_imported_before(store: Store) -> None:
    log = header() + b"".join(lines(turns(1))) + b"{torn"
    store.import_stream(io.BytesIO(log), "log.jsonl")
    assert set_aside(store) == []
    assert salvage(store, log).outcome == "salvaged"
    assert [raw for _, raw in set_aside(store)] == [b"{torn"]


def test_frames_behind_a_bad_one_are_kept(store: Store) -> None:
    head, events = header(), lines(turns(2))
    packed = [frames.frame(line) for line in [head, *events]]
    broken = bytearray(packed[4])
    broken[-1] ^= 1
    log = b"".join([*packed[:4], bytes(broken), *packed[5:]])
    found = refusal(store, log, "log.jsonl.zstd")
    assert (found.frame, found.offset) == (4, sum(map(len, packed[:4])))
    result = salvage(store, log, "log.jsonl.zstd")
    assert (result.outcome, result.events, result.frame) == ("salvaged", 3, 4)
    (bad, raw), *rest = set_aside(store)
    assert (bad.kind, bad.line, bad.frame, raw) == ("debris", None, 4, bytes(broken))
    assert [raw + b"\n" for _, raw in rest] == events[4:]
    assert [(piece.kind, piece.frame) for piece, _ in rest] == [
        ("record", number) for number in range(5, 13)
    ]


def test_a_zstd_log_whose_first_bytes_are_lost_gives_its_records(store: Store) -> None:
    packed = b"".join(map(frames.frame, [header(), *lines(turns(1))]))
    result = salvage(store, b"\0" + packed[1:], "log.jsonl.zstd")
    assert (result.outcome, result.session_id) == ("salvaged", None)
    assert [piece.kind for piece in store.quarantine()] == ["debris", *["record"] * 6]


def test_a_torn_frame_is_kept_as_it_is_and_as_far_as_it_reads(store: Store) -> None:
    head, events = header(), lines(turns(1))
    last = frames.frame(b"".join(events[3:]))
    log = frames.frame(head) + frames.frame(b"".join(events[:3])) + last[:-20]
    assert salvage(store, log, "log.jsonl.zstd").outcome == "imported"
    frame, raw = set_aside(store)[-1]
    assert (frame.kind, frame.frame, raw) == ("debris", 2, last[:-20])
    assert exported(store) == head + b"".join(events)[: len(exported(store)) - len(head)]


def test_a_log_that_differs_from_its_session_is_refused_even_so(store: Store) -> None:
    salvage(store, header() + b"".join(lines(turns(1))))
    before = store.info()
    other = lines(turns(2, said="other"))
    with pytest.raises(LogRefused, match="conflict") as error:
        salvage(store, header() + b"".join(other[:8] + other[9:]))
    assert error.value.line == 4
    assert store.info() == before


def test_of_a_broken_log_that_grew_only_what_is_new_is_taken(store: Store) -> None:
    head, events = header(), lines(turns(3))
    garbage = b"garbage\n"
    salvage(store, head + b"".join(events[:5]) + garbage + b"".join(events[5:8]))
    grown = head + b"".join(events[:5]) + garbage + b"".join(events[5:9] + events[10:])
    result = salvage(store, grown)
    assert (result.outcome, result.events, result.added) == ("salvaged", 9, 1)
    assert exported(store) == head + b"".join(events[:9])
    assert [seq for _, _, seq in places(store)] == [None, *range(10, 18)]


def test_what_the_session_has_already_is_not_set_aside(store: Store) -> None:
    head, events = header(), lines(turns(2))
    whole = head + b"".join(events)
    store.import_stream(io.BytesIO(whole), "log.jsonl")
    damaged = whole.replace(events[3], b"garbage\n")
    result = salvage(store, damaged)
    assert (result.outcome, result.events, result.added) == ("salvaged", 12, 0)
    assert [raw for _, raw in set_aside(store)] == [b"garbage"]
    assert exported(store) == whole


def test_without_salvage_a_broken_log_stays_refused_whatever_was_salvaged_of_it(
    store: Store,
) -> None:
    events = lines(turns(2))
    log = header() + b"".join(events[:5]) + b"garbage\n" + b"".join(events[5:])
    assert refusal(store, log).line == 7
    salvage(store, log)
    found = refusal(store, log)
    assert found.line == 7
    assert "conflict" not in found.reason


def test_a_stream_that_cannot_be_read_twice_is_copied_first(store: Store) -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

    events = lines(turns(1))
    log = header() + b"".join(events[:3] + events[4:])
    assert store.import_stream(Pipe(log), "-", salvage=True).events == 3


def test_quarantine_lists_one_session_or_all(store: Store) -> None:
    for id in ("beans", "peas"):
        salvage(store, header(id=id) + b"garbage\n" + b"".join(lines(turns(1))))
    salvage(store, b"".join(lines(turns(1))), "headless.jsonl")
    assert len([*store.quarantine()]) == 8
    assert [piece.session_id for piece in store.quarantine("peas")] == ["peas"]
    with pytest.raises(dshstore.SessionNotFound):
        store.quarantine("maize")


def test_more_than_a_page_is_listed_in_order(store: Store) -> None:
    events = lines(turns(100))
    salvage(store, header() + b"".join(events[1:]))
    assert [piece.seq for piece in store.quarantine()] == [*range(1, 600)]


@given(
    sample=sessions(),
    cuts=st.lists(st.integers(0, 10_000), min_size=1, max_size=3),
    junk=st.sampled_from([b"", b"\0\0\0", b"\xff", b'{"type":', b"\n", b"{}\n"]),
)
def test_every_byte_of_a_broken_log_is_in_the_session_or_set_aside(
    tmp_path_factory: pytest.TempPathFactory,
    sample: tuple[EventDict, list[EventDict]],
    cuts: list[int],
    junk: bytes,
) -> None:
    whole = write_log(*sample)
    body = whole.index(b"\n") + 1
    log = whole
    for cut in cuts:
        at = body + cut % (len(log) - body + 1)
        log = log[:at] + junk + log[at + 1 :]
    with dshstore.open(tmp_path_factory.mktemp("salvage") / "store.db") as store:
        result = salvage(store, log)
        rest = bytearray(log)
        for piece, raw in reversed(set_aside(store)):
            end = piece.offset + piece.size
            assert log[piece.offset : end] == raw
            del rest[piece.offset : end]
        assert result.session_id is not None
        kept = exported(store, result.session_id)
        assert bytes(rest).replace(b"\n", b"") == kept.replace(b"\n", b"")
