"""What of a log is sound, said before anything is done."""

from __future__ import annotations

import io

import pytest

from dshstore import Limits, LogRefused
from dshstore.engine.survey import Survey
from dshstore.formats.dsh.frames import frame
from tests.cli.running import small_log

LOG = small_log("beans", *(f"bean {number}" for number in range(7)))
LINES = LOG.split(b"\n")[:-1]


def survey(log: bytes, name: str = "log.jsonl") -> Survey:
    return Survey(io.BytesIO(log), name, Limits())


def joined(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def kept(found: Survey) -> bytes:
    return b"".join(block.data for block in found.kept())


def test_a_clean_log_is_kept_whole() -> None:
    found = survey(LOG)
    assert (found.events, found.defect, found.why) == (11, None, "")
    assert kept(found) == joined(LINES[1:])
    assert list(found.aside()) == []
    assert found.only_torn
    assert found.mark is not None
    assert found.mark.start.offset == len(LOG)


def test_the_lines_that_are_kept_know_their_places() -> None:
    log = joined([*LINES[:4], b"garbage", *LINES[4:]])
    blocks = list(survey(log).kept())
    assert [(block.line, block.data.count(b"\n")) for block in blocks] == [(2, 3), (6, 8)]
    for block in blocks:
        assert log[block.offset :].startswith(block.data)


@pytest.mark.parametrize(
    ("log", "kept", "aside"),
    [
        (LINES[:2], "event 0", "nothing"),
        (LINES[:1], "no event", "nothing"),
        ([LINES[0], LINES[2]], "no event", "1 record"),
        ([*LINES[:3], b"x", b"yy"], "events 0..1", "2 pieces of 3 bytes"),
        (
            [*LINES[:3], b"\0\0x", *LINES[4:6]],
            "events 0..1",
            "2 records, 1 piece of 1 byte and 2 NUL bytes",
        ),
    ],
)
def test_it_is_told_in_words(log: list[bytes], kept: str, aside: str) -> None:
    found = survey(joined(log))
    assert (found.describe_kept(), found.describe_aside()) == (kept, aside)


def test_a_rule_of_the_store_shortens_what_is_kept() -> None:
    found = survey(LOG)
    found.end_before(4, "it is so")
    assert (found.events, found.why, found.only_torn) == (4, "it is so", False)
    assert kept(found) == joined(LINES[1:5])
    aside = [(piece.seq, reason) for piece, reason, _ in found.aside()]
    assert aside[0] == (4, "it is so")
    assert [seq for seq, _ in aside] == list(range(4, 11))
    assert found.mark is None


@pytest.mark.parametrize("change", [b"more\n", None])
def test_a_log_that_changes_while_it_is_read_is_refused(change: bytes | None) -> None:
    stream = io.BytesIO(joined([*LINES[:3], *LINES[4:]]))
    found = Survey(stream, "log.jsonl", Limits())
    stream.seek(len(LINES[0]) + 3)
    stream.write(b"#" if change is None else change)
    with pytest.raises(LogRefused, match="changed while it was read"):
        list(found.aside())


def test_what_is_appended_meanwhile_is_not_looked_at() -> None:
    stream = io.BytesIO(joined([*LINES[:3], *LINES[4:7]]))
    found = Survey(stream, "log.jsonl", Limits())
    stream.seek(0, io.SEEK_END)
    stream.write(joined(LINES[7:]))
    assert [piece.seq for piece, *_ in found.aside()] == [3, 4, 5]


def test_a_zstd_log_is_told_by_frames() -> None:
    frames = [frame(line + b"\n") for line in LINES]
    frames[5] = frames[5][:-1] + b"?"
    found = survey(b"".join(frames), "log.zstd")
    assert found.events == 4
    assert found.defect is not None
    assert (found.defect.frame, found.defect.offset) == (5, sum(map(len, frames[:5])))
    assert found.mark is not None
    assert (found.mark.start.frames, found.mark.events) == (4, 3)
