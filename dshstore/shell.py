"""A shell on a store for a person, or for statements that come through a pipe; it can only read.

What it can do is apsw's shell; here it is decided what it may: no SQL that changes anything, none
of the shell's commands that write, run programs or open other files, and no use of the store's
own files as plain files (closing one would drop SQLite's locks on it).
"""

from __future__ import annotations

import os
import shlex
import sys
from contextlib import nullcontext, suppress
from pathlib import Path

import apsw
import apsw.shell

from dshstore import schema
from dshstore.db import Database, is_own_file

#: The commands of apsw's shell that are of use to a reader, and harmless.
COMMANDS = {
    "bail", "color", "colour", "databases", "echo", "exit", "find", "header", "headers", "help",
    "indices", "mode", "nullvalue", "output", "parameter", "print", "prompt", "quit", "read",
    "schema", "separator", "show", "tables", "timeout", "timer", "version", "width",
}  # fmt: skip


class _Reader(apsw.shell.Shell):
    """apsw's shell on a store, with what it may do narrowed."""

    def __init__(self, database: Database) -> None:
        super().__init__(db=database.reading_connection())
        self._store = database.path
        self.prompt, self.moreprompt = "dshstore> ", "     ...> "
        self.bail = not self.interactive
        self._is_ended = False

    def __dir__(self) -> list[str]:
        """Names, for `.help`: without the commands that are not here."""
        names = super().__dir__()
        return [n for n in names if not n.startswith("command_") or n[8:] in COMMANDS]

    def get_line(self, prompt: str = "") -> str | None:
        """One line; the last statement of a pipe or file ends without a semicolon too."""
        line: str | None = super().get_line(prompt)  # type: ignore[no-untyped-call]
        if line is None and prompt == self.moreprompt and not (self.interactive or self._is_ended):
            self._is_ended = True
            return ";"
        self._is_ended = False
        return line

    def handle_exception(self) -> None:
        """Tell an error; what ends a program is for who started it."""
        if isinstance(sys.exc_info()[1], (OSError, KeyboardInterrupt)) and self.bail:
            raise
        super().handle_exception()  # type: ignore[no-untyped-call]

    def write_error(self, text: str) -> None:
        """Write an error of SQL."""
        refused = text == "not authorized\n"
        super().write_error("not allowed: this shell only reads\n" if refused else text)  # type: ignore[no-untyped-call]

    def process_command(self, command: str) -> None:
        """Run one of the shell's own commands."""
        name, *arguments = shlex.split(command)
        if name[1:] not in COMMANDS:
            raise self.Error(f"{name} is not here: this shell only reads; .help tells what is")
        if name in (".output", ".read") and arguments:
            self._check_file(arguments[0])
        try:
            super().process_command(command)  # type: ignore[no-untyped-call]
        except OSError as error:
            if error.filename is None:  # then it is a stream that fails
                raise
            raise self.Error(f"{error.filename}: {error.strerror}") from error

    def command_bail(self, words: list[str]) -> None:
        """bail ON|OFF: Stop after hitting an error (OFF for a person, else ON)

        If an error is encountered while processing commands or SQL then exit.
        """
        super().command_bail(words)  # type: ignore[no-untyped-call]

    def _check_file(self, name: str) -> None:
        if name.lower().endswith(".py"):
            raise self.Error(f"{name}: this shell runs no Python")
        if is_own_file(self._store, name):
            raise self.Error(f"{name}: is a file of the store")


def run(path: str) -> int:
    """Let a person ask the store at `path`, or answer the statements on standard input in turn.

    The status: that of `.exit`, 0, or 2 when such a statement failed, which its message on stderr
    has told; a person goes on after one. Raises what opening a store to read does, and OSError
    when what it answers cannot be written.
    """
    database = schema.open_reading(path)
    try:
        shell = _Reader(database)
        shell.history_file = str(_history_file())
        intro = f"{path}, to read: SQL ends with ;, .tables and .help tell more, Ctrl-D ends.\n"
        # a person is told all errors inside, but that the history could not be kept
        with suppress(OSError) if shell.interactive else nullcontext():
            shell.cmdloop(intro)  # type: ignore[no-untyped-call]
    except SystemExit as left:  # by .exit
        return int(left.code or 0)
    except (apsw.Error, apsw.shell.Shell.Error, KeyError, TypeError, ValueError):
        return 2
    finally:
        database.close()
    return 0


def _history_file() -> Path:
    """Where the lines that a person typed are kept: with the state of other programs."""
    state = os.environ.get("XDG_STATE_HOME") or Path("~/.local/state").expanduser()
    folder = Path(state) / "dshstore"
    if os.isatty(0):
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder / "sql_history"
