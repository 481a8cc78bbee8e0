"""The run: which comparisons, in which order, and how they are told. See `tools/bench/run`."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from bench import appending, changing, deriving, imports, opening, starting
from bench.clock import Failed
from bench.peers import beside
from bench.report import HEADINGS, Row, cells, markdown, summary, table, to_object
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
        allow_abbrev=False,  # the program `run` looks for --peers too
        description="Measure dshstore beside what the demands on it name. Ratios of medians of "
        "processor times, and of times on the wall, from sides that take turns; a missed demand "
        "is said, and fails nothing.",
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
    parser.add_argument(
        "--peers",
        action="store_true",
        help="other libraries that keep what agents say, at the same work; they are installed in "
        "an environment of their own, .venv-bench",
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
    if arguments.peers and arguments.comparison:
        parser.error("--peers is a comparison of its own")
    return arguments


def run(names: Iterable[str], setting: Setting) -> list[Row]:
    """The rows of these comparisons, in their order."""
    rows: list[Row] = []
    for name in names:
        setting.say(f"{name} ...")
        rows += COMPARISONS[name](setting)
    setting.say("done")
    return rows


def tell(
    arguments: argparse.Namespace,
    headings: tuple[str, ...],
    lines: Iterable[tuple[str, ...]],
    objects: Iterable[dict[str, Any]],
) -> None:
    if arguments.json:
        for found in objects:
            print(json.dumps(found))
        return
    for line in (markdown if arguments.markdown else table)(headings, lines):
        print(line)


def compare_peers(arguments: argparse.Namespace, setting: Setting) -> None:
    for section in beside.compare(setting):
        tell(arguments, section.headings, section.lines, section.objects)
        if not arguments.json:
            print()
    print(beside.versions(), file=sys.stderr)


def main() -> int:
    arguments = read_arguments()
    folder: Path = arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix="stores-", dir=folder) as stores:
            setting = Setting(MODES[arguments.mode], folder, Path(stores))
            if arguments.peers:
                compare_peers(arguments, setting)
                return 0
            rows = run(arguments.comparison or COMPARISONS, setting)
    except Failed as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    tell(arguments, HEADINGS, map(cells, rows), map(to_object, rows))
    print(summary(rows), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
