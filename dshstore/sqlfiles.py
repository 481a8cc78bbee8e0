"""Reads the folder `sql/`: what a store is made of, and the statements that Python runs.

`sql/table`, `view` and `trigger` hold one object a file; they are created in that order, by name.
`sql/query/<module>.sql` holds the statements of one module as blocks that begin with
`-- name: what it does`. `sql/sidefile` holds what other files than stores are made of, each file
in one script. In a wheel the folder stands inside the package; in a checkout beside it.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TypeVar

import msgspec

T = TypeVar("T", bound=msgspec.Struct)

_STATEMENT = re.compile(r"^CREATE (?:UNIQUE )?(TABLE|INDEX|VIEW|TRIGGER) (\w+)", re.MULTILINE)
_ONE_ROW = re.compile(r"(?P<head>INSERT INTO .*\sVALUES )\((?P<row>:\w+(?:, :\w+)*)\)", re.DOTALL)
_BLOCK = re.compile(r"^-- (\w+): (.*)$", re.MULTILINE)


class Statement(msgspec.Struct, frozen=True):
    """One SQL statement that Python runs; parameters are `:named`."""

    name: str
    sql: str

    def for_rows(self, count: int) -> str | None:
        """The INSERT of one row as one of `count` rows; None for any other statement.

        Its parameters are a sequence: those of the first row, of the second, and so on.
        """
        return _for_rows(self.sql, count)


@cache
def _for_rows(sql: str, count: int) -> str | None:
    match = _ONE_ROW.fullmatch(sql)
    if match is None:
        return None
    row = f"({', '.join('?' * match['row'].count(':'))})"
    return match["head"] + ", ".join([row] * count)


class SchemaObject(msgspec.Struct, frozen=True):
    """One object of a store, with the text that `sqlite_schema` keeps of it."""

    kind: str
    name: str
    sql: str


def _folder() -> Path:
    packed = Path(__file__).with_name("_sql")
    return packed if packed.is_dir() else Path(__file__).parent.parent / "sql"


@cache
def schema_objects() -> tuple[SchemaObject, ...]:
    """Every object of a store, in the order in which they are created."""
    found = []
    for folder in ("table", "view", "trigger"):
        paths = sorted((_folder() / folder).iterdir())
        for path in paths:
            text = path.read_text(encoding="utf-8")
            starts = [match.start() for match in _STATEMENT.finditer(text)]
            for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
                statement = text[start:end].rstrip().removesuffix(";")
                match = _STATEMENT.match(statement)
                assert match is not None
                found.append(SchemaObject(match[1].lower(), match[2], statement))
    return tuple(found)


def side_script(name: str) -> str:
    """The statements that make a side file: `sql/sidefile/<name>.sql`."""
    return (_folder() / "sidefile" / f"{name}.sql").read_text(encoding="utf-8")


def load(module: str, record: type[T]) -> T:
    """The statements of `sql/query/<module>.sql` as one `record`, whose fields are their names.

    Raises TypeError when file and record do not name the same statements.
    """
    text = (_folder() / "query" / f"{module}.sql").read_text(encoding="utf-8")
    heads = list(_BLOCK.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    statements = {
        head[1]: Statement(head[1], text[head.end() : end].strip().removesuffix(";"))
        for head, end in zip(heads, ends, strict=True)
    }
    if set(statements) != set(record.__struct_fields__):
        odd = sorted(set(statements) ^ set(record.__struct_fields__))
        raise TypeError(f"sql/query/{module}.sql and {record.__name__} differ in {', '.join(odd)}")
    return record(**statements)
