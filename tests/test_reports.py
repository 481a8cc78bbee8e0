"""Reports from Python: the rows are what the command line writes."""

from __future__ import annotations

from pathlib import Path

import pytest

import dshstore
from dshstore import SessionNotFound, Store, StoreError
from dshstore.reports import Price, find_price, read_prices
from tests.loading import loaded_by
from tests.stores import take_samples


@pytest.fixture
def store(store: Store) -> Store:
    take_samples(store)
    return store


def test_a_price_is_for_a_million_tokens() -> None:
    row = {
        "input_tokens": 1_000_000,
        "output_tokens": 500_000,
        "cache_read_tokens": 2_000_000,
        "cache_write_tokens": 100_000,
    }
    assert Price(input=1, output=4).cost(row) == pytest.approx(1 + 2 + 2 + 0.1)
    cached = Price(input=1, output=4, cache_read=0.1, cache_write=10)
    assert cached.cost(row) == pytest.approx(1 + 2 + 0.2 + 1)


def test_the_price_of_a_provider_goes_before_that_of_a_model() -> None:
    cheap, dear = Price(1, 1), Price(9, 9)
    prices = {"trowel-1": cheap, "gardeners/trowel-1": dear}
    assert find_price(prices, "gardeners", "trowel-1") == dear
    assert find_price(prices, "others", "trowel-1") == cheap
    assert find_price(prices, None, None) is None


def test_a_file_of_prices_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"nowhere\.json: no file of prices: No such file"):
        read_prices(tmp_path / "nowhere.json")


def test_a_generation_is_named_and_the_highest_counts(store: Store) -> None:
    before = dshstore.reports.usage(store, session_id="bean-bed")
    tools = dshstore.reports.tools(store, "bean-bed")
    store.migrate("bean-bed", to=2)
    for name in ("bean-bed", "bean-bed@v0", "bean"):
        assert dshstore.reports.usage(store, session_id=name) == before
        assert dshstore.reports.tools(store, name) == tools
    assert dshstore.reports.overview(store, "bean-bed@v0")["format_version"] == 2
    assert len(dshstore.reports.compactions(store)) == 2


def test_a_fork_adds_nothing_to_what_all_sessions_did(store: Store) -> None:
    reports = (dshstore.reports.usage, dshstore.reports.tools, dshstore.reports.compactions)
    before = [report(store) for report in reports]
    for name in ("seedlings", "bean-bed", "compost"):
        with store.fork(name, new_id=f"{name}-2"):
            pass
    assert [report(store) for report in reports] == before
    assert dshstore.reports.compactions(store, "bean-bed-2") != []


def test_a_session_that_is_not_there_is_told(store: Store) -> None:
    for report in (dshstore.reports.tools, dshstore.reports.compactions):
        with pytest.raises(SessionNotFound):
            report(store, "nobody")


def test_only_a_chart_loads_what_draws_it() -> None:
    assert "dshstore.charts" not in loaded_by("import dshstore.reports")
