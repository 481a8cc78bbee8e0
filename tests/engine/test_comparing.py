"""A log beside what the store has of it, byte by byte."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dshstore.engine.comparing import LogDiffers, new_blocks
from dshstore.model import Block

LINES = [b"one\n", b"two and\n", b"\n", b"four\n", b"five five\n"]


def split(lines: list[bytes], cuts: list[int], frame: bool = False) -> Iterator[Block]:
    """The lines as blocks that end at these numbers of lines."""
    ends = sorted({*(cut % (len(lines) + 1) for cut in cuts), len(lines)})
    begin = offset = 0
    for number, end in enumerate(ends):
        if data := b"".join(lines[begin:end]):
            yield Block(data, begin + 1, offset, number if frame else None)
        offset += len(data)
        begin = end


def pieces(data: bytes, cuts: list[int]) -> Iterator[bytes]:
    begin = 0
    for end in sorted({*(cut % (len(data) + 1) for cut in cuts), len(data)}):
        if begin < end:
            yield data[begin:end]
        begin = end


cuts = st.lists(st.integers(0, 40), max_size=5)


@given(stored=st.integers(0, 5), log=st.integers(1, 5), a=cuts, b=cuts, crlf=st.booleans())
def test_what_the_store_does_not_have_comes_out_with_its_place(
    stored: int, log: int, a: list[int], b: list[int], crlf: bool
) -> None:
    lines = [line.replace(b"\n", b"\r\n") if crlf else line for line in LINES]
    have = b"".join(LINES[:stored])
    new = list(new_blocks(pieces(have, a), split(lines[:log], b)))
    assert b"".join(block.data for block in new) == b"".join(lines[stored:log])
    line = stored + 1
    for block in new:
        assert block.line == line
        assert block.offset == len(b"".join(lines[: line - 1]))
        line += block.data.count(b"\n")


@given(at=st.integers(0, 27), a=cuts, b=cuts)
def test_the_first_line_that_differs_is_named(at: int, a: list[int], b: list[int]) -> None:
    whole = bytearray(b"".join(LINES))
    at %= len(whole)
    whole[at] ^= 32
    with pytest.raises(LogDiffers) as error:
        list(new_blocks(pieces(bytes(whole), a), split(LINES, b)))
    begins = bytes(b"".join(LINES)).rfind(b"\n", 0, at) + 1
    assert error.value.offset == begins
    assert error.value.line == b"".join(LINES)[:begins].count(b"\n") + 1


def test_in_a_zstd_log_the_place_is_that_of_the_frame() -> None:
    blocks = [Block(b"one\n", 1, 0, 0), Block(b"two\nthree\n", 2, 99, 1)]
    [rest] = new_blocks(iter([b"one\ntwo\n"]), iter(blocks))
    assert rest == Block(b"three\n", 3, 99, 1)
    with pytest.raises(LogDiffers) as error:
        list(new_blocks(iter([b"one\ntwo\nTHREE\n"]), iter(blocks)))
    assert (error.value.line, error.value.offset, error.value.frame) == (3, 99, 1)
