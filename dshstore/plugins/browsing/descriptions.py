"""What Datasette says of a store: titles, meanings of tables, views and columns, what to facet by.

The words are the README's. Which columns a table has, the file itself tells.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

#: Tables and views: what one row is.
MEANINGS: Mapping[str, str] = {
    "attempts": "One row: one attempt of a model at an answer, failed ones too.",
    "compactions": "One row: one message that took the place of others on the surface.",
    "current_sessions": "One row: one session, by its highest generation.",
    "event_log": "One row: one event, or one run of token chunks, of a session's whole log, "
    "inherited parts included. Sort by part and seq for the order of the log.",
    "event_types": "One row: one event type, with the formats that know it.",
    "events": "One row: one event of a session's own log, or a run of token chunks. Never changed.",
    "forks": "One row: one fork, which shares the events of its parent up to a seq.",
    "imports": "One row: one reading of one log file that left something in the store.",
    "messages": "One row: one message that the model sees now, as stored.",
    "provenance": "One row: one citation: event seq was made of event source_seq.",
    "quarantine": "One row: one piece of a broken log that a salvage set aside.",
    "segments": "One row: whose rows hold which part of a session's log.",
    "session_bounds": "One row: how many events one session has, and how many it inherited.",
    "sessions": "One row: one generation of one session's log.",
    "sessions_overview": "One row: one session at a glance.",
    "shadowed": "One row: what is no longer on a session's surface, and what took its place.",
    "steps": "One row: one step of a turn, a request to the model and the tools it called.",
    "streams": "One row: the packed tokens of one event; dsh_stream(session, seq) unpacks them.",
    "surface": "One row: one node of the surface, in the order in which the model sees it.",
    "surface_nodes": "One row: one event that joined a surface, and what shadowed it later.",
    "surface_rules": "A procedure of the triggers, never read.",
    "surface_spans": "A procedure of the triggers, never read.",
    "tool_calls": "One row: one tool call, with the result as it first came in.",
    "turns": "One row: one turn of a session.",
    "usage": "One row: one call of a provider, with the tokens that it reported; each once.",
}

#: Columns, which mean the same wherever they stand.
COLUMNS: Mapping[str, str] = {
    "session": "number of the session",
    "session_id": "id of the session, as its log states it",
    "format_version": "format of the log, 0 to 4",
    "seq": "place of the event in its session, from 0",
    "position": "place on the surface, from 0",
    "count": "events in the row: more than 1 for a run of token chunks",
    "type": "type of the event",
    "time": "when it was written",
    "data": "payload, as JSON",
    "message": "the whole message, as JSON",
    "text": "the text in the message",
    "role": "who speaks",
    "turn": "turn, from 1",
    "step": "step of the turn, from 1",
    "kind": "which kind it is of",
    "outcome": "message, interrupted or failed",
    "finish": "how the stream ended",
    "requested": "when the model was asked",
    "first_time": "when the first event, or token, came",
    "last_time": "when the last event, or token, came",
    "created_at": "when it was created",
    "imported_at": "when it was read in",
    "started": "when it began",
    "ended": "when it ended",
    "duration": "how long it took, in ms",
    "delay": "from the request to the first token, in ms",
    "tokens_per_second": "output tokens over the duration",
    "input_tokens": "tokens in, without those from a cache",
    "output_tokens": "tokens out",
    "cache_read_tokens": "tokens in that came from a cache",
    "cache_write_tokens": "tokens that went into a cache",
    "reasoning_tokens": "the part of the output that is reasoning",
    "provider": "who runs the model",
    "model": "the model",
    "call_id": "id of the tool call",
    "name": "name of the tool",
    "arguments": "arguments of the call, as JSON",
    "result": "text of the result",
    "result_seq": "event that holds the result",
    "is_error": "whether the tool failed",
    "error_code": "code of the failure",
    "open": "1 while it has not ended",
    "open_turn": "the turn that has not ended",
    "reason": "why it ended",
    "title": "last title",
    "first_prompt": "what the user said first",
    "project": "working directory",
    "cwd": "working directory",
    "runtime": "who wrote the log",
    "turns": "turns begun",
    "events": "events, inherited ones included",
    "inherited": "events before the cut of a fork",
    "inherited_count": "events before the cut of a fork",
    "tokens": "all tokens that providers reported",
    "surface_nodes": "events that the model sees now",
    "parent_session": "id of the session that it came from",
    "next_seq": "number of events",
    "header": "first line of the log",
    "header_raw": "that line's own bytes where they differ",
    "source_seq": "event that it was made of",
    "source_event_seqs": "seqs of the events that it was made of",
    "surface_op": "append, or what it replaces on the surface",
    "shadowed_by": "seq of the event that took its place",
    "ignorable": "1 where a reader may pass over the event",
    "raw": "the log's own bytes where the columns cannot rebuild them",
    "owner": "number of the session whose rows hold it",
    "part": "first seq of the part of the log",
    "nodes": "how many messages gave way",
    "first_seq": "first event",
    "last_seq": "last event",
    "characters_before": "characters of the content before",
    "characters_after": "characters of the content after",
    "tokens_before": "tokens before, as the harness counted them",
    "tokens_after": "tokens of the summary, as the model reported them",
    "summary": "the text that is there now",
    "compaction_id": "id of the compaction",
    "parent": "number of the session that it shares events with",
    "at": "last seq shared, or place of a stream in its payload",
    "forked_from": "number of the session that it shares events with",
    "forked_at": "last seq that it shares",
    "usage": "token usage, as JSON",
    "body": "zstd frame: dsh_stream(session, seq) unpacks it",
    "size": "bytes",
    "path": "file that was read",
    "notes": "what was odd about the log, as JSON",
    "pos": "orders the surface",
    "since": "first format that knows the type",
    "until": "last format that knows the type",
}

#: Which columns of a table are worth counting by.
FACETS: Mapping[str, Sequence[str]] = {
    "sessions_overview": ("project", "model"),
    "compactions": ("kind",),
    "tool_calls": ("name", "is_error"),
    "usage": ("model", "kind"),
    "turns": ("reason",),
    "quarantine": ("kind",),
}

#: By which column of a table the latest come first.
LATEST: Mapping[str, str] = {
    "sessions_overview": "last_time",
    "attempts": "requested",
    "compactions": "time",
    "turns": "started",
    "steps": "started",
    "usage": "time",
    "imports": "imported_at",
}

#: Tables that answer no question of a reader.
_INNER = frozenset({"segments", "surface_nodes", "surface_rules", "surface_spans"})


def describe(columns: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """The metadata of a store with these (table, column) pairs, as Datasette takes it."""
    tables: dict[str, Any] = {}
    for table, column in columns:
        if table not in MEANINGS:
            continue  # one that the user added
        about = tables.setdefault(table, _describe_table(table))
        if column in COLUMNS:
            about["columns"][column] = COLUMNS[column]
    return {
        "description": "Session logs of LLM agents, kept by dshstore.",
        "tables": tables,
    }


def _describe_table(table: str) -> dict[str, Any]:
    about: dict[str, Any] = {"description": MEANINGS[table], "columns": {}}
    if table in _INNER:
        about["hidden"] = True
    if table in FACETS:
        about["facets"] = list(FACETS[table])
    if table in LATEST:
        about["sort_desc"] = LATEST[table]
    if table == "sessions":
        about["label_column"] = "session_id"
    return about


@cache
def questions() -> dict[str, dict[str, str]]:
    """The canned queries: SQL, title and description by name."""
    found = {}
    for file in sorted(files(__package__).joinpath("questions").iterdir(), key=lambda f: f.name):
        about, _, sql = file.read_text(encoding="utf-8").partition("\n")
        title, _, description = about.removeprefix("-- ").partition(": ")
        said = f"{description[:1].upper()}{description[1:]}."
        found[file.name.removesuffix(".sql")] = {
            "sql": sql.strip(),
            "title": title,
            "description": said,
        }
    return found


@cache
def statement(name: str) -> str:
    """The SQL that a page of ours runs."""
    return files(__package__).joinpath("statements", f"{name}.sql").read_text(encoding="utf-8")
