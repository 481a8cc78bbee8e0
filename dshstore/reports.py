"""Answers that people ask a store for: tokens and money, tools, compactions.

Each is a question to the documented views; this module decides how they are summed up, and what
tokens cost by prices that the caller brings: none are built in.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from dshstore.db import check_output
from dshstore.errors import StoreError, shown
from dshstore.sqlfiles import Statement, load
from dshstore.store import Store

if TYPE_CHECKING:
    from dshstore.charts.context import Context

#: What usage can be summed up by.
Grouping = Literal["session", "day", "model", "project"]

#: A row of a report: values by the names of their columns.
ReportRow = dict[str, Any]

#: What prices are for: so many tokens.
PRICED_TOKENS = 1_000_000


class Report(list[ReportRow]):
    """The rows of a report, and the names of their columns, which it has without a row too."""

    def __init__(self, columns: Iterable[str], rows: Iterable[ReportRow]) -> None:
        super().__init__(rows)
        self.columns = tuple(columns)


class _Statements(msgspec.Struct, frozen=True):
    usage_by_session: Statement
    usage_by_day: Statement
    usage_by_model: Statement
    usage_by_project: Statement
    tools: Statement
    compactions: Statement
    overview: Statement


_SQL = load("reports", _Statements)


class Price(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The prices of a model, each for a million tokens, in any currency.

    `cache_read` and `cache_write` are as `input` where they are not given.
    """

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None

    def cost(self, row: Mapping[str, Any]) -> float:
        """What the tokens of a row of `usage` cost. (Reasoning is a part of the output.)"""
        priced = (
            (self.input, "input_tokens"),
            (self.output, "output_tokens"),
            (self.input if self.cache_read is None else self.cache_read, "cache_read_tokens"),
            (self.input if self.cache_write is None else self.cache_write, "cache_write_tokens"),
        )
        return float(sum(price * row[column] for price, column in priced)) / PRICED_TOKENS


#: Prices by `provider/model`, or by model alone.
Prices = Mapping[str, Price]


def read_prices(path: str | os.PathLike[str]) -> dict[str, Price]:
    """The prices in a JSON file: an object of objects, by `provider/model` or by model alone.

    `{"trowel-1": {"input": 0.5, "output": 2, "cache_read": 0.05}}`. Raises StoreError.
    """
    place = os.fspath(path)
    try:
        found = msgspec.json.decode(Path(path).read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        said = error.strerror if isinstance(error, OSError) else str(error)
        raise StoreError(f"{place}: no file of prices: {said}") from error
    if not isinstance(found, dict):
        raise StoreError(f"{place}: no file of prices: it is no object of models")
    return {model: _read_price(place, model, members) for model, members in found.items()}


def _read_price(place: str, model: str, members: Any) -> Price:
    def refusal(said: str) -> StoreError:
        return StoreError(f"{place}: no file of prices: {shown(model)} {said}")

    if not isinstance(members, dict):
        raise refusal("has no object of prices")
    for name, price in members.items():
        if name not in Price.__struct_fields__:
            raise refusal(f"has an unknown member {shown(name)}")
        if price is None and name.startswith("cache_"):
            continue  # as if it were left out
        if not isinstance(price, int | float) or isinstance(price, bool):
            raise refusal(f"has {shown(price)} for {shown(name)}, which is no number")
        if price < 0:
            raise refusal(f"has {shown(price)} for {shown(name)}, which is negative")
    for name in ("input", "output"):
        if name not in members:
            raise refusal(f"has no price for {shown(name)}")
    return Price(**members)


def find_price(prices: Prices, provider: str | None, model: str | None) -> Price | None:
    """The price of a model: that of its provider, else that of its name."""
    return prices.get(f"{provider}/{model}", prices.get(str(model)))


def usage(
    store: Store,
    by: Grouping = "session",
    session_id: str | None = None,
    prices: Prices | None = None,
) -> Report:
    """Tokens by session, day (UTC), model or project, and by provider and model within these.

    Each provider call counts once: failed attempts and compactions too, what a fork inherited
    not. With `prices` a row has its `cost`, None for a model that they do not name. Raises
    SessionNotFound.
    """
    report = _ask(store, getattr(_SQL, f"usage_by_{by}"), _ids(store, session_id))
    if prices is None:
        return report
    for row in report:
        price = find_price(prices, row["provider"], row["model"])
        row["cost"] = None if price is None else price.cost(row)
    return Report([*report.columns, "cost"], report)


def overview(store: Store, session_id: str) -> ReportRow:
    """One session at a glance: its row of `sessions_overview`. Raises SessionNotFound."""
    return _ask(store, _SQL.overview, _ids(store, session_id))[0]


def tools(store: Store, session_id: str | None = None) -> Report:
    """Tools by their calls: how many, failed, open; how long they took (ms); the busiest first.

    Of one session, inherited calls included, or of all, each call once. Raises SessionNotFound.
    """
    return _ask(store, _SQL.tools, _ids(store, session_id, inherited=True))


def compactions(store: Store, session_id: str | None = None) -> Report:
    """What took the place of what on the surface, and how long both are; the latest first.

    Of one session, inherited ones included, or of all, each once. Raises SessionNotFound.
    """
    return _ask(store, _SQL.compactions, _ids(store, session_id, inherited=True))


def context(store: Store, session_id: str) -> Context:
    """A session's context over its log, as `charts` draws it. Raises SessionNotFound."""
    from dshstore.charts.context import read_context

    return read_context(
        lambda sql, parameters: store.sql(sql, parameters)[1], store.session(session_id).session_id
    )


def draw_context(store: Store, session_id: str, path: str | os.PathLike[str]) -> None:
    """Draw a session's context into a file, which is replaced when the picture is whole.

    Raises SessionNotFound; OutputRefused; WriteFailed; ExtraMissing without matplotlib.
    """
    from dshstore.charts import write_picture

    check_output(store.path, path)
    write_picture(context(store, session_id), path)


def _ids(store: Store, session_id: str | None, **alone: bool) -> dict[str, Any]:
    """A range of session ids: one, or all, for a blob comes after every text."""
    if session_id is None:
        return {"first": "", "last": b"", **dict.fromkeys(alone, False)}
    found = store.session(session_id).session_id
    return {"first": found, "last": found, **alone}


def _ask(store: Store, statement: Statement, parameters: dict[str, Any]) -> Report:
    columns, rows = store.sql(statement.sql, parameters)
    return Report(columns, (dict(zip(columns, row, strict=True)) for row in rows))
