"""Where logs are read from."""

from __future__ import annotations

import errno
import io
from pathlib import Path

import pytest

from dshstore import LogRefused, Store
from dshstore.engine.sources import from_here, open_log
from tests.cli.running import small_log


class Pipe(io.BytesIO):
    """A stream that can be read once."""

    def seekable(self) -> bool:
        return False


class BadDisk(io.BytesIO):
    """A file of which only the first bytes can be read."""

    def read(self, size: int | None = -1, /) -> bytes:
        if self.tell() > 0:
            raise OSError(errno.EIO, "Input/output error")
        return super().read(100)


def test_a_file_is_read_in_place(tmp_path: Path) -> None:
    place = tmp_path / "log.jsonl"
    place.write_bytes(b"some words")
    read: list[int] = []
    with open_log(str(place), read.append) as source:
        assert source.read(4) + source.read(99) == b"some words"
        assert source.seekable()
        assert source.seek(2) == 2
    assert read == [4, 10]


@pytest.mark.parametrize("name", ["missing", "folder"])
def test_a_file_that_cannot_be_opened_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(LogRefused) as error, open_log(str(tmp_path / name)):
        pass
    assert error.value.path == str(tmp_path / name)
    assert error.value.reason in ("No such file or directory", "Is a directory")


def test_what_can_be_read_once_is_copied_if_it_is_to_be_read_twice() -> None:
    with from_here(Pipe(b"words"), "-") as once:
        assert not once.seekable()
    with from_here(Pipe(b"words"), "-", twice=True) as twice:
        assert twice.seekable()
        assert twice.read(9) == b"words"


def test_the_log_begins_where_a_stream_stands() -> None:
    stream = io.BytesIO(b"before and after")
    stream.read(11)
    with from_here(stream, "-") as rest:
        assert rest.read(99) == b"after"
        rest.seek(0)
        assert rest.read(99) == b"after"


@pytest.mark.parametrize("salvage", [False, True])
def test_a_disk_that_fails_is_a_fault_of_the_log_and_not_of_the_store(
    store: Store, salvage: bool
) -> None:
    with pytest.raises(LogRefused, match=r"log\.jsonl: Input/output error"):
        store.import_stream(BadDisk(small_log("beans")), "log.jsonl", salvage=salvage)
    assert store.sessions() == []
    assert store.import_stream(io.BytesIO(small_log("beans"))).outcome == "imported"
