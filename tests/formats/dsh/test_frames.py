"""Plain and zstd logs: lines, offsets, torn ends, bad frames."""

from __future__ import annotations

import hashlib
import io
import json
import tracemalloc
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from dshstore.errors import LogRefused
from dshstore.formats.dsh.frames import (
    BadFrame,
    LogReader,
    PrefixChanged,
    Start,
    Torn,
    frame,
)
from dshstore.formats.dsh.limits import Limits
from dshstore.model import Block

CASES = Path(__file__).parents[4] / "shared" / "cases"

HEADER = b'{"type":"session"}\n'
LINES = [HEADER, b'{"seq":0}\n', '{"seq":1,"text":"é\u2028🌱"}\n'.encode(), b'{"seq":2}\n']


class Trickle(io.RawIOBase):
    """A stream that gives a few bytes at a time, however many are asked for."""

    def __init__(self, data: bytes, sizes: list[int]) -> None:
        self._data, self._sizes, self._turn = io.BytesIO(data), sizes, 0

    def read(self, size: int = -1, /) -> bytes:
        self._turn += 1
        return self._data.read(min(size, self._sizes[self._turn % len(self._sizes)]))


class Read(NamedTuple):
    reader: LogReader
    blocks: list[Block]
    bad: list[BadFrame]
    refused: LogRefused | None

    @property
    def text(self) -> bytes:
        return b"".join(block.data for block in self.blocks)


def read(data: bytes, name: str = "log", *, salvage: bool = False, **options: Any) -> Read:
    bad: list[BadFrame] = []
    stream = options.pop("stream", None) or io.BytesIO(data)
    report = bad.append if salvage else None
    reader = LogReader(stream, name=name, on_bad_frame=report, **options)
    blocks: list[Block] = []
    try:
        for block in reader:
            blocks.append(block)
    except LogRefused as refused:
        return Read(reader, blocks, bad, refused)
    return Read(reader, blocks, bad, None)


def place(refused: LogRefused | None) -> tuple[int | None, int | None, int | None]:
    assert refused is not None
    return refused.line, refused.frame, refused.offset


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def framed(*contents: bytes) -> bytes:
    return b"".join(map(frame, contents))


def log_lines(min_size: int = 1) -> st.SearchStrategy[list[bytes]]:
    texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"))
    line = texts.map(lambda text: json.dumps(text, ensure_ascii=False).encode() + b"\n")
    return st.lists(line, min_size=min_size, max_size=8)


SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=4)

# plain logs


@given(log_lines(), SIZES)
def test_a_plain_log_comes_out_in_whole_lines(lines: list[bytes], sizes: list[int]) -> None:
    data = b"".join(lines)
    got = read(data, stream=Trickle(data, sizes))
    assert got.text == data
    assert got.reader.lines == len(lines)
    assert (got.reader.encoding, got.reader.torn, got.reader.notes) == ("plain", None, [])
    assert got.reader.kept == Start(len(data), len(lines), 0, sha256(data))
    assert (got.reader.size, got.reader.sha256) == (len(data), sha256(data))


def test_blocks_say_where_their_first_line_stands() -> None:
    data = b"".join(b'{"seq":%d,"text":"%s"}\n' % (n, b"x" * (n % 3000)) for n in range(3000))
    blocks = read(data).blocks
    assert len(blocks) > 3
    for block in blocks:
        assert block.frame is None
        assert data[block.offset :].startswith(block.data)
        assert data.count(b"\n", 0, block.offset) == block.line - 1
        assert block.data.endswith(b"\n")


@given(log_lines(), st.text(min_size=1).map(lambda text: text.encode("utf-8", "replace")))
def test_bytes_after_the_last_line_end_are_torn(lines: list[bytes], tail: bytes) -> None:
    tail = tail.replace(b"\n", b"")[:-1] + b"\xe4\xb8"
    whole = b"".join(lines)
    got = read(whole + tail)
    assert got.text == whole
    assert got.reader.torn == Torn(len(whole), len(tail), None, len(lines) + 1)
    assert got.reader.kept == Start(len(whole), len(lines), 0, sha256(whole))
    assert got.reader.sha256 == sha256(whole + tail)
    (note,) = got.reader.notes
    assert f"line {len(lines) + 1} is torn" in note
    assert f"{len(tail)} bytes at byte {len(whole)}" in note


def test_a_whole_record_without_a_line_end_is_torn_too() -> None:
    got = read(HEADER + b'{"seq":0}')
    assert got.text == HEADER
    assert got.reader.torn == Torn(len(HEADER), 9, None, 2)


def test_lines_end_at_lf_alone() -> None:
    data = HEADER + '{"a":"\u2028\u0085\x0b"}\r\n'.encode()
    got = read(data)
    assert got.text == data
    assert got.reader.lines == 2
    assert got.reader.notes == ["lines end in CR LF, read as LF"]


@pytest.mark.parametrize("pack", [bytes, frame])
def test_a_byte_order_mark_is_left_out_with_a_note(pack: Any) -> None:
    got = read(pack(b"\xef\xbb\xbf" + b"".join(LINES)))
    assert got.text == b"".join(LINES)
    assert got.blocks[0].line == 1
    assert got.blocks[0].offset == (3 if pack is bytes else 0)
    assert "byte order mark" in got.reader.notes[0]


@pytest.mark.parametrize("bad", [b"\xff", b"\xed\xa0\x80", b"\xc3", b"\xc0\x80"])
@pytest.mark.parametrize("before", [0, 3, 2_000_000])
@pytest.mark.parametrize("zstd", [False, True])
def test_a_line_that_is_not_utf8_is_refused_after_those_before_it(
    bad: bytes, before: int, zstd: bool
) -> None:
    good = HEADER + b"".join(b'{"seq":%d,"t":"\xc3\xa9"}\n' % n for n in range(before // 20))
    log = good + b'{"t":"' + b"\xc3\xa9" * 700_000 + bad + b'"}\n' + LINES[1]
    got = read(framed(HEADER, log[len(HEADER) :]) if zstd else log)
    assert got.text == good
    line = good.count(b"\n") + 1
    offset = len(frame(HEADER)) if zstd else len(good)
    assert place(got.refused) == (line, 1 if zstd else None, offset)
    assert "UTF-8" in str(got.refused)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "empty file"),
        (b'{"type":"session"}', "no header line"),
        (b"\xef\xbb\xbf", "no header"),
    ],
)
def test_a_log_without_one_whole_line_is_refused(data: bytes, says: str) -> None:
    got = read(data)
    assert place(got.refused) == (1, None, 0)
    assert says in str(got.refused)


def test_an_empty_log_may_have_the_name_of_a_zstd_log() -> None:
    assert "empty file" in str(read(b"", "session.jsonl.zstd").refused)


# zstd logs


@given(st.lists(log_lines(0), min_size=1, max_size=6), SIZES)
def test_a_zstd_log_is_read_through_all_its_frames(
    frames: list[list[bytes]], sizes: list[int]
) -> None:
    frames[0] = [HEADER, *frames[0]]
    contents = [b"".join(lines) for lines in frames]
    data = framed(*contents)
    got = read(data, stream=Trickle(data, sizes))
    assert got.text == b"".join(contents)
    assert got.reader.encoding == "zstd"
    lines = sum(map(len, frames))
    assert got.reader.kept == Start(len(data), lines, len(frames), sha256(data))
    for number in range(len(frames)):
        inside = b"".join(block.data for block in got.blocks if block.frame == number)
        assert inside == contents[number]
        offset = len(framed(*contents[:number]))
        assert {block.offset for block in got.blocks if block.frame == number} <= {offset}
    line = 1
    for block in got.blocks:
        assert block.line == line
        line += block.data.count(b"\n")


def test_a_line_may_go_on_in_the_next_frame() -> None:
    data = framed(HEADER, LINES[1] + LINES[2][:9], b"", LINES[2][9:] + LINES[3])
    got = read(data)
    offset = len(frame(HEADER))
    last = len(data) - len(frame(LINES[2][9:] + LINES[3]))
    assert got.blocks == [
        Block(HEADER, 1, 0, 0),
        Block(LINES[1], 2, offset, 1),
        Block(LINES[2], 3, offset, 1),
        Block(LINES[3], 4, last, 3),
    ]
    assert got.reader.kept.frames == 4


@pytest.mark.parametrize("size", [True, False])
@pytest.mark.parametrize("level", [-5, 3, 9])
@pytest.mark.parametrize("checksum", [True, False])
def test_frames_of_all_kinds_are_walked(size: bool, level: int, checksum: bool) -> None:
    pack = zstandard.ZstdCompressor(level, write_checksum=checksum, write_content_size=size)
    contents = [
        HEADER,
        b'{"a":"' + b"x" * 300_000 + b'"}\n',
        b"".join(hashlib.sha512(b"%d" % n).hexdigest().encode() + b"\n" for n in range(4000)),
        b"".join(b'"\xc3\xa9%d"\n' % n for n in range(70)),
    ]
    data = b"".join(map(pack.compress, contents))
    assert read(data).text == b"".join(contents)


def test_a_flushed_frame_of_many_blocks_is_read() -> None:
    stream = zstandard.ZstdCompressor(write_checksum=True).compressobj()
    data = frame(HEADER)
    for n in range(100):
        data += stream.compress(b'{"seq":%d}\n' % n) + stream.flush(
            zstandard.COMPRESSOBJ_FLUSH_BLOCK
        )
    whole = data + stream.flush()
    assert read(whole).reader.lines == 101
    torn = read(data[:-3])
    assert torn.reader.lines == 100
    assert torn.reader.torn == Torn(len(frame(HEADER)), len(data) - 3 - len(frame(HEADER)), 1, 101)


def test_a_zstd_log_may_be_cut_anywhere() -> None:
    contents = [HEADER, LINES[1] + LINES[2], b"", LINES[3]]
    data = framed(*contents)
    ends = [len(framed(*contents[:n])) for n in range(len(contents) + 1)]
    for cut in range(1, len(data)):
        got = read(data[:cut], "log.zst")
        whole = max(n for n, end in enumerate(ends) if end <= cut)
        if not whole and not got.blocks:
            assert place(got.refused) == (1, None, 0)
            continue
        assert got.refused is None
        assert b"".join(contents).startswith(got.text)
        assert got.text.startswith(b"".join(contents[:whole]))
        kept = b"".join(contents[:whole]).count(b"\n")
        assert got.reader.kept == Start(ends[whole], kept, whole, sha256(data[: ends[whole]]))
        assert got.reader.sha256 == sha256(data[:cut])
        if cut == ends[whole]:
            assert (got.reader.torn, got.reader.notes) == (None, [])
        else:
            line = got.reader.lines + 1
            assert got.reader.torn == Torn(ends[whole], cut - ends[whole], whole, line)
            assert f"frame {whole} at byte {ends[whole]} is torn" in got.reader.notes[0]


def test_a_log_named_like_zstd_that_is_none_is_refused() -> None:
    for name in ("session.jsonl.zstd", "A.ZST"):
        got = read(b"".join(LINES), name)
        assert place(got.refused) == (None, 0, 0)
        assert "the name says zstd" in str(got.refused)
    assert read(framed(*LINES), "session.jsonl").reader.lines == len(LINES)


def broken(how: str) -> bytes:
    """The second of three frames, broken in some way."""
    good = bytearray(frame(LINES[1] * 40 + LINES[2]))
    match how:
        case "checksum":
            good[-1] ^= 1
        case "content":
            good[12] ^= 0x55
        case "reserved bit":
            good[4] |= 8
        case "block type":
            good[6] |= 6
        case "block size":
            good[8] |= 0xC0
        case "magic":
            good[1] ^= 1
        case "cut":
            del good[-6:]
        case "skippable":
            return b"\x5a\x2a\x4d\x18\x03\0\0\0abc"
        case "garbage":
            return b"garbage" * 9
        case "zeros":
            return bytes(64)
    return bytes(good)


FAULTS = [
    *("checksum", "content", "reserved bit", "block type", "block size"),
    *("magic", "cut", "skippable", "garbage", "zeros"),
]


@pytest.mark.parametrize("how", FAULTS)
def test_a_bad_frame_is_refused_after_the_lines_before_it(how: str) -> None:
    got = read(frame(HEADER) + broken(how) + frame(LINES[3]))
    assert got.text.startswith(HEADER)
    assert place(got.refused) == (None, 1, len(frame(HEADER)))


@pytest.mark.parametrize("how", FAULTS)
def test_later_frames_are_salvaged(how: str) -> None:
    bad = broken(how)
    data = frame(HEADER) + bad + frame(LINES[3]) + frame(LINES[1])
    got = read(data, salvage=True)
    assert got.text == HEADER + LINES[3] + LINES[1]
    assert [block.line for block in got.blocks] == [1, 2, 3]
    (report,) = got.bad
    offset = len(frame(HEADER))
    assert report == BadFrame(1, offset, len(bad), bad, report.reason)
    assert report.reason
    assert got.reader.sha256 == sha256(data)
    assert got.reader.kept == Start(offset, 1, 1, sha256(frame(HEADER)))


@pytest.mark.parametrize("how", [how for how in FAULTS if how != "zeros"])
def test_a_bad_last_frame_is_salvaged_around(how: str) -> None:
    got = read(frame(HEADER) + broken(how), salvage=True)
    assert got.text.startswith(HEADER)
    if how == "cut":
        assert got.reader.torn is not None
    else:
        assert [bad.raw for bad in got.bad] == [broken(how)]


def test_lines_broken_by_a_gap_are_reported_and_never_joined() -> None:
    data = framed(HEADER, LINES[1] + b'{"seq":1,"te') + broken("checksum")
    data += framed(b'xt":2}\n' + LINES[3], LINES[1])
    got = read(data, salvage=True)
    assert got.text == HEADER + LINES[1] + LINES[3] + LINES[1]
    before, gap, after = got.bad
    assert (before.raw, before.frame, before.line) == (b'{"seq":1,"te', 1, 3)
    assert (gap.raw, gap.frame, gap.line) == (broken("checksum"), 2, None)
    assert (after.raw, after.frame, after.line) == (b'xt":2}\n', 3, 3)


def test_a_line_that_is_not_utf8_is_salvaged_around() -> None:
    got = read(HEADER + b'{"a":"\xff"}\n' + LINES[1] + b"\xfe\n" + LINES[3], salvage=True)
    assert [(block.data, block.line) for block in got.blocks] == [
        (HEADER, 1),
        (LINES[1], 3),
        (LINES[3], 5),
    ]
    assert [(bad.raw, bad.line, bad.offset) for bad in got.bad] == [
        (b'{"a":"\xff"}\n', 2, len(HEADER)),
        (b"\xfe\n", 4, len(HEADER) + 10 + len(LINES[1])),
    ]


def test_a_last_frame_that_ends_within_a_line_is_refused_or_reported() -> None:
    data = framed(HEADER, LINES[1], LINES[2] + LINES[3][:4])
    got = read(data)
    assert got.text == b"".join(LINES[:3])
    offset = len(framed(HEADER, LINES[1]))
    assert place(got.refused) == (4, 2, offset)
    salvaged = read(data, salvage=True)
    assert [bad.raw for bad in salvaged.bad] == [LINES[3][:4]]


def test_a_torn_frame_may_follow_one_that_ends_within_a_line() -> None:
    data = framed(HEADER, LINES[1] + LINES[2][:4])
    got = read(data + frame(LINES[2][4:])[:9])
    assert got.text == HEADER + LINES[1]
    assert got.reader.torn == Torn(len(data), 9, 2, 3)
    assert got.reader.kept == Start(len(frame(HEADER)), 1, 1, sha256(frame(HEADER)))


@given(st.data())
@settings(deadline=None)
def test_salvage_takes_any_damage_and_loses_no_byte_of_it(data: st.DataObject) -> None:
    contents = [HEADER, *LINES[1:], b"".join(LINES[1:]) * 20]
    log = bytearray(framed(*contents))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(log) - 1))
        match data.draw(st.sampled_from(["flip", "cut out", "put in"])):
            case "flip":
                log[at] ^= data.draw(st.integers(1, 255))
            case "cut out":
                del log[at : at + data.draw(st.integers(1, 60))]
            case "put in":
                log[at:at] = data.draw(st.binary(min_size=1, max_size=20))
        if not log:
            return
    got = read(bytes(log), salvage=True)
    assert got.reader.sha256 == sha256(bytes(log)) or got.refused
    whole = set(b"".join(contents).split(b"\n"))
    if got.reader.encoding == "zstd":
        assert set(got.text.split(b"\n")) <= whole
    for bad in got.bad:
        if bad.line is None:
            assert bad.raw == log[bad.offset : bad.offset + bad.size]


# going on


@pytest.mark.parametrize("zstd", [False, True])
def test_a_grown_log_is_read_on_from_what_was_kept(zstd: bool) -> None:
    data = framed(*LINES) if zstd else b"".join(LINES)
    for cut in range(len(frame(HEADER)) if zstd else len(HEADER), len(data) + 1):
        first = read(data[:cut])
        again = read(data, start=first.reader.kept)
        whole = read(data)
        kept = first.reader.kept
        assert again.text == b"".join(LINES[kept.lines :])
        assert again.reader.kept == whole.reader.kept
        assert again.reader.sha256 == whole.reader.sha256
        places = [(block.line, block.offset, block.frame) for block in again.blocks]
        if zstd:
            assert places == [
                (block.line, block.offset, block.frame) for block in whole.blocks[kept.frames :]
            ]
        elif places:
            assert places == [(kept.lines + 1, kept.offset, None)]


@pytest.mark.parametrize("zstd", [False, True])
def test_a_log_whose_read_part_changed_is_not_read_on(zstd: bool) -> None:
    data = framed(*LINES) if zstd else b"".join(LINES)
    kept = read(data).reader.kept
    for changed in (data[:-1], b"\n" + data[1:], data[:-1] + b" " + data):
        with pytest.raises(PrefixChanged):
            list(LogReader(io.BytesIO(changed), name="log", start=kept))


def test_a_note_on_the_first_line_is_not_repeated_when_a_log_is_read_on() -> None:
    data = b"\xef\xbb\xbf" + b"".join(LINES)
    kept = read(data).reader.kept
    assert read(data + LINES[1], start=kept).reader.notes == []


# limits


@pytest.mark.parametrize("pack", [bytes, frame])
@pytest.mark.parametrize("size", [100, 3_000_000])
def test_a_line_over_the_limit_is_refused(pack: Any, size: int) -> None:
    line = b'"' + b"x" * (size - 2) + b'"\n'
    data = pack(LINES[0] + line + LINES[1])
    assert read(data, limits=Limits(max_line=size)).refused is None
    got = read(data, limits=Limits(max_line=size - 1))
    assert "--max-line" in str(got.refused)
    assert str(size - 1) in str(got.refused)
    assert place(got.refused)[0] == 2


def test_a_log_that_decodes_to_too_much_is_refused() -> None:
    data = framed(HEADER, LINES[1] * 1000)
    got = read(data, limits=Limits(max_decoded=1000))
    assert "--max-decoded" in str(got.refused)
    assert place(got.refused) == (None, 1, len(frame(HEADER)))


@pytest.mark.campaign
def test_a_log_that_grows_beyond_all_measure_is_refused() -> None:
    data = framed(HEADER) + frame(b'"%s"\n' % (b"x" * 1000) * 100_000) * 15
    assert read(data, limits=Limits(max_ratio=12_000)).refused is None
    assert "--max-ratio" in str(read(data, limits=Limits(max_ratio=1000)).refused)


def peak_of_reading(data: bytes) -> int:
    tracemalloc.start()
    for block in LogReader(io.BytesIO(data), name="log"):
        assert len(block.data) <= 1 << 20 or block.data.count(b"\n") == 1
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def test_a_small_frame_that_decodes_to_much_is_given_out_in_pieces() -> None:
    data = framed(HEADER, b"{}\n" * (20 << 20))
    assert peak_of_reading(data) < 10 << 20


@pytest.mark.parametrize("pack", [bytes, frame])
def test_a_long_line_takes_a_few_times_its_size(pack: Any) -> None:
    data = pack(HEADER + b'"' + "é".encode() * (10 << 20) + b'"\n')
    assert peak_of_reading(data) < 4 * (20 << 20)


# real files


@pytest.mark.shared
def test_the_known_odd_and_broken_logs_are_read_as_told() -> None:
    if not CASES.is_dir():
        pytest.skip("needs ../shared")
    for name, expected in json.loads((CASES / "expected.json").read_text("utf-8")).items():
        got = read((CASES / name).read_bytes(), name)
        torn = got.reader.torn
        if name == "case-25-empty.jsonl":
            assert place(got.refused) == (1, None, 0)
            continue
        assert got.refused is None, name
        if "bad_frame" in expected:
            assert torn is not None
            assert (torn.frame, torn.offset) == (expected["bad_frame"], expected["bad_offset"])
            assert got.reader.lines == 1 + expected["events_before_defect"]
        elif "tail_offset" in expected:
            assert torn is not None
            assert (torn.line, torn.offset) == (
                expected["first_bad_line"],
                expected["tail_offset"],
            )
        else:
            assert torn is None, name
