"""Progress of imports and searches: for a person alone, and when there is something to await."""

from __future__ import annotations

import io
from contextlib import redirect_stderr

import pytest

from dshstore.cli.progress import ImportProgress, SearchProgress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_quick_import_says_nothing() -> None:
    stderr = io.StringIO()
    with redirect_stderr(stderr):
        progress = ImportProgress()
        progress(10)
        progress.clear()
        assert not ImportProgress.wanted()
    assert stderr.getvalue() == ""


def test_a_long_import_shows_how_much_is_read_and_takes_it_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stderr = Terminal()
    with redirect_stderr(stderr):
        assert ImportProgress.wanted()
        progress = ImportProgress(patience=0)
        progress(10 << 20)
        progress(20 << 20)
        progress.clear()
    assert "log 1" in stderr.getvalue()
    assert "20.0" in stderr.getvalue()
    assert stderr.getvalue().endswith("\x1b[1A\x1b[2K")


def test_a_long_search_shows_how_far_its_index_is_and_takes_it_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stderr = Terminal()
    with redirect_stderr(stderr), SearchProgress(patience=0) as progress:
        progress(10, 4000)
        progress(20, 4000)
    assert "20/4000" in stderr.getvalue()


def test_a_quick_search_says_nothing() -> None:
    stderr = Terminal()
    with redirect_stderr(stderr), SearchProgress() as progress:
        progress(10, 20)
    assert stderr.getvalue() == ""
