"""Where the events of a log stand after it was numbered anew, and what they say of each other.

The members that hold seqs are a closed list (format notes v0-v4, section 7.2); everything else
that looks like a seq stays as it is, such as the numbers in the text that a title was asked for.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from itertools import repeat
from typing import Any, Final

from dshstore.engine.migration.shapes import Misfit
from dshstore.jsontext import dump
from dshstore.model import Event
from dshstore.streams.records import safe_integer

_GONE = -1


class SeqMap:
    """The new seq of each event of the source; eight bytes an event."""

    def __init__(self) -> None:
        self._new = array("q")

    def __len__(self) -> int:
        return len(self._new)

    def pass_over(self, events: int) -> None:
        """Note that so many more events were read; they have no new seq yet."""
        self._new.extend(repeat(_GONE, events))

    def place(self, seq: int, new: int) -> None:
        """Note where event `seq` stands now."""
        self._new[seq] = new

    def new(self, seq: Any) -> int:
        """Where the event stands now. Raises `Misfit` for one that stands nowhere."""
        old = safe_integer(seq)
        new = self._new[old] if old is not None and 0 <= old < len(self._new) else _GONE
        if new == _GONE:
            raise Misfit(f"names {dump(seq)}, which has no seq in the new log (no token delta has)")
        return new

    def renumber(self, event: Event) -> Event:
        """The event with every seq in it as it is now, its keys in the order of a log.

        Raises `Misfit` when it names one that has no place in the new log.
        """
        kind, data = event["type"], event["data"]
        done: dict[str, Any] = {
            "type": kind,
            "seq": self.new(event["seq"]),
            "time": event["time"],
            "data": data,
        }
        try:
            if kind in _PAYLOADS:
                done["data"] = _PAYLOADS[kind](data, self)
            if "ignorable" in event:
                done["ignorable"] = event["ignorable"]
            if "sourceEventSeqs" in event:
                done["sourceEventSeqs"] = self.all(event["sourceEventSeqs"], "sourceEventSeqs")
            if "surfaceOp" in event:
                op = event["surfaceOp"]
                done["surfaceOp"] = op if op == "append" else self.ends(op, "surfaceOp")
        except Misfit as misfit:
            misfit.path = f"{kind}: {misfit.path}"
            raise
        return done

    def one(self, seq: Any, member: str) -> int:
        """Where the event stands now that this member names."""
        try:
            return self.new(seq)
        except Misfit as misfit:
            misfit.path = member
            raise

    def all(self, seqs: Any, member: str) -> list[int]:
        """Where the events stand now that this member names."""
        if not isinstance(seqs, list):
            raise _misfit(member, "must be an array")
        return [self.one(seq, member) for seq in seqs]

    def ends(self, span: Any, member: str) -> dict[str, Any]:
        """The span with its two ends where they stand now."""
        if not isinstance(span, Mapping) or not {"start", "end"} <= span.keys():
            raise _misfit(member, "must have a start and an end")
        ends = {end: self.one(span[end], f"{member}.{end}") for end in ("start", "end")}
        return {**({"op": span["op"]} if "op" in span else {}), **ends}


def _misfit(member: str, reason: str) -> Misfit:
    misfit = Misfit(reason)
    misfit.path = member
    return misfit


def _renumber_done(data: dict[str, Any], seqs: SeqMap) -> dict[str, Any]:
    if "sourceEventSeq" not in data:
        return data
    return {**data, "sourceEventSeq": seqs.one(data["sourceEventSeq"], "sourceEventSeq")}


def _renumber_shadowed(data: dict[str, Any], seqs: SeqMap) -> dict[str, Any]:
    return {
        **data,
        "shadowedRange": seqs.ends(data["shadowedRange"], "shadowedRange"),
        "shadowedSeqs": seqs.all(data["shadowedSeqs"], "shadowedSeqs"),
    }


def _renumber_titled(data: dict[str, Any], seqs: SeqMap) -> dict[str, Any]:
    return {**data, "messageSeqs": seqs.all(data["messageSeqs"], "messageSeqs")}


_PAYLOADS: Final[Mapping[str, Callable[[dict[str, Any], SeqMap], dict[str, Any]]]] = {
    "command/done": _renumber_done,
    "compaction/prune": _renumber_shadowed,
    "compaction/summary": _renumber_shadowed,
    "session/title": _renumber_titled,
    "session/title-llm-request": _renumber_titled,
}
