"""The server of `dshstore browse`: Datasette over one store, for this machine alone.

A program of its own, because it holds the store with the SQLite library of Python:
`python -m dshstore.plugins.browsing.serving PATH FD`, where FD is a socket that listens already.
The store is opened to be read only; as it is now, or as a file that never changes where it cannot
be written (PATH is then followed by `--immutable`).
"""

from __future__ import annotations

import signal
import socket
import sqlite3
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import uvicorn
from datasette.app import Datasette
from datasette.database import Database

_Message = MutableMapping[str, Any]
_App = Callable[
    [_Message, Callable[[], Awaitable[_Message]], Callable[[_Message], Awaitable[None]]],
    Awaitable[None],
]

#: What a browser on this machine calls it. Any other name is one that a page of somebody else
#: had resolve to here, to read what is served.
_HOSTS = (b"127.0.0.1", b"localhost", b"[::1]")

#: Views answer for a whole store at once: more than Datasette allows a stranger.
_SETTINGS = {"sql_time_limit_ms": 20_000, "facet_time_limit_ms": 2_000, "suggest_facets": False}


def main(arguments: list[str]) -> int:
    """Serve until Ctrl-C."""
    path, descriptor, *flags = arguments
    datasette = Datasette([], settings=_SETTINGS)
    store = _Store(datasette, path=path, is_mutable="--immutable" not in flags)
    name = datasette.add_database(store, name=Path(path).stem).name
    first = f"{datasette.urls.database(name)}/-/sessions"
    server = uvicorn.Server(
        uvicorn.Config(
            _for_this_machine(datasette.app(), first),
            log_level="warning",
            timeout_graceful_shutdown=2,
        )
    )
    with suppress(KeyboardInterrupt):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # one may wait since we began
        server.run(sockets=[socket.socket(fileno=int(descriptor))])
    store.leave()
    return 0


class _Store(Database):  # type: ignore[misc]  # Datasette has no types
    """The file under whatever name it has: Datasette's own takes ?, # and % for its parts."""

    def connect(self, write: bool = False) -> sqlite3.Connection:
        connection = self._open("mode=ro" if self.is_mutable else "immutable=1")
        self._all_file_connections.append(connection)
        return connection

    def leave(self) -> None:
        """Close the file; the files that SQLite laid beside it go when nobody else has it open."""
        self.close()
        if self.is_mutable:  # only who may write takes them away
            with suppress(sqlite3.Error), closing(self._open("mode=rw")) as connection:
                connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()

    def _open(self, access: str) -> sqlite3.Connection:
        place = f"file:{quote(self.path)}?{access}"
        return sqlite3.connect(place, uri=True, check_same_thread=False)


def _for_this_machine(app: _App, first: str) -> _App:
    """The application, for requests that name this machine as their host; / is page `first`."""

    async def guarded(
        scope: _Message,
        receive: Callable[[], Awaitable[_Message]],
        send: Callable[[_Message], Awaitable[None]],
    ) -> None:
        async def answer(status: int, headers: list[tuple[bytes, bytes]]) -> None:
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": b""})

        if scope["type"] != "http":
            await app(scope, receive, send)
        elif not _is_local(dict(scope["headers"]).get(b"host", b"")):
            await answer(403, [])
        elif scope["path"] == "/":
            await answer(302, [(b"location", first.encode())])
        else:
            await app(scope, receive, send)

    return guarded


def _is_local(host: bytes) -> bool:
    name, _, port = host.rpartition(b":")
    return (name if name and port.isdigit() else host).lower() in _HOSTS


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
