"""One row of events, with its packed part, against itself: damage that shows without the others.

A row is read as any reader would read it. What is told twice (by columns and by the log's line,
by a stream and by the figures beside it) is worked out anew and compared. JSON is compared by its
value: a plain-SQL writer may spell it in another way than this package does.
"""

from __future__ import annotations

from typing import Any

from dshstore.engine.findings import Fault
from dshstore.errors import CorruptStore, StoreError
from dshstore.formats.dsh import rows
from dshstore.formats.dsh.cutting import SETTLEMENTS, unpack
from dshstore.formats.dsh.envelope import CHUNK
from dshstore.jsontext import parse, same
from dshstore.model import Block, StoredEvent, StreamPart
from dshstore.streams.summary import Summary, summarize

#: What reading a damaged row may raise.
UNREADABLE = (StoreError, ValueError, TypeError, LookupError, RecursionError)

#: Faults of a row after which its packed part, or its line, tells nothing of the event.
BLOCKING = frozenset({"run-broken", "stream-unreadable", "stream-misplaced", "event-unreadable"})

_NULL = b"null"


def is_run(stored: StoredEvent) -> bool:
    """Whether the row holds a run of token chunks."""
    return stored.stream is not None and stored.stream.at is None


def check_row(stored: StoredEvent, version: int) -> list[Fault]:
    """What is wrong with a row, its packed part included."""
    if is_run(stored):
        return _check_run(stored, version)
    faults = []
    if stored.count != 1:
        faults.append(_fault(stored, "run-broken", f"{stored.count} members, but no packed lines"))
    if stored.stream is not None:
        faults += _check_cut(stored, stored.stream, version)
    if stored.raw is not None and not faults:
        faults += _check_raw(stored, stored.raw, version)
    return faults


def read_event(stored: StoredEvent, version: int) -> dict[str, Any] | Fault:
    """The logical event of a row that is no run, or why there is none."""
    try:
        for text in (stored.source_event_seqs, stored.surface_op):
            if text is not None and text != '"append"':
                parse(text)
    except UNREADABLE as error:
        return _fault(stored, "citations-invalid", str(error))
    if stored.ignorable not in (None, 1):
        return _fault(stored, "event-unreadable", f"ignorable is {stored.ignorable}")
    try:
        if stored.raw is not None:
            parse(stored.data)
        return next(rows.logical(stored, version))
    except UNREADABLE as error:
        return _fault(stored, "event-unreadable", str(error))


def _check_run(stored: StoredEvent, version: int) -> list[Fault]:
    part = stored.stream
    assert part is not None
    try:
        lines = unpack(part)
    except CorruptStore as error:
        return [_fault(stored, "stream-unreadable", str(error))]
    if not lines.endswith(b"\n"):
        return [_fault(stored, "run-broken", "its last line is not whole")]
    try:
        found = list(rows.RowDecoder(version, next_seq=stored.seq).decode([Block(lines, 0, 0)]))
    except UNREADABLE as error:
        return [_fault(stored, "run-broken", str(error))]
    again = found[0]
    if len(found) != 1 or again.stream is None or again.type != CHUNK:
        return [_fault(stored, "run-broken", "its lines are not the chunks of one attempt")]
    told = {
        "count": (stored.count, again.count),
        "type": (stored.type, again.type),
        "time": (stored.time, again.time),
        "data": (_value(stored.data), _value(again.data)),
        "source_event_seqs": (stored.source_event_seqs, None),
        "surface_op": (stored.surface_op, None),
        "ignorable": (stored.ignorable, None),
    }
    faults = _differences(stored, "run-broken", told)
    figures = again.stream
    summary = Summary(figures.first_time, figures.last_time, figures.usage, figures.finish)
    return faults + _check_figures(stored, part, summary)


def _check_cut(stored: StoredEvent, part: StreamPart, version: int) -> list[Fault]:
    data, at = stored.data.encode(), part.at or 0
    if version < 2 or stored.type not in SETTLEMENTS or not _is_place(data, at):
        return [_fault(stored, "stream-misplaced", f"no null stands for it at byte {at} of data")]
    try:
        text = unpack(part)
    except CorruptStore as error:
        return [_fault(stored, "stream-unreadable", str(error))]
    return _check_figures(stored, part, summarize(text))


def _is_place(data: bytes, at: int) -> bool:
    """Whether the member `stream` of data is a null at this byte."""
    if data[at : at + len(_NULL)] != _NULL:
        return False
    try:  # with another value in place of this null, the member has that value
        probe = parse(data[:at] + b"0" + data[at + len(_NULL) :])
    except UNREADABLE:
        return False
    return isinstance(probe, dict) and probe.get("stream") == 0


def _check_figures(stored: StoredEvent, part: StreamPart, summary: Summary) -> list[Fault]:
    told = {
        "first_time": (part.first_time, summary.first_time),
        "last_time": (part.last_time, summary.last_time),
        "finish": (part.finish, summary.finish),
        "usage": (_value(part.usage), _value(summary.usage)),
    }
    return _differences(stored, "stream-figures-wrong", told)


def _check_raw(stored: StoredEvent, raw: bytes, version: int) -> list[Fault]:
    try:
        lines = Block(raw + b"\n", 0, 0)
        [again] = rows.RowDecoder(version, next_seq=stored.seq).decode([lines])
    except UNREADABLE as error:
        return [_fault(stored, "event-unreadable", f"its line: {error}")]
    told = {
        name: (getattr(stored, name), getattr(again, name))
        for name in ("type", "time", "ignorable")
    }
    told |= {
        name: (_value(getattr(stored, name)), _value(getattr(again, name)))
        for name in ("data", "source_event_seqs", "surface_op")
    }
    told["stream"] = (_text(stored.stream), _text(again.stream))
    return _differences(stored, "raw-mismatch", told)


def _differences(stored: StoredEvent, code: str, told: dict[str, tuple[Any, Any]]) -> list[Fault]:
    """A fault that names all columns in which two tellings of a row differ."""
    names = [name for name, (here, there) in told.items() if not same(here, there)]
    return [_fault(stored, code, f"differs in {', '.join(names)}")] if names else []


def _value(text: str | None) -> Any:
    """The value of a column of JSON; a text that is none stands for itself."""
    if text is None:
        return None
    try:
        return {"": parse(text)}  # apart from NULL, which has no value
    except UNREADABLE:
        return text


def _text(part: StreamPart | None) -> str | None:
    return None if part is None else unpack(part).decode("latin-1")


def _fault(stored: StoredEvent, code: str, detail: str) -> Fault:
    return Fault(stored.seq, code, detail)
