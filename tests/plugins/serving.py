"""Servers that tests look at: each a process of its own, on this machine alone, ended for sure."""

from __future__ import annotations

import queue
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.error import HTTPError, URLError
from urllib.request import ProxyHandler, Request, build_opener

from tests.real_parts import require

#: Seconds that a server has to come up, a page to be there, a process to end.
PATIENCE = 60


class Page(NamedTuple):
    """What a server answered."""

    status: int
    text: str
    url: str


class Site(NamedTuple):
    """A running server: the address that it begins at, and its process."""

    url: str
    process: subprocess.Popen[str]

    def get(self, path: str, **headers: str) -> Page:
        """A page, whatever its status, redirections followed."""
        # what stands between this machine and others is not asked
        ask = build_opener(ProxyHandler({}))
        try:
            with ask.open(Request(self.url + path, headers=headers), timeout=PATIENCE) as answer:
                return Page(answer.status, answer.read().decode(), answer.url)
        except HTTPError as error:
            with error:
                return Page(error.code, error.read().decode(), error.url)


@contextmanager
def datasette(*files: Path, options: tuple[str, ...] = ()) -> Iterator[Site]:
    """`datasette serve` of these files, as a user starts it."""
    program = require("datasette")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [program, "serve", *map(str, files), "-h", "127.0.0.1", "-p", str(port), *options]
    with _running(command, subprocess.DEVNULL) as process:
        site = Site(f"http://127.0.0.1:{port}", process)
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                site.get("/-/versions.json")
                break
            except URLError:
                assert process.poll() is None, "datasette ended"
                assert time.monotonic() < deadline, "datasette does not answer"
                time.sleep(0.05)
        yield site


@contextmanager
def browse(store: Path, cwd: Path | None = None) -> Iterator[Site]:
    """`dshstore browse` of a store, on a port that is free."""
    command = [require("dshstore"), "browse", str(store), "--port", "0"]
    with _running(command, subprocess.PIPE, cwd) as process:
        yield Site(first_line(process).strip().removesuffix("/"), process)


def first_line(process: subprocess.Popen[str]) -> str:
    """The first line that a process writes; the rest is read too, lest it wait for a reader."""
    assert process.stdout is not None
    output, lines = process.stdout, queue.Queue[str]()

    def read() -> None:
        with output:
            for line in output:
                lines.put(line)

    threading.Thread(target=read, daemon=True).start()
    return lines.get(timeout=PATIENCE)


@contextmanager
def _running(
    command: list[str], stdout: int, cwd: Path | None = None
) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        command,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
