"""`dshstore import`: bring logs into a store, and say what became of each."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator

import click
import msgspec

import dshstore
from dshstore import ImportResult, Limits, LogRefused, MigrationRefused, Store
from dshstore.cli.output import flush, say, visible, write_json, write_text
from dshstore.cli.parameters import (
    COUNT,
    examples,
    json_option,
    read_size,
    spell_size,
    store_argument,
)
from dshstore.cli.progress import ImportProgress

_STDIN = "-"

#: In the order in which the last line counts them.
_OUTCOMES = ("imported", "extended", "unchanged", "skipped", "salvaged", "refused")

_DEFAULT = Limits()

#: The log format that --migrate leads to.
_MIGRATED = 2


@click.command(
    "import",
    epilog=examples(
        "dshstore import garden.db logs/ another.jsonl.zstd",
        "ssh shed cat session.v4.jsonl | dshstore import garden.db - --json",
    ),
)
@store_argument
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option(
    "--salvage",
    is_flag=True,
    help="Of a broken log, import the sound part and set the rest aside (see `quarantine`).",
)
@click.option(
    "--migrate",
    is_flag=True,
    help="Migrate what is older than log format v2 to v2 (see `migrate`).",
)
@click.option(
    "--all-generations",
    is_flag=True,
    help="Of a session that a folder holds in several format versions, import all, "
    "not the highest alone.",
)
@click.option(
    "--max-line",
    callback=read_size,
    metavar="SIZE",
    default=spell_size(_DEFAULT.max_line),
    show_default=True,
    help="The longest line that is taken, in bytes.",
)
@click.option(
    "--max-decoded",
    callback=read_size,
    metavar="SIZE",
    default=spell_size(_DEFAULT.max_decoded),
    show_default=True,
    help="The most that a zstd log may hold, in bytes.",
)
@click.option(
    "--max-ratio",
    type=COUNT,
    metavar="N",
    default=_DEFAULT.max_ratio,
    show_default=True,
    help="The most bytes that a byte of a zstd log may hold.",
)
@json_option
def command(
    store: str,
    paths: tuple[str, ...],
    salvage: bool,
    migrate: bool,
    all_generations: bool,
    max_line: int,
    max_decoded: int,
    max_ratio: int,
    as_json: bool,
) -> int:
    """Import logs into STORE, which is made when it is not there.

    A PATH is a log (JSON Lines, plain or zstd), a folder of logs (*.jsonl, *.jsonl.zst,
    *.jsonl.zstd), or - for standard input. A log that has grown since its last import extends its
    session. One that cannot be taken as a whole is refused, with its place, and stops no other.
    Sources are only read.
    """
    limits = Limits(max_line=max_line, max_decoded=max_decoded, max_ratio=max_ratio)
    progress = ImportProgress() if ImportProgress.wanted() and not as_json else None
    outcomes: Counter[str] = Counter()
    stayed = 0
    passed_over: list[str] = []
    with dshstore.open(store) as opened:
        for path in paths:
            before = outcomes.total()
            for result in _results(
                opened, path, salvage, all_generations, limits, progress, passed_over
            ):
                outcomes[result.outcome] += 1
                if migrate and _is_old(result):
                    result, migrated = _migrate(opened, result)
                    stayed += not migrated
                if progress:
                    progress.clear()
                write_json(msgspec.to_builtins(result)) if as_json else _tell(result)
                flush()
            if outcomes.total() == before:
                say(f"{visible(path)}: no logs (*.jsonl, *.jsonl.zst, *.jsonl.zstd) in this folder")
    if not as_json:
        _sum_up(outcomes, len(passed_over))
    return 1 if outcomes["refused"] or stayed else 0


def _is_old(result: ImportResult) -> bool:
    return result.format_version is not None and result.format_version < _MIGRATED


def _migrate(store: Store, result: ImportResult) -> tuple[ImportResult, bool]:
    """Migrate what was imported: the result with a note on it, and whether it could be done."""
    name = f"{result.session_id}@v{result.format_version}"
    try:
        session = store.migrate(name, to=_MIGRATED)
    except MigrationRefused as refusal:
        note, done = f"not migrated to v{_MIGRATED}: {refusal}", False
    else:
        note, done = f"migrated to v{_MIGRATED}: {session.next_seq} events", True
    return msgspec.structs.replace(result, notes=[*result.notes, note]), done


def _results(
    store: Store,
    path: str,
    salvage: bool,
    all_generations: bool,
    limits: Limits,
    progress: ImportProgress | None,
    passed_over: list[str],
) -> Iterator[ImportResult]:
    if path == _STDIN:
        yield _import_stdin(store, salvage, limits)
    else:
        yield from store.import_paths(
            [path],
            salvage=salvage,
            all_generations=all_generations,
            limits=limits,
            progress=progress,
            passed_over=passed_over.append,
        )


def _import_stdin(store: Store, salvage: bool, limits: Limits) -> ImportResult:
    try:
        return store.import_stream(sys.stdin.buffer, _STDIN, salvage=salvage, limits=limits)
    except LogRefused as error:
        return ImportResult(
            path=_STDIN,
            outcome="refused",
            reason=error.reason,
            line=error.line,
            frame=error.frame,
            offset=error.offset,
        )


def _tell(result: ImportResult) -> None:
    """What became of an input, for people: a line of data, and words on what is odd."""
    path = visible(result.path)
    if result.outcome == "refused":
        places = (("line", result.line), ("frame", result.frame), ("byte", result.offset))
        place = ", ".join(f"{name} {at}" for name, at in places if at is not None)
        reason = visible(result.reason or "")
        say(": ".join(part for part in ("refused", path, place, reason) if part))
        return
    if result.outcome == "skipped":
        write_text(f"skipped    {path}: {visible(result.reason or '')}")
        return
    if result.session_id is None:
        write_text(f"{result.outcome:<9}  {path}: no session")
    else:
        grown = f", {result.added} of them new" if result.outcome == "extended" else ""
        session = f"{visible(result.session_id)} v{result.format_version}"
        write_text(f"{result.outcome:<9}  {path}: {session}, {result.events} events{grown}")
    for note in result.notes:
        say(f"note: {path}: {visible(note)}")


def _sum_up(outcomes: Counter[str], passed_over: int) -> None:
    """How many logs there were, where there are more than one, and how many other files."""
    logs = outcomes.total()
    counted = ", ".join(f"{outcomes[name]} {name}" for name in _OUTCOMES if outcomes[name])
    others = "1 file" if passed_over == 1 else f"{passed_over} files"
    rest = f"; {others} of another name passed over" if passed_over else ""
    if logs > 1 or (logs and rest):
        say(f"{'1 log' if logs == 1 else f'{logs} logs'}: {counted}{rest}")
