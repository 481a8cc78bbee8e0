"""Live appends: what the rules cost beside a table without any, and what `append` costs a loop.

The triggers alone (plain SQL into a store and into REF's table), and the whole of `Session.append`
(beside the loop that does without: `json.dumps` and an insert). All in WAL with
`synchronous=NORMAL`; times are medians of single calls (of ten in a row where nothing is written).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any, NamedTuple

import apsw
import msgspec

import dshstore
from bench import reference
from bench.clock import Span, check, time_calls
from bench.logs import Log
from bench.report import Demand, Row, compare_spans
from bench.settings import SESSION, Setting

_BATCH = 100
_EACH, _BATCHED, _QUEUED = Demand(1.4), Demand(1.8), Demand(4.0)
_GROWN = Demand(1.3, events=1_000_000)

_BEGIN = """
INSERT INTO sessions (session_id, format_version, created_at, header) VALUES (?, 4, 0, ?)
"""
_HEADER = {"type": "session", "version": 4, "id": SESSION, "createdAt": 0, "isSeeded": False}

_INSERT_BATCH = reference.INSERT + (_BATCH - 1) * ", (?, ?, ?, ?, ?, ?, ?)"

#: The kinds of events of which a loop appends the most.
_KINDS = ("step/start", "user/message", "assistant/message", "tool/call", "tool/result")


class Append(NamedTuple):
    """The arguments of one append, and its row."""

    type: str
    data: Any
    op: Any
    sources: list[int] | None
    row: reference.EventRow

    def to(self, session: dshstore.LiveSession) -> int:
        return session.append(self.type, self.data, surface_op=self.op, sources=self.sources)


def compare(setting: Setting) -> Iterator[Row]:
    appends = _read_appends(setting.settled)
    yield from _compare_triggers(setting, [one.row for one in appends])
    yield from _compare_session(setting, appends)
    yield from _compare_queued(setting, appends)
    yield _compare_grown(setting)


def _read_appends(log: Log) -> list[Append]:
    with log.path.open("rb") as file:
        file.readline()
        events = [msgspec.json.decode(line) for line in islice(file, 20_000)]
    return [
        Append(
            event["type"],
            event["data"],
            event.get("surfaceOp"),
            event.get("sourceEventSeqs"),
            row,
        )
        for event, row in zip(events, reference.read_rows(log.path), strict=False)
    ]


def _slices(calls: int, batch: int, first: int) -> Sequence[slice]:
    return [slice(first + n * batch, first + (n + 1) * batch) for n in range(calls)]


def _compare_triggers(setting: Setting, rows: list[reference.EventRow]) -> Iterator[Row]:
    path = setting.empty()
    store = reference.connect(path, "NORMAL")
    store.execute(_BEGIN, (SESSION, json.dumps({**_HEADER, "delegationDepth": 0})))
    plain = reference.create(setting.fresh(), "NORMAL")
    sides = {"triggers": store, "plain": plain}
    turns, calls = setting.mode.rounds, setting.mode.calls

    def insert(connection: apsw.Connection, number: int) -> None:
        connection.execute(reference.INSERT, rows[number])

    times = time_calls({name: partial(insert, side) for name, side in sides.items()}, turns, calls)
    yield _row("plain SQL, a commit each", "triggers", "no triggers", times, _EACH)

    done, batches = (turns + 1) * calls, max(1, calls // 20)
    ways = {"one statement a row": _insert_rows, "in one statement": _insert_together}
    for way, insert_batch in ways.items():
        slices = _slices((turns + 1) * batches, _BATCH, done)
        done = slices[-1].stop
        parts = [rows[part] for part in slices]
        times = time_calls(
            {name: partial(insert_batch, side, parts) for name, side in sides.items()},
            turns,
            batches,
        )
        what = f"plain SQL, commits of {_BATCH}, {way}"
        yield _row(what, "triggers", "no triggers", times, _BATCHED)
    for side in sides.values():
        [(count,)] = side.execute("SELECT count(*) FROM events")
        check(count, done, "events appended")
        side.close()
    with dshstore.open(path, "read") as opened:
        shown = len(opened.session(SESSION).messages())
        check(shown, _fold_size(rows[:done]), "messages")


def _insert_rows(
    connection: apsw.Connection, parts: list[list[reference.EventRow]], number: int
) -> None:
    with connection:
        connection.executemany(reference.INSERT, parts[number])


def _insert_together(
    connection: apsw.Connection, parts: list[list[reference.EventRow]], number: int
) -> None:
    connection.execute(_INSERT_BATCH, list(chain.from_iterable(parts[number])))


def _fold_size(rows: Sequence[reference.EventRow]) -> int:
    """How long the surface is after these rows."""
    events = []
    for _, seq, type, time, data, sources, op in rows:
        event = {"type": type, "seq": seq, "time": time, "data": json.loads(data)}
        event |= {"sourceEventSeqs": json.loads(sources)} if sources else {}
        events.append(event | ({"surfaceOp": json.loads(op)} if op else {}))
    return len(dshstore.fold(events, format_version=4).nodes)


def _compare_session(setting: Setting, appends: list[Append]) -> Iterator[Row]:
    plain = reference.create(setting.fresh(), "NORMAL")
    turns, calls = setting.mode.rounds, setting.mode.calls

    def row(number: int) -> tuple[object, ...]:
        _, seq, type, time, _, sources, op = appends[number].row
        return 1, seq, type, time, json.dumps(appends[number].data), sources, op

    with dshstore.open(setting.empty(), durability="NORMAL") as store:
        session = store.create(commit_each=True)
        times = time_calls(
            {
                "session": lambda n: appends[n].to(session),
                "plain": lambda n: plain.execute(reference.INSERT, row(n)),
            },
            turns,
            calls,
        )
        check(session.next_seq, (turns + 1) * calls, "events appended")
        yield _row("Session.append, a commit each", "append", "json.dumps, insert", times, _EACH)

        batches = max(1, calls // 10)
        session = store.create(max_delay=3600)
        plain.execute("DELETE FROM events")
        slices = _slices((turns + 1) * batches, _BATCH, 0)

        def append_batch(number: int) -> None:
            for append in appends[slices[number]]:
                append.to(session)
            session.flush()

        def insert_batch(number: int) -> None:
            with plain:
                part = slices[number]
                plain.executemany(reference.INSERT, map(row, range(part.start, part.stop)))

        times = time_calls({"session": append_batch, "plain": insert_batch}, turns, batches)
        check(session.next_seq, slices[-1].stop, "events appended")
        yield _row(
            f"Session.append, a flush after {_BATCH}",
            "append",
            "json.dumps, insert",
            times,
            _BATCHED,
        )
    plain.close()


def _compare_queued(setting: Setting, appends: list[Append]) -> Iterator[Row]:
    """`append` alone, which touches no disk: the thread that writes is kept waiting."""
    for kind in _KINDS:
        chosen = [one for one in appends if one.type == kind and not isinstance(one.op, dict)]
        with dshstore.open(setting.empty(), durability="NORMAL") as store:
            times = time_calls(
                {
                    "append": partial(_append_queued, store.create(max_delay=3600), chosen),
                    "dumps": partial(_dump, chosen),
                },
                setting.mode.rounds,
                setting.mode.calls,
                group=10,
            )
        yield _row(f"Session.append, queued: {kind}", "append", "json.dumps", times, _QUEUED)


def _append_queued(session: dshstore.LiveSession, appends: list[Append], number: int) -> None:
    one = appends[number % len(appends)]
    # what it cites in the log is not in this session: it cites the event before it
    cited = [number - 1] if one.sources and number else None
    session.append(one.type, one.data, surface_op=one.op, sources=cited)


def _dump(appends: list[Append], number: int) -> None:
    json.dumps(appends[number % len(appends)].data)


def _compare_grown(setting: Setting) -> Row:
    log = setting.chunk
    data: dict[str, Any] = {"content": [{"type": "text", "text": "Is there frost tonight? " * 20}]}
    data |= {"source": {"kind": "user"}, "role": "user", "id": "message"}

    def append_to(session: dshstore.LiveSession, number: int) -> None:
        session.append("user/message", data, surface_op="append")

    with (
        dshstore.open(setting.copied(log), durability="NORMAL") as grown,
        dshstore.open(setting.empty(), durability="NORMAL") as empty,
    ):
        there = grown.resume(SESSION, commit_each=True)
        new = empty.create(format_version=log.version, commit_each=True)
        times = time_calls(
            {"grown": partial(append_to, there), "empty": partial(append_to, new)},
            setting.mode.rounds,
            setting.mode.calls,
        )
    what = f"append, a commit each, after {log.events:,} events"
    return _row(what, "there", "empty store", times, _GROWN, log.events)


def _row(
    what: str,
    ours: str,
    theirs: str,
    times: Mapping[str, list[Span]],
    demand: Demand,
    events: int = 0,
) -> Row:
    a, b = times.values()
    return compare_spans("append", what, (ours, a, theirs, b), demand, events, rounds=False)
