"""Where logs are read from: files and streams.

What keeps one from being read is a fault of the log, never of the store that it goes into; so it
is told here, before anything below could take it for an error of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO, Protocol

from dshstore.errors import LogRefused, WriteFailed

#: Bytes that are copied at once.
_CHUNK = 1 << 20

#: Told, while a log is read, how many of its bytes have been read.
Progress = Callable[[int], None]


class Rewindable(Protocol):
    """What a log is read from; one that is seekable can be read from its beginning again."""

    def read(self, size: int, /) -> bytes: ...

    def seekable(self) -> bool: ...

    def seek(self, offset: int, /) -> int: ...


class Source:
    """A binary stream that holds a log. Raises LogRefused where the stream raises an OSError."""

    def __init__(self, stream: BinaryIO, name: str, progress: Progress | None = None) -> None:
        self._stream, self._name, self._progress = stream, name, progress

    def read(self, size: int, /) -> bytes:
        with _reading(self._name):
            data = self._stream.read(size)
            if self._progress:
                self._progress(self._stream.tell())
            return data

    def seek(self, offset: int, /) -> int:
        with _reading(self._name):
            return self._stream.seek(offset)

    def seekable(self) -> bool:
        return self._stream.seekable()


@contextmanager
def open_log(
    path: str, progress: Progress | None = None, *, twice: bool = False
) -> Iterator[Source]:
    """The log in a file, to be read alone, and so that it can be read `twice` if need be."""
    with ExitStack() as opened:
        with _reading(path):
            stream = opened.enter_context(Path(path).open("rb"))
        yield opened.enter_context(from_here(stream, path, progress, twice=twice))


@contextmanager
def from_here(
    stream: BinaryIO, name: str, progress: Progress | None = None, *, twice: bool = False
) -> Iterator[Source]:
    """The log in the rest of a stream.

    One of which a part has been read, or that cannot be read `twice`, is copied to a temporary
    file first.
    """
    source = Source(stream, name, progress)
    if stream.tell() if stream.seekable() else twice:
        with TemporaryFile() as copy:
            try:
                while data := source.read(_CHUNK):
                    copy.write(data)
                copy.seek(0)
            except OSError as error:
                raise WriteFailed(f"a temporary copy of {name}: {error.strerror}") from error
            yield Source(copy, name)
    else:
        yield source


@contextmanager
def _reading(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise LogRefused(error.strerror or str(error), path=name) from error
