"""Rows for people: drawn on a terminal where they fit, else in plain columns.

A table is written in parts, so that one of any length takes little memory. The first part decides
how wide plain columns are, and what is wider stands over. Only long cells on a terminal are cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import Any

from dshstore.cli.output import console, display_width, is_terminal, shorten, visible, write

#: Rows that a part has.
_PART = 1000

#: The most that a cell of a plain table is padded to.
_PADDED = 60

#: On a terminal: the most that is shown of a cell; the width up to which a column keeps to one
#: line a row, so that an id can be copied; the least that is left of a wider one; between two.
_SHOWN, _ONE_LINE, _LEAST, _GAP = 240, 40, 16, 3


def cell_text(value: Any) -> str:
    """A value as text: None is empty, bytes are the blob literal of SQL."""
    if value is None:
        return ""
    return f"x'{value.hex()}'" if isinstance(value, bytes) else str(value)


def write_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows below the names of their columns; nothing when there are no columns."""
    if not columns:
        return
    names = [visible(name) for name in columns]
    remaining = iter(rows)
    first = list(islice(remaining, _PART))
    numeric = [_is_numeric(row[i] for row in first) for i in range(len(names))]
    terminal = is_terminal()

    def shown(part: Iterable[Sequence[Any]]) -> list[list[str]]:
        return [[_line(value, terminal) for value in row] for row in part]

    cells = shown(first)
    widths = [max(map(display_width, column)) for column in zip(names, *cells, strict=True)]
    if terminal and _least_width(widths) <= console().width:
        _draw(names, widths, numeric, cells)
        while cells := shown(islice(remaining, _PART)):
            _draw(names, widths, numeric, cells)
        return
    padded = [
        min(width, max(_PADDED, display_width(n))) for n, width in zip(names, widths, strict=True)
    ]
    _write_line(names, padded, numeric)
    _write_line(["-" * width for width in padded], padded, numeric)
    for row in chain(first, remaining):
        _write_line([_line(value, terminal) for value in row], padded, numeric)


def _is_numeric(values: Iterable[Any]) -> bool:
    found = [value for value in values if value is not None]
    return bool(found) and all(isinstance(value, int | float) for value in found)


def _line(value: Any, terminal: bool) -> str:
    text = cell_text(value)
    return shorten(text, _SHOWN) if terminal else visible(text)


def _least_width(widths: Sequence[int]) -> int:
    least = (width if width <= _ONE_LINE else _LEAST for width in widths)
    return sum(least) + _GAP * (len(widths) - 1)


def _draw(
    names: Sequence[str],
    widths: Sequence[int],
    numeric: Sequence[bool],
    cells: Iterable[Sequence[str]],
) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name, width, to_the_right in zip(names, widths, numeric, strict=True):
        table.add_column(
            Text(name),
            justify="right" if to_the_right else "left",
            overflow="fold",
            no_wrap=width <= _ONE_LINE,
        )
    for row in cells:
        table.add_row(*map(Text, row))
    console().print(table)


def _write_line(cells: Iterable[str], widths: Sequence[int], numeric: Sequence[bool]) -> None:
    padded = []
    for cell, width, to_the_right in zip(cells, widths, numeric, strict=True):
        fill = " " * (width - display_width(cell))
        padded.append(fill + cell if to_the_right else cell + fill)
    write("  ".join(padded).rstrip().encode("utf-8", "backslashreplace") + b"\n")
