"""`dshstore repair`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import cli


def test_an_interrupted_turn_is_closed_by_these_events(garden: Path) -> None:
    done = cli("repair", garden, "frost-watch", "--json")
    assert (done.status, done.err) == (0, "")
    told = [(event["seq"], event["type"]) for event in done.objects]
    assert told == [(8, "tool/result"), (9, "tool/result"), (10, "step/end"), (11, "turn/end")]
    codes = [event["data"]["error"]["code"] for event in done.objects[:2]]
    assert codes == ["TOOL_OUTCOME_UNKNOWN", "TOOL_NOT_STARTED"]


def test_looking_appends_nothing(garden: Path) -> None:
    cli("repair", garden, "frost-watch")
    assert len(cli("events", garden, "frost-watch", "--json").objects) == 8


def test_people_see_a_line_an_event_and_that_nothing_was_appended(garden: Path) -> None:
    done = cli("repair", garden, "frost-watch")
    assert [line.split()[0] for line in done.text.split("\n")[:-1]] == ["8", "9", "10", "11"]
    assert "nothing was appended" in done.err


def test_a_session_without_an_open_turn_needs_no_repair(garden: Path) -> None:
    assert cli("repair", garden, "seedlings", "--json") == (0, b"", "")
    done = cli("repair", garden, "seedlings")
    assert (done.status, done.out) == (0, b"")
    assert "nothing to repair" in done.err


def test_the_events_are_appended_when_asked_for(own_garden: Path) -> None:
    wanted = cli("repair", own_garden, "frost-watch", "--json").objects
    done = cli("repair", own_garden, "frost-watch", "--apply", "--json")
    assert (done.status, done.objects, done.err) == (0, wanted, "")
    assert cli("events", own_garden, "frost-watch", "--json").objects[8:] == wanted
    again = cli("repair", own_garden, "frost-watch", "--apply")
    assert (again.status, again.out) == (0, b"")
    assert "nothing to repair" in again.err
