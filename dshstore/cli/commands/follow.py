"""`dshstore follow`: the events of a session as they come."""

from __future__ import annotations

import time

import click

import dshstore
from dshstore.cli.output import flush, write_json, write_text
from dshstore.cli.parameters import (
    COUNT,
    SECONDS,
    SEQ,
    examples,
    json_option,
    session_argument,
    store_argument,
)
from dshstore.cli.wording import event_line


@click.command(
    "follow",
    epilog=examples(
        "dshstore follow garden.db seedlings -n 5",
        "dshstore follow garden.db seedlings --from 0 --json",
    ),
)
@store_argument
@session_argument
@click.option("--from", "first", type=SEQ, metavar="SEQ", help="Begin with this event.")
@click.option("-n", "last", type=COUNT, metavar="COUNT", help="Begin with the last events.")
@click.option(
    "--interval",
    type=SECONDS,
    metavar="SECONDS",
    default=0.2,
    show_default=True,
    help="How often to look.",
)
@json_option
def command(
    store: str,
    session: str,
    first: int | None,
    last: int | None,
    interval: float,
    as_json: bool,
) -> None:
    """Write the events of SESSION as they are committed, until Ctrl-C.

    Only new ones, unless --from or -n name older ones to begin with. To look costs one row.
    """
    with dshstore.open(store, mode="read") as opened:
        found = opened.session(session)
        end = found.next_seq
        seq = end if first is None else first
        if last is not None:
            seq = max(seq if first is not None else 0, end - last)
        try:
            while True:
                end = found.next_seq
                if seq < end:
                    for event in found.events(seq, end - 1):
                        write_json(event) if as_json else write_text(event_line(event))
                    flush()
                    seq = end
                time.sleep(interval)
        except KeyboardInterrupt:
            return
