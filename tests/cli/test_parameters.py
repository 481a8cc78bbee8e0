"""Sizes as people write them."""

from __future__ import annotations

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dshstore.cli.parameters import examples, read_size, spell_size

PARAMETER = click.Option(["--max-line"])
CONTEXT = click.Context(click.Command("x"))


def read(value: str) -> int:
    return read_size(CONTEXT, PARAMETER, value)


@pytest.mark.parametrize(
    ("value", "size"), [("1", 1), ("4096", 4096), ("64K", 65536), ("2g", 2 << 30), ("1T", 1 << 40)]
)
def test_a_size_is_a_number_with_or_without_a_unit(value: str, size: int) -> None:
    assert read(value) == size


@pytest.mark.parametrize("value", ["", "0", "K", "-1", "1.5M", "1KB", "1KK", "٣", "many"])
def test_what_is_no_size_is_wrong_usage(value: str) -> None:
    with pytest.raises(click.BadParameter, match="is not a size such as"):
        read(value)


@given(st.integers(1, 1 << 50))
def test_a_spelled_size_reads_as_itself(size: int) -> None:
    assert read(spell_size(size)) == size


def test_a_round_size_is_spelled_with_its_unit() -> None:
    assert [spell_size(size) for size in (512 << 20, 64 << 30, 1000)] == ["512M", "64G", "1000"]


def test_one_example_is_not_called_examples() -> None:
    assert examples("dshstore x").split("\n")[1:] == ["Example:", "  dshstore x"]
    assert examples("dshstore x", "dshstore y").split("\n")[1] == "Examples:"
