"""What may be asked for: the folder that names a project, and how many answers.

Decides what a folder is called in logs, and which numbers of answers make sense, whoever asks;
what fits is for the questions to find.
"""

from __future__ import annotations

import os
import re

from dshstore.model import MAX_SAFE

#: How a folder of Windows begins, which only the log of another machine has.
_OF_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")


def name_folder(folder: str) -> str:
    """The folder as a log names it: absolute, without `..`, symbolic links as they are."""
    if _OF_WINDOWS.match(folder):
        return folder
    name = os.path.abspath(folder)  # noqa: PTH100 (Path.absolute keeps "..")
    return name[1:] if name.startswith("//") else name  # POSIX leaves these two to systems


def check_limit(limit: int) -> int:
    """So many answers at the most. Raises ValueError for a number that nobody can mean."""
    if not 1 <= limit <= MAX_SAFE:
        raise ValueError(f"a limit is from 1 to {MAX_SAFE}, not {limit}")
    return limit
