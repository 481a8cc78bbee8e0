"""`dshstore init`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import cli, program


def test_a_new_store_is_made(tmp_path: Path) -> None:
    store = tmp_path / "new.db"
    done = cli("init", store)
    assert (done.status, done.out, done.err) == (0, b"", f"dshstore: {store}: a new store\n")
    assert cli("info", store, "--json").objects[0]["sessions"] == 0


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    store = tmp_path / "new.db"
    store.touch()
    assert cli("init", store).err.endswith(": a new store\n")


def test_a_store_that_is_there_stays_as_it_is(garden: Path) -> None:
    before = garden.read_bytes()
    done = cli("init", garden)
    assert (done.status, done.err) == (0, f"dshstore: {garden}: is a store already\n")
    assert garden.read_bytes() == before


def test_another_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    other = tmp_path / "diary.txt"
    other.write_text("Sowed beans.\n" * 1000)
    done = cli("init", other)
    assert done.status == 3
    assert "not a dshstore store" in done.err
    assert other.read_text() == "Sowed beans.\n" * 1000


def test_a_name_that_begins_with_a_dash_comes_after_two(tmp_path: Path) -> None:
    assert program("init", "--", "-store.db", cwd=tmp_path).status == 0
    assert program("info", "--json", "--", "-store.db", cwd=tmp_path).status == 0
    assert (tmp_path / "-store.db").exists()
