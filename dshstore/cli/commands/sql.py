"""`dshstore sql`: ask a store in SQL."""

from __future__ import annotations

import sys
from typing import NoReturn

import click

import dshstore
from dshstore.cli.forms import all_form_options, write_objects, write_values
from dshstore.cli.output import unwritten
from dshstore.cli.parameters import SECONDS, examples, store_argument
from dshstore.cli.tables import write_table


@click.command(
    "sql",
    epilog=examples(
        'dshstore sql garden.db "SELECT session_id, turns FROM sessions_overview"',
        'dshstore sql garden.db "SELECT * FROM surface WHERE session_id = :id" -p id seedlings',
        "dshstore sql garden.db --csv < report.sql",
        "dshstore sql garden.db",
    ),
)
@store_argument
@click.argument("sql", metavar="[SQL]", required=False)
@click.option(
    "-p",
    "--param",
    "parameters",
    type=(str, str),
    metavar="NAME VALUE",
    multiple=True,
    help="The text that :NAME stands for, or ?, by its number.",
)
@all_form_options
@click.option("--timeout", type=SECONDS, metavar="SECONDS", help="Give up after this time.")
def command(
    store: str,
    sql: str | None,
    parameters: tuple[tuple[str, str], ...],
    form: str | None,
    timeout: float | None,
) -> None:
    """Answer one SQL question about STORE; it can only read.

    SQL is read from standard input when it is -, or when it is left out and a form is named. With
    STORE alone a shell opens (.help tells its commands), which also takes statements from a pipe.
    As JSON a blob is {"$base64": true, "encoded": ...}.
    """
    if sql is None and not (form or parameters or timeout):
        _open_shell(store)
    if sql is None or sql == "-":
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


def _open_shell(store: str) -> NoReturn:
    from dshstore import shell  # slow to import, and rarely wanted

    try:
        status = shell.run(store)
    except OSError as error:
        raise unwritten(error) from error
    click.get_current_context().exit(status)
