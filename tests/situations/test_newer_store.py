"""A store that a newer program wrote is opened by this one."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path

import pytest

import dshstore
from dshstore import UnsupportedSchema
from dshstore.schema import SCHEMA_VERSION
from tests.cli.running import cli
from tests.situations.conftest import write_session

#: Where an SQLite file keeps its user_version.
USER_VERSION = 60


@pytest.fixture
def newer(tmp_path: Path) -> Path:
    """A store of the next schema version, and a log beside it."""
    place, log = tmp_path / "newer.db", tmp_path / "beans.jsonl"
    log.write_bytes(write_session("beans"))
    with dshstore.open(place) as store:
        store.import_log(log)
    data = bytearray(place.read_bytes())
    data[USER_VERSION : USER_VERSION + 4] = struct.pack(">i", SCHEMA_VERSION + 1)
    place.write_bytes(data)
    return place


def state(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


@pytest.mark.parametrize("mode", ["read", "write"])
def test_it_is_refused_and_not_a_byte_changes(newer: Path, mode: str) -> None:
    before = state(newer.parent)
    with pytest.raises(UnsupportedSchema) as error:
        dshstore.open(newer, mode=mode)  # type: ignore[arg-type]
    assert (error.value.found, error.value.supported) == (SCHEMA_VERSION + 1, SCHEMA_VERSION)
    assert str(newer) in str(error.value)
    assert state(newer.parent) == before


@pytest.mark.parametrize("command", ["sessions", "import"])
def test_a_command_says_both_versions_and_what_to_do(newer: Path, command: str) -> None:
    before = state(newer.parent)
    log = [newer.parent / "beans.jsonl"] if command == "import" else []
    done = cli(command, newer, *log)
    assert (done.status, done.out) == (3, b"")
    for said in (f"schema {SCHEMA_VERSION + 1}", f"schema {SCHEMA_VERSION}", "export"):
        assert said in done.err
    assert state(newer.parent) == before
