"""The side file: in step with its store whatever became of either, and never in its way."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

import dshstore
from dshstore import SearchIndexBusy, SearchIndexUnwritten
from dshstore.db import Database
from dshstore.engine.searching import sidefile
from dshstore.sqlfiles import Statement
from tests.engine.searching.written import found, log_of, new_store, take_in

DELETE_SESSION = Statement("delete", "DELETE FROM sessions WHERE session_id = :session_id")
ROOT = Path(__file__).parents[3]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store in which somebody spoke of beans (event 2) and of soil (event 3)."""
    return new_store(tmp_path / "store.db", "runner beans", "dry soil")


def side_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-search")


def look(path: Path, query: str) -> list[tuple[str, int]]:
    with dshstore.open(path, mode="read") as store:
        return found(store, query)


def test_the_store_is_not_written_to(path: Path) -> None:
    before = path.read_bytes()
    assert look(path, "beans") == [("a", 2)]
    assert path.read_bytes() == before
    assert sorted(p.name for p in path.parent.iterdir() if p.suffix != ".jsonl") == [
        "store.db",
        "store.db-search",
    ]


def test_the_side_file_is_its_owners_alone(path: Path) -> None:
    look(path, "beans")
    assert stat.S_IMODE(side_of(path).stat().st_mode) == 0o600


def test_a_search_that_finds_all_in_step_writes_nothing(path: Path) -> None:
    look(path, "beans")
    before = side_of(path).stat()
    look(path, "soil")
    after = side_of(path).stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_what_was_appended_is_found(path: Path) -> None:
    with dshstore.open(path) as store:
        assert found(store, "beans") == [("a", 2)]
        with store.resume("a", commit_each=True) as session:
            session.append("session/title", {"title": "Beans and more"})
            assert found(store, "beans") == [("a", 2), ("a", 7)]
            session.append("session/title", {"title": "Even more beans"})
    assert look(path, "beans") == [("a", 2), ("a", 7), ("a", 8)]


def test_extending_reads_only_what_is_new(path: Path) -> None:
    look(path, "beans")
    file = side_of(path).stat().st_ino
    told: list[tuple[int, int]] = []
    with dshstore.open(path) as store:
        with store.resume("a") as session:
            session.append("session/title", {"title": "Beans"})
        ends = store.session("a").next_seq
        store.search("beans", progress=lambda done, total: told.append((done, total)))
    assert told == [(ends - 6, ends - 6)]
    assert side_of(path).stat().st_ino == file


def test_more_than_one_transaction_takes_all_in(tmp_path: Path) -> None:
    long = [f"word{n} and " * 50_000 for n in range(9)]
    path = new_store(tmp_path / "store.db", *long)
    for n in (0, 8):
        assert look(path, f"word{n}") == [("a", n + 2)]


# -- what became of the store --


def test_a_deleted_session_is_not_found(path: Path) -> None:
    with dshstore.open(path) as store:
        take_in(store, log_of("b", "more beans"), path.with_name("b.jsonl"))
    assert look(path, "beans") == [("a", 2), ("b", 2)]
    delete_session(path, "a")
    assert look(path, "beans") == [("b", 2)]


def delete_session(path: Path, session_id: str) -> None:
    database = Database.open(str(path), "write")
    database.write([(DELETE_SESSION, {"session_id": session_id})])
    database.close()


def test_a_session_that_came_again_is_read_again(path: Path) -> None:
    look(path, "beans")
    delete_session(path, "a")
    with dshstore.open(path) as store:
        take_in(store, log_of("a", "wet sand", "deep snow"), path.with_name("a.jsonl"))
        assert found(store, "beans") == []
        assert found(store, "snow") == [("a", 3)]


def test_a_higher_generation_takes_the_place_of_a_lower(tmp_path: Path) -> None:
    with dshstore.open(tmp_path / "store.db") as store:
        take_in(store, log_of("a", "runner beans", version=0), tmp_path / "a.jsonl")
        assert found(store, "beans") == [("a", 2)]
        store.migrate("a", to=2)
        [hit] = store.search("beans")
        assert hit.format_version == 2


def test_another_store_of_the_same_ids_is_read_anew(path: Path, tmp_path: Path) -> None:
    look(path, "beans")
    (tmp_path / "other").mkdir()
    other = new_store(tmp_path / "other" / "store.db", "deep snows", "dry sand")
    shutil.copy(other, path)
    assert (look(path, "beans"), look(path, "snows")) == ([], [("a", 2)])
    shutil.copy(side_of(path), side_of(other))
    assert look(other, "sand") == [("a", 3)]


def test_a_store_that_went_back_and_on_is_read_anew(path: Path, tmp_path: Path) -> None:
    copy = shutil.copy(path, tmp_path / "copy.db")
    for restored, words in ((False, "wet sand"), (True, "deep snow"), (True, "hot wind")):
        if restored:
            shutil.copy(copy, path)
        with dshstore.open(path) as store, store.resume("a") as session:
            session.append("session/title", {"title": words})
        for other in ("sand", "snow", "wind"):
            assert look(path, other) == ([("a", 7)] if words.endswith(other) else []), other
    shutil.copy(copy, path)
    assert (look(path, "wind"), look(path, "beans")) == ([], [("a", 2)])


# -- what became of the side file --


def truncate(side: Path) -> None:
    os.truncate(side, side.stat().st_size // 2)


def truncate_a_little(side: Path) -> None:
    os.truncate(side, 100)


def overwrite(side: Path) -> None:
    side.write_text("no index at all, and much longer than a header " * 100)


def scramble(side: Path) -> None:
    data = bytearray(side.read_bytes())
    for at in range(200, len(data), 97):
        data[at] ^= 0xA5
    side.write_bytes(data)


def empty(side: Path) -> None:
    side.write_bytes(b"")


def remove(side: Path) -> None:
    side.unlink()


def age(side: Path) -> None:
    database = Database.open(str(side), "write")
    database.execute_script("DELETE FROM texts")  # as if another release had other tables
    database.pragma("user_version", sidefile.VERSION - 1)
    database.close()


def estrange(side: Path) -> None:
    """Another program's file."""
    side.unlink()
    Database.create(str(side), lambda d: d.execute_script("CREATE TABLE t (a)")).close()


def take_tables_away(side: Path) -> None:
    database = Database.open(str(side), "write")
    database.execute_script("DROP TABLE words")
    database.close()


def lose_texts(side: Path) -> None:
    database = Database.open(str(side), "write")
    database.execute_script("UPDATE texts SET seq = 5 - seq")
    database.close()


def leave_a_journal(side: Path) -> None:
    """Of another file, as if a process had been killed in writing it."""
    side.with_name(f"{side.name}-journal").write_bytes(b"\xd9\xd5\x05\xf9 \xa1c\xd7" + b"x" * 5000)
    overwrite(side)


def be_a_store(side: Path) -> None:
    shutil.copy(side.with_name(side.name.removesuffix("-search")), side)


@pytest.mark.parametrize(
    "harm",
    [
        truncate,
        truncate_a_little,
        overwrite,
        scramble,
        empty,
        remove,
        age,
        take_tables_away,
        lose_texts,
        leave_a_journal,
    ],
)
def test_a_side_file_that_is_not_right_is_made_anew(
    path: Path, harm: Callable[[Path], None]
) -> None:
    look(path, "beans")
    before = path.read_bytes()
    harm(side_of(path))
    assert (look(path, "beans"), look(path, "soil")) == ([("a", 2)], [("a", 3)])
    assert path.read_bytes() == before
    file = side_of(path).stat()
    assert look(path, "dry") == [("a", 3)]
    assert side_of(path).stat().st_mtime_ns == file.st_mtime_ns


@pytest.mark.parametrize("harm", [estrange, be_a_store])
@pytest.mark.parametrize("anew", [False, True])
def test_a_file_of_somebody_else_is_left_alone(
    path: Path, harm: Callable[[Path], None], anew: bool
) -> None:
    look(path, "beans")
    harm(side_of(path))
    before = side_of(path).read_bytes()
    with dshstore.open(path, mode="read") as store, pytest.warns(SearchIndexUnwritten):
        assert found(store, "beans", anew=anew) == [("a", 2)]
    assert side_of(path).read_bytes() == before


def test_importing_cares_for_no_side_file(path: Path) -> None:
    overwrite(side_of(path))
    with dshstore.open(path) as store:
        take_in(store, log_of("b", "more beans"), path.with_name("b.jsonl"))
        assert list(store.verify()) == []
    assert side_of(path).read_bytes().startswith(b"no index")


def test_where_no_file_can_be_kept_each_search_makes_an_index(path: Path) -> None:
    side_of(path).mkdir()
    for _ in range(2):
        with pytest.warns(SearchIndexUnwritten, match="store.db-search cannot be kept"):
            assert look(path, "beans") == [("a", 2)]
    assert list(side_of(path).iterdir()) == []


def test_an_index_can_be_asked_for_anew(path: Path) -> None:
    look(path, "beans")
    file = side_of(path).stat().st_ino
    with dshstore.open(path) as store:
        assert found(store, "beans", anew=True) == [("a", 2)]
    keeper = side_of(path).stat().st_ino
    assert keeper != file or side_of(path).stat().st_nlink == 1


@pytest.mark.parametrize("is_behind", [False, True])
def test_who_waits_for_the_index_is_told_so_once(
    path: Path, tmp_path: Path, is_behind: bool
) -> None:
    look(path, "beans")
    if is_behind:
        with dshstore.open(path) as store:
            take_in(store, log_of("b", "more beans"), tmp_path / "b.jsonl")
    other = Database.open(str(side_of(path)), "write")
    other.execute_script("BEGIN IMMEDIATE" if is_behind else "BEGIN EXCLUSIVE")
    told: list[Warning | str] = []

    def end_the_wait(message: Warning | str, *_: object, **__: object) -> None:
        told.append(message)
        other.close()

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = end_the_wait
        assert look(path, "beans") == [("a", 2), ("b", 2)][: 1 + is_behind]
    [message] = told
    assert isinstance(message, SearchIndexBusy)
    assert (
        str(message) == f"waiting for another process, which holds the search index {path}-search"
    )


def test_a_store_by_another_name_has_the_same_side_file(path: Path, tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(path)
    assert look(tmp_path / "link.db", "beans") == [("a", 2)]
    assert side_of(path).exists()
    assert not (tmp_path / "link.db-search").exists()


# -- several processes --


def start_search(path: Path, query: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "dshstore", "search", str(path), query, "--json", "-n", "1000"]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that takes some time to take in."""
    path = tmp_path_factory.mktemp("large") / "store.db"
    with dshstore.open(path, durability="NORMAL") as store:
        for number in range(30):
            said = [f"beans {number} {n} " + "and more of it " * 300 for n in range(100)]
            take_in(store, log_of(f"s{number}", *said), path.with_name("a.jsonl"))
    return path


@pytest.fixture
def own_large(large: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(large, tmp_path / "store.db"))


def is_without_fault(said: tuple[bytes, bytes]) -> bool:
    """Whether a search told nothing, but perhaps that it waited for another one."""
    lines = said[1].splitlines()
    return all(line.startswith(b"dshstore: waiting for another process") for line in lines)


def test_processes_that_make_one_index_at_once_agree(own_large: Path) -> None:
    searches = [start_search(own_large, "beans 7") for _ in range(3)]
    said = [search.communicate() for search in searches]
    assert [search.returncode for search in searches] == [0, 0, 0]
    assert all(map(is_without_fault, said))
    assert len({out for out, _ in said}) == 1
    assert said[0][0].count(b"\n") == 129


def test_processes_that_find_one_broken_index_at_once_agree(own_large: Path) -> None:
    for harm in (overwrite, truncate_a_little, age_nothing):
        harm(side_of(own_large))
        searches = [start_search(own_large, "beans 7") for _ in range(3)]
        said = [search.communicate() for search in searches]
        assert all(map(is_without_fault, said))
        assert {out.count(b"\n") for out, _ in said} == {129}


def age_nothing(side: Path) -> None:
    """As another release leaves it, that had no tables yet."""
    remove(side)
    Database.create(str(side), lambda database: database.pragma("user_version", 1)).close()


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.9])
def test_a_search_that_was_killed_leaves_nothing_wrong(own_large: Path, share: float) -> None:
    side = side_of(own_large)
    size = 0
    search = start_search(own_large, "beans 7")
    while search.poll() is None and size < share * 4_000_000:
        size = side.stat().st_size if side.exists() else 0
    search.kill()
    search.communicate()
    assert len(look(own_large, "beans 7")) == 129
    assert len(look(own_large, '"beans 29 99"')) == 1
    database = Database.open(str(side), "read")
    assert database.pragma("quick_check") == "ok"
    database.close()


def test_a_build_that_was_broken_off_goes_on(own_large: Path) -> None:
    class Enough(Exception):
        pass

    def stop(done: int, total: int) -> None:
        if done > 0.7 * total:
            raise Enough

    told: list[int] = []
    with dshstore.open(own_large) as store:
        with pytest.raises(Enough):
            store.search("beans", progress=stop)
        assert len(found(store, "beans 7", progress=lambda done, total: told.append(total))) == 129
    assert told[0] < 30 * 105
