"""Which files of a path are logs, in a stable order, and which generation of a session counts.

A folder gives every `*.jsonl`, `*.jsonl.zst` and `*.jsonl.zstd` below it. Of files that are
named as generations of one session in one folder the highest counts; the others are listed, and
so is what cannot be read: other things than files, links that lead out of the folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from dshstore.formats.dsh.header import generation

_SUFFIXES = (".jsonl", ".jsonl.zst", ".jsonl.zstd")


class Candidate(msgspec.Struct, frozen=True):
    """A file to import, or one that is not opened: the reason is in `skipped` or `refused`."""

    path: str
    skipped: str | None = None
    refused: str | None = None


def find_logs(
    path: str,
    *,
    all_generations: bool = False,
    passed_over: Callable[[str], object] | None = None,
) -> list[Candidate]:
    """The logs that `path` means: the file itself, or all below a folder, sorted by path.

    In a folder, symbolic links that lead out of it are not followed, and nothing but files is
    opened; both are listed, as are folders that cannot be read. `passed_over` is told what has
    not the name of a log.
    """
    if not Path(path).is_dir():
        return [Candidate(path)]
    root = Path(path).resolve()
    found: list[Candidate] = []

    def unreadable(error: OSError) -> None:
        reason = f"the folder cannot be read: {error.strerror}"
        found.append(Candidate(error.filename, refused=reason))

    for folder, folders, names in os.walk(path, onerror=unreadable):
        folders.sort()
        found += [
            Candidate(
                str(Path(folder, name)), skipped="a symbolic link to a folder: name it to import it"
            )
            for name in folders
            if _leads_out(Path(folder, name), root)
        ]
        logs = sorted(name for name in names if name.endswith(_SUFFIXES))
        if passed_over is not None:
            for name in sorted({*names} - {*logs}):
                passed_over(str(Path(folder, name)))
        files = [name for name in logs if _why_skipped(Path(folder, name), root) is None]
        highest = max((g for name in files if (g := generation(name)) is not None), default=0)
        found += _candidates(folder, logs, root, None if all_generations else highest)
    return sorted(found, key=lambda candidate: candidate.path)


def _candidates(
    folder: str, logs: list[str], root: Path, highest: int | None
) -> Iterator[Candidate]:
    for name in logs:
        place = Path(folder, name)
        of_file = generation(name)
        reason = _why_skipped(place, root)
        if reason is None and highest is not None and of_file is not None and of_file < highest:
            reason = (
                f"a lower generation: v{highest} beside it counts (--all-generations takes all)"
            )
        yield Candidate(str(place), reason)


def _why_skipped(place: Path, root: Path) -> str | None:
    if _leads_out(place, root):
        return "a symbolic link out of the folder: name it to import it"
    if place.exists() and not place.is_file():
        return "not a file: name it to read from it"
    return None


def _leads_out(place: Path, root: Path) -> bool:
    try:
        return place.is_symlink() and not place.resolve().is_relative_to(root)
    except RuntimeError:  # links in a circle lead nowhere: opening one says so
        return False
