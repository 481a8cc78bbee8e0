"""An event of an unknown type that is not marked ignorable: what may still be done with its log."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dshstore
from tests.cli.running import cli, small_log

#: Event 5 of the log, after its turn.
UNKNOWN = b'{"type":"weather/report","seq":5,"time":1790000000099,"data":{"sky":"grey"}}\n'
LOG = small_log("a") + UNKNOWN


@pytest.fixture
def store(tmp_path: Path) -> Path:
    (tmp_path / "a.jsonl").write_bytes(LOG)
    path = tmp_path / "store.db"
    with dshstore.open(path) as opened:
        assert opened.import_log(tmp_path / "a.jsonl").outcome == "imported"
    return path


def read_messages(store: dshstore.Store, *, allow_unknown: bool = False) -> object:
    return store.session("a").messages(allow_unknown=allow_unknown)


def fork(store: dshstore.Store, *, allow_unknown: bool = False) -> None:
    store.fork("a", allow_unknown=allow_unknown).close()


def resume(store: dshstore.Store, *, allow_unknown: bool = False) -> None:
    store.resume("a", allow_unknown=allow_unknown).close()


@pytest.mark.parametrize("use", [read_messages, fork, resume])
def test_what_the_model_saw_is_not_guessed(store: Path, use: Callable[..., Any]) -> None:
    with dshstore.open(store) as opened:
        with pytest.raises(dshstore.UnknownEvent) as refused:
            use(opened)
        assert (refused.value.seq, refused.value.type) == (5, "weather/report")
        use(opened, allow_unknown=True)


def test_before_the_unknown_event_all_is_known(store: Path) -> None:
    with dshstore.open(store) as opened:
        assert len(opened.session("a").messages(4)) == 1


def test_everything_else_works(store: Path) -> None:
    with dshstore.open(store) as opened:
        session = opened.session("a")
        assert session.surface == [2]
        assert [event["type"] for event in session.events(5)] == ["weather/report"]
        assert b"".join(session.log()) == LOG
        _, rows = opened.sql(
            "SELECT seq, data ->> '$.sky' FROM events WHERE type = 'weather/report'"
        )
        assert list(rows) == [(5, "grey")]
        assert [(f.seq, f.code) for f in opened.verify()] == [(5, "event-unknown")]
        assert session.why(5).event.state == "log-only"


@pytest.mark.parametrize("command", ["messages", "fork"])
def test_the_command_line_refuses_with_status_3_and_names_it(store: Path, command: str) -> None:
    refused = cli(command, store, "a")
    assert (refused.status, refused.out) == (3, b"")
    assert "event 5" in refused.err
    assert "'weather/report'" in refused.err
    assert cli(command, store, "a", "--allow-unknown").status == 0


def test_one_that_is_marked_ignorable_is_in_nobodys_way(tmp_path: Path) -> None:
    ignorable = UNKNOWN.replace(b'"grey"}', b'"grey"},"ignorable":true')
    (tmp_path / "a.jsonl").write_bytes(small_log("a") + ignorable)
    with dshstore.open(tmp_path / "store.db") as opened:
        opened.import_log(tmp_path / "a.jsonl")
        assert len(opened.session("a").messages()) == 1
        assert list(opened.verify()) == []
