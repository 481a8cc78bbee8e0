"""OpenAI Agents SDK: SQLiteSession, one `add_items` a message.

It turns write-ahead logging on and leaves `synchronous` as SQLite has it (FULL); it has no option
for another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from agents import SQLiteSession

from bench.peers.driving import ROLES, SESSION, Peer


class Default(Peer):
    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._session = SQLiteSession(SESSION, path)
        self._loop = asyncio.new_event_loop()  # its connection belongs to a thread of the loop

    def append_all(self, texts: Iterable[str]) -> None:
        async def append() -> None:
            for number, text in enumerate(texts):
                await self._session.add_items([{"role": ROLES[number % 2], "content": text}])

        self._loop.run_until_complete(append())

    def read_all(self) -> Sequence[Any]:
        items: Sequence[Any] = self._loop.run_until_complete(self._session.get_items())
        return items

    def text(self, message: Any) -> str:
        return str(message["content"])

    def close(self) -> None:
        self._session.close()
        self._loop.close()
