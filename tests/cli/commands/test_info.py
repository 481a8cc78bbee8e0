"""`dshstore info`."""

from __future__ import annotations

from pathlib import Path

import dshstore
from tests.cli.running import cli


def test_a_store_is_told_as_one_object(garden: Path) -> None:
    done = cli("info", garden, "--json")
    assert (done.status, done.err) == (0, "")
    [info] = done.objects
    assert info["dshstore_version"] == dshstore.__version__
    assert info["path"] == str(garden)
    assert (info["sessions"], info["events"]) == (6, 147)
    assert info["schema_version"] >= 1


def test_people_see_a_fact_a_line(garden: Path) -> None:
    facts = dict(line.split(maxsplit=1) for line in cli("info", garden).text.split("\n")[2:-1])
    assert facts["sessions"] == "6"


def test_a_file_that_is_no_store_is_told(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("a diary")
    done = cli("info", tmp_path / "x")
    assert (done.status, done.out) == (3, b"")
    assert "not a dshstore store" in done.err
