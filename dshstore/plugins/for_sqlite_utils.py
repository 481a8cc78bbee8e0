"""The plugin of sqlite-utils: SQL functions on its connections, and commands of its own.

`sqlite-utils garden.db "SELECT dsh_messages('bean-bed')"`, `sqlite-utils dshstore-messages
garden.db bean-bed`. Decides the commands and how they write, which is as sqlite-utils writes: a
JSON array, or with --nl one value a line. What the functions give is for `functions`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from sqlite3 import Connection, DatabaseError
from typing import Any

import click
import sqlite_utils

import dshstore
from dshstore.errors import StoreError
from dshstore.plugins.functions import asker, assembled_blocks, register_functions


@sqlite_utils.hookimpl
def prepare_connection(conn: Connection) -> None:
    """Add the functions to a connection to a store."""
    register_functions(conn)


@sqlite_utils.hookimpl
def register_commands(cli: click.Group) -> None:
    """Add the commands, each to read a session of a store."""
    cli.add_command(messages)
    cli.add_command(events)
    cli.add_command(stream)


_path = click.argument("path", type=click.Path(exists=True, dir_okay=False))
_session = click.argument("session")
_nl = click.option("--nl", is_flag=True, help="Output newline-delimited JSON")


@click.command("dshstore-messages")
@_path
@_session
@click.option("--at", type=click.IntRange(min=0), metavar="SEQ", help="As they were after it")
@click.option("--allow-unknown", is_flag=True, help="Pass over events of unknown types")
@_nl
def messages(path: str, session: str, at: int | None, allow_unknown: bool, nl: bool) -> None:
    """Output the messages that the model sees of a session of a dshstore store

    Old shapes are upgraded, images that were left out are marked.

    Example:

    \b
        sqlite-utils dshstore-messages garden.db bean-bed --at 35
    """
    with _opened(path, session) as found:
        _write((m.decode() for m in found.messages_json(at, allow_unknown=allow_unknown)), nl)


@click.command("dshstore-events")
@_path
@_session
@click.option("--from", "first", type=click.IntRange(min=0), default=0, help="First seq")
@click.option("--to", "last", type=click.IntRange(min=0), help="Last seq")
@click.option("--type", "type_", help="Only events of this type")
@_nl
def events(
    path: str, session: str, first: int, last: int | None, type_: str | None, nl: bool
) -> None:
    """Output the events of a session of a dshstore store, as its log has them

    Token runs are expanded, streams are in place.

    Example:

    \b
        sqlite-utils dshstore-events garden.db bean-bed --type user/message
    """
    with _opened(path, session) as found:
        end = found.next_seq - 1 if last is None else last
        _write((dshstore.dump_json(e) for e in found.events(first, end, type_)), nl)


@click.command("dshstore-stream")
@_path
@_session
@click.argument("seq", type=click.IntRange(min=0))
@click.option("--blocks", is_flag=True, help="The content blocks that the chunks add up to")
@_nl
def stream(path: str, session: str, seq: int, blocks: bool, nl: bool) -> None:
    """Output the timed chunks of the model attempt that is stored with an event

    Example:

    \b
        sqlite-utils dshstore-stream garden.db seedlings 7 --blocks
    """
    with _opened(path, session) as found:
        chunks: list[dict[str, Any]] = found.stream(seq)
        if not chunks:
            raise click.ClickException(f"event {seq} holds no stream")
        _write(map(dshstore.dump_json, assembled_blocks(chunks) if blocks else chunks), nl)


@contextmanager
def _opened(path: str, session: str) -> Iterator[dshstore.Session]:
    """The session in the file; what goes wrong is one sentence."""
    try:
        with closing(sqlite_utils.Database(path)) as database:
            database.execute("PRAGMA query_only = 1")
            yield dshstore.borrowed.session(asker(database.conn), session)
    except (StoreError, DatabaseError, ValueError) as error:
        raise click.ClickException(str(error)) from error


def _write(values: Iterator[str], nl: bool) -> None:
    """The JSON texts as sqlite-utils lays rows out."""
    if nl:
        for value in values:
            click.echo(value)
        return
    separator = "["
    for value in values:
        click.echo(f"{separator}{value}", nl=False)
        separator = ",\n "
    click.echo("[]" if separator == "[" else "]")
