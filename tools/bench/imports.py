"""Logs in and out, each in a process of its own: import, zstd, export, size, memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from bench.clock import Measured, check, run_alone, take_turns
from bench.logs import Log
from bench.report import Demand, Row, compare_spans
from bench.settings import Setting, remove

_MIB = 1024 * 1024

#: Bytes that an import of a log may ever hold.
_MEMORY = 150 * _MIB


def compare(setting: Setting) -> Iterator[Row]:
    chunk = Demand(1.0, at_least=True, events=100_000), Demand(0.4, events=100_000)
    yield from _compare("chunk", setting.chunk, setting, *chunk)
    settled = Demand(0.5, at_least=True, events=10_000), Demand(1.15, events=10_000)
    yield from _compare("settled", setting.settled, setting, *settled)


def _compare(
    kind: str, log: Log, setting: Setting, throughput: Demand, size: Demand
) -> Iterator[Row]:
    here = setting.imported(log)
    with log.path.open("rb") as file:
        original = hashlib.file_digest(file, "sha256").hexdigest()

    def bring_in(how: str, path: Path) -> Measured:
        store = setting.fresh()
        done = run_alone(how, log=str(path), store=str(store))
        check(done.answer, log.events, f"events that {how} took of {path}")
        remove(store)
        return done

    def bring_out() -> Measured:
        out = setting.fresh(".jsonl")
        done = run_alone("doing:export_log", store=str(here), path=str(out))
        check(done.answer, original, "SHA-256 of the export")
        out.unlink()
        return done

    done = take_turns(
        {
            "plain": lambda: bring_in("doing:import_log", log.path),
            "ref": lambda: bring_in("reference:import_log", log.path),
            "zstd": lambda: bring_in("doing:import_log", log.zstd),
            "export": bring_out,
        },
        setting.mode.rounds,
        warm_up=False,  # every process begins anew, and the file is in the cache already
    )
    spans = {name: [one.work for one in all] for name, all in done.items()}
    of = f"{kind} log, {log.events:,} events"
    yield compare_spans(
        "import",
        f"throughput of importing a {of}",
        ("store", spans["plain"], "REF", spans["ref"]),
        throughput,
        log.events,
    )
    yield compare_spans(
        "import",
        f"import of the same log as zstd ({kind})",
        ("zstd", spans["zstd"], "plain", spans["plain"]),
        Demand(1.5),
    )
    yield compare_spans(
        "export",
        f"export of the {of}",
        ("export", spans["export"], "import", spans["plain"]),
        Demand(0.6),
    )
    stored = here.stat().st_size
    yield Row(
        "size",
        f"size of a store of the {of}",
        f"store {stored / _MIB:.3g} MiB",
        f"log {log.size / _MIB:.3g} MiB",
        stored / log.size,
        size,
        events=log.events,
    )
    peak = max(one.peak for one in done["plain"] + done["zstd"])
    yield Row(
        "memory",
        f"peak memory of importing the {of}",
        f"{peak / _MIB:.3g} MiB",
        f"{_MEMORY / _MIB:.3g} MiB",
        peak / _MEMORY,
        Demand(1.0, events=1_000_000 if kind == "chunk" else 0),
        events=log.events,
    )
