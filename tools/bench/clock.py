"""What is timed, and where: stopwatches, processes of their own, and sides that take turns.

A machine is never as quiet as one would like, so nothing here
is worth much alone: sides that are compared take turns (A B A B ...), and what counts is the ratio
of their medians.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, TypeVar

#: Processes find this package beside the program that runs it.
_HOME = Path(__file__).resolve().parents[1]

Result = TypeVar("Result")


class Span(NamedTuple):
    """Seconds: processor time of the whole process (all threads), and time on the wall."""

    cpu: float
    wall: float


class Clock:
    """A stopwatch with named phases, for what is timed among things that are not."""

    def __init__(self) -> None:
        self.spans: dict[str, Span] = {}

    @contextmanager
    def __call__(self, phase: str = "work") -> Iterator[None]:
        """Time what is done inside; phases of the same name add up."""
        gc.collect()
        cpu, wall = time.process_time(), time.perf_counter()
        yield
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        before = self.spans.get(phase, Span(0.0, 0.0))
        self.spans[phase] = Span(before.cpu + cpu, before.wall + wall)

    @property
    def work(self) -> Span:
        """The span of the phase that needs no name."""
        return self.spans["work"]


class Progress:
    """Says on stderr what is measured, and how long the run has taken so far."""

    def __init__(self) -> None:
        self._begun = time.monotonic()

    def __call__(self, words: str) -> None:
        print(f"{time.monotonic() - self._begun:5.0f} s  {words}", file=sys.stderr, flush=True)


class Measured(NamedTuple):
    """What a function did in a process of its own."""

    spans: dict[str, Span]
    peak: int  # bytes: the most memory that the process ever held
    answer: Any

    @property
    def work(self) -> Span:
        return self.spans["work"]


class Failed(Exception):
    """Something that is measured broke, or gave a wrong answer: its times would mean nothing."""


def check(found: object, expected: object, what: str) -> None:
    """Raise Failed unless what was measured also did what it should."""
    if found != expected:
        raise Failed(f"{what}: {str(found)[:200]} instead of {str(expected)[:200]}")


def run_alone(function: str, timeout: float | None = None, **arguments: Any) -> Measured:
    """Call `module:function` of this package with a clock and arguments, in a new process.

    Importing the module is not timed. Raises Failed, also after `timeout` seconds.
    """
    command = [sys.executable, "-m", f"{__package__}.alone", function, json.dumps(arguments)]
    environment = {**os.environ, "PYTHONPATH": str(_HOME)}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise Failed(f"{function}: not done after {timeout:g} s") from error
    if done.returncode:
        raise Failed(f"{function}: status {done.returncode}\n{done.stderr}")
    said = json.loads(done.stdout.splitlines()[-1])
    spans = {phase: Span(*span) for phase, span in said["spans"].items()}
    return Measured(spans, said["peak"], said["answer"])


def answer_alone(function: str, arguments: str) -> str:
    """What a process of `run_alone` does: call the function and say how it went, as JSON."""
    module, name = function.split(":")
    clock = Clock()
    answer = getattr(importlib.import_module(f"{__package__}.{module}"), name)(
        clock, **json.loads(arguments)
    )
    return json.dumps({"spans": clock.spans, "peak": _peak(), "answer": answer})


def _peak() -> int:
    # Linux hands the parent's peak down in rusage, but not in this file
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except FileNotFoundError:
        scale = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale
    [line] = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024


def run_command(command: Sequence[str | Path]) -> Span:
    """Run a program from start to end; what it prints is passed over. Raises Failed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    wall = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wall = time.perf_counter() - wall
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise Failed(f"{' '.join(map(str, command))}: {done.stderr}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Span(cpu, wall)


def take_turns(
    sides: Mapping[str, Callable[[], Result]], rounds: int, *, warm_up: bool = True
) -> dict[str, list[Result]]:
    """Run all sides in turn, `rounds` times; a first turn that is not counted warms the caches."""
    if warm_up and rounds > 1:
        for run in sides.values():
            run()
    results: dict[str, list[Result]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, run in sides.items():
            results[name].append(run())
    return results


def time_calls(
    sides: Mapping[str, Callable[[int], object]], turns: int, calls: int, group: int = 1
) -> dict[str, list[Span]]:
    """What short calls take, each: every side makes `calls` in its turn, timed in groups.

    A side is told the number of its call, from 0 over all turns. The first turn is not counted.
    Reading the clock takes a third of a microsecond: shorter calls are for groups of more than one.
    """
    times: dict[str, list[Span]] = {name: [] for name in sides}
    for turn in range(turns + 1):
        for name, call in sides.items():
            gc.collect()
            spent = []
            for first in range(turn * calls, (turn + 1) * calls, group):
                cpu, wall = time.process_time(), time.perf_counter()
                for number in range(first, first + group):
                    call(number)
                wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
                spent.append(Span(cpu / group, wall / group))
            if turn:
                times[name] += spent
    return times


def middle(spans: Sequence[Span]) -> Span:
    """The medians of spans, each for itself."""
    return Span(median(span.cpu for span in spans), median(span.wall for span in spans))
