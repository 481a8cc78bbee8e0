"""Sizes, times and numbers as people write them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dshstore.cli.group import COMMANDS, root
from dshstore.cli.parameters import SECONDS, examples, read_moment, read_size, spell_size

PARAMETER = click.Option(["--max-line"])
CONTEXT = click.Context(click.Command("x"))


def read(value: str) -> int:
    return read_size(CONTEXT, PARAMETER, value)


@pytest.mark.parametrize(
    ("value", "size"), [("1", 1), ("4096", 4096), ("64K", 65536), ("2g", 2 << 30), ("1T", 1 << 40)]
)
def test_a_size_is_a_number_with_or_without_a_unit(value: str, size: int) -> None:
    assert read(value) == size


@pytest.mark.parametrize(
    "value", ["", "0", "K", "8192T", "9" * 5000, "-1", "1.5M", "1KB", "1KK", "٣", "many"]
)
def test_what_is_no_size_is_wrong_usage(value: str) -> None:
    with pytest.raises(click.BadParameter, match="is not a size such as"):
        read(value)


@given(st.integers(1, 1 << 50))
def test_a_spelled_size_reads_as_itself(size: int) -> None:
    assert read(spell_size(size)) == size


def test_a_round_size_is_spelled_with_its_unit() -> None:
    assert [spell_size(size) for size in (512 << 20, 64 << 30, 1000)] == ["512M", "64G", "1000"]


@pytest.mark.parametrize("value", ["9" * 16 + "d", "9" * 23 + "d", "9" * 5000 + "w", "٣d"])
def test_a_time_before_all_time_is_wrong_usage(value: str) -> None:
    with pytest.raises(click.BadParameter, match="is not a time such as"):
        read_moment(CONTEXT, PARAMETER, value)


@pytest.mark.parametrize("value", ["0001-01-01T00:00+23:59", "9999-12-31T23:59-23:59"])
def test_the_ends_of_the_calendar_are_times(value: str) -> None:
    assert read_moment(CONTEXT, PARAMETER, value) is not None


@pytest.mark.parametrize("value", ["nan", "-nan", "inf", "1e308", "0", "-1", "soon"])
def test_what_no_clock_waits_for_is_wrong_usage(value: str) -> None:
    with pytest.raises(click.BadParameter):
        SECONDS.convert(value, PARAMETER, CONTEXT)


def numbers(name: str) -> Iterator[click.Parameter]:
    command = root.get_command(click.Context(root), name)
    assert command is not None
    return (p for p in command.params if isinstance(p.type, INT_OR_FLOAT))


INT_OR_FLOAT = (click.types.IntParamType, click.types.FloatParamType)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_number_that_a_command_takes_has_bounds(name: str) -> None:
    for parameter in numbers(name):
        assert isinstance(parameter.type, click.IntRange | click.FloatRange)
        kind: click.ParamType[Any] = parameter.type
        for value in ("9" * 23, "9" * 5000, "nan", "1e308"):
            with pytest.raises(click.BadParameter):
                kind.convert(value, parameter, CONTEXT)


def test_one_example_is_not_called_examples() -> None:
    assert examples("dshstore x").split("\n")[1:] == ["Example:", "  dshstore x"]
    assert examples("dshstore x", "dshstore y").split("\n")[1] == "Examples:"
