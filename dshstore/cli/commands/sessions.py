"""`dshstore sessions`: what is in a store."""

from __future__ import annotations

import click
import msgspec

import dshstore
from dshstore import SessionSummary
from dshstore.cli.output import shorten, time_text, write_json
from dshstore.cli.parameters import examples, json_option, store_argument
from dshstore.cli.tables import write_table

_COLUMNS = ("session", "format", "turns", "events", "surface", "last event", "title")
_TITLE = 60


@click.command("sessions", epilog=examples("dshstore sessions garden.db"))
@store_argument
@json_option
def command(store: str, as_json: bool) -> None:
    """List the sessions of STORE, the one last written to first."""
    with dshstore.open(store, mode="read") as opened:
        summaries = opened.sessions()
    if as_json:
        for summary in summaries:
            write_json(msgspec.to_builtins(summary))
    elif summaries:
        write_table(_COLUMNS, map(_row, summaries))


def _row(summary: SessionSummary) -> tuple[object, ...]:
    title = shorten(summary.title or summary.first_prompt or "", _TITLE)
    if summary.open_turn is not None:
        title = f"{title} (turn {summary.open_turn} is open)".lstrip()
    return (
        summary.session_id,
        f"v{summary.format_version}",
        summary.turns,
        summary.events,
        summary.surface_nodes,
        time_text(summary.last_time),
        title,
    )
