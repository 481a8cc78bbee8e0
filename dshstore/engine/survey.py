"""What of a broken log can become a session, and what has to be set aside.

The sound part is the chain of whole records about which the log leaves no choice: dense from
event 0, in the order of the log, each as the store takes it. Padding, pieces that are no record,
and exact repeats of a record are stepped over. It ends at the first seq that is missing or whose
record cannot be taken, before the first seq that stands twice with different content, and where
another header begins. Whether it keeps the rules of the surface is for the store to say:
`end_before` shortens it.

Takes some 40 bytes of memory for a record.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from enum import IntEnum

from dshstore.engine.branching import number_branches
from dshstore.engine.recording import Mark
from dshstore.engine.scanning import Piece, Scan
from dshstore.engine.sources import Rewindable
from dshstore.errors import LogRefused
from dshstore.formats.dsh.limits import Limits
from dshstore.model import Block

#: The seq of a record that claims none.
_NONE = -(2**63)

#: Lines of the sound part are given out in blocks of about this many bytes.
_BLOCK = 1 << 20


class _State(IntEnum):
    """What a record is to the chain."""

    TAKEN = 0
    REPEAT = 1
    DOUBLED = 2
    LOOSE = 3
    FOREIGN = 4
    TORN = 5


class Survey:
    """A log that was read through.

    `header` is None for one that has none, `refusal` says why. `defect` is the first piece that
    does not belong into a log (a torn end does), `well_formed` counts the events that read whole.
    Raises LogRefused as `Scan` does.
    """

    def __init__(self, stream: Rewindable, name: str, limits: Limits) -> None:
        self._stream, self._name, self._limits = stream, name, limits
        self._states = bytearray()
        self._seqs, self._counts = array("q"), array("q")
        # of the records in the chain: which one, its first seq, its line, the hash of its bytes
        self._ordinals, self._firsts = array("q"), array("q")
        self._lines, self._hashes = array("q"), array("q")
        self._next = 0
        self._ended = ""  # why the chain goes no further
        self._foreign = ""  # why nothing belongs to this log any more
        self._doubled: int | None = None
        self._rule: tuple[int, str] | None = None
        self._debris = self._debris_size = self._padding_size = self.well_formed = 0
        self.defect: Piece | None = None
        scan = Scan(stream, name, limits)
        self.reader, self.header, self.refusal = scan.reader, scan.header, scan.refusal
        self._mark = scan.mark
        for piece in scan:
            if piece.kind == "record":
                self._take(scan.check(piece) if self._is_next(piece) else piece)
            else:
                self._set_aside(piece)
            scan.events, scan.sound = self._next, self.defect is None
            scan.going_on = not self._is_over
        self._checked_lines = scan.checked_lines

    # -- what was found --

    @property
    def events(self) -> int:
        """How many events the sound part has."""
        ends = [self._next, self._doubled, self._rule[0] if self._rule else None]
        return min(end for end in ends if end is not None)

    @property
    def why(self) -> str:
        """Why the sound part goes no further; empty when nothing follows it."""
        events = self.events
        if self._rule and self._rule[0] == events:
            return self._rule[1]
        if self._doubled == events:
            return f"seq {events} stands twice, with different content"
        return self._ended or self._foreign

    @property
    def mark(self) -> Mark | None:
        """From where the log can be read on, if that is in its sound part."""
        return self._mark if self._mark.events <= self.events else None

    @property
    def only_torn(self) -> bool:
        """Whether the log has no defect but an unfinished end."""
        return self.defect is None and self.events == self._next

    @property
    def set_aside(self) -> int:
        """How many records have to be set aside."""
        return len(self._states) - bisect_left(self._firsts, self.events)

    def end_before(self, seq: int, why: str) -> None:
        """The store does not take event `seq`: the sound part ends before it."""
        self._rule = seq, why

    def describe_kept(self) -> str:
        """What the session would have, for a sentence."""
        events = self.events
        return f"events 0..{events - 1}" if events > 1 else "event 0" if events else "no event"

    def describe_aside(self) -> str:
        """What would be set aside, for a sentence."""
        parts = [
            _counted(self.set_aside, "record"),
            f"{_counted(self._debris, 'piece')} of {_counted(self._debris_size, 'byte')}",
            _counted(self._padding_size, "NUL byte"),
        ]
        return _enumerated([part for part in parts if not part.startswith("0 ")])

    def describe_branches(self) -> str:
        """How the log branches, as a sentence; empty when it does not."""
        _, sizes = self._branches()
        if not sizes:
            return ""
        numbers = [str(sizes[branch]) for branch in sorted(sizes)]
        listed = _enumerated(numbers if len(numbers) <= 8 else [*numbers[:7], "..."])
        return (
            f"from event {self.events} on the log has {len(numbers)} continuations, of {listed} "
            "events; each is set aside whole, as a branch"
        )

    # -- reading it again --

    def kept(self) -> Iterator[Block]:
        """The lines of the sound part, without the header."""
        left = bisect_left(self._firsts, self.events)
        first: Piece | None = None
        lines: list[bytes] = []
        size = 0
        for ordinal, piece in self._again() if left else ():
            if ordinal is None or self._states[ordinal] != _State.TAKEN:
                continue
            here = piece.line, piece.frame
            if first and (size > _BLOCK or here != ((first.line or 0) + len(lines), first.frame)):
                yield _block(first, lines)
                first = None
            if first is None:
                first, lines, size = piece, [], 0
            lines.append(piece.raw)
            size += len(piece.raw)
            left -= 1
            if not left:
                break
        if first:
            yield _block(first, lines)

    def aside(self) -> Iterator[tuple[Piece, str, int | None]]:
        """All that is not in the sound part, each with the reason and its branch, if any.

        Raises LogRefused when the log is not what it was.
        """
        branches, _ = self._branches()
        events, why = self.events, self.why
        for ordinal, piece in self._again():
            if ordinal is None:
                yield piece, piece.fault or "", None
                continue
            state, seq = self._states[ordinal], self._seqs[ordinal]
            if state == _State.TAKEN and seq < events:
                continue
            reason = piece.fault or self._reason(ordinal, state, events, why)
            record = piece._replace(seq=None if seq == _NONE else seq, events=self._counts[ordinal])
            yield record, reason, (branches[ordinal] or None) if branches else None

    def _again(self) -> Iterator[tuple[int | None, Piece]]:
        """Every piece once more, records with their numbers."""
        size, lines = self.reader.size, self._checked_lines
        scan = Scan(self._stream, self._name, self._limits, size, lines)
        ordinal = -1
        for piece in scan:
            if piece.kind != "record":
                yield None, piece
                continue
            ordinal += 1
            if ordinal == len(self._states):
                break
            yield ordinal, piece
        if scan.reader.sha256 != self.reader.sha256:
            raise LogRefused("the log changed while it was read", path=self._name)

    def _reason(self, ordinal: int, state: int, events: int, why: str) -> str:
        seq = self._seqs[ordinal]
        at = bisect_right(self._firsts, seq) - 1
        if state == _State.REPEAT:
            return f"repeats line {self._lines[at]}"
        if state == _State.DOUBLED:
            return f"seq {seq} stands on line {self._lines[at]} too, with different content"
        if state == _State.FOREIGN:
            return self._foreign
        if self.header is None:
            return "the log has no session header"
        return why if seq == events else f"not in the sound part, which ends before it: {why}"

    # -- reading it first --

    def _set_aside(self, piece: Piece) -> None:
        if piece.kind == "padding":
            self._padding_size += len(piece.raw)
        else:
            self._debris += 1
            self._debris_size += len(piece.raw)
        if piece.header and not self._foreign:
            self._foreign = f"line {piece.line} is a second header: another log follows"
        if not piece.torn:
            self._find_defect(piece)

    def _take(self, record: Piece) -> None:
        state = self._state_of(record)
        ordinal = len(self._states)
        self._states.append(state)
        self._seqs.append(_NONE if record.seq is None else record.seq)
        self._counts.append(record.events)
        if record.fault is None:
            self.well_formed += record.events
        if state == _State.TAKEN:
            self._ordinals.append(ordinal)
            self._firsts.append(self._next)
            self._lines.append(record.line or 0)
            self._hashes.append(hash(record.raw))
            self._next += record.events
        if not record.torn and (record.apart or state != _State.TAKEN):
            self._find_defect(record)

    @property
    def _is_over(self) -> bool:
        """Whether the chain goes no further."""
        return bool(self._ended or self._foreign) or self.header is None

    def _is_next(self, record: Piece) -> bool:
        return record.seq == self._next and not self._is_over

    def _state_of(self, record: Piece) -> _State:
        seq = record.seq
        if record.torn:
            return _State.TORN
        if self._foreign:
            return _State.FOREIGN
        if self.header is None or seq is None or seq < 0:
            return _State.LOOSE
        if seq < self._next:
            at = bisect_right(self._firsts, seq) - 1
            if self._firsts[at] == seq and self._hashes[at] == hash(record.raw):
                return _State.REPEAT
            first = self._firsts[at]
            self._doubled = first if self._doubled is None else min(self._doubled, first)
            return _State.DOUBLED
        if not self._ended:
            if seq == self._next and record.fault is None:
                return _State.TAKEN
            self._ended = (
                f"event {seq} on line {record.line} cannot be taken: {record.fault}"
                if seq == self._next
                else f"seq {seq} on line {record.line}, expected {self._next}: events are missing"
            )
        return _State.LOOSE

    def _find_defect(self, piece: Piece) -> None:
        if self.defect is None:
            self.defect = piece._replace(raw=b"")

    def _branches(self) -> tuple[array[int], Counter[int]]:
        """The branch of every record (0: none), and how many events each has."""
        none: tuple[array[int], Counter[int]] = array("q"), Counter()
        if self._doubled is None or self._doubled != self.events:
            return none
        member = {_State.TAKEN, _State.REPEAT, _State.DOUBLED, _State.LOOSE}
        ordinals = [
            ordinal
            for ordinal, state in enumerate(self._states)
            if state in member and self._seqs[ordinal] >= self.events
        ]
        found = number_branches(
            [self._seqs[n] for n in ordinals],
            [self._counts[n] for n in ordinals],
            ordinals,
            self.events,
        )
        branches = array("q", bytes(8 * len(self._states)))
        sizes: Counter[int] = Counter()
        for ordinal, branch in zip(ordinals, found, strict=True):
            branches[ordinal] = branch
            if branch:
                sizes[branch] += self._counts[ordinal]
        return (branches, sizes) if len(sizes) > 1 else none


def _block(first: Piece, lines: list[bytes]) -> Block:
    return Block(b"\n".join([*lines, b""]), first.line or 0, first.offset, first.frame)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _enumerated(parts: list[str]) -> str:
    if len(parts) < 2:
        return "".join(parts) or "nothing"
    return f"{', '.join(parts[:-1])} and {parts[-1]}"
