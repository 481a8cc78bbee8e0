"""The words that several commands take: STORE, SESSION, --at, --json, sizes; and their examples."""

from __future__ import annotations

import click

#: The seq of an event. Whether a session has it, the session tells.
SEQ = click.IntRange(min=0)

store_argument = click.argument("store", metavar="STORE")
session_argument = click.argument("session", metavar="SESSION")
at_option = click.option("--at", type=SEQ, metavar="SEQ", help="As it was after this event.")
json_option = click.option("--json", "as_json", is_flag=True, help="Write one JSON object a line.")

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def read_size(ctx: click.Context, param: click.Parameter, value: str) -> int:
    """The bytes that a size means: K, M, G or T after its number stands for a power of 1,024."""
    digits = value.rstrip("KMGTkmgt")
    factor = _UNITS.get(value[len(digits) :].upper())
    if factor is None or not (digits.isascii() and digits.isdigit() and int(digits)):
        raise click.BadParameter(f"{value!r} is not a size such as 4096, 64K or 2G", ctx, param)
    return int(digits) * factor


def spell_size(size: int) -> str:
    """The shortest text that `read_size` takes for so many bytes."""
    units = reversed(_UNITS.items())
    return next(f"{size // factor}{unit}" for unit, factor in units if not size % factor)


def examples(*lines: str) -> str:
    """The end of a command's help: how it is used."""
    title = "Examples:" if len(lines) > 1 else "Example:"
    return "\n".join(["\b", title, *(f"  {line}" for line in lines)])
