"""`dshstore messages`: what the model sees of a session."""

from __future__ import annotations

import click

import dshstore
from dshstore.cli.output import write, write_text
from dshstore.cli.parameters import (
    at_option,
    examples,
    json_option,
    session_argument,
    store_argument,
)
from dshstore.cli.wording import message_pieces


@click.command(
    "messages",
    epilog=examples(
        "dshstore messages garden.db seedlings",
        "dshstore messages garden.db seedlings --at 12 --json",
    ),
)
@store_argument
@session_argument
@at_option
@click.option("--allow-unknown", is_flag=True, help="Pass over required events of unknown type.")
@json_option
def command(store: str, session: str, at: int | None, allow_unknown: bool, as_json: bool) -> None:
    """Write the messages that the model sees of SESSION.

    They stand in the order in which the model sees them; as JSON, exactly as the log holds them.
    """
    with dshstore.open(store, mode="read") as opened:
        found = opened.session(session)
        if as_json:
            for message in found.messages_json(at, allow_unknown=allow_unknown):
                write(message + b"\n")
            return
        for position, message in enumerate(found.messages(at, allow_unknown=allow_unknown)):
            if position:
                write_text("")
            for text, style in message_pieces(position, message):
                write_text(text, style)
