"""Statements that would break what the triggers keep, and the code with which each is refused.

They are written for the store that `fill_store` makes. A code in the words of SQLite is its own
refusal of a value that a STRICT column cannot hold.
"""

from __future__ import annotations

from typing import NamedTuple

from tests.logs import LogBuilder, text
from tests.sql.plain import PlainWriter, to_json

#: The numbers of the sessions in the store.
LOG, RUNS, EMPTY, FORK, SEEDED = 1, 2, 3, 4, 5

INSERT_RUN = (
    "INSERT INTO events (session, seq, count, type, time, data)"
    " VALUES (?, ?, 3, 'assistant/chunk', 5, '{\"turn\":1,\"step\":1}')"
)
INSERT_STREAM = (
    "INSERT INTO streams (session, seq, at, size, body) VALUES (?, ?, ?, 9, x'28b52ffd')"
)
INSERT_FORK = (
    "INSERT INTO forks (session_id, created_at, header, parent, at)"
    " VALUES (:session_id, 0, '{}', :parent, :at)"
)
SPAN = "INSERT INTO surface_spans VALUES "
INSERT_IMPORT = (
    "INSERT INTO imports (session, path, encoding, size, sha256, kept_size, kept_sha256,"
    " lines, frames, events, imported_at) VALUES (?, 'a.jsonl', 'plain', 9, '', 9, '', 1, 0, 0, 0)"
)


def fill_store(writer: PlainWriter) -> None:
    """Sessions of every kind, with something in every table."""
    log = LogBuilder(4)
    log.append("user/message", log.user(text("a")))
    log.start_turn()
    log.append("tool/result", log.result("c1", text("null")))
    log.replace("user/message", log.user(text("b")), 0, 0)
    log.append("assistant/message", {**log.assistant(text("null")), "meta": None, "stream": None})
    log.append("assistant/message", {**log.assistant(text("null")), "meta": None, "stream": None})
    assert writer.begin(4) == LOG
    writer.append(LOG, log.events)
    assert writer.begin(0) == RUNS
    writer.run(INSERT_RUN, (RUNS, 0))
    writer.run(INSERT_STREAM, (RUNS, 0, None))
    chunk = {"turn": 1, "step": 1, "chunk": {"type": "text-delta", "index": 0, "text": "a"}}
    writer.append(RUNS, [{"type": "assistant/chunk", "seq": 3, "time": 5, "data": chunk}])
    writer.run(INSERT_RUN, (RUNS, 4))
    assert writer.begin(4) == EMPTY
    writer.run(INSERT_FORK, {"session_id": "fork", "parent": LOG, "at": 2})
    writer.append(FORK, [{"type": "turn/end", "seq": 3, "time": 5, "data": {}}])
    assert writer.begin(1, seedLength=2) == SEEDED
    writer.run(INSERT_STREAM, (LOG, 4, to_json(log.events[4]["data"]).index('"stream":') + 9))
    writer.run(INSERT_IMPORT, (LOG,))
    writer.run(
        "INSERT INTO quarantine (import, kind, offset, size, reason, raw)"
        " VALUES (1, 'debris', 0, 1, 'torn', x'00')"
    )


#: Everything that is in the store, table by table.
TABLES = {
    "sessions": "SELECT * FROM sessions ORDER BY id",
    "segments": "SELECT * FROM segments ORDER BY session, first_seq",
    "events": "SELECT rowid, * FROM events ORDER BY rowid",
    "streams": "SELECT rowid, * FROM streams ORDER BY rowid",
    "surface_nodes": "SELECT * FROM surface_nodes ORDER BY session, seq",
    "imports": "SELECT * FROM imports ORDER BY id",
    "quarantine": "SELECT * FROM quarantine ORDER BY id",
}


class Attack(NamedTuple):
    sql: str
    code: str


EVENT = "INSERT INTO events (session, seq, type, time, data) VALUES "
ROWID_EVENT = "INSERT INTO events (rowid, session, seq, type, time, data) VALUES "
RUN = "INSERT INTO events (session, seq, count, type, time, data) VALUES "
SURFACE = (
    "INSERT INTO events (session, seq, type, time, data, source_event_seqs, surface_op) VALUES "
)
OPAQUE = (
    "INSERT INTO events (session, seq, type, time, data, ignorable, source_event_seqs, surface_op)"
    " VALUES "
)
SESSION = "INSERT INTO sessions (session_id, format_version, created_at, header) VALUES "
ID_SESSION = "INSERT INTO sessions (id, session_id, format_version, created_at, header) VALUES "
FORKED = (
    "INSERT INTO sessions"
    " (session_id, format_version, created_at, header, forked_from, forked_at) VALUES "
)
FORKS = "INSERT INTO forks (session_id, created_at, header, parent, at) VALUES "
STREAM = "INSERT INTO streams (session, seq, at, size, body) VALUES "
NODE = "INSERT INTO surface_nodes (session, seq, pos, owner) VALUES "
SEGMENT = "INSERT INTO segments (session, first_seq, last_seq, owner) VALUES "

_APPEND_ONLY = {
    "an event gets another payload": "UPDATE events SET data = '{}' WHERE session = 1 AND seq = 1",
    "an event gets the payload that it has": "UPDATE events SET data = data",
    "an event goes to another session": "UPDATE events SET session = 3 WHERE rowid = 1",
    "an event gets another seq": "UPDATE events SET seq = 9 WHERE session = 1 AND seq = 5",
    "an event gets another rowid": "UPDATE events SET rowid = 3 WHERE rowid = 1",
    "an event is deleted": "DELETE FROM events WHERE session = 1 AND seq = 1",
    "all events are deleted": "DELETE FROM events",
    "an event takes over a row": ROWID_EVENT + "(1, 1, 6, 'turn/end', 0, '{}')",
    "a stream gets another body": "UPDATE streams SET body = x'00'",
    "a stream gets another rowid": "UPDATE streams SET rowid = 9 WHERE rowid = 1",
    "a stream is deleted": "DELETE FROM streams WHERE session = 1",
    "a stream enters twice": STREAM + "(2, 0, NULL, 1, x'00')",
    "a stream is upserted": STREAM
    + "(2, 0, NULL, 1, x'00') ON CONFLICT DO UPDATE SET body = x'00'",
    "a stream takes over a row": "INSERT INTO streams (rowid, session, seq, at, size, body)"
    " VALUES (1, 2, 4, NULL, 1, x'00')",
}
_SEQ = {
    "an event enters twice": EVENT + "(1, 5, 'turn/end', 0, '{}')",
    "an event is upserted": EVENT
    + "(1, 1, 'turn/end', 0, '{}') ON CONFLICT DO UPDATE SET data = '{}'",
    "an event is upserted without a word": EVENT
    + "(1, 1, 'turn/end', 0, '{}') ON CONFLICT DO NOTHING",
    "events enter again from the table itself": "INSERT INTO events"
    " (session, seq, type, time, data) SELECT session, seq, type, time, data FROM events",
    "a seq is left out": EVENT + "(1, 7, 'turn/end', 0, '{}')",
    "a seq is below zero": EVENT + "(3, -1, 'turn/end', 0, '{}')",
    "a seq is missing": EVENT + "(1, NULL, 'turn/end', 0, '{}')",
    "a session is missing": EVENT + "(NULL, 0, 'turn/end', 0, '{}')",
    "a session does not exist": EVENT + "(99, 0, 'turn/end', 0, '{}')",
    "a session that does not exist has no seq": EVENT + "(99, NULL, 'turn/end', 0, '{}')",
    "a seq is inside of a run": EVENT + "(2, 5, 'turn/end', 0, '{}')",
    "the second row of several leaves one out": EVENT
    + "(1, 6, 'turn/end', 0, '{}'), (1, 8, 'turn/end', 0, '{}')",
    "a message enters twice": SURFACE + "(1, 5, 'user/message', 0, '{}', NULL, '\"append\"')",
}
_EVENT = {
    "a type is missing": EVENT + "(1, 6, NULL, 0, '{}')",
    "a time is missing": EVENT + "(1, 6, 'turn/end', NULL, '{}')",
    "a time is no safe integer": EVENT + "(1, 6, 'turn/end', 9007199254740992, '{}')",
    "ignorable is false": OPAQUE + "(1, 6, 'x', 0, '{}', 0, NULL, NULL)",
    "ignorable is two": OPAQUE + "(1, 6, 'x', 0, '{}', 2, NULL, NULL)",
}
_DATA = {
    "data is missing": EVENT + "(1, 6, 'turn/end', 0, NULL)",
    "data is empty": EVENT + "(1, 6, 'turn/end', 0, '')",
    "data is a word": EVENT + "(1, 6, 'turn/end', 0, 'word')",
    "data is JSON5": EVENT + "(1, 6, 'turn/end', 0, '{a:1}')",
    "data has a comma too many": EVENT + "(1, 6, 'turn/end', 0, '[1,]')",
    "data has a control character": EVENT + "(1, 6, 'turn/end', 0, '\"' || char(9) || '\"')",
    "data goes on after a NUL": EVENT + "(1, 6, 'turn/end', 0, '{}' || char(0) || '{}')",
    "data ends with a NUL": EVENT + "(1, 6, 'turn/end', 0, '{}' || char(0))",
    "the data of a message is a word": SURFACE
    + "(1, 6, 'user/message', 0, 'word', NULL, '\"append\"')",
    "the data of a rewritten result is a word": SURFACE
    + "(1, 6, 'tool/result', 0, 'word', '[2]', '{\"op\":\"replace\",\"startSeq\":2,\"endSeq\":2}')",
}
_RUN = {
    "a run is of another type": RUN + "(2, 7, 3, 'turn/end', 0, '{}')",
    "a run has the payload of one chunk": RUN + "(2, 7, 3, 'assistant/chunk', 0, '{\"chunk\":1}')",
    "a run has no members": RUN + "(2, 7, 0, 'assistant/chunk', 0, '{}')",
    "a run has less than none": RUN + "(2, 7, -7, 'assistant/chunk', 0, '{}')",
    "a run does not know its members": RUN + "(2, 7, NULL, 'assistant/chunk', 0, '{}')",
    "a run goes beyond the last seq": RUN + "(2, 7, 9007199254740990, 'assistant/chunk', 0, '{}')",
    "a run is of a later format": RUN + "(1, 6, 3, 'assistant/chunk', 0, '{}')",
}
_OP = {
    "an op is a bare word": SURFACE + "(1, 6, 'user/message', 0, '{}', NULL, 'append')",
    "an op goes on after a NUL": SURFACE
    + "(1, 6, 'user/message', 0, '{}', '[3]',"
    + ' \'{"op":"replace","startSeq":3,"endSeq":3}\' || char(0) || \'x\')',
    "the op of an opaque event is no JSON": OPAQUE + "(1, 6, 'x/y', 0, '{}', 1, NULL, 'append')",
}
_IDENTITY = {
    "a session gets another id": "UPDATE sessions SET session_id = 'x' WHERE id = 3",
    "a session gets the id of another": "UPDATE sessions SET session_id = 's1' WHERE id = 3",
    "a session gets another number": "UPDATE sessions SET id = 9 WHERE id = 3",
    "a session gets another rowid": "UPDATE sessions SET rowid = 9 WHERE id = 3",
    "a session takes over a rowid": "UPDATE sessions SET _rowid_ = 1 WHERE id = 3",
    "a session takes over an oid": 'UPDATE sessions SET "OID" = 1 WHERE id = 3',
    "a session takes over a rowid from a query": "UPDATE sessions SET (rowid) = (SELECT 1)"
    " WHERE id = 3",
    "a session gets another format": "UPDATE sessions SET format_version = 3 WHERE id = 3",
    "a session gets another time": "UPDATE sessions SET created_at = 1 WHERE id = 3",
    "a session says another folder than its header": "UPDATE sessions SET cwd = '/x' WHERE id = 3",
    "a session gets another parent": "UPDATE sessions SET parent_session = 's1' WHERE id = 3",
    "a session gets another depth": "UPDATE sessions SET delegation_depth = 7 WHERE id = 3",
    "a session gets another header": "UPDATE sessions SET header = '{}' WHERE id = 3",
    "a session gets another header line": "UPDATE sessions SET header_raw = x'7b7d' WHERE id = 3",
    "a session gets another runtime": "UPDATE sessions SET runtime = 'x' WHERE id = 3",
    "a session becomes a fork": "UPDATE sessions SET forked_from = 1, forked_at = 0 WHERE id = 3",
    "a fork forgets its parent": "UPDATE sessions SET forked_from = NULL WHERE id = 4",
    "a fork moves its boundary": "UPDATE sessions SET forked_at = 1 WHERE id = 4",
}
_EXISTS = {
    "a session enters twice": SESSION + "('s1', 4, 0, '{}')",
    "a session takes over a number": ID_SESSION + "(1, 'n', 4, 0, '{}')",
    "a session is upserted": SESSION
    + "('s1', 4, 0, '{}') ON CONFLICT DO UPDATE SET header = '{}', id = 9",
    "a fork enters twice": FORKS + "('fork', 0, '{}', 1, 1)",
}
_NUMBER = {
    "a session has number -1": ID_SESSION + "(-1, 'n', 4, 0, '{}')",
    "a session has number 0": ID_SESSION + "(0, 'n', 4, 0, '{}')",
    "a session has the last number": ID_SESSION + "(9223372036854775807, 'n', 4, 0, '{}')",
}
_SESSION_ID = {
    "a session has no id": SESSION + "(NULL, 4, 0, '{}')",
    "a session has an empty id": SESSION + "('', 4, 0, '{}')",
    "a session id holds a NUL": SESSION + "('a' || char(0) || 'b', 4, 0, '{}')",
    "a fork has an empty id": FORKS + "('', 0, '{}', 1, 1)",
    "a fork has no id": FORKS + "(NULL, 0, '{}', 1, 1)",
}
_FORMAT = {
    "a format is missing": SESSION + "('n', NULL, 0, '{}')",
    "a format is not known": SESSION + "('n', 5, 0, '{}')",
    "a format is below zero": SESSION + "('n', -1, 0, '{}')",
}
_HEADER = {
    "a session has no time": SESSION + "('n', 4, NULL, '{}')",
    "a session has a time below zero": SESSION + "('n', 4, -1, '{}')",
    "a header is missing": SESSION + "('n', 4, 0, NULL)",
    "a header is a list": SESSION + "('n', 4, 0, '[]')",
    "a header goes on after a NUL": SESSION + "('n', 4, 0, '{}' || char(0) || 'x')",
    "a seed length is a word": SESSION + "('n', 0, 0, '{\"seedLength\":\"5\"}')",
    "a seed length is null": SESSION + "('n', 0, 0, '{\"seedLength\":null}')",
    "a seed length is below zero": SESSION + "('n', 0, 0, '{\"seedLength\":-5}')",
    "a seed length is no integer": SESSION + "('n', 1, 0, '{\"seedLength\":1.5}')",
    "a runtime is missing": "INSERT INTO sessions"
    " (session_id, format_version, created_at, header, runtime) VALUES ('n', 4, 0, '{}', NULL)",
}
_FORK = {
    "a fork has no boundary": FORKS + "('n', 0, '{}', 1, NULL)",
    "a fork is cut before the first event": FORKS + "('n', 0, '{}', 1, -1)",
    "a fork is cut after the last event": FORKS + "('n', 0, '{}', 1, 6)",
    "a fork is of an empty session": FORKS + "('n', 0, '{}', 3, 0)",
    "a fork has no parent": FORKS + "('n', 0, '{}', NULL, 0)",
    "a fork has a parent that does not exist": FORKS + "('n', 0, '{}', 99, 0)",
    "a fork by hand has no boundary": FORKED + "('n', 4, 0, '{}', 1, NULL)",
    "a fork by hand has no parent": FORKED + "('n', 4, 0, '{}', NULL, 1)",
    "a fork by hand is of another format": FORKED + "('n', 3, 0, '{}', 1, 1)",
    "a fork by hand is cut after the last event": FORKED + "('n', 4, 0, '{}', 1, 6)",
}
_SURFACE = {
    "a node enters beside its event": NODE + "(1, 1, 1, 1)",
    "a node enters again": NODE + "(1, 3, 0, 1)",
    "a node takes the place of another": NODE + "(1, 5, 2, 1)",
    "a node enters before its event": NODE + "(1, 6, 6, 1)",
    "a node enters an empty session": NODE + "(3, 0, 0, 3)",
    "a node of another session enters": NODE + "(3, 0, 0, 1)",
    "a node enters a fork": NODE + "(4, 1, 1, 1)",
    "a node enters a fork from beyond the boundary": NODE + "(4, 4, 4, 1)",
    "a node enters no session": NODE + "(99, 0, 0, 99)",
    "a node has no session": NODE + "(NULL, 0, 0, 1)",
    "a node is upserted": NODE + "(1, 3, 9, 1) ON CONFLICT DO UPDATE SET pos = 9",
    "a span is replaced by nothing": SPAN + '(1, 6, \'{"start":0,"end":2}\')',
    "a span is replaced by an event that is there": SPAN + '(1, 5, \'{"start":0,"end":2}\')',
    "a span is replaced in an empty session": SPAN + '(3, 0, \'{"start":0,"end":0}\')',
    "a shadowed node enters": "INSERT INTO surface_nodes (session, seq, pos, owner, shadowed_by)"
    " VALUES (1, 1, 1, 1, 3)",
    "a node is shadowed": "UPDATE surface_nodes SET shadowed_by = 5 WHERE session = 1 AND seq = 2",
    "a node is shadowed by what comes": "UPDATE surface_nodes SET shadowed_by = 6"
    " WHERE session = 1 AND seq = 2",
    "a shadowed node comes back": "UPDATE surface_nodes SET shadowed_by = NULL WHERE seq = 0",
    "a node moves": "UPDATE surface_nodes SET pos = 9 WHERE session = 1 AND seq = 2",
    "a node takes a place": "UPDATE surface_nodes SET pos = 0 WHERE session = 1 AND seq = 2",
    "a node gets another owner": "UPDATE surface_nodes SET owner = 4 WHERE session = 4",
    "a node is deleted": "DELETE FROM surface_nodes WHERE session = 1 AND seq = 2",
    "the surface is deleted": "DELETE FROM surface_nodes",
}
_SEGMENTS = {
    "a part enters": SEGMENT + "(1, 6, 9007199254740991, 1)",
    "a part enters an empty session": SEGMENT + "(3, 5, 9, 1)",
    "a part enters twice": SEGMENT + "(3, 0, 9007199254740991, 3)",
    "a part of the parent enters a fork": SEGMENT + "(4, 1, 2, 1)",
    "a part enters no session": SEGMENT + "(99, 0, 9007199254740991, 99)",
    "a part has no session": SEGMENT + "(NULL, 0, 9007199254740991, 1)",
    "a part is upserted": SEGMENT
    + "(1, 0, 9007199254740991, 1) ON CONFLICT DO UPDATE SET owner = 2",
    "a part grows": "UPDATE segments SET last_seq = 9 WHERE session = 4 AND first_seq = 0",
    "a part gets another owner": "UPDATE segments SET owner = 2 WHERE session = 3",
    "a part is deleted": "DELETE FROM segments WHERE session = 3",
}
_STREAMS = {
    "a stream has no event": STREAM + "(1, 99, NULL, 1, x'00')",
    "a stream has no session": STREAM + "(NULL, 0, NULL, 1, x'00')",
    "a stream has no seq": STREAM + "(1, NULL, NULL, 1, x'00')",
    "a run's stream is of a member": STREAM + "(2, 5, NULL, 1, x'00')",
    "a run's stream is of a chunk with its payload": STREAM + "(2, 3, NULL, 1, x'00')",
    "a run's stream is of a message": STREAM + "(1, 0, NULL, 1, x'00')",
    "a stream is cut from a turn": STREAM + "(1, 1, 0, 1, x'00')",
    "a stream is cut from a run": STREAM + "(2, 4, 0, 1, x'00')",
    "a stream is cut from the end": STREAM + "(1, 5, -5, 1, x'00')",
    "a stream is cut from a text that says null": "INSERT INTO streams (session, seq, at, size,"
    " body) SELECT 1, seq, instr(data, '\"null'), 1, x'00' FROM events WHERE rowid = 6",
    "a stream is cut from another member": "INSERT INTO streams (session, seq, at, size, body)"
    " SELECT 1, seq, instr(data, '\"meta\":') + 6, 1, x'00' FROM events WHERE rowid = 6",
    "a stream is cut from a result": "INSERT INTO streams (session, seq, at, size, body)"
    " SELECT 1, seq, instr(data, '\"null'), 1, x'00' FROM events WHERE rowid = 3",
}
_STREAM = {
    "a stream has no size": STREAM + "(2, 4, NULL, NULL, x'00')",
    "a stream has a size below zero": STREAM + "(2, 4, NULL, -1, x'00')",
    "a stream has no body": STREAM + "(2, 4, NULL, 1, NULL)",
    "the usage of a stream is a word": "INSERT INTO streams (session, seq, size, body, usage)"
    " VALUES (2, 4, 1, x'00', 'word')",
}
_ROWID = {
    "an event has rowid -1": ROWID_EVENT + "(-1, 1, 6, 'turn/end', 0, '{}')",
    "an event has rowid 0": ROWID_EVENT + "(0, 1, 6, 'turn/end', 0, '{}')",
    "a stream has rowid -1": "INSERT INTO streams (rowid, session, seq, size, body)"
    " VALUES (-1, 2, 4, 1, x'00')",
}
_DELETED = {
    "a session with a fork is deleted": "DELETE FROM sessions WHERE id = 1",
    "all sessions are deleted": "DELETE FROM sessions",
}
_OWN = {
    "a seq is a word": (EVENT + "(1, 'six', 'turn/end', 0, '{}')", "INTEGER column events.seq"),
    "a time is a float": (EVENT + "(1, 6, 'turn/end', 0.5, '{}')", "INTEGER column events.time"),
    "data is a BLOB": (EVENT + "(1, 6, 'turn/end', 0, x'7b7d')", "BLOB value in TEXT column"),
    "a type is a BLOB": (EVENT + "(1, 6, x'00', 0, '{}')", "BLOB value in TEXT column"),
    "a count is a float": (RUN + "(2, 7, 1.5, 'assistant/chunk', 0, '{}')", "INTEGER column"),
    "a raw line is a text": (
        "INSERT INTO events (session, seq, type, time, data, raw)"
        " VALUES (1, 6, 'turn/end', 0, '{}', '{}')",
        "TEXT value in BLOB column events.raw",
    ),
    "an op is a BLOB": (
        SURFACE + "(1, 6, 'user/message', 0, '{}', NULL, x'22617070656e6422')",
        "BLOB value in TEXT column events.surface_op",
    ),
    "a session id is a BLOB": (SESSION + "(x'61', 4, 0, '{}')", "BLOB value in TEXT column"),
    "a header is a word": (SESSION + "('n', 4, 0, 'word')", "header-invalid"),
    "a boundary is a float": (FORKS + "('n', 0, '{}', 1, 1.5)", "INTEGER column"),
    "a header is a BLOB": (SESSION + "('n', 4, 0, x'7b7d')", "BLOB value in TEXT column"),
    "a body is a text": (STREAM + "(2, 4, NULL, 1, 'x')", "TEXT value in BLOB column streams.body"),
    "a view is written": ("DELETE FROM surface", "cannot modify surface because it is a view"),
    "forks are deleted": ("DELETE FROM forks", "cannot modify forks because it is a view"),
}

_BY_CODE = {
    "events-are-append-only": _APPEND_ONLY,
    "seq-not-contiguous": _SEQ,
    "event-invalid": _EVENT,
    "data-not-json": _DATA,
    "run-invalid": _RUN,
    "op-invalid": _OP,
    "session-identity-is-fixed": _IDENTITY,
    "session-exists": _EXISTS,
    "session-number-invalid": _NUMBER,
    "session-id-invalid": _SESSION_ID,
    "format-version-invalid": _FORMAT,
    "header-invalid": _HEADER,
    "fork-beyond-parent": _FORK,
    "surface-is-kept-by-triggers": _SURFACE,
    "segments-are-kept-by-triggers": _SEGMENTS,
    "stream-without-event": _STREAMS,
    "stream-invalid": _STREAM,
    "rowid-invalid": _ROWID,
    "session-has-forks": _DELETED,
    "op-on-log-only": {
        "a run is on the surface": "INSERT INTO events"
        " (session, seq, count, type, time, data, surface_op)"
        " VALUES (2, 7, 3, 'assistant/chunk', 0, '{}', '\"append\"')",
        "a turn is on the surface": SURFACE + "(1, 6, 'turn/end', 0, '{}', NULL, '\"append\"')",
    },
    "sources-on-log-only": {
        "a run cites": "INSERT INTO events"
        " (session, seq, count, type, time, data, source_event_seqs)"
        " VALUES (2, 7, 3, 'assistant/chunk', 0, '{}', '[0]')",
    },
    "sources-not-array": {
        "sources are no JSON": SURFACE + "(1, 6, 'user/message', 0, '{}', '1,', '\"append\"')",
        "sources go on after a NUL": SURFACE
        + "(1, 6, 'user/message', 0, '{}', '[1]' || char(0) || ']', '\"append\"')",
        "the sources of an opaque event are no JSON": OPAQUE
        + "(1, 6, 'x/y', 0, '{}', 1, '1,', NULL)",
    },
    "op-missing": {
        "a message has no op": EVENT + "(1, 6, 'user/message', 0, '{}')",
        "a run is of a message": RUN + "(2, 7, 3, 'user/message', 0, '{}')",
    },
}

ATTACKS = {
    name: Attack(sql, code) for code, group in _BY_CODE.items() for name, sql in group.items()
}
ATTACKS |= {name: Attack(*attack) for name, attack in _OWN.items()}
