"""Generations in a store: what is written beside what, and what is left when it is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given

import dshstore
from dshstore import CorruptStore, MigrationRefused, Store, StoreError
from dshstore.db import Database
from dshstore.engine import append, migrate, read
from dshstore.engine.migration.pipeline import migrate_events
from dshstore.formats.dsh import rows
from dshstore.formats.dsh.cutting import pack
from dshstore.jsontext import MAX_DEPTH
from dshstore.model import Header, StoredEvent, StreamPart
from tests.engine.migration.old_logs import (
    SESSION_ID,
    OldLog,
    Sample,
    make_old_header,
    migrated,
    old_logs,
)
from tests.logs import Json, make_header, text, write_line, write_log
from tests.stores import new_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with dshstore.open(tmp_path / "old.db") as opened:
        yield opened


def import_log(store: Store, log: OldLog, **members: Json) -> bytes:
    """Import a log; its bytes."""
    data = write_log(make_header(log.version, SESSION_ID, **members), log.events)
    assert store.import_stream(BytesIO(data)).outcome == "imported"
    return data


def exported(store: Store, name: str) -> bytes:
    return b"".join(store.session(name).log())


def generations(store: Store) -> list[int]:
    return [version for summary in store.sessions() for version in summary.generations]


def small_log(version: int = 0) -> OldLog:
    log = OldLog(version)
    log.begin()
    log.fail("a", "b")
    log.answer("be", "ans")
    log.end()
    return log


# -- the reference --


@pytest.mark.shared
def test_the_reference_vectors_come_out_byte_for_byte(store: Store, shared: Path) -> None:
    wrong = []
    data = (shared / "vectors" / "migrate-v2.jsonl").read_bytes()
    for line in data.removesuffix(b"\n").split(b"\n"):
        vector = json.loads(line)
        try:
            log = b"".join(map(write_line, vector["rows"]))
            session_id = store.import_stream(BytesIO(log)).session_id or ""
            store.migrate(session_id)
            got = exported(store, session_id)
            assert exported(store, f"{session_id}@v{vector['rows'][0]['version']}") == log
        except StoreError:
            got = b""
        if got != b"".join(map(write_line, vector.get("output", []))):
            wrong.append(vector["name"])
    assert wrong == []


@pytest.mark.shared
def test_the_reference_corpus_comes_out_byte_for_byte(store: Store, shared: Path) -> None:
    wrong = []
    for path in sorted((shared / "corpus" / "v0").iterdir()):
        try:
            session_id = store.import_log(path).session_id or ""
            store.migrate(session_id)
            got = exported(store, session_id)
        except StoreError:
            got = b""
        want = shared / "corpus" / "v2" / path.name
        if got != (want.read_bytes() if want.exists() else b""):
            wrong.append(path.name)
    assert wrong == []


# -- what is written --


@given(old_logs())
def test_a_stored_generation_is_the_log_that_the_stages_make(sample: Sample) -> None:
    log, members = sample
    header, events = migrate_events(make_old_header(log.version, **members), log.events, 2)
    lines = [rows.log_lines(rows.store(event, 2), 2) for event in events]
    with new_store() as store:
        data = import_log(store, log, **members)
        session = store.migrate(SESSION_ID)
        assert session.format_version == 2
        assert exported(store, SESSION_ID) == b"".join([header.text.encode() + b"\n", *lines])
        assert exported(store, f"{SESSION_ID}@v{log.version}") == data
        assert [found for found in store.verify() if found.kind == "store"] == []


def test_both_generations_stand_in_the_store_and_the_id_means_the_new_one(store: Store) -> None:
    log = small_log()
    data = import_log(store, log)
    messages = store.session(SESSION_ID).messages()
    session = store.migrate(SESSION_ID)
    assert (session.format_version, session.next_seq) == (2, len(migrated(log)))
    assert generations(store) == [0, 2]
    assert store.session(SESSION_ID).format_version == 2
    assert store.session(SESSION_ID).messages() == messages
    assert exported(store, f"{SESSION_ID}@v0") == data


@pytest.mark.parametrize("packed", [True, False])
def test_a_v0_log_as_v1_keeps_the_bytes_of_its_deltas(store: Store, packed: bool) -> None:
    log = small_log()
    log.add("turn/start", {"turn": 2, "trigger": {"kind": "user"}})
    data = write_log(make_header(0, SESSION_ID), log.events, packed=packed)
    store.import_stream(BytesIO(data))
    store.migrate(SESSION_ID, to=1)
    want = data.replace(b'"version":0', b'"version":1').replace(b',"trigger":{"kind":"user"}', b"")
    assert exported(store, SESSION_ID) == want
    assert store.migrate(SESSION_ID, to=2).format_version == 2
    assert generations(store) == [0, 1, 2]


def test_the_inherited_part_of_a_seeded_session_is_known_in_the_store(store: Store) -> None:
    log = small_log()
    cut = len(log.events)
    log.command()
    import_log(store, log, parentSession="parent", seedLength=cut)
    store.migrate(SESSION_ID)
    _, found = store.sql("SELECT format_version, inherited_count FROM session_bounds")
    assert list(found) == [(0, cut), (2, 9)]


def test_a_fork_is_migrated_to_a_session_of_its_own(store: Store) -> None:
    log = small_log(1)
    import_log(store, log)
    with store.fork(SESSION_ID, len(log.events) - 1, new_id="fork"):
        pass
    session = store.migrate("fork")
    events = list(session.events())
    assert [e["type"] for e in events] == [e["type"] for e in migrated(log)] + ["session/end-seed"]
    assert events[-1]["data"] == {"inherited": True}
    assert exported(store, "fork").startswith(b'{"type":"session","version":2,"id":"fork",')


def test_what_a_live_session_queued_is_migrated_too(store: Store) -> None:
    with store.create(session_id="live", format_version=1) as live:
        live.append("plan/mode", {"active": True})
        assert store.migrate("live").next_seq == 1


def test_half_a_surrogate_pair_comes_through(store: Store) -> None:
    log = OldLog(0)
    log.begin()
    log.answer("\ud83c", "\udf32", "\ud83c")
    import_log(store, log)
    store.migrate(SESSION_ID)
    message = store.session(SESSION_ID).messages()[-1]
    assert message["content"][0]["text"].endswith("\ud83c")
    assert b'"texts":["\\ud83c","\\udf32","\\ud83c"]' in exported(store, SESSION_ID)


def test_lines_of_another_spelling_are_written_as_the_harness_writes_them(store: Store) -> None:
    log = small_log()
    data = write_log(make_header(0, SESSION_ID), log.events, packed=False)
    spaced = data.replace(b',"seq":', b', "seq" : ').replace(b'"turn":1,', b'"turn":1.0,')
    store.import_stream(BytesIO(spaced))
    plain = store.migrate(SESSION_ID)
    want = b"".join(rows.log_lines(rows.store(event, 2), 2) for event in migrated(log))
    assert exported(store, SESSION_ID).split(b"\n", 1)[1] == want
    assert plain.next_seq == len(migrated(log))


# -- again --


def test_a_session_of_that_format_comes_back_as_it_is(store: Store) -> None:
    import_log(store, small_log())
    new = store.migrate(SESSION_ID)
    assert store.migrate(SESSION_ID).next_seq == new.next_seq
    assert store.migrate(f"{SESSION_ID}@v0", to=2).next_seq == new.next_seq
    assert generations(store) == [0, 2]


def test_a_session_that_went_on_since_comes_back_as_it_went_on(store: Store) -> None:
    import_log(store, small_log())
    store.migrate(SESSION_ID)
    with store.resume(SESSION_ID) as live:
        live.append("plan/mode", {"active": True})
    grown = store.session(SESSION_ID).next_seq
    assert store.migrate(f"{SESSION_ID}@v0").next_seq == grown


def test_a_log_that_went_on_since_is_not_what_was_migrated(store: Store) -> None:
    log = small_log()
    import_log(store, log)
    before = store.migrate(SESSION_ID).next_seq
    log.command()
    store.import_stream(BytesIO(write_log(make_header(0, SESSION_ID), log.events)))
    with pytest.raises(MigrationRefused, match=f"its event {before} is not") as caught:
        store.migrate(f"{SESSION_ID}@v0")
    assert caught.value.seq == len(log.events) - 2
    assert exported(store, SESSION_ID).count(b"\n") == before + 1


@pytest.mark.parametrize("change", [b'"createdAt":1,', b'"createdAt":1790000000000,'])
def test_another_log_of_that_format_is_not_taken_for_it(store: Store, change: bytes) -> None:
    log = small_log()
    import_log(store, log)
    other = write_log(make_header(2, SESSION_ID), migrated(log)[:-1])
    store.import_stream(BytesIO(other.replace(b'"createdAt":1790000000000,', change)))
    with pytest.raises(MigrationRefused, match="is here as v2 already"):
        store.migrate(f"{SESSION_ID}@v0")
    assert generations(store) == [0, 2]


@pytest.mark.parametrize(("version", "to"), [(3, 2), (4, 1), (0, 3), (1, 0)])
def test_no_way_leads_down_or_beyond_v2(store: Store, version: int, to: int) -> None:
    with store.create(session_id="s", format_version=version):
        pass
    with pytest.raises(MigrationRefused, match="no way leads"):
        store.migrate("s", to=to)


class LateDatabase(Database):
    """A connection before whose writes another process migrates the session."""

    def write(self, items: Iterable[append.Item]) -> None:
        with dshstore.open(self.path) as other:
            other.migrate(SESSION_ID)
        super().write(items)


def test_two_processes_that_migrate_a_session_at_once_end_with_one_generation(
    store: Store,
) -> None:
    import_log(store, small_log())
    database = LateDatabase.open(store.path, "write")
    row = migrate.migrate(database, read.find_session(database, SESSION_ID), 2)
    database.close()
    assert row.next_seq == store.session(SESSION_ID).next_seq
    assert generations(store) == [0, 2]


# -- refusals --


def refuse(store: Store, log: OldLog, to: int = 2, **members: Json) -> MigrationRefused:
    """The refusal, which leaves the store as it was."""
    data = import_log(store, log, **members)
    with pytest.raises(MigrationRefused) as caught:
        store.migrate(SESSION_ID, to=to)
    assert generations(store) == [log.version]
    assert exported(store, SESSION_ID) == data
    assert list(store.sql("SELECT count(*) FROM events WHERE session <> 1")[1]) == [(0,)]
    return caught.value


def test_a_refused_log_leaves_nothing_behind(store: Store) -> None:
    log = small_log()
    log.end_turn()
    refusal = refuse(store, log)
    assert refusal.seq == len(log.events) - 1


def test_a_message_that_is_not_what_its_deltas_say_is_refused(store: Store) -> None:
    log = OldLog()
    log.begin()
    log.fail("a")
    log.answer("be", "ans")
    log.events[-1]["data"]["message"]["content"] = [text("peas")]
    log.end()
    refusal = refuse(store, log)
    assert refusal.seq == 10
    assert "content" in refusal.reason


@pytest.mark.parametrize("to", [1, 2])
def test_an_unknown_event_is_refused(store: Store, to: int) -> None:
    log = small_log()
    log.add("mystery/event", {}, ignorable=True)
    assert refuse(store, log, to).seq == len(log.events) - 1


def test_a_header_with_an_unknown_key_is_refused(store: Store) -> None:
    data = write_log({**make_header(0, SESSION_ID), "owner": "me"}, small_log().events)
    store.import_stream(BytesIO(data))
    with pytest.raises(MigrationRefused, match="owner") as caught:
        store.migrate(SESSION_ID)
    assert caught.value.seq is None


def test_a_log_without_events_is_one_afterwards(store: Store) -> None:
    store.import_stream(BytesIO(write_log(make_header(0, "empty"), [])))
    assert store.migrate("empty").next_seq == 0


def test_a_header_that_no_log_could_have_is_refused(store: Store) -> None:
    text = '{"type":"session","version":0,"id":"odd","createdAt":0}'
    header = Header(version=0, session_id="odd", created_at=0, seeded=False, text=text)
    database = Database.open(store.path, "write")
    append.begin_session(database, header)
    database.close()
    with pytest.raises(MigrationRefused, match="delegationDepth") as caught:
        store.migrate("odd")
    assert caught.value.seq is None


def test_what_would_be_nested_too_deep_in_a_stream_is_refused(store: Store) -> None:
    log = OldLog(1)
    log.begin()
    log.chunk({"type": "block-end", "index": 0, "block": "deep"})
    levels = MAX_DEPTH - 2  # data and chunk are two
    block = b'{"type":"hologram","in":' * (levels - 1) + b'{"type":""}' + b"}" * (levels - 1)
    data = write_log(make_header(1, SESSION_ID), log.events).replace(b'"deep"', block)
    assert store.import_stream(BytesIO(data)).outcome == "imported"
    with pytest.raises(MigrationRefused, match="nested") as caught:
        store.migrate(SESSION_ID)
    assert caught.value.seq == 4
    assert generations(store) == [1]


def test_a_damaged_run_is_told_as_damage(store: Store) -> None:
    header = make_old_header(1)
    junk = b"junk\n"
    part = StreamPart(None, len(junk), pack(junk), 0, 0)
    run = StoredEvent(0, 3, "assistant/chunk", 0, '{"turn":1,"step":1}', stream=part)
    database = Database.open(store.path, "write")
    append.begin_session(database, header)
    append.append_events(database, 1, SESSION_ID, [run])
    database.close()
    with pytest.raises(CorruptStore, match="event 0: a run is damaged"):
        store.migrate(SESSION_ID)


# -- a long log --


@pytest.mark.campaign
@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc how much memory was taken")
@pytest.mark.parametrize("deltas", [3, 500, 999_990])
def test_a_million_events_are_migrated_in_less_than_400_mb(tmp_path: Path, deltas: int) -> None:
    log, path = tmp_path / "long.jsonl", tmp_path / "long.db"
    with log.open("wb") as out:
        out.writelines(_long_log(1_000_000, deltas))
    with dshstore.open(path) as store:
        store.import_log(log)
    program = (
        "import re, sys, dshstore\n"
        "from pathlib import Path\n"
        "with dshstore.open(sys.argv[1]) as store: store.migrate('long')\n"
        "print(re.search(r'VmHWM:\\s+(\\d+) kB', Path('/proc/self/status').read_text())[1])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, path], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 400 * 1024


def _long_log(events: int, deltas: int) -> Iterator[bytes]:
    """The lines of a v1 log of so many events or a few more, in turns of so many deltas."""
    yield write_line(make_header(1, "long"))
    builder, seq = OldLog(), 0
    while seq < events:
        builder.begin()
        first = seq + len(builder.events)
        place = {"turn": builder.turn, "step": 1}
        for event in builder.events:
            yield write_line({**event, "seq": seq})
            seq += 1
        for seq in range(first, first + deltas):
            chunk = {"type": "text-delta", "index": 0, "text": "word "}
            data = {**place, "chunk": chunk}
            yield write_line({"type": "assistant/chunk", "seq": seq, "time": seq, "data": data})
        cited = list(range(first, first + deltas))
        builder.events = []
        builder.append("assistant/message", builder.assistant(text("word " * deltas)), cited)
        builder.end()
        for seq, event in enumerate(builder.events, first + deltas):
            yield write_line({**event, "seq": seq})
        builder.events, seq = [], seq + 1
