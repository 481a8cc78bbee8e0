"""Every documented view in the tools that people open a store with, as processes of their own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

import dshstore
from tests.logs import LogBuilder, make_header, text, write_log
from tests.real_parts import NODE, require, require_node_package, require_package
from tests.sql.test_views import SESSION_VIEWS
from tests.stores import SAMPLES

VIEWS = [*SESSION_VIEWS, "event_types"]

#: All rows of each view.
Rows = list[tuple[Any, ...]]
Found = dict[str, Rows]


def write_odd(version: int) -> bytes:
    """A log in many scripts, with half a character, and with a line that is spaced oddly."""
    log = LogBuilder(version)
    log.start_turn()
    log.start_step()
    log.header()
    log.append("user/message", log.user(text("番茄缺水了吗 🍅\u2028\u202e"), text('"\\\n\t\x7f')))
    log.append("user/message", log.user(text("half \ud83c of one"), text("")))
    call = {"type": "tool-call", "id": "呼び出し", "name": "看", "arguments": '{"何":"土"}'}
    log.settle([(text("好"), ["好"]), (call, ["{", '"何":"土"}'])])
    log.append("tool/result", log.result("呼び出し", text("湿り気 14 %")), [log.call(call)])
    log.settle([(call, ['{"何":"土"}'])])
    return write_log(make_header(version, f"庭-{version}", cwd="/srv/庭"), log.events).replace(
        b'{"type":"turn/start",', b'{ "type":"turn/start", '
    )


@pytest.fixture(scope="module")
def garden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forks, generations, runs, rows kept raw, compactions, failed attempts, odd texts."""
    folder = tmp_path_factory.mktemp("readers")
    odd = [folder / f"odd{version}.jsonl" for version in (0, 4)]
    for version, log in zip((0, 4), odd, strict=True):
        log.write_bytes(write_odd(version))
    with dshstore.open(folder / "garden.db", durability="NORMAL") as store:
        taken = list(store.import_paths([SAMPLES, *odd]))
        assert {each.outcome for each in taken} == {"imported"}
        store.fork("seedlings", new_id="shared").close()
        store.fork("庭-4", new_id="closed").close()
        store.migrate("bean-bed", to=2)
        assert list(store.sql("SELECT 1 FROM events WHERE raw IS NOT NULL")[1])
    return folder / "garden.db"


@pytest.fixture(scope="module")
def ours(garden: Path) -> Found:
    with dshstore.open(garden, mode="read") as store:
        found = {view: list(store.sql(" ".join(["SELECT * FROM", view]))[1]) for view in VIEWS}
    assert all(found.values())
    return found


# -- the tools --


def read_in_shell(path: Path) -> Found:
    def read(view: str) -> Rows:
        everything = " ".join(["SELECT * FROM", view])
        return in_rows(run(require("sqlite3"), "-readonly", "-json", str(path), everything))

    return {view: read(view) for view in VIEWS}


def read_in_sqlite_utils(path: Path) -> Found:
    return {view: in_rows(run(require("sqlite-utils"), "rows", str(path), view)) for view in VIEWS}


def read_in_datasette(path: Path) -> Found:
    settings = {"max_returned_rows": 100_000, "sql_time_limit_ms": 60_000, "suggest_facets": "off"}
    options = [part for item in settings.items() for part in ("--setting", *map(str, item))]
    command = [require("datasette"), "serve", str(path), "--port", "0", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            told = (re.search(r"running on (http://\S+)", line) for line in server.stderr)
            address = next(found[1] for found in told if found)
            return {
                view: in_rows(fetch(f"{address}/garden/{view}.json?_shape=array&_size=max"))
                for view in VIEWS
            }
        finally:
            server.terminate()


def read_in_node(path: Path) -> Found:
    require_node_package("better-sqlite3", "build/Release/better_sqlite3.node")
    return json.loads(run(require("node"), str(NODE / "read_views.cjs"), str(path), *VIEWS))  # type: ignore[no-any-return]


def read_attached_to_duckdb(path: Path) -> Found:
    return read_in_duckdb(path, "attached", VIEWS)


def read_by_sqlite_in_duckdb(path: Path) -> Found:
    return read_in_duckdb(path, "asked", VIEWS)


def read_in_duckdb(path: Path, how: str, views: list[str]) -> Found:
    for package in ("duckdb", "duckdb_extension_sqlite_scanner"):
        require_package(package)
    program = Path(__file__).parent / "duckdb_reader.py"
    return json.loads(run(sys.executable, str(program), str(path), how, *views))  # type: ignore[no-any-return]


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout or "[]"


def fetch(address: str) -> str:
    with urlopen(address) as answer:
        return str(answer.read(), "utf-8")


def in_rows(objects: str) -> Rows:
    return [tuple(row.values()) for row in json.loads(objects)]


#: What DuckDB has SQLite do gives texts.
TEXTS = [read_attached_to_duckdb, read_by_sqlite_in_duckdb]
READERS = [read_in_shell, read_in_sqlite_utils, read_in_datasette, read_in_node, *TEXTS]


@pytest.fixture(scope="module", params=READERS)
def reader(request: pytest.FixtureRequest) -> Callable[[Path], Found]:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def theirs(reader: Callable[[Path], Found], garden: Path) -> Iterator[Found]:
    before = garden.read_bytes()
    yield reader(garden)
    assert garden.read_bytes() == before


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_the_same_in_another_tool(
    ours: Found, theirs: Found, reader: Callable[[Path], Found], view: str
) -> None:
    reals = {at for row in ours[view] for at, value in enumerate(row) if isinstance(value, float)}

    def told(row: tuple[Any, ...]) -> list[Any]:
        """The row without what tools write in their own way: the last digits of a real number."""
        near = [f"{float(v):.9g}" if i in reals and v is not None else v for i, v in enumerate(row)]
        return [v if v is None else str(v) for v in near] if reader in TEXTS else near

    assert sorted(map(told, theirs[view]), key=repr) == sorted(map(told, ours[view]), key=repr)
