"""The views, as an analyst reads them: in our SQLite and in an older one, by hand and by rule."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dshstore import schema
from dshstore.db import Database
from dshstore.formats.dsh import vocabulary
from dshstore.sqlfiles import schema_objects
from tests.logs import BASE_TIME, TOOL, EventDict, Json, LogBuilder, text
from tests.sql.attacks import INSERT_FORK, INSERT_RUN, fill_store
from tests.sql.plain import PlainWriter, ShellWriter, to_json
from tests.strategies import VERSIONS, logs

VIEWS = [item.name for item in schema_objects() if item.kind == "view"]
#: Views that are no one's to read, and the one that is of no session.
PROCEDURES = ["surface_rules", "surface_spans"]
SESSION_VIEWS = [name for name in VIEWS if name not in [*PROCEDURES, "event_types"]]

#: All rows of a view; each as a list in JSON.
ALL = "SELECT * FROM surface"


def select(view: str) -> str:
    return ALL.replace("surface", view)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "store.db")


@pytest.fixture
def database(path: str) -> Iterator[Database]:
    database = schema.create(path)
    yield database
    database.close()


@pytest.fixture
def writer(database: Database) -> PlainWriter:
    return PlainWriter(database)


def columns(writer: PlainWriter, view: str) -> list[str]:
    return [row[1] for row in writer.run("PRAGMA table_info(surface)".replace("surface", view))]


def read(writer: PlainWriter, view: str) -> list[dict[str, Any]]:
    """All rows of a view, without the columns that name the session."""
    names = columns(writer, view)
    rows = [dict(zip(names, row, strict=True)) for row in writer.run(select(view))]
    return [{k: v for k, v in row.items() if k not in names[:3]} for row in rows]


def compare_with_shell(writer: PlainWriter, path: str) -> None:
    """Both SQLites show the same in every view."""
    for view in VIEWS:
        names = columns(writer, view)
        ours = [dict(zip(names, row, strict=True)) for row in writer.run(select(view))]
        output, errors = ShellWriter(path).run([".mode json", f"{select(view)};"])
        assert errors == {}
        theirs = json.loads("\n".join(output) or "[]")
        assert len(theirs) == len(ours), view
        for one, other in zip(theirs, ours, strict=True):
            near = {k: pytest.approx(v) if isinstance(v, float) else v for k, v in other.items()}
            assert one == near


def test_the_views_of_sessions_say_first_which_session(writer: PlainWriter) -> None:
    for view in SESSION_VIEWS:
        assert columns(writer, view)[:3] == ["session", "session_id", "format_version"]


def test_all_views_of_an_empty_store_are_empty(writer: PlainWriter, path: str) -> None:
    for view in [*SESSION_VIEWS, *PROCEDURES]:
        assert writer.run(select(view)) == []
    compare_with_shell(writer, path)


def test_another_sqlite_sees_the_same(writer: PlainWriter, path: str) -> None:
    fill_store(writer)
    for version in VERSIONS:
        log = write_garden(version)
        session = writer.begin(version, cwd="/srv/garden")
        writer.append(session, log.events)
        writer.run(INSERT_FORK, {"session_id": f"of-{version}", "parent": session, "at": 12})
    compare_with_shell(writer, path)
    for view in SESSION_VIEWS:
        assert writer.run(select(view)) != [], view


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), version=st.sampled_from(VERSIONS))
def test_another_sqlite_sees_the_same_of_any_log(
    writer: PlainWriter, path: str, version: int, data: st.DataObject
) -> None:
    events = data.draw(logs(version))
    session = writer.begin(version)
    writer.append(session, events)
    if events:
        at = data.draw(st.integers(0, len(events) - 1))
        writer.run(INSERT_FORK, {"session_id": f"of-{session}", "parent": session, "at": at})
    compare_with_shell(writer, path)
    writer.run("DELETE FROM sessions WHERE forked_from IS NOT NULL")
    writer.run("DELETE FROM sessions")


# -- by hand --


def write_garden(version: int) -> LogBuilder:
    """A turn with a step, a call of a tool that fails, a compaction; a second turn begins."""
    log = LogBuilder(version, ticks=(10,))
    log.start_turn()  # 0
    log.start_step()  # 1
    if version >= 3:
        log.append("system/message", log.system(text("Be brief.")))  # 2
    else:
        log.add("request/context", {**log.place, "model": "trowel-1"})  # 2
    log.append("user/message", log.user(text("list"), text("it")))  # 3
    log.header(TOOL)  # 4
    call = {"type": "tool-call", "id": "c1", "name": "shell", "arguments": "{}"}
    stream = [{"type": "chunk", "time": 1, "chunk": {"type": "usage", "usage": {"inputTokens": 7}}}]
    data = {**log.assistant(text("ok"), call), "usage": {"inputTokens": 7, "outputTokens": 3}}
    log.append("assistant/message", {**data, "stream": stream} if version >= 2 else data)  # 5
    started = log.call(call)  # 6
    error = {"name": "Failed", "code": "FAILED"}
    log.append("tool/result", log.result("c1", text("a"), text("b"), error=error), [started])  # 7
    log.end_step()  # 8
    log.end_turn()  # 9
    log.compact(int(version >= 3), len(log.nodes) - 1)  # 10 to 13, the message is 12
    log.add("session/title", {"title": "Lists", "messageSeqs": [3], "source": {"kind": "user"}})
    log.start_turn()  # 15
    log.start_step()  # 16
    log.call({**call, "id": "c2"})  # 17
    return log


def at(seq: int) -> int:
    """The time of an event of that log."""
    return BASE_TIME + 10 * (seq + 1)


@pytest.fixture(params=VERSIONS)
def garden(writer: PlainWriter, request: pytest.FixtureRequest) -> LogBuilder:
    log = write_garden(request.param)
    session = writer.begin(log.version, cwd="/srv/garden", delegationDepth=1, agentPreset="plan")
    writer.append(session, log.events)
    return log


def test_the_surface_and_its_messages(writer: PlainWriter, garden: LogBuilder) -> None:
    head = [(2, "system/message", "system", "Be brief.")] if garden.version >= 3 else []
    nodes = [*head, (12, "user/message", "user", "so far")]
    assert read(writer, "surface") == [
        {"position": i, "seq": seq, "type": kind} for i, (seq, kind, _, _) in enumerate(nodes)
    ]
    messages = read(writer, "messages")
    said = [json.loads(message.pop("message"))["content"] for message in messages]
    assert said == [[text(words)] for _, _, _, words in nodes]
    assert messages == [
        {"position": i, "seq": seq, "role": role, "text": words}
        for i, (seq, _, role, words) in enumerate(nodes)
    ]


def test_the_text_of_a_message_is_all_its_texts(writer: PlainWriter) -> None:
    for version in VERSIONS:
        log = LogBuilder(version)
        log.append("user/message", log.user(text("a"), {"type": "image"}, text("b")))
        log.append("tool/result", log.result("c1", text("c"), text("d")))
        log.append("assistant/message", log.assistant())
        writer.append(writer.begin(version), log.events)
    rows = writer.run("SELECT format_version, position, text FROM messages ORDER BY 1, 2")
    assert rows == [(v, i, said) for v in VERSIONS for i, said in enumerate(["a\nb", "c\nd"])]


def test_the_log(writer: PlainWriter, garden: LogBuilder) -> None:
    rows = read(writer, "event_log")
    assert [(row["seq"], row["type"], row["time"]) for row in rows] == [
        (event["seq"], event["type"], event["time"]) for event in garden.events
    ]
    assert [json.loads(row["data"]) for row in rows] == [event["data"] for event in garden.events]
    assert {(row["part"], row["count"], row["owner"]) for row in rows} == {(0, 1, 1)}
    cited = [json.loads(row["source_event_seqs"] or "null") for row in rows]
    assert cited == [event.get("sourceEventSeqs") for event in garden.events]


def test_turns_and_steps(writer: PlainWriter, garden: LogBuilder) -> None:
    nothing = dict.fromkeys(("last_seq", "ended", "duration"))
    whole = {"turn": 1, "open": 0}
    assert read(writer, "turns") == [
        {**whole, "first_seq": 0, "last_seq": 9, "started": at(0), "ended": at(9), "duration": 90}
        | {"reason": "completed"},
        {**nothing, "turn": 2, "open": 1, "first_seq": 15, "started": at(15), "reason": None},
    ]
    assert read(writer, "steps") == [
        {**whole, "step": 1, "first_seq": 1, "last_seq": 8}
        | {"started": at(1), "ended": at(8), "duration": 70},
        {**nothing, "turn": 2, "step": 1, "open": 1, "first_seq": 16, "started": at(16)},
    ]


def test_tool_calls(writer: PlainWriter, garden: LogBuilder) -> None:
    called = {"step": 1, "name": "shell", "arguments": "{}"}
    nothing = dict.fromkeys(("result_seq", "result", "is_error", "error_code", "ended", "duration"))
    assert read(writer, "tool_calls") == [
        {**called, "turn": 1, "seq": 6, "call_id": "c1", "result": "a\nb", "is_error": 1}
        | {"result_seq": 7}
        | {"error_code": "FAILED", "started": at(6), "ended": at(7), "duration": 10, "open": 0},
        {**called, **nothing, "turn": 2, "seq": 17, "call_id": "c2", "started": at(17), "open": 1},
    ]


def test_what_was_used(writer: PlainWriter, garden: LogBuilder) -> None:
    [row] = read(writer, "usage")
    assert row == {
        "seq": 5, "time": at(5), "turn": 1, "step": 1, "kind": "message",
        "provider": "gardeners", "model": "trowel-1", "input_tokens": 7, "output_tokens": 3,
        "cache_read_tokens": 0, "cache_write_tokens": 0, "reasoning_tokens": 0,
    }  # fmt: skip


def length(event: EventDict) -> int:
    """The characters of a message's content as JSON."""
    return len(to_json(event["data"].get("message", event["data"])["content"]))


def test_compactions_and_what_they_shadow(writer: PlainWriter, garden: LogBuilder) -> None:
    [row] = read(writer, "compactions")
    assert row == {
        "seq": 12, "time": at(12), "kind": "summary", "compaction_id": "z10", "nodes": 3,
        "first_seq": 3, "last_seq": 7,
        "characters_before": sum(length(garden.events[seq]) for seq in (3, 5, 7)),
        "characters_after": length(garden.events[12]), "tokens_before": 40, "tokens_after": None,
        "summary": "so far",
    }  # fmt: skip
    kinds = {3: "user/message", 5: "assistant/message", 7: "tool/result"}
    assert read(writer, "shadowed") == [
        {"seq": seq, "type": kind, "shadowed_by": 12} for seq, kind in kinds.items()
    ]


def test_provenance(writer: PlainWriter, garden: LogBuilder) -> None:
    pairs = sorted((row["seq"], row["source_seq"]) for row in read(writer, "provenance"))
    assert pairs == [(7, 6), (12, 3), (12, 5), (12, 7), (12, 10), (12, 11)]


def test_a_session_at_a_glance(writer: PlainWriter, garden: LogBuilder) -> None:
    [row] = read(writer, "sessions_overview")
    assert row == {
        "title": "Lists", "first_prompt": "list", "project": "/srv/garden", "runtime": "dsh",
        "model": "trowel-1", "turns": 2, "events": 18, "inherited": 0, "tokens": 10,
        "surface_nodes": len(garden.nodes), "first_time": at(0), "last_time": at(17),
        "created_at": 0, "parent_session": None, "open_turn": 2,
    }  # fmt: skip
    [row] = read(writer, "current_sessions")
    assert row == {
        "created_at": 0, "runtime": "dsh", "next_seq": 18, "inherited_count": 0,
        "cwd": "/srv/garden", "parent_session": None, "origin": None, "delegation_depth": 1,
        "agent_preset": "plan",
    }  # fmt: skip


def test_a_fork_shows_what_it_inherits_and_counts_what_is_its_own(writer: PlainWriter) -> None:
    log = write_garden(4)
    parent = writer.begin(4)
    writer.append(parent, log.events)
    writer.run(INSERT_FORK, {"session_id": "fork", "parent": parent, "at": 12})
    end = {"type": "turn/end", "seq": 13, "time": at(13), "data": {"turn": 1}}
    writer.append(parent + 1, [end])

    def of_fork(sql: str) -> list[Any]:
        return writer.run(sql, (parent + 1,))

    assert of_fork("SELECT seq FROM surface WHERE session = ?") == [(2,), (12,)]
    assert of_fork("SELECT seq FROM shadowed WHERE session = ?") == [(3,), (5,), (7,)]
    assert of_fork("SELECT turn, last_seq FROM turns WHERE session = ?") == [(1, 9)]
    assert of_fork("SELECT call_id FROM tool_calls WHERE session = ?") == [("c1",)]
    assert of_fork("SELECT count(*) FROM usage WHERE session = ?") == [(0,)]
    parts = "SELECT part, count(*), owner FROM event_log WHERE session = ? GROUP BY part ORDER BY 1"
    assert of_fork(parts) == [(0, 13, parent), (13, 1, parent + 1)]
    assert writer.run("SELECT sum(count) FROM events") == [(19,)]


def test_a_boundary_that_cuts_a_run_shows_in_the_log(writer: PlainWriter) -> None:
    parent = writer.begin(0)
    writer.run(INSERT_RUN, (parent, 0))
    writer.run(INSERT_FORK, {"session_id": "fork", "parent": parent, "at": 1})
    counts = writer.run("SELECT count FROM event_log ORDER BY session")
    assert counts == [(3,), (2,)]


def test_the_highest_generation_is_the_current_one(writer: PlainWriter) -> None:
    for version in (0, 3, 2):
        writer.run(
            "INSERT INTO sessions (session_id, format_version, created_at, header)"
            " VALUES ('one', ?, 0, '{}')",
            (version,),
        )
    found = writer.run("SELECT session_id, format_version FROM current_sessions")
    assert found == [("one", 3)]
    assert [row["events"] for row in read(writer, "sessions_overview")] == [0]


# -- odd payloads --

SIMPLE: list[Json] = [5, 1.5, "x", None, True, [], {}, [[]], [5], [{}]]
ODD: list[Json] = [
    *SIMPLE,
    *({key: odd} for key in ("message", "content", "usage", "stream", "chunk") for odd in SIMPLE),
    *({"message": {"content": odd, "source": odd, "isError": odd}} for odd in SIMPLE),
    *({"turn": odd, "step": odd, "callId": odd, "title": odd, "header": odd} for odd in SIMPLE),
]


@pytest.mark.parametrize("version", [1, 4])
def test_no_payload_stops_a_view(writer: PlainWriter, path: str, version: int) -> None:
    kinds = [kind for kind, since, _ in writer.run(select("event_types")) if since <= version]
    writer.run("BEGIN")
    for kind in kinds:
        if kind.partition("/")[0] in ("team", "tool-workflow", "feedback", "approval", "job"):
            continue  # no view looks into these
        on_surface = vocabulary.is_surface(kind, version)
        op: EventDict = {"surfaceOp": "append"} if on_surface else {}
        events = [
            {"type": kind, "seq": seq, "time": seq, "data": data, **op}
            for seq, data in enumerate(ODD)
        ]
        writer.append(writer.begin(version), events)
    writer.run("COMMIT")
    for view in SESSION_VIEWS:
        writer.run(select(view))
        _, errors = ShellWriter(path).run([f"{select(view)};"])
        assert errors == {}, view
    messages = [kind for kind in kinds if vocabulary.is_surface(kind, version)]
    assert writer.run("SELECT count(*) FROM surface") == [(len(ODD) * len(messages),)]


# -- the types --


def test_the_view_of_event_types_knows_what_the_vocabulary_knows(writer: PlainWriter) -> None:
    known = {
        (kind, version)
        for kind, since, until in writer.run(select("event_types"))
        for version in range(since, until + 1)
    }
    kinds = {kind for kind, _ in known} | vocabulary._LOG_ONLY | set(vocabulary._SURFACE_SINCE)
    kinds |= {"context/message", "steering/message", "pack/thing", "USER/MESSAGE", ""}
    assert known == {(k, v) for k in kinds for v in VERSIONS if vocabulary.is_known(k, v)}


def test_the_column_of_surface_formats_knows_them_too(writer: PlainWriter) -> None:
    kinds = [kind for kind, _, _ in writer.run(select("event_types"))]
    kinds += ["context/message", "pack/thing", "USER/MESSAGE", ""]
    for version in VERSIONS:
        session = writer.begin(version)
        for seq, kind in enumerate(kinds):
            on_surface = vocabulary.is_surface(kind, version)
            op: EventDict = {"surfaceOp": "append"} if on_surface else {}
            writer.append(session, [{"type": kind, "seq": seq, "time": 0, "data": {}, **op}])
        flags = writer.run(
            "SELECT type, surface_formats >> :version & 1 FROM events WHERE session = :session",
            {"version": version, "session": session},
        )
        assert flags == [(kind, vocabulary.is_surface(kind, version)) for kind in kinds]
