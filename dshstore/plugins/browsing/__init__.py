"""The plugin of Datasette: a store to look at in a browser.

Titles, meanings, facets and canned queries; times and messages to read; the sessions of a store,
and a transcript of each. Works with any Datasette that serves a store, and touches no other file.
"""

from dshstore.plugins.browsing.hooks import (
    canned_queries,
    database_actions,
    extra_css_urls,
    get_metadata,
    handle_exception,
    menu_links,
    prepare_connection,
    register_routes,
    render_cell,
    startup,
)

__all__ = [
    "canned_queries",
    "database_actions",
    "extra_css_urls",
    "get_metadata",
    "handle_exception",
    "menu_links",
    "prepare_connection",
    "register_routes",
    "render_cell",
    "startup",
]
