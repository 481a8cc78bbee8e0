"""`dshstore sessions`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import cli


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
    assert cli("sessions", tmp_path / "x.db") == (0, b"", "")
    assert cli("sessions", tmp_path / "x.db", "--json") == (0, b"", "")
