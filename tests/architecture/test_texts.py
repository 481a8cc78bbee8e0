"""Holds the project's text to the project: what people read must be true and stand by itself."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests.architecture.conftest import Plant
from tests.real_parts import require

ROOT = Path(__file__).parents[2]

#: What no text of the project may say. The parts are kept apart: this file is read too.
FOREIGN = {
    "a path of one machine": re.compile(r"(?<![\w.~-])/(?:work|root|tmp|home/\w+)(?![\w-])"),
    "the host of a package registry": re.compile(
        r"\b(?:pypi\.org|pythonhosted\.org|npmjs\.(?:com|org)|crates\.io|deb\.debian\.org)\b"
    ),
    "a note of how it was made": re.compile(r"\bissue #?\d", re.IGNORECASE),
}


def tracked_files(folder: Path) -> Iterator[Path]:
    """The files that belong to the project; skips the test where Git does not know the folder."""
    git = require("git")
    done = subprocess.run(
        [git, "-C", folder, "ls-files", "-z"], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"not a Git checkout: {done.stderr.strip()}")
    for name in done.stdout.split("\0"):
        path = folder / name
        if name and path.is_file():
            yield path


def find_foreign_text(path: Path) -> Iterator[str]:
    """The lines of a text file that speak of something other than the project."""
    content = path.read_bytes()
    if b"\0" in content:
        return
    for number, line in enumerate(content.decode(errors="replace").split("\n"), 1):
        for what, pattern in FOREIGN.items():
            if found := pattern.search(line):
                yield f"{path}, line {number}: {what}: {found[0]}"


def find_commands() -> list[click.Command]:
    """The commands of the `dshstore` command line."""
    groups = [g for g in vars(importlib.import_module("dshstore.cli")).values() if is_group(g)]
    assert len(groups) == 1, "dshstore.cli should name its one command group"
    [group] = groups
    context = click.Context(group)
    commands = [group.get_command(context, name) for name in group.list_commands(context)]
    return [command for command in commands if command is not None]


def is_group(value: object) -> bool:
    return isinstance(value, click.Group)


def find_untold(readme: str, names: list[str]) -> list[str]:
    """The commands that the text never shows as `dshstore NAME`."""
    return [name for name in names if not re.search(rf"\bdshstore {re.escape(name)}\b", readme)]


def test_the_text_speaks_of_the_project_alone() -> None:
    faults = [fault for path in tracked_files(ROOT) for fault in find_foreign_text(path)]
    assert faults == [], "\n".join(faults)


@pytest.mark.parametrize("name", ["README.md", "CHANGELOG.md", "LICENSE", "fixtures/README.md"])
def test_the_texts_for_people_are_there(name: str) -> None:
    assert (ROOT / name).read_text(encoding="utf-8").strip()


def test_every_command_is_shown_in_the_readme() -> None:
    names = [command.name or "" for command in find_commands()]
    assert names
    assert find_untold((ROOT / "README.md").read_text(encoding="utf-8"), names) == []


def test_every_command_says_what_it_does() -> None:
    assert [command.name for command in find_commands() if not command.help] == []


def test_every_sample_log_is_told_in_the_readme_of_the_fixtures() -> None:
    fixtures = ROOT / "fixtures"
    told = (fixtures / "README.md").read_text(encoding="utf-8")
    logs = [p.relative_to(fixtures).as_posix() for p in fixtures.glob("logs/**/*.jsonl")]
    assert logs
    assert [log for log in logs if f"`{log}`" not in told] == []


@pytest.mark.parametrize("name", ["tools/demo", "tools/test", "tools/check_wheel", ".ci/run"])
def test_the_programs_of_the_checkout_can_be_started(name: str) -> None:
    assert os.access(ROOT / name, os.X_OK)


# -- the rules can fail --


@pytest.mark.parametrize(
    "line",
    [
        "see /" + "work/main",
        "(/" + "tmp/x.db)",
        "/" + "root/.cache",
        '"/' + 'home/ada/x"',
        "from pypi" + ".org",
        "https://registry.npmjs" + ".org/x",
        "as iss" + "ue 2 asks",
        "see Iss" + "ue #12",
    ],
)
def test_text_about_something_else_is_found(plant: Plant, line: str) -> None:
    tree = plant({"a.md": f"First.\n{line}\n"})
    [found] = find_foreign_text(tree / "a.md")
    assert ", line 2: " in found


@pytest.mark.parametrize(
    "line",
    ["/srv/garden", "a/work/b", "/workspace", "~/tmp", "/tmpfs", "issues", "an issue tracker"],
)
def test_text_about_the_project_passes(plant: Plant, line: str) -> None:
    assert list(find_foreign_text(plant({"a.md": line}) / "a.md")) == []


def test_a_command_that_the_readme_leaves_out_is_found() -> None:
    readme = "Run `dshstore import x.db`, then dshstore sqlite."
    assert find_untold(readme, ["import", "sql", "show"]) == ["sql", "show"]
