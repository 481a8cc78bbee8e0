"""dshstore itself: a live session, with the events of turns and steps that go with one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import dshstore
from bench.peers.driving import SESSION, Peer


class Queued(Peer):
    """As it is by default: `append` queues, a thread commits, `flush` makes sure."""

    durability: Literal["FULL", "NORMAL"] = "FULL"
    commit_each = False

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._store = dshstore.open(path, durability=self.durability)
        self._session = self._store.create(session_id=SESSION, commit_each=self.commit_each)
        self._session.append("turn/start", {"turn": 1})
        self._session.append("step/start", {"turn": 1, "step": 1})
        self._session.request_header("gardeners", "trowel-1")

    def append_all(self, texts: Iterable[str]) -> None:
        session = self._session
        for number, text in enumerate(texts):
            if number % 2:
                session.assistant(text)
            else:
                session.user(text)
        session.flush()

    def read_all(self) -> Sequence[Any]:
        return self._session.messages()

    def text(self, message: Any) -> str:
        return str(message["content"][0]["text"])

    def close(self) -> None:
        self._store.close()


class Full(Queued):
    commit_each = True


class Normal(Queued):
    durability = "NORMAL"
    commit_each = True
