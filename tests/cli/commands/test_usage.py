"""`dshstore usage`."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from tests.cli.running import cli

TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


def test_a_row_is_a_session_and_a_model(garden: Path) -> None:
    done = cli("usage", garden, "--json")
    assert (done.status, done.err) == (0, "")
    by_id = {row["session_id"]: row for row in done.objects}
    assert len(by_id) == len(done.objects) == 6
    assert by_id["bean-bed"] == {
        "session_id": "bean-bed",
        "provider": "deepseek-official",
        "model": "deepseek-chat",
        "calls": 4,
        "failed": 0,
        "input_tokens": 957,
        "output_tokens": 117,
        "cache_read_tokens": 768,
        "cache_write_tokens": 0,
        "reasoning_tokens": 12,
    }


def test_what_a_fork_inherited_is_its_parents(garden: Path) -> None:
    [row] = cli("usage", garden, "seedlings-for", "--json").objects
    assert [row[name] for name in TOKENS] == [88, 22, 704, 0]


@pytest.mark.parametrize(
    ("by", "key", "rows"), [("day", "day", 6), ("project", "project", 2), ("model", "model", 2)]
)
def test_tokens_are_summed_up_by_what_is_asked(garden: Path, by: str, key: str, rows: int) -> None:
    found = cli("usage", garden, "--by", by, "--json").objects
    assert len({(row[key], row["model"]) for row in found}) == len(found) == rows
    sums = [sum(row[name] for row in found) for name in TOKENS]
    assert sums == [3598, 467, 4544, 0]


def test_prices_make_money_of_tokens(garden: Path, tmp_path: Path) -> None:
    prices = tmp_path / "prices.json"
    prices.write_text(
        '{"deepseek-chat": {"input": 1000, "output": 2000, "cache_read": 100},'
        ' "deepseek-official/deepseek-chat": {"input": 2000, "output": 0, "cache_read": 0}}'
    )
    done = cli("usage", garden, "--by", "model", "--prices", prices, "--json")
    chat, reasoner = done.objects
    assert chat["cost"] == pytest.approx(2224 * 2000 / 1e6)
    assert reasoner["cost"] is None
    assert done.err == "dshstore: no price is given for deepseek-reasoner\n"
    table = cli("usage", garden, "--by", "model", "--prices", prices)
    assert table.text.split("\n")[2].split()[-1] == "4.4480"
    assert "cost in all: 4.4480" in table.err


def test_a_cache_costs_as_input_where_it_has_no_price(garden: Path, tmp_path: Path) -> None:
    prices = tmp_path / "prices.json"
    prices.write_text('{"deepseek-chat": {"input": 1000, "output": 0}}')
    chat, _ = cli("usage", garden, "--by", "model", "--prices", prices, "--json").objects
    assert chat["cost"] == pytest.approx((2224 + 1856) * 1000 / 1e6)


@pytest.mark.parametrize("text", ["", "[]", '{"a": 5}', '{"a": {"input": 1}}', '{"a": {"in": 1}}'])
def test_a_file_that_holds_no_prices_is_refused(garden: Path, tmp_path: Path, text: str) -> None:
    prices = tmp_path / "prices.json"
    prices.write_text(text)
    done = cli("usage", garden, "--prices", prices)
    assert (done.status, done.out) == (3, b"")
    assert "prices.json: no file of prices: " in done.err


@pytest.mark.parametrize(
    ("price", "said"),
    [
        ("5", "'trowel' has no object of prices"),
        ('{"input": -1, "output": 1}', "'trowel' has -1 for 'input', which is negative"),
        ('{"input": 1, "output": 1, "cache_read": -0.5}', "-0.5 for 'cache_read'"),
        ('{"input": 1}', "'trowel' has no price for 'output'"),
        ('{"input": "1", "output": 1}', "'1' for 'input', which is no number"),
        ('{"input": true, "output": 1}', "True for 'input', which is no number"),
        ('{"input": 1, "output": 1, "cached": 1}', "'trowel' has an unknown member 'cached'"),
    ],
)
def test_a_price_that_is_none_is_told_by_its_model_and_member(
    garden: Path, tmp_path: Path, price: str, said: str
) -> None:
    prices = tmp_path / "prices.json"
    prices.write_text(f'{{"other": {{"input": 1, "output": 2}}, "trowel": {price}}}')
    done = cli("usage", garden, "--prices", prices)
    assert (done.status, done.out) == (3, b"")
    assert said in done.err


def test_values_are_separated_below_their_names(garden: Path) -> None:
    done = cli("usage", garden, "--by", "day", "-n", "1", "--csv")
    head, row = csv.reader(io.StringIO(done.text))
    assert dict(zip(head, row, strict=True))["day"] == "2026-08-01"


def test_a_store_without_sessions_used_nothing(tmp_path: Path) -> None:
    cli("init", tmp_path / "x.db")
    for form in ([], ["--json"]):
        assert cli("usage", tmp_path / "x.db", *form) == (0, b"", "dshstore: nothing found\n")


def test_a_session_that_is_not_there_is_told(garden: Path) -> None:
    assert cli("usage", garden, "nobody").status == 3
