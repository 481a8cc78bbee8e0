"""What should not depend on how long a session is: a replace on its surface, and a fork of it."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path

from apsw import Connection

import dshstore
from bench import reference
from bench.clock import Clock, Span, check, run_alone, take_turns, time_calls
from bench.report import Demand, Row, compare_spans
from bench.settings import SESSION, Setting, remove

_REPLACE, _FORK = Demand(2.0), Demand(0.001, events=1_000_000)

#: The tables that hold a session, in a file of their own and without rules.
_COPIED = """
CREATE TABLE events (
  session INTEGER, seq INTEGER, count INTEGER, type TEXT, time INTEGER, data TEXT,
  source_event_seqs TEXT, surface_op TEXT, ignorable INTEGER, raw BLOB, PRIMARY KEY (session, seq)
);
CREATE INDEX events_type ON events (type, session, seq);
CREATE TABLE streams (
  session INTEGER, seq INTEGER, at INTEGER, size INTEGER, body BLOB, first_time INTEGER,
  last_time INTEGER, usage TEXT, finish TEXT, PRIMARY KEY (session, seq)
);
CREATE TABLE surface_nodes (
  session INTEGER, seq INTEGER, pos INTEGER, shadowed_by INTEGER, owner INTEGER,
  PRIMARY KEY (session, seq)
) WITHOUT ROWID;
"""
_COPY = """
BEGIN IMMEDIATE;
INSERT INTO events
SELECT 2, seq, count, type, time, data, source_event_seqs, surface_op, ignorable, raw
FROM source.events WHERE session = 1;
INSERT INTO streams
SELECT 2, seq, at, size, body, first_time, last_time, usage, finish
FROM source.streams WHERE session = 1;
INSERT INTO surface_nodes
SELECT 2, seq, pos, shadowed_by, owner FROM source.surface_nodes WHERE session = 1;
COMMIT;
"""
_COPY_PLAIN = """
INSERT INTO events
SELECT 2, seq, type, time, data, source_event_seqs, surface_op
FROM source.events WHERE session = 1;
"""

_FORK_BY_SQL = """
INSERT INTO forks (session_id, created_at, header, parent, at)
SELECT ?, 0, ?, session, next_seq - 1 FROM session_bounds WHERE session = 1
"""


def compare_replace(setting: Setting) -> Iterator[Row]:
    few, _, many = setting.mode.surfaces
    with (
        dshstore.open(setting.copied(setting.log("messages", few)), durability="NORMAL") as small,
        dshstore.open(setting.copied(setting.log("messages", many)), durability="NORMAL") as large,
    ):
        sessions = {
            "large": large.resume(SESSION, commit_each=True),
            "small": small.resume(SESSION, commit_each=True),
        }
        times = time_calls(
            {name: _replacer(session) for name, session in sessions.items()},
            setting.mode.rounds,
            setting.mode.replaces,
        )
        for session, size in zip(sessions.values(), (many, few), strict=True):
            check(len(session.surface), size, "length of the surface")
            check(len(session.messages()), size, "messages")
    yield compare_spans(
        "replace",
        f"replace one of {many:,} messages, a commit each",
        (f"of {many:,}", times["large"], f"of {few:,}", times["small"]),
        _REPLACE,
        rounds=False,
    )


def _replacer(session: dshstore.LiveSession) -> Callable[[int], None]:
    nodes = session.surface
    text = [{"type": "text", "text": "A message in place of another one."}]
    data = {"content": text, "source": {"kind": "user"}, "role": "user", "id": "message"}

    def replace(number: int) -> None:
        place = number * 7919 % len(nodes)  # here and there
        node = nodes[place]
        nodes[place] = session.append("user/message", data, surface_op=(node, node), sources=[node])

    return replace


def compare_fork(setting: Setting) -> Iterator[Row]:
    """A fork through `Store.fork` and by plain SQL, beside copies.

    What a fork goes on from is read when it is first appended to, so that is measured as well.
    """
    log = setting.chunk
    here, copied, plain = setting.imported(log), setting.copied(log), setting.fresh()
    run_alone("reference:import_log", log=str(log.path), store=str(plain))
    connection = reference.connect(copied)
    with dshstore.open(copied) as store:
        expected = store.session(SESSION).surface
        sides = {
            "Store.fork": partial(_fork, store, expected),
            "Store.fork, with an event": partial(_fork_and_append, store, expected),
            "plain SQL": partial(_fork_by_sql, store, connection, expected),
            "copy of its rows": partial(_copy, setting, _COPIED, here, _COPY),
            "copy of REF's rows": partial(_copy, setting, reference.CREATE, plain, _COPY_PLAIN),
        }
        spans = take_turns(sides, setting.mode.rounds)
    connection.close()
    forks, copies = list(sides)[:3], list(sides)[3:]
    for fork, copy in product(forks, copies):
        what = f"fork of {log.events:,} events, {len(expected)} live, by {fork}"
        both = "fork", spans[fork], copy, spans[copy]
        yield compare_spans("fork", what, both, _FORK, log.events)


def _fork(store: dshstore.Store, expected: list[int]) -> Span:
    clock = Clock()
    with clock():
        made = store.fork(SESSION)
    check(made.surface, expected, "surface of the fork")
    made.close()
    return clock.work


def _fork_and_append(store: dshstore.Store, expected: list[int]) -> Span:
    clock = Clock()
    with clock():
        made = store.fork(SESSION)
        made.append("todo/write", {"todos": []})
        made.flush()
    check(made.surface, expected, "surface of the fork")
    made.close()
    return clock.work


def _fork_by_sql(store: dshstore.Store, connection: Connection, expected: list[int]) -> Span:
    clock, id = Clock(), str(uuid.uuid4())
    header = {"type": "session", "version": 0, "id": id, "createdAt": 0, "delegationDepth": 0}
    made = id, json.dumps({**header, "parentSession": SESSION})
    with clock():
        connection.execute(_FORK_BY_SQL, made)
    check(store.session(id).surface, expected, "surface of the fork")
    return clock.work


def _copy(setting: Setting, tables: str, source: Path, statements: str) -> Span:
    path, clock = setting.fresh(), Clock()
    connection = reference.connect(path)
    connection.execute(tables)
    connection.execute("ATTACH ? AS source", (str(source),))
    with clock():
        connection.execute(statements)
    connection.close()
    remove(path)
    return clock.work
