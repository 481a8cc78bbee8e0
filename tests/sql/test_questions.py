"""Twenty questions that people ask of their sessions, each one statement of plain SQL.

The answers were worked out by hand from the sample logs. The README shows every question.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import dshstore
from tests.real_parts import require
from tests.stores import take_samples

ROOT = Path(__file__).parents[2]


class Question(NamedTuple):
    """A question, its SQL, and the rows that answer it of the sample logs."""

    words: str
    sql: str
    answer: list[tuple[Any, ...]]


QUESTIONS = [
    Question(
        "How many tokens went through each model on each day?",
        "SELECT date(time / 1000, 'unixepoch') AS day, model, sum(input_tokens) AS input,"
        " sum(output_tokens) AS output FROM usage GROUP BY day, model ORDER BY day",
        [
            ("2026-08-01", "deepseek-chat", 412 + 61 + 148 + 336, 46 + 27 + 19 + 25),
            ("2026-08-31", "deepseek-chat", 398 + 154, 52 + 30),
            ("2026-10-03", "deepseek-chat", 344, 21),
            ("2026-11-01", "deepseek-reasoner", 436 + 702 + 88, 58 + 61 + 22),
            ("2026-11-02", "deepseek-reasoner", 96 + 52, 33 + 9),
            ("2026-11-18", "deepseek-chat", 371, 64),
        ],
    ),
    Question(
        "What did each session cost, at 0.27 a million tokens in, 0.07 from the cache, 1.10 out?",
        "SELECT session_id, round(sum(0.27 * input_tokens + 0.07 * cache_read_tokens"
        " + 1.10 * output_tokens) / 1e6, 6) AS cost FROM usage"
        " WHERE model = 'deepseek-chat' GROUP BY session_id ORDER BY cost DESC",
        [
            ("bean-bed", 0.000441),  # (0.27 * 957 + 0.07 * 768 + 1.10 * 117) / 1e6
            ("compost", 0.00028),  # (0.27 * 552 + 0.07 * 576 + 1.10 * 82) / 1e6
            ("frost-watch", 0.000188),  # (0.27 * 371 + 0.07 * 256 + 1.10 * 64) / 1e6
            ("rain-barrel", 0.000134),  # (0.27 * 344 + 0.07 * 256 + 1.10 * 21) / 1e6
        ],
    ),
    Question(
        "Which share of what each model read came from the cache?",
        "SELECT model, round(100.0 * sum(cache_read_tokens)"
        " / sum(input_tokens + cache_read_tokens), 1) AS percent FROM usage"
        " GROUP BY model ORDER BY model",
        [
            ("deepseek-chat", 45.5),  # 1856 of 2224 + 1856
            ("deepseek-reasoner", 66.2),  # 2688 of 1374 + 2688
        ],
    ),
    Question(
        "Which turns were the most expensive?",
        "SELECT session_id, turn, sum(input_tokens + output_tokens) AS tokens FROM usage"
        " WHERE turn IS NOT NULL GROUP BY session_id, turn ORDER BY tokens DESC LIMIT 3",
        [
            ("seedlings", 1, 436 + 58 + 702 + 61),
            ("compost", 1, 398 + 52 + 154 + 30),
            ("bean-bed", 1, 412 + 46 + 61 + 27),
        ],
    ),
    Question(
        "What did compactions themselves cost?",
        "SELECT session_id, model, input_tokens, output_tokens FROM usage"
        " WHERE kind = 'compaction'",
        [("bean-bed", "deepseek-chat", 336, 25)],
    ),
    Question(
        "In which sessions did somebody write about compost?",
        "SELECT DISTINCT session_id FROM event_log WHERE type IN ('user/message',"
        " 'assistant/message') AND data LIKE '%compost%' ORDER BY session_id",
        [("compost",)],
    ),
    Question(
        "Which sessions ran in a project, the latest first?",
        "SELECT session_id, date(last_time / 1000, 'unixepoch') AS day FROM sessions_overview"
        " WHERE project = '/srv/garden' ORDER BY last_time DESC LIMIT 3",
        [
            ("frost-watch", "2026-11-18"),
            ("seedlings", "2026-11-02"),
            ("seedlings-for-a-neighbour", "2026-11-01"),
        ],
    ),
    Question(
        "Which sessions were interrupted in a turn?",
        "SELECT session_id, open_turn FROM sessions_overview WHERE open_turn IS NOT NULL"
        " ORDER BY session_id",
        [("frost-watch", 1), ("rain-barrel", 1)],
    ),
    Question(
        "What was compacted away?",
        "SELECT s.seq, s.type FROM shadowed AS s JOIN compactions AS c"
        " ON c.session = s.session AND c.seq = s.shadowed_by"
        " WHERE c.kind = 'summary' AND s.session_id = 'bean-bed' ORDER BY s.seq",
        [
            (2, "user/message"),
            (19, "assistant/message"),
            (21, "tool/result"),
            (33, "assistant/message"),
        ],
    ),
    Question(
        "How much did each compaction save?",
        "SELECT session_id, seq, kind, characters_before - characters_after AS characters"
        " FROM compactions ORDER BY characters DESC",
        [("bean-bed", 38, "summary", 590 - 181), ("compost", 14, "prune", 218 - 134)],
    ),
    Question(
        "What is a summary made of, down to the last event?",
        "WITH RECURSIVE made (seq) AS (VALUES (38) UNION SELECT p.source_seq FROM made"
        " JOIN provenance AS p ON p.seq = made.seq AND p.session_id = 'bean-bed')"
        " SELECT count(*) - 1 AS events FROM made",
        # start, summary, 4 messages; the call; 13 and 9 chunks that two of the messages cite
        [(2 + 4 + 1 + 13 + 9,)],
    ),
    Question(
        "What did the model see at the end of turn 1?",
        "SELECT n.seq FROM turns AS t JOIN segments AS g ON g.session = t.session"
        " AND t.last_seq BETWEEN g.first_seq AND g.last_seq"
        " JOIN surface_nodes AS n ON n.session = g.owner AND n.seq <= t.last_seq"
        " AND (n.shadowed_by IS NULL OR n.shadowed_by > t.last_seq)"
        " WHERE t.session_id = 'bean-bed' AND t.turn = 1 ORDER BY n.pos",
        [(2,), (19,), (21,), (33,)],
    ),
    Question(
        "What does the model see now, by role?",
        "SELECT role, count(*) AS messages FROM messages WHERE session_id = 'seedlings'"
        " GROUP BY role ORDER BY role",
        [("assistant", 4), ("system", 1), ("tool", 2), ("user", 2)],
    ),
    Question(
        "Which tool calls took the longest?",
        "SELECT session_id, name, duration FROM tool_calls WHERE duration IS NOT NULL"
        " ORDER BY duration DESC, session_id LIMIT 3",
        [
            ("compost", "read_sensor", 3180),
            ("seedlings", "take_photo", 1400),
            ("seedlings-for-a-neighbour", "take_photo", 1400),
        ],
    ),
    Question(
        "Which tools fail, and why?",
        "SELECT name, error_code, count(*) AS times FROM tool_calls WHERE is_error"
        " GROUP BY name, error_code",
        [("read_sensor", "SENSOR_SILENT", 1)],
    ),
    Question(
        "Which calls never got an answer?",
        "SELECT session_id, seq, name, arguments FROM tool_calls WHERE open ORDER BY seq",
        [
            ("frost-watch", 6, "drive", '{"motor":"fleece","to":"closed"}'),
            ("frost-watch", 7, "drive", '{"motor":"cold-frame","to":"closed"}'),
        ],
    ),
    Question(
        "Which attempts of a model failed?",
        "SELECT session_id, turn, step, finish FROM attempts WHERE outcome = 'failed'"
        " ORDER BY session_id DESC",
        [("seedlings-for-a-neighbour", 1, 2, "error"), ("seedlings", 1, 2, "error")],
    ),
    Question(
        "Why was there a retry, and how long did it wait?",
        "SELECT seq, data ->> '$.failure.message' AS reason, data ->> '$.delayMs' AS ms"
        " FROM event_log WHERE session_id = 'seedlings' AND type = 'llm/retry'",
        [(15, "the service is overloaded, try again later", 500)],
    ),
    Question(
        "What did a fork add to its parent's log?",
        "SELECT e.seq, e.type FROM event_log AS e JOIN current_sessions AS c"
        " ON c.session = e.session AND e.seq >= c.inherited_count"
        " WHERE e.session_id = 'seedlings-for-a-neighbour' AND e.type LIKE '%/message'"
        " ORDER BY e.seq",
        [(23, "user/message"), (24, "assistant/message")],
    ),
    Question(
        "How long do people wait for a turn to end?",
        "SELECT session_id, turn, duration FROM turns WHERE NOT open"
        " ORDER BY duration DESC, session_id LIMIT 3",
        [
            ("seedlings", 1, 1793520004613 - 1793520000010),
            ("seedlings-for-a-neighbour", 1, 1793520004613 - 1793520000010),
            ("compost", 1, 1788163204556 - 1788163200003),
        ],
    ),
]

each_question = pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.words)


@pytest.fixture(scope="module")
def garden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("questions") / "garden.db"
    with dshstore.open(path, durability="NORMAL") as store:
        take_samples(store)
    return path


@each_question
def test_a_question_is_answered(garden: Path, question: Question) -> None:
    with dshstore.open(garden, mode="read") as store:
        assert list(store.sql(question.sql)[1]) == question.answer


@each_question
def test_the_shell_gives_the_same_answer(garden: Path, question: Question) -> None:
    command = [require("sqlite3"), "-json", str(garden), question.sql]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    assert [tuple(row.values()) for row in json.loads(done.stdout)] == question.answer


@each_question
def test_a_question_is_shown_in_the_readme(question: Question) -> None:
    readme = re.sub(r"\s+", " ", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert question.words in readme
    assert re.sub(r"\s+", " ", question.sql) in readme


def test_there_are_twenty() -> None:
    assert len(QUESTIONS) == 20
