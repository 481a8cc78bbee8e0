"""The disk is full in the middle of an import."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import dshstore
from dshstore import WriteFailed
from tests.situations.conftest import check_sound, write_session

KIB = 1024


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one MiB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no right to mount a file system")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def import_under_limit(store: Path, log: Path, size: int) -> subprocess.CompletedProcess[str]:
    """Import in a process that may write no file beyond so many bytes."""
    return subprocess.run(
        [sys.executable, "-m", "dshstore", "import", store, log, "--json"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
        capture_output=True,
        text=True,
        check=False,
    )


def check_untouched(store: Path, log: Path) -> None:
    """The store has what it had, and takes the log as soon as there is room."""
    with dshstore.open(store) as opened:
        assert [summary.session_id for summary in opened.sessions()] == ["before"]
        check_sound(opened)
        assert opened.import_log(log).outcome == "imported"


@pytest.mark.parametrize("size", [300, 500, 900])
def test_a_limit_on_files_leaves_all_or_nothing_of_a_session(tmp_path: Path, size: int) -> None:
    store, log = tmp_path / "store.db", tmp_path / "log.jsonl"
    log.write_bytes(write_session("large", 1000, said="x" * 1000))
    with dshstore.open(store) as opened:
        (tmp_path / "before.jsonl").write_bytes(write_session("before"))
        opened.import_log(tmp_path / "before.jsonl")
    done = import_under_limit(store, log, size * KIB)
    assert done.returncode == 3
    assert done.stdout == ""
    assert str(store) in done.stderr
    assert "Traceback" not in done.stderr
    check_untouched(store, log)


def test_a_full_disk_leaves_all_or_nothing_of_a_session(small_disk: Path, tmp_path: Path) -> None:
    store, log = small_disk / "store.db", tmp_path / "log.jsonl"
    log.write_bytes(write_session("large", 1000, said="x" * 1000))
    small = tmp_path / "before.jsonl"
    small.write_bytes(write_session("before"))
    with dshstore.open(store) as opened:
        opened.import_log(small)
        with pytest.raises(WriteFailed, match="no space left") as error:
            opened.import_log(log)
        assert str(store) in str(error.value)
        assert opened.import_log(small).outcome == "unchanged"
    moved = tmp_path / "moved.db"
    moved.write_bytes(store.read_bytes())
    check_untouched(moved, log)


def test_a_salvage_is_all_or_nothing_too(small_disk: Path, tmp_path: Path) -> None:
    store, log = small_disk / "store.db", tmp_path / "log.jsonl"
    lines = write_session("large", 1000, said="x" * 1000).split(b"\n")
    log.write_bytes(b"\n".join([*lines[:5], b"garbage", *lines[9:]]))
    with dshstore.open(store) as opened:
        with pytest.raises(WriteFailed, match="no space left"):
            opened.import_log(log, salvage=True)
        assert opened.sessions() == []
        assert list(opened.quarantine()) == []


def test_the_logs_before_the_one_that_did_not_fit_are_in(tmp_path: Path) -> None:
    store, logs = tmp_path / "store.db", tmp_path / "logs"
    logs.mkdir()
    (logs / "a.jsonl").write_bytes(write_session("small"))
    (logs / "b.jsonl").write_bytes(write_session("large", 1000, said="x" * 1000))
    dshstore.open(store).close()
    done = import_under_limit(store, logs, 900 * KIB)
    assert done.returncode == 3
    assert [json.loads(line)["session_id"] for line in done.stdout.splitlines()] == ["small"]
    with dshstore.open(store) as opened:
        assert [summary.session_id for summary in opened.sessions()] == ["small"]
