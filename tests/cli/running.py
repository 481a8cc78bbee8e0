"""Runs the command line: in this process where that is enough, else as people start it."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

from dshstore.cli.process import run
from tests.logs import LogBuilder, make_header, text, write_log


class Done(NamedTuple):
    """What a command wrote, and its exit status."""

    status: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()

    @property
    def objects(self) -> list[Any]:
        """The lines of stdout, read as JSON."""
        return [json.loads(line) for line in self.out.split(b"\n") if line]


#: What a terminal reads as a change of style.
_STYLE = re.compile(b"\x1b\\[[0-9;]*m")


class Stream(io.TextIOWrapper):
    """A stream that keeps what is written, and says whether it is a terminal."""

    def __init__(self, *, terminal: bool = False) -> None:
        self._bytes, self._terminal = io.BytesIO(), terminal
        super().__init__(self._bytes, encoding="utf-8", errors="backslashreplace", newline="\n")

    def isatty(self) -> bool:
        return self._terminal

    @property
    def written(self) -> bytes:
        """What was written, without its styles."""
        self.flush()
        return _STYLE.sub(b"", self._bytes.getvalue())


def cli(*arguments: str | Path, terminal: bool = False) -> Done:
    """Run a command in this process; `terminal` is whether stdout is one."""
    out, err = Stream(terminal=terminal), Stream()
    with redirect_stdout(out), redirect_stderr(err):
        status = run([str(argument) for argument in arguments])
    return Done(status, out.written, err.written.decode())


def program(
    *arguments: str | Path | bytes,
    stdin: bytes = b"",
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Done:
    """Run `python -m dshstore` as a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "dshstore", *arguments],
        input=stdin,
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr.decode())


def small_log(session_id: str, *said: str) -> bytes:
    """A v4 log of one turn: what a user said, each as a message."""
    log = LogBuilder(4)
    log.start_turn()
    log.start_step()
    for words in said or ("Hello",):
        log.append("user/message", log.user(text(words)))
    log.end_step()
    log.end_turn()
    return write_log(make_header(4, session_id), log.events)
