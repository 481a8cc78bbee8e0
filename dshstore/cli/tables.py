"""Rows for people: drawn on a terminal, in plain columns elsewhere.

A table is written in parts, so that one of any length takes little memory; the first part decides
the widths of plain columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from dshstore.cli.output import console, display_width, is_terminal, shorten, visible, write

#: Rows that a part has.
_PART = 1000

#: The most that a cell is padded to in a plain table, and the most that a terminal shows of one.
_PADDED, _SHOWN = 60, 600

Rows = Iterable[Sequence[Any]]


def cell_text(value: Any) -> str:
    """A value as text: None is empty, bytes are the blob literal of SQL."""
    if value is None:
        return ""
    return f"x'{value.hex()}'" if isinstance(value, bytes) else str(value)


def write_table(columns: Sequence[str], rows: Rows) -> None:
    """Write rows below the names of their columns; nothing when there are no columns."""
    if not columns:
        return
    names = [visible(name) for name in columns]
    remaining = iter(rows)
    if is_terminal():
        while part := list(islice(remaining, _PART)):
            _draw(names, part)
        return
    for line in _plain_lines(names, remaining):
        write(line.rstrip().encode("utf-8", "backslashreplace") + b"\n")


def _draw(names: list[str], rows: list[Sequence[Any]]) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name, numeric in zip(names, _numeric(len(names), rows), strict=True):
        table.add_column(Text(name), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(shorten(cell_text(value), _SHOWN)) for value in row))
    console().print(table)


def _plain_lines(names: list[str], remaining: Iterator[Sequence[Any]]) -> Iterator[str]:
    part = list(islice(remaining, _PART))
    numeric = _numeric(len(names), part)
    widths = [display_width(name) for name in names]
    for row in part:
        for i, value in enumerate(row):
            widths[i] = max(widths[i], min(_PADDED, display_width(visible(cell_text(value)))))

    def line(cells: Iterable[str]) -> str:
        padded = []
        for cell, width, to_the_right in zip(cells, widths, numeric, strict=True):
            fill = " " * (width - display_width(cell))
            padded.append(fill + cell if to_the_right else cell + fill)
        return "  ".join(padded)

    yield line(names)
    yield line("-" * width for width in widths)
    while part:
        yield from (line(visible(cell_text(value)) for value in row) for row in part)
        part = list(islice(remaining, _PART))


def _numeric(count: int, rows: list[Sequence[Any]]) -> list[bool]:
    """Of each column, whether it holds numbers alone."""
    return [
        any(row[i] is not None for row in rows)
        and all(isinstance(row[i], int | float | None) for row in rows)
        for i in range(count)
    ]
