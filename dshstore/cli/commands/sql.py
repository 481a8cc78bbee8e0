"""`dshstore sql`: ask a store in SQL."""

from __future__ import annotations

import base64
import csv
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import click
import msgspec

import dshstore
from dshstore.cli.output import write
from dshstore.cli.parameters import examples, store_argument
from dshstore.cli.tables import cell_text, write_table

#: SQL values are plain: no half surrogate pairs, nothing nested, so the fastest encoder will do.
_ENCODER = msgspec.json.Encoder()


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
                _write_objects(columns, rows)
            case "csv" | "tsv":
                _write_values(columns, rows, "," if form == "csv" else "\t")
            case _:
                write_table(columns, rows)


def _write_objects(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    names = _distinct(columns)
    for row in rows:
        values = map(_json_value, row)
        write(_ENCODER.encode(dict(zip(names, values, strict=True))) + b"\n")


def _distinct(columns: Sequence[str]) -> list[str]:
    """The names of columns; the second `seq` is `seq_2`, for an object has each name once."""
    names: list[str] = []
    for column in columns:
        name, count = column, 1
        while name in names:
            count += 1
            name = f"{column}_{count}"
        names.append(name)
    return names


def _json_value(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"$base64": True, "encoded": base64.b64encode(value).decode()}
    return value


class _Stdout:
    """Stdout as `csv` writes to it."""

    def write(self, text: str) -> None:
        write(text.encode("utf-8", "backslashreplace"))


def _write_values(columns: Sequence[str], rows: Iterable[Sequence[Any]], delimiter: str) -> None:
    if not columns:
        return
    writer = csv.writer(_Stdout(), delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(map(cell_text, row) for row in rows)
