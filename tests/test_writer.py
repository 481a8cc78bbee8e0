"""The queue in front of a store: order, failures, limits, and what ends it."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from dshstore.errors import Conflict, StoreBusy, StoreError, WriteFailed
from dshstore.model import StoredEvent
from dshstore.writer import Writer

#: Longer than any test: nothing leaves by itself.
NEVER = 3600.0


def event(seq: int, size: int = 2) -> StoredEvent:
    return StoredEvent(seq, 1, "todo/write", 0, "x" * size)


class Disk:
    """What a writer commits to; it fails while `broken` has an error, and waits while held."""

    def __init__(self) -> None:
        self.written: list[int] = []
        self.batches: list[int] = []
        self.broken: Exception | None = None
        self.tries = 0
        self._free = threading.Lock()
        self._changed = threading.Condition()

    def commit(self, batch: list[StoredEvent]) -> None:
        with self._free, self._changed:
            self.tries += 1
            self._changed.notify_all()
            if self.broken is not None:
                raise self.broken
            self.written += [event.seq for event in batch]
            self.batches.append(len(batch))

    @contextmanager
    def held(self) -> Iterator[None]:
        with self._free:
            yield

    def wait(self, until: Callable[[], bool]) -> None:
        with self._changed:
            assert self._changed.wait_for(until, timeout=30)


def open_writer(disk: Disk, max_delay: float = NEVER, **limits: int) -> Writer:
    return Writer("frost", disk.commit, 0, max_delay=max_delay, **limits)


def join_writers() -> None:
    """Wait until the threads of the writers have ended."""
    for thread in threading.enumerate():
        if thread.name == "dshstore-writer":
            thread.join(30)


def test_events_leave_by_themselves_in_order_and_in_batches() -> None:
    disk = Disk()
    writer = open_writer(disk, max_delay=0.01)
    for seq in range(100):
        writer.put([event(seq)])
    disk.wait(lambda: len(disk.written) == 100)
    assert disk.written == list(range(100))
    assert len(disk.batches) < 100
    writer.close()


def test_events_leave_by_themselves_between_flushes_too() -> None:
    disk = Disk()
    writer = open_writer(disk, max_delay=0.01)
    for seq in range(0, 60, 3):
        writer.put([event(seq)])
        writer.flush()
        writer.put([event(seq + 1)])
        disk.wait(lambda: len(disk.written) == seq + 2)  # noqa: B023
        writer.put([event(seq + 2)])
        disk.wait(lambda: len(disk.written) == seq + 3)  # noqa: B023
    writer.close()
    assert disk.written == list(range(60))


def test_flush_is_a_barrier() -> None:
    disk = Disk()
    writer = open_writer(disk)
    for seq in range(3):
        writer.put([event(seq)])
    assert disk.written == []
    writer.flush()
    assert disk.written == [0, 1, 2]
    assert writer.pending == ()
    writer.close()


def test_an_event_that_woke_nobody_leaves_with_a_flush_or_when_it_is_said_so() -> None:
    disk = Disk()
    writer = open_writer(disk, max_delay=0.0)
    writer.put([event(0)], wake=False)
    writer.flush()
    assert disk.written == [0]
    disk.broken = StoreBusy("locked")
    writer.put([event(1)], wake=False)
    with pytest.raises(StoreBusy):
        writer.flush()
    assert disk.tries == 2
    disk.broken = None
    writer.wake()
    disk.wait(lambda: disk.written == [0, 1])
    writer.wake()
    writer.close()


def test_put_does_not_wait_for_a_write_that_is_under_way() -> None:
    disk = Disk()
    writer = open_writer(disk, max_delay=0.0)
    with disk.held():
        for seq in range(1000):
            writer.make_ready()
            writer.put([event(seq)])
    writer.flush()
    assert disk.written == list(range(1000))
    writer.close()


def test_a_failure_is_told_once_to_the_next_append_and_nothing_is_lost_or_overtaken() -> None:
    disk = Disk()
    disk.broken = WriteFailed("no space")
    writer = open_writer(disk, max_delay=0.0)
    writer.put([event(0)])
    disk.wait(lambda: disk.tries == 1)
    with pytest.raises(WriteFailed, match="no space"):
        until_ready_fails(writer)
    writer.make_ready()
    writer.put([event(1)])
    disk.wait(lambda: disk.tries == 2)
    assert [e.seq for e in writer.pending] == [0, 1]
    disk.broken = None
    writer.flush()
    assert disk.written == [0, 1]
    writer.close()


def until_ready_fails(writer: Writer) -> None:
    """The thread notes a failure a moment after the write."""
    while True:
        writer.make_ready()


def test_flush_tries_again_and_tells_each_time_why_it_cannot() -> None:
    disk = Disk()
    disk.broken = StoreBusy("locked")
    writer = open_writer(disk)
    writer.put([event(0)])
    for _ in range(2):
        with pytest.raises(StoreBusy):
            writer.flush()
    disk.broken = None
    writer.flush()
    assert disk.written == [0]
    writer.close()


def test_after_a_conflict_no_event_is_taken_and_none_is_lost() -> None:
    disk = Disk()
    disk.broken = Conflict(0, 2, "frost")
    writer = open_writer(disk)
    writer.put([event(0)])
    with pytest.raises(Conflict):
        writer.flush()
    disk.broken = None
    for again in (writer.make_ready, writer.flush, writer.make_ready, writer.close):
        with pytest.raises(Conflict):
            again()
    assert disk.tries == 1
    assert [e.seq for e in writer.pending] == [0]
    writer.drop()
    assert writer.pending == ()


@pytest.mark.parametrize("limit", [{"max_events": 3}, {"max_bytes": 30}])
def test_a_full_queue_is_written_out_before_more_is_taken(limit: dict[str, int]) -> None:
    disk = Disk()
    writer = open_writer(disk, **limit)
    for seq in range(10):
        writer.make_ready()
        writer.put([event(seq, size=10)])
        assert len(writer.pending) <= 3
    disk.broken = WriteFailed("no space")
    with pytest.raises(WriteFailed):  # noqa: PT012
        for seq in range(10, 14):
            writer.make_ready()
            writer.put([event(seq, size=10)])
    assert len(writer.pending) == 3
    disk.broken = None
    writer.close()
    assert disk.written == list(range(len(disk.written)))


def test_a_closed_writer_takes_nothing() -> None:
    disk = Disk()
    writer = open_writer(disk)
    writer.put([event(0)])
    writer.close()
    assert disk.written == [0]
    with pytest.raises(StoreError, match="closed"):
        writer.make_ready()
    writer.flush()


def test_closing_fails_when_the_last_write_does_and_can_be_tried_again() -> None:
    disk = Disk()
    writer = open_writer(disk)
    writer.put([event(0)])
    disk.broken = WriteFailed("no space")
    with pytest.raises(WriteFailed):
        writer.close()
    assert len(writer.pending) == 1
    disk.broken = None
    writer.close()
    assert disk.written == [0]


def test_a_forgotten_writer_empties_its_queue_and_then_lets_go() -> None:
    disk = Disk()
    writer = open_writer(disk, max_delay=0.01)
    writer.put([event(0)])
    writer.forget()
    del writer
    gc.collect()
    join_writers()
    assert disk.written == [0]


def test_forgetting_waits_for_no_lock() -> None:
    disk = Disk()
    writer = open_writer(disk, max_delay=0.0)
    writer.put([event(0)])
    with disk.held():
        writer.forget()  # as the collector may do in the middle of this writer's own commit
    join_writers()
    assert disk.written == [0]


def test_a_forgotten_writer_says_what_it_could_not_write(
    capsys: pytest.CaptureFixture[str],
) -> None:
    disk = Disk()
    disk.broken = WriteFailed("no space")
    writer = open_writer(disk, max_delay=0.0)
    writer.put([event(0)])
    writer.put([event(1)])
    writer.forget()
    join_writers()
    assert "session 'frost': 2 events not written: no space" in capsys.readouterr().err


def test_a_defect_in_a_commit_is_told_and_does_not_end_the_thread() -> None:
    disk = Disk()
    disk.broken = RuntimeError("odd")
    writer = open_writer(disk, max_delay=0.0)
    writer.put([event(0)])
    with pytest.raises(StoreError, match="RuntimeError: odd"):
        until_ready_fails(writer)
    disk.broken = None
    writer.put([event(1)])
    disk.wait(lambda: disk.written == [0, 1])
    writer.close()


def test_many_threads_share_a_queue() -> None:
    disk = Disk()
    writer = open_writer(disk, max_delay=0.0, max_events=50)
    turn = threading.Lock()

    def put_some() -> None:
        for _ in range(200):
            with turn:
                writer.make_ready()
                writer.put([event(writer.next_seq)])

    threads = [threading.Thread(target=put_some) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close()
    assert disk.written == list(range(800))


@pytest.mark.parametrize("delay", [float("inf"), 1e300, 10**400])
def test_with_an_endless_delay_events_leave_with_a_flush(delay: float) -> None:
    disk = Disk()
    writer = open_writer(disk, max_delay=delay)
    writer.put([event(0)])
    writer.flush()
    writer.put([event(1)])
    assert disk.written == [0]
    writer.close()
    assert disk.written == [0, 1]
    join_writers()
