"""Records that claim the same seqs, sorted into branches."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from dshstore.engine.branching import number_branches


def branches(*seqs: int, start: int = 5) -> list[int]:
    """The branch of each record of a log in which records of one event claim these seqs."""
    return list(number_branches(seqs, [1] * len(seqs), range(len(seqs)), start))


def test_two_writers_in_turns_are_two_branches() -> None:
    assert branches(5, 5, 6, 6, 7, 7) == [1, 2, 1, 2, 1, 2]


def test_one_writer_after_the_other_are_two_branches() -> None:
    assert branches(5, 6, 7, 5, 6, 7) == [1, 1, 1, 2, 2, 2]


def test_the_one_that_wrote_last_goes_on() -> None:
    assert branches(5, 5, 6, 6, 7, 8) == [1, 2, 1, 2, 2, 2]


def test_a_record_that_continues_none_is_in_no_branch() -> None:
    assert branches(4, 5, 5, 9, 6) == [0, 1, 2, 0, 2]


def test_a_third_record_of_a_seq_continues_none() -> None:
    assert branches(5, 5, 6, 6, 6).count(0) == 1


def test_a_record_of_several_events_takes_their_seqs() -> None:
    assert list(number_branches([5, 5, 6, 8], [3, 1, 1, 1], range(4), 5)) == [1, 2, 2, 1]


@given(
    st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=6), min_size=1, max_size=4),
    st.randoms(use_true_random=False),
)
def test_a_branch_is_dense_and_in_the_order_of_the_log(
    sizes: list[list[int]], random: Random
) -> None:
    writers = [[*counts] for counts in sizes]
    at = [5] * len(writers)
    log: list[tuple[int, int]] = []
    while any(writers):
        writer = random.choice([n for n, left in enumerate(writers) if left])
        count = writers[writer].pop(0)
        log.append((at[writer], count))
        at[writer] += count
    seqs, counts = zip(*log, strict=True)
    found = number_branches(seqs, counts, range(len(log)), 5)
    assert max(found) == len(sizes)
    for branch in range(1, len(sizes) + 1):
        next_seq = 5
        for (seq, count), of in zip(log, found, strict=True):
            if of == branch:
                assert seq == next_seq
                next_seq += count
