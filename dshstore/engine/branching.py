"""Which of the records that claim the same seqs follow one another: the branches of a log.

Decides by order alone: a branch is dense from the seq at which the log branches, each of its
records stands behind the one before, and where fewer records than branches go on, those go on
that wrote last. No record is read.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from itertools import groupby


def number_branches(
    seqs: Sequence[int], counts: Sequence[int], ordinals: Sequence[int], start: int
) -> array[int]:
    """The branch of each record, from 1 in the order of their first records, 0 for none.

    Record `i` claims `counts[i]` seqs from `seqs[i]` on and is number `ordinals[i]` in the log;
    branches begin with the records that claim `start`.
    """
    branches = array("q", bytes(8 * len(seqs)))
    begun = 0
    #: The branches that go on at a seq: the ordinal of the last record of each, and its number.
    waiting: dict[int, list[tuple[int, int]]] = {}
    in_order = sorted(range(len(seqs)), key=lambda i: (seqs[i], ordinals[i]))
    for seq, group in groupby(in_order, key=lambda i: seqs[i]):
        here = list(group)
        before = waiting.pop(seq, [])
        before.sort()
        for i in here if seq == start else reversed(here):
            if seq == start:
                begun = number = begun + 1
            else:
                at = bisect_left(before, (ordinals[i], 0))
                if not at:
                    continue
                number = before.pop(at - 1)[1]
            branches[i] = number
            waiting.setdefault(seq + counts[i], []).append((ordinals[i], number))
    return branches
