"""REF: what SQLite and msgspec do when nobody checks anything.

The same rows in one plain table, with no trigger and no rule, in the same page size and journal:
the yardstick that a store, which checks every event, is held against. Durations come from `clock`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import msgspec

from bench.clock import Clock
from bench.logs import SESSION

CREATE = """
CREATE TABLE events (
  session INTEGER NOT NULL, seq INTEGER NOT NULL, type TEXT NOT NULL, time INTEGER NOT NULL,
  data TEXT NOT NULL, source_event_seqs TEXT, surface_op TEXT, PRIMARY KEY (session, seq)
)
"""

INSERT = """
INSERT INTO events (session, seq, type, time, data, source_event_seqs, surface_op)
VALUES (?, ?, ?, ?, ?, ?, ?)
"""

EventRow = tuple[int, int, str, int, str, str | None, str | None]

_BLOCK = 1024 * 1024
_ABSENT = msgspec.Raw(b"")


class _Line(msgspec.Struct, rename="camel", gc=False):
    type: str
    seq: int
    time: int
    data: msgspec.Raw
    source_event_seqs: msgspec.Raw = _ABSENT
    surface_op: msgspec.Raw = _ABSENT


def connect(path: str | Path, synchronous: str = "FULL") -> apsw.Connection:
    """A connection in the manner of a store: pages of 4 KiB, a log ahead, a cache of 16 MiB."""
    connection = apsw.Connection(str(path))
    connection.pragma("page_size", 4096)
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", synchronous)
    connection.pragma("cache_size", -16 * 1024)
    connection.pragma("foreign_keys", True)
    return connection


def create(path: str | Path, synchronous: str = "FULL") -> apsw.Connection:
    """A new file with the plain table in it."""
    connection = connect(path, synchronous)
    connection.execute(CREATE)
    return connection


def read_rows(path: str | Path, session: int = 1) -> Iterator[EventRow]:
    """The rows of a plain log."""
    decode = msgspec.json.Decoder(_Line).decode_lines
    with Path(path).open("rb") as file:
        file.readline()
        while lines := file.readlines(_BLOCK):
            for line in decode(b"".join(lines)):
                yield (
                    session,
                    line.seq,
                    line.type,
                    line.time,
                    bytes(line.data).decode(),
                    bytes(line.source_event_seqs).decode() or None,
                    bytes(line.surface_op).decode() or None,
                )


def import_log(clock: Clock, log: str, store: str) -> int:
    """Import a plain log in one transaction; the number of events."""
    create(store).close()
    with clock():
        connection = connect(store)
        with connection:
            connection.executemany(INSERT, read_rows(log))
        connection.close()
    return count(store)


def count(store: str) -> int:
    connection = connect(store)
    [(events,)] = connection.execute("SELECT count(*) FROM events")
    connection.close()
    return int(events)


def parse_and_fold(clock: Clock, log: str, at: int | None = None) -> Any:
    """What has to be done for want of a store: read all of a log, fold it and derive messages."""
    import dshstore

    decode = msgspec.json.Decoder().decode_lines
    with clock():
        with Path(log).open("rb") as file:
            version = msgspec.json.decode(file.readline())["version"]
            events = decode(file.read())
        shown = events if at is None else events[: at + 1]
        folded = dshstore.fold(shown, format_version=version)
    messages = dshstore.derive(shown, format_version=version, session_id=SESSION)
    return [list(folded.nodes), len(messages)]
