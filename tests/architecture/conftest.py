"""Small source trees, on which the rules of this folder prove that they can fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

#: Writes files, given as path and text, and returns the folder that they stand in.
Plant = Callable[[Mapping[str, str]], Path]


@pytest.fixture
def plant(tmp_path: Path) -> Plant:
    def write(files: Mapping[str, str]) -> Path:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return write
