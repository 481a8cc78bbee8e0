"""A program that has DuckDB read a log into a table: `python -m bench.peers.duck LOG FILE`."""

from __future__ import annotations

import sys

import duckdb

_IMPORT = """
CREATE TABLE events AS SELECT * FROM read_json(
  ?, format = 'newline_delimited', columns = {
    type: 'VARCHAR', seq: 'BIGINT', time: 'BIGINT', data: 'JSON', sourceEventSeqs: 'JSON',
    surfaceOp: 'JSON'})
"""

if __name__ == "__main__":
    log, file = sys.argv[1:]
    with duckdb.connect(file) as connection:
        connection.execute(_IMPORT, [log])
        print(connection.execute("SELECT count(*) FROM events").fetchall()[0][0])
