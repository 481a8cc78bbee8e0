"""`dshstore init`: make a store."""

from __future__ import annotations

from pathlib import Path

import click

import dshstore
from dshstore.cli.output import say, visible
from dshstore.cli.parameters import examples, store_argument


@click.command("init", epilog=examples("dshstore init garden.db"))
@store_argument
def command(store: str) -> None:
    """Make an empty STORE; one that is there stays as it is."""
    place = Path(store)
    there = place.is_file() and place.stat().st_size > 0
    dshstore.open(store).close()
    say(f"{visible(store)}: {'is a store already' if there else 'a new store'}")
