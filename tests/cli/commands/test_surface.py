"""`dshstore surface`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import cli


def test_the_surface_is_a_node_an_object(garden: Path) -> None:
    done = cli("surface", garden, "bean-bed", "--json")
    assert (done.status, done.err) == (0, "")
    assert done.out == (
        b'{"position":0,"seq":38}\n{"position":1,"seq":42}\n{"position":2,"seq":49}\n'
    )


def test_the_surface_is_as_of_an_event(garden: Path) -> None:
    before = cli("surface", garden, "bean-bed", "--at", "37", "--json").objects
    assert [node["position"] for node in before] == [0, 1, 2, 3]
    assert 38 not in [node["seq"] for node in before]
    after = cli("surface", garden, "bean-bed", "--at", "38", "--json").objects
    assert after == [{"position": 0, "seq": 38}]


def test_people_see_a_table(garden: Path) -> None:
    lines = cli("surface", garden, "bean-bed").text.split("\n")
    assert [line.split() for line in lines[2:5]] == [["0", "38"], ["1", "42"], ["2", "49"]]


def test_an_event_that_is_not_there_is_wrong_usage(garden: Path) -> None:
    done = cli("surface", garden, "bean-bed", "--at", "52")
    assert (done.status, done.out) == (2, b"")
    assert done.err == "dshstore: session 'bean-bed' has no event 52: its events are 0 to 51\n"


def test_a_session_without_a_surface_has_no_lines(garden: Path) -> None:
    assert cli("surface", garden, "seedlings", "--at", "0") == (0, b"", "")
