"""`dshstore compactions`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import cli


def test_a_row_is_a_message_that_took_the_place_of_others_the_latest_first(garden: Path) -> None:
    done = cli("compactions", garden, "--json")
    assert (done.status, done.err) == (0, "")
    prune, summary = done.objects
    assert (prune["session_id"], prune["seq"], prune["kind"]) == ("compost", 14, "prune")
    assert prune["summary"] == "compost/core, last value: 59 °C"
    summary.pop("summary")
    assert summary == {
        "session_id": "bean-bed",
        "seq": 38,
        "time": 1785571292650,
        "kind": "summary",
        "nodes": 4,
        "first_seq": 2,
        "last_seq": 33,
        "characters_before": 590,
        "characters_after": 181,
        "tokens_before": 318,
        "tokens_after": 25,
        "compaction_id": "cc952feb-6bca-5c93-bd9d-c18530faa790",
    }


def test_one_session_is_chosen(garden: Path) -> None:
    [row] = cli("compactions", garden, "compost", "--json").objects
    assert row["session_id"] == "compost"
    assert cli("compactions", garden, "seedlings").out == b""


def test_people_see_the_summary_begin(garden: Path) -> None:
    lines = cli("compactions", garden, "bean-bed").text.split("\n")
    assert lines[2].startswith("bean-bed   38  2026-08-01 08:01:32Z  summary      4")
    assert lines[2].endswith("What was said so far, in short:\\nRunner beans: soil at 14 %,…")
