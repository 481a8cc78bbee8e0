"""`dshstore quarantine`: what salvages set aside, listed or written back."""

from __future__ import annotations

from itertools import chain

import click
import msgspec

import dshstore
from dshstore import QuarantinedPiece
from dshstore.cli.output import write, write_json
from dshstore.cli.parameters import (
    COUNT,
    any_session_argument,
    examples,
    json_option,
    store_argument,
)
from dshstore.cli.tables import write_table

_COLUMNS = ("id", "kind", "branch", "seq", "line", "frame", "byte", "size", "reason", "log")


@click.command(
    "quarantine",
    epilog=examples(
        "dshstore quarantine garden.db",
        "dshstore quarantine garden.db seedlings --branch 2 --raw > continued.jsonl",
    ),
)
@store_argument
@any_session_argument
@click.option(
    "--kind",
    type=click.Choice(["record", "debris", "padding"]),
    help="Only what reads whole, what does not, or NUL bytes.",
)
@click.option("--branch", type=COUNT, help="Only records of this continuation.")
@click.option("--raw", is_flag=True, help="Write the bytes themselves, each piece with a line end.")
@json_option
def command(
    store: str, session: str | None, kind: str | None, branch: int | None, raw: bool, as_json: bool
) -> None:
    """List what `import --salvage` set aside of the logs of SESSION, or of all."""
    if raw and as_json:
        raise click.UsageError("--raw and --json are two forms: choose one")
    with dshstore.open(store, mode="read") as opened:
        pieces = (
            piece
            for piece in opened.quarantine(session)
            if kind in (None, piece.kind) and branch in (None, piece.branch)
        )
        if raw:
            for piece in pieces:
                write(opened.quarantined_bytes(piece) + b"\n")
        elif as_json:
            for piece in pieces:
                write_json(msgspec.to_builtins(piece))
        elif first := next(pieces, None):
            write_table(_COLUMNS, map(_row, chain([first], pieces)))


def _row(piece: QuarantinedPiece) -> tuple[object, ...]:
    place = (piece.line, piece.frame, piece.offset, piece.size)
    return (piece.id, piece.kind, piece.branch, piece.seq, *place, piece.reason, piece.path)
