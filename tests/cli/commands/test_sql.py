"""`dshstore sql`."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from tests.cli.running import cli, program

VALUES = "SELECT 1 AS a, NULL AS b, 'x,\"y\"' AS c, x'00ff' AS d, 0.5 AS e"


def test_a_row_is_an_object(garden: Path) -> None:
    done = cli("sql", garden, VALUES, "--json")
    assert (done.status, done.err) == (0, "")
    blob = {"$base64": True, "encoded": "AP8="}
    assert done.objects == [{"a": 1, "b": None, "c": 'x,"y"', "d": blob, "e": 0.5}]


def test_columns_of_one_name_are_told_apart(garden: Path) -> None:
    done = cli("sql", garden, "SELECT 1 AS a, 2 AS a, 3 AS a_2", "--json")
    assert done.objects == [{"a": 1, "a_2": 2, "a_2_2": 3}]


@pytest.mark.parametrize(("form", "delimiter"), [("--csv", ","), ("--tsv", "\t")])
def test_values_are_separated_below_their_names(garden: Path, form: str, delimiter: str) -> None:
    done = cli("sql", garden, VALUES, form)
    rows = list(csv.reader(io.StringIO(done.text), delimiter=delimiter))
    assert rows == [["a", "b", "c", "d", "e"], ["1", "", 'x,"y"', "x'00ff'", "0.5"]]
    assert b"\r" not in done.out


@pytest.mark.parametrize("form", [[], ["--table"]])
def test_people_see_a_table(garden: Path, form: list[str]) -> None:
    done = cli("sql", garden, VALUES, *form)
    assert [line.split() for line in done.text.split("\n")[:-1]] == [
        ["a", "b", "c", "d", "e"],
        ["-", "-", "-----", "-------", "---"],
        ["1", 'x,"y"', "x'00ff'", "0.5"],
    ]


@pytest.mark.parametrize(
    ("form", "written"), [("--json", ""), ("--csv", "a\n"), ("--table", "a\n-\n")]
)
def test_no_rows_are_no_error(garden: Path, form: str, written: str) -> None:
    assert cli("sql", garden, "SELECT 1 AS a WHERE 0", form) == (0, written.encode(), "")


def test_parameters_are_text_by_their_names(garden: Path) -> None:
    question = "SELECT count(*) AS n FROM surface WHERE session_id = :id AND seq < :end"
    done = cli("sql", garden, question, "-p", "id", "bean-bed", "-p", "end", "45", "--json")
    assert done.objects == [{"n": 2}]
    odd = cli("sql", garden, "SELECT :a AS a", "-p", "a", "'); --", "--json")
    assert odd.objects == [{"a": "'); --"}]


@pytest.mark.parametrize("given", [[], ["-p", "b", "1"]])
def test_a_parameter_that_is_not_given_is_wrong_usage(garden: Path, given: list[str]) -> None:
    done = cli("sql", garden, "SELECT :colour AS a", *given)
    assert (done.status, done.out) == (2, b"")
    assert "colour" in done.err


def test_parameters_without_a_name_have_a_number(garden: Path) -> None:
    question = "SELECT ? AS a, :b AS b, ? AS c"
    done = cli("sql", garden, question, "-p", "3", "z", "-p", "1", "x", "-p", "b", "y", "--json")
    assert done.objects == [{"a": "x", "b": "y", "c": "z"}]
    assert cli("sql", garden, "SELECT ?5 AS a", "-p", "5", "x", "--csv").out == b"a\nx\n"


@pytest.mark.parametrize(
    ("question", "given", "said"),
    [
        ("SELECT ?", [], "no value is given for the parameter ?1"),
        ("SELECT ?, ?", ["1"], "no value is given for the parameter ?2"),
        ("SELECT ?", ["1", "2"], "the SQL has no parameter ?2"),
        ("SELECT :a", ["a", "b"], "the SQL has no parameter :b"),
        ("SELECT 1", ["a"], "the SQL has no parameter :a"),
        ("SELECT :a", ["A"], "no value is given for the parameter :a"),
    ],
)
def test_parameters_that_do_not_fit_are_named(
    garden: Path, question: str, given: list[str], said: str
) -> None:
    words = [word for name in given for word in ("-p", name, "x")]
    done = cli("sql", garden, question, *words, "--csv")
    assert (done.status, done.out) == (2, b"")
    assert said in done.err


@pytest.mark.parametrize("place", [["-"], []])
def test_sql_is_read_from_standard_input(garden: Path, place: list[str]) -> None:
    done = program("sql", garden, *place, "--csv", stdin="SELECT 'größe' AS a;\n".encode())
    assert (done.status, done.text) == (0, "a\ngröße\n")


def test_an_error_in_the_sql_is_shown_at_its_place(garden: Path) -> None:
    done = cli("sql", garden, "SELECT seq,\n  colour\n  FROM events")
    assert (done.status, done.out) == (2, b"")
    assert done.err == "dshstore: no such column: colour\n    colour\n    ^\n"


def test_the_place_of_an_error_is_right_after_wide_characters(garden: Path) -> None:
    done = cli("sql", garden, "SELECT 'größe 再等 🌱', colour")
    assert done.err == (
        "dshstore: no such column: colour\n"
        "  SELECT 'größe 再等 🌱', colour\n"
        "                          ^\n"
    )


def test_the_place_of_an_error_is_near_even_in_a_long_line(garden: Path) -> None:
    done = cli("sql", garden, f"SELECT {'1, ' * 100}colour, {'1, ' * 100}2")
    _, shown, caret, _ = done.err.split("\n")
    assert len(shown) <= 80
    assert shown[caret.index("^") :].startswith("colour, ")


def test_an_error_without_a_place_is_a_sentence(garden: Path) -> None:
    done = cli("sql", garden, "SELECT 1 FROM nowhere.at_all")
    assert done.status == 2
    assert done.err.startswith("dshstore: ")


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM events",
        "UPDATE sessions SET runtime = 'x'",
        "INSERT INTO imports DEFAULT VALUES",
        "DROP TABLE events",
        "CREATE TABLE x (a)",
        "CREATE TEMP TABLE x (a)",
        "ATTACH 'other.db' AS other",
        "VACUUM",
        "PRAGMA user_version = 7",
        "PRAGMA journal_mode = DELETE",
        "BEGIN IMMEDIATE",
    ],
)
def test_nothing_can_be_changed(garden: Path, change: str) -> None:
    before = garden.read_bytes()
    done = cli("sql", garden, change)
    assert (done.status, done.out) == (2, b"")
    assert garden.read_bytes() == before


@pytest.mark.parametrize("form", ["--csv", "--tsv", "--json", "--table"])
@pytest.mark.parametrize(
    "second", ["SELECT 2", "SELECT :a", "nonsense", "DROP TABLE events", ";;2"]
)
def test_statements_come_one_at_a_time(garden: Path, form: str, second: str) -> None:
    done = program("sql", garden, form, stdin=f"SELECT 1;\n{second};".encode())
    assert (done.status, done.out) == (2, b"")
    assert "one statement at a time" in done.err


@pytest.mark.parametrize("rest", [";", " ; -- and no more", "; /* no more */ ; ", "\n;\n"])
def test_what_follows_a_statement_may_be_a_comment(garden: Path, rest: str) -> None:
    assert cli("sql", garden, f"/* first */ SELECT 1 AS a{rest}", "--csv").out == b"a\n1\n"


def test_a_question_without_end_is_given_up(garden: Path) -> None:
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c"
    done = cli("sql", garden, endless, "--timeout", "0.1")
    assert (done.status, done.out) == (2, b"")
    assert "longer than 0.1 s" in done.err


def test_a_time_that_is_none_is_wrong_usage(garden: Path) -> None:
    assert cli("sql", garden, "SELECT 1", "--timeout", "0").status == 2
