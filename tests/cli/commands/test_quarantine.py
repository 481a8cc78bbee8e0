"""What `import --salvage` sets aside, and `quarantine` lists and gives back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import cli, program, small_log

#: The members of an object of `quarantine --json`, in their order.
MEMBERS = [
    "id",
    "path",
    "session_id",
    "format_version",
    "kind",
    "branch",
    "seq",
    "line",
    "frame",
    "offset",
    "size",
    "reason",
]


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A log with a bad line, and with one event missing."""
    lines = small_log("broken", "one", "two", "three").split(b"\n")
    path = tmp_path / "broken.jsonl"
    path.write_bytes(b"\n".join([*lines[:3], b"garb\x1bage", *lines[4:]]))
    return path


@pytest.fixture
def store(tmp_path: Path, broken: Path) -> Path:
    """A store into which two broken logs were salvaged."""
    headless = tmp_path / "headless.jsonl"
    headless.write_bytes(small_log("x").partition(b"\n")[2])
    path = tmp_path / "new.db"
    assert cli("import", path, broken, headless, "--salvage").status == 0
    return path


def test_a_refusal_says_what_salvage_would_keep(tmp_path: Path, broken: Path) -> None:
    done = cli("import", tmp_path / "other.db", broken)
    assert done.status == 1
    assert "--salvage would keep events 0..1 and set 4 records and 1 piece" in done.err


def test_a_salvaged_log_is_told_with_notes(tmp_path: Path, broken: Path) -> None:
    done = cli("import", tmp_path / "other.db", broken, "--salvage")
    assert done.status == 0
    assert done.text == f"salvaged   {broken}: broken v4, 2 events\n"
    assert "set aside: 4 records and 1 piece of 8 bytes" in done.err


def test_as_json_a_salvage_has_the_first_fault_and_its_place(tmp_path: Path, broken: Path) -> None:
    [result] = cli("import", tmp_path / "other.db", broken, "--salvage", "--json").objects
    assert (result["outcome"], result["events"], result["line"]) == ("salvaged", 2, 4)
    assert "JSON" in result["reason"]


def test_standard_input_can_be_salvaged(tmp_path: Path, broken: Path) -> None:
    done = program("import", tmp_path / "o.db", "-", "--salvage", stdin=broken.read_bytes())
    assert done.status == 0
    assert done.text.startswith("salvaged   -: broken v4")


def test_as_json_every_piece_is_an_object(store: Path) -> None:
    done = cli("quarantine", store, "--json")
    assert (done.status, done.err) == (0, "")
    assert all(list(piece) == MEMBERS for piece in done.objects)
    kinds = [(piece["session_id"], piece["kind"], piece["seq"]) for piece in done.objects]
    assert kinds == [
        ("broken", "debris", None),
        *(("broken", "record", seq) for seq in range(3, 7)),
        *((None, "record", seq) for seq in range(5)),
    ]


def test_one_session_or_kind_alone(store: Path) -> None:
    assert len(cli("quarantine", store, "broken", "--json").objects) == 5
    assert len(cli("quarantine", store, "--kind", "debris", "--json").objects) == 1
    assert cli("quarantine", store, "--branch", "1", "--json").out == b""
    assert cli("quarantine", store, "maize").status == 3


def test_the_bytes_come_back(store: Path, broken: Path) -> None:
    lines = broken.read_bytes().split(b"\n")
    assert cli("quarantine", store, "broken", "--raw").out == b"\n".join(lines[3:])


def test_for_people_it_is_a_table_without_control_characters(store: Path) -> None:
    done = cli("quarantine", store)
    assert done.status == 0
    head, *_ = done.text.split("\n")
    assert head.split() == [
        "id",
        "kind",
        "branch",
        "seq",
        "line",
        "frame",
        "byte",
        "size",
        "reason",
        "log",
    ]
    assert "\x1b" not in done.text


def test_a_store_without_quarantine_says_nothing(tmp_path: Path) -> None:
    cli("init", tmp_path / "empty.db")
    assert cli("quarantine", tmp_path / "empty.db") == (0, b"", "")
