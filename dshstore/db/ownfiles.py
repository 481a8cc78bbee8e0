"""Which files are a store's own: what a command gives out is never written over one of them."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from dshstore.errors import OutputRefused

#: What stands behind a store's name in that of an index of its texts.
INDEX_ENDS = ("-search", "-search-all")

#: What SQLite adds to the name of a file that it writes.
SQLITE_ENDS = ("-wal", "-shm", "-journal")

_ENDS = tuple(index + end for index in ("", *INDEX_ENDS) for end in ("", *SQLITE_ENDS))


def is_own_file(store: str, path: str | os.PathLike[str]) -> bool:
    """Whether `path` is the store or one of the files beside it, by any name or link.

    What has the name of such a file is one before it is there.
    """
    meant = os.path.realpath(path)
    for end in _ENDS:
        for own in (os.path.realpath(store) + end, os.path.abspath(store) + end):  # noqa: PTH100
            if meant == own:
                return True
            with suppress(OSError):
                if Path(own).samefile(meant):
                    return True
    return False


def check_output(store: str, path: str | os.PathLike[str]) -> None:
    """Raise OutputRefused where what is written to `path` would take the place of an own file."""
    if is_own_file(store, path):
        raise OutputRefused(f"{os.fspath(path)}: is a file of the store; name another to write to")
