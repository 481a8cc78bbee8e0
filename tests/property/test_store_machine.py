"""A store driven at random beside a model of it that is lists and nothing else."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

import dshstore
from dshstore import Conflict, EventRefused, LiveSession, Store
from tests.logs import text

VERSION = 4


class Event(NamedTuple):
    type: str
    data: Any
    surface: list[int]  # as it is behind the event


def user(word: str) -> dict[str, Any]:
    return {"content": [text(word)], "source": {"kind": "user"}, "role": "user", "id": "u"}


class StoreMachine(RuleBasedStateMachine):
    """Each session of the store against a list of its events, with the surface behind each."""

    ids = Bundle("ids")

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.store = self.open()
        self.model: dict[str, list[Event]] = {}
        self.live: dict[str, LiveSession] = {}
        self.due: set[str] = set()  # the sessions that were taken up and not appended to yet

    def open(self) -> Store:
        return dshstore.open(self.folder / "store.db", durability="NORMAL")

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            shutil.rmtree(self.folder)

    def surface(self, id: str) -> list[int]:
        return self.model[id][-1].surface if self.model[id] else []

    def note(self, id: str, type: str, data: Any, surface: list[int] | None = None) -> None:
        self.model[id].append(Event(type, data, surface or self.surface(id)))

    def session(self, id: str) -> LiveSession:
        """The session, taken up when it is not open."""
        if id not in self.live:
            self.live[id] = self.store.resume(id, max_delay=3600)
            self.due.add(id)
        return self.live[id]

    def mark(self, id: str) -> None:
        """Before the first append after it was taken up comes an end-seed, if none stands there."""
        events = self.model[id]
        if id in self.due and not (events and events[-1].type == "session/end-seed"):
            self.note(id, "session/end-seed", {})
        self.due.discard(id)

    # -- what can happen --

    @rule(target=ids)
    def create(self) -> str:
        id = f"bed-{len(self.model)}"
        self.live[id] = self.store.create(session_id=id, max_delay=3600)
        self.model[id] = []
        return id

    @rule(id=ids, word=st.text(max_size=3))
    def append(self, id: str, word: str) -> None:
        session = self.session(id)
        self.mark(id)
        seq = session.append("user/message", user(word), surface_op="append")
        assert seq == len(self.model[id])
        self.note(id, "user/message", user(word), [*self.surface(id), seq])

    @rule(id=ids, number=st.integers())
    def append_log_only(self, id: str, number: int) -> None:
        session = self.session(id)
        self.mark(id)
        assert session.append("todo/write", {"n": number}) == len(self.model[id])
        self.note(id, "todo/write", {"n": number})

    @rule(id=ids, data=st.data())
    def replace(self, id: str, data: st.DataObject) -> None:
        session, nodes = self.session(id), self.surface(id)
        if not nodes:
            return
        first = data.draw(st.integers(0, len(nodes) - 1))
        last = data.draw(st.integers(first, len(nodes) - 1))
        self.mark(id)
        span = nodes[first : last + 1]
        seq = session.append(
            "user/message", user("so far"), surface_op=(span[0], span[-1]), sources=span
        )
        self.note(id, "user/message", user("so far"), [*nodes[:first], seq, *nodes[last + 1 :]])

    @rule(id=ids)
    def append_what_is_refused(self, id: str) -> None:
        session = self.session(id)
        self.mark(id)
        for type, value, op in (
            ("todo/write", {}, "append"),
            ("user/message", {}, None),
            ("user/message", {}, (10**6, 10**6)),
            ("user/message", float("nan"), "append"),
        ):
            with pytest.raises(EventRefused):
                session.append(type, value, surface_op=op)  # type: ignore[arg-type]

    @rule(id=ids)
    def flush(self, id: str) -> None:
        if id in self.live:
            self.live[id].flush()
            assert self.live[id].pending == []

    @rule(id=ids)
    def close(self, id: str) -> None:
        if id in self.live:
            self.live.pop(id).close()
            self.due.discard(id)

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.live.clear()
        self.due.clear()
        self.store = self.open()

    @rule(target=ids, id=ids, data=st.data())
    def fork(self, id: str, data: st.DataObject) -> Any:
        events = self.model[id]
        if not events:
            return multiple()
        at = data.draw(st.integers(0, len(events) - 1))
        new = f"bed-{len(self.model)}"
        self.live[new] = self.store.fork(id, at, new_id=new, max_delay=3600)
        self.model[new] = events[: at + 1]
        self.note(new, "session/end-seed", {"inherited": True})
        return new

    @rule(id=ids)
    def write_in_conflict(self, id: str) -> None:
        """Another writer takes the session up and is first: the queue of this one is left."""
        session = self.session(id)
        session.flush()
        with self.store.resume(id) as other:
            self.due.add(id)
            self.mark(id)
            other.append("todo/write", {"other": True})
        self.note(id, "todo/write", {"other": True})
        session.append("todo/write", {"mine": True})
        with pytest.raises(Conflict):
            session.flush()
        assert session.abandon()[-1]["data"] == {"mine": True}
        del self.live[id]

    # -- what must be --

    @invariant()
    def surfaces_are_those_of_the_model(self) -> None:
        for id, session in getattr(self, "live", {}).items():
            assert session.surface == self.surface(id)

    @rule(id=ids, data=st.data())
    def read(self, id: str, data: st.DataObject) -> None:
        if id in self.live:
            self.live[id].flush()
        session, events = self.store.session(id), self.model[id]
        found = list(session.events())
        assert [(e["seq"], e["type"], e["data"]) for e in found] == [
            (seq, event.type, event.data) for seq, event in enumerate(events)
        ]
        assert session.messages() == [events[seq].data for seq in self.surface(id)]
        if events:
            at = data.draw(st.integers(0, len(events) - 1))
            assert session.surface_at(at) == events[at].surface
            assert session.messages(at) == [events[seq].data for seq in events[at].surface]

    @rule()
    def verify(self) -> None:
        for session in self.live.values():
            session.flush()
        assert [f for f in self.store.verify() if f.kind == "store"] == []


def test_a_store_is_what_lists_would_be() -> None:
    profile = settings.get_profile(settings._current_profile or "default")
    run_state_machine_as_test(
        StoreMachine,
        settings=settings(profile, max_examples=profile.max_examples // 2, stateful_step_count=25),
    )
