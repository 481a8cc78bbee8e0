"""The words that several commands take: STORE, SESSION, --at, --json, --project, numbers, times.

Decides which numbers and times can be meant: whatever cannot is wrong usage, and reaches
no store.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import click

#: The largest whole number that a log can have.
_MOST = 2**53 - 1

#: About 30 years: a clock waits no longer.
_MOST_SECONDS = 1e9


class _Whole(click.IntRange):
    """A number that a log can have. Its end is so far off that no help need tell it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        number = int(super().convert(value, param, ctx))
        if number > _MOST:
            self.fail(f"{value} is more than {_MOST}", param, ctx)
        return number


class _Seconds(click.FloatRange):
    """A time that can be waited for: a range holds NaN, which compares with nothing."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        seconds = float(super().convert(value, param, ctx))
        if not seconds <= _MOST_SECONDS:
            self.fail(f"{value} is not a number of seconds up to {_MOST_SECONDS:.0f}", param, ctx)
        return seconds


#: The seq of an event. Whether a session has it, the session tells.
SEQ = _Whole(min=0)

#: How many of something, and how long something takes in ms.
COUNT = _Whole(min=1)
MILLISECONDS = _Whole(min=0)

SECONDS = _Seconds(min=0, min_open=True)

store_argument = click.argument("store", metavar="STORE")
session_argument = click.argument("session", metavar="SESSION")
any_session_argument = click.argument("session", metavar="[SESSION]", required=False)
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
    size = 0 if factor is None else _read_digits(digits) * factor
    if not 0 < size <= _MOST:
        raise click.BadParameter(f"{value!r} is not a size such as 4096, 64K or 2G", ctx, param)
    return size


def _read_digits(digits: str) -> int:
    """The number that ASCII digits mean; 0 for what is none, and for more than any store holds."""
    return int(digits) if re.fullmatch("[0-9]{1,16}", digits) else 0


#: How many ms a unit of a span of time is.
_SPANS = {"m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 7 * 86_400_000}


def read_moment(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """The time (epoch ms) that is meant: an ISO date or time, UTC unless it says, or a span ago."""
    if value is None:
        return None
    if span := re.fullmatch("([0-9]{1,16})([mhdw])", value):
        since = time.time_ns() // 1_000_000 - int(span[1]) * _SPANS[span[2]]
        if since >= -_MOST:
            return since
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(
            f"{value!r} is not a time such as 7d, 12h or 2026-11-01T08:00", ctx, param
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return int(moment.timestamp() * 1000)


def project_option(said: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The option --project of a command."""
    return click.option("--project", metavar="FOLDER", help=said)


def since_option(said: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The option --since of a command."""
    forms = "7d, 12h, 30m, 2026-11-01, 2026-11-01T08:00 (UTC)"
    return click.option("--since", callback=read_moment, metavar="TIME", help=f"{said}: {forms}.")


def spell_size(size: int) -> str:
    """The shortest text that `read_size` takes for so many bytes."""
    units = reversed(_UNITS.items())
    return next(f"{size // factor}{unit}" for unit, factor in units if not size % factor)


def examples(*lines: str) -> str:
    """The end of a command's help: how it is used."""
    title = "Examples:" if len(lines) > 1 else "Example:"
    return "\n".join(["\b", title, *(f"  {line}" for line in lines)])
