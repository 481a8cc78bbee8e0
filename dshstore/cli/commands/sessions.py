"""`dshstore sessions`: what is in a store."""

from __future__ import annotations

import click
import msgspec

import dshstore
from dshstore import SessionSummary
from dshstore.cli.forms import form_options, limit_option, say_nothing_found, write_values
from dshstore.cli.output import shorten, time_text, write_json
from dshstore.cli.parameters import examples, project_option, since_option, store_argument
from dshstore.cli.tables import write_table

_COLUMNS = ("session", "format", "turns", "events", "surface", "tokens", "last event", "title")
_TITLE = 60


@click.command(
    "sessions",
    epilog=examples(
        "dshstore sessions garden.db",
        "dshstore sessions garden.db --since 7d --text beans",
        "dshstore sessions garden.db --project /srv/garden --model reasoner -n 10 --json",
    ),
)
@store_argument
@project_option("Only those that ran in this folder or below.")
@since_option("Only those written to since")
@click.option("--model", metavar="TEXT", help="Only those whose model has this in its name.")
@click.option("--text", metavar="TEXT", help="Only those in which somebody wrote this.")
@limit_option
@form_options
def command(
    store: str,
    project: str | None,
    since: int | None,
    model: str | None,
    text: str | None,
    limit: int | None,
    form: str | None,
) -> None:
    """List the sessions of STORE, the one last written to first."""
    with dshstore.open(store, mode="read") as opened:
        summaries = opened.sessions(
            project=project, since=since, model=model, text=text, limit=limit
        )
    if not summaries:
        say_nothing_found()
    match form:
        case "json":
            for summary in summaries:
                write_json(msgspec.to_builtins(summary))
        case "csv" | "tsv":
            rows = (msgspec.structs.astuple(summary) for summary in summaries)
            write_values(SessionSummary.__struct_fields__, rows, form)
        case _ if summaries:
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
        summary.tokens,
        time_text(summary.last_time),
        title,
    )
