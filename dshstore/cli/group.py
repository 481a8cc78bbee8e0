"""The group of all commands: which there are, in which order, and where each is found.

A new command is a module of `commands` and a name in COMMANDS.
"""

from __future__ import annotations

import keyword
from importlib import import_module

import click

import dshstore

#: Every command, in the order in which `dshstore --help` tells them.
COMMANDS = (
    "init",
    "import",
    "export",
    "sessions",
    "show",
    "messages",
    "surface",
    "events",
    "why",
    "attempts",
    "usage",
    "tools",
    "compactions",
    "follow",
    "search",
    "sql",
    "info",
    "verify",
    "repair",
    "fork",
    "migrate",
    "backup",
    "quarantine",
    "browse",
)


class CommandGroup(click.Group):
    """Loads a command when it is asked for, so that none pays for what another imports."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = f"{cmd_name}_" if keyword.iskeyword(cmd_name) else cmd_name
        command = import_module(f"dshstore.cli.commands.{module}").command
        assert isinstance(command, click.Command)
        return command


@click.group(
    cls=CommandGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="SESSION is a whole session id, ID@vN for one generation of it, or an unambiguous "
    "prefix; put -- before one that begins with a dash.",
)
@click.version_option(dshstore.__version__, message="%(prog)s %(version)s")
def root() -> None:
    """Session logs of LLM agents in one SQLite file, the STORE.

    Each session is an append-only log of events; its surface is what the model sees of them now.
    """
