"""What Datasette calls. Only databases that are stores are touched; see `stores`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from sqlite3 import Connection
from typing import TYPE_CHECKING, Any

import pluggy
from datasette.utils.asgi import NotFound, Request
from markupsafe import Markup

from dshstore.plugins.browsing import pages, stores
from dshstore.plugins.browsing.cells import show_cell
from dshstore.plugins.browsing.descriptions import questions

if TYPE_CHECKING:
    from datasette.app import Datasette

_hook = pluggy.HookimplMarker("datasette")


@_hook
def startup(datasette: Datasette) -> Callable[[], Awaitable[None]]:
    """Find out which databases are stores."""

    async def find() -> None:
        await stores.find(datasette)

    return find


@_hook
def prepare_connection(conn: Connection, database: str, datasette: Datasette) -> None:
    """Add the SQL functions to a connection to a store."""
    stores.prepare(conn, database, datasette)


@_hook
def get_metadata(datasette: Datasette) -> dict[str, Any]:
    """Titles, meanings and facets."""
    return stores.metadata(datasette)


@_hook
def canned_queries(datasette: Datasette, database: str) -> dict[str, dict[str, str]]:
    """Questions that people ask a store."""
    return questions() if stores.is_store(datasette, database) else {}


@_hook
def render_cell(
    row: Any, value: Any, column: str, database: str, datasette: Datasette
) -> Markup | None:
    """Times, messages and payloads to read, links to transcripts."""
    if not stores.is_store(datasette, database):
        return None
    return show_cell(row, value, column, datasette.urls.database(database))


@_hook
def extra_css_urls(database: str | None, datasette: Datasette) -> list[str]:
    """The style sheet, for pages of stores alone."""
    if not stores.is_store(datasette, database):
        return []
    return [datasette.urls.static_plugins("dshstore", "dshstore.css")]


@_hook
def database_actions(datasette: Datasette, database: str) -> list[dict[str, str]]:
    """The way from a store's page to its sessions."""
    return menu_entries(datasette, [database] if stores.is_store(datasette, database) else [])


@_hook
def menu_links(datasette: Datasette) -> list[dict[str, str]]:
    """The way from anywhere to the sessions of each store."""
    return menu_entries(datasette, stores.names(datasette))


@_hook
def register_routes() -> list[tuple[str, Any]]:
    """Our own pages: the sessions of a store, and the transcript of one."""
    return [
        (r"^/(?P<database>[^/]+)/-/sessions$", pages.show_sessions),
        (r"^/(?P<database>[^/]+)/-/session/(?P<session>[^/]+)$", pages.show_session),
        (
            r"^/(?P<database>[^/]+)/-/session/(?P<session>[^/]+)/context\.svg$",
            pages.show_context,
        ),
        (r"^/[^/]+/-/sessions?(?:[/.].*)?$", pages.find_nothing),
    ]


@_hook(wrapper=True)
def handle_exception(
    datasette: Datasette, request: Request, exception: Exception
) -> Generator[None, list[object], list[object]]:
    """Answer for what is not there in place of Datasette, which is the last that is asked.

    It would tell the terminal where the exception was raised, and fails for one that never was.
    """
    answers = yield
    if not isinstance(exception, NotFound):
        return answers
    return [*answers[:-1], pages.tell_missing(datasette, request, str(exception))]


def menu_entries(datasette: Datasette, databases: list[str]) -> list[dict[str, str]]:
    """A link to the sessions of each of these stores."""
    alone = len(databases) == 1
    return [
        {
            "href": f"{datasette.urls.database(name)}/-/sessions",
            "label": "Sessions" if alone else f"Sessions of {name}",
        }
        for name in databases
    ]
