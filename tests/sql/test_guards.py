from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path

import pytest

from dshstore import schema
from dshstore.db import Database
from dshstore.engine.append import next_key
from dshstore.errors import StoreError
from dshstore.sqlfiles import schema_objects
from tests.sql import attacks
from tests.sql.attacks import ATTACKS, TABLES, fill_store
from tests.sql.plain import POLICIES, PlainWriter, ShellWriter

PRAGMAS = [
    {"foreign_keys": keys, "recursive_triggers": triggers}
    for keys, triggers in product((1, 0), repeat=2)
]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("guards") / "store.db")
    database = schema.create(path)
    fill_store(PlainWriter(database))
    database.close()
    return path


@pytest.fixture(scope="module")
def kept(path: str) -> Iterator[PlainWriter]:
    """A store that every attack must leave as it is."""
    database = Database.open(path, "write")
    yield PlainWriter(database)
    database.close()


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[PlainWriter]:
    """A store of one's own."""
    database = schema.create(str(tmp_path / "store.db"))
    writer = PlainWriter(database)
    fill_store(writer)
    yield writer
    database.close()


def dump(writer: PlainWriter) -> dict[str, object]:
    return {name: writer.run(sql) for name, sql in TABLES.items()}


def spell(sql: str) -> list[str]:
    """The statement with every policy for conflicts that it can have."""
    if sql.startswith("DELETE"):
        return [sql]
    verb = sql.split()[0]
    return [sql.replace(verb, policy.replace("INSERT", verb), 1) for policy in POLICIES]


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_refused_with_its_code_and_changes_nothing(
    kept: PlainWriter, name: str
) -> None:
    attack = ATTACKS[name]
    before = dump(kept)
    for pragmas, sql in product(PRAGMAS, spell(attack.sql)):
        kept.set(pragmas)
        with pytest.raises(StoreError) as refused:
            kept.run(sql)
        assert attack.code in str(refused.value), sql
        assert dump(kept) == before, sql


@pytest.mark.parametrize("pragmas", PRAGMAS, ids=str)
def test_attacks_by_the_shell_are_refused_with_their_codes_and_change_nothing(
    path: str, pragmas: Mapping[str, int]
) -> None:
    statements = [(name, sql) for name in ATTACKS for sql in spell(ATTACKS[name].sql)]
    look = [f"{sql};" for sql in TABLES.values()]
    switches = [f"PRAGMA {name} = {value};" for name, value in pragmas.items()]
    head = [".mode quote", *switches, *look]
    script = [*head, *(f"{sql};" for _, sql in statements), "SELECT 'and after';", *look]
    output, errors = ShellWriter(path).run([line.replace("\n", " ") for line in script])
    wrong = {
        sql: errors.get(line)
        for line, (name, sql) in enumerate(statements, len(head))
        if ATTACKS[name].code not in errors.get(line, "")
    }
    assert wrong == {}
    at = output.index("'and after'")
    assert output[:at] == output[at + 1 :]


def test_the_attacks_are_looked_for_in_every_table() -> None:
    assert set(TABLES) == {item.name for item in schema_objects() if item.kind == "table"}


def test_every_refusal_of_a_trigger_is_tried(kept: PlainWriter) -> None:
    triggers = [item for item in schema_objects() if item.kind == "trigger"]
    rules = "surface_rules_check"  # the contract has an example for each of these
    codes = {
        code.split("'")[1]
        for item in triggers
        if item.name != rules
        for code in item.sql.split("RAISE(ABORT, ")[1:]
    }
    assert codes <= {attack.code for attack in ATTACKS.values()}


@pytest.mark.parametrize("pragmas", PRAGMAS, ids=str)
def test_right_statements_are_taken(writer: PlainWriter, pragmas: Mapping[str, int]) -> None:
    writer.set(pragmas)
    for sql in (
        attacks.EVENT + "(1, 6, 'turn/end', 0, '{}'), (1, 7, 'x', -5, '5')",
        attacks.ROWID_EVENT + "(99, 1, 8, 'turn/end', 0, '{}')",
        attacks.RUN + "(2, 7, 3, 'assistant/chunk', 0, '{\"turn\":1,\"step\":1}')",
        attacks.STREAM + "(2, 7, NULL, 1, x'00')",
        "INSERT INTO streams (session, seq, at, size, body)"
        " SELECT 1, seq, instr(data, '\"stream\":') + 8, 1, x'00' FROM events WHERE rowid = 6",
        attacks.ID_SESSION + "(99, 'n', 4, 0, '{}')",
        attacks.SESSION + "('seeded', 0, 0, '{\"seedLength\":5.0}'), ('s1', 3, 0, '{}')",
        attacks.FORKS + "('f', 0, '{}', 1, 7)",
        attacks.FORKED + "('g', 4, 0, '{}', 1, 7)",
        attacks.OPAQUE + "(4, 4, 'x/y', 0, '{}', 1, '{}', '[]')",
    ):
        for spelled in spell(sql):
            writer.run("SAVEPOINT attempt")
            writer.run(spelled)
            writer.run("ROLLBACK TO attempt")
            writer.run("RELEASE attempt")
        writer.run(sql)
    count = "SELECT inherited_count FROM session_bounds WHERE session_id = 'seeded'"
    assert writer.run(count) == [(5,)]


def test_a_session_takes_everything_that_is_its_own_with_it(writer: PlainWriter) -> None:
    others = dump(writer)
    writer.set({"foreign_keys": 0})
    for session in (attacks.FORK, attacks.LOG):
        writer.run("DELETE FROM sessions WHERE id = ?", (session,))
    gone = (attacks.LOG, attacks.FORK)
    for name, column in {
        "sessions": 0, "segments": 0, "events": 1, "streams": 1, "surface_nodes": 0,
    }.items():  # fmt: skip
        rows = others[name]
        assert isinstance(rows, list)
        assert writer.run(TABLES[name]) == [row for row in rows if row[column] not in gone]
    assert writer.run("SELECT session, path FROM imports") == [(None, "a.jsonl")]
    assert writer.run("SELECT count(*) FROM quarantine") == [(1,)]


def test_a_number_is_never_given_twice(writer: PlainWriter) -> None:
    last = writer.begin(4)
    writer.run("DELETE FROM sessions WHERE id = ?", (last,))
    assert writer.begin(4) == last + 1


def test_a_number_is_never_given_twice_even_if_sqlite_was_made_to_forget_it(
    writer: PlainWriter, tmp_path: Path
) -> None:
    writer.run("DELETE FROM sqlite_sequence")
    database = Database.open(str(tmp_path / "store.db"), "read")
    assert next_key(database) == attacks.SEEDED + 1
    database.close()
    assert writer.begin(4) == attacks.SEEDED + 1


@pytest.mark.parametrize(
    "action",
    [
        "INSERT INTO surface_nodes (session, seq, pos, owner)"
        " VALUES (NEW.session, NEW.seq, NEW.seq, NEW.session)",
        "INSERT OR REPLACE INTO surface_nodes (session, seq, pos, owner)"
        " VALUES (NEW.session, NEW.seq, 2, NEW.session)",
        "UPDATE surface_nodes SET shadowed_by = NEW.seq WHERE session = NEW.session AND seq = 2",
        "DELETE FROM events WHERE session = NEW.session",
    ],
)
@pytest.mark.parametrize(
    "event",
    [
        attacks.EVENT + "(1, 6, 'turn/end', 0, '{}')",
        attacks.OPAQUE + "(1, 6, 'x/y', 0, '{}', 1, '[1]', '\"append\"')",
        attacks.SURFACE + "(1, 6, 'user/message', 0, '{}', NULL, '\"append\"')",
    ],
)
@pytest.mark.parametrize("when", ["BEFORE", "AFTER"])
def test_a_trigger_of_a_connections_own_cannot_use_the_moment_when_an_event_enters(
    writer: PlainWriter, action: str, event: str, when: str
) -> None:
    own = "CREATE TEMP TRIGGER own WHEN INSERT ON events BEGIN ACTION; END"
    writer.run(own.replace("WHEN", when).replace("ACTION", action))
    before = dump(writer)
    for sql in spell(event):
        with pytest.raises(StoreError):
            writer.run(sql)
        assert dump(writer) == before, sql


LAST = {
    "an append": attacks.SURFACE + "(1, 6, 'user/message', 0, '{}', NULL, '\"append\"')",
    "a replace": attacks.SURFACE
    + "(1, 6, 'user/message', 0, '{}', '[2,4]',"
    + ' \'{"op":"replace","startSeq":2,"endSeq":4}\')',
    "no surface event": attacks.EVENT + "(1, 6, 'turn/end', 0, '{}')",
    "an opaque append": attacks.OPAQUE + "(1, 6, 'x/y', 0, '{}', 1, NULL, '\"append\"')",
    "an opaque replace": attacks.OPAQUE
    + "(1, 6, 'x/y', 0, '{}', 1, '[2]', '{\"op\":\"replace\",\"startSeq\":2,\"endSeq\":2}')",
    "an end-seed": attacks.EVENT + "(1, 6, 'session/end-seed', 0, '{\"inherited\":true}')",
}


@pytest.mark.parametrize("last", LAST.values(), ids=LAST)
def test_a_surface_is_closed_as_soon_as_its_last_event_has_entered(
    writer: PlainWriter, last: str
) -> None:
    writer.run(last)
    before = dump(writer)
    shadow = "UPDATE surface_nodes SET shadowed_by ="
    for attack in (
        *(f"{attacks.NODE}(1, {seq}, {pos}, 1)" for seq in (1, 5, 6, 7) for pos in (0, 2, 6)),
        *(f"{shadow} {by} WHERE session = 1 AND seq = {n}" for by in (5, 6, 7) for n in (2, 3, 5)),
        attacks.SPAN + '(1, 6, \'{"startSeq":3,"endSeq":5}\')',
        f"{shadow} NULL WHERE session = 1 AND seq = 2",
    ):
        for sql in spell(attack):
            with pytest.raises(StoreError, match=r"surface-is-kept-by-triggers|UNIQUE"):
                writer.run(sql)
            assert dump(writer) == before, sql
