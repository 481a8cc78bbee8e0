"""What came out: rows with a ratio each, held beside the demand, as a table, Markdown or JSON.

Decides how a ratio is told and when a demand counts as met. Nothing here fails a run: a ratio that
misses its demand is said loudly, and that is all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import median
from typing import Any, NamedTuple

from bench.clock import Span


class Demand(NamedTuple):
    """A bound on a ratio; `events` is the size for which it is asked, 0 when for any."""

    bound: float
    at_least: bool = False
    events: int = 0

    def __str__(self) -> str:
        return f"{'>=' if self.at_least else '<='} {self.bound:g}"

    def is_met(self, ratio: float) -> bool:
        return ratio >= self.bound if self.at_least else ratio <= self.bound


class Row(NamedTuple):
    """One comparison: `ratio` is a cost of ours to that of the other side, or as `what` says.

    `spread` has the least and the greatest ratio of the single rounds, `wall` the ratio of the
    times on the wall where `ratio` is one of processor times. `events` is the size measured.
    """

    group: str
    what: str
    ours: str
    beside: str
    ratio: float
    demand: Demand | None = None
    spread: tuple[float, float] | None = None
    wall: float | None = None
    events: int = 0

    @property
    def verdict(self) -> str:
        if self.demand is None:
            return ""
        if self.events < self.demand.events:
            return f"asked at {self.demand.events:,} events"
        return "met" if self.demand.is_met(self.ratio) else "MISSED"


def told(seconds: float) -> str:
    """A time in the unit that suits it."""
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if seconds * factor >= 0.9995:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def compare_spans(
    group: str,
    what: str,
    sides: tuple[str, Sequence[Span], str, Sequence[Span]],
    demand: Demand | None = None,
    events: int = 0,
    *,
    rounds: bool = True,
) -> Row:
    """A row of spans that were measured in turn; a demand of `at_least` is on their inverse.

    `rounds`: each is a round of its own, not one of many short calls.
    """
    name, ours, other, theirs = sides
    inverse = demand is not None and demand.at_least

    def ratio(a: float, b: float) -> float:
        return b / a if inverse else a / b

    def of(read: Callable[[Span], float]) -> tuple[float, float]:
        return median(map(read, ours)), median(map(read, theirs))

    cpu, wall = of(lambda span: span.cpu), of(lambda span: span.wall)
    ratios = [ratio(a.cpu, b.cpu) for a, b in zip(ours, theirs, strict=True)]
    return Row(
        group,
        what,
        f"{name} {told(cpu[0])}",
        f"{other} {told(cpu[1])}",
        ratio(*cpu),
        demand,
        (min(ratios), max(ratios)) if rounds else None,
        ratio(*wall),
        events,
    )


# -- what people read --

HEADINGS = ("what", "dshstore", "beside", "ratio", "rounds", "on the wall", "demand", "verdict")


def cells(row: Row) -> tuple[str, ...]:
    spread = f"{row.spread[0]:.3g}..{row.spread[1]:.3g}" if row.spread else ""
    wall = f"{row.wall:.3g}" if row.wall is not None else ""
    demand = str(row.demand) if row.demand else ""
    ratio = f"{row.ratio:.3g}"
    return row.what, row.ours, row.beside, ratio, spread, wall, demand, row.verdict


def table(headings: tuple[str, ...], cells: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """The lines of a table."""
    lines = [headings, *cells]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, tuple("-" * width for width in widths))
    for line in lines:
        yield "  ".join(
            cell.ljust(width) for cell, width in zip(line, widths, strict=True)
        ).rstrip()


def markdown(headings: tuple[str, ...], cells: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """The lines of a table in Markdown."""
    for line in [headings, ("---",) * len(headings), *cells]:
        yield f"| {' | '.join(line)} |"


def to_object(row: Row) -> dict[str, Any]:
    """A row for a program."""
    said = row._asdict() | {"demand": str(row.demand) if row.demand else None}
    return {**said, "verdict": row.verdict}


def summary(rows: Sequence[Row]) -> str:
    """How many demands were met, and which were not."""
    asked = [row for row in rows if row.verdict in ("met", "MISSED")]
    missed = [row for row in asked if row.verdict == "MISSED"]
    lines = [f"{len(asked) - len(missed)} of {len(asked)} demands met"]
    lines += [f"MISSED: {row.what}: {row.ratio:.3g}, asked {row.demand}" for row in missed]
    return "\n".join(lines)
