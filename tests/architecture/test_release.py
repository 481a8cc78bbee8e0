"""Holds a release together: one version, in every place that says it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import dshstore

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

#: A heading of the changelog: `## 0.2.0 - 2026-12-01`, or `## Unreleased`.
HEADING = re.compile(r"^## (?:(?P<version>\d+\.\d+\.\d+) - \d{4}-\d\d-\d\d|Unreleased)$")


def find_odd_headings(changelog: str) -> list[str]:
    """Headings that are no release, and releases that do not stand newest first."""
    headings = [line for line in changelog.split("\n") if line.startswith("## ")]
    odd = [line for line in headings if not HEADING.match(line)]
    versions = [match["version"] for line in headings if (match := HEADING.match(line))]
    order = [tuple(map(int, v.split("."))) if v else (10**6,) for v in versions]
    return odd + [h for h, a, b in zip(headings[1:], order, order[1:], strict=False) if a <= b]


def test_the_package_tells_the_version_of_the_project() -> None:
    assert dshstore.__version__ == PROJECT["version"]


def test_the_changelog_holds_releases_newest_first() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert find_odd_headings(changelog) == []
    assert re.search(r"^## ", changelog, re.MULTILINE)


def test_an_odd_changelog_heading_is_found() -> None:
    good = "# Changelog\n## Unreleased\n## 0.10.0 - 2026-12-01\n## 0.9.0 - 2026-11-01\n"
    assert find_odd_headings(good) == []
    assert find_odd_headings(good + "## 0.8\n") == ["## 0.8"]
    assert find_odd_headings(good + "## 0.11.0 - 2026-12-24\n") == ["## 0.11.0 - 2026-12-24"]
    assert find_odd_headings(good + "## Unreleased\n") == ["## Unreleased"]
