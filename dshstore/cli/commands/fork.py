"""`dshstore fork`: begin a session that shares another one's log."""

from __future__ import annotations

import click

import dshstore
from dshstore.cli.output import write_json, write_text
from dshstore.cli.parameters import SEQ, examples, json_option, session_argument, store_argument


@click.command(
    "fork",
    epilog=examples(
        "dshstore fork garden.db seedlings --at 12",
        "dshstore fork garden.db seedlings --at 12 --id seedlings-indoors",
    ),
)
@store_argument
@session_argument
@click.option("--at", type=SEQ, metavar="SEQ", help="Share the log up to this event; else all.")
@click.option("--id", "new_id", metavar="ID", help="The id of the fork; else a new one is made.")
@click.option("--allow-unknown", is_flag=True, help="Pass over required events of unknown type.")
@json_option
def command(
    store: str, session: str, at: int | None, new_id: str | None, allow_unknown: bool, as_json: bool
) -> None:
    """Begin a session that shares the log of SESSION, and write its id.

    No event is copied. A turn that is open at the end of what is shared is closed in the fork.
    """
    with dshstore.open(store, mode="read") as opened:
        found = opened.session(session)
        exact = f"{found.session_id}@v{found.format_version}"
    with (
        dshstore.open(store) as opened,
        opened.fork(exact, at, new_id=new_id, allow_unknown=allow_unknown) as fork,
    ):
        new_id, version, events = fork.session_id, fork.format_version, fork.next_seq
    if as_json:
        made = {"session_id": new_id, "parent_session": found.session_id}
        write_json({**made, "format_version": version, "events": events})
    else:
        write_text(new_id)
