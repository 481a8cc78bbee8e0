"""The forms in which a command writes rows: one at a time, each with its head."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import click
import pytest

import dshstore
from dshstore.cli.group import COMMANDS, root
from tests.cli.running import cli

FORMS = ("json", "csv", "tsv", "table", "raw")


def pairs() -> list[tuple[str, str, str]]:
    """Each command with two of the forms that it has."""
    found = []
    for name in COMMANDS:
        command = root.get_command(click.Context(root), name)
        assert command is not None
        options = {option for param in command.params for option in param.opts}
        forms = [form for form in FORMS if f"--{form}" in options]
        found += [(name, one, other) for one, other in permutations(forms, 2)]
    return found


@pytest.mark.parametrize(("name", "one", "other"), pairs())
def test_two_forms_at_once_are_wrong_usage(name: str, one: str, other: str, garden: Path) -> None:
    done = cli(name, garden, "seedlings", f"--{one}", f"--{other}")
    assert (done.status, done.out) == (2, b"")
    assert f"--{one}" in done.err
    assert f"--{other}" in done.err


def test_a_form_that_is_named_twice_is_one(garden: Path) -> None:
    assert cli("tools", garden, "--csv", "--csv") == cli("tools", garden, "--csv")


@pytest.mark.parametrize(
    "name", ["search", "sessions", "usage", "tools", "compactions", "attempts"]
)
@pytest.mark.parametrize("form", ["--csv", "--tsv"])
def test_values_have_a_head_where_there_is_none(
    name: str, form: str, garden: Path, tmp_path: Path
) -> None:
    dshstore.open(tmp_path / "empty.db").close()
    query = ("frost",) if name == "search" else ()
    none = cli(name, tmp_path / "empty.db", *query, form)
    some = cli(name, garden, *query, form)
    assert none.text == some.text.partition("\n")[0] + "\n"
    assert none.err == "dshstore: nothing found\n"


def test_the_head_of_priced_usage_has_the_cost(tmp_path: Path) -> None:
    dshstore.open(tmp_path / "empty.db").close()
    (tmp_path / "prices.json").write_text("{}")
    done = cli("usage", tmp_path / "empty.db", "--csv", "--prices", tmp_path / "prices.json")
    assert done.text.endswith(",cost\n")
