"""Which paths are a store's own files: by name, by link, before they are there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dshstore.db import check_output, is_own_file
from dshstore.errors import OutputRefused

ENDS = ("", "-wal", "-shm", "-journal", "-search", "-search-all", "-search-journal")


@pytest.mark.parametrize("end", ENDS)
def test_a_file_of_the_store_is_known_by_its_name(tmp_path: Path, end: str) -> None:
    store = str(tmp_path / "garden.db")
    with pytest.raises(OutputRefused, match="is a file of the store"):
        check_output(store, tmp_path / "x" / ".." / f"garden.db{end}")


@pytest.mark.parametrize("end", ENDS)
def test_a_file_of_the_store_is_known_under_other_names(tmp_path: Path, end: str) -> None:
    own = tmp_path / f"garden.db{end}"
    own.write_bytes(b"")
    (tmp_path / "soft").symlink_to(own)
    os.link(own, tmp_path / "hard")
    store = str(tmp_path / "garden.db")
    assert is_own_file(store, tmp_path / "soft")
    assert is_own_file(store, tmp_path / "hard")


def test_a_store_that_is_named_by_a_link_has_the_files_of_what_it_names(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "garden.db")
    assert is_own_file(str(tmp_path / "link.db"), tmp_path / "garden.db-wal")
    assert is_own_file(str(tmp_path / "link.db"), tmp_path / "link.db")


@pytest.mark.parametrize("name", ["garden", "garden.db.jsonl", "garden.db-searches", "x/garden.db"])
def test_other_files_are_not_of_the_store(tmp_path: Path, name: str) -> None:
    (tmp_path / "garden.db").write_bytes(b"")
    assert not is_own_file(str(tmp_path / "garden.db"), tmp_path / name)
