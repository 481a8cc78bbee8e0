"""What the views say of sessions: of odd payloads nothing wrong, of provider calls each once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

import dshstore
from dshstore import Store, schema
from dshstore.db import Database, Row
from tests.logs import MODEL, EventDict, Json, LogBuilder, make_header, text, write_log
from tests.sql.plain import PlainWriter, ShellWriter
from tests.sql.test_views import SESSION_VIEWS as VIEWS

SELECT_ALL, COUNT = "SELECT * FROM", "SELECT count(*) FROM"
OVERVIEW = "SELECT * FROM sessions_overview"

DEEP = {"$deep": True}

#: Values that stand where an object or a list should be.
ODD: list[Json] = [
    None, True, 0, -1.5, "", "text", '{"type":"text"}', [], [1], ["text"], [None, {}], {}, DEEP,
    [{"type": "text"}], [{"type": "text", "text": {"a": 1}}], [[{"type": "text", "text": "x"}]],
    {"type": "text", "text": "x"}, [{"type": "tool-result", "content": "x"}],
    [{"type": "tool-result", "content": [1, "x", None, {"type": "text", "text": 1}]}],
]  # fmt: skip

TYPES = (
    "turn/start turn/end step/start step/end user/message assistant/message tool/result tool/call"
    " assistant/attempt assistant/chunk request/header compaction/summary compact/summary"
    " compaction/prune session/title llm/retry"
)

ON_SURFACE = ("user/message", "assistant/message", "tool/result")


def odd_payloads() -> Iterator[Json]:
    for odd in ODD:
        yield odd
        yield {"content": odd, "source": odd, "turn": odd, "step": odd, "usage": odd, "reason": odd}
        yield {"message": odd, "callId": odd, "stream": odd, "chunk": odd, "header": odd}
        yield {"message": {"content": odd, "source": odd}, "turn": 1, "step": 1, "error": odd}
        yield {"message": {"source": {"callId": odd}, "isError": odd}, "header": {"config": odd}}
        yield {"usage": {"inputTokens": odd, "outputTokens": odd}, "title": odd, "name": odd}
        yield {"chunk": {"usage": odd, "type": "usage", "reason": odd}, "provenance": odd}
        yield {"stream": [{"type": "chunk", "chunk": odd, "time": odd}], "source": {"kind": "user"}}
        yield {"stream": [{"chunk": {"type": "usage", "usage": odd}}], "shadowedTokenCount": odd}


def odd_events(version: int) -> list[EventDict]:
    log = LogBuilder(version)
    for payload in odd_payloads():
        for kind in TYPES.split():
            if kind in ON_SURFACE:
                log.append(kind, payload)
            else:
                log.add(kind, payload)
    log.replace("user/message", log.user(text("all")), 0, len(log.nodes) // 2)
    log.replace("user/message", "odd", 1, 3)
    log.append("user/message", [])
    return log.events


def write_odd_store(path: Path, version: int) -> Path:
    """A store of one session with all that is odd."""
    database = schema.create(str(path))
    writer = PlainWriter(database)
    writer.run("BEGIN")
    writer.append(writer.begin(version), odd_events(version))
    writer.run("COMMIT")
    database.close()
    return path


@pytest.fixture(scope="module", params=[0, 2, 4])
def odd_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_odd_store(tmp_path_factory.mktemp("odd") / "store.db", request.param)


@pytest.mark.parametrize("view", VIEWS)
def test_no_odd_payload_fails_a_view(odd_store: Path, view: str) -> None:
    statement = f"{SELECT_ALL} {view}"
    with dshstore.open(odd_store, mode="read") as store:
        rows = list(store.sql(statement)[1])
    lines, errors = ShellWriter(str(odd_store)).run([f"{COUNT} ({statement});"])
    assert (lines, errors) == ([str(len(rows))], {})
    _, errors = ShellWriter(str(odd_store)).run([f"{statement};"])
    assert errors == {}


# -- a store of logs --


def take(store: Store, log: LogBuilder, session_id: str, **members: Json) -> None:
    header = make_header(log.version, session_id, **members)
    store.import_stream(BytesIO(write_log(header, log.events)))


def ask(store: Store, sql: str) -> list[Row]:
    return list(store.sql(sql)[1])


USAGE = (
    "SELECT session_id, seq, kind, model, input_tokens, output_tokens, cache_read_tokens,"
    " cache_write_tokens, reasoning_tokens FROM usage ORDER BY session_id, seq"
)


def usage(input: int, output: int, **members: int) -> EventDict:
    return {"inputTokens": input, "outputTokens": output, **members}


def one_turn(version: int, *said: str) -> LogBuilder:
    """A turn of a step: a question, and an answer (11 tokens in, 1 out)."""
    log = LogBuilder(version)
    continue_with(log, *said)
    return log


def continue_with(log: LogBuilder, *said: str) -> None:
    log.start_turn()
    log.start_step()
    log.append("user/message", log.user(*map(text, said or ["Hello"])))
    log.header()
    log.settle([(text("Hi"), ["Hi"])])
    log.end_step()
    log.end_turn()


@pytest.mark.parametrize("version", [0, 1, 2, 3, 4])
def test_a_call_is_counted_with_its_message(store: Store, version: int) -> None:
    log = one_turn(version)
    take(store, log, "a")
    [row] = ask(store, USAGE)
    settled = next(e["seq"] for e in log.events if e["type"] == "assistant/message")
    assert row == ("a", settled, "message", MODEL["model"], 11, 1, 0, 0, 0)


def chunk(log: LogBuilder, **chunk: Json) -> int:
    return log.add("assistant/chunk", {**log.place, "chunk": chunk})


@pytest.mark.parametrize("packed", [True, False])
def test_a_failed_attempt_of_chunks_counts_beside_its_retry(store: Store, packed: bool) -> None:
    log = LogBuilder(0)
    log.start_turn()
    log.start_step()
    log.header()
    for words in ("Half", " an answer", " and"):
        chunk(log, type="text-delta", index=0, text=words)
    chunk(log, type="usage", usage=usage(3, 1))
    chunk(log, type="usage", usage=usage(5, 2, cacheReadTokens=7))  # the last one tells
    chunk(log, type="finish", reason={"kind": "error"})
    log.add("llm/retry", {**log.place, "retryId": "r", "retry": 1})
    log.add("llm/retry-started", {**log.place, "retryId": "r", "retry": 1})
    log.settle([(text("Whole"), ["Wh", "ole"])])
    log.end_step()
    log.end_turn()
    header = make_header(0, "a")
    if packed:
        store.import_stream(BytesIO(write_log(header, log.events)))
        failed = 3
    else:
        with plain(store) as writer:
            writer.append(writer.begin(0), log.events)
        failed = 7
    rows = [row[1:] for row in ask(store, USAGE)]
    assert [row[0] for row in rows][:1] == [failed]
    assert [row[1:6] for row in rows] == [
        ("attempt", MODEL["model"], 5, 2, 7),
        ("message", MODEL["model"], 11, 2, 0),
    ]


class plain:
    """Writes to the file of a store as plain SQL."""

    def __init__(self, store: Store) -> None:
        self._path = store.path

    def __enter__(self) -> PlainWriter:
        self._database = Database.open(self._path, "write")
        return PlainWriter(self._database)

    def __exit__(self, *_: object) -> None:
        self._database.close()


def test_attempts_that_no_retry_parts_count_one_by_one(store: Store) -> None:
    log = LogBuilder(0)
    log.start_turn()
    log.start_step()
    for tokens in (1, 2):
        chunk(log, type="text-delta", index=0, text="x")
        chunk(log, type="usage", usage=usage(tokens, tokens))
        chunk(log, type="finish", reason={"kind": "error"})
    with plain(store) as writer:
        writer.append(writer.begin(0), log.events)
    assert [row[2:6] for row in ask(store, USAGE)] == [
        ("attempt", None, 1, 1),
        ("attempt", None, 2, 2),
    ]


def test_a_message_that_tells_no_usage_is_counted_by_its_chunks(store: Store) -> None:
    log = one_turn(0)
    for event in log.events:
        if event["type"] == "assistant/message":
            del event["data"]["usage"]
    take(store, log, "a")
    [row] = ask(store, USAGE)
    assert row[2:6] == ("message", MODEL["model"], 11, 1)


@pytest.mark.parametrize("version", [2, 4])
def test_a_failed_attempt_with_a_stream_counts(store: Store, version: int) -> None:
    log = LogBuilder(version)
    log.start_turn()
    log.start_step()
    log.header()
    stream = [
        {"type": "text-chunks", "time0": 5, "index": 0, "dt": [], "texts": ["Half"]},
        {"type": "chunk", "time": 5, "chunk": {"type": "usage", "usage": usage(3, 1)}},
        {"type": "chunk", "time": 6, "chunk": {"type": "usage", "usage": usage(5, 2)}},
    ]
    log.add("assistant/attempt", {**log.place, "stream": stream})
    take(store, log, "cut")
    with plain(store) as writer:
        writer.append(writer.begin(version), log.events)
    row = ("attempt", MODEL["model"], 5, 2, 0, 0, 0)
    assert [found[2:] for found in ask(store, USAGE)] == [row, row]


def test_the_call_that_made_a_compaction_counts(store: Store) -> None:
    log = one_turn(0)
    log.compact(0, 1)
    [summary] = [e for e in log.events if e["type"] == "compaction/summary"]
    summary["data"]["usage"] = usage(30, 4, cacheWriteTokens=2, reasoningTokens=3)
    take(store, log, "a")
    found = [row[2:] for row in ask(store, USAGE)]
    assert found == [
        ("message", MODEL["model"], 11, 1, 0, 0, 0),
        ("compaction", MODEL["model"], 30, 4, 0, 2, 3),
    ]


def test_what_a_fork_inherits_is_counted_with_its_parent_alone(store: Store) -> None:
    parent = one_turn(4)
    take(store, parent, "parent")
    with store.fork("parent", new_id="shared"):
        pass
    copy = one_turn(4)
    copy.add("session/end-seed", {"inherited": True})
    continue_with(copy, "Again")
    take(store, copy, "copied", parentSession="parent", isSeeded=True)
    old = one_turn(0)
    seeded = len(old.events)
    old.add("session/end-seed", {})
    take(store, old, "old", parentSession="parent", seedLength=seeded)
    assert [row[0] for row in ask(store, USAGE)] == ["copied", "parent"]
    tokens: dict[str, int] = dict(ask(store, "SELECT session_id, tokens FROM sessions_overview"))
    assert tokens == {"copied": 12, "parent": 12, "shared": 0, "old": 0}


def test_a_subagent_counts_for_itself(store: Store) -> None:
    take(store, one_turn(4), "boss")
    take(store, one_turn(4), "hand", parentSession="boss", origin="subagent", delegationDepth=1)
    assert [row[0] for row in ask(store, USAGE)] == ["boss", "hand"]


def test_generations_of_a_session_count_once(store: Store) -> None:
    log = one_turn(0)
    continue_with(log, "And now?")
    take(store, log, "a")
    before = ask(store, "SELECT sum(input_tokens), count(*) FROM usage")
    store.migrate("a", to=2)
    assert ask(store, "SELECT sum(input_tokens), count(*) FROM usage") == before == [(22, 2)]
    assert ask(store, "SELECT DISTINCT format_version FROM usage") == [(2,)]


# -- turns and steps --

TURNS = "SELECT turn, first_seq, last_seq, reason, open FROM turns ORDER BY first_seq"
STEPS = "SELECT turn, step, first_seq, last_seq, open FROM steps ORDER BY first_seq"


def test_only_the_last_turn_is_open(store: Store) -> None:
    log = LogBuilder(0)
    log.start_turn()
    log.start_step()
    log.start_turn()
    log.start_step()
    take(store, log, "a")
    assert ask(store, TURNS) == [(1, 0, None, None, 0), (2, 2, None, None, 1)]
    assert ask(store, STEPS) == [(1, 1, 1, None, 0), (2, 1, 3, None, 1)]
    assert ask(store, "SELECT open_turn FROM sessions_overview") == [(2,)]


def test_a_turn_that_ended_has_no_open_step(store: Store) -> None:
    log = LogBuilder(0)
    log.start_turn()
    log.start_step()
    log.end_turn("blocked")
    take(store, log, "a")
    assert ask(store, TURNS) == [(1, 0, 2, "blocked", 0)]
    assert ask(store, STEPS) == [(1, 1, 1, None, 0)]


# -- tool calls --

CALLS = (
    "SELECT seq, result_seq, name, arguments, result, is_error, error_code, open FROM tool_calls"
    " WHERE session_id = 'a' ORDER BY seq"
)


def call(id: str, arguments: str = "{}") -> EventDict:
    return {"type": "tool-call", "id": id, "name": "shell", "arguments": arguments}


@pytest.mark.parametrize("version", [0, 4])
def test_calls_of_one_id_go_with_their_own_results(store: Store, version: int) -> None:
    log = LogBuilder(version)
    log.start_turn()
    for words in ("one", "two"):
        log.start_step()
        log.settle([(call("call_0"), ["{}"])])
        seq = log.call(call("call_0"))
        log.append("tool/result", log.result("call_0", text(words), text("more")), [seq])
        log.end_step()
    log.settle([(call("call_0"), ["{}"])])
    log.call(call("call_0"))
    take(store, log, "a")
    rows = [row[2:] for row in ask(store, CALLS)]
    assert rows == [
        ("shell", "{}", "one\nmore", 0, None, 0),
        ("shell", "{}", "two\nmore", 0, None, 0),
        ("shell", "{}", None, None, None, 1),
    ]


@pytest.mark.parametrize("version", [0, 4])
def test_a_call_that_never_started_has_the_name_that_its_model_gave(
    store: Store, version: int
) -> None:
    log = LogBuilder(version)
    log.start_turn()
    log.start_step()
    log.settle([(call("call_0", '{"a":1}'), ['{"a":1}'])])
    error = {"name": "ToolNotStartedError", "code": "TOOL_NOT_STARTED"}
    seq = log.append("tool/result", log.result("call_0", text("no"), error=error))
    take(store, log, "a")
    row = (seq, seq, "shell", '{"a":1}', "no", 1, "TOOL_NOT_STARTED", 0)
    assert ask(store, CALLS) == [row]


@pytest.mark.parametrize("version", [0, 4])
def test_a_call_that_was_only_announced_is_open(store: Store, version: int) -> None:
    log = LogBuilder(version)
    log.start_turn()
    log.start_step()
    first, second = call("call_0", '{"a":1}'), call("call_1", '{"b":2}')
    told = log.settle([(text("So:"), ["So:"]), (first, ['{"a":1}']), (second, ['{"b":2}'])])
    seq = log.call(first)
    take(store, log, "a")
    nothing = (None, None, None)
    announced = (told, None, "shell", '{"b":2}', *nothing, 1)
    assert ask(store, CALLS) == [announced, (seq, None, "shell", '{"a":1}', *nothing, 1)]
    at = "SELECT turn, step, call_id, started FROM tool_calls WHERE session_id = 'a' AND seq = "
    assert ask(store, at + str(told)) == [(1, 1, "call_1", None)]


@pytest.mark.parametrize("version", [0, 4])
def test_a_call_that_is_announced_again_was_left_open_before(store: Store, version: int) -> None:
    log = LogBuilder(version)
    log.start_turn()
    log.start_step()
    told = log.settle([(call("call_0"), ["{}"])])
    log.end_step()
    log.start_step()
    log.settle([(call("call_0"), ["{}"])])
    seq = log.call(call("call_0"))
    done = log.append("tool/result", log.result("call_0", text("ok")), [seq])
    take(store, log, "a")
    assert [(row[0], row[1], row[-1]) for row in ask(store, CALLS)] == [
        (told, None, 1),
        (seq, done, 0),
    ]


@pytest.mark.parametrize("version", [0, 4])
@pytest.mark.parametrize("started", [True, False])
def test_a_call_that_was_met_late_is_the_one_that_was_announced(
    store: Store, version: int, started: bool
) -> None:
    log = LogBuilder(version)
    log.start_turn()
    log.start_step()
    log.settle([(call("call_0", '{"a":1}'), ['{"a":1}'])])
    log.settle([(text("Wait."), ["Wait."])])
    sources = [log.call(call("call_0", '{"a":1}'))] if started else []
    done = log.append("tool/result", log.result("call_0", text("ok")), sources or None)
    take(store, log, "a")
    first = sources[0] if started else done
    assert ask(store, CALLS) == [(first, done, "shell", '{"a":1}', "ok", 0, None, 0)]


def test_two_calls_that_one_message_announced_by_one_id_are_two(store: Store) -> None:
    log = LogBuilder(4)
    log.start_turn()
    log.start_step()
    log.settle([(call("call_0"), ["{}"]), (call("call_0"), ["{}"])])
    calls = []
    for words in ("one", "two"):
        seq = log.call(call("call_0"))
        calls.append((seq, log.append("tool/result", log.result("call_0", text(words)), [seq])))
    take(store, log, "a")
    assert [(row[0], row[1]) for row in ask(store, CALLS)] == calls


def test_a_fork_closes_calls_that_its_parent_announced(store: Store) -> None:
    log = LogBuilder(4)
    log.start_turn()
    log.start_step()
    told = log.settle([(call("call_0"), ["{}"])])
    take(store, log, "parent")
    store.fork("parent", new_id="a").close()
    of = "SELECT seq, result_seq, error_code, open FROM tool_calls WHERE session_id = "
    assert ask(store, f"{of}'parent'") == [(told, None, None, 1)]
    [(seq, result, code, is_open)] = ask(store, f"{of}'a'")
    assert (seq, code, is_open) == (result, "TOOL_NOT_STARTED", 0)
    assert seq > told


def test_a_rewritten_message_announces_nothing_anew(store: Store) -> None:
    log = LogBuilder(0)
    log.start_turn()
    log.start_step()
    log.settle([(call("call_0"), ["{}"])])
    seq = log.call(call("call_0"))
    done = log.append("tool/result", log.result("call_0", text("ok")), [seq])
    log.replace("assistant/message", log.assistant(call("call_0")), 0, 0)
    take(store, log, "a")
    assert [(row[0], row[1], row[-1]) for row in ask(store, CALLS)] == [(seq, done, 0)]


def test_a_call_whose_message_was_rewritten_is_closed_by_its_answer(store: Store) -> None:
    log = LogBuilder(0)
    log.start_turn()
    log.start_step()
    log.settle([(call("call_0"), ["{}"])])
    log.replace("assistant/message", log.assistant(call("call_0")), 0, 0)
    done = log.append("tool/result", log.result("call_0", text("no")))
    take(store, log, "a")
    assert ask(store, CALLS) == [(done, done, "shell", "{}", "no", 0, None, 0)]


@pytest.mark.parametrize("version", [0, 4])
def test_a_rewritten_result_is_told_as_it_first_came(store: Store, version: int) -> None:
    log = LogBuilder(version)
    log.start_turn()
    log.start_step()
    seq = log.call(call("call_0"))
    first = log.append("tool/result", log.result("call_0", text("a long result")), [seq])
    log.replace("tool/result", log.rewritten(first, text("cut")), 0, 0)
    take(store, log, "a")
    assert ask(store, CALLS) == [(seq, first, "shell", "{}", "a long result", 0, None, 0)]


# -- compactions --

COMPACTIONS = (
    "SELECT session_id, seq, kind, nodes, characters_before, characters_after, tokens_before,"
    " tokens_after, summary FROM compactions ORDER BY session_id, seq"
)


@pytest.mark.parametrize("version", [0, 4])
def test_a_compaction_tells_what_it_took_and_what_it_left(store: Store, version: int) -> None:
    log = one_turn(version, "Hello")
    seq = log.compact(0, 1)
    take(store, log, "a")
    [row] = ask(store, COMPACTIONS)
    assert row[:4] == ("a", seq, "summary", 2)
    before, after = (["Hello", "Hi"], ["so far"])
    frame = '[{"type":"text","text":""}]'
    assert row[4:6] == tuple(sum(len(frame) + len(w) for w in said) for said in (before, after))
    assert row[6:] == (40, None, "so far")


def test_a_rewritten_result_is_a_prune_and_a_changed_message_an_edit(store: Store) -> None:
    log = one_turn(4, "Hello")
    seq = log.call(call("call_0"))
    first = log.append("tool/result", log.result("call_0", text("a long result")), [seq])
    at = {"shadowedRange": {"start": first, "end": first}, "shadowedSeqs": [first]}
    log.add("compaction/prune", {**at, "shadowedTokenCount": 9})
    pruned = log.replace("tool/result", log.rewritten(first, text("cut")), 2, 2)
    edited = log.replace("user/message", log.user(text("Hey")), 0, 0)
    take(store, log, "a")
    assert [(row[1], row[2], row[3], *row[6:]) for row in ask(store, COMPACTIONS)] == [
        (pruned, "prune", 1, 9, None, "cut"),
        (edited, "edit", 1, None, None, "Hey"),
    ]


def test_a_fork_has_the_compactions_of_its_parent(store: Store) -> None:
    log = one_turn(4, "Hello")
    log.compact(0, 1)
    take(store, log, "a")
    with store.fork("a", new_id="b"):
        pass
    mine, its = ask(store, COMPACTIONS)
    assert (mine[0], its[0]) == ("a", "b")
    assert mine[1:] == its[1:]


# -- the overview --


def overview(store: Store, columns: str) -> Sequence[Any]:
    [row] = ask(store, OVERVIEW.replace("*", columns))
    return row


def test_a_session_without_events_has_a_row(store: Store) -> None:
    take(store, LogBuilder(4), "a")
    assert overview(store, "first_prompt, model, turns, events, tokens, last_time, open_turn") == (
        None, None, 0, 0, 0, None, None,
    )  # fmt: skip


def test_the_model_is_told_by_its_messages_where_no_request_tells_it(store: Store) -> None:
    log = one_turn(4)
    log.events = [e for e in log.events if e["type"] != "request/header"]
    for seq, event in enumerate(log.events):
        event["seq"] = seq
    take(store, log, "a")
    assert overview(store, "model, first_prompt, tokens") == (MODEL["model"], "Hello", 12)


def test_names_and_texts_that_are_none_are_told_as_text(tmp_path: Path) -> None:
    log = LogBuilder(4)
    odd = log.user({"type": "text", "text": 7})
    log.append("user/message", odd)
    log.add("session/title", {"title": [1, 2], "messageSeqs": [0], "source": {"kind": "user"}})
    config = {"provider": 7, "model": True}
    log.add("request/header", {"header": {"config": config}, "reason": "initial"})
    database = schema.create(str(tmp_path / "odd.db"))
    writer = PlainWriter(database)
    writer.append(writer.begin(4), log.events)
    rows = writer.run("SELECT title, first_prompt, model FROM sessions_overview")
    database.close()
    assert rows == [("[1,2]", "7", "1")]
