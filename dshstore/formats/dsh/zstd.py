"""One zstd frame at a time, decoded in small steps.

A zstd log is a plain concatenation of frames, and a one-shot decompressor silently stops after
the first; 12 KB may decode to 400 MB. So the structure of each frame is walked here (RFC 8878,
3.1.1): that tells where it ends and, as a block decodes to at most 128 KiB, bounds what comes out
when a few blocks are fed. What a log makes of frames and of their faults is for `frames`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Protocol

import zstandard

MAGIC = b"\x28\xb5\x2f\xfd"
CHUNK = 1 << 20
_BLOCK_MAX = 128 << 10
#: Blocks that are decoded in one step: at most 1 MiB comes out.
_BLOCKS_PER_STEP = 8
#: A frame's content waits for its checksum in `held`, as long as it is not larger than this.
_HOLD = 64 << 20
#: How much is searched at once for the next frame.
_SEARCH = 16 << 20


class Readable(Protocol):
    """What a log is read from: a binary file, standard input."""

    def read(self, size: int, /) -> bytes: ...


class Fault(Exception):
    """What is wrong with a frame."""


class Source:
    """A stream that can be looked ahead in; `offset` is that of the next byte."""

    def __init__(self, stream: Readable) -> None:
        self._stream, self._buffer, self._at, self.offset = stream, b"", 0, 0

    def peek(self, size: int) -> bytes:
        """The next `size` bytes, fewer at the end; they stay to be taken."""
        ahead = self._buffer[self._at : self._at + size]
        have = len(ahead)
        if have == size:
            return ahead
        pieces = [ahead] if ahead else []
        while have < size and (piece := self._stream.read(CHUNK)):
            pieces.append(piece)
            have += len(piece)
        self._buffer, self._at = b"".join(pieces), 0
        return self._buffer[:size]

    def take(self, size: int) -> bytes:
        data = self.peek(size)
        self._at += len(data)
        self.offset += len(data)
        return data

    def put_back(self, data: bytes) -> None:
        self._buffer, self._at = data + self._buffer[self._at :], 0
        self.offset -= len(data)


class Frame:
    """One frame of a zstd log; `finished` says that it ended, `raw` is what it took, if kept."""

    def __init__(
        self,
        source: Source,
        digest: hashlib._Hash,
        decompressor: zstandard.ZstdDecompressor,
        *,
        keep: bool,
    ) -> None:
        self.offset, self.finished = source.offset, False
        self.raw: list[bytes] = []
        self._source, self._digest, self._decompressor = source, digest, decompressor
        self._keep = keep

    def contents(self) -> Iterator[bytes]:
        """What it decodes to, in pieces of at most 1 MiB; hashes its bytes. Raises `Fault`."""
        head = self._source.peek(len(MAGIC))
        if is_skippable(head):
            raise Fault("a skippable zstd frame, which a log does not have")
        if not MAGIC.startswith(head):
            raise Fault("no zstd frame begins here")
        decoder = self._decompressor.decompressobj()
        passed, tail = False, b""
        for step in self._steps():
            self._digest.update(step)
            passed = passed or (tail + step).find(MAGIC, 0 if tail else 1) >= 0
            tail = step[-len(MAGIC) + 1 :]
            try:
                content = decoder.decompress(step)
            except zstandard.ZstdError as error:
                reason = str(error).removeprefix("zstd decompressor error: ")
                raise Fault(f"a broken zstd frame: {reason}") from None
            if content:
                yield content
        if self.finished and not decoder.eof:
            raise Fault("a broken zstd frame: it goes on after its last block")
        if passed and not self.finished:
            raise Fault("a broken zstd frame: it runs into the next one")

    def _steps(self) -> Iterator[bytes]:
        """Its bytes, a few whole blocks at a time; at last those of an unfinished block."""
        step: list[bytes] = []

        def take(size: int) -> bytes:
            data = self._source.take(size)
            step.append(data)
            if self._keep:
                self.raw.append(data)
            if len(data) < size:
                raise EOFError
            return data

        try:
            descriptor = take(len(MAGIC) + 1)[-1]
            if descriptor & 8:
                raise Fault("a broken zstd frame: a reserved bit is set")
            single = descriptor >> 5 & 1
            take(1 - single + (0, 1, 2, 4)[descriptor & 3] + (single, 2, 4, 8)[descriptor >> 6])
            while not self.finished:
                for _ in range(_BLOCKS_PER_STEP):
                    block = int.from_bytes(take(3), "little")
                    last, kind, size = block & 1, block >> 1 & 3, block >> 3
                    if kind == 3 or size > _BLOCK_MAX:
                        raise Fault("a broken zstd frame: not a block")
                    take(1 if kind == 1 else size)
                    if last:
                        take(descriptor & 4)  # the flag of the checksum is its size
                        self.finished = True
                        break
                yield b"".join(step)
                step.clear()
        except EOFError:
            yield b"".join(step)


def held(contents: Iterator[bytes]) -> Iterator[bytes]:
    """The contents of a frame, given out when it turned out good, or is too large to wait."""
    held: list[bytes] = []
    size = 0
    for content in contents:
        held.append(content)
        size += len(content)
        if size > _HOLD:
            break
    yield from held
    yield from contents


def is_skippable(head: bytes) -> bool:
    return head[1:4] == b"\x2a\x4d\x18" and head[0] >> 4 == 5


def bytes_to_next_frame(source: Source) -> int:
    """How many bytes of the source come before the next magic number (not the one here)."""
    ahead = source.peek(_SEARCH)
    at = ahead.find(MAGIC, 1)
    if at > 0:
        return at
    return len(ahead) if len(ahead) < _SEARCH else len(ahead) - len(MAGIC) + 1
