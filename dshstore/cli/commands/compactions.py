"""`dshstore compactions`: what took the place of what in the sight of a model."""

from __future__ import annotations

import click

import dshstore
from dshstore.cli.forms import form_options, limit_option, write_rows
from dshstore.cli.output import shorten, time_text
from dshstore.cli.parameters import any_session_argument, examples, store_argument

#: Characters of a summary that a table shows.
_SUMMARY = 60


@click.command(
    "compactions",
    epilog=examples(
        "dshstore compactions garden.db", "dshstore compactions garden.db bean-bed --json"
    ),
)
@store_argument
@any_session_argument
@limit_option
@form_options
def command(store: str, session: str | None, limit: int | None, form: str | None) -> None:
    """List what took the place of other messages, in SESSION or in all of STORE, latest first.

    A summary is a compaction, a prune one tool result that was rewritten, an edit any other
    message. Sizes are characters of content (JSON); tokens before are as the harness counted
    them, after is what the model wrote. `dshstore why` tells what an event took the place of.
    """
    with dshstore.open(store, mode="read") as opened:
        rows = dshstore.reports.compactions(opened, session)
    write_rows(
        form,
        rows,
        {
            "session": lambda row: row["session_id"],
            "seq": lambda row: row["seq"],
            "time": lambda row: time_text(row["time"]),
            "kind": lambda row: row["kind"],
            "nodes": lambda row: row["nodes"],
            "chars before": lambda row: row["characters_before"],
            "after": lambda row: row["characters_after"],
            "tokens before": lambda row: row["tokens_before"],
            "after ": lambda row: row["tokens_after"],
            "now reads": lambda row: shorten(row["summary"] or "", _SUMMARY),
        },
        limit,
    )
