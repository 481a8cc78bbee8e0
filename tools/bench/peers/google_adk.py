"""Google ADK: SqliteSessionService, one `append_event` a message.

It opens the file anew for each call and leaves journal and `synchronous` as SQLite has them (a
rollback journal, FULL). `Wal` turns write-ahead logging on beforehand, which stays with the file.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from google.adk.events import Event
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.genai import types

from bench.peers.driving import ROLES, SESSION, Peer

_WHERE = {"app_name": "bench", "user_id": "gardener", "session_id": SESSION}


class Default(Peer):
    journal = "PRAGMA journal_mode = DELETE"

    def __init__(self, path: str) -> None:
        super().__init__(path)
        connection = sqlite3.connect(path)
        connection.execute(self.journal)
        connection.close()
        self._loop = asyncio.new_event_loop()
        self._service = SqliteSessionService(path)
        self._session = self._loop.run_until_complete(self._service.create_session(**_WHERE))

    def append_all(self, texts: Iterable[str]) -> None:
        async def append() -> None:
            for number, text in enumerate(texts):
                role = ("user", "model")[number % 2]
                content = types.Content(role=role, parts=[types.Part(text=text)])
                event = Event(author=ROLES[number % 2], invocation_id="turn", content=content)
                await self._service.append_event(self._session, event)

        self._loop.run_until_complete(append())

    def read_all(self) -> Sequence[Any]:
        session: Any = self._loop.run_until_complete(self._service.get_session(**_WHERE))
        events: Sequence[Any] = session.events
        return events

    def text(self, message: Any) -> str:
        return str(message.content.parts[0].text)

    def close(self) -> None:
        self._loop.close()


class Wal(Default):
    journal = "PRAGMA journal_mode = WAL"
