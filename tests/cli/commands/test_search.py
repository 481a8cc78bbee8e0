"""`dshstore search`."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from dshstore.cli.output import display_width
from tests.bound import run_bound
from tests.cli.running import cli, program, small_log


def test_a_hit_is_where_it_is_and_what_stands_there(own_garden: Path) -> None:
    done = cli("search", own_garden, "runner", "beans")
    assert (done.status, done.err) == (0, "")
    assert done.text == (
        "bean-bed  event 3  turn 1  title  2026-08-01 08:00:00Z  log-only\n"
        "  Watering the [runner] [beans]\n"
        "\n"
        "bean-bed  event 2  turn 1  user  2026-08-01 08:00:00Z  shadowed by 38\n"
        "  The [runner] [beans] by the fence look thirsty. Could you check the soil and tell me "
        "how long to water?\n"
        "\n"
        "bean-bed  event 38  user  2026-08-01 08:01:32Z  surface\n"
        "  What was said so far, in short: [Runner] [beans]: soil at 14 %, advised 12 minutes of "
        "water at the foot of the plants in the evening.\n"
    )


def test_a_terminal_needs_no_brackets(own_garden: Path, terminal_of_60: None) -> None:
    done = cli("search", own_garden, '"runner beans"', terminal=True)
    assert "  Watering the runner beans\n" in done.text


def test_hits_are_objects_or_values(own_garden: Path) -> None:
    [hit] = cli("search", own_garden, "再等一周", "--json").objects
    assert hit.pop("score") < 0
    assert hit == {
        "session_id": "seedlings",
        "format_version": 4,
        "seq": 17,
        "turn": 1,
        "role": "assistant",
        "time": 1793520004607,
        "state": "surface",
        "shadowed_by": None,
        "snippet": "Six of the eight are ready. Give the other two one more week: [再等一周]。",
    }
    [head, row] = csv.reader(io.StringIO(cli("search", own_garden, "再等一周", "--csv").text))
    assert dict(zip(head, row, strict=True))["snippet"] == hit["snippet"]


@pytest.mark.parametrize("form", [[], ["--json"], ["--like"]])
def test_nothing_found_is_a_word_on_stderr(own_garden: Path, form: list[str]) -> None:
    done = cli("search", own_garden, "dahlias", *form)
    assert done == (0, b"", "dshstore: nothing found\n")


def test_nothing_found_tells_where_it_was_looked_for(own_garden: Path) -> None:
    narrowed = ("--project", "/srv/x/", "--since", "2026-08-01", "--role", "user")
    done = cli("search", own_garden, "beans", *narrowed)
    assert done.err == (
        "dshstore: nothing found with --role user, --project /srv/x/,"
        " --since 2026-08-01 00:00:00Z\n"
    )
    done = cli("compactions", own_garden, "seedlings")
    assert done.err == "dshstore: nothing found in session seedlings\n"


def seqs(garden: Path, *options: str) -> list[int]:
    done = cli("search", garden, "--json", *options)
    assert (done.status, done.err == "") == (0, done.out != b"")
    return sorted(hit["seq"] for hit in done.objects if hit["session_id"] == "bean-bed")


def test_hits_are_chosen(own_garden: Path) -> None:
    assert seqs(own_garden, "beans") == [2, 3, 33, 38]
    assert len(seqs(own_garden, "beans", "-n", "1")) <= 1
    assert seqs(own_garden, "beans", "--state", "surface") == [38]
    assert seqs(own_garden, "beans", "--role", "title", "--role", "assistant") == [3, 33]
    assert seqs(own_garden, "beans", "--session", "compost") == []
    assert seqs(own_garden, "beans", "--project", "/srv", "--since", "2026-08-01T08:01") == [38]
    assert 21 in seqs(own_garden, "moisture", "--tools")
    assert seqs(own_garden, "moisture") == []
    assert seqs(own_garden, "moisture", "--role", "tool") == [21]
    assert set(seqs(own_garden, "moisture", "--all")) >= {21}
    assert seqs(own_garden, "--like", "14 % is") == [33]
    assert seqs(own_garden, "--rebuild", "beans") == [2, 3, 33, 38]


def test_a_query_that_means_nothing_is_wrong_usage_and_shown(own_garden: Path) -> None:
    done = cli("search", own_garden, "beans OR")
    assert (done.status, done.out) == (2, b"")
    assert done.err == (
        "dshstore: OR needs a word before and after it; to look for the word itself, put it in "
        'quotes: "OR"\n  beans OR\n        ^\n'
    )
    for query in ("水" * 20_000, "beans " * 20_000, "a OR (" + "\u202e再" * 90, "a AND AND " * 9):
        done = cli("search", own_garden, query)
        assert done.status == 2
        assert all(display_width(line) <= 80 for line in done.err.split("\n")[1:])
    assert cli("search", own_garden, "!!!").status == 2
    assert cli("search", own_garden).status == 2
    assert cli("search", own_garden, "x", "--session", "nobody").status == 3
    assert cli("search", own_garden.with_name("none.db"), "x").status == 3


def test_control_characters_stay_in_the_log(tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    log.write_bytes(small_log("a", "red \x1b[31m beans\u202e\x07"))
    cli("import", tmp_path / "x.db", log)
    assert "red \\u001b[31m [beans]\\u202e\\u0007" in cli("search", tmp_path / "x.db", "beans").text
    for form in ("--csv", "--tsv"):  # a program has the values, a person is safe
        done = cli("search", tmp_path / "x.db", "beans", form)
        assert "[beans]\u202e\x07" in done.text
        done = cli("search", tmp_path / "x.db", "beans", form, terminal=True)
        assert "red \\u001b[31m [beans]\\u202e\\u0007" in done.text


@pytest.fixture
def shut(own_garden: Path) -> Iterator[Path]:
    """A store in a folder in which nothing can be written."""
    own_garden.parent.chmod(0o555)
    yield own_garden
    own_garden.parent.chmod(0o755)


def test_a_folder_that_cannot_be_written_costs_a_word_on_stderr(shut: Path) -> None:
    done = run_bound("search", shut, "runner beans")
    assert (done.returncode, done.stdout.count("[beans]")) == (0, 3)
    assert done.stderr.startswith(f"dshstore: the search index {shut}-search cannot be kept")
    assert done.stderr.count("\n") == 1
    assert [path.name for path in shut.parent.iterdir()] == [shut.name]


def test_an_index_that_is_in_step_serves_where_nothing_can_be_written(own_garden: Path) -> None:
    cli("search", own_garden, "beans")
    own_garden.parent.chmod(0o555)
    done = run_bound("search", own_garden, "runner beans")
    own_garden.parent.chmod(0o755)
    assert (done.returncode, done.stdout.count("[beans]"), done.stderr) == (0, 3, "")


def test_a_query_that_is_not_utf8_is_a_query(own_garden: Path) -> None:
    done = program("search", own_garden, b"beans\xff", "--json")
    assert (done.status, done.err) == (0, "")
    assert len(done.objects) == 4
