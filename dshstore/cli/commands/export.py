"""`dshstore export`: give a session's log back."""

from __future__ import annotations

import click

import dshstore
from dshstore.cli.output import is_terminal, write
from dshstore.cli.parameters import examples, session_argument, store_argument


@click.command(
    "export",
    epilog=examples(
        "dshstore export garden.db seedlings -o session.v4.jsonl",
        "dshstore export garden.db seedlings --zstd > session.v4.jsonl.zstd",
    ),
)
@store_argument
@session_argument
@click.option("-o", "--output", metavar="FILE", help="Write to this file, not to stdout.")
@click.option("--zstd", is_flag=True, help="Compress it, as the frames of a zstd log.")
def command(store: str, session: str, output: str | None, zstd: bool) -> None:
    """Write the log of SESSION, byte for byte as it came in.

    FILE takes its place when it is whole; one that was there is replaced.
    """
    to_stdout = output in (None, "-")
    if zstd and to_stdout and is_terminal():
        raise click.UsageError("compressed bytes are nothing for a terminal: name a file with -o")
    with dshstore.open(store, mode="read") as opened:
        if output is None or to_stdout:
            for piece in opened.session(session).log(zstd=zstd):
                write(piece)
        else:
            opened.export_log(session, output, zstd=zstd)
