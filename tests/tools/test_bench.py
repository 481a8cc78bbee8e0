"""The benchmark runs and measures the right things; how fast anything was is no matter here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bench.clock import Clock, Failed, Span, check, run_alone, take_turns, time_calls
from bench.peers.beside import USERS
from bench.report import HEADINGS, Demand, Row, cells, compare_spans, markdown, summary, table, told

ROOT = Path(__file__).parents[2]


def run_bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bench", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT / "tools")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What a run of the smallest size says; both sides of each comparison are checked in it."""
    done = run_bench("--tiny", "--json", "--folder", str(tmp_path_factory.mktemp("bench")))
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_every_demand_has_its_row(measured: list[dict[str, Any]]) -> None:
    assert Counter(row["group"] for row in measured) == {
        "import": 4,
        "export": 2,
        "size": 2,
        "memory": 2,
        "append": 11,
        "derive": 4,
        "open": 2,
        "replace": 1,
        "fork": 6,
        "start": 2,
    }
    assert all(row["ratio"] > 0 and row["demand"] for row in measured)


def test_what_is_too_small_to_judge_is_not_judged(measured: list[dict[str, Any]]) -> None:
    verdicts = {row["verdict"] for row in measured if row["group"] in ("import", "fork")}
    assert "asked at 1,000,000 events" in verdicts
    assert "asked at 100,000 events" in verdicts


def test_an_unknown_comparison_is_named() -> None:
    done = run_bench("speed")
    assert done.returncode == 2
    assert "no comparison is called speed" in done.stderr


def test_logs_and_only_logs_are_kept_from_run_to_run(tmp_path: Path) -> None:
    assert run_bench("derive", "--tiny", "--folder", str(tmp_path)).returncode == 0
    kept = {path.name.split("-")[0] for path in tmp_path.iterdir()}
    assert kept == {"messages"}


# -- how ratios are told --


def test_a_demand_is_a_bound_that_may_be_reached() -> None:
    assert Demand(1.5).is_met(1.5)
    assert not Demand(1.5).is_met(1.51)
    assert Demand(1.0, at_least=True).is_met(1.0)
    assert not Demand(1.0, at_least=True).is_met(0.99)


def test_the_ratio_is_of_medians_and_a_throughput_is_the_inverse_of_a_time() -> None:
    ours = [Span(cpu, 8.0) for cpu in (4.0, 2.0, 100.0)]
    theirs = [Span(cpu, 2.0) for cpu in (2.0, 2.0, 2.0)]
    row = compare_spans("g", "what", ("a", ours, "b", theirs), Demand(1.5))
    assert (row.ratio, row.wall, row.spread) == (2.0, 4.0, (1.0, 50.0))
    row = compare_spans("g", "what", ("a", ours, "b", theirs), Demand(0.5, at_least=True))
    assert (row.ratio, row.wall, row.verdict) == (0.5, 0.25, "met")


def test_a_missed_demand_is_said_in_the_table_and_in_the_summary() -> None:
    rows = [
        Row("g", "one", "a", "b", 2.0, Demand(1.5)),
        Row("g", "two", "a", "b", 1.0, Demand(1.5)),
        Row("g", "three", "a", "b", 9.0, Demand(1.5, events=10), events=5),
    ]
    lines = list(table(HEADINGS, map(cells, rows)))
    assert [line.split()[-1] for line in lines[2:4]] == ["MISSED", "met"]
    assert lines[4].endswith("asked at 10 events")
    assert list(markdown(HEADINGS, map(cells, rows)))[2].endswith("| MISSED |")
    assert summary(rows) == "1 of 2 demands met\nMISSED: one: 2, asked <= 1.5"


@pytest.mark.parametrize(
    ("seconds", "words"), [(2.5, "2.5 s"), (0.25, "250 ms"), (0.0025, "2.5 ms"), (2.5e-6, "2.5 us")]
)
def test_a_time_is_told_in_the_unit_that_suits_it(seconds: float, words: str) -> None:
    assert told(seconds) == words


# -- how it is measured --


def test_sides_take_turns() -> None:
    calls: list[str] = []
    take_turns({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, 2)
    assert "".join(calls) == "ab" * 3  # the first turn is not counted


def test_calls_are_numbered_and_those_of_the_first_turn_do_not_count() -> None:
    numbers: list[int] = []
    times = time_calls({"a": numbers.append}, turns=2, calls=3)
    assert numbers == list(range(9))
    assert len(times["a"]) == 6
    assert len(time_calls({"a": numbers.append}, turns=2, calls=4, group=2)["a"]) == 4


def test_phases_of_one_name_add_up() -> None:
    clock = Clock()
    for _ in range(2):
        with clock("part"):
            sum(range(1000))
    assert list(clock.spans) == ["part"]
    assert clock.spans["part"].wall > 0


def test_a_wrong_answer_stops_the_run() -> None:
    check(1, 1, "events")
    with pytest.raises(Failed, match="events: 2 instead of 1"):
        check(2, 1, "events")


def test_what_fails_in_its_own_process_fails_here_with_its_words(tmp_path: Path) -> None:
    with pytest.raises(Failed, match="FileNotFoundError"):
        run_alone("reference:parse_and_fold", log=str(tmp_path / "none.jsonl"))


# -- other libraries, as far as they are here without being asked for --


@pytest.mark.parametrize("peer", ["store:Queued", "store:Full", "store:Normal", "table:Full"])
def test_a_peer_reads_the_messages_that_it_appended(peer: str, tmp_path: Path) -> None:
    path = str(tmp_path / "a.db")
    done = run_alone("peers.driving:drive", peer=peer, path=path, size=6, seconds=60)
    assert set(done.spans) == {"append", "read"}
    assert done.answer["count"] == 6
    assert done.answer["file"] > done.answer["text"] > 6 * 500


def test_who_takes_too_long_stops_after_a_whole_turn(tmp_path: Path) -> None:
    path = str(tmp_path / "a.db")
    done = run_alone("peers.driving:drive", peer="table:Normal", path=path, size=10**6, seconds=0.1)
    assert 0 < done.answer["count"] < 10**6
    assert done.answer["count"] % 2 == 0


def test_every_way_to_use_a_library_is_a_class_in_a_module_of_its_own() -> None:
    folder = ROOT / "tools" / "bench" / "peers"
    for user in USERS:
        module, name = user.peer.split(":")
        assert f"class {name}(" in (folder / f"{module}.py").read_text(encoding="utf-8")
