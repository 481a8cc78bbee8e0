"""`dshstore events`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import cli


@pytest.mark.parametrize("session", ["compost", "seedlings", "frost-watch"])
def test_events_are_those_of_the_log(garden: Path, logs: Path, session: str) -> None:
    [log] = (logs / session).glob("*.jsonl")
    wanted = [json.loads(line) for line in log.read_text().split("\n")[1:-1]]
    for row in wanted:
        if "sourceEventSeqs" in row:
            row["sourceEventSeqs"] = [
                seq
                for item in row["sourceEventSeqs"]
                for seq in (range(item[0], item[1] + 1) if isinstance(item, list) else [item])
            ]
    done = cli("events", garden, session, "--json")
    assert (done.status, done.err) == (0, "")
    assert done.objects == wanted


def test_runs_are_expanded_and_raw_lines_are_not(garden: Path, logs: Path) -> None:
    seqs = [event["seq"] for event in cli("events", garden, "bean-bed", "--json").objects]
    assert seqs == list(range(52))
    log = (logs / "bean-bed" / "session.jsonl").read_bytes()
    raw = cli("events", garden, "bean-bed", "--raw")
    assert raw.out == log[log.index(b"\n") + 1 :]


def test_a_range_holds_both_its_ends(garden: Path) -> None:
    done = cli("events", garden, "bean-bed", "--from", "8", "--to", "11", "--json")
    assert [event["seq"] for event in done.objects] == [8, 9, 10, 11]


def test_a_type_is_asked_for_by_its_name(garden: Path) -> None:
    done = cli("events", garden, "seedlings", "--type", "turn/start", "--json")
    assert [event["data"]["turn"] for event in done.objects] == [1, 2]
    assert cli("events", garden, "seedlings", "--type", "turn", "--json") == (0, b"", "")


def test_a_range_beyond_the_end_is_empty_so_that_one_can_ask_for_more(garden: Path) -> None:
    assert cli("events", garden, "seedlings", "--from", "32", "--json") == (0, b"", "")


@pytest.mark.parametrize("options", [["--from", "9", "--to", "8"], ["--from", "-1"], ["--to", "x"]])
def test_a_range_that_is_none_is_wrong_usage(garden: Path, options: list[str]) -> None:
    done = cli("events", garden, "seedlings", *options)
    assert (done.status, done.out) == (2, b"")


def test_people_see_a_line_an_event(garden: Path) -> None:
    lines = cli("events", garden, "frost-watch").text.split("\n")[:-1]
    assert [int(line.split()[0]) for line in lines] == list(range(8))
    assert lines[0].split() == ["0", "2026-11-18", "00:00:00Z", "turn/start", '{"turn":1}']
