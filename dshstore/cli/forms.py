"""Rows in the form that was asked for: a table, JSON objects, or separated values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import click
import msgspec

from dshstore.cli.output import is_terminal, legible, say, time_text, visible, write
from dshstore.cli.parameters import COUNT
from dshstore.cli.tables import cell_text, write_table

if TYPE_CHECKING:
    from dshstore.reports import Report

#: SQL values are plain: no half surrogate pairs, nothing nested, so the fastest encoder will do.
_ENCODER = msgspec.json.Encoder()

Command = Callable[..., Any]


#: What each form is, the last one told first.
_FORMS = {
    "table": "Write a table (usual).",
    "tsv": "Write tab-separated values.",
    "csv": "Write comma-separated values.",
    "json": "Write one JSON object a line.",
}


def form_options(command: Command) -> Command:
    """The options --json, --csv and --tsv of a command, as its parameter `form`: one, or None."""
    return _form_options(command, "tsv", "csv", "json")


def all_form_options(command: Command) -> Command:
    """The same with --table."""
    return _form_options(command, "table", "tsv", "csv", "json")


def _form_options(command: Command, *names: str) -> Command:
    for name in names:
        command = click.option(
            f"--{name}",
            f"as_{name}",
            is_flag=True,
            expose_value=False,
            callback=_choose,
            help=_FORMS[name],
        )(command)
    return command


def _choose(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """Make an option that was given the form of a command, which has one."""
    chosen = ctx.params.setdefault("form", None)
    if value:
        name = param.opts[0].removeprefix("--")
        if chosen is not None:
            raise click.UsageError(f"--{chosen} and --{name} are two forms: choose one", ctx)
        ctx.params["form"] = name


limit_option = click.option("-n", "limit", type=COUNT, metavar="COUNT", help="At most so many.")

#: The parameters that narrow what a command looks for.
_NARROWING = ("session", "project", "since", "model", "text", "state", "roles")


def say_nothing_found() -> None:
    """Tell the person at the terminal that nothing was found, and by what it was narrowed."""
    ctx = click.get_current_context()
    where, options = "", []
    for param in ctx.command.params:
        value = ctx.params.get(param.name or "")
        if param.name not in _NARROWING or value is None or value == ():
            continue
        if param.name == "since":
            value = time_text(value)
        shown = visible(value if isinstance(value, str) else " ".join(value))
        if isinstance(param, click.Option):
            options.append(f"{param.opts[0]} {shown}")
        else:
            where = f" in session {shown}"
    say(f"nothing found{where}{' with ' if options else ''}{', '.join(options)}")


def write_rows(
    form: str | None,
    rows: Report,
    people: Mapping[str, Callable[[Mapping[str, Any]], object]],
    limit: int | None = None,
) -> None:
    """Write the rows of a report; where there are none say so, and only name separated columns.

    `people` are the columns of the table: for each the value that a person sees of a row.
    """
    found = list(islice(rows, limit))
    if not found:
        say_nothing_found()
    match form:
        case "json":
            for row in found:
                write(_ENCODER.encode(row) + b"\n")
        case "csv" | "tsv":
            write_values(rows.columns, (row.values() for row in found), form)
        case _ if found:
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
    """Write rows as separated values below the names of their columns: `csv` or `tsv`.

    What a program reads are the values as they are; a terminal gets no control characters.
    """
    if not columns:
        return
    import csv

    delimiter = "," if form == "csv" else "\t"
    writer = csv.writer(_Stdout(), delimiter=delimiter, lineterminator="\n")
    shown = legible if is_terminal() else str
    writer.writerow(map(shown, columns))
    writer.writerows([shown(cell_text(value)) for value in row] for row in rows)
