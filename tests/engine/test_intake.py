"""Logs from files, folders and streams: a result each, and a bad one stops no other."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from dshstore import LogRefused, schema
from dshstore.db import Database
from dshstore.engine.intake import Intake
from dshstore.formats.dsh.limits import DEFAULT_LIMITS
from tests.logs import LogBuilder, make_header, text, write_log

CUT = b'{"type":"turn/start","seq":0,'


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = schema.create(str(tmp_path / "store.db"))
    yield opened
    opened.close()


def intake(database: Database, *, salvaging: bool = False) -> Intake:
    return Intake(database, salvaging=salvaging, limits=DEFAULT_LIMITS)


def log(session_id: str) -> bytes:
    said = LogBuilder(4)
    said.start_turn()
    said.start_step()
    said.append("user/message", said.user(text("Sow the beans.")))
    said.end_step()
    said.end_turn()
    return write_log(make_header(4, session_id), said.events)


def test_a_bad_log_among_others_is_a_result_too(database: Database, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(log("beans"))
    (folder / "b.jsonl").write_bytes(CUT + b"\n")
    (folder / "c.jsonl").write_bytes(log("peas"))
    found = intake(database).take_paths([folder], False, None, None)
    results = {Path(result.path).name: result for result in found}
    outcomes = {name: result.outcome for name, result in results.items()}
    assert outcomes == {"a.jsonl": "imported", "b.jsonl": "refused", "c.jsonl": "imported"}
    assert (results["b.jsonl"].line, results["c.jsonl"].session_id) == (1, "peas")


def test_who_takes_one_log_is_told_which_is_refused(database: Database) -> None:
    with pytest.raises(LogRefused) as refused:
        intake(database).take_stream(io.BytesIO(CUT + b"\n"), "piped")
    assert refused.value.path == "piped"


def test_the_sound_part_is_taken_where_that_is_wanted(database: Database) -> None:
    broken = log("beans") + CUT + b"\n"
    with pytest.raises(LogRefused):
        intake(database).take_stream(io.BytesIO(broken), "-")
    salvaged = intake(database, salvaging=True).take_stream(io.BytesIO(broken), "-")
    assert (salvaged.outcome, salvaged.session_id) == ("salvaged", "beans")
