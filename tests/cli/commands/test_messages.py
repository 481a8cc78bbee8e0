"""`dshstore messages`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import cli, small_log

UNKNOWN = b'{"type":"weather/report","seq":5,"time":1790000000099,"data":{"sky":"grey"}}\n'


def read(log: Path) -> list[Any]:
    return [json.loads(line) for line in log.read_text().split("\n") if line]


def test_messages_are_those_of_the_log(garden: Path, logs: Path) -> None:
    rows = read(logs / "seedlings" / "session.v4.jsonl")[1:]
    done = cli("messages", garden, "seedlings", "--at", "11", "--json")
    assert (done.status, done.err) == (0, "")
    wanted = [
        row["data"] if row["type"] == "user/message" else row["data"]["message"]
        for row in rows[:12]
        if "surfaceOp" in row
    ]
    assert done.objects == wanted
    for line in done.out.split(b"\n"):
        assert line in (logs / "seedlings" / "session.v4.jsonl").read_bytes()


def test_messages_are_as_of_an_event(garden: Path) -> None:
    now = cli("messages", garden, "bean-bed", "--json").objects
    before = cli("messages", garden, "bean-bed", "--at", "35", "--json").objects
    assert (len(now), len(before)) == (3, 4)
    assert cli("messages", garden, "bean-bed", "--at", "51", "--json").objects == now


def test_people_read_roles_text_and_short_calls(garden: Path) -> None:
    done = cli("messages", garden, "seedlings")
    parts = done.text.split("\n\n")
    assert len(parts) == 9
    assert parts[1] == (
        "[1] user\nPlease look at the seedlings on the south window. "
        "Are they ready for bigger pots?"
    )
    assert parts[2] == (
        "[2] assistant\n(reasoning) Leaf count decides. I need a picture.\n"
        '(call) take_photo {"camera":"south-window"}'
    )
    assert parts[3] == "[3] tool\nsouth-window.jpg, 1024x768\n(image) image/jpeg south-window.jpg"


@pytest.mark.usefixtures("terminal_of_60")
def test_a_terminal_adds_style_and_nothing_else(garden: Path) -> None:
    assert cli("messages", garden, "seedlings", terminal=True) == cli(
        "messages", garden, "seedlings"
    )


@pytest.mark.parametrize("form", [["--json"], []])
def test_required_unknown_events_are_named_and_refused(tmp_path: Path, form: list[str]) -> None:
    (tmp_path / "a.jsonl").write_bytes(small_log("a") + UNKNOWN)
    store = tmp_path / "x.db"
    assert cli("import", store, tmp_path / "a.jsonl").status == 0
    done = cli("messages", store, "a", *form)
    assert (done.status, done.out) == (3, b"")
    assert "weather/report" in done.err
    assert "--allow-unknown" in done.err
    allowed = cli("messages", store, "a", "--allow-unknown", *form)
    assert (allowed.status, allowed.err) == (0, "")
    assert b"Hello" in allowed.out


@pytest.mark.parametrize(("at", "status"), [("32", 2), ("-1", 2), ("x", 2), ("31", 0), ("0", 0)])
def test_an_event_that_is_not_there_is_wrong_usage(garden: Path, at: str, status: int) -> None:
    assert cli("messages", garden, "seedlings", "--at", at).status == status


@pytest.mark.parametrize(
    ("session", "status"),
    [
        ("seedlings", 0),
        ("seedlings@v4", 0),
        ("seedlings-", 0),
        ("comp", 0),
        ("seedlings@v3", 3),
        ("seed", 3),
        ("", 3),
        ("nobody", 3),
    ],
)
def test_a_session_is_a_whole_id_a_generation_or_a_prefix_of_one(
    garden: Path, session: str, status: int
) -> None:
    assert cli("messages", garden, session).status == status


def test_an_ambiguous_prefix_is_told_with_what_it_fits(garden: Path) -> None:
    done = cli("messages", garden, "seed")
    assert "seedlings, seedlings-for-a-neighbour" in done.err


def test_reading_makes_no_store(tmp_path: Path) -> None:
    done = cli("messages", tmp_path / "none.db", "a")
    assert done.status == 3
    assert "no such file" in done.err
    assert list(tmp_path.iterdir()) == []
