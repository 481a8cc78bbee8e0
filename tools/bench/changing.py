"""What should not depend on how long a session is: a replace on its surface, and a fork of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import dshstore
from bench import reference
from bench.clock import Clock, Span, check, run_alone, take_turns, time_calls
from bench.logs import Log
from bench.report import Demand, Row, compare_calls, compare_spans
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
    yield compare_calls(
        "replace",
        f"replace one of {many:,} messages, a commit each",
        (f"of {many:,}", times["large"], f"of {few:,}", times["small"]),
        _REPLACE,
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
    log = setting.chunk
    here = setting.imported(log)
    plain = setting.fresh()
    run_alone("reference:import_log", log=str(log.path), store=str(plain))
    with dshstore.open(setting.copied(log)) as store:
        expected = store.session(SESSION).surface

        def fork() -> Span:
            clock = Clock()
            with clock():
                made = store.fork(SESSION)
            check(made.surface, expected, "surface of the fork")
            made.close()
            return clock.work

        def copy(tables: str, source: str, statements: str) -> Span:
            path, clock = setting.fresh(), Clock()
            with reference.connect(path) as connection:
                connection.execute(tables)
            connection.execute("ATTACH ? AS source", (source,))
            with clock():
                connection.execute(statements)
            connection.close()
            remove(path)
            return clock.work

        spans = take_turns(
            {
                "fork": fork,
                "copy": lambda: copy(_COPIED, str(here), _COPY),
                "plain": lambda: copy(reference.CREATE, str(plain), _COPY_PLAIN),
            },
            setting.mode.rounds,
        )
    what = f"fork a session of {log.events:,} events, {len(expected)} live"
    yield _fork_row(what, spans["fork"], "copy of its rows", spans["copy"], log)
    yield _fork_row(f"{what}; REF", spans["fork"], "copy of REF's rows", spans["plain"], log)


def _fork_row(what: str, ours: list[Span], name: str, theirs: list[Span], log: Log) -> Row:
    return compare_spans("fork", what, ("fork", ours, name, theirs), _FORK, log.events)
