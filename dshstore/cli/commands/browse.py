"""`dshstore browse`: look at a store in a browser.

Decides whether it can be done, and where; Datasette does it, in place of this process: it holds
the store with the SQLite library of Python, which must not meet ours in one process.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import webbrowser
from importlib.util import find_spec
from pathlib import Path

import click

import dshstore
from dshstore.cli.output import flush, write_text
from dshstore.cli.parameters import examples, store_argument
from dshstore.errors import ExtraMissing

#: Where nobody but the programs of this machine can ask.
_HOST = "127.0.0.1"


@click.command(
    "browse",
    epilog=examples("dshstore browse garden.db", "dshstore browse garden.db --port 0 --open"),
)
@store_argument
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8001,
    show_default=True,
    help="0 takes one that is free.",
)
@click.option("--open", "show", is_flag=True, help="Open the page in the browser of this machine.")
def command(store: str, port: int, show: bool) -> None:
    """Show STORE in a browser: its sessions, a transcript of each, its views.

    Writes the address, and serves this machine alone until Ctrl-C. Nothing can be written; what
    others write meanwhile is seen.
    """
    if find_spec("datasette") is None:
        raise ExtraMissing("browse", "Datasette", "pages are served")
    dshstore.open(store, mode="read").close()  # it is a store, or this says what it is
    listening = _listen(port)
    # from the address on Ctrl-C is welcome, but until the server can take it, it waits
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    url = f"http://{_HOST}:{listening.getsockname()[1]}/"
    write_text(url)
    flush()
    if show:
        webbrowser.open(url)
    _serve(store, listening)


def _listen(port: int) -> socket.socket:
    """A socket that listens. (A connection that comes before the server is ready waits there.)"""
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((_HOST, port))
        listening.listen()
    except OSError as error:
        listening.close()
        raise click.ClickException(
            f"port {port} cannot be had ({error.strerror}): name another with --port, "
            "or let --port 0 take a free one"
        ) from error
    return listening


def _serve(store: str, listening: socket.socket) -> None:
    """Become the server."""
    descriptor = listening.fileno()
    os.set_inheritable(descriptor, True)
    program = [sys.executable, "-P", "-m", "dshstore.plugins.browsing.serving"]
    frozen = [] if _may_change(store) else ["--immutable"]
    os.execv(sys.executable, [*program, os.path.abspath(store), str(descriptor), *frozen])  # noqa: PTH100


def _may_change(store: str) -> bool:
    """Whether the store can change, or changes of it stand in a file beside it."""
    beside = Path(f"{store}-wal")
    return os.access(store, os.W_OK) or (beside.exists() and beside.stat().st_size > 0)
