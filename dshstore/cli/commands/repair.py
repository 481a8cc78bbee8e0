"""`dshstore repair`: close an interrupted turn, or show how."""

from __future__ import annotations

import click

import dshstore
from dshstore.cli.output import say, visible, write_json, write_text
from dshstore.cli.parameters import examples, json_option, session_argument, store_argument
from dshstore.cli.wording import event_line


@click.command(
    "repair",
    epilog=examples(
        "dshstore repair garden.db frost-watch", "dshstore repair garden.db frost-watch --apply"
    ),
)
@store_argument
@session_argument
@click.option("--apply", is_flag=True, help="Append the events.")
@json_option
def command(store: str, session: str, apply: bool, as_json: bool) -> None:
    """Close the turn in which SESSION was interrupted.

    Writes the events that do it: an error result for each open call, the end of the step, the end
    of the turn. They are appended with --apply alone.
    """
    with dshstore.open(store, mode="read") as opened:
        found = opened.session(session)
        name, exact = found.session_id, f"{found.session_id}@v{found.format_version}"
        closers = found.closers()
    if apply and closers:
        with dshstore.open(store) as opened:
            closers = opened.repair(exact)
    for event in closers:
        write_json(event) if as_json else write_text(event_line(event))
    if as_json:
        return
    if not closers:
        said = "no turn is open, so there is nothing to repair"
    elif apply:
        said = f"appended, {len(closers)} events"
    else:
        said = "these would close its open turn; nothing was appended"
    say(f"{visible(name)}: {said}")
