"""From where a log can be read on."""

from __future__ import annotations

import hashlib
import io

import pytest

from dshstore.engine.recording import BEGIN, Mark, source_name
from dshstore.formats.dsh.frames import LogReader, frame

LINES = [b"header\n", b"one\n", b"two\n", b"three\n"]


def read(log: bytes, name: str) -> Mark:
    """The mark behind a log in which every line but the first is an event."""
    reader = LogReader(io.BytesIO(log), name=name)
    mark = Mark(reader)
    for block in reader:
        mark.move(block.line - 1, max(block.line - 2, 0))
        mark.pass_over(block.data, block.frame)
    mark.move(reader.lines, reader.lines - 1)
    return mark


def hashed(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_a_plain_log_can_be_read_on_behind_its_last_line() -> None:
    whole = b"".join(LINES)
    mark = read(whole + b"torn", "log.jsonl")
    assert (mark.start.offset, mark.start.lines, mark.events) == (len(whole), 4, 3)
    assert mark.start.sha256 == mark.content == hashed(whole)


def test_a_zstd_log_can_be_read_on_behind_its_last_whole_frame() -> None:
    frames = [frame(LINES[0]), frame(b"".join(LINES[1:3])), frame(LINES[3])]
    mark = read(b"".join(frames[:2]) + frames[2][:-1], "log.zstd")
    kept = b"".join(frames[:2])
    assert (mark.start.offset, mark.start.frames, mark.start.lines) == (len(kept), 2, 3)
    assert (mark.events, mark.start.sha256) == (2, hashed(kept))
    assert mark.content == hashed(b"".join(LINES[:3]))


def test_a_frame_that_ends_within_a_line_is_no_place_to_go_on_from() -> None:
    frames = [frame(b"header\n"), frame(b"one\ntw"), frame(b"o\n")]
    mark = read(b"".join(frames)[:-1], "log.zstd")
    assert (mark.start.frames, mark.start.lines, mark.events) == (1, 1, 0)


@pytest.mark.parametrize("log", [b"\xef\xbb\xbfheader\none\n", b"header\r\none\r\n"])
def test_what_the_store_spells_in_another_way_is_not_hashed(log: bytes) -> None:
    mark = read(log, "log.jsonl")
    assert (mark.start.offset, mark.events, mark.content) == (len(log), 1, None)


def test_before_anything_was_read_it_is_the_begin() -> None:
    mark = Mark(LogReader(io.BytesIO(b""), name="log.jsonl"))
    assert (mark.start, mark.events, mark.content) == (BEGIN, 0, None)


def test_a_name_that_is_not_utf8_has_a_text() -> None:
    assert source_name("b\udcffans") == "b\\udcffans"
