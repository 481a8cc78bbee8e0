"""Which files of a path are logs, in a stable order, and which generation of a session counts.

A folder gives every `*.jsonl`, `*.jsonl.zst` and `*.jsonl.zstd` below it. Of files that are
named as generations of one session in one folder the highest counts; the others are listed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from dshstore.formats.dsh.header import generation

_SUFFIXES = (".jsonl", ".jsonl.zst", ".jsonl.zstd")


class Candidate(msgspec.Struct, frozen=True):
    """A file to import, or to pass over for the reason in `skipped`."""

    path: str
    size: int
    skipped: str | None = None


def find_logs(path: str, *, all_generations: bool = False) -> list[Candidate]:
    """The logs that `path` means: the file itself, or all below a folder, sorted by path.

    Symbolic links that lead out of the folder are not followed, but listed.
    """
    if not Path(path).is_dir():
        return [Candidate(path, _size(path))]
    root = Path(path).resolve()
    found: list[Candidate] = []
    for folder, folders, names in os.walk(path):
        folders.sort()
        linked = [name for name in folders if Path(folder, name).is_symlink()]
        found += [
            Candidate(str(Path(folder, name)), 0, "a symbolic link to a folder: name it to import it")
            for name in linked
            if not Path(folder, name).resolve().is_relative_to(root)
        ]
        logs = sorted(name for name in names if name.endswith(_SUFFIXES))
        highest = max((g for name in logs if (g := generation(name)) is not None), default=0)
        found += _candidates(folder, logs, root, None if all_generations else highest)
    return sorted(found, key=lambda candidate: candidate.path)


def _candidates(
    folder: str, logs: list[str], root: Path, highest: int | None
) -> Iterator[Candidate]:
    for name in logs:
        place = Path(folder, name)
        of_file = generation(name)
        reason = None
        if place.is_symlink() and not place.resolve().is_relative_to(root):
            reason = "a symbolic link out of the folder: name it to import it"
        elif highest is not None and of_file is not None and of_file < highest:
            reason = f"a lower generation: v{highest} in the same folder counts"
        yield Candidate(str(place), _size(str(place)), reason)


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0
