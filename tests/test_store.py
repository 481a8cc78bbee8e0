"""A store as people open it: journal, durability, copies, and SQL of their own."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import dshstore
from dshstore import QueryFailed, WriteFailed

#: Runs the rest of its arguments as Python where SQLite can have no write-ahead log.
WITHOUT_SHARED_MEMORY = "import apsw; apsw.set_default_vfs('unix-dotfile'); "


def python(code: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )


def test_where_no_write_ahead_log_can_be_had_there_is_a_warning_and_a_rollback_journal(
    tmp_path: Path,
) -> None:
    code = (
        "import sys, warnings, dshstore\n"
        "warnings.simplefilter('error')\n"
        "try: dshstore.open(sys.argv[1])\n"
        "except dshstore.NoWriteAheadLog as warning: print(warning.journal_mode)\n"
        "warnings.simplefilter('ignore')\n"
        "with dshstore.open(sys.argv[1]) as store, store.create(session_id='beans') as session:\n"
        "    session.user('hello')\n"
        "    print(store.info()['journal_mode'], len(session.messages()))\n"
    )
    done = python(WITHOUT_SHARED_MEMORY + code, tmp_path / "store.db")
    assert (done.stdout, done.stderr) == ("delete\ndelete 1\n", "")


def test_the_command_line_says_so_in_a_sentence(tmp_path: Path) -> None:
    code = "import sys; from dshstore.__main__ import main; sys.exit(main())"
    done = python(WITHOUT_SHARED_MEMORY + code, "init", tmp_path / "store.db")
    assert done.returncode == 0
    assert done.stderr.startswith(f"dshstore: {tmp_path / 'store.db'}: no write-ahead log")
    assert "Warning" not in done.stderr


def test_a_store_that_had_none_gets_its_write_ahead_log_elsewhere(tmp_path: Path) -> None:
    code = "import sys, dshstore; dshstore.open(sys.argv[1])"
    python(WITHOUT_SHARED_MEMORY + code, tmp_path / "store.db")
    with dshstore.open(tmp_path / "store.db") as store:
        assert store.info()["journal_mode"] == "wal"


def test_a_store_is_its_owners_alone(tmp_path: Path) -> None:
    with dshstore.open(tmp_path / "store.db") as store, store.create() as session:
        session.user("hello")
        session.flush()
        for file in tmp_path.iterdir():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


def test_a_users_question_does_not_stand_in_the_way_of_writing(tmp_path: Path) -> None:
    with dshstore.open(tmp_path / "store.db") as store:
        store.create(session_id="beans").user("hello")
        rows = store.sql("select value from json_each('[1, 2, 3]')", seconds=60)[1]
        assert next(rows) == (1,)
        fork = store.fork("beans")
        assert list(rows) == [(2,), (3,)]
        with pytest.raises(QueryFailed):
            store.sql("delete from events")
        assert store.repair(fork.session_id) == []
        store.create()


def test_a_backup_is_a_store_of_its_own(tmp_path: Path) -> None:
    with dshstore.open(tmp_path / "store.db") as store:
        session = store.create(session_id="beans")
        session.user("hello")
        session.flush()
        store.backup(tmp_path / "copy.db")
        session.user("more")
        session.flush()
        with dshstore.open(tmp_path / "copy.db") as copy:
            assert copy.session("beans").next_seq == 1
            assert copy.info()["journal_mode"] == "wal"
        assert stat.S_IMODE((tmp_path / "copy.db").stat().st_mode) == 0o600
        store.create()


def test_a_backup_never_replaces_a_file_and_leaves_none_when_it_fails(tmp_path: Path) -> None:
    with dshstore.open(tmp_path / "store.db") as store:
        (tmp_path / "there").write_text("mine")
        with pytest.raises(WriteFailed, match="exists"):
            store.backup(tmp_path / "there")
        assert (tmp_path / "there").read_text() == "mine"
        with pytest.raises(WriteFailed):
            store.backup(tmp_path / "nowhere" / "copy.db")
        assert not os.path.lexists(tmp_path / "nowhere")
