"""What a command writes never takes the place of a file of the store it reads."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import dshstore
from tests.cli.running import cli, small_log

COMMANDS = {
    "export": ("export", "STORE", "evening", "-o", "OUT"),
    "export --zstd": ("export", "STORE", "evening", "--zstd", "-o", "OUT"),
    "show --chart": ("show", "STORE", "evening", "--chart", "OUT"),
    "backup": ("backup", "STORE", "OUT"),
}


@pytest.fixture
def garden(tmp_path: Path) -> Path:
    (tmp_path / "log.jsonl").write_bytes(small_log("evening"))
    assert cli("import", tmp_path / "garden.db", tmp_path / "log.jsonl").status == 0
    return tmp_path / "garden.db"


def run(name: str, store: Path, out: object) -> tuple[int, bytes]:
    done = cli(*(str({"STORE": store, "OUT": out}.get(word, word)) for word in COMMANDS[name]))
    assert done.err.count("\n") == 1
    return done.status, done.out


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("end", ["", "-wal", "-shm", "-journal", "-search", "-search-all"])
def test_no_command_writes_over_a_file_of_the_store(garden: Path, name: str, end: str) -> None:
    before = garden.read_bytes()
    assert run(name, garden, f"{garden}{end}") == (2, b"")
    assert garden.read_bytes() == before
    assert not end or not Path(f"{garden}{end}").exists()


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_writes_over_the_store_by_a_link(garden: Path, name: str) -> None:
    before = garden.read_bytes()
    os.link(garden, garden.with_name("hard"))
    garden.with_name("soft").symlink_to(garden)
    assert run(name, garden, garden.with_name("hard")) == (2, b"")
    assert run(name, garden, garden.with_name("soft")) == (2, b"")
    assert garden.read_bytes() == before
    assert garden.with_name("soft").is_symlink()


def test_no_table_is_written_over_the_store(garden: Path) -> None:
    store = garden.rename(garden.with_name("turns.parquet"))
    before = {path.name: path.read_bytes() for path in store.parent.iterdir()}
    done = cli("export", store, "--parquet", store.parent)
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert {path.name: path.read_bytes() for path in store.parent.iterdir()} == before


def test_from_python_too(garden: Path) -> None:
    with dshstore.open(garden) as store:
        with pytest.raises(dshstore.OutputRefused):
            store.export_log("evening", garden)
        with pytest.raises(dshstore.OutputRefused):
            store.backup(f"{garden}-wal")
        with pytest.raises(dshstore.OutputRefused):
            dshstore.reports.draw_context(store, "evening", garden)


@pytest.mark.parametrize("name", [*COMMANDS, "export --parquet"])
def test_an_empty_name_is_no_place_to_write_to(
    garden: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(garden.parent)
    before = sorted(Path().iterdir())
    words = COMMANDS.get(name, ("export", "STORE", "--parquet", "OUT"))
    done = cli(*(str({"STORE": garden, "OUT": ""}.get(word, word)) for word in words))
    assert (done.status, done.out) == (2, b"")
    assert "the name is empty" in done.err
    assert sorted(Path().iterdir()) == before
