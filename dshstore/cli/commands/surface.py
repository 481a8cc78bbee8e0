"""`dshstore surface`: which events of a session the model sees."""

from __future__ import annotations

import click

import dshstore
from dshstore.cli.output import write_json
from dshstore.cli.parameters import (
    at_option,
    examples,
    json_option,
    session_argument,
    store_argument,
)
from dshstore.cli.tables import write_table


@click.command("surface", epilog=examples("dshstore surface garden.db seedlings --at 12"))
@store_argument
@session_argument
@at_option
@json_option
def command(store: str, session: str, at: int | None, as_json: bool) -> None:
    """List the events that the model sees of SESSION.

    They are told by their seqs, in the order in which the model sees them.
    """
    with dshstore.open(store, mode="read") as opened:
        found = opened.session(session)
        seqs = found.surface if at is None else found.surface_at(at)
    if as_json:
        for position, seq in enumerate(seqs):
            write_json({"position": position, "seq": seq})
    elif seqs:
        write_table(("position", "seq"), enumerate(seqs))
