"""What SQLite refuses, in our words: apsw's errors become ours here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from dshstore.errors import (
    CorruptStore,
    NotAStore,
    RuleBroken,
    StoreBusy,
    StoreError,
    TextUnreadable,
    WriteFailed,
)

#: Seconds that a statement waits for another process's lock.
BUSY_TIMEOUT = 5.0


def message_of(error: BaseException) -> str:
    """SQLite's own words."""
    text = str(error)
    return text.split(": ", 1)[1] if text.startswith(f"{type(error).__name__}: ") else text


@contextmanager
def errors(path: str) -> Iterator[None]:
    """apsw's errors in here become ours; `path` is the file they are about."""
    try:
        yield
    except (apsw.Error, OSError, UnicodeDecodeError) as error:
        raise translated(error, path) from error


def translated(error: Exception, path: str) -> StoreError:
    """Our error for one of apsw's."""
    message = message_of(error)
    match error:
        case apsw.ConstraintError():
            return RuleBroken(message)
        case apsw.BusyError() | apsw.LockedError():
            return StoreBusy(
                f"{path}: another process has held the store's lock for {BUSY_TIMEOUT:g} s; "
                "try again when it is done"
            )
        case apsw.ConnectionClosedError():
            return StoreError(f"{path}: is closed, or was opened before this process was forked")
        case apsw.NotADBError():
            return NotAStore(path, "not an SQLite file")
        case UnicodeDecodeError():
            return TextUnreadable(f"{path}: it holds text that is not UTF-8: {error.object[:80]!r}")
        case apsw.CorruptError():
            return CorruptStore(f"{path}: SQLite finds the file damaged: {message}")
        case apsw.FullError():
            return WriteFailed(f"{path}: no space left to write; free some and try again")
        case apsw.CantOpenError():
            return NotAStore(path, f"cannot be opened ({_why_not(path)})")
        case apsw.ReadOnlyError() | apsw.PermissionsError() | apsw.IOError():
            return WriteFailed(f"{path}: cannot be written ({message})")
        case OSError():
            return WriteFailed(f"{path}: {error.strerror}")
        case _:
            return StoreError(f"{path}: {message}")


def _why_not(path: str) -> str:
    place = Path(path)
    if place.is_dir():
        return "it is a folder"
    if not place.exists():
        return "no such file" if place.parent.exists() else f"no folder {place.parent}"
    return "no permission, or its folder is not writable"
