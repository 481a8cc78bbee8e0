"""The run: which comparisons, in which order, and how they are told. See `tools/bench/run`."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench import appending, changing, deriving, imports, opening, starting
from bench.clock import Failed
from bench.report import Row, json_lines, markdown_rows, summary, table
from bench.settings import MODES, Setting

COMPARISONS: dict[str, Callable[[Setting], Iterator[Row]]] = {
    "import": imports.compare,
    "append": appending.compare,
    "derive": deriving.compare,
    "open": opening.compare,
    "replace": changing.compare_replace,
    "fork": changing.compare_fork,
    "start": starting.compare,
}


_MODES = {
    "quick": "logs of 100,000 events, some two minutes (the default)",
    "full": "logs of 1,000,000 events, about half an hour",
    "tiny": "to see that everything runs; the ratios mean nothing",
}


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tools/bench/run",
        description="Measure dshstore beside what the demands on it name. Ratios of medians of "
        "processor times (calls of microseconds: of times on the wall), from sides that take "
        "turns; a missed demand is said, and fails nothing.",
    )
    parser.add_argument(
        "comparison", nargs="*", help=f"all when left out: {', '.join(COMPARISONS)}"
    )
    mode = parser.add_mutually_exclusive_group()
    for name, meaning in _MODES.items():
        mode.add_argument(
            f"--{name}",
            dest="mode",
            action="store_const",
            const=name,
            default="quick",
            help=meaning,
        )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one object a line")
    form.add_argument("--markdown", action="store_true", help="the table as Markdown")
    parser.add_argument(
        "--folder",
        type=Path,
        default=Path(tempfile.gettempdir()) / "dshstore-bench",
        help="keeps the logs, and the stores while they are measured (%(default)s)",
    )
    arguments = parser.parse_args()
    unknown = set(arguments.comparison) - set(COMPARISONS)
    if unknown:
        parser.error(f"no comparison is called {', '.join(sorted(unknown))}")
    return arguments


def run(arguments: argparse.Namespace) -> list[Row]:
    folder = arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="stores-", dir=folder) as stores:
        setting = Setting(MODES[arguments.mode], folder, Path(stores))
        for name in arguments.comparison or COMPARISONS:
            print(f"{time.monotonic() - begun:5.0f} s  {name} ...", file=sys.stderr)
            rows += COMPARISONS[name](setting)
    print(f"{time.monotonic() - begun:5.0f} s  done", file=sys.stderr)
    return rows


def main() -> int:
    arguments = read_arguments()
    try:
        rows = run(arguments)
    except Failed as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    write = json_lines if arguments.json else markdown_rows if arguments.markdown else table
    for line in write(rows):
        print(line)
    print(summary(rows), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
