"""One bad log among many: it stops no other, and is counted and named."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from tests.cli.running import cli
from tests.situations.conftest import write_session

#: What becomes of each kind of broken log without salvage, and with it.
BROKEN = {
    "empty": (b"", "refused", "refused"),
    "words": (b"words\n", "refused", "refused"),
    "headless": (write_session("headless").partition(b"\n")[2], "refused", "salvaged"),
    "newer": (b'{"type":"session","version":9}\n', "refused", "refused"),
    "gap": (write_session("gap").replace(b'"seq":3', b'"seq":9'), "refused", "salvaged"),
    "torn": (write_session("torn")[:-7], "imported", "imported"),
}


@pytest.fixture
def folder(logs: Path) -> Path:
    for name, (data, *_) in BROKEN.items():
        (logs / f"{name}.jsonl").write_bytes(data)
    (logs / "beans.jsonl").write_bytes(write_session("beans"))
    (logs / "peas.jsonl").write_bytes(write_session("peas"))
    os.mkfifo(logs / "pipe.jsonl")
    return logs


@pytest.mark.parametrize("salvage", [False, True])
def test_every_log_has_its_own_outcome(folder: Path, tmp_path: Path, salvage: bool) -> None:
    options = ["--salvage"] if salvage else []
    done = cli("import", tmp_path / "store.db", folder, "--json", *options)
    assert done.status == 1
    outcomes = {Path(r["path"]).stem: r["outcome"] for r in done.objects}
    assert outcomes == {
        **{name: expected[salvage] for name, (_, *expected) in BROKEN.items()},
        "beans": "imported",
        "peas": "imported",
        "pipe": "skipped",
    }
    listed = cli("sessions", tmp_path / "store.db", "--json")
    assert listed.status == 0
    expected = {"beans", "peas", "torn", *(["gap"] if salvage else [])}
    assert {session["session_id"] for session in listed.objects} == expected


def test_for_people_the_end_counts_the_outcomes(folder: Path, tmp_path: Path) -> None:
    done = cli("import", tmp_path / "store.db", folder)
    counts = Counter(outcome for _, outcome, _ in BROKEN.values())
    assert f"{counts['refused']} refused" in done.err
    for name, (_, outcome, _) in BROKEN.items():
        if outcome == "refused":
            assert f"refused: {folder / name}.jsonl" in done.err


@pytest.mark.shared
def test_the_folder_of_cases_goes_in_at_once(cases: Path, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in cases.iterdir()}
    done = cli("import", tmp_path / "store.db", cases, "--json")
    assert done.status == 1
    refused = {Path(r["path"]).name[:7] for r in done.objects if r["outcome"] == "refused"}
    assert refused == {"case-17", "case-20", "case-21", "case-25"}
    assert all(r["reason"] and r["line"] for r in done.objects if r["outcome"] == "refused")
    assert {path: path.read_bytes() for path in cases.iterdir()} == before
