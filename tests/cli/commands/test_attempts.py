"""`dshstore attempts`."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import msgspec
import pytest

import dshstore
from tests.cli.running import cli


def test_the_attempts_of_a_session_are_an_object_each(garden: Path) -> None:
    done = cli("attempts", garden, "seedlings", "--json")
    assert (done.status, done.err) == (0, "")
    with dshstore.open(garden, mode="read") as store:
        expected = list(store.session("seedlings").attempts())
    told = [{"session_id": "seedlings", **msgspec.structs.asdict(one)} for one in expected]
    assert done.objects == json.loads(msgspec.json.encode(told))
    assert [one["outcome"] for one in done.objects].count("failed") == 1


def test_without_a_session_all_are_told(garden: Path) -> None:
    found = {one["session_id"] for one in cli("attempts", garden, "--json").objects}
    with dshstore.open(garden, mode="read") as store:
        assert found == {one.session_id for one in store.sessions()}


def test_a_silence_is_told_when_it_is_longer(garden: Path) -> None:
    [first, *_] = cli("attempts", garden, "seedlings", "--json", "--gap", "0").objects
    assert max(gap["length"] for gap in first["gaps"]) == first["longest_gap"]
    longest = str(first["longest_gap"])
    [first, *_] = cli("attempts", garden, "seedlings", "--json", "--gap", longest).objects
    assert first["gaps"] == []


def test_people_see_a_table(garden: Path) -> None:
    lines = cli("attempts", garden, "seedlings").text.split("\n")
    assert lines[0].startswith("seq  turn  step  outcome  finish")
    assert lines[3].split() == ["14", "1", "2", "failed", "error", "802", "22", "19"]
    named = cli("attempts", garden).text.split("\n")
    assert named[0].startswith("session  ")
    assert any(line.split()[:2] == ["seedlings", "14"] for line in named if line)


def test_a_store_without_attempts_has_no_lines(tmp_path: Path) -> None:
    dshstore.open(tmp_path / "empty.db").close()
    assert cli("attempts", tmp_path / "empty.db") == (0, b"", "dshstore: nothing found\n")


@pytest.mark.parametrize(("form", "delimiter"), [("--csv", ","), ("--tsv", "\t")])
def test_figures_are_separated_below_their_names(garden: Path, form: str, delimiter: str) -> None:
    done = cli("attempts", garden, "seedlings", form)
    head, *rows = csv.reader(io.StringIO(done.text), delimiter=delimiter)
    with dshstore.open(garden, mode="read") as store:
        expected = [msgspec.structs.asdict(one) for one in store.session("seedlings").attempts()]
    names = [name for name in expected[0] if name != "gaps"]
    assert head == ["session_id", *names]
    assert rows == [
        ["seedlings", *("" if one[name] is None else str(one[name]) for name in names)]
        for one in expected
    ]


def test_a_session_that_is_not_there_is_refused(garden: Path) -> None:
    done = cli("attempts", garden, "nobody")
    assert (done.status, done.out) == (3, b"")
    assert "no session 'nobody'" in done.err
