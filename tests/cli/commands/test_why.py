"""`dshstore why`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import cli


def test_people_read_a_tree(garden: Path) -> None:
    done = cli("why", garden, "bean-bed", "38")
    assert (done.status, done.err) == (0, "")
    lines = done.text.split("\n")
    assert lines[0].startswith("38  user/message  2026-08-01 08:01:32Z  What was said so far")
    assert lines[1] == "  on the surface"
    begins = [line.split("  2026")[0] for line in lines[2:]]
    assert begins == [
        "  took the place of",
        "    2  user/message",
        "    19  assistant/message",
        "    21  tool/result",
        "    33  assistant/message",
        "  made of",
        "    36  compaction/start",
        "    37  compaction/summary",
        "    2  user/message",
        "    19  assistant/message",
        "      6..18  assistant/chunk",
        "    21  tool/result",
        "      20  tool/call",
        "    33  assistant/message",
        "      24..32  assistant/chunk",
        "",
    ]


def test_a_result_names_its_call_and_what_stands_for_it(garden: Path) -> None:
    lines = cli("why", garden, "bean-bed", "21").text.split("\n")
    assert lines[1:3] == ["  no longer on the surface", "  its call"]
    assert lines[3].startswith('    20  tool/call  2026-08-01 08:00:00Z  read_sensor {"sensor"')
    assert lines[4].endswith("  (now: 38)")
    assert lines[5] == "  its place was taken by"
    assert lines[6].startswith("    38  user/message")


def test_json_is_one_object(garden: Path) -> None:
    [found] = cli("why", garden, "bean-bed", "21", "--json").objects
    assert list(found) == [
        "session_id",
        "format_version",
        "event",
        "sources",
        "shadowed",
        "shadowed_by",
        "cited_by",
        "call",
        "message",
    ]
    assert found["event"] == {
        "seq": 21,
        "count": 1,
        "type": "tool/result",
        "time": 1785571200917,
        "text": "soil/bean-bed: 14 % moisture, 21 °C, measured 2 minutes ago",
        "state": "shadowed",
        "now": 38,
        "cites": [20],
    }
    assert (found["call"]["seq"], found["message"]["seq"]) == (20, 19)


def test_a_seq_that_is_not_there_is_status_2(garden: Path) -> None:
    done = cli("why", garden, "bean-bed", "52")
    assert (done.status, done.out) == (2, b"")
    assert "has no event 52" in done.err
