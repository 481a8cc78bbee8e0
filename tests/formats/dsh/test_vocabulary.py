"""Which event types are known, and which may be on the surface."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dshstore.formats.dsh.vocabulary import is_known, is_surface
from dshstore.model import FORMAT_VERSIONS

VIEW = Path(__file__).parents[3] / "sql" / "view" / "event_types.sql"


@pytest.mark.parametrize("version", FORMAT_VERSIONS)
@pytest.mark.parametrize("type", ["user/message", "assistant/message", "tool/result"])
def test_three_message_types_are_known_and_on_the_surface_in_every_version(
    type: str, version: int
) -> None:
    assert is_known(type, version)
    assert is_surface(type, version)


@pytest.mark.parametrize(("type", "since"), [("system/message", 3), ("developer/message", 4)])
def test_a_newer_message_type_is_unknown_before_its_version(type: str, since: int) -> None:
    versions = [version for version in FORMAT_VERSIONS if is_surface(type, version)]
    assert versions == list(range(since, 5))
    assert versions == [version for version in FORMAT_VERSIONS if is_known(type, version)]


def test_the_message_types_of_the_first_weeks_are_of_v0_alone() -> None:
    for type in ("steering/message", "context/message"):
        assert [version for version in FORMAT_VERSIONS if is_surface(type, version)] == [0]
    assert [version for version in FORMAT_VERSIONS if is_known("steering/message", version)] == [0]


def test_a_context_message_is_on_the_surface_but_nobody_can_derive_it() -> None:
    assert not any(is_known("context/message", version) for version in FORMAT_VERSIONS)


@pytest.mark.parametrize("version", FORMAT_VERSIONS)
@pytest.mark.parametrize(
    "type",
    [
        "assistant/attempt",
        "assistant/chunk",
        "compact/summary",
        "feedback/message-put",
        "image/offload",
        "model/selection",
        "tool/code-dispatch",
        "tool/ptc-dispatch",
        "working-directory/change",
    ],
)
def test_a_log_only_type_of_any_version_is_known_to_all(type: str, version: int) -> None:
    assert is_known(type, version)
    assert not is_surface(type, version)


@pytest.mark.parametrize("version", FORMAT_VERSIONS)
@pytest.mark.parametrize(
    "type",
    ["", "greenhouse/opened", "Turn/start", "mode/set", "request/header-delta", "plugin:a/b"],
)
def test_any_other_type_is_unknown(type: str, version: int) -> None:
    assert not is_known(type, version)
    assert not is_surface(type, version)


def test_the_store_knows_the_same_types() -> None:
    rows = re.findall(r"\('([^']+)', (\d), (\d)\)", VIEW.read_text(encoding="utf-8"))
    assert rows
    for version in FORMAT_VERSIONS:
        known = {type for type, since, until in rows if int(since) <= version <= int(until)}
        assert {type for type, _, _ in rows if is_known(type, version)} == known
    assert all(any(is_known(type, version) for version in FORMAT_VERSIONS) for type, _, _ in rows)


@pytest.mark.shared
@pytest.mark.parametrize("version", [0, 2, 3, 4])
def test_every_type_in_the_logs_of_the_harness_is_known(shared: Path, version: int) -> None:
    folders = [shared / "corpus" / f"v{version}", *([shared / "corpus/live"] * (version == 4))]
    paths = [p for folder in folders for p in folder.glob("*.jsonl") if p.stem != "expected"]
    packed = {"text-chunks", "reasoning-chunks", "tool-call-chunks"} if version < 2 else set()
    types = {
        json.loads(line)["type"] for path in paths for line in path.read_bytes().split(b"\n")[1:-1]
    }
    assert len(types) > 20
    assert {type for type in types - packed if not is_known(type, version)} == set()
