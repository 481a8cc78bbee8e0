"""`dshstore migrate` and `import --migrate`: the words, the objects, the statuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import cli
from tests.logs import LogBuilder, make_header, text, write_log


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A v0 log of 9 events, of which v2 makes 6."""
    path = tmp_path / "old.jsonl"
    path.write_bytes(old_log("old"))
    return path


@pytest.fixture
def store(tmp_path: Path, log: Path) -> Path:
    path = tmp_path / "old.db"
    assert cli("import", path, log).status == 0
    return path


def old_log(session_id: str, unknown: bool = False) -> bytes:
    log = LogBuilder(0)
    log.start_turn()
    log.start_step()
    log.append("user/message", log.user(text("beans?")))
    log.settle([(text("yes"), ["yes"])])
    if unknown:
        log.add("mystery/event", {}, ignorable=True)
    log.end_step()
    log.end_turn()
    return write_log(make_header(0, session_id), log.events)


def test_it_tells_the_name_of_the_new_generation(store: Path) -> None:
    done = cli("migrate", store, "old")
    assert (done.status, done.text) == (0, "old@v2\n")
    assert done.err == "dshstore: old: 9 events, as v2 6\n"
    [session] = cli("sessions", store, "--json").objects
    assert session["generations"] == [0, 2]


def test_it_tells_programs_what_it_made(store: Path) -> None:
    done = cli("migrate", store, "old", "--to", "1", "--json")
    [made] = done.objects
    assert made == {"session_id": "old", "format_version": 1, "events": 9, "migrated_from": 0}
    assert done.err == ""


def test_what_is_there_already_is_left_alone(store: Path) -> None:
    cli("migrate", store, "old")
    done = cli("migrate", store, "old")
    assert (done.status, done.text, done.err) == (
        0,
        "old@v2\n",
        "dshstore: old: it is in format v2 already\n",
    )
    assert cli("migrate", store, "old@v0", "--json").objects[0]["events"] == 6


def test_what_cannot_be_migrated_is_refused_with_its_event(tmp_path: Path) -> None:
    log, store = tmp_path / "odd.jsonl", tmp_path / "odd.db"
    log.write_bytes(old_log("odd", unknown=True))
    cli("import", store, log)
    done = cli("migrate", store, "odd")
    assert (done.status, done.out) == (3, b"")
    assert "event 7" in done.err
    assert "mystery/event" in done.err


@pytest.mark.parametrize("to", ["0", "3", "x"])
def test_other_formats_are_a_slip(store: Path, to: str) -> None:
    assert cli("migrate", store, "old", "--to", to).status == 2


def test_a_store_is_not_made_for_it(tmp_path: Path) -> None:
    assert cli("migrate", tmp_path / "none.db", "old").status == 3
    assert not (tmp_path / "none.db").exists()


def test_the_sample_of_its_help_can_be_migrated(tmp_path: Path, logs: Path) -> None:
    store = tmp_path / "garden.db"
    cli("import", store, logs)
    assert cli("migrate", store, "bean-bed@v0", "--to", "1").text == "bean-bed@v1\n"
    assert cli("migrate", store, "bean-bed").text == "bean-bed@v2\n"


class TestImport:
    def test_what_is_old_is_migrated(self, tmp_path: Path, log: Path, logs: Path) -> None:
        store = tmp_path / "new.db"
        done = cli("import", store, log, logs / "compost", "--migrate", "--json")
        assert done.status == 0
        old, compost = done.objects
        assert (old["format_version"], old["notes"]) == (0, ["migrated to v2: 6 events"])
        assert compost["notes"] == []
        again = cli("import", store, log, "--migrate", "--json")
        [result] = again.objects
        assert (result["outcome"], result["notes"]) == ("unchanged", ["migrated to v2: 6 events"])

    def test_what_cannot_be_is_imported_all_the_same(self, tmp_path: Path) -> None:
        log, store = tmp_path / "odd.jsonl", tmp_path / "odd.db"
        log.write_bytes(old_log("odd", unknown=True))
        done = cli("import", store, log, "--migrate", "--json")
        assert done.status == 1
        [result] = done.objects
        assert result["outcome"] == "imported"
        assert "not migrated to v2: event 7" in result["notes"][0]
