"""The examples of the README, run as a reader would: each in its order, in one folder."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real_parts import require

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The code blocks of one language, without their fences."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def examples() -> Iterator[tuple[str, str]]:
    """Each command of the console blocks, with the output that the README shows.

    A command begins with `$ `, its further lines with `> `, as a shell prompts for them.
    """
    for block in blocks("console"):
        for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command = re.match(r".*\n(?:> .*\n)*", example)
            assert command is not None
            yield command[0].replace("\n> ", "\n"), example[command.end() :]


@pytest.fixture(scope="module")
def garden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which a reader stands: it holds a copy of the sample logs."""
    folder = tmp_path_factory.mktemp("readme")
    shutil.copytree(ROOT / "fixtures" / "logs", folder / "logs")
    return folder


def test_the_commands_print_what_the_readme_shows(garden: Path) -> None:
    require("sqlite3")
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    shown = list(examples())
    assert len(shown) > 10
    for command, output in shown:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=garden,
            env={**os.environ, "PATH": path, "COLUMNS": "200"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, f"$ {command}\n{done.stderr}"
        assert done.stdout == output, f"$ {command}"


def test_the_python_examples_are_true(garden: Path) -> None:
    text = "".join(blocks("python"))
    assert ">>>" in text
    (garden / "python").mkdir()
    shutil.copytree(garden / "logs", garden / "python" / "logs")
    program = f"import doctest, sys\ntext = sys.stdin.read()\n{_RUN}"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=garden / "python",
        input=text,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


#: Run apart, for the examples open a store by its name in the folder where they stand.
_RUN = f"""
test = doctest.DocTestParser().get_doctest(text, {{}}, "README", "README.md", 0)
runner = doctest.DocTestRunner(optionflags={doctest.ELLIPSIS})
sys.exit(runner.run(test).failed)
"""
