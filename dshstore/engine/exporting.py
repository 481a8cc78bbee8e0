"""Logs out: a session's lines as they came in, byte for byte, plain or as zstd frames."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from dshstore.db import Database
from dshstore.engine.read import SessionRow, stored_events
from dshstore.errors import WriteFailed
from dshstore.formats.dsh import frames, rows

#: Lines are given out, and put into zstd frames, in pieces of about this many bytes.
_PIECE = 1024 * 1024


def log_pieces(database: Database, session: SessionRow, *, zstd: bool = False) -> Iterator[bytes]:
    """The log of a session in pieces: the header line first, then whole lines.

    With `zstd` each piece is one zstd frame, the header alone in the first, as the format wants.
    """
    for piece in chain([session.header_line + b"\n"], line_pieces(database, session)):
        yield frames.frame(piece) if zstd else piece


def line_pieces(database: Database, session: SessionRow, first: int = 0) -> Iterator[bytes]:
    """The lines of the events from seq `first` on (which begins a row), in pieces."""
    lines: list[bytes] = []
    size = 0
    for event in stored_events(database, session, first):
        line = rows.log_lines(event, session.format_version)
        lines.append(line)
        size += len(line)
        if size >= _PIECE:
            yield b"".join(lines)
            lines, size = [], 0
    if lines:
        yield b"".join(lines)


def write_pieces(pieces: Iterable[bytes], path: Path) -> None:
    """Write a log to a file that is whole or not there, or into a pipe or device that is.

    A link stays, and the file that it names is written. Raises WriteFailed.
    """
    with writing(path) as out:
        out.writelines(pieces)


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """What is written here is at `path` when all of it is; see `write_pieces`."""
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as out:
                yield out
            return
        place = path.resolve()
        partial = place.with_name(f"{place.name}.{os.getpid()}.tmp")
        try:
            with partial.open("xb") as out:
                yield out
            partial.replace(place)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise WriteFailed(f"{path}: cannot be written: {error.strerror or error}") from error
