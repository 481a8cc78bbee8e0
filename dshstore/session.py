"""One session of a store: what the model sees in it, and its log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from dshstore.db import Database
from dshstore.engine import exporting, read, repair, requesting, timing, transcript, why
from dshstore.engine.derive import parse_message
from dshstore.engine.requesting import Request
from dshstore.errors import UnknownEvent
from dshstore.formats.dsh import rows
from dshstore.model import MAX_SAFE


class Difference(msgspec.Struct, frozen=True):
    """What changed on a surface: messages by the seqs of their events, in surface order.

    A message that changed (its images were left out) is in both.
    """

    left: dict[int, Any]
    came: dict[int, Any]


class Session:
    """A session as it stands in the store, for reading; `Store.session` gives one.

    It follows the session: what another process appends is seen by the next call.
    """

    def __init__(self, database: Database, row: read.SessionRow) -> None:
        self._database = database
        self._found = row

    @property
    def _row(self) -> read.SessionRow:
        return read.reload(self._database, self._found)

    def __repr__(self) -> str:
        return f"<Session {self.session_id} v{self.format_version} events={self.next_seq}>"

    @property
    def session_id(self) -> str:
        """The session's id, as its log states it."""
        return self._found.session_id

    @property
    def format_version(self) -> int:
        """The log format of this generation, 0 to 4."""
        return self._found.format_version

    @property
    def next_seq(self) -> int:
        """The number of events, inherited ones included: the seq that the next one gets."""
        return self._row.next_seq

    @property
    def surface(self) -> list[int]:
        """The seqs of the events that the model sees now, in order."""
        return read.surface(self._database, self._row)

    def surface_at(self, seq: int) -> list[int]:
        """The surface as it was after event `seq`. Raises EventNotFound."""
        return read.surface(self._database, self._row, seq)

    def messages(self, at: int | None = None, *, allow_unknown: bool = False) -> list[Any]:
        """The messages that the model sees now, or saw after event `at`, oldest first.

        Raises UnknownEvent when the log holds a required event of unknown type (so that what the
        model saw cannot be told) unless `allow_unknown`; EventNotFound for `at`.
        """
        found = self.messages_json(at, allow_unknown=allow_unknown)
        return [parse_message(message) for message in found]

    def messages_json(
        self, at: int | None = None, *, allow_unknown: bool = False
    ) -> Iterator[bytes]:
        """As `messages`, each as JSON in the very bytes of the log.

        Nothing looks at most of them: text that is not UTF-8, as a writer of plain SQL can leave
        it, is given as it stands.
        """
        return read.messages(self._database, self._row, at, allow_unknown=allow_unknown)

    def first_unknown(self, at: int | None = None) -> UnknownEvent | None:
        """The event, up to `at`, for which `messages` refuses the log; None when it does not."""
        return read.first_unknown(self._database, self._row, at)

    def diff(self, before: int, after: int, *, allow_unknown: bool = False) -> Difference:
        """Which messages left what the model sees, and which came, from one event to another.

        Raises as `messages` does.
        """
        then, now = (
            {
                seq: message
                for seq, message in read.messages_by_seq(
                    self._database, self._row, at, allow_unknown=allow_unknown
                )
                if message is not None
            }
            for at in (before, after)
        )
        return Difference(
            left={
                seq: parse_message(message)
                for seq, message in then.items()
                if now.get(seq) != message
            },
            came={
                seq: parse_message(message)
                for seq, message in now.items()
                if then.get(seq) != message
            },
        )

    def request(self, at: int | None = None, *, allow_unknown: bool = False) -> Request:
        """The whole model request as it was after event `at`, or is now.

        Raises as `messages` does.
        """
        return requesting.build_request(self._database, self._row, at, allow_unknown=allow_unknown)

    def events(
        self, first: int = 0, last: int = MAX_SAFE, type: str | None = None
    ) -> Iterator[dict[str, Any]]:
        """The events `first` to `last`, both included, as the log has them: one dict an event.

        Token runs are expanded, cited ranges too, streams are in place; `type` keeps one type.
        """
        stored = read.stored_events(self._database, self._row, first, last, type)
        return read.logical_events(stored, self.format_version, first)

    def lines(
        self, first: int = 0, last: int = MAX_SAFE, type: str | None = None
    ) -> Iterator[bytes]:
        """The log lines (with their LF) of the rows that hold these events, as they came in."""
        for event in read.stored_events(self._database, self._row, first, last, type):
            yield rows.log_lines(event, self.format_version)

    def log(self, *, zstd: bool = False) -> Iterator[bytes]:
        """The whole log in pieces, byte for byte as it came in; `zstd`: as frames."""
        return exporting.log_pieces(self._database, self._row, zstd=zstd)

    def closers(self) -> list[dict[str, Any]]:
        """The events that would close an interrupted turn; none when no turn is open."""
        return repair.find_closers(self._database, self._row)

    def attempts(self, min_gap: int = timing.MIN_GAP) -> Iterator[timing.AttemptTiming]:
        """When the tokens of each attempt of a model came, oldest first, failed ones included.

        The `gaps` of an attempt are its silences of more than `min_gap` ms.
        """
        return timing.read_timings(self._database, self._row, min_gap)

    def stream(self, seq: int) -> list[dict[str, Any]]:
        """The timed chunks of the model attempt that is stored with event `seq`, oldest first.

        Those of the run of chunk events that it belongs to (formats v0, v1), or of the stream of
        a settlement; none for any other event. Raises EventNotFound, and StreamRefused for what
        is no stream.
        """
        row = self._row
        read.check_seq(row, seq)
        return read.stream_chunks(next(read.stored_events(self._database, row, seq)), row)

    def transcript(
        self, at: int | None = None, *, last: int | None = None, first: int = 0
    ) -> Iterator[transcript.TranscriptEntry]:
        """What a person reads of the log, in its order: now, or as it was after event `at`.

        It begins with event `first`, or, with `last`, so many messages before the end. Raises
        EventNotFound.
        """
        return transcript.read_transcript(self._database, self._row, at, last, first)

    def transcript_pages(self, size: int, at: int | None = None) -> list[int]:
        """The events with which pages of `size` transcript entries begin. Raises EventNotFound."""
        return transcript.page_starts(self._database, self._row, size, at)

    def why(self, seq: int) -> why.Explanation:
        """What event `seq` was made of, and what stands for it now. Raises EventNotFound."""
        return why.explain(self._database, self._row, seq)
