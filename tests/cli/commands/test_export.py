"""`dshstore export`: logs come out as they went in."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
import zstandard
from pyarrow import parquet

from dshstore.parquet import VIEWS
from tests.cli.running import cli, program
from tests.logs import LogBuilder, make_header, write_log

SESSIONS = {
    "bean-bed": "session.jsonl",
    "compost": "session.v2.jsonl",
    "frost-watch": "session.v4.jsonl",
    "seedlings": "session.v4.jsonl",
    "seedlings-for-a-neighbour": "session.v4.jsonl",
}


@pytest.mark.parametrize(("session", "name"), SESSIONS.items())
def test_a_log_comes_out_byte_for_byte(garden: Path, logs: Path, session: str, name: str) -> None:
    wanted = (logs / session / name).read_bytes()
    assert cli("export", garden, session) == (0, wanted, "")
    assert cli("export", garden, session, "-o", "-").out == wanted


def test_a_torn_log_comes_out_as_the_lines_that_were_kept(garden: Path, logs: Path) -> None:
    log = (logs / "rain-barrel" / "session.v3.jsonl").read_bytes()
    assert cli("export", garden, "rain-barrel").out == log[: log.rindex(b"\n") + 1]


def test_a_file_gets_the_log_and_stdout_nothing(garden: Path, logs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("what was there")
    assert cli("export", garden, "compost", "-o", out) == (0, b"", "")
    assert out.read_bytes() == (logs / "compost" / "session.v2.jsonl").read_bytes()
    assert list(tmp_path.iterdir()) == [out]


def test_zstd_frames_hold_the_same_bytes(garden: Path, logs: Path, tmp_path: Path) -> None:
    wanted = (logs / "bean-bed" / "session.jsonl").read_bytes()
    done = program("export", garden, "bean-bed", "--zstd")
    reader = zstandard.ZstdDecompressor().stream_reader(
        io.BytesIO(done.out), read_across_frames=True
    )
    assert reader.read() == wanted
    out = tmp_path / "session.jsonl.zstd"
    assert cli("export", garden, "bean-bed", "--zstd", "-o", out).status == 0
    again = cli("import", tmp_path / "x.db", out, "--json").objects
    assert (again[0]["outcome"], again[0]["notes"]) == ("imported", [])
    assert cli("export", tmp_path / "x.db", "bean-bed").out == wanted


def test_compressed_bytes_are_kept_from_a_terminal(garden: Path, tmp_path: Path) -> None:
    done = cli("export", garden, "bean-bed", "--zstd", terminal=True)
    assert (done.status, done.out) == (2, b"")
    assert "terminal" in done.err
    to_file = cli("export", garden, "bean-bed", "--zstd", "-o", tmp_path / "x", terminal=True)
    assert to_file.status == 0


def test_a_file_that_cannot_be_written_is_told(garden: Path, tmp_path: Path) -> None:
    done = cli("export", garden, "compost", "-o", tmp_path / "no folder" / "x")
    assert (done.status, done.out) == (3, b"")
    assert "no folder" in done.err


def test_nothing_is_written_for_a_session_that_is_not_there(garden: Path, tmp_path: Path) -> None:
    done = cli("export", garden, "nobody", "-o", tmp_path / "x")
    assert done.status == 3
    assert list(tmp_path.iterdir()) == []


# -- tables --


def test_views_become_tables_in_a_folder(garden: Path, tmp_path: Path) -> None:
    assert cli("export", garden, "--parquet", tmp_path / "all") == (0, b"", "")
    assert cli("export", garden, "seedlings", "--parquet", tmp_path / "one") == (0, b"", "")
    names = {f"{view}.parquet" for view in VIEWS}
    assert {path.name for path in (tmp_path / "all").iterdir()} == names
    turns = [parquet.read_table(tmp_path / place / "turns.parquet") for place in ("all", "one")]
    assert [table.num_rows for table in turns] == [9, 2]


def test_what_a_table_leaves_out_is_told(tmp_path: Path) -> None:
    log = LogBuilder(4)
    log.add("turn/start", {"turn": "first"})
    log.add("turn/end", {"turn": "first"})
    path = tmp_path / "odd.jsonl"
    path.write_bytes(write_log(make_header(4, "odd"), log.events))
    assert cli("import", tmp_path / "odd.db", path).status == 0
    done = cli("export", tmp_path / "odd.db", "--parquet", tmp_path / "tables")
    assert (done.status, done.out) == (0, b"")
    assert done.err.split("\n") == [
        "dshstore: note: turns.turn: 1 value is no int and left out",
        "",
    ]


def test_a_log_needs_its_session_and_tables_no_other_option(garden: Path, tmp_path: Path) -> None:
    assert cli("export", garden).status == 2
    for option in (("-o", "x"), ("--zstd",)):
        assert cli("export", garden, "--parquet", tmp_path / "t", *option).status == 2
    assert cli("export", garden, "nobody", "--parquet", tmp_path / "t").status == 3
    assert cli("export", tmp_path / "no.db", "--parquet", tmp_path / "t").status == 3
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
