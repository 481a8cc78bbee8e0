"""Logs written into a store as plain SQL, by any program, and what the triggers made of them.

One writer works through our own connection, the other is the `sqlite3` shell: another release of
SQLite, in a process of its own.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle, groupby, product
from typing import Any, NamedTuple

from dshstore.db import Database, Row
from dshstore.errors import RuleBroken
from dshstore.sqlfiles import Statement
from tests.contract import Outcome
from tests.logs import EventDict
from tests.real_parts import require

POLICIES = (
    "INSERT",
    "INSERT OR REPLACE",
    "INSERT OR IGNORE",
    "INSERT OR FAIL",
    "INSERT OR ROLLBACK",
)


class Way(NamedTuple):
    """One way to write a log: the policy for conflicts, and what the connection has switched on."""

    policy: str
    batched: bool
    foreign_keys: bool
    recursive_triggers: bool

    def spell(self, sql: str) -> str:
        """The statement with this way's policy."""
        return sql.replace("INSERT", self.policy, 1)

    @property
    def pragmas(self) -> dict[str, int]:
        return {
            "foreign_keys": int(self.foreign_keys),
            "recursive_triggers": int(self.recursive_triggers),
        }


#: Every policy, row by row and as one batch, each under other pragmas.
WAYS = [
    Way(*kind, *pragmas)
    for kind, pragmas in zip(
        product(POLICIES, (False, True)), cycle(product((True, False), repeat=2)), strict=False
    )
]

INSERT_SESSION = (
    "INSERT INTO sessions (session_id, format_version, created_at, header)"
    " VALUES (:session_id, :format_version, 0, :header)"
)
INSERT_EVENT = (
    "INSERT INTO events"
    " (session, seq, type, time, data, source_event_seqs, surface_op, ignorable) VALUES"
    " (:session, :seq, :type, :time, :data, :source_event_seqs, :surface_op, :ignorable)"
)
INSERT_BATCH = (
    "INSERT INTO events"
    " (session, seq, type, time, data, source_event_seqs, surface_op, ignorable)"
    " SELECT :session, value ->> '$.seq', value ->> '$.type', value ->> '$.time',"
    " value -> '$.data', value -> '$.sourceEventSeqs', value -> '$.surfaceOp',"
    " iif(json_type(value, '$.ignorable') = 'true', 1, NULL)"
    " FROM json_each(:batch) ORDER BY key"
)
SESSION = "(SELECT id FROM sessions WHERE session_id = :session_id)"
OUTCOME = (
    "SELECT json_array("
    "json((SELECT json_group_array(seq) FROM (SELECT seq FROM surface_nodes"
    " WHERE session = :session AND shadowed_by IS NULL ORDER BY pos))), "
    "json((SELECT json_group_array(json_array(shadowed_by, seq)) FROM (SELECT shadowed_by, seq"
    " FROM surface_nodes WHERE session = :session AND shadowed_by IS NOT NULL"
    " ORDER BY shadowed_by, pos))))"
)


def to_json(value: Any) -> str:
    """JSON as a harness writes it; half a surrogate pair is escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode(errors="backslashreplace").decode()


def session_row(session_id: str, version: int, **members: Any) -> dict[str, Any]:
    """The parameters of INSERT_SESSION."""
    header = {"type": "session", "version": version, "id": session_id, "createdAt": 0, **members}
    return {"session_id": session_id, "format_version": version, "header": to_json(header)}


def event_row(session: int, event: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of INSERT_EVENT."""
    row = {key: event[key] for key in ("seq", "type", "time")}
    row |= {"session": session, "data": to_json(event["data"])}
    for column, key in (("source_event_seqs", "sourceEventSeqs"), ("surface_op", "surfaceOp")):
        row[column] = to_json(event[key]) if key in event else None
    return row | {"ignorable": 1 if event.get("ignorable") is True else None}


class PlainWriter:
    """Writes through an open connection."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sessions = 0

    def run(self, sql: str, parameters: Mapping[str, Any] | Sequence[Any] = ()) -> list[Row]:
        """All rows of a statement. Raises RuleBroken when a trigger refuses it."""
        return self._database.query(Statement("plain", sql), parameters)

    def set(self, pragmas: Mapping[str, int]) -> None:
        for name, value in pragmas.items():
            self._database.pragma(name, value)

    def begin(self, version: int, way: Way = WAYS[0], **members: Any) -> int:
        """A new session; its number."""
        self._sessions += 1
        row = session_row(f"s{self._sessions}", version, **members)
        self.run(way.spell(INSERT_SESSION), row)
        return int(self.run(SESSION[1:-1], row)[0][0])

    def append(self, session: int, events: Iterable[EventDict], way: Way = WAYS[0]) -> None:
        """Insert events one by one. Raises RuleBroken at the first one that is refused."""
        for event in events:
            self.run(way.spell(INSERT_EVENT), event_row(session, event))

    def write(self, events: Sequence[EventDict], version: int, way: Way) -> Outcome:
        """What becomes of a log that is written in this way; it is not kept."""
        self.set(way.pragmas)
        self.run("BEGIN")
        try:
            session = self.begin(version, way)
            code, at = None, 0
            try:
                if way.batched:
                    batch = {"session": session, "batch": to_json(events)}
                    self.run(way.spell(INSERT_BATCH), batch)
                else:
                    for event in events:
                        self.append(session, [event], way)
                        at += 1
            except RuleBroken as refused:
                code = refused.code
            [[found]] = self.run(OUTCOME, {"session": session})
            return _outcome(found, code, None if way.batched else at)
        finally:
            self.run("ROLLBACK")


class ShellWriter:
    """Writes with the `sqlite3` shell; a process for every log, or for every script."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._shell = require("sqlite3")
        self._sessions = 0

    def run(self, lines: Sequence[str]) -> tuple[list[str], dict[int, str]]:
        """Run a script, one statement a line: lines of output, and the error of each bad line.

        Lines count from 0; the shell goes on after an error.
        """
        done = subprocess.run(
            [self._shell, "-batch", self._path],
            input="\n".join(lines) + "\n",
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        errors = re.findall(r"^\w+ error near line (\d+): (.*?)(?: \(\d+\))?$", done.stderr, re.M)
        assert len(errors) == done.stderr.count("rror near line "), done.stderr
        return done.stdout.split("\n")[:-1], {int(n) - 1: text for n, text in errors}

    def write(
        self, events: Sequence[EventDict], version: int, ways: Sequence[Way]
    ) -> list[Outcome]:
        """What becomes of a log that is written in each of these ways; it is not kept."""
        lines: list[str] = []
        places: dict[int, tuple[int, int | None]] = {}
        for number, way in enumerate(ways):
            self._sessions += 1
            row = session_row(f"c{self._sessions}", version)
            key = {"session": fill(SESSION, row)}
            lines += [f"PRAGMA {name} = {value};" for name, value in way.pragmas.items()]
            lines += ["BEGIN;", fill(way.spell(INSERT_SESSION), row) + ";"]
            if way.batched:
                places[len(lines)] = number, None
                lines.append(fill(way.spell(INSERT_BATCH), {"batch": to_json(events)}, key) + ";")
            for at, event in enumerate([] if way.batched else events):
                places[len(lines)] = number, at
                lines.append(fill(way.spell(INSERT_EVENT), event_row(0, event), key) + ";")
            lines += [fill(OUTCOME, {}, key) + ";", "ROLLBACK;"]
        output, errors = self.run(lines)
        faults: dict[int, tuple[str, int | None]] = {}
        for line, code in sorted(errors.items()):
            number, place = places[line]
            faults.setdefault(number, (code, place))
        return [_outcome(found, *faults.get(n, ())) for n, found in enumerate(output)]


def quote(value: Any) -> str:
    """The value as SQL text."""
    if value is None:
        return "NULL"
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def fill(sql: str, values: Mapping[str, Any], texts: Mapping[str, str] | None = None) -> str:
    """The statement with values, or the SQL in `texts`, in place of its parameters."""
    filled = {name: quote(value) for name, value in values.items()} | dict(texts or {})
    return re.sub(r":(\w+)", lambda match: filled[match[1]], sql)


def _outcome(found: str, code: str | None = None, at: int | None = None) -> Outcome:
    live, pairs = json.loads(found)
    grouped = groupby(pairs, key=lambda pair: pair[0])
    shadowed = [(by, [seq for _, seq in group]) for by, group in grouped]
    return Outcome(live, shadowed, code, at if code else None)
