"""Where events stand after they were numbered anew, and what they say of each other then."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from dshstore.engine.migration.references import SeqMap
from dshstore.engine.migration.shapes import Misfit
from tests.logs import EventDict, Json


def numbered(places: Iterable[tuple[int, int]], events: int = 10) -> SeqMap:
    seqs = SeqMap()
    seqs.pass_over(events)
    for old, new in places:
        seqs.place(old, new)
    return seqs


SEQS = numbered([(0, 5), (3, 1), (9, 2)])


@pytest.mark.parametrize(("old", "new"), [(0, 5), (3, 1), (3.0, 1)])
def test_an_event_stands_where_it_was_put(old: Json, new: int) -> None:
    assert SEQS.new(old) == new


@pytest.mark.parametrize("old", [1, -1, 10, 0.5, -0.0, True, "0", None])
def test_what_stands_nowhere_cannot_be_named(old: Json) -> None:
    with pytest.raises(Misfit, match="no seq in the new log"):
        SEQS.new(old)


def event(type: str, data: Json, **members: Json) -> EventDict:
    return {"type": type, "seq": 9, "time": 1, "data": data, **members}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (event("a", {"seq": 0}), event("a", {"seq": 0})),
        (
            event("user/message", 1, surfaceOp="append", sourceEventSeqs=[3, 0]),
            event("user/message", 1, surfaceOp="append", sourceEventSeqs=[1, 5]),
        ),
        (
            event("user/message", 1, surfaceOp={"end": 3, "op": "replace", "start": 0}),
            event("user/message", 1, surfaceOp={"op": "replace", "start": 5, "end": 1}),
        ),
        (event("command/done", {"kind": "error"}), event("command/done", {"kind": "error"})),
        (
            event("command/done", {"sourceEventSeq": 3}),
            event("command/done", {"sourceEventSeq": 1}),
        ),
        (
            event(
                "compaction/prune", {"shadowedRange": {"end": 0, "start": 3}, "shadowedSeqs": [3]}
            ),
            event(
                "compaction/prune", {"shadowedRange": {"start": 1, "end": 5}, "shadowedSeqs": [1]}
            ),
        ),
        (event("session/title", {"messageSeqs": []}), event("session/title", {"messageSeqs": []})),
        (
            event("session/title-llm-request", {"messageSeqs": [0], "maxTokens": 0}),
            event("session/title-llm-request", {"messageSeqs": [5], "maxTokens": 0}),
        ),
        (event("a", 1, ignorable=True), event("a", 1, ignorable=True)),
    ],
)
def test_an_event_is_renumbered_with_what_it_names(old: EventDict, new: EventDict) -> None:
    before = repr(old)
    renumbered = SEQS.renumber(old)
    assert renumbered == {**new, "seq": 2}
    order = ["type", "seq", "time", "data", "ignorable", "sourceEventSeqs", "surfaceOp"]
    assert list(renumbered) == [key for key in order if key in renumbered]
    assert repr(old) == before


@pytest.mark.parametrize(
    ("old", "reason"),
    [
        (event("a", 1, sourceEventSeqs=[0, 1]), "a: sourceEventSeqs names 1"),
        (event("a", 1, sourceEventSeqs=0), "a: sourceEventSeqs must be an array"),
        (event("a", 1, surfaceOp={"start": 0}), "a: surfaceOp must have a start and an end"),
        (event("a", 1, surfaceOp={"start": 0, "end": 1}), "a: surfaceOp.end names 1"),
        (event("command/done", {"sourceEventSeq": 1}), "command/done: sourceEventSeq names 1"),
    ],
)
def test_a_misfit_says_which_member_names_it(old: EventDict, reason: str) -> None:
    with pytest.raises(Misfit) as caught:
        SEQS.renumber(old)
    assert str(caught.value).startswith(reason)


def test_a_million_events_take_eight_bytes_each() -> None:
    seqs = numbered([], 1_000_000)
    assert len(seqs) == 1_000_000
    assert seqs._new.itemsize == 8
