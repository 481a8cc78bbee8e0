"""The program around the commands: its streams, its exit status, and how it speaks of errors.

The status is 0 when done, 1 when an input was refused, 2 for what the caller got wrong, 3 when
the store says no. Whatever goes wrong is a sentence on stderr; a traceback is shown only to who
sets DSHSTORE_TRACEBACK.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress

import click

from dshstore.cli.group import root
from dshstore.cli.output import PipeClosed, display_width, flush, say, visible
from dshstore.errors import (
    Conflict,
    EventNotFound,
    LogRefused,
    OutputRefused,
    QueryFailed,
    StoreError,
)

#: Set it, to anything, to see where an error came from.
TRACEBACK = "DSHSTORE_TRACEBACK"

#: A log may nest values a thousand deep, and Python counts each level that its JSON functions
#: descend as a call: at its usual limit of 1,000 such a log would take the slow way, or fail.
#: The stack of a main thread (8 MiB) has room for this many.
RECURSION_LIMIT = 10_000

REFUSED, CALLER_WRONG, STORE_SAID_NO = 1, 2, 3

#: What a shell reports of a program that Ctrl-C, or a closed pipe, ended.
INTERRUPTED, PIPE_CLOSED = 130, 141

#: How many columns of a query are shown on each side of the place of an error: a line in all.
_CONTEXT = 36


def main() -> int:
    """Run the command line of this process; its exit status."""
    sys.setrecursionlimit(RECURSION_LIMIT)
    _open_standard_streams()
    warnings.showwarning = _tell_warning
    status = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except OSError:  # told already; the interpreter would try again, and speak of it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status


def run(arguments: Sequence[str]) -> int:
    """Run one command; its exit status. Errors are told on stderr, none is raised."""
    try:
        status = root.main(list(arguments), prog_name="dshstore", standalone_mode=False)
        flush()
    except (Exception, KeyboardInterrupt) as error:
        status = status_of(error)
        with suppress(OSError):  # nobody listens
            _tell(error)
    return status if isinstance(status, int) else 0


def status_of(error: BaseException) -> int:
    """The exit status of a command that ended with this error."""
    match error:
        case LogRefused() | Conflict():
            return REFUSED
        case EventNotFound() | OutputRefused() | QueryFailed():
            return CALLER_WRONG
        case click.ClickException():
            return error.exit_code
        case click.Abort() | KeyboardInterrupt():
            return INTERRUPTED
        case PipeClosed():
            return PIPE_CLOSED
        case _:
            return STORE_SAID_NO


def _tell(error: BaseException) -> None:
    if os.environ.get(TRACEBACK):
        import traceback

        traceback.print_exception(error)
    match error:
        case click.ClickException():
            error.show()
        case click.Abort() | KeyboardInterrupt():
            say("interrupted")
        case PipeClosed():
            pass
        case QueryFailed():
            say("\n".join([visible(error.reason), *_place(error)]))
        case OSError(strerror=str(reason)):
            say(visible(reason if error.filename is None else f"{error.filename}: {reason}"))
        case StoreError() | OSError():
            say(visible(str(error)))
        case MemoryError():
            say("out of memory")
        case _:
            said = visible(f"{type(error).__name__}: {error}")
            say(f"this is a defect in dshstore: {said}; set {TRACEBACK}=1 for the traceback")


def _tell_warning(message: Warning | str, *_: object, **__: object) -> None:
    with suppress(OSError):
        say(visible(str(message)))


def _place(error: QueryFailed) -> list[str]:
    """The line of a query that an error is in, and a caret below its place, if it has one."""
    if error.offset is None:
        return []
    begin = error.sql.rfind("\n", 0, error.offset) + 1
    before = _fitting(error.sql[begin : error.offset][::-1])[::-1]
    after = _fitting(error.sql[error.offset :].partition("\n")[0])
    return [f"  {visible(before)}{visible(after)}", f"  {' ' * display_width(visible(before))}^"]


def _fitting(text: str) -> str:
    """As much of a text, from its beginning, as is shown of it; an ellipsis for the rest."""
    width = 0
    for at, character in enumerate(text):
        width += display_width(visible(character))
        if width > _CONTEXT:
            return f"{text[:at]}…"
    return text


def _open_standard_streams() -> None:
    """Make text UTF-8 whatever the locale; half a surrogate pair or a bad file name is escaped.

    The number of a stream that the caller closed must not go to the next file that is opened, which
    may be the store. What is told on stderr leads nowhere then; what is written to stdout fails.
    """
    while (number := os.open(os.devnull, os.O_RDONLY)) <= 2:
        if number == 2:
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
    os.close(number)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = getattr(sys, name)
        if stream is None:
            stream = os.fdopen(number, "w" if number else "r", closefd=False)
            setattr(sys, name, stream)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
