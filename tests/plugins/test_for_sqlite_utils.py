"""The commands of the sqlite-utils plugin: `dshstore/plugins/for_sqlite_utils.py`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import dshstore
from tests.plugins.test_functions import sqlite_utils


def test_the_plugin_is_listed() -> None:
    [plugin] = json.loads(sqlite_utils("plugins").out)
    assert plugin["name"] == "dshstore"
    assert sorted(plugin["hooks"]) == ["prepare_connection", "register_commands"]


def test_messages_are_a_json_array_or_lines(garden: Path) -> None:
    with dshstore.open(garden, mode="read") as store:
        expected = store.session("bean-bed").messages(35)
    array = sqlite_utils("dshstore-messages", garden, "bean-bed", "--at", "35")
    assert json.loads(array.out) == expected
    lines = sqlite_utils("dshstore-messages", garden, "bean-bed", "--at", "35", "--nl")
    assert [json.loads(line) for line in lines.out.split("\n")[:-1]] == expected


def test_no_messages_are_an_empty_array(odd: Path) -> None:
    assert sqlite_utils("dshstore-messages", odd, "header-only").out == "[]\n"
    assert sqlite_utils("dshstore-events", odd, "header-only", "--nl").out == ""


def test_events_of_a_type(garden: Path) -> None:
    done = sqlite_utils("dshstore-events", garden, "bean-bed", "--type", "user/message")
    assert [event["seq"] for event in json.loads(done.out)] == [2, 38, 42]


def test_a_stream_is_its_chunks_or_their_blocks(garden: Path) -> None:
    chunks = json.loads(sqlite_utils("dshstore-stream", garden, "seedlings", "17").out)
    assert {"time", "chunk"} == set(chunks[0])
    blocks = sqlite_utils("dshstore-stream", garden, "seedlings", "17", "--blocks", "--nl").out
    assert [json.loads(line)["type"] for line in blocks.split("\n")[:-1]] == ["reasoning", "text"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["dshstore-messages", "nobody"], "Error: no session 'nobody' in this store\n"),
        (["dshstore-stream", "bean-bed", "0"], "Error: event 0 holds no stream\n"),
        (
            ["dshstore-messages", "bean-bed", "--at", "99"],
            "Error: session 'bean-bed' has no event 99: its events are 0 to 51\n",
        ),
    ],
)
def test_what_goes_wrong_is_one_sentence(garden: Path, arguments: list[str], sentence: str) -> None:
    command, *rest = arguments
    assert sqlite_utils(command, garden, *rest) == (1, "", sentence)


def test_a_file_of_another_kind_is_named_as_such(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("this is no database, but long enough to look like one" * 9)
    done = sqlite_utils("dshstore-messages", tmp_path / "text.db", "a")
    assert done == (1, "", "Error: file is not a database\n")
    sqlite_utils("create-database", tmp_path / "other.db")
    done = sqlite_utils("dshstore-messages", tmp_path / "other.db", "a")
    assert done.status == 1
    assert "an SQLite file of another program" in done.err


def test_a_sqlite_utils_command_on_any_other_file_is_as_ever(tmp_path: Path) -> None:
    done = sqlite_utils(tmp_path / "new.db", "SELECT 1 AS one")
    assert done == (0, '[{"one": 1}]\n', "")


@pytest.mark.parametrize("program", ["import dshstore", "import dshstore.cli.group"])
def test_dshstore_itself_loads_neither_library(program: str) -> None:
    check = "import sys; print(sorted({'sqlite3', 'sqlite_utils', 'datasette'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", f"{program}; {check}"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_nor_does_its_help() -> None:
    program = (
        "import sys\nfrom dshstore.cli.process import run\nrun(['--help'])\n"
        "print({'sqlite3', 'sqlite_utils', 'datasette'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("set()\n")
