"""The group of all commands: which there are, in which order, and where each is found.

A new command is a module of `commands`, and a line in COMMANDS.
"""

from __future__ import annotations

import keyword
from importlib import import_module

import click

import dshstore

#: Every command, and the first sentence of its help, in the order in which `dshstore --help` tells
#: them. It stands here too, so that this help need not load every command.
COMMANDS = {
    "init": "Make an empty STORE; one that is there stays as it is.",
    "import": "Import logs into STORE, which is made when it is not there.",
    "export": "Write the log of SESSION, byte for byte as it came in.",
    "sessions": "List the sessions of STORE, the one last written to first.",
    "show": "Show SESSION as a transcript: turns, messages, calls, failures, compactions.",
    "messages": "Write the messages that the model sees of SESSION.",
    "surface": "List the events that the model sees of SESSION.",
    "events": "Write the events of SESSION, oldest first.",
    "why": "Tell why event SEQ of SESSION stands where it does.",
    "attempts": "Tell when the tokens of each attempt of a model came.",
    "usage": "Tell the tokens that providers reported, of SESSION or of all of STORE.",
    "tools": "List the tools that were called, of SESSION or of all of STORE, the busiest first.",
    "compactions": "List what took the place of other messages, in SESSION or in all of "
    "STORE, latest first.",
    "follow": "Write the events of SESSION as they are committed, until Ctrl-C.",
    "search": "Find what people and models wrote in STORE, the best match first.",
    "sql": "Answer one SQL question about STORE; it can only read.",
    "info": "Tell what STORE is, and how much it holds.",
    "verify": "Look for damage in STORE, and for faults in its logs.",
    "repair": "Close the turn in which SESSION was interrupted.",
    "fork": "Begin a session that shares the log of SESSION, and write its id.",
    "migrate": "Write SESSION anew in log format v1 or v2, and tell its name there.",
    "backup": "Copy STORE to the new file DEST, as it is at one moment, while others write to it.",
    "quarantine": "List what `import --salvage` set aside of the logs of SESSION, or of all.",
    "browse": "Show STORE in a browser: its sessions, a transcript of each, its views.",
}


class CommandGroup(click.Group):
    """Loads a command when it is asked for, so that none pays for what another imports."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        limit = formatter.width - 6 - max(map(len, COMMANDS))
        with formatter.section("Commands"):
            formatter.write_dl(
                [
                    (name, click.Command(name, help=said).get_short_help_str(limit))
                    for name, said in COMMANDS.items()
                ]
            )

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
