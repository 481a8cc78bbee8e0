"""`dshstore attempts`: when the tokens of each attempt of a model came."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import click
import msgspec

import dshstore
from dshstore import AttemptTiming, Store
from dshstore.cli.forms import form_options, say_nothing_found, write_values
from dshstore.cli.output import write_json
from dshstore.cli.parameters import MILLISECONDS, any_session_argument, examples, store_argument
from dshstore.cli.tables import write_table

_COLUMNS = (
    "seq",
    "turn",
    "step",
    "outcome",
    "finish",
    "first token ms",
    "duration ms",
    "tokens",
    "tokens/s",
    "longest gap ms",
)

#: The columns of separated values. A list of silences is no value; the longest of them is.
_FIGURES = tuple(name for name in AttemptTiming.__struct_fields__ if name != "gaps")
_VALUES = ("session_id", *_FIGURES)


@click.command(
    "attempts",
    epilog=examples(
        "dshstore attempts garden.db seedlings",
        "dshstore attempts garden.db --gap 5000 --json",
    ),
)
@store_argument
@any_session_argument
@click.option(
    "--gap",
    "min_gap",
    type=MILLISECONDS,
    metavar="MS",
    default=1000,
    show_default=True,
    help="As JSON, tell each silence that is longer.",
)
@form_options
def command(store: str, session: str | None, min_gap: int, form: str | None) -> None:
    """Tell when the tokens of each attempt of a model came.

    Of SESSION, or of every session of STORE: how long the first token took, how long all of them,
    how many came in a second, and the longest silence between two. Attempts that failed are told
    too. What the log does not tell is left empty.
    """
    with dshstore.open(store, mode="read") as opened:
        timings = _read(opened, session, min_gap)
        first = next(timings, None)
        if first is None:
            say_nothing_found()
        found = timings if first is None else chain([first], timings)
        match form:
            case "json":
                for session_id, timing in found:
                    write_json({"session_id": session_id, **msgspec.to_builtins(timing)})
            case "csv" | "tsv":
                write_values(_VALUES, map(_values, found), form)
            case _ if first is not None:
                named = session is None
                rows = (_row(*one, named=named) for one in found)
                write_table(("session", *_COLUMNS) if named else _COLUMNS, rows)


def _read(store: Store, session: str | None, min_gap: int) -> Iterator[tuple[str, AttemptTiming]]:
    names = [one.session_id for one in store.sessions()] if session is None else [session]
    for name in names:
        opened = store.session(name)
        for timing in opened.attempts(min_gap):
            yield opened.session_id, timing


def _values(found: tuple[str, AttemptTiming]) -> tuple[object, ...]:
    session_id, timing = found
    return (session_id, *(getattr(timing, name) for name in _FIGURES))


def _row(session_id: str, timing: AttemptTiming, *, named: bool) -> tuple[object, ...]:
    rate = timing.tokens_per_second
    return (
        *([session_id] if named else []),
        timing.seq,
        timing.turn,
        timing.step,
        timing.outcome,
        timing.finish,
        timing.first_token_delay,
        timing.duration,
        timing.output_tokens,
        None if rate is None else round(rate, 1),
        timing.longest_gap,
    )
