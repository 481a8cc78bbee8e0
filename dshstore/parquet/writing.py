"""Writes the documented views as Parquet files, with typed columns, for other analysts' tools.

Decides how a value of SQLite becomes one of a column's type: whole numbers and text mostly are
what they should be already. A log may hold anything in its JSON, though: a value that is not of
its column's type is left out, and counted. Which columns there are is for `views`. pyarrow does
the writing; it is imported when it is needed.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from dshstore.db import Database, Row, check_output
from dshstore.engine.exporting import writing
from dshstore.engine.read import find_session
from dshstore.errors import ExtraMissing, OutputRefused, QueryFailed, TextUnreadable, WriteFailed
from dshstore.parquet.views import VIEWS, Kind, statements
from dshstore.store import Store

#: A row group is as many rows as this, or as many characters: what is in memory at once.
GROUP_ROWS, GROUP_CHARACTERS = 65_536, 16 * 1024 * 1024

#: The times that calendars of other tools reach, in epoch ms: years 1 to 9999.
_FIRST_TIME, _LAST_TIME = -62_135_596_800_000, 253_402_300_799_999

_INT64 = range(-(2**63), 2**63)


class ExportedView(msgspec.Struct, frozen=True):
    """One file: its view, how many rows it has, and how many values of a column it lacks.

    `left_out` counts, by column, the values that are not of the column's type; they are NULL.
    """

    view: str
    path: str
    rows: int
    left_out: dict[str, int]


def write_views(
    store: Store, folder: str | os.PathLike[str], session_id: str | None = None
) -> Iterator[ExportedView]:
    """Write each documented view to `folder/VIEW.parquet`, one after the other.

    All are of one moment, whoever writes to the store meanwhile; of one session, or of all. The
    folder is made if need be; a file that is there is replaced when the new one is whole. What
    can be refused is, before anything is written. Raises SessionNotFound; OutputRefused;
    WriteFailed; TextUnreadable; ExtraMissing without pyarrow.
    """
    _require_pyarrow()
    place = Path(folder)
    with closing(Database.open(store.path, "read")) as database:
        keys = {"first": 0, "last": _INT64.stop - 1}
        if session_id is not None:
            keys = dict.fromkeys(keys, find_session(database, session_id).key)
        _prepare(store, place)
        asked = ((statement, keys) for statement in statements().values())
        with closing(database.read_together(asked)) as answers:
            for view, (columns, rows) in zip(VIEWS, answers, strict=True):
                if columns != list(VIEWS[view]):
                    raise TypeError(f"view {view} has other columns than are declared: {columns}")
                with _unreadable_told(f"{store.path}: the view {view}"):
                    written = _write_view(view, rows, _path_of(view, place))
                yield written


def _prepare(store: Store, place: Path) -> None:
    """Make the folder, if every file of it can be written as far as one can see."""
    for path in (_path_of(view, place) for view in VIEWS):
        check_output(store.path, path)
        if path.is_dir():
            raise OutputRefused(f"{path}: is a folder, where a file is to be written")
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteFailed(f"{place}: cannot be made a folder: {error.strerror}") from error


def _path_of(view: str, place: Path) -> Path:
    return place / f"{view}.parquet"


@contextmanager
def _unreadable_told(where: str) -> Iterator[None]:
    """Text that is not UTF-8, as a writer of plain SQL can leave it, is no fault of a question."""
    try:
        yield
    except QueryFailed as error:
        if isinstance(error.__cause__, UnicodeDecodeError):
            raise TextUnreadable(f"{where} holds text that is not UTF-8") from error
        raise


def _require_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ExtraMissing("parquet", "pyarrow", "Parquet files are written") from error


def _write_view(view: str, rows: Iterable[Row], path: Path) -> ExportedView:
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    kinds = VIEWS[view]
    schema = pyarrow.schema([(name, _type_of(kind)) for name, kind in kinds.items()])
    left_out: Counter[str] = Counter()
    count = 0
    with writing(path) as out, ParquetWriter(out, schema, compression="zstd") as writer:
        for group in _groups(rows):
            arrays = []
            for (name, kind), values in zip(kinds.items(), zip(*group, strict=True), strict=True):
                array, bad = _array(values, kind)
                left_out[name] += bad
                arrays.append(array)
            writer.write_batch(pyarrow.record_batch(arrays, schema=schema))
            count += len(group)
    return ExportedView(view, str(path), count, {k: v for k, v in left_out.items() if v})


def _groups(rows: Iterable[Row]) -> Iterator[list[Row]]:
    group: list[Row] = []
    size = 0
    for row in rows:
        group.append(row)
        size += sum(len(value) for value in row if isinstance(value, str))
        if len(group) == GROUP_ROWS or size >= GROUP_CHARACTERS:
            yield group
            group, size = [], 0
    if group:
        yield group


def _type_of(kind: Kind) -> Any:
    import pyarrow

    types: dict[Kind, Any] = {
        "int": pyarrow.int64(),
        "float": pyarrow.float64(),
        "bool": pyarrow.bool_(),
        "text": pyarrow.string(),
        "json": pyarrow.string(),
        "time": pyarrow.timestamp("ms", tz="UTC"),
    }
    return types[kind]


def _array(values: Sequence[Any], kind: Kind) -> tuple[Any, int]:
    """The values as a column of this kind, and how many are none and left out."""
    import pyarrow

    if kind in ("int", "text", "json"):
        with suppress(pyarrow.ArrowException, OverflowError):  # mostly all are what they should be
            return pyarrow.array(values, _type_of(kind)), 0
    read = _READERS[kind]
    taken = [None if value is None else read(value) for value in values]
    return pyarrow.array(taken, _type_of(kind)), taken.count(None) - values.count(None)


def _whole(value: Any) -> int | None:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and value in _INT64 else None


def _time(value: Any) -> int | None:
    whole = _whole(value)
    return whole if whole is not None and _FIRST_TIME <= whole <= _LAST_TIME else None


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _truth(value: Any) -> bool | None:
    return bool(value) if value in (0, 1) else None


def _text(value: Any) -> str | None:
    """Text as it is; a number as SQLite shows it to who asks for text."""
    return (
        value if isinstance(value, str) else str(value) if isinstance(value, int | float) else None
    )


_READERS: dict[Kind, Callable[[Any], Any]] = {
    "int": _whole,
    "float": _number,
    "bool": _truth,
    "text": _text,
    "json": _text,
    "time": _time,
}
