"""The program around the commands: streams, statuses, and that no traceback is ever shown."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

import dshstore
from dshstore import errors
from dshstore.cli.output import PipeClosed
from dshstore.cli.process import TRACEBACK, status_of
from tests.cli.running import cli, program, small_log

#: Rows without end, so that only a signal, a closed pipe or the time limit ends the command.
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c"
ENDLESS_ROWS = (ENDLESS, "--json", "--timeout", "60")

#: Starts the command line where SIGINT does what it does in a terminal, however tests are run.
INTERRUPTIBLE = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from dshstore.cli.process import main; sys.exit(main())"
)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.LogRefused("odd"), 1),
        (errors.UnsupportedFormat(9, "0 to 4"), 1),
        (errors.Conflict(1, 2), 1),
        (errors.EventNotFound("a", 1, 1), 2),
        (errors.QueryFailed("odd", "SELECT"), 2),
        (click.UsageError("odd"), 2),
        (errors.SessionNotFound("a"), 3),
        (errors.SessionNotFound("a", ["ab", "ac"]), 3),
        (errors.NotAStore("a", "odd"), 3),
        (errors.UnsupportedSchema("a", 9, 1), 3),
        (errors.CorruptStore("odd"), 3),
        (errors.UnknownEvent(1, "odd"), 3),
        (errors.MigrationRefused(1, "odd"), 3),
        (errors.StoreBusy("odd"), 3),
        (errors.WriteFailed("odd"), 3),
        (errors.StoreError("odd"), 3),
        (RuntimeError("odd"), 3),
        (RecursionError("odd"), 3),
        (MemoryError(), 3),
        (click.Abort(), 130),
        (KeyboardInterrupt(), 130),
        (PipeClosed(), 141),
    ],
    ids=repr,
)
def test_each_error_has_its_status(error: BaseException, status: int) -> None:
    assert status_of(error) == status


def test_the_program_tells_its_version() -> None:
    done = program("--version")
    assert (done.status, done.text, done.err) == (0, f"dshstore {dshstore.__version__}\n", "")


def test_the_console_script_is_the_same_program(garden: Path) -> None:
    script = shutil.which("dshstore", path=Path(sys.executable).parent)
    if script is None:
        pytest.skip("the package is not installed in this environment")
    done = subprocess.run([script, "surface", garden, "nobody"], capture_output=True, check=False)
    assert done.returncode == 3
    assert done.stderr == b"dshstore: no session 'nobody' in this store\n"


def test_an_error_is_one_line_on_stderr_and_no_data(garden: Path) -> None:
    done = program("messages", garden, "nobody", "--json")
    assert (done.status, done.out) == (3, b"")
    assert done.err == "dshstore: no session 'nobody' in this store\n"


def test_wrong_usage_is_told_with_the_help_that_would_help(garden: Path) -> None:
    done = program("events", garden)
    assert (done.status, done.out) == (2, b"")
    assert "Missing argument 'SESSION'" in done.err
    assert "dshstore events --help" in done.err


def test_a_traceback_is_shown_to_who_asks_for_it(garden: Path) -> None:
    asked = program("messages", garden, "nobody", env={TRACEBACK: "1"})
    assert asked.status == 3
    assert "Traceback" in asked.err
    assert asked.err.endswith("dshstore: no session 'nobody' in this store\n")


def test_a_closed_pipe_ends_the_program_quietly(garden: Path) -> None:
    command: list[str | Path] = [sys.executable, "-m", "dshstore", "sql", garden, *ENDLESS_ROWS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b'{"x":1}\n'
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_ctrl_c_ends_the_program_with_a_word(garden: Path) -> None:
    command: list[str | Path] = [sys.executable, "-c", INTERRUPTIBLE, "sql", garden, *ENDLESS_ROWS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b'{"x":1}\n'
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
    assert process.returncode == 130
    assert said.split(b"\n") == [b"", b"dshstore: interrupted", b""]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("words", [("sessions",), ("--help",)])
def test_a_full_disk_below_stdout_is_told_in_a_sentence(
    garden: Path, words: tuple[str, ...]
) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "dshstore", *words, garden],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 3
    assert done.stderr.startswith(b"dshstore: ")
    assert done.stderr.endswith(b"No space left on device\n")
    assert done.stderr.count(b"\n") == 1
    assert b"Errno" not in done.stderr


@pytest.mark.parametrize("words", ["sessions", "sql", "show", "export"])
def test_a_closed_stdout_is_told_in_a_sentence(garden: Path, words: str) -> None:
    more = ' "$2"' if words in ("show", "export") else ""
    command = f'echo "SELECT 1;" | "$0" -m dshstore {words} "$1"{more} >&-'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable, garden, "bean-bed"],
        stderr=subprocess.PIPE,
        check=False,
    )
    assert done.returncode == 3
    assert done.stderr == b"dshstore: standard output: it is closed\n"


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_a_closed_stream_never_becomes_the_store(tmp_path: Path, closed: str) -> None:
    (tmp_path / "a.jsonl").write_bytes(small_log("a"))
    command = f'"$0" -m dshstore import a.db a.jsonl {closed}'
    done = subprocess.run(["sh", "-c", command, sys.executable], cwd=tmp_path, check=False)
    assert done.returncode == (3 if ">&-" in closed.split() else 0)
    assert cli("sessions", tmp_path / "a.db", "--json").objects[0]["session_id"] == "a"


@pytest.mark.parametrize(
    "locale", [{"LANG": "C", "LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}]
)
def test_text_is_utf8_whatever_the_locale(tmp_path: Path, locale: dict[str, str]) -> None:
    (tmp_path / "a.jsonl").write_bytes(small_log("größe", "再等一周 🌱"))
    assert program("import", "a.db", "a.jsonl", cwd=tmp_path, env=locale).status == 0
    shown = program("messages", "a.db", "gr", cwd=tmp_path, env=locale)
    assert "再等一周 🌱" in shown.text
    missed = program("messages", "a.db", "größer", cwd=tmp_path, env={"LC_ALL": "C"})
    assert missed.err == "dshstore: no session 'größer' in this store\n"


def test_half_a_surrogate_pair_is_shown_as_its_escape(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(small_log("a", "cut \ud83c"))
    assert program("import", "a.db", "a.jsonl", cwd=tmp_path).status == 0
    shown = program("messages", "a.db", "a", cwd=tmp_path, env={"LC_ALL": "C"})
    assert (shown.status, shown.text) == (0, "[0] user\ncut \\ud83c\n")
    [message] = program("messages", "a.db", "a", "--json", cwd=tmp_path).out.split(b"\n")[:-1]
    assert b"cut \\ud83c" in message


@pytest.mark.skipif(os.name == "nt", reason="file names are text there")
def test_a_file_name_that_is_no_text_is_shown_as_its_escape(tmp_path: Path) -> None:
    done = program("import", "a.db", b"\xff.jsonl", cwd=tmp_path)
    assert done.status == 1
    assert done.err == "dshstore: refused: \\udcff.jsonl: No such file or directory\n"


@pytest.mark.skipif(os.name == "nt", reason="arguments are text there")
@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["messages", "%", b"\xff"], 3),
        (["messages", "%", b"seed\xff"], 3),
        (["messages", "%", b"seedlings@v\xff"], 3),
        (["events", "%", "seedlings", "--type", b"\xff"], 0),
        (["sql", "%", b"SELECT '\xff'"], 2),
        (["sql", "%", "SELECT :a", "-p", "a", b"\xff"], 2),
        (["sql", "%", "SELECT :a", "-p", b"\xff", "a"], 2),
        (["sessions", b"\xff.db"], 3),
    ],
)
def test_an_argument_that_is_no_text_is_no_defect(
    garden: Path, arguments: list[str | bytes], status: int
) -> None:
    done = program(*(garden if argument == "%" else argument for argument in arguments))
    assert (done.status, done.out) == (status, b"")
    assert "defect" not in done.err


@pytest.mark.skipif(sys.platform != "linux", reason="file names are text elsewhere")
def test_a_store_may_have_a_name_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(small_log("a"))
    assert program("import", b"\xff.db", "a.jsonl", cwd=tmp_path).status == 0
    assert program("surface", b"\xff.db", "a", cwd=tmp_path).status == 0
    assert (tmp_path / os.fsdecode(b"\xff.db")).exists()


def test_deep_json_goes_in_and_out(tmp_path: Path) -> None:
    deep = b"[" * 900 + b"]" * 900
    header, *rest = small_log("a").split(b"\n")
    log = b"\n".join([header, *rest]).replace(b'{"turn":1}', b'{"turn":1,"deep":%s}' % deep)
    (tmp_path / "a.jsonl").write_bytes(log)
    assert program("import", "a.db", "a.jsonl", cwd=tmp_path).status == 0
    assert program("export", "a.db", "a", cwd=tmp_path).out == log
    events = program("events", "a.db", "a", "--json", cwd=tmp_path)
    assert events.status == 0
    assert deep in events.out


def test_a_store_in_a_folder_that_cannot_be_written_is_read(tmp_path: Path, garden: Path) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    shutil.copy(garden, folder / "garden.db")
    (folder / "garden.db").chmod(0o400)
    folder.chmod(0o500)
    try:
        if os.access(folder, os.W_OK):
            pytest.skip("this user may write everywhere")
        done = program("surface", folder / "garden.db", "seedlings", "--json")
        assert (done.status, len(done.objects)) == (0, 9)
        assert program("import", folder / "garden.db", "a.jsonl").status == 3
    finally:
        folder.chmod(0o700)
