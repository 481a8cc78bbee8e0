"""`dshstore tools`: which tools were called, how often in vain, and how long they took."""

from __future__ import annotations

import click

import dshstore
from dshstore.cli.forms import form_options, limit_option, write_rows
from dshstore.cli.parameters import any_session_argument, examples, store_argument


@click.command(
    "tools", epilog=examples("dshstore tools garden.db", "dshstore tools garden.db compost --json")
)
@store_argument
@any_session_argument
@limit_option
@form_options
def command(store: str, session: str | None, limit: int | None, form: str | None) -> None:
    """List the tools that were called, of SESSION or of all of STORE, the busiest first.

    How many calls, how many ended with an error, how many are open, and their durations in ms.
    What a fork inherited counts with its parent alone, unless the fork is SESSION.
    """
    with dshstore.open(store, mode="read") as opened:
        rows = dshstore.reports.tools(opened, session)
    write_rows(
        form,
        rows,
        {
            "tool": lambda row: row["tool"],
            "calls": lambda row: row["calls"],
            "errors": lambda row: row["errors"],
            "error rate": lambda row: (
                None if row["error_rate"] is None else f"{100 * row['error_rate']:.1f} %"
            ),
            "open": lambda row: row["open"],
            "mean ms": lambda row: row["mean_duration"],
            "longest ms": lambda row: row["longest_duration"],
            "total ms": lambda row: row["total_duration"],
        },
        limit,
    )
