"""`dshstore repair`: which events would close an interrupted turn."""

from __future__ import annotations

import click

import dshstore
from dshstore.cli.output import say, visible, write_json, write_text
from dshstore.cli.parameters import examples, json_option, session_argument, store_argument
from dshstore.cli.wording import event_line


@click.command("repair", epilog=examples("dshstore repair garden.db frost-watch"))
@store_argument
@session_argument
@json_option
def command(store: str, session: str, as_json: bool) -> None:
    """Tell how an interrupted turn would be closed.

    Writes the events that would be appended to SESSION, and appends none.
    """
    with dshstore.open(store, mode="read") as opened:
        found = opened.session(session)
        closers = found.closers()
        name = visible(found.session_id)
    for event in closers:
        write_json(event) if as_json else write_text(event_line(event))
    if not as_json:
        say(
            f"{name}: these would close its open turn; nothing was appended"
            if closers
            else f"{name}: no turn is open, so there is nothing to repair"
        )
