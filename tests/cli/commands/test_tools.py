"""`dshstore tools`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import cli


def test_a_row_is_a_tool_the_busiest_first(garden: Path) -> None:
    done = cli("tools", garden, "--json")
    assert (done.status, done.err) == (0, "")
    assert [row["tool"] for row in done.objects] == [
        "read_sensor",
        "drive",
        "take_photo",
        "write_note",
    ]
    assert done.objects[0] == {
        "tool": "read_sensor",
        "calls": 4,
        "errors": 1,
        "open": 0,
        "error_rate": 0.25,
        "mean_duration": 930,
        "longest_duration": 3180,
        "total_duration": 3720,
    }


def test_a_call_that_is_open_has_no_error_rate(garden: Path) -> None:
    [drive] = cli("tools", garden, "frost", "--json").objects
    assert (drive["calls"], drive["open"], drive["error_rate"]) == (2, 2, None)


def test_a_fork_that_is_asked_for_has_its_inherited_calls(garden: Path) -> None:
    [row] = cli("tools", garden, "seedlings-for", "--json").objects
    assert (row["tool"], row["calls"]) == ("take_photo", 1)


def test_people_see_percents(garden: Path) -> None:
    lines = cli("tools", garden, "-n", "1").text.split("\n")
    assert lines[2].split() == ["read_sensor", "4", "1", "25.0", "%", "0", "930", "3180", "3720"]
    assert len(lines) == 4
