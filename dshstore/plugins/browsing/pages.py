"""Our own pages in Datasette: the sessions of a store, and the transcript of one session.

Decides what a page is told; every statement runs on Datasette's connection, under its time limit
and its permissions. How it looks is the templates'.
"""

from __future__ import annotations

from asyncio import to_thread
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Mapping
from importlib.util import find_spec
from itertools import takewhile
from sqlite3 import Connection, DatabaseError
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlencode

from datasette.utils import add_cors_headers, sqlite_timelimit, tilde_decode
from datasette.utils.asgi import NotFound, Request, Response

from dshstore import borrowed, charts
from dshstore.errors import EventNotFound, ExtraMissing, SessionNotFound, StoreError
from dshstore.plugins.browsing import stores
from dshstore.plugins.browsing.cells import session_path
from dshstore.plugins.browsing.descriptions import statement
from dshstore.plugins.browsing.prose import legible, set_time, shorten
from dshstore.plugins.browsing.transcript import Transcript
from dshstore.plugins.functions import asker

if TYPE_CHECKING:
    from datasette.app import Datasette
    from datasette.database import Database

#: Sessions of a page; entries of a transcript's page.
SESSIONS, ENTRIES = 50, 300

#: A page runs as many statements, each of which may take what Datasette allows one.
_STATEMENTS = 5

T = TypeVar("T")


class _Refused(Exception):
    """What the page says instead, and its HTTP status."""

    def __init__(self, sentence: str, status: int) -> None:
        self.sentence, self.status = sentence, status
        super().__init__(sentence)


_Page = Callable[[Request, "Datasette", "Database"], Awaitable[Response]]


def _page_of_store(show: _Page) -> Callable[[Request, Datasette], Awaitable[Response]]:
    """The page as Datasette calls it: of a store that the actor may see, or an error page.

    Datasette's own errors would do, but that it tells the server's terminal all about them.
    """

    async def view(request: Request, datasette: Datasette) -> Response:
        try:
            return await show(request, datasette, await _store(request, datasette))
        except _Refused as refused:
            said = legible(refused.sentence)
            database = tilde_decode(request.url_vars["database"])
            about = {
                "database": database,
                "ok": False,
                "error": said,
                "status": refused.status,
                "title": None,
            }
            body = await datasette.render_template("error.html", about, request=request)
            return Response.html(body, status=refused.status)

    return view


@_page_of_store
async def show_sessions(request: Request, datasette: Datasette, database: Database) -> Response:
    """The sessions of a store, the latest first: `?text=` keeps some, `?page=` goes on."""
    text = request.args.get("text") or ""
    page = _number(request, "page") or 1
    parameters = {"text": text, "size": SESSIONS + 1, "skipped": SESSIONS * (page - 1)}

    def read(connection: Connection) -> list[dict[str, Any]]:
        return [dict(row) for row in connection.execute(statement("sessions"), parameters)]

    rows = await _read(datasette, database, read)
    base = datasette.urls.database(database.name)

    def page_path(number: int) -> str:
        return f"{base}/-/sessions?{urlencode({'text': text, 'page': number})}"

    context = {
        "database": database.name,
        "base": base,
        "text": text,
        "sessions": [_listed(row, base) for row in rows[:SESSIONS]],
        "earlier": page_path(page + 1) if len(rows) > SESSIONS else None,
        "later": page_path(page - 1) if page > 1 else None,
    }
    return await _html(datasette, request, "dshstore_sessions.html", context)


@_page_of_store
async def show_session(request: Request, datasette: Datasette, database: Database) -> Response:
    """The transcript of a session: `?at=` as it was after an event, `?event=` where that is.

    `?page=` is one part of a long one, `?shadowed=1` unfolds what the model no longer sees,
    `?format=` names a generation.
    """
    name = tilde_decode(request.url_vars["session"])
    asked = {key: _number(request, key) for key in ("at", "event", "page", "format")}

    def read(connection: Connection) -> dict[str, Any]:
        return _read_session(connection, name, asked)

    context = await _read(datasette, database, read)
    shadowed = request.args.get("shadowed") == "1"
    context |= {
        "database": database.name,
        "base": datasette.urls.database(database.name),
        "shadowed": shadowed,
        "asked": asked,
        "can_draw": find_spec("matplotlib") is not None,
    }
    context |= _paths(context, asked, shadowed)
    return await _html(datasette, request, "dshstore_session.html", context)


@_page_of_store
async def show_context(request: Request, datasette: Datasette, database: Database) -> Response:
    """The picture of a session's context over its log, as SVG."""
    name = tilde_decode(request.url_vars["session"])

    def read(connection: Connection) -> charts.Context:
        return charts.read_context(asker(connection), name)

    context = await _read(datasette, database, read)
    try:
        drawn = await to_thread(charts.draw_context, context)
    except ExtraMissing as error:
        raise _Refused(str(error), 404) from error
    return Response(drawn.decode(), content_type="image/svg+xml; charset=utf-8")


async def find_nothing() -> None:
    """An address like one of ours. (Datasette would look for a row of a table named -.)"""
    raise NotFound("There is no such page")


async def tell_missing(datasette: Datasette, request: Request, reason: str) -> Response:
    """The answer for an address at which there is nothing: a page, or JSON."""
    said = "There is no such page" if reason == "404" else legible(reason)
    about = {"ok": False, "error": said, "status": 404, "title": None}
    if request.path.endswith(".json"):
        headers: dict[str, str] = {}
        if datasette.cors:
            add_cors_headers(headers)
        return Response.json(about, status=404, headers=headers)
    body = await datasette.render_template(["404.html", "error.html"], about, request=request)
    return Response.html(body, status=404)


async def _store(request: Request, datasette: Datasette) -> Database:
    """The database that is asked for. Raises _Refused unless it is a store, Forbidden."""
    try:
        database = datasette.get_database(route=tilde_decode(request.url_vars["database"]))
    except KeyError:
        raise _Refused("no such database", 404) from None
    await datasette.ensure_permissions(
        request.actor,
        [
            ("view-table", (database.name, "event_log")),
            ("view-database", database.name),
            "view-instance",
        ],
    )
    if not stores.is_store(datasette, database.name):
        raise _Refused(f"{database.name} is not a dshstore store", 404)
    return database


async def _read(datasette: Datasette, database: Database, read: Callable[[Connection], T]) -> T:
    """What `read` makes of a connection to the store. Raises _Refused with what went wrong."""
    milliseconds = _STATEMENTS * datasette.setting("sql_time_limit_ms")

    def limited(connection: Connection) -> T:
        with sqlite_timelimit(connection, milliseconds):
            return read(connection)

    try:
        found: T = await database.execute_fn(limited)
    except (SessionNotFound, EventNotFound) as error:
        raise _Refused(str(error), 404) from error
    except (StoreError, DatabaseError, ValueError) as error:
        if str(error) == "interrupted":
            limit = f"{milliseconds / 1000:g} s"
            raise _Refused(f"it takes longer than {limit}, the limit here", 503) from error
        raise _Refused(f"the store cannot be read: {error}", 500) from error
    return found


def _number(request: Request, name: str) -> int | None:
    """A parameter of the page, a count. Raises _Refused for anything else."""
    text = request.args.get(name) or ""
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 17):
        raise _Refused(f"{name} must be a number, not {shorten(text, 40)}", 400)
    return int(text)


async def _html(
    datasette: Datasette, request: Request, template: str, context: Mapping[str, Any]
) -> Response:
    css = datasette.urls.static_plugins("dshstore", "dshstore.css")
    return Response.html(
        await datasette.render_template(template, {**context, "dsh_css": css}, request=request)
    )


def _listed(row: dict[str, Any], base: str) -> dict[str, Any]:
    """What the list tells of a session."""
    return row | {
        "path": session_path(base, row["session_id"]),
        "title": _title(row, 160),
        "shown_id": legible(row["session_id"]),
        "last_time": set_time(row["last_time"]),
    }


def _title(row: Mapping[str, Any], length: int) -> str:
    """What a session is called: its title, what was said first, or its id."""
    said = str(row["title"] or row["first_prompt"] or "").strip()
    return legible(shorten(said or row["session_id"], length))


def _read_session(
    connection: Connection, name: str, asked: Mapping[str, int | None]
) -> dict[str, Any]:
    """All that the page shows of a session, read in one thread."""
    ask = asker(connection)
    row = _find(connection, name, asked["format"])
    if row is None and asked["format"] is None:  # a prefix, or ID@vN
        meant = borrowed.session(ask, name)
        row = _find(connection, meant.session_id, meant.format_version)
    if row is None:
        raise SessionNotFound(name if asked["format"] is None else f"{name}@v{asked['format']}")
    session = borrowed.session(ask, row["id"])
    about = dict(connection.execute(statement("overview"), {"session": row["id"]}).fetchone())
    at = asked["at"]
    starts = session.transcript_pages(ENTRIES, at) or [0]
    page = _page(starts, asked)
    end = starts[page] if page < len(starts) else None
    entries = session.transcript(at, first=starts[page - 1])
    transcript = Transcript()
    groups = transcript.groups(takewhile(lambda e: end is None or e.seq < end, entries))
    return {
        "about": about,
        "title": _title(about, 200),
        "shown_id": legible(session.session_id),
        "created": set_time(about["created_at"]),
        "last": set_time(about["last_time"]),
        "groups": groups,
        "unknown": session.first_unknown(at),
        "pages": len(starts),
        "page": page,
        "open_turn": None if end is not None else transcript.open_turn,
    }


def _find(connection: Connection, session_id: str, version: int | None) -> Any:
    named = {"session_id": session_id, "version": version}
    return connection.execute(statement("session"), named).fetchone()


def _page(starts: list[int], asked: Mapping[str, int | None]) -> int:
    """Which page is meant, from 1: that of an event, that of a number, or the first."""
    if asked["event"] is not None:
        return max(1, bisect_right(starts, asked["event"]))
    return min(max(1, asked["page"] or 1), len(starts))


def _paths(
    context: Mapping[str, Any], asked: Mapping[str, int | None], shadowed: bool
) -> dict[str, str | None]:
    """The ways on from a page of a transcript."""
    about, base, page = context["about"], context["base"], context["page"]
    version = about["format_version"] if about["format_version"] != about["highest"] else None
    here = {"at": asked["at"], "page": page if page > 1 else None}
    flag = 1 if shadowed else None

    def path(**changed: Any) -> str:
        more = {**here, "shadowed": flag, **changed}
        return session_path(base, about["session_id"], version, **more)

    def table(name: str) -> str:
        query = urlencode({"session__exact": about["session"]})
        return f"{base}/{name}?{query}"

    seen = {"session_id": f"{about['session_id']}@v{about['format_version']}"}
    seen["seq"] = "" if asked["at"] is None else str(asked["at"])
    parent = about["parent_session"]
    first = page == 1 and asked["at"] is None and version is None and about["events"]
    return {
        "picture_path": f"{session_path(base, about['session_id'])}/context.svg" if first else None,
        "now_path": path(at=None, page=None),
        "toggle_path": path(shadowed=None if shadowed else 1),
        "earlier_path": path(page=page - 1) if page > 1 else None,
        "later_path": path(page=page + 1) if page < context["pages"] else None,
        "event_path": path(at=asked["at"], page=None, event="SEQ"),
        "raw_path": f"{table('event_log')}&seq__exact=SEQ",
        "parent_path": session_path(base, parent) if parent else None,
        "messages_path": f"{base}/what_the_model_saw?{urlencode(seen)}",
        "log_path": f"{table('event_log')}&_sort=seq",
        "usage_path": table("usage"),
        "tools_path": table("tool_calls"),
        "compactions_path": table("compactions"),
        "sessions_path": f"{base}/-/sessions",
    }
