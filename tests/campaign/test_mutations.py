"""Damaged logs by the thousand: nothing is lost, nothing invented, nothing breaks.

Whatever happens to a log, an import either refuses it and says where, leaving nothing behind, or
gives it back byte for byte; a salvage keeps every byte in the session or in quarantine; the source
is never changed and the store stays sound. A short run is part of the default tests; the campaign
is started with

    python -m pytest -m campaign tests/campaign

MUTATIONS=n and SEED=n change how many logs it damages, and which.
"""

from __future__ import annotations

import codecs
import os
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
import zstandard

import dshstore
from dshstore import LogRefused, Store
from dshstore.cli.process import RECURSION_LIMIT
from tests.campaign.damage import SoundLog, damaged_logs, sound_logs

SEED = int(os.environ.get("SEED", "1"))
MUTATIONS = int(os.environ.get("MUTATIONS", "20000"))

#: One damaged log in so many also goes through the command line.
SAMPLE = 200


def test_damaged_logs_are_refused_or_kept(tmp_path: Path) -> None:
    run(tmp_path, 150, SEED, generated=10)


@pytest.mark.campaign
def test_damaged_logs_are_refused_or_kept_by_the_thousand(tmp_path: Path) -> None:
    run(tmp_path, MUTATIONS, SEED, generated=200)


def run(folder: Path, count: int, seed: int, generated: int) -> None:
    empty = folder / "empty.db"
    dshstore.open(empty).close()
    usual = sys.getrecursionlimit()
    try:
        for number, log in enumerate(islice(damaged_logs(sound_logs(generated), seed), count)):
            trial = folder / "trial"
            trial.mkdir()
            try:
                sys.setrecursionlimit(RECURSION_LIMIT if number % 2 else usual)
                check(log, trial, empty)
                if number % SAMPLE == 0:
                    check_command(log, trial)
            except BaseException:
                print(f"number {number} of seed {seed}: {log.name} is kept in {trial}")
                raise
            shutil.rmtree(trial)
    finally:
        sys.setrecursionlimit(usual)


def check(log: SoundLog, folder: Path, empty: Path) -> None:
    source = folder / "logs" / log.name
    source.parent.mkdir()
    source.write_bytes(log.data)
    place = folder / "store.db"
    shutil.copy(empty, place)
    with dshstore.open(place, durability="NORMAL") as store:
        [result] = store.import_paths([source])
        if result.outcome == "refused":
            assert result.line is not None or result.frame is not None
            assert not any(store.info()[what] for what in ("sessions", "events", "imports"))
        else:
            assert result.outcome == "imported"
            assert exported(store, result.session_id) == whole_lines(log)
        check_salvage(log, source, store)
        check_store(store)
    assert source.read_bytes() == log.data
    assert [path.name for path in source.parent.iterdir()] == [log.name]


def check_salvage(log: SoundLog, source: Path, store: Store) -> None:
    before = store.info()
    try:
        result = store.import_log(source, salvage=True)
    except LogRefused:
        assert store.info() == before
        return
    pieces = [(piece, store.quarantined_bytes(piece)) for piece in store.quarantine()]
    lines = exported(store, result.session_id).split(b"\n")[:-1] if result.session_id else []
    frames = [(piece, raw) for piece, raw in pieces if is_encoded(piece)]
    for piece, raw in frames:
        assert log.data[piece.offset : piece.offset + piece.size] == raw
    placed = [(piece, raw) for piece, raw in pieces if not is_encoded(piece)]
    if not is_zstd(log):
        for piece, raw in placed:
            assert log.data[piece.offset : piece.offset + piece.size] == raw
    consume(content_without(log, frames), [raw for _, raw in placed], lines)
    after = store.info()
    again = store.import_log(source, salvage=True)
    assert again.outcome == "unchanged"
    assert store.info() == after


def consume(text: bytes, pieces: list[bytes], lines: list[bytes]) -> None:
    """Every byte of the text but line ends is in a line that was kept or in a piece set aside."""
    at = 0
    text = text.removeprefix(codecs.BOM_UTF8)
    left = [deque(filter(None, lines)), deque(filter(None, pieces))]
    while at < len(text):
        taken = next((parts for parts in left if parts and text.startswith(parts[0], at)), None)
        if taken:
            at += len(taken.popleft())
        else:
            assert text[at : at + 1] in (b"\n", b"\r"), (at, text[at : at + 80])
            at += 1
    assert not any(left)


def check_store(store: Store) -> None:
    assert [finding for finding in store.verify() if finding.kind == "store"] == []


def check_command(log: SoundLog, folder: Path) -> None:
    source = folder / "logs" / log.name
    for options in ([], ["--salvage"]):
        files = [str(folder / "cli.db"), str(source)]
        command = [sys.executable, "-m", "dshstore", "import", *files, *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1), done.stderr
        assert "Traceback" not in done.stderr


def exported(store: Store, session_id: str | None) -> bytes:
    assert session_id is not None
    return b"".join(store.session(session_id).log())


# -- what is in a log, found in another way --


def is_zstd(log: SoundLog) -> bool:
    return log.name.endswith(".zstd")


def is_encoded(piece: dshstore.QuarantinedPiece) -> bool:
    return piece.frame is not None and piece.line is None


def whole_lines(log: SoundLog) -> bytes:
    """The lines that a log gives: no torn end, no byte order mark, LF for CR LF."""
    text = log.data if not is_zstd(log) else b"".join(decode(log.data))
    text = text[: text.rfind(b"\n") + 1].removeprefix(b"\xef\xbb\xbf")
    return text.replace(b"\r\n", b"\n")


def decode(data: bytes) -> Iterator[bytes]:
    """The content of frames, as far as it goes."""
    while data:
        decoder = zstandard.ZstdDecompressor().decompressobj()
        try:
            for at in range(len(data)):
                yield decoder.decompress(data[at : at + 1])
                if decoder.eof:
                    data = data[at + 1 :]
                    break
            else:
                return
        except zstandard.ZstdError:
            return


def content_without(log: SoundLog, frames: list[tuple[dshstore.QuarantinedPiece, bytes]]) -> bytes:
    """The text of a log less that of the frames set aside; of a torn one it stays."""
    if not is_zstd(log):
        return log.data
    text, at = b"", 0
    for piece, raw in frames:
        text += b"".join(decode(log.data[at : piece.offset]))
        if "torn" in piece.reason:
            return text + b"".join(decode(raw))
        at = piece.offset + piece.size
    return text + b"".join(decode(log.data[at:]))
