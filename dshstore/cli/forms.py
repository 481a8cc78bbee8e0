"""Rows in the form that was asked for: a table, JSON objects, or separated values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import click
import msgspec

from dshstore.cli.output import write
from dshstore.cli.tables import cell_text, write_table

#: SQL values are plain: no half surrogate pairs, nothing nested, so the fastest encoder will do.
_ENCODER = msgspec.json.Encoder()

Command = Callable[..., Any]


def form_options(command: Command) -> Command:
    """The options --json, --csv and --tsv of a command, as its parameter `form`."""
    for name, said in (
        ("tsv", "Write tab-separated values."),
        ("csv", "Write comma-separated values."),
        ("json", "Write one JSON object a line."),
    ):
        command = click.option(f"--{name}", "form", flag_value=name, default=None, help=said)(
            command
        )
    return command


limit_option = click.option(
    "-n", "limit", type=click.IntRange(min=1), metavar="COUNT", help="At most so many."
)


def write_rows(
    form: str | None,
    rows: Iterable[Mapping[str, Any]],
    people: Mapping[str, Callable[[Mapping[str, Any]], object]],
    limit: int | None = None,
) -> None:
    """Write rows, all of the same columns; nothing when there are none.

    `people` are the columns of the table: for each the value that a person sees of a row.
    """
    found = list(islice(rows, limit))
    if not found:
        return
    columns = list(found[0])
    match form:
        case "json":
            for row in found:
                write(_ENCODER.encode(row) + b"\n")
        case "csv" | "tsv":
            write_values(columns, (row.values() for row in found), form)
        case _:
            shown = ([see(row) for see in people.values()] for row in found)
            write_table(list(people), shown)


def write_objects(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write each row as an object; of columns of one name the second `seq` is `seq_2`."""
    names = _distinct(columns)
    for row in rows:
        values = map(_json_value, row)
        write(_ENCODER.encode(dict(zip(names, values, strict=True))) + b"\n")


def _distinct(columns: Sequence[str]) -> list[str]:
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
        return {"$base64": True, "encoded": value}  # which is how the encoder writes bytes
    return value


class _Stdout:
    """Stdout as `csv` writes to it."""

    def write(self, text: str) -> None:
        write(text.encode("utf-8", "backslashreplace"))


def write_values(columns: Sequence[str], rows: Iterable[Iterable[Any]], form: str) -> None:
    """Write rows as separated values below the names of their columns: `csv` or `tsv`."""
    if not columns:
        return
    import csv

    delimiter = "," if form == "csv" else "\t"
    writer = csv.writer(_Stdout(), delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(map(cell_text, row) for row in rows)
