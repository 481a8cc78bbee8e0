"""Tables in plain columns, and drawn on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import redirect_stdout
from typing import Any

import pytest

from dshstore.cli.tables import cell_text, write_table
from tests.cli.running import Stream


def write(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], *, terminal: bool = False
) -> list[str]:
    stdout = Stream(terminal=terminal)
    with redirect_stdout(stdout):
        write_table(columns, rows)
    return stdout.written.decode().split("\n")[:-1]


@pytest.mark.parametrize(
    ("value", "text"), [(None, ""), (b"\x00\xff", "x'00ff'"), (1, "1"), (0.5, "0.5"), ("a", "a")]
)
def test_sql_values_have_their_text(value: object, text: str) -> None:
    assert cell_text(value) == text


def test_numbers_stand_to_the_right_and_text_to_the_left() -> None:
    assert write(("name", "count"), [("runner beans", 7), ("再等", None), ("x", 12345678)]) == [
        "name             count",
        "------------  --------",
        "runner beans         7",
        "再等",
        "x             12345678",
    ]


def test_a_table_without_rows_has_its_head() -> None:
    assert write(("a", "bc"), []) == ["a  bc", "-  --"]
    assert write((), []) == []


def test_a_cell_is_one_line_whatever_is_in_it() -> None:
    assert write(("a",), [("x\ny\x1b[2J",)])[2:] == ["x\\ny\\u001b[2J"]


def test_a_very_long_cell_does_not_move_what_others_have_beside_them() -> None:
    lines = write(("a", "b"), [("x" * 500, "y"), ("x", "y")])
    assert lines[2] == f"{'x' * 500}  y"
    assert lines[3].index("y") == 62


def test_rows_are_taken_as_they_come() -> None:
    taken = []

    def rows() -> Iterable[tuple[int]]:
        for i in range(3000):
            taken.append(i)
            yield (i,)
        raise RuntimeError("the end")

    stdout = Stream()
    with redirect_stdout(stdout), pytest.raises(RuntimeError):
        write_table(("a",), rows())
    assert len(taken) == 3000
    assert stdout.written.split(b"\n")[-2].strip() == b"2999"


@pytest.mark.usefixtures("terminal_of_60")
def test_a_terminal_folds_long_cells_and_keeps_short_ones_whole() -> None:
    lines = write(("id", "text"), [("a" * 36, "word " * 20)], terminal=True)
    assert all(len(line) <= 60 for line in lines)
    assert [line for line in lines if "a" * 36 in line]
    assert "".join(lines).count("word") == 20


@pytest.mark.usefixtures("terminal_of_60")
def test_a_terminal_too_narrow_for_a_table_cuts_nothing() -> None:
    lines = write([f"c{i}" for i in range(20)], [["a" * 10] * 20], terminal=True)
    assert lines[2].split() == ["a" * 10] * 20


@pytest.mark.usefixtures("terminal_of_60")
def test_a_terminal_takes_markup_as_text() -> None:
    assert "[red]x[/red] :smile:" in write(("a",), [("[red]x[/red] :smile:",)], terminal=True)[2]
