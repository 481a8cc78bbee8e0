"""What the layers hand to each other: frozen structs, no behaviour, no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

#: A logical event as the log has it: `type, seq, time, data` and, where present, `ignorable`,
#: `sourceEventSeqs` (expanded) and `surfaceOp`.
Event = Mapping[str, Any]

#: Log format versions that this release reads.
FORMAT_VERSIONS = range(0, 5)

#: The format version of sessions that dshstore itself begins.
CURRENT_FORMAT = 4

#: JavaScript's largest safe integer: seqs, counts and times stay within it.
MAX_SAFE = 2**53 - 1

#: Seconds that an appended event waits for others to be committed with.
MAX_DELAY = 0.2


class Block(msgspec.Struct, frozen=True, gc=False):
    """A piece of a log: whole lines as they stand in it, the last LF included.

    `line` is the number of the first line (from 1, the header is line 1). `offset` is the byte
    offset of the first line in a plain log, and of the frame in which every line of the block
    begins (number `frame`, from 0) in a zstd log; `frame` is None for a plain log.
    """

    data: bytes
    line: int
    offset: int
    frame: int | None = None


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """The first line of a log.

    `text` is its JSON as every SQLite can read it; `raw` is the line's own bytes (no LF) where
    `text` differs from them, else None. `seed_length` is the inherited cut of v0/v1 (None when
    the key is absent); v2+ say `seeded` here and mark the cut by an event. `notes` are
    sentences about what is odd but harmless.
    """

    version: int
    session_id: str
    created_at: int
    seeded: bool
    seed_length: int | None = None
    cwd: str | None = None
    parent_session: str | None = None
    origin: str | None = None
    delegation_depth: int = 0
    agent_preset: str | None = None
    text: str
    raw: bytes | None = None
    notes: tuple[str, ...] = ()


class StreamPart(msgspec.Struct, frozen=True, gc=False):
    """The packed part of one stored event: one row of `streams`.

    `at` None: `body` is the zstd-compressed log lines of a run (each with its LF), `size` their
    bytes. Otherwise `body` is the zstd-compressed JSON text of the `stream` member that was cut
    out of `data`, `at` the byte offset (UTF-8) of the `null` left in its place, `size` the bytes
    of that text. Times are epoch ms of the first and last delta; `usage` is the JSON text of the
    attempt's last usage chunk and `finish` the kind of its last finish chunk, None without one.
    """

    at: int | None
    size: int
    body: bytes
    first_time: int | None
    last_time: int | None
    usage: str | None = None
    finish: str | None = None


class StoredEvent(msgspec.Struct, frozen=True, gc=False):
    """One row of `events`, with its row of `streams` if it has one.

    `source_event_seqs` and `surface_op` are canonical JSON text, None when absent; `ignorable`
    is 1 or None; `raw` is the log line (no LF) where the other columns cannot rebuild it.
    `line`, `offset` and `frame` say where in the log it stands (0, 0, None for no log).
    """

    seq: int
    count: int
    type: str
    time: int
    data: str
    source_event_seqs: str | None = None
    surface_op: str | None = None
    ignorable: int | None = None
    raw: bytes | None = None
    stream: StreamPart | None = None
    line: int = 0
    offset: int = 0
    frame: int | None = None


class Replacement(msgspec.Struct, frozen=True):
    """One committed replace: the event `seq` took the place of `shadowed_seqs`."""

    seq: int
    start: int
    end: int
    shadowed_seqs: tuple[int, ...]
