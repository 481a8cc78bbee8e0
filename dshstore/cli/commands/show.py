"""`dshstore show`: a session as a transcript to read."""

from __future__ import annotations

import click
import msgspec

import dshstore
from dshstore.cli.output import shorten, visible, write, write_json, write_text
from dshstore.cli.parameters import (
    COUNT,
    at_option,
    examples,
    json_option,
    read_output,
    session_argument,
    store_argument,
)
from dshstore.cli.transcript import TranscriptWriter
from dshstore.reports import ReportRow

#: Characters of a title, or of the first words of a session that has none.
_TITLE = 160


@click.command(
    "show",
    epilog=examples(
        "dshstore show garden.db seedlings",
        "dshstore show garden.db bean-bed --shadowed --full",
        "dshstore show garden.db bean-bed -n 2",
        "dshstore show garden.db bean-bed --chart bean-bed.svg",
    ),
)
@store_argument
@session_argument
@at_option
@click.option("--full", is_flag=True, help="Shorten nothing.")
@click.option("--shadowed", is_flag=True, help="Show what the model no longer sees, too.")
@click.option("-n", "last", type=COUNT, metavar="COUNT", help="The last messages.")
@click.option(
    "--chart",
    callback=read_output,
    metavar="FILE",
    help="Draw the context over the log as SVG instead, - for stdout.",
)
@json_option
def command(
    store: str,
    session: str,
    at: int | None,
    full: bool,
    shadowed: bool,
    last: int | None,
    chart: str | None,
    as_json: bool,
) -> None:
    """Show SESSION as a transcript: turns, messages, calls, failures, compactions.

    In the order of the log. A compaction stands where it happened; what it hides from the model
    is shown with --shadowed. As JSON every entry is there, and its `state` tells.

    A chart shows the tokens of each request and where they came from, what compactions took away,
    and tool results by size. It needs `pip install 'dshstore[charts]'`; FILE is replaced.
    """
    if chart is not None and (full or shadowed or as_json or at is not None or last is not None):
        raise click.UsageError("a chart is of the whole session: --chart goes with no other option")
    with dshstore.open(store, mode="read") as opened:
        found = opened.session(session)
        if chart is not None:
            if chart == "-":
                context = dshstore.reports.context(opened, found.session_id)
                write(dshstore.charts.draw_context(context) + b"\n")
            else:
                dshstore.reports.draw_context(opened, found.session_id, chart)
            return
        entries = found.transcript(at, last=last)
        if as_json:
            for entry in entries:
                write_json(msgspec.to_builtins(entry))
            return
        _write_title(dshstore.reports.overview(opened, found.session_id), at)
        writer = TranscriptWriter(full=full, shadowed=shadowed)
        for entry in entries:
            writer.write(entry)
        writer.finish()


def _write_title(row: ReportRow, at: int | None) -> None:
    """Head a transcript; the figures of the whole log are none of a moment in it."""
    title = shorten(row["title"] or row["first_prompt"] or "", _TITLE)
    write_text(title or visible(row["session_id"]), "bold")
    facts = [title and row["session_id"], f"v{row['format_version']}", row["project"]]
    if at is None:
        facts += [row["model"], f"{row['events']} events", f"{row['tokens']} tokens"]
    else:
        facts.append(f"as of event {at}")
    facts.append(row["parent_session"] and f"child of {row['parent_session']}")
    write_text(visible(" · ".join(fact for fact in facts if fact)), "dim")
