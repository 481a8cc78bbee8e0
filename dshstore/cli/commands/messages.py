"""`dshstore messages`: what the model sees of a session, or how that changed."""

from __future__ import annotations

import click

import dshstore
from dshstore.cli.output import write, write_json, write_text
from dshstore.cli.parameters import (
    SEQ,
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
        "dshstore messages garden.db seedlings --at 12 --diff 40",
    ),
)
@store_argument
@session_argument
@at_option
@click.option(
    "--diff", "until", type=SEQ, metavar="SEQ", help="What left and what came from --at to this."
)
@click.option("--allow-unknown", is_flag=True, help="Pass over required events of unknown type.")
@json_option
def command(
    store: str,
    session: str,
    at: int | None,
    until: int | None,
    allow_unknown: bool,
    as_json: bool,
) -> None:
    """Write the messages that the model sees of SESSION.

    They stand in the order in which the model sees them; as JSON, exactly as the log holds them.
    """
    if until is not None and at is None:
        raise click.UsageError("--diff needs --at, the event to begin with")
    with dshstore.open(store, mode="read") as opened:
        found = opened.session(session)
        if until is not None:
            assert at is not None
            _write_difference(found.diff(at, until, allow_unknown=allow_unknown), as_json)
        elif as_json:
            for message in found.messages_json(at, allow_unknown=allow_unknown):
                write(message + b"\n")
        else:
            messages = found.messages(at, allow_unknown=allow_unknown)
            for position, message in enumerate(messages):
                if position:
                    write_text("")
                for text, style in message_pieces(position, message):
                    write_text(text, style)


def _write_difference(difference: dshstore.Difference, as_json: bool) -> None:
    for change, messages in (("left", difference.left), ("came", difference.came)):
        for seq, message in messages.items():
            if as_json:
                write_json({"change": change, "seq": seq, "message": message})
                continue
            write_text(f"{change}, event {seq}:", "bold")
            for text, style in message_pieces(seq, message):
                write_text(text, style)
            write_text("")
