"""Whole logs through all stages: against the reference, and against what they said before."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given

from dshstore import streams
from dshstore.engine.derive import derive
from dshstore.engine.migration.chunks import ChunkRun, read_run
from dshstore.engine.migration.pipeline import ToV2, migrate_events, upgrade_header
from dshstore.engine.migration.settlements import check_settlement
from dshstore.engine.surface import fold
from dshstore.errors import LogRefused, MigrationRefused, StoreError
from dshstore.formats.dsh import header as headers
from dshstore.formats.dsh import rows
from dshstore.model import Block, Event, Header, StoredEvent
from tests.engine.migration.old_logs import (
    SESSION_ID,
    OldLog,
    Sample,
    make_old_header,
    migrated,
    old_logs,
)
from tests.logs import EventDict, write_line, write_log


def read_log(data: bytes) -> tuple[Header, list[StoredEvent]]:
    line, lines = data.split(b"\n", 1)
    header = headers.read(line)
    return header, list(rows.RowDecoder(header.version).decode([Block(lines, 2, len(line) + 1)]))


def log_of(header: Header, events: list[Event]) -> bytes:
    lines = (rows.log_lines(rows.store(event, header.version), header.version) for event in events)
    return header.text.encode() + b"\n" + b"".join(lines)


# -- the reference --


def reference_vectors(shared: Path) -> Iterator[EventDict]:
    data = (shared / "vectors" / "migrate-v2.jsonl").read_bytes()
    for line in data.removesuffix(b"\n").split(b"\n"):
        yield json.loads(line)


@pytest.mark.shared
def test_the_reference_vectors_come_out_byte_for_byte(shared: Path) -> None:
    wrong = []
    for vector in reference_vectors(shared):
        want = b"".join(map(write_line, vector["output"])) if "output" in vector else None
        try:
            header = headers.read(write_line(vector["rows"][0]))
            upgraded, events = migrate_events(header, vector["rows"][1:], 2)
            got = log_of(upgraded, list(events))
        except StoreError:
            got = None
        if got != want:
            wrong.append(vector["name"])
    assert wrong == []


@pytest.mark.shared
def test_a_refused_reference_vector_is_refused_at_the_event_that_the_reference_names(
    shared: Path,
) -> None:
    wrong = []
    for vector in reference_vectors(shared):
        if "error" in vector:
            header = headers.read(write_line(vector["rows"][0]))
            _, events = migrate_events(header, vector["rows"][1:], 2)
            with pytest.raises(MigrationRefused) as caught:
                list(events)
            if str(caught.value.seq) not in re.findall("[0-9]+", vector["message"]):
                wrong.append((vector["message"], caught.value.seq))
    assert wrong == []


@pytest.mark.shared
def test_the_reference_corpus_comes_out_byte_for_byte(shared: Path) -> None:
    wrong = []
    expected = (shared / "corpus" / "expected.jsonl").read_bytes()
    for line in expected.removesuffix(b"\n").split(b"\n"):
        want = json.loads(line)
        data = (shared / "corpus" / "v0" / want["name"]).read_bytes()
        for to in (1, 2):
            try:
                header, stored = read_log(data)
                events = [e for row in stored for e in rows.logical(row, 0)]
                upgraded, migrated_events = migrate_events(header, events, to)
                got = log_of(upgraded, list(migrated_events))
            except (LogRefused, MigrationRefused) as refusal:
                if "refused" not in want[f"v{to}"]:
                    wrong.append((want["name"], to, str(refusal)))
                continue
            same = got.count(b"\n") - 1 == want[f"v{to}"].get("events", want[f"v{to}"].get("count"))
            if to == 2 and "refused" not in want["v2"]:
                same = got == (shared / "corpus" / "v2" / want["name"]).read_bytes()
            if "refused" in want[f"v{to}"] or not same:
                wrong.append((want["name"], to, "migrated"))
    assert wrong == []


# -- laws --


@given(old_logs())
def test_a_migrated_log_shows_the_model_what_it_showed_before(sample: Sample) -> None:
    log, members = sample
    before = derive(log.events, log.version, SESSION_ID)
    after = derive(migrated(log, **members), 2)
    for message in after:
        if message["source"].get("plugin") == "goal":
            del message["source"]
    for message in before:
        if message["source"]["kind"] == "goal":
            del message["source"]
    assert after == before


@given(old_logs())
def test_the_streams_of_a_migrated_log_hold_every_delta_with_its_time(sample: Sample) -> None:
    log, members = sample
    before = [
        {"time": event["time"], "chunk": event["data"]["chunk"]}
        for event in log.events
        if event["type"] == "assistant/chunk"
    ]
    after = [
        timed
        for event in migrated(log, **members)
        if "stream" in event["data"]
        for timed in streams.expand(event["data"]["stream"])
    ]
    assert after == before


@given(old_logs())
def test_a_migrated_log_is_dense_folds_and_agrees_with_its_streams(sample: Sample) -> None:
    events = migrated(sample.log, **sample.members)
    assert [event["seq"] for event in events] == list(range(len(events)))
    assert len(fold(events, 2).nodes) == len(sample.log.nodes)
    for event in events:
        if "stream" in event["data"]:
            check_settlement(event)


@given(old_logs())
def test_a_seeded_log_has_one_mark_and_what_was_inherited_stands_before_it(sample: Sample) -> None:
    log, members = sample
    events = migrated(log, **members)
    marks = [
        e for e in events if e["type"] == "session/end-seed" and e["data"] == {"inherited": True}
    ]
    assert len(marks) == ("seedLength" in members)
    if marks:
        inherited = OldLog(log.version)
        inherited.events = log.events[: members["seedLength"]]
        assert events[: marks[0]["seq"]] == migrated(inherited)


@given(old_logs())
def test_stored_runs_come_out_as_the_events_in_them(sample: Sample) -> None:
    log, members = sample
    header = make_old_header(log.version, **members)
    want = list(migrate_events(header, log.events, 2)[1])
    for packed in (True, False):
        _, stored = read_log(write_log(json.loads(header.text), log.events, packed=packed))

        def items(stored: list[StoredEvent] = stored) -> Iterator[Event | ChunkRun]:
            for row in stored:
                if row.stream is None:
                    yield from rows.logical(row, log.version)
                else:
                    yield from read_run(rows.log_lines(row, log.version))

        assert [step.event for step in ToV2(header).run(items())] == want


@given(old_logs(version=0))
def test_both_steps_at_once_are_one_after_the_other(sample: Sample) -> None:
    header = make_old_header(0, **sample.members)
    first, as_v1 = migrate_events(header, sample.log.events, 1)
    assert list(migrate_events(first, as_v1, 2)[1]) == migrated(sample.log, **sample.members)


@given(old_logs())
def test_every_event_knows_where_it_came_from_and_where_it_went(sample: Sample) -> None:
    log, members = sample
    migration = ToV2(make_old_header(log.version, **members))
    for origin, event in migration.run(log.events):
        seq = event["seq"]
        assert migration.origin(seq) == origin
        if event["type"] != "session/end-seed" and log.events[origin]["type"] == event["type"]:
            assert migration.new_seq(origin) == seq


# -- headers --


def test_a_header_says_as_v2_what_it_said_in_the_order_of_v2() -> None:
    line = (
        b'{"agentPreset":"plan","origin":"subagent","delegationDepth":2,"seedLength":3,'
        b'"parentSession":"p","cwd":"/srv","createdAt":5,"id":"s","version":1,"type":"session"}'
    )
    assert upgrade_header(headers.read(line), 2).text == (
        '{"type":"session","version":2,"id":"s","createdAt":5,"cwd":"/srv","parentSession":"p",'
        '"isSeeded":true,"origin":"subagent","delegationDepth":2,"agentPreset":"plan"}'
    )


def test_a_header_as_v1_keeps_its_cut() -> None:
    header = make_old_header(0, parentSession="p", seedLength=0)
    assert '"version":1' in upgrade_header(header, 1).text
    assert upgrade_header(header, 1).seed_length == 0


@pytest.mark.parametrize(
    "members",
    [{"owner": "me"}, {"sandboxMode": "read-only"}, {"cwd": "not/absolute"}],
)
def test_a_header_with_what_the_frozen_formats_do_not_have_is_refused(members: EventDict) -> None:
    header = {"type": "session", "version": 1, "id": "s", "createdAt": 5, "delegationDepth": 0}
    with pytest.raises(MigrationRefused) as caught:
        migrate_events(headers.read(write_line({**header, **members})), [], 2)
    assert caught.value.seq is None


@pytest.mark.parametrize(
    ("version", "to"), [(0, 0), (1, 1), (2, 2), (2, 1), (3, 2), (0, 3), (1, 4)]
)
def test_no_way_leads_down_or_beyond_v2(version: int, to: int) -> None:
    header = headers.write(version=version, session_id="s", created_at=0)
    with pytest.raises(MigrationRefused, match="no way leads"):
        migrate_events(header, [], to)


@pytest.mark.parametrize("to", [1, 2])
def test_a_log_shorter_than_its_inherited_part_is_refused(to: int) -> None:
    header = make_old_header(0, parentSession="p", seedLength=1)
    with pytest.raises(MigrationRefused, match="1 inherited"):
        list(migrate_events(header, [], to)[1])


def test_what_is_refused_first_stands_first_in_the_log_whatever_the_stage() -> None:
    log = OldLog(0)
    log.end_turn()  # breaks a rule of v2
    log.add("mode/set", {})  # cannot be said in v1
    with pytest.raises(MigrationRefused) as caught:
        migrated(log)
    assert caught.value.seq == 0


@pytest.mark.parametrize(
    ("member", "value"),
    [("seq", 5), ("time", "soon"), ("ignorable", False), ("extra", 1), ("seq", 0.5)],
)
def test_an_envelope_that_is_not_as_it_must_be_is_refused(member: str, value: object) -> None:
    log = OldLog(0)
    log.begin()
    log.events[2][member] = value
    with pytest.raises(MigrationRefused) as caught:
        migrated(log)
    assert caught.value.seq == 2
