"""`dshstore sql`: ask a store in SQL."""

from __future__ import annotations

import sys

import click

import dshstore
from dshstore.cli.forms import write_objects, write_values
from dshstore.cli.parameters import examples, store_argument
from dshstore.cli.tables import write_table


@click.command(
    "sql",
    epilog=examples(
        'dshstore sql garden.db "SELECT session_id, turns FROM sessions_overview"',
        'dshstore sql garden.db "SELECT * FROM surface WHERE session_id = :id" -p id seedlings',
        "dshstore sql garden.db --csv < report.sql",
    ),
)
@store_argument
@click.argument("sql", metavar="[SQL]", default="-")
@click.option(
    "-p",
    "--param",
    "parameters",
    type=(str, str),
    metavar="NAME VALUE",
    multiple=True,
    help="The text that :NAME stands for.",
)
@click.option("--json", "form", flag_value="json", help="Write one JSON object a line.")
@click.option("--csv", "form", flag_value="csv", help="Write comma-separated values.")
@click.option("--tsv", "form", flag_value="tsv", help="Write tab-separated values.")
@click.option("--table", "form", flag_value="table", default="table", help="Write a table (usual).")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Give up after this time.",
)
def command(
    store: str,
    sql: str,
    parameters: tuple[tuple[str, str], ...],
    form: str,
    timeout: float | None,
) -> None:
    """Answer one SQL question about STORE; it can only read.

    SQL is read from standard input when it is - or left out. As JSON a blob is
    {"$base64": true, "encoded": ...}.
    """
    if sql == "-":
        if sys.stdin.isatty():
            raise click.UsageError("Missing argument 'SQL'.")
        sql = sys.stdin.read()
    with dshstore.open(store, mode="read") as opened:
        columns, rows = opened.sql(sql, dict(parameters), seconds=timeout)
        match form:
            case "json":
                write_objects(columns, rows)
            case "csv" | "tsv":
                write_values(columns, rows, form)
            case _:
                write_table(columns, rows)
