"""Prints all rows of views of a store as DuckDB has them, as one JSON object.

A program of its own: DuckDB brings another SQLite. `attached` reads the views by their names,
`asked` has them read by SQLite.
"""

from __future__ import annotations

import json
import sys
from importlib.resources import files
from typing import Literal

import duckdb

OFFLINE: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}


def main(path: str, how: Literal["attached", "asked"], *views: str) -> None:
    connection = duckdb.connect(config=OFFLINE)
    folder = files("duckdb_extension_sqlite_scanner") / "extensions" / f"v{duckdb.__version__}"
    connection.load_extension(str(folder / "sqlite_scanner.duckdb_extension"))
    connection.execute(f"ATTACH '{path}' AS garden (TYPE sqlite, READ_ONLY)")
    found = {}
    for view in views:
        everything = " ".join(["SELECT * FROM", view if how == "asked" else f"garden.{view}"])
        if how == "asked":
            found[view] = connection.table_function(
                "sqlite_query", ["garden", everything]
            ).fetchall()
        else:
            found[view] = connection.sql(everything).fetchall()
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])  # type: ignore[arg-type]
