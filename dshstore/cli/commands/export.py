"""`dshstore export`: give a session's log back, or the views for other tools."""

from __future__ import annotations

import click

import dshstore
from dshstore.cli.output import is_terminal, say, write
from dshstore.cli.parameters import any_session_argument, examples, read_output, store_argument


@click.command(
    "export",
    epilog=examples(
        "dshstore export garden.db seedlings -o session.v4.jsonl",
        "dshstore export garden.db seedlings --zstd > session.v4.jsonl.zstd",
        "dshstore export garden.db --parquet tables",
    ),
)
@store_argument
@any_session_argument
@click.option(
    "-o",
    "--output",
    callback=read_output,
    metavar="FILE",
    help="Write to this file, not to stdout.",
)
@click.option("--zstd", is_flag=True, help="Compress it, as the frames of a zstd log.")
@click.option(
    "--parquet",
    callback=read_output,
    metavar="DIR",
    help="Write the documented views to DIR/VIEW.parquet.",
)
def command(
    store: str, session: str | None, output: str | None, zstd: bool, parquet: str | None
) -> None:
    """Write the log of SESSION, byte for byte as it came in.

    FILE takes its place when it is whole; one that was there is replaced.

    With --parquet write each documented view as a table with typed columns instead, of SESSION or
    of all of STORE, as they are at one moment. It needs `pip install 'dshstore[parquet]'`.
    """
    if parquet is not None:
        if output is not None or zstd:
            raise click.UsageError("--parquet goes with neither --output nor --zstd")
        _write_tables(store, parquet, session)
        return
    if session is None:
        raise click.UsageError("name the SESSION whose log is wanted, or tables with --parquet DIR")
    to_stdout = output in (None, "-")
    if zstd and to_stdout and is_terminal():
        raise click.UsageError("compressed bytes are nothing for a terminal: name a file with -o")
    with dshstore.open(store, mode="read") as opened:
        if output is None or to_stdout:
            for piece in opened.session(session).log(zstd=zstd):
                write(piece)
        else:
            opened.export_log(session, output, zstd=zstd)


def _write_tables(store: str, folder: str, session: str | None) -> None:
    with dshstore.open(store, mode="read") as opened:
        for table in dshstore.parquet.write_views(opened, folder, session):
            for column, count in table.left_out.items():
                kind = dshstore.parquet.VIEWS[table.view][column]
                values = "value is" if count == 1 else "values are"
                say(f"note: {table.view}.{column}: {count} {values} no {kind} and left out")
