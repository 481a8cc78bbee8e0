"""`dshstore import`: what becomes of each input, told to programs and to people."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import cli, program, small_log

BAD = b'{"type":"session","version":4,"id":"bad"}\n'

#: The members of an object of `import --json`, in their order.
MEMBERS = [
    "path",
    "outcome",
    "session_id",
    "format_version",
    "events",
    "added",
    "inherited",
    "notes",
    "reason",
    "line",
    "frame",
    "offset",
]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "new.db"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "a.jsonl"
    path.write_bytes(small_log("a"))
    return path


def test_a_log_makes_the_store_and_its_session(store: Path, log: Path) -> None:
    done = cli("import", store, log, "--json")
    assert (done.status, done.err) == (0, "")
    [result] = done.objects
    assert list(result) == MEMBERS
    assert result == {
        "path": str(log),
        "outcome": "imported",
        "session_id": "a",
        "format_version": 4,
        "events": 5,
        "added": 5,
        "inherited": 0,
        "notes": [],
        "reason": None,
        "line": None,
        "frame": None,
        "offset": None,
    }
    assert cli("export", store, "a").out == log.read_bytes()


def test_a_log_that_grew_extends_its_session(store: Path, log: Path) -> None:
    whole = log.read_bytes()
    log.write_bytes(b"".join(whole.splitlines(keepends=True)[:4]))
    cli("import", store, log)
    log.write_bytes(whole)
    [extended] = cli("import", store, log, "--json").objects
    assert (extended["outcome"], extended["events"], extended["added"]) == ("extended", 5, 2)
    [unchanged] = cli("import", store, log, "--json").objects
    assert (unchanged["outcome"], unchanged["events"], unchanged["added"]) == ("unchanged", 5, 0)


def test_people_read_a_line_a_log_and_a_count(store: Path, logs: Path) -> None:
    done = cli("import", store, logs)
    assert done.status == 0
    lines = done.text.split("\n")[:-1]
    assert len(lines) == 6
    place = logs / "bean-bed" / "session.jsonl"
    assert lines[0] == f"imported   {place}: bean-bed v0, 52 events"
    *notes, counted = done.err.split("\n")[:-1]
    assert counted == "dshstore: 6 logs: 6 imported"
    [note] = notes
    assert note.startswith(f"dshstore: note: {logs / 'rain-barrel' / 'session.v3.jsonl'}: ")
    assert "torn" in note


def test_a_refused_log_is_named_with_place_and_reason_and_stops_no_other(
    store: Path, log: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_bytes(small_log("b") + b"{]\n")
    done = cli("import", store, broken, log)
    assert done.status == 1
    assert done.text == f"imported   {log}: a v4, 5 events\n"
    refused, counted = done.err.split("\n")[:-1]
    size = len(small_log("b"))
    assert refused.startswith(f"dshstore: refused: {broken}: line 7, byte {size}: ")
    assert counted == "dshstore: 2 logs: 1 imported, 1 refused"
    assert [s["session_id"] for s in cli("sessions", store, "--json").objects] == ["a"]


def test_a_refused_log_has_its_place_in_json(store: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_bytes(small_log("b") + b"{]\n")
    done = cli("import", store, broken, "--json")
    assert (done.status, done.err) == (1, "")
    [result] = done.objects
    assert list(result) == MEMBERS
    place = (result["line"], result["frame"], result["offset"])
    assert (result["outcome"], *place) == ("refused", 7, None, len(small_log("b")))
    assert result["reason"]
    assert (result["session_id"], result["events"], result["notes"]) == (None, 0, [])


def test_a_store_is_made_when_every_log_is_refused(store: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_bytes(BAD)
    assert cli("import", store, tmp_path / "bad.jsonl").status == 1
    assert cli("sessions", store, "--json") == (0, b"", "dshstore: nothing found\n")


def test_a_path_that_is_not_there_is_refused(store: Path, log: Path, tmp_path: Path) -> None:
    done = cli("import", store, tmp_path / "none.jsonl", log, "--json")
    assert done.status == 1
    missing, present = done.objects
    assert (missing["outcome"], present["outcome"]) == ("refused", "imported")
    assert missing["path"] == str(tmp_path / "none.jsonl")
    assert "o such file" in missing["reason"]


def test_files_and_folders_are_mixed_and_their_paths_are_as_typed(
    logs: Path, tmp_path: Path
) -> None:
    (tmp_path / "logs").mkdir()
    for name in ("b.jsonl", "a.jsonl"):
        (tmp_path / "logs" / name).write_bytes(small_log(name))
    (tmp_path / "c.jsonl").write_bytes(small_log("c"))
    done = program("import", "x.db", "./c.jsonl", "logs", "--json", cwd=tmp_path)
    paths = [result["path"] for result in done.objects]
    assert paths == ["./c.jsonl", str(Path("logs", "a.jsonl")), str(Path("logs", "b.jsonl"))]


def test_files_of_other_names_are_counted(store: Path, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(small_log("a"))
    (folder / "a.json").write_bytes(small_log("b"))
    done = cli("import", store, folder)
    assert done.err == "dshstore: 1 log: 1 imported; 1 file of another name passed over\n"
    assert cli("import", store, folder, "--json").err == ""
    (folder / "b.jsonl").write_bytes(small_log("b"))
    (folder / "notes.txt").touch()
    counted = cli("import", store, folder, tmp_path / "logs" / "a.json").err.split("\n")[-2]
    assert counted == (
        "dshstore: 3 logs: 1 imported, 2 unchanged; 2 files of another name passed over"
    )


def test_a_folder_without_logs_is_told_and_no_failure(store: Path, tmp_path: Path) -> None:
    done = cli("import", store, tmp_path)
    assert (done.status, done.out) == (0, b"")
    assert done.err.startswith(f"dshstore: {tmp_path}: no logs ")


def test_of_generations_in_a_folder_the_highest_counts(store: Path, tmp_path: Path) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    v4 = small_log("a")
    (folder / "session.v4.jsonl").write_bytes(v4)
    (folder / "session.v3.jsonl").write_bytes(v4.replace(b'"version":4', b'"version":3'))
    lower, higher = cli("import", store, folder, "--json").objects
    assert (lower["outcome"], higher["outcome"]) == ("skipped", "imported")
    assert lower["reason"]
    shown = cli("import", store, folder)
    assert shown.text.startswith(f"skipped    {folder / 'session.v3.jsonl'}: ")
    assert shown.err == "dshstore: 2 logs: 1 unchanged, 1 skipped\n"
    both = cli("import", store, folder, "--all-generations", "--json").objects
    assert [result["outcome"] for result in both] == ["imported", "unchanged"]
    assert cli("sessions", store, "--json").objects[0]["generations"] == [3, 4]


def test_a_dash_is_standard_input(tmp_path: Path) -> None:
    whole = small_log("a")
    done = program("import", "x.db", "-", "--json", stdin=whole, cwd=tmp_path)
    [result] = done.objects
    assert (done.status, result["path"], result["outcome"]) == (0, "-", "imported")
    again = program("import", "x.db", "-", stdin=whole, cwd=tmp_path)
    assert again.text == "unchanged  -: a v4, 5 events\n"
    refused = program("import", "x.db", "-", "--json", stdin=b"{]\n", cwd=tmp_path)
    [result] = refused.objects
    assert (refused.status, result["path"], result["outcome"]) == (1, "-", "refused")
    assert (result["line"], result["offset"]) == (1, 0)


def test_a_limit_that_is_reached_refuses_the_log(store: Path, log: Path) -> None:
    done = cli("import", store, log, "--max-line", "50", "--json")
    assert done.status == 1
    assert done.objects[0]["outcome"] == "refused"
    assert cli("import", store, log, "--max-line", "1K").status == 0


@pytest.mark.parametrize("option", ["--max-line", "--max-decoded", "--max-ratio"])
def test_a_limit_that_is_none_is_wrong_usage(store: Path, log: Path, option: str) -> None:
    done = cli("import", store, log, option, "0")
    assert done.status == 2
    assert option in done.err
    assert not store.exists()


def test_a_newer_format_is_unsupported_and_not_corrupt(store: Path, tmp_path: Path) -> None:
    (tmp_path / "new.jsonl").write_bytes(BAD.replace(b'"version":4', b'"version":9'))
    done = cli("import", store, tmp_path / "new.jsonl")
    assert done.status == 1
    assert "version 9 is not supported" in done.err
    assert "corrupt" not in done.err


def test_a_conflict_is_refused_and_changes_nothing(store: Path, log: Path) -> None:
    cli("import", store, log)
    before = log.read_bytes()
    log.write_bytes(small_log("a", "Something else"))
    done = cli("import", store, log)
    assert done.status == 1
    assert "conflict" in done.err
    assert cli("export", store, "a").out == before


def test_the_source_is_only_read(store: Path, log: Path) -> None:
    log.chmod(0o400)
    before = log.read_bytes()
    assert cli("import", store, log).status == 0
    assert log.read_bytes() == before


def test_what_is_no_store_is_left_alone(log: Path, tmp_path: Path) -> None:
    other = tmp_path / "diary.txt"
    other.write_bytes(b"Sowed beans.\n" * 100)
    done = cli("import", other, log)
    assert (done.status, done.out) == (3, b"")
    assert other.read_bytes() == b"Sowed beans.\n" * 100


def test_no_path_is_wrong_usage(store: Path) -> None:
    assert cli("import", store).status == 2
    assert not store.exists()


@pytest.mark.parametrize(
    "session_id",
    [
        "-a",
        "--json",
        "a b",
        "größe 再等 🌱",
        "quo\"te's",
        "100%_*[a]",
        "new\nline",
        "\x1b[2J",
        "a@v4",
    ],
)
def test_odd_ids_come_in_and_are_found_again(tmp_path: Path, session_id: str) -> None:
    log = tmp_path / "odd.jsonl"
    log.write_bytes(small_log(session_id))
    store = tmp_path / "x.db"
    done = cli("import", store, log)
    assert done.status == 0
    assert done.out.count(b"\n") == 1
    assert b"\x1b" not in done.out
    assert cli("export", store, "--", session_id).out == log.read_bytes()
    assert cli("export", store, "--", f"{session_id}@v4").out == log.read_bytes()
    assert cli("export", store, "--", session_id[:-1] or session_id).out == log.read_bytes()
    [found] = cli("sessions", store, "--json").objects
    assert found["session_id"] == session_id
    listed = cli("sessions", store)
    assert listed.out.count(b"\n") == 3
    assert b"\x1b" not in listed.out
