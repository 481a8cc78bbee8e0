"""The documented views and what their columns hold: the one place that tells their types.

SQLite tells none for most columns, for they come out of JSON. How a type is written, and what
becomes of a value that is none, is for `writing`.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from dshstore.sqlfiles import Statement, load

#: `int` of 64 bits, `float`, `bool`, `text`, `json` (as text), `time` (epoch ms, UTC).
Kind = Literal["int", "float", "bool", "text", "json", "time"]

INT: Kind = "int"
FLOAT: Kind = "float"
BOOL: Kind = "bool"
TEXT: Kind = "text"
JSON: Kind = "json"
TIME: Kind = "time"


def _of_sessions(**columns: Kind) -> dict[str, Kind]:
    """The columns of a view that begins as all do."""
    return {"session": INT, "session_id": TEXT, "format_version": INT, **columns}


#: The columns of each view, in their order.
VIEWS: dict[str, dict[str, Kind]] = {
    "sessions_overview": _of_sessions(
        title=TEXT,
        first_prompt=TEXT,
        project=TEXT,
        runtime=TEXT,
        model=TEXT,
        turns=INT,
        events=INT,
        inherited=INT,
        tokens=INT,
        surface_nodes=INT,
        first_time=TIME,
        last_time=TIME,
        created_at=TIME,
        parent_session=TEXT,
        open_turn=INT,
    ),
    "current_sessions": _of_sessions(
        created_at=TIME,
        runtime=TEXT,
        next_seq=INT,
        inherited_count=INT,
        cwd=TEXT,
        parent_session=TEXT,
        origin=TEXT,
        delegation_depth=INT,
        agent_preset=TEXT,
    ),
    "session_bounds": _of_sessions(next_seq=INT, inherited_count=INT),
    "forks": _of_sessions(created_at=TIME, header=JSON, parent=INT, at=INT),
    "turns": _of_sessions(
        turn=INT,
        first_seq=INT,
        last_seq=INT,
        started=TIME,
        ended=TIME,
        duration=INT,
        reason=TEXT,
        open=BOOL,
    ),
    "steps": _of_sessions(
        turn=INT,
        step=INT,
        first_seq=INT,
        last_seq=INT,
        started=TIME,
        ended=TIME,
        duration=INT,
        open=BOOL,
    ),
    "messages": _of_sessions(position=INT, seq=INT, role=TEXT, text=TEXT, message=JSON),
    "surface": _of_sessions(position=INT, seq=INT, type=TEXT),
    "shadowed": _of_sessions(seq=INT, type=TEXT, shadowed_by=INT),
    "event_log": _of_sessions(
        part=INT,
        seq=INT,
        count=INT,
        type=TEXT,
        time=TIME,
        data=JSON,
        source_event_seqs=JSON,
        surface_op=JSON,
        ignorable=BOOL,
        owner=INT,
    ),
    "tool_calls": _of_sessions(
        seq=INT,
        result_seq=INT,
        turn=INT,
        step=INT,
        call_id=TEXT,
        name=TEXT,
        arguments=TEXT,
        result=TEXT,
        is_error=BOOL,
        error_code=TEXT,
        started=TIME,
        ended=TIME,
        duration=INT,
        open=BOOL,
    ),
    "attempts": _of_sessions(
        seq=INT,
        turn=INT,
        step=INT,
        outcome=TEXT,
        requested=TIME,
        first_time=TIME,
        last_time=TIME,
        delay=INT,
        duration=INT,
        finish=TEXT,
        output_tokens=INT,
        tokens_per_second=FLOAT,
    ),
    "usage": _of_sessions(
        seq=INT,
        time=TIME,
        turn=INT,
        step=INT,
        kind=TEXT,
        provider=TEXT,
        model=TEXT,
        input_tokens=INT,
        output_tokens=INT,
        cache_read_tokens=INT,
        cache_write_tokens=INT,
        reasoning_tokens=INT,
    ),
    "compactions": _of_sessions(
        seq=INT,
        time=TIME,
        kind=TEXT,
        compaction_id=TEXT,
        nodes=INT,
        first_seq=INT,
        last_seq=INT,
        characters_before=INT,
        characters_after=INT,
        tokens_before=INT,
        tokens_after=INT,
        summary=TEXT,
    ),
    "provenance": _of_sessions(seq=INT, source_seq=INT),
    "event_types": {"type": TEXT, "since": INT, "until": INT},
}


def statements() -> dict[str, Statement]:
    """What reads each view, of the sessions whose numbers are from `:first` to `:last`."""
    record = msgspec.defstruct("Statements", [(view, Statement) for view in VIEWS], frozen=True)
    return msgspec.structs.asdict(load("views", record))
