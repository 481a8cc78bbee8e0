from __future__ import annotations

from pathlib import Path

import pytest

from tests.real_parts import REQUIRE_REAL, require, require_node_package, require_package


def test_a_program_of_this_environment_needs_no_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "")
    assert Path(require("pytest")).is_file()


def test_a_missing_program_skips_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(REQUIRE_REAL, raising=False)
    with pytest.raises(pytest.skip.Exception, match="no-such-program"):
        require("no-such-program")


def test_a_missing_program_fails_the_test_where_real_parts_are_required(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(REQUIRE_REAL, "1")
    with pytest.raises(pytest.fail.Exception, match="no-such-program"):
        require("no-such-program")


def test_packages_are_found_or_do_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(REQUIRE_REAL, raising=False)
    require_package("pytest")
    for look in (require_package, require_node_package):
        with pytest.raises(pytest.skip.Exception, match="no_such_package"):
            look("no_such_package")
    monkeypatch.setenv(REQUIRE_REAL, "1")
    with pytest.raises(pytest.fail.Exception, match="no_such_package"):
        require_package("no_such_package")
