"""The comparison with other libraries: who takes part, how often, and the tables that come of it.

Times are on the wall, for what a program waits for is the disk too; each library has a process of
its own for every history. A ratio stands beside the time: how many times as long as dshstore
takes that commits each message with the same `synchronous`.
"""

from __future__ import annotations

import platform
import sqlite3
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import apsw

from bench.clock import Measured, Span, check, middle, run_alone, run_command, take_turns
from bench.logs import Log
from bench.reference import count
from bench.report import told
from bench.settings import Setting, remove


class User(NamedTuple):
    """One way to use one library: its class in this package, and what is said of it."""

    peer: str
    library: str
    how: str
    synchronous: str


USERS = (
    User("store:Queued", "dshstore", "append queues, flush at the end (default)", "FULL"),
    User("store:Full", "dshstore", "commit_each", "FULL"),
    User("store:Normal", "dshstore", 'commit_each, durability="NORMAL"', "NORMAL"),
    User("table:Full", "sqlite3", "a table by hand, WAL", "FULL"),
    User("table:Normal", "sqlite3", "a table by hand, WAL", "NORMAL"),
    User("openai_agents:Default", "openai-agents", "SQLiteSession (WAL)", "FULL"),
    User("google_adk:Default", "google-adk", "SqliteSessionService (rollback journal)", "FULL"),
    User("google_adk:Wal", "google-adk", "SqliteSessionService, file set to WAL", "FULL"),
    User("langgraph_sqlite:Default", "langgraph-checkpoint-sqlite", "MessagesState (WAL)", "FULL"),
    User("langgraph_sqlite:Normal", "langgraph-checkpoint-sqlite", "MessagesState", "NORMAL"),
    User("langgraph_sqlite:Delta", "langgraph-checkpoint-sqlite", "DeltaChannel (beta)", "FULL"),
    User(
        "langgraph_sqlite:DeltaNormal",
        "langgraph-checkpoint-sqlite",
        "DeltaChannel (beta)",
        "NORMAL",
    ),
)

#: The way of ours that one with the same `synchronous` is held beside.
_STANDARD = {"FULL": "store:Full", "NORMAL": "store:Normal"}


class History(NamedTuple):
    """What one way did with one number of messages: medians, a message."""

    size: int
    reached: int  # fewer than `size` where the time was up
    append: float  # seconds
    read: float
    file: float  # bytes of the file to one of text


class Section(NamedTuple):
    """A table: its name, headings, lines of cells, and the same as objects."""

    name: str
    headings: tuple[str, ...]
    lines: Sequence[tuple[str, ...]]
    objects: Sequence[dict[str, Any]]


def compare(setting: Setting) -> list[Section]:
    return [_tell_histories(setting, _measure(setting)), _compare_imports(setting)]


# -- histories --


def _measure(setting: Setting) -> dict[User, list[History]]:
    """Histories of growing length; who did not get to the end of one is not asked for a longer."""
    mode = setting.mode
    histories: dict[User, list[History]] = {user: [] for user in USERS}
    for size in mode.histories:
        going = [user for user in USERS if all(h.reached == h.size for h in histories[user])]
        sides = {user.peer: partial(_drive, setting, user.peer, size) for user in going}
        done = take_turns(sides, mode.peer_rounds, warm_up=False)
        for user in going:
            histories[user].append(_summarize(size, done[user.peer]))
    return histories


def _drive(setting: Setting, peer: str, size: int) -> Measured:
    setting.say(f"{peer}, {size:,} messages ...")
    path, seconds = setting.fresh(), setting.mode.patience
    done = run_alone("peers.driving:drive", peer=peer, path=str(path), size=size, seconds=seconds)
    remove(path)
    return done


def _summarize(size: int, rounds: Sequence[Measured]) -> History:
    return History(
        size,
        min(one.answer["count"] for one in rounds),
        median(one.spans["append"].wall / one.answer["count"] for one in rounds),
        median(one.spans["read"].wall / one.answer["count"] for one in rounds),
        median(one.answer["file"] / one.answer["text"] for one in rounds),
    )


def _tell_histories(setting: Setting, histories: Mapping[User, Sequence[History]]) -> Section:
    sizes = setting.mode.histories
    by_peer = {user.peer: found for user, found in histories.items()}
    headings = ["library", "how", "synchronous"]
    headings += [f"append {size:,}" for size in sizes] + [f"read {size:,}" for size in sizes]
    headings += [f"file / text, {size:,}" for size in sizes]
    lines, objects = [], []
    for user, found in histories.items():
        blank = [""] * (len(sizes) - len(found))
        standard = by_peer[_STANDARD[user.synchronous]]
        appends = [_tell_append(*both) for both in zip(found, standard, strict=False)]
        reads = [told(history.read) for history in found]
        files = [f"{history.file:.3g}" for history in found]
        named = user.library, user.how, user.synchronous
        lines.append((*named, *appends, *blank, *reads, *blank, *files, *blank))
        objects += [{**user._asdict(), **history._asdict()} for history in found]
    return Section("histories", tuple(headings), lines, objects)


def _tell_append(history: History, standard: History) -> str:
    text = told(history.append)
    if history != standard:
        text += f", {history.append / standard.append:.2g}x"
    if history.reached < history.size:
        text += f" (only {history.reached:,})"
    return text


# -- imports --


def _compare_imports(setting: Setting) -> Section:
    """Whole commands that take in a log, from the start of the process to its end."""
    lines, objects = [], []
    for kind, log in (("chunk", setting.chunk), ("settled", setting.settled)):
        sizes: dict[str, int] = {}
        sides = {name: partial(_run_import, setting, name, log, sizes) for name in _IMPORTERS}
        done = {
            name: middle(spans) for name, spans in take_turns(sides, setting.mode.rounds).items()
        }
        first = done["dshstore"]
        for name, span in done.items():
            size = sizes[name] / log.size
            wall, cpu = (
                f"{told(a)}, {a / b:.2g}x"
                for a, b in zip(reversed(span), reversed(first), strict=True)
            )
            lines.append((f"{kind}, {log.events:,} events", name, wall, cpu, f"{size:.3g}"))
            told_of = {"log": kind, "events": log.events, "library": name}
            objects.append({**told_of, **span._asdict(), "file": size})
    headings = ("log", "command", "on the wall", "processor", "file / log")
    return Section("imports", headings, lines, objects)


def _import_commands(log: str, file: str) -> dict[str, list[str | Path]]:
    programs = Path(sys.executable).parent
    utils = ("insert", file, "events", log, "--nl", "--alter")
    return {
        "dshstore": [programs / "dshstore", "import", file, log],
        "sqlite-utils insert --nl --alter": [programs / "sqlite-utils", *utils],
        "DuckDB read_json": [sys.executable, "-m", "bench.peers.duck", log, file],
    }


_IMPORTERS = tuple(_import_commands("", ""))


def _run_import(setting: Setting, name: str, log: Log, sizes: dict[str, int]) -> Span:
    setting.say(f"{name}, {log.events:,} events ...")
    file = setting.fresh()
    span = run_command(_import_commands(str(log.path), str(file))[name])
    if not name.startswith("DuckDB"):
        taken = count(str(file)) if name != "dshstore" else log.events + 1
        check(taken, log.events + 1, f"lines that {name} took")
    sizes[name] = sum(part.stat().st_size for part in file.parent.glob(f"{file.name}*"))
    remove(file)
    return span


# -- what took part --


def versions() -> str:
    """Which versions were measured, in a sentence."""
    libraries = sorted({user.library for user in USERS} - {"dshstore", "sqlite3"})
    named = [f"{name} {version(name)}" for name in (*libraries, "sqlite-utils", "duckdb")]
    python = f"Python {platform.python_version()} with SQLite {sqlite3.sqlite_version}"
    return f"{python}, dshstore with SQLite {apsw.sqlite_lib_version()}; {', '.join(named)}"
