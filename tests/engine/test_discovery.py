"""Which files of a path are logs."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from dshstore.engine.discovery import Candidate, find_logs

LOWER = "a lower generation: v4 beside it counts (--all-generations takes all)"


def touch(*places: Path) -> None:
    for place in places:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()


def found(path: Path, *, all_generations: bool = False) -> dict[str, str | None]:
    """The files below a folder by their names from there, each with why it is passed over."""
    return {
        str(Path(candidate.path).relative_to(path)): candidate.skipped or candidate.refused
        for candidate in find_logs(str(path), all_generations=all_generations)
    }


def test_a_file_is_itself_whatever_it_is_called(tmp_path: Path) -> None:
    place = str(tmp_path / "notes.txt")
    assert find_logs(place) == [Candidate(place)]


def test_a_folder_gives_all_logs_below_it_in_order(tmp_path: Path) -> None:
    touch(
        tmp_path / "b" / "session.jsonl",
        tmp_path / "a" / "deep" / "one.jsonl.zst",
        tmp_path / "a" / "two.jsonl.zstd",
        tmp_path / "a" / "notes.txt",
        tmp_path / "a" / "one.jsonl.bak",
    )
    assert list(found(tmp_path)) == ["a/deep/one.jsonl.zst", "a/two.jsonl.zstd", "b/session.jsonl"]
    assert not any(found(tmp_path).values())


def test_what_has_not_the_name_of_a_log_is_told(tmp_path: Path) -> None:
    touch(tmp_path / "one.jsonl", tmp_path / "b" / "one.json", tmp_path / "b" / ".jsonl.part")
    (tmp_path / "link.txt").symlink_to("nowhere")
    told: list[str] = []
    assert len(find_logs(str(tmp_path), passed_over=told.append)) == 1
    others = ("link.txt", "b/.jsonl.part", "b/one.json")
    assert told == [str(tmp_path / name) for name in others]
    find_logs(str(tmp_path / "b" / "one.json"), passed_over=told.append)
    assert len(told) == 3


def test_the_highest_generation_of_a_folder_counts(tmp_path: Path) -> None:
    names = ("session.jsonl", "session.v2.jsonl.zstd", "session.v4.jsonl", "session.v4.jsonl.zst")
    touch(*(tmp_path / "one" / name for name in names), tmp_path / "two" / "session.v2.jsonl")
    assert found(tmp_path) == {
        "one/session.jsonl": LOWER,
        "one/session.v2.jsonl.zstd": LOWER,
        "one/session.v4.jsonl": None,
        "one/session.v4.jsonl.zst": None,
        "two/session.v2.jsonl": None,
    }
    assert not any(found(tmp_path, all_generations=True).values())


def test_a_link_out_of_the_folder_is_not_followed_but_listed(tmp_path: Path) -> None:
    touch(tmp_path / "outside" / "one.jsonl", tmp_path / "in" / "two.jsonl")
    inside = tmp_path / "in"
    (inside / "folder").symlink_to(tmp_path / "outside")
    (inside / "file.jsonl").symlink_to(tmp_path / "outside" / "one.jsonl")
    (inside / "session.v9.jsonl").symlink_to(tmp_path / "outside" / "one.jsonl")
    touch(inside / "session.v2.jsonl")
    assert found(inside) == {
        "file.jsonl": "a symbolic link out of the folder: name it to import it",
        "folder": "a symbolic link to a folder: name it to import it",
        "session.v2.jsonl": None,
        "session.v9.jsonl": "a symbolic link out of the folder: name it to import it",
        "two.jsonl": None,
    }


def test_a_link_within_the_folder_is_as_good_as_what_it_names(tmp_path: Path) -> None:
    touch(tmp_path / "one.jsonl", tmp_path / "deep" / "two.jsonl")
    (tmp_path / "again.jsonl").symlink_to("one.jsonl")
    (tmp_path / "deeper").symlink_to("deep")
    (tmp_path / "round.jsonl").symlink_to("round.jsonl")
    assert found(tmp_path) == dict.fromkeys(
        ["again.jsonl", "deep/two.jsonl", "one.jsonl", "round.jsonl"]
    )


def test_a_folder_that_is_named_by_a_link_is_read(tmp_path: Path) -> None:
    touch(tmp_path / "logs" / "one.jsonl")
    (tmp_path / "link").symlink_to("logs")
    assert found(tmp_path / "link") == {"one.jsonl": None}


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(tmp_path)  # a socket's path is short
        try:
            server.bind("socket.jsonl")
        finally:
            os.chdir(here)
        (tmp_path / "folder.jsonl").mkdir()
        reason = "not a file: name it to read from it"
        assert found(tmp_path) == {"pipe.jsonl": reason, "socket.jsonl": reason}


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every folder")
def test_a_folder_that_cannot_be_read_is_listed(tmp_path: Path) -> None:
    touch(tmp_path / "shut" / "one.jsonl", tmp_path / "two.jsonl")
    (tmp_path / "shut").chmod(0)
    try:
        assert found(tmp_path) == {
            "shut": "the folder cannot be read: Permission denied",
            "two.jsonl": None,
        }
    finally:
        (tmp_path / "shut").chmod(0o700)
