"""A store is damaged on purpose, by the scripts in `fixtures/broken`; each is found by its code."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from shutil import copyfile
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dshstore
from dshstore.db import Database
from dshstore.engine.findings import CODES, LOG_CODES, STORE_CODES, Finding
from dshstore.sqlfiles import Statement, schema_objects
from tests.logs import LogBuilder, make_header, text, write_log
from tests.real_parts import require
from tests.strategies import SampleSession, sessions

FIXTURES = Path(__file__).parents[2] / "fixtures"
SCRIPTS = sorted((FIXTURES / "broken").glob("*.sql"))

#: A fork as any program makes it: `seedlings`, up to the end of its first turn.
FORK = """
INSERT INTO forks (session_id, created_at, header, parent, at)
SELECT 'sown-again', created_at, json_set(header, '$.id', 'sown-again'), id, 19
  FROM sessions WHERE session_id = 'seedlings';
INSERT INTO events (session, seq, type, time, data)
SELECT id, 20, 'turn/start', 1794000000000, '{"turn": 2}'
  FROM sessions WHERE session_id = 'sown-again';
"""


def shell(path: Path, script: str) -> None:
    """Run SQL with the `sqlite3` shell, a process of its own."""
    done = subprocess.run(
        [require("sqlite3"), "-batch", "-bail", str(path)],
        input=script,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr


def restore_triggers(path: Path) -> None:
    """Make the triggers again that a script dropped: it is damage of rows that is looked for."""
    database = Database.peek(str(path))
    try:
        names = {row[0] for row in database.query(Statement("n", "SELECT name FROM sqlite_schema"))}
    finally:
        database.close()
    shell(path, "".join(f"{o.sql};\n" for o in schema_objects() if o.name not in names))


def find(path: Path, session: str | None = None) -> list[Finding]:
    with dshstore.open(path, mode="read") as store:
        return list(store.verify(session))


def damage(findings: list[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.kind == "store"]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of all kinds of rows: runs, cut streams, kept lines, a fork, quarantine."""
    folder = tmp_path_factory.mktemp("sound")
    odd = folder / "odd.jsonl"
    lines = (FIXTURES / "logs/compost/session.v2.jsonl").read_bytes().split(b"\n")
    lines[0] = lines[0].replace(b'"compost"', b'"odd"')
    lines[10] = lines[10].replace(b'"type":"tool/result",', b'"type": "tool/result" ,')
    odd.write_bytes(b"\n".join(lines))
    broken = folder / "broken.jsonl"
    lines[0] = lines[0].replace(b'"odd"', b'"broken"')
    broken.write_bytes(b"\n".join([*lines[:5], b"what is this?", *lines[5:]]))
    path = folder / "sound.db"
    with dshstore.open(path) as store:
        outcomes = [r.outcome for r in store.import_paths([FIXTURES / "logs", odd])]
        assert set(outcomes) == {"imported"}
        assert store.import_log(broken, salvage=True).outcome == "salvaged"
    shell(path, FORK)
    return path


@pytest.fixture
def store(sound: Path, tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    copyfile(sound, path)
    return path


def test_a_sound_store_has_no_damage(sound: Path) -> None:
    assert damage(find(sound)) == []


def test_looking_leaves_every_byte_as_it_was(store: Path) -> None:
    before = store.read_bytes()
    find(store)
    assert store.read_bytes() == before


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_damage_is_found_by_its_code(store: Path, script: Path) -> None:
    statements = script.read_text(encoding="utf-8")
    code = re.match(r"-- ([a-z-]+): ", statements)
    assert code is not None
    shell(store, statements)
    restore_triggers(store)
    found = damage(find(store))
    assert code[1] in {finding.code for finding in found}, found


def test_every_code_of_damage_has_a_script() -> None:
    firsts = {path.read_text(encoding="utf-8").split(":")[0] for path in SCRIPTS}
    assert firsts == {f"-- {code}" for code in STORE_CODES}


def test_every_code_says_in_a_sentence_what_it_means() -> None:
    assert set(CODES) == set(STORE_CODES) | set(LOG_CODES)
    assert len(CODES) == len(STORE_CODES) + len(LOG_CODES)
    assert all(text[0].isupper() and text.endswith(".") for text in CODES.values())
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)+", code) for code in CODES)


def test_a_finding_tells_session_seq_and_what_is_wrong(store: Path) -> None:
    shell(store, (FIXTURES / "broken/node-deleted.sql").read_text(encoding="utf-8"))
    restore_triggers(store)
    assert damage(find(store)) == [
        Finding(
            session_id="compost",
            seq=2,
            code="surface-mismatch",
            kind="store",
            detail="it joined the surface, but the store has no node of it",
        )
    ]


def test_one_session_is_looked_at_with_those_whose_events_it_shares(store: Path) -> None:
    for name in ("node-deleted", "import-counts-more"):
        shell(store, (FIXTURES / f"broken/{name}.sql").read_text(encoding="utf-8"))
    restore_triggers(store)
    edit = (FIXTURES / "broken/message-edited.sql").read_text(encoding="utf-8")
    shell(store, edit.replace("compost", "seedlings").replace("seq = 2;", "seq = 5;"))
    restore_triggers(store)
    assert {f.session_id for f in damage(find(store, "sown-again"))} == {"seedlings"}
    assert {f.session_id for f in damage(find(store))} == {"compost", "seedlings"}


def test_of_several_generations_the_detail_tells_which(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with dshstore.open(path) as store:
        for version in (2, 3):
            log = LogBuilder(version)
            log.start_turn()
            file = tmp_path / f"{version}.jsonl"
            file.write_bytes(write_log(make_header(version, "twice"), log.events))
            store.import_log(file)
        found = list(store.verify())
    assert [(f.session_id, f.code, f.detail.split(":")[0]) for f in found] == [
        ("twice", "open-turn", "v2"),
        ("twice", "open-turn", "v3"),
    ]


def test_a_store_that_is_older_than_its_wal_is_sound(sound: Path, tmp_path: Path) -> None:
    path, copied = tmp_path / "store.db", tmp_path / "copied.db"
    copyfile(sound, path)
    with dshstore.open(path) as store:
        with store.create(session_id="young") as session:
            session.append("turn/start", {"turn": 1})
            session.flush()
        copyfile(path, copied)
    assert damage(find(copied)) == []


def test_events_that_are_appended_meanwhile_are_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with (
        dshstore.open(path) as writing,
        writing.create(session_id="busy") as session,
        dshstore.open(path, mode="read") as reading,
    ):
        session.append("weather/report", {})
        _say(session, 1200)
        session.flush()
        found = reading.verify("busy")
        first = next(found)  # more than a page of rows and of nodes is still to be read
        _say(session, 3)
        session.append("user/message", {}, surface_op=(1100, 1203), sources=range(1100, 1204))
        session.flush()
        assert [first.code, *(finding.code for finding in found)] == ["event-unknown"]


def _say(session: dshstore.LiveSession, times: int) -> None:
    for _ in range(times):
        session.append("user/message", {"content": [text("hello")]}, surface_op="append")


@given(session=sessions(), data=st.data())
def test_forks_of_forks_have_no_damage(
    tmp_path_factory: pytest.TempPathFactory, session: SampleSession, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("forks")
    (folder / "log.jsonl").write_bytes(write_log(session.header, session.events))
    with dshstore.open(folder / "store.db") as store:
        parent = store.import_log(folder / "log.jsonl").session_id
        for name in ("child", "grandchild", "great-grandchild"):
            assert parent is not None
            end = store.session(parent).next_seq
            at = data.draw(st.integers(0, end - 1)) if end else None
            with suppress(dshstore.ForkRefused), store.fork(parent, at, new_id=name) as fork:
                node = fork.append("user/message", {}, surface_op="append")
                fork.append("user/message", {}, surface_op=(node, node), sources=[node])
                parent = name
        assert damage(list(store.verify())) == []


def test_a_row_that_cannot_be_fetched_does_not_hide_the_others(store: Path) -> None:
    for name in ("data-not-text", "usage-changed", "node-of-another-owner"):
        shell(store, (FIXTURES / f"broken/{name}.sql").read_text(encoding="utf-8"))
    restore_triggers(store)
    found = {(f.seq, f.code) for f in damage(find(store, "compost"))}
    assert {(2, "event-unreadable"), (6, "stream-figures-wrong")} <= found


def test_a_log_in_plain_sql_is_sound_however_its_json_is_spelled(store: Path) -> None:
    shell(
        store,
        """
        INSERT INTO sessions (session_id, format_version, created_at, header)
        VALUES ('plain', 0, 0, '{"type": "session", "version": 0, "id": "plain", "createdAt": 0}');
        INSERT INTO events (session, seq, type, time, data, source_event_seqs, surface_op)
        SELECT id, 0, 'user/message', 0, '{"a" : 1,
          "a": 2}', NULL, '"append"' FROM sessions WHERE session_id = 'plain';
        INSERT INTO events (session, seq, type, time, data, source_event_seqs, surface_op)
        SELECT id, 1, 'user/message', 0, '{}', '[ 0.0 ]', '{"start": 0, "end": 0, "op": "replace"}'
          FROM sessions WHERE session_id = 'plain';
        """,
    )
    assert [(f.code, f.kind) for f in find(store, "plain")] == [("header-invalid", "log")]


#: What may come to stand in the columns of a store, and in which: only of the right type, for
#: STRICT tables refuse others.
NUMBERS: list[Any] = [None, -(2**63), -1, 0, 1, 7, 2**53, 2**63 - 1]
TEXTS: list[Any] = [
    None,
    "",
    "{}",
    "[]",
    "[[1,2]]",
    '"append"',
    "tool/result",
    "assistant/message",
    "\0",
]
TEXTS += ['{"op":"replace","start":2,"end":0}', "[" * 2000, '{"stream":null}', "[1e999,-0]"]
TEXTS += ['{"turn":1.5,"step":"x","message":[{"content":{}}]}', '{"message":{"content":[7]}}']
BYTES: list[Any] = [None, b"", b"\xff", b"\n", b"{}", b"\x28\xb5\x2f\xfd"]
COLUMNS = {
    "sessions": ("forked_at format_version", "header", "header_raw"),
    "segments": ("first_seq last_seq owner", "", ""),
    "events": ("seq count time ignorable", "type data source_event_seqs surface_op", "raw"),
    "streams": ("seq at size first_time last_time", "usage finish", "body"),
    "surface_nodes": ("seq pos shadowed_by owner", "", ""),
    "imports": ("session lines events", "content_sha256", ""),
    "quarantine": ("import size", "kind", "raw"),
}
CELLS: list[tuple[str, str, list[Any]]] = [
    (table, column, values)
    for table, columns in COLUMNS.items()
    for names, values in zip(columns, (NUMBERS, TEXTS, BYTES), strict=True)
    for column in names.split()
]

#: What tells rows apart in the tables without a rowid.
KEYS = {"segments": "session, first_seq", "surface_nodes": "session, seq"}
UPDATE = (
    "UPDATE TABLE SET COLUMN = :value WHERE (KEY) = (SELECT KEY FROM TABLE LIMIT 1 OFFSET :row"
    " % (SELECT count(*) FROM TABLE))"
)

#: (table, column, number of a row, value)
Cell = tuple[str, str, int, Any]


@st.composite
def cells(draw: st.DrawFn) -> Cell:
    table, column, values = draw(st.sampled_from(CELLS))
    return table, column, draw(st.integers(0, 199)), draw(st.sampled_from(values))


@settings(max_examples=25)
@given(overwritten=st.lists(cells(), min_size=1, max_size=3))
def test_no_damage_is_too_much(
    sound: Path, tmp_path_factory: pytest.TempPathFactory, overwritten: list[Cell]
) -> None:
    path = tmp_path_factory.mktemp("any") / "store.db"
    copyfile(sound, path)
    overwrite(path, overwritten)
    for finding in find(path):
        assert finding.code in CODES


def overwrite(path: Path, overwritten: list[Cell]) -> None:
    """Put values into cells past all guards; what SQLite itself refuses is left out."""
    database = Database.open(str(path), "write")
    triggers = [item for item in schema_objects() if item.kind == "trigger"]
    for item in triggers:
        database.execute_script(f"DROP TRIGGER {item.name}")
    database.pragma("foreign_keys", 0)
    for table, column, row, value in overwritten:
        key = KEYS.get(table, "rowid")
        update = UPDATE.replace("KEY", key).replace("TABLE", table).replace("COLUMN", column)
        with suppress(dshstore.StoreError):
            database.query(Statement("update", update), {"value": value, "row": row})
    for item in triggers:
        database.execute_script(item.sql)
    database.close()


def logs_of(shared: Path, folder: str) -> Iterator[Path]:
    return (path for path in sorted((shared / folder).iterdir()) if "jsonl" in path.name)


@pytest.mark.shared
@pytest.mark.parametrize(
    "folder", ["corpus/v0", "corpus/v2", "corpus/v3", "corpus/v4", "corpus/live", "cases"]
)
def test_no_log_of_the_reference_data_makes_a_damaged_store(
    shared: Path, tmp_path: Path, folder: str
) -> None:
    path = tmp_path / "store.db"
    with dshstore.open(path) as store:
        results = list(store.import_paths(logs_of(shared, folder), salvage=True))
        assert any(result.outcome == "imported" for result in results)
        found = list(store.verify())
    assert damage(found) == []
    assert {finding.kind for finding in found} <= {"log"}


@pytest.mark.shared
def test_a_checkpoint_in_no_compaction_is_told(shared: Path, tmp_path: Path) -> None:
    with dshstore.open(tmp_path / "store.db") as store:
        store.import_log(shared / "cases" / "case-04-v4-shape.jsonl")
        found = [(f.seq, f.code, f.kind) for f in store.verify()]
    assert (27, "checkpoint-outside", "log") in found


def test_a_finding_is_one_object_of_json(store: Path) -> None:
    [found, *_] = find(store)
    members = json.loads(msgspec.json.encode(found))
    assert list(members) == ["session_id", "seq", "code", "kind", "detail"]


def test_a_fault_that_names_a_deep_value_names_it_in_short(tmp_path: Path) -> None:
    deep = "[" * 900 + "]" * 900
    lines = [
        '{"type":"session","version":4,"id":"deep","createdAt":1,"isSeeded":false,"delegationDepth":0}',
        '{"type":"assistant/attempt","seq":0,"time":2,"data":{"turn":'
        + deep
        + ',"step":1,"stream":'
        '[{"type":"chunk","time":1,"chunk":{"type":' + deep + "}}]}}",
    ]
    log = tmp_path / "deep.jsonl"
    log.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    with dshstore.open(tmp_path / "deep.db") as store:
        store.import_log(log)
        findings = list(store.verify())
    assert {finding.kind for finding in findings} == {"log"}
    assert max(len(finding.detail) for finding in findings) < 400
