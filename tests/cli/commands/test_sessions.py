"""`dshstore sessions`."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import dshstore
from tests.cli.running import cli, program, small_log
from tests.loading import loaded_by


def test_each_session_is_an_object_the_youngest_first(garden: Path) -> None:
    done = cli("sessions", garden, "--json")
    assert (done.status, done.err) == (0, "")
    times = [session["last_time"] for session in done.objects]
    assert times == sorted(times, reverse=True)
    by_id = {session["session_id"]: session for session in done.objects}
    assert len(by_id) == 6
    neighbour = by_id["seedlings-for-a-neighbour"]
    assert (neighbour["format_version"], neighbour["generations"]) == (4, [4])
    assert (neighbour["events"], neighbour["inherited"]) == (27, 20)
    assert by_id["frost-watch"]["open_turn"] == 1
    assert by_id["bean-bed"]["open_turn"] is None


def test_people_see_a_line_a_session(garden: Path) -> None:
    head, _, *lines = cli("sessions", garden).text.split("\n")[:-1]
    assert head.split()[:5] == ["session", "format", "turns", "events", "surface"]
    [bean_bed] = [line for line in lines if line.startswith("bean-bed ")]
    assert bean_bed.split()[1:5] == ["v0", "2", "52", "3"]
    assert bean_bed.endswith("  Watering the runner beans")
    [frost] = [line for line in lines if line.startswith("frost-watch ")]
    assert frost.endswith("(turn 1 is open)")


def test_a_store_without_sessions_lists_none(tmp_path: Path) -> None:
    cli("init", tmp_path / "x.db")
    assert cli("sessions", tmp_path / "x.db") == (0, b"", "dshstore: nothing found\n")
    assert cli("sessions", tmp_path / "x.db", "--json") == (0, b"", "dshstore: nothing found\n")
    assert cli("sessions", tmp_path / "x.db", "--csv").text.startswith("session_id,")


def ids(garden: Path, *options: str) -> list[str]:
    done = cli("sessions", garden, "--json", *options)
    assert (done.status, done.err == "") == (0, done.out != b"")
    return [session["session_id"] for session in done.objects]


def test_sessions_are_chosen_by_what_was_written_in_them(garden: Path) -> None:
    assert ids(garden, "--text", "RUNNER beans") == ["bean-bed"]
    assert ids(garden, "--text", "再等一周") == ["seedlings", "seedlings-for-a-neighbour"]
    assert ids(garden, "--text", 'said "so') == []


def test_a_text_is_found_as_it_was_written_not_as_json_spells_it(tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    log.write_bytes(small_log("a", 'he said "so"\tand left'))
    cli("import", tmp_path / "x.db", log)
    assert ids(tmp_path / "x.db", "--text", 'said "so"\tand') == ["a"]


def test_sessions_are_chosen_by_project_model_and_time(garden: Path) -> None:
    assert len(ids(garden, "--project", "/srv/garden")) == 6
    assert len(ids(garden, "--project", "/srv/")) == 6
    assert len(ids(garden, "--project", "/")) == 6
    assert ids(garden, "--project", "/srv/gard") == []
    assert len(ids(garden, "--project", "//srv/garden/compost/..//.")) == 6
    assert ids(garden, "--model", "Reasoner") == ["seedlings", "seedlings-for-a-neighbour"]
    assert ids(garden, "--since", "2026-11-02") == ["frost-watch", "seedlings"]
    assert ids(garden, "--since", "2026-11-02T08:00:06+00:00") == ["frost-watch"]
    assert ids(garden, "--since", "5200w", "-n", "1") == ["frost-watch"]


def test_a_project_is_meant_from_where_one_stands(tmp_path: Path) -> None:
    folder = tmp_path / "garden"
    (folder / "beds").mkdir(parents=True)
    (tmp_path / "link").symlink_to(folder)
    with dshstore.open(tmp_path / "x.db") as store:
        store.create(session_id="a", cwd=str(folder)).close()
        store.create(session_id="b", cwd="C:\\garden").close()
    for where, project, found in (
        (folder, ".", "a"),
        (folder / "beds", "..", "a"),
        (tmp_path, "garden/", "a"),
        (tmp_path, "link", None),
        (tmp_path, "C:\\garden", "b"),
    ):
        done = program("sessions", tmp_path / "x.db", "--project", project, "--json", cwd=where)
        assert [one["session_id"] for one in done.objects] == ([found] if found else [])


def test_a_time_that_is_none_is_wrong_usage(garden: Path) -> None:
    for value in ("soon", "5x", "d", ""):
        assert cli("sessions", garden, "--since", value).status == 2


def test_values_are_separated_below_their_names(garden: Path) -> None:
    head, *rows = csv.reader(io.StringIO(cli("sessions", garden, "--csv").text))
    found = [dict(zip(head, row, strict=True)) for row in rows]
    assert [row["session_id"] for row in found] == ids(garden)
    assert found[-1]["tokens"] == "1842"


def test_it_loads_what_it_needs_and_no_more(garden: Path) -> None:
    code = "import sys; from dshstore.cli.process import run; assert run(sys.argv[1:]) == 0"
    loaded = loaded_by(code, "sessions", str(garden))
    engine = {name for name in loaded if name.startswith("dshstore.engine.")}
    assert engine == {"dshstore.engine.choosing", "dshstore.engine.overview"}
    assert not loaded & {"rich", "zstandard", "dshstore.jsontext", "dshstore.session"}
