"""The work: append messages one by one, read the whole history, and say how large the file is.

Messages are those of a user and of an assistant in turn, about a kilobyte each. Text is all that
is in them, so that every library can hold them in its own way.
"""

from __future__ import annotations

import hashlib
import importlib
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.clock import Clock, Failed
from bench.logs import Prose

SESSION = "benchmark"
ROLES = ("user", "assistant")


class Peer(ABC):
    """One way to use one library on a new file at `path`."""

    def __init__(self, path: str) -> None:
        self.path = path

    @abstractmethod
    def append_all(self, texts: Iterable[str]) -> None:
        """Append messages one after the other, the user's first; all are safe on return."""

    @abstractmethod
    def read_all(self) -> Sequence[Any]:
        """The whole history, as objects that a program can use."""

    @abstractmethod
    def text(self, message: Any) -> str:
        """The text of one message that was read."""

    @abstractmethod
    def close(self) -> None:
        """Close the file."""


class Texts:
    """The messages in order, `size` in all, or as many as fit into `seconds`."""

    def __init__(self, size: int, seconds: float) -> None:
        prose = Prose(7)
        self._pool = [prose.text(prose.number(100, 200)) for _ in range(1000)]
        self._size, self._seconds = size, seconds
        self.count = 0

    def __iter__(self) -> Iterator[str]:
        begun = time.perf_counter()
        while self.count < self._size:
            if self.count % 2 == 0 and time.perf_counter() - begun > self._seconds:
                break
            self.count += 1
            yield self._text(self.count - 1)

    @property
    def given(self) -> Iterator[str]:
        return map(self._text, range(self.count))

    def _text(self, number: int) -> str:
        return f"{number} {self._pool[number % len(self._pool)]}"


def drive(clock: Clock, peer: str, path: str, size: int, seconds: float) -> Any:
    """Append so many messages, or as many as fit into `seconds`, and read them.

    Phases are `append` and `read`; the answer has the number of messages, the bytes of their text
    and those of the file once it is closed.
    """
    module, name = peer.split(":")
    used: Peer = getattr(importlib.import_module(f"{__package__}.{module}"), name)(path)
    texts = Texts(size, seconds)
    with clock("append"):
        used.append_all(texts)
    with clock("read"):
        messages = used.read_all()
    _check(map(used.text, messages), texts.given)
    used.close()
    beside = Path(path).parent.glob(f"{Path(path).name}*")
    file = sum(part.stat().st_size for part in beside)
    return {"count": texts.count, "text": sum(len(t.encode()) for t in texts.given), "file": file}


def _check(found: Iterable[str], expected: Iterable[str]) -> None:
    digests = []
    for side in (found, expected):
        digest = hashlib.sha256()
        for text in side:
            digest.update(f"{len(text)}:{text}".encode())
        digests.append(digest.hexdigest())
    if digests[0] != digests[1]:
        raise Failed("what was read is not what was appended")
