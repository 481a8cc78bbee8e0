"""A writing process is killed at any moment: what was flushed is there, and the session goes on."""

from __future__ import annotations

import random
import signal
from pathlib import Path

import pytest

import dshstore
from tests.crash.processes import start


def write_and_kill(store: Path, seed: str) -> int:
    """Let a process write, kill it; how many events it knew to be safe."""
    dice = random.Random(seed)
    writer = start("write_turns", store, "beans", seed)
    assert writer.stdout is not None
    flushed = 0
    for _ in range(dice.randrange(1, 40)):
        said = writer.stdout.readline()
        assert said, writer.communicate()[1]
        flushed = int(said)
    for _ in range(dice.randrange(3000)):
        pass  # so that the blow falls anywhere between two flushes
    writer.send_signal(signal.SIGKILL)
    rest, _ = writer.communicate()
    whole = rest.rpartition("\n")[0].split("\n")[-1]
    return int(whole or flushed)


def check(path: Path, flushed: int) -> int:
    """That nothing flushed is lost and nothing is damaged; how many events there are."""
    with dshstore.open(path, mode="read") as store:
        assert [f for f in store.verify() if f.kind == "store"] == []
        session = store.session("beans")
        assert session.next_seq >= flushed
        for number, event in enumerate(session.events()):
            assert event["seq"] == number
            data = event["data"]
            if event["type"] == "user/message" and data["source"]["kind"] == "user":
                assert data["content"] == [{"type": "text", "text": f"event {number}"}]
        return session.next_seq


def check_pairs(path: Path) -> None:
    """That a provider takes the history: each call of a tool is followed by its one result."""
    with dshstore.open(path) as store, store.resume("beans") as session:
        waiting: list[str] = []
        for message in session.messages():
            if message["role"] == "tool":
                waiting.remove(message["toolCallId"])
                continue
            assert waiting == [], "a message came before the results of the calls"
            calls = (block for block in message["content"] if block["type"] == "tool-call")
            waiting += [block["id"] for block in calls]
        assert waiting == []
        assert session.closers() == []


def kill_often(path: Path, rounds: int, seed: str) -> None:
    there = 0
    for number in range(rounds):
        flushed = write_and_kill(path, f"{seed} {number}")
        assert flushed > there or not there
        there = check(path, flushed)
        if number % 3 == 0:  # else the next writer takes it up
            check_pairs(path)
    check_pairs(path)


def test_a_killed_writer_loses_nothing_that_was_flushed(tmp_path: Path) -> None:
    kill_often(tmp_path / "store.db", 8, "default")


@pytest.mark.campaign
def test_a_writer_killed_two_hundred_times_loses_nothing_that_was_flushed(tmp_path: Path) -> None:
    for batch in range(20):
        kill_often(tmp_path / f"store-{batch}.db", 10, f"campaign {batch}")
