"""Renamed logs, copies of one log, and several generations of one session side by side."""

from __future__ import annotations

from pathlib import Path

import pytest

from dshstore import LogRefused, Store
from tests.cli.running import cli
from tests.situations.conftest import write_session


def test_the_header_counts_where_the_file_name_says_another_version(
    store: Store, logs: Path
) -> None:
    log = logs / "session.v3.jsonl"
    log.write_bytes(write_session("beans", version=0))
    result = store.import_log(log)
    assert (result.outcome, result.format_version) == ("imported", 0)
    [note] = result.notes
    assert "v3" in note
    assert "v0" in note
    assert [path.name for path in logs.iterdir()] == ["session.v3.jsonl"]


@pytest.mark.shared
def test_a_renamed_case_is_imported_by_its_header(store: Store, cases: Path) -> None:
    renamed = (cases / "case-11-bom-crlf.jsonl").rename(cases / "session.v3.jsonl")
    result = store.import_log(renamed)
    assert result.format_version == 0
    assert any("v3" in note and "v0" in note for note in result.notes)


def test_a_copy_changes_nothing_a_longer_one_extends_another_is_named(
    store: Store, logs: Path
) -> None:
    for name, data in {
        "a.jsonl": write_session("beans", 2),
        "b copy.jsonl": write_session("beans", 2),
        "c longer.jsonl": write_session("beans", 3),
        "d other.jsonl": write_session("beans", 3, said="other"),
        "e shorter.jsonl": write_session("beans", 1),
    }.items():
        (logs / name).write_bytes(data)
    outcomes = [(r.outcome, r.events, r.line) for r in store.import_paths([logs])]
    assert outcomes == [
        ("imported", 12, None),
        ("unchanged", 12, None),
        ("extended", 18, None),
        ("refused", 0, 4),
        ("unchanged", 18, None),
    ]
    assert b"".join(store.session("beans").log()) == write_session("beans", 3)


def test_a_conflict_is_named(store: Store, logs: Path) -> None:
    (logs / "a.jsonl").write_bytes(write_session("beans"))
    (logs / "b.jsonl").write_bytes(write_session("beans", said="other"))
    store.import_log(logs / "a.jsonl")
    with pytest.raises(LogRefused, match=r"b\.jsonl: line 4.*conflict.*'beans'"):
        store.import_log(logs / "b.jsonl")


def test_of_a_session_folder_the_highest_generation_is_taken_and_the_others_listed(
    tmp_path: Path, logs: Path
) -> None:
    for version in (0, 2, 4):
        name = f"session.v{version}.jsonl" if version else "session.jsonl"
        (logs / name).write_bytes(write_session("beans", 1, version))
    done = cli("import", tmp_path / "one.db", logs, "--json")
    assert done.status == 0
    assert [(r["outcome"], r["format_version"]) for r in done.objects] == [
        ("skipped", None),
        ("skipped", None),
        ("imported", 4),
    ]
    assert all("v4" in r["reason"] for r in done.objects[:2])
    done = cli("import", tmp_path / "all.db", logs, "--all-generations", "--json")
    assert [r["outcome"] for r in done.objects] == ["imported"] * 3
    [session] = cli("sessions", tmp_path / "all.db", "--json").objects
    assert session["generations"] == [0, 2, 4]


def test_one_session_under_two_paths_is_one(store: Store, logs: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (logs / "session.jsonl").write_bytes(write_session("beans"))
    (other / "elsewhere.jsonl").write_bytes(write_session("beans"))
    results = store.import_paths([logs, other])
    assert [result.outcome for result in results] == ["imported", "unchanged"]
    assert store.info()["sessions"] == 1
