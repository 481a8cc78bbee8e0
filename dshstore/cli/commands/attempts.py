"""`dshstore attempts`: when the tokens of each attempt of a model came."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import click
import msgspec

import dshstore
from dshstore import AttemptTiming, Store
from dshstore.cli.output import write_json
from dshstore.cli.parameters import examples, json_option, store_argument
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


@click.command(
    "attempts",
    epilog=examples(
        "dshstore attempts garden.db seedlings",
        "dshstore attempts garden.db --gap 5000 --json",
    ),
)
@store_argument
@click.argument("session", metavar="[SESSION]", required=False)
@click.option(
    "--gap",
    "min_gap",
    type=click.IntRange(min=0),
    metavar="MS",
    default=1000,
    show_default=True,
    help="As JSON, tell each silence that is longer.",
)
@json_option
def command(store: str, session: str | None, min_gap: int, as_json: bool) -> None:
    """Tell when the tokens of each attempt of a model came.

    Of SESSION, or of every session of STORE: how long the first token took, how long all of them,
    how many came in a second, and the longest silence between two. Attempts that failed are told
    too. What the log does not tell is left empty.
    """
    with dshstore.open(store, mode="read") as opened:
        found = _read(opened, session, min_gap)
        if as_json:
            for session_id, timing in found:
                write_json({"session_id": session_id, **msgspec.to_builtins(timing)})
        elif first := next(found, None):
            named = session is None
            rows = (_row(*one, named=named) for one in chain([first], found))
            write_table(("session", *_COLUMNS) if named else _COLUMNS, rows)


def _read(store: Store, session: str | None, min_gap: int) -> Iterator[tuple[str, AttemptTiming]]:
    names = [one.session_id for one in store.sessions()] if session is None else [session]
    for name in names:
        opened = store.session(name)
        for timing in opened.attempts(min_gap):
            yield opened.session_id, timing


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
