"""What may be asked for: folders and numbers of answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import dshstore
from dshstore import SearchFilters, Store
from dshstore.engine.choosing import name_folder


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("/srv/garden/", "/srv/garden"),
        ("/srv/garden/../beds/.", "/srv/beds"),
        ("//srv", "/srv"),
        ("/", "/"),
        (".", str(Path.cwd())),
        ("beds", str(Path.cwd() / "beds")),
        ("C:\\garden\\", "C:\\garden\\"),
        ("\\\\host\\garden", "\\\\host\\garden"),
    ],
)
def test_a_folder_has_the_name_that_logs_have_for_it(folder: str, name: str) -> None:
    assert name_folder(folder) == name


BEANS = {"content": [{"type": "text", "text": "beans"}], "source": {"kind": "user"}}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with dshstore.open(tmp_path / "store.db", durability="NORMAL") as opened:
        for name in ("a", "b"):
            with opened.create(session_id=name, cwd=str(Path.cwd() / name)) as session:
                session.append("user/message", BEANS, surface_op="append")
        yield opened


def list_sessions(store: Store, project: str | None, **options: Any) -> list[str]:
    return [each.session_id for each in store.sessions(project=project, **options)]


def search_index(store: Store, project: str | None, **options: Any) -> list[str]:
    hits = store.search("beans", SearchFilters(project=project), **options)
    return [hit.session_id for hit in hits]


def search_texts(store: Store, project: str | None, **options: Any) -> list[str]:
    return search_index(store, project, like=True, **options)


Ask = Callable[..., list[str]]

ASKERS = [list_sessions, search_index, search_texts]


@pytest.mark.parametrize("ask", ASKERS)
def test_whoever_asks_may_name_a_project_from_where_it_stands(store: Store, ask: Ask) -> None:
    assert ask(store, "a") == ask(store, "./b/../a") == ["a"]
    assert sorted(ask(store, ".")) == sorted(ask(store, None)) == ["a", "b"]
    assert len(ask(store, None, limit=1)) == 1


@pytest.mark.parametrize("ask", ASKERS)
@pytest.mark.parametrize("limit", [0, -1, 2**53])
def test_a_number_of_answers_that_nobody_can_mean_is_refused(
    store: Store, ask: Ask, limit: int
) -> None:
    with pytest.raises(ValueError, match=f"a limit is from 1 to 9007199254740991, not {limit}"):
        ask(store, None, limit=limit)
