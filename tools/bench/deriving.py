"""What the model sees, as raw bytes, beside a scan over the very same rows."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

import dshstore
from bench.clock import Clock, Span, check, take_turns
from bench.logs import SESSION, Log
from bench.reference import connect
from bench.report import Demand, Row, compare_spans, told
from bench.settings import Setting

_SCAN = "SELECT data FROM events WHERE session = 1 ORDER BY seq"


def compare(setting: Setting) -> Iterator[Row]:
    each: dict[int, float] = {}
    for size in setting.mode.surfaces:
        log = setting.log("messages", size)
        derived, scanned = _measure(setting, log)
        each[size] = median(span.cpu for span in derived) / log.events
        yield compare_spans(
            "derive",
            f"derive {log.events:,} messages, raw",
            ("derive", derived, "scan", scanned),
            Demand(1.5, events=1_000),
            log.events,
        )
    _, middle, most = setting.mode.surfaces
    yield Row(
        "derive",
        f"a message of {most:,} beside one of {middle:,}",
        told(each[most]),
        told(each[middle]),
        each[most] / each[middle],
        Demand(1.5, events=100_000),
        events=most,
    )


def _measure(setting: Setting, log: Log) -> tuple[list[Span], list[Span]]:
    path = setting.imported(log)
    scanning = connect(path)
    with dshstore.open(path, "read") as store:
        session = store.session(SESSION)

        def derive() -> Span:
            clock = Clock()
            with clock():
                messages = list(session.messages_json())
            check(len(messages), log.events, "messages")
            return clock.work

        def scan() -> Span:
            clock = Clock()
            with clock():
                rows = scanning.execute(_SCAN).fetchall()
            check(len(rows), log.events, "rows")
            return clock.work

        spans = take_turns({"derive": derive, "scan": scan}, setting.mode.rounds)
        pairs = zip(session.messages_json(), scanning.execute(_SCAN), strict=True)
        check(all(raw == data.encode() for raw, (data,) in pairs), True, "same bytes")
    scanning.close()
    return spans["derive"], spans["scan"]
