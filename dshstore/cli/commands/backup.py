"""`dshstore backup`: copy a store while others write to it."""

from __future__ import annotations

from pathlib import Path

import click

import dshstore
from dshstore.cli.output import say, visible
from dshstore.cli.parameters import examples, read_output, store_argument


@click.command("backup", epilog=examples("dshstore backup garden.db garden-monday.db"))
@store_argument
@click.argument("destination", callback=read_output, metavar="DEST")
def command(store: str, destination: str) -> None:
    """Copy STORE to the new file DEST, as it is at one moment, while others write to it.

    A copy made by other means lacks what is still in the -wal file beside the store.
    """
    with dshstore.open(store, mode="read") as opened:
        opened.backup(destination)
    say(f"{visible(destination)}: {Path(destination).stat().st_size} bytes, readable by you alone")
