"""The words that several commands take: STORE, SESSION, --at, --json, sizes, times, examples."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import click

#: The seq of an event. Whether a session has it, the session tells.
SEQ = click.IntRange(min=0)

store_argument = click.argument("store", metavar="STORE")
session_argument = click.argument("session", metavar="SESSION")
at_option = click.option("--at", type=SEQ, metavar="SEQ", help="As it was after this event.")
json_option = click.option("--json", "as_json", is_flag=True, help="Write one JSON object a line.")

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def read_output(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Where something is written: any name, but the empty one would mean the current folder."""
    if value == "":
        raise click.BadParameter("the name is empty", ctx, param)
    return value


def read_size(ctx: click.Context, param: click.Parameter, value: str) -> int:
    """The bytes that a size means: K, M, G or T after its number stands for a power of 1,024."""
    digits = value.rstrip("KMGTkmgt")
    factor = _UNITS.get(value[len(digits) :].upper())
    if factor is None or not (digits.isascii() and digits.isdigit() and int(digits)):
        raise click.BadParameter(f"{value!r} is not a size such as 4096, 64K or 2G", ctx, param)
    return int(digits) * factor


#: How many ms a unit of a span of time is.
_SPANS = {"m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 7 * 86_400_000}


def read_moment(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """The time (epoch ms) that is meant: an ISO date or time, UTC unless it says, or a span ago."""
    if value is None:
        return None
    count, unit = value[:-1], value[-1:]
    if count.isascii() and count.isdigit() and unit in _SPANS:
        return time.time_ns() // 1_000_000 - int(count) * _SPANS[unit]
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(
            f"{value!r} is not a time such as 7d, 12h or 2026-11-01T08:00", ctx, param
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return int(moment.timestamp() * 1000)


def spell_size(size: int) -> str:
    """The shortest text that `read_size` takes for so many bytes."""
    units = reversed(_UNITS.items())
    return next(f"{size // factor}{unit}" for unit, factor in units if not size % factor)


def examples(*lines: str) -> str:
    """The end of a command's help: how it is used."""
    title = "Examples:" if len(lines) > 1 else "Example:"
    return "\n".join(["\b", title, *(f"  {line}" for line in lines)])
