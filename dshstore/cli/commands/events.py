"""`dshstore events`: the log of a session, event by event."""

from __future__ import annotations

import click

import dshstore
from dshstore.cli.output import write, write_json, write_text
from dshstore.cli.parameters import SEQ, examples, json_option, session_argument, store_argument
from dshstore.cli.wording import event_line


@click.command(
    "events",
    epilog=examples(
        "dshstore events garden.db seedlings --type tool/call",
        "dshstore events garden.db seedlings --from 20 --to 29 --json",
    ),
)
@store_argument
@session_argument
@click.option("--from", "first", type=SEQ, metavar="SEQ", default=0, help="Begin with this event.")
@click.option("--to", "last", type=SEQ, metavar="SEQ", help="End with this event.")
@click.option("--type", "type_", metavar="TYPE", help="Only events of this type.")
@click.option("--raw", is_flag=True, help="Write the lines of the log that hold these events.")
@json_option
def command(
    store: str,
    session: str,
    first: int,
    last: int | None,
    type_: str | None,
    raw: bool,
    as_json: bool,
) -> None:
    """Write the events of SESSION, oldest first.

    As JSON they are whole: runs and cited ranges are expanded, streams are in place. A line of a
    run holds several events, and is written whole.
    """
    if last is not None and last < first:
        raise click.UsageError(f"--to {last} is before --from {first}")
    if raw and as_json:
        raise click.UsageError("--raw and --json are two forms: choose one")
    with dshstore.open(store, mode="read") as opened:
        found = opened.session(session)
        end = found.next_seq - 1 if last is None else last
        if raw:
            for line in found.lines(first, end, type_):
                write(line)
            return
        for event in found.events(first, end, type_):
            write_json(event) if as_json else write_text(event_line(event))
