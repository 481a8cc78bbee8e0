"""A table by hand, as most programs begin: the standard library's sqlite3, JSON in a column."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from bench.peers.driving import ROLES, SESSION, Peer

_CREATE = """
CREATE TABLE messages (
  session TEXT NOT NULL, seq INTEGER NOT NULL, message TEXT NOT NULL, PRIMARY KEY (session, seq)
)
"""


class Full(Peer):
    """A commit each, to a log ahead, as safe as SQLite can."""

    synchronous = "PRAGMA synchronous = FULL"

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._connection = sqlite3.connect(path)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute(self.synchronous)
        self._connection.execute(_CREATE)

    def append_all(self, texts: Iterable[str]) -> None:
        for seq, text in enumerate(texts):
            message = json.dumps({"role": ROLES[seq % 2], "content": text})
            with self._connection:
                self._connection.execute(
                    "INSERT INTO messages VALUES (?, ?, ?)", (SESSION, seq, message)
                )

    def read_all(self) -> Sequence[Any]:
        rows = self._connection.execute(
            "SELECT message FROM messages WHERE session = ? ORDER BY seq", (SESSION,)
        )
        return [json.loads(message) for (message,) in rows]

    def text(self, message: Any) -> str:
        return str(message["content"])

    def close(self) -> None:
        self._connection.close()


class Normal(Full):
    synchronous = "PRAGMA synchronous = NORMAL"
