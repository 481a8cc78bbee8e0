"""A fresh process wants what the model sees, now or at an earlier event: a store, or the log."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from bench.clock import check, run_alone, take_turns
from bench.report import Demand, Row, compare_spans
from bench.settings import Setting

#: Of the time that it takes to parse and fold the log.
_DEMAND = Demand(0.01, events=1_000_000)


def compare(setting: Setting) -> Iterator[Row]:
    log = setting.chunk
    store = setting.imported(log)
    for at, what in ((None, "open and derive"), (log.events // 2, "the same as of mid-log")):
        done = take_turns(
            {
                "store": partial(run_alone, "doing:open_and_derive", store=str(store), at=at),
                "log": partial(run_alone, "reference:parse_and_fold", log=str(log.path), at=at),
            },
            setting.mode.rounds,
            warm_up=False,
        )
        check(done["store"][0].answer, done["log"][0].answer, "surface and messages")
        yield compare_spans(
            "open",
            f"{what}, a session of {log.events:,} events",
            (
                "store",
                [one.work for one in done["store"]],
                "parse and fold",
                [one.work for one in done["log"]],
            ),
            _DEMAND,
            events=log.events,
        )
