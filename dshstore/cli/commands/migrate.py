"""`dshstore migrate`: a session as one of a later log format."""

from __future__ import annotations

import click

import dshstore
from dshstore.cli.output import say, visible, write_json, write_text
from dshstore.cli.parameters import examples, json_option, session_argument, store_argument


@click.command(
    "migrate",
    epilog=examples(
        "dshstore migrate garden.db bean-bed",
        "dshstore migrate garden.db bean-bed@v0 --to 1",
    ),
)
@store_argument
@session_argument
@click.option(
    "--to", type=click.IntRange(1, 2), default=2, show_default=True, help="The log format."
)
@json_option
def command(store: str, session: str, to: int, as_json: bool) -> None:
    """Write SESSION anew in log format v1 or v2, and tell its name there.

    It shows a model what it showed before; from format v2 on, the tokens of an answer stand in
    the message that came of them. The old generation stays as it is: a plain id means the new one
    from now on, ID@v0 the old one. What cannot be migrated without a loss is refused.
    """
    with dshstore.open(store, mode="read") as opened:
        found = opened.session(session)
        name, before, old_events = found.session_id, found.format_version, found.next_seq
    with dshstore.open(store) as opened:
        migrated = opened.migrate(f"{name}@v{before}", to=to)
        version, events = migrated.format_version, migrated.next_seq
    if as_json:
        made = {"session_id": name, "format_version": version, "events": events}
        write_json({**made, "migrated_from": before})
        return
    write_text(f"{name}@v{version}")
    if before == version:
        say(f"{visible(name)}: it is in format v{version} already")
    else:
        say(f"{visible(name)}: {old_events} events, as v{version} {events}")
