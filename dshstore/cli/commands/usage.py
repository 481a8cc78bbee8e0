"""`dshstore usage`: how many tokens went where, and what they cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

import dshstore
from dshstore.cli.forms import form_options, limit_option, write_rows
from dshstore.cli.output import say, visible
from dshstore.cli.parameters import any_session_argument, examples, store_argument
from dshstore.reports import Grouping, ReportRow

Column = Callable[[Mapping[str, Any]], object]

_TOKENS: dict[str, Column] = {
    "calls": lambda row: row["calls"],
    "failed": lambda row: row["failed"] or None,
    "input": lambda row: row["input_tokens"],
    "output": lambda row: row["output_tokens"],
    "cache read": lambda row: row["cache_read_tokens"],
    "cache write": lambda row: row["cache_write_tokens"],
    "reasoning": lambda row: row["reasoning_tokens"],
}

_MODEL: dict[str, Column] = {
    "provider": lambda row: row["provider"],
    "model": lambda row: row["model"],
}

_KEYS: dict[Grouping, dict[str, Column]] = {
    "session": {"session": lambda row: row["session_id"]},
    "day": {"day": lambda row: row["day"]},
    "model": {},
    "project": {"project": lambda row: row["project"]},
}


@click.command(
    "usage",
    epilog=examples(
        "dshstore usage garden.db",
        "dshstore usage garden.db --by day --csv",
        "dshstore usage garden.db --by model --prices prices.json",
    )
    + '\n\nprices.json: {"MODEL": {"input": 0.5, "output": 2, "cache_read": 0.05}, ...}, each for '
    "a million tokens; the key is a model, or PROVIDER/MODEL; cache_read and cache_write are as "
    "input where left out.",
)
@store_argument
@any_session_argument
@click.option(
    "--by",
    type=click.Choice(["session", "day", "model", "project"]),
    default="session",
    show_default=True,
    help="What the rows are, beside provider and model. Days are UTC.",
)
@click.option("--prices", metavar="FILE", help="Tell the cost too, by the prices in this file.")
@limit_option
@form_options
def command(
    store: str,
    session: str | None,
    by: Grouping,
    prices: str | None,
    limit: int | None,
    form: str | None,
) -> None:
    """Tell the tokens that providers reported, of SESSION or of all of STORE.

    Each call of a provider counts once: failed attempts and compactions too, what a fork
    inherited with its parent alone, and of several generations of a log the highest. Input is
    without what came from a cache; reasoning is a part of the output.
    """
    known = None if prices is None else dshstore.reports.read_prices(prices)
    with dshstore.open(store, mode="read") as opened:
        rows = dshstore.reports.usage(opened, by, session, known)
    people = {**_KEYS[by], **_MODEL, **_TOKENS}
    if known is not None:
        people["cost"] = lambda row: None if row["cost"] is None else f"{row['cost']:.4f}"
    write_rows(form, rows, people, limit)
    if known is not None:
        _tell_costs(rows, form)


def _tell_costs(rows: list[ReportRow], form: str | None) -> None:
    """Say the sum, and which models have no price."""
    unpriced = sorted({str(row["model"]) for row in rows if row["cost"] is None})
    if unpriced:
        say(f"no price is given for {visible(', '.join(unpriced))}")
    if rows and form is None:
        say(f"cost in all: {sum(row['cost'] or 0 for row in rows):.4f}")
