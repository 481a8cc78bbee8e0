"""`dshstore info`: what a store file is."""

from __future__ import annotations

import click

import dshstore
from dshstore.cli.output import write_json
from dshstore.cli.parameters import examples, json_option, store_argument
from dshstore.cli.tables import write_table


@click.command("info", epilog=examples("dshstore info garden.db"))
@store_argument
@json_option
def command(store: str, as_json: bool) -> None:
    """Tell what STORE is, and how much it holds. Sizes are bytes."""
    with dshstore.open(store, mode="read") as opened:
        info = {"dshstore_version": dshstore.__version__, **opened.info()}
    if as_json:
        write_json(info)
    else:
        write_table(("fact", "value"), info.items())
