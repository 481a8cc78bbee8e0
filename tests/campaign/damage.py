"""Sound logs, and damage to them: what a crash, a bad copy or a script may do to a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from hypothesis import Phase, given, settings

from dshstore.formats.dsh import frames
from tests.logs import write_log
from tests.strategies import SampleSession, sessions

ROOT = Path(__file__).parents[2]

#: Larger logs would only make each run longer.
LARGEST = 48 << 10


class SoundLog(NamedTuple):
    name: str
    data: bytes


def sound_logs(generated: int) -> list[SoundLog]:
    """The sample logs, the reference logs when they are here, and generated ones; all plain."""
    folders = [ROOT / "fixtures" / "logs", ROOT / ".." / "shared" / "corpus"]
    files = [path for folder in folders for path in sorted(folder.rglob("*.jsonl"))]
    small = [path for path in files if path.stat().st_size <= LARGEST and path.stem != "expected"]
    found = [SoundLog(path.name, path.read_bytes()) for path in small]
    return found + [
        SoundLog(f"generated-{number}.jsonl", write_log(*sample))
        for number, sample in enumerate(generate(generated))
    ]


def generate(count: int) -> list[SampleSession]:
    """So many sessions, always the same ones."""
    found: list[SampleSession] = []

    @settings(max_examples=count, derandomize=True, database=None, phases=[Phase.generate])
    @given(sessions())
    def collect(sample: SampleSession) -> None:
        found.append(sample)

    collect()
    return found


def pack(log: SoundLog, random: Random) -> SoundLog:
    """The log as frames of one or several lines, now and then cut within a line."""
    lines = log.data.split(b"\n")
    lines = [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    pieces: list[bytes] = []
    size = random.choice([1, 1, 3, 40])
    for at in range(0, len(lines), size):
        piece = b"".join(lines[at : at + size])
        if random.random() < 0.1:
            cut = random.randrange(len(piece))
            pieces += [piece[:cut], piece[cut:]]
        else:
            pieces.append(piece)
    return SoundLog(f"{log.name}.zstd", b"".join(map(frames.frame, pieces)))


# -- damage --

Damage = Callable[[Random, bytes], bytes]


def _flip(random: Random, data: bytes) -> bytes:
    at = random.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :]


def _overwrite(random: Random, data: bytes) -> bytes:
    at, size = random.randrange(len(data)), random.choice([1, 2, 5, 300])
    return data[:at] + random.randbytes(len(data[at : at + size])) + data[at + size :]


def _delete(random: Random, data: bytes) -> bytes:
    at, size = random.randrange(len(data)), random.choice([1, 1, 3, 30, 3000])
    return data[:at] + data[at + size :]


#: Bytes that mean something, to JSON or to a reader of lines.
_INSERTED = [b'"', b"{", b"}", b",", b"0", b"\\", b"\n", b"\r\n", b"\xe4", b"\xff\xfe"]
_INSERTED += [b"NaN", b"-", b"1e999", b"\\ud83c", b"\xe2\x80\xa8"]


def _insert(random: Random, data: bytes) -> bytes:
    at = random.randrange(len(data) + 1)
    put = random.choice(_INSERTED)
    return data[:at] + put + data[at:]


def _nest(random: Random, data: bytes) -> bytes:
    """A value far deeper than any log has."""
    at = data.find(b":", random.randrange(len(data))) + 1
    levels = random.choice([400, 995, 1100, 9500, 20_000])
    return data[:at] + b"[" * levels + b"]" * levels + b',"deep":' + data[at:]


def _truncate(random: Random, data: bytes) -> bytes:
    return data[: random.randrange(len(data))]


def _zero(random: Random, data: bytes) -> bytes:
    at, size = random.randrange(len(data)), random.choice([1, 7, 64, 512])
    return data[:at] + bytes(len(data[at : at + size])) + data[at + size :]


def _splice_zeros(random: Random, data: bytes) -> bytes:
    at = random.choice([_line_start(random, data), random.randrange(len(data) + 1)])
    return data[:at] + bytes(random.choice([1, 16, 4096])) + data[at:]


def _lose_line_end(random: Random, data: bytes) -> bytes:
    at = _line_start(random, data)
    return data[: max(0, at - 1)] + data[at:]


def _double_lines(random: Random, data: bytes) -> bytes:
    a, b = sorted((_line_start(random, data), _line_start(random, data)))
    at = random.choice([b, b, _line_start(random, data)])
    return data[:at] + data[a:b] + data[at:]


def _drop_lines(random: Random, data: bytes) -> bytes:
    a, b = sorted((_line_start(random, data), _line_start(random, data)))
    return data[:a] + data[b:]


def _fuse(random: Random, data: bytes) -> bytes:
    """A write was cut, and the writer began that record anew on the same line."""
    at = random.randrange(len(data))
    return data[:at] + data[data.rfind(b"\n", 0, at) + 1 :]


def _interleave(random: Random, data: bytes) -> bytes:
    """A second writer goes on from an earlier place, in turns with the first."""
    at = _line_start(random, data)
    first = data[at:].split(b"\n")[:-1]
    second = [line.replace(b'"time":1', b'"time":2') for line in first]
    mixed = [line for pair in zip(first, second, strict=True) for line in pair]
    return data[:at] + b"".join(line + b"\n" for line in mixed)


def _line_start(random: Random, data: bytes) -> int:
    return data.rfind(b"\n", 0, random.randrange(len(data) + 1)) + 1


DAMAGE: tuple[Damage, ...] = (
    *[_flip] * 3,
    *[_overwrite] * 2,
    *[_delete] * 3,
    *[_insert] * 3,
    _nest,
    _truncate,
    _zero,
    _splice_zeros,
    _lose_line_end,
    _double_lines,
    _drop_lines,
    *[_fuse] * 2,
    _interleave,
)


def damaged_logs(logs: list[SoundLog], seed: int) -> Iterator[SoundLog]:
    """Logs without end, each damaged once to three times, plain or packed, or packed first."""
    random = Random(seed)
    while True:
        log = random.choice(logs)
        packed = random.choice([None, None, "before", "after"])
        if packed == "before":
            log = pack(log, random)
        data = log.data
        for _ in range(random.choice([1, 1, 1, 2, 3])):
            if data:
                data = random.choice(DAMAGE)(random, data)
        log = SoundLog(log.name, data)
        yield pack(log, random) if packed == "after" else log
