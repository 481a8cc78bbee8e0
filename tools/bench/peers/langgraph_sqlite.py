"""LangGraph: a graph of one node with the SqliteSaver, invoked once a turn (two messages).

The saver turns write-ahead logging on and leaves `synchronous` as SQLite has it (FULL); it takes a
connection of one's own, on which that can be set. `Delta` keeps the messages in a DeltaChannel
(beta), which writes what is new and the whole of them only now and then.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import _messages_delta_reducer
from typing_extensions import TypedDict

from bench.peers.driving import SESSION, Peer

_CONFIG = {"configurable": {"thread_id": SESSION}}


class _DeltaState(TypedDict):
    messages: Annotated[list[Any], DeltaChannel(_messages_delta_reducer)]


class Default(Peer):
    state: Any = MessagesState
    synchronous: str | None = None

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._connection = sqlite3.connect(path, check_same_thread=False)
        if self.synchronous:
            self._connection.execute(self.synchronous)
        builder = StateGraph(self.state)
        builder.add_node("model", self._answer)
        builder.add_edge(START, "model")
        self._graph = builder.compile(checkpointer=SqliteSaver(self._connection))
        self._answers: list[str] = []

    def _answer(self, state: Any) -> Any:
        return {"messages": [AIMessage(text) for text in self._answers]}

    def append_all(self, texts: Iterable[str]) -> None:
        turn = iter(texts)
        for text in turn:
            self._answers = [answer for answer in [next(turn, None)] if answer is not None]
            self._graph.invoke({"messages": [HumanMessage(text)]}, _CONFIG)

    def read_all(self) -> Sequence[Any]:
        messages: Sequence[Any] = self._graph.get_state(_CONFIG).values["messages"]
        return messages

    def text(self, message: Any) -> str:
        return str(message.content)

    def close(self) -> None:
        self._connection.close()


class Normal(Default):
    synchronous = "PRAGMA synchronous = NORMAL"


class Delta(Default):
    state = _DeltaState


class DeltaNormal(Normal):
    state = _DeltaState
