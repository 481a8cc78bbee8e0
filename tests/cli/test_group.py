"""All commands at a glance: each has a module, a help with an example, and takes the same words."""

from __future__ import annotations

import keyword
from pathlib import Path

import click
import pytest

import dshstore.cli.commands
from dshstore.cli.group import COMMANDS, root
from tests.cli.running import cli
from tests.loading import loaded_by

CONTEXT = click.Context(root, info_name="dshstore")


def find(name: str) -> click.Command:
    command = root.get_command(CONTEXT, name)
    assert command is not None
    return command


def test_every_module_is_a_command_and_every_command_a_module() -> None:
    [folder] = dshstore.cli.commands.__path__
    modules = {path.stem for path in Path(folder).glob("*.py")} - {"__init__"}
    assert modules == {f"{name}_" if keyword.iskeyword(name) else name for name in COMMANDS}


def test_the_help_tells_every_command() -> None:
    done = cli("--help")
    assert done.status == 0
    told = [line.split()[0] for line in done.text.split("\n") if line.startswith("  ")]
    assert [name for name in told if name in COMMANDS] == list(COMMANDS)


def test_the_help_loads_no_command_and_nothing_that_one_needs() -> None:
    loaded = loaded_by("from dshstore.cli.process import run; assert run(['--help']) == 0")
    assert not loaded & {"apsw", "msgspec", "rich", "zstandard", "dshstore.store"}
    assert not {name for name in loaded if name.startswith("dshstore.cli.commands")}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_its_name_a_sentence_and_an_example(name: str) -> None:
    command = find(name)
    assert command.name == name
    assert command.help
    assert command.help.split("\n")[0].endswith(".")
    assert command.get_short_help_str(limit=1000) == COMMANDS[name]
    assert f"dshstore {name} " in (command.epilog or "")
    helped = cli(name, "-h")
    assert (helped.status, helped.err) == (0, "")
    assert "Example" in helped.text


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_tells_what_it_does(name: str) -> None:
    options = [p for p in find(name).params if isinstance(p, click.Option)]
    assert [option.name for option in options if not option.help] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_the_store_first(name: str) -> None:
    first = next(p for p in find(name).params if isinstance(p, click.Argument))
    assert first.name == "store"


def test_an_unknown_command_is_wrong_usage() -> None:
    done = cli("imprt", "a.db")
    assert (done.status, done.out) == (2, b"")
    assert "No such command 'imprt'" in done.err
