"""A store, or a log, in a folder in which nothing can be written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import dshstore
from tests.bound import run_bound
from tests.situations.conftest import write_session

#: Commands that read, without the store.
READING = (
    ["sessions", "STORE"],
    ["info", "STORE"],
    ["messages", "STORE", "beans"],
    ["surface", "STORE", "beans"],
    ["events", "STORE", "beans"],
    ["export", "STORE", "beans"],
    ["quarantine", "STORE"],
    ["sql", "STORE", "select count(*) from events"],
)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder that cannot be written, with a store and a log."""
    place = tmp_path / "shut"
    place.mkdir()
    log = place / "beans.jsonl"
    log.write_bytes(write_session("beans", 2))
    with dshstore.open(place / "store.db") as store:
        store.import_log(log)
    place.chmod(0o555)
    yield place
    place.chmod(0o755)


def test_reading_commands_work_and_leave_nothing_behind(folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    for command in READING:
        done = run_bound(*(folder / "store.db" if word == "STORE" else word for word in command))
        assert (done.returncode, done.stderr) == (0, ""), command
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_writing_command_names_the_store_it_cannot_write(folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    done = run_bound("import", folder / "store.db", folder / "beans.jsonl")
    assert done.returncode == 3
    assert str(folder / "store.db") in done.stderr
    assert "Traceback" not in done.stderr
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_log_is_imported_from_there_and_nothing_is_written_beside_it(
    folder: Path, tmp_path: Path
) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    done = run_bound("import", tmp_path / "other.db", folder, "--salvage")
    assert done.returncode == 0, done.stderr
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_folder_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    shut = tmp_path / "logs" / "shut"
    shut.mkdir(parents=True)
    (tmp_path / "logs" / "peas.jsonl").write_bytes(write_session("peas"))
    shut.chmod(0)
    try:
        done = run_bound("import", tmp_path / "store.db", tmp_path / "logs", "--json")
    finally:
        shut.chmod(0o755)
    assert done.returncode == 1
    assert '"outcome":"imported"' in done.stdout
    assert f'"path":"{shut}"' in done.stdout
    assert "cannot be read: Permission denied" in done.stdout
