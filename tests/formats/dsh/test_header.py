"""The header line of every format version."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dshstore.errors import LogRefused, UnsupportedFormat
from dshstore.formats.dsh.header import generation, read, write

CORPUS = Path(__file__).parents[4] / "shared" / "corpus"

VERSIONS = range(5)


#: For each key values that no version takes (None: the key is absent).
WRONG: dict[str, list[Any]] = {
    "version": ["0", True, -1, 0.5, [], 2**53],
    "id": [None, "", 1, "a\0b", "\ud83c", "x\udf31"],
    "createdAt": [None, "5", -1, 0.5, True, 2**53],
    "cwd": [1, [], False],
    "parentSession": [1, {}],
    "origin": ["user", "", 1],
    "delegationDepth": [None, "0", -1, 1.5, False],
    "agentPreset": [0, []],
}


def members(version: int = 4, /, **changes: Any) -> dict[str, Any]:
    """The members of a sound header; a change to None takes one away."""
    sound: dict[str, Any] = {"type": "session", "version": version, "id": "s-1", "createdAt": 5}
    if version >= 2:
        sound["isSeeded"] = False
    sound["delegationDepth"] = 0
    return {key: value for key, value in (sound | changes).items() if value is not None}


def line(version: int = 4, /, **changes: Any) -> bytes:
    return json.dumps(members(version, **changes), separators=(",", ":")).encode() + b"\n"


def refusal(text: bytes) -> str:
    with pytest.raises(LogRefused) as refused:
        read(text)
    assert (refused.value.line, refused.value.offset) == (1, 0)
    return refused.value.reason


@pytest.mark.parametrize("version", VERSIONS)
def test_a_header_is_read_as_it_stands(version: int) -> None:
    seed = {"seedLength": 7} if version < 2 else {"isSeeded": True}
    text = line(
        version,
        cwd="/srv/gärten",
        parentSession="p",
        origin="subagent",
        delegationDepth=2,
        agentPreset="plan",
        **seed,
    )
    header = read(text)
    assert (header.version, header.session_id, header.created_at) == (version, "s-1", 5)
    assert (header.cwd, header.parent_session, header.origin) == ("/srv/gärten", "p", "subagent")
    assert (header.delegation_depth, header.agent_preset) == (2, "plan")
    assert (header.seeded, header.seed_length) == (True, 7 if version < 2 else None)
    assert (header.text.encode(), header.raw, header.notes) == (text[:-1], None, ())


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_optional_may_be_absent(version: int) -> None:
    header = read(line(version))
    assert (header.cwd, header.parent_session, header.origin) == (None, None, None)
    assert (header.agent_preset, header.seeded, header.seed_length) == (None, False, None)


@pytest.mark.parametrize("version", [0, 1])
def test_a_seed_length_of_zero_means_seeded(version: int) -> None:
    header = read(line(version, seedLength=0))
    assert (header.seeded, header.seed_length) == (True, 0)


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\r"])
def test_a_line_end_is_no_part_of_the_header(end: bytes) -> None:
    header = read(line()[:-1] + end)
    assert header == read(line())


def test_counts_are_what_javascript_counts() -> None:
    text = b'{"type":"session","version":0.0,"id":"a","createdAt":1e3,"delegationDepth":2.0}'
    header = read(text)
    assert (header.version, header.created_at, header.delegation_depth) == (0, 1000, 2)
    assert all(
        type(count) is int for count in (header.version, header.created_at, header.delegation_depth)
    )
    assert (header.text.encode(), header.raw) == (text, None)


@pytest.mark.parametrize("version", ["5", "9.0", "9007199254740991"])
@pytest.mark.parametrize(
    "rest", ["", ',"id":1,"isSeeded":-0', ',"type":"other"', f',"a":{"[" * 600}{"]" * 600}']
)
def test_a_newer_format_is_unsupported_whatever_else_the_header_says(
    version: str, rest: str
) -> None:
    with pytest.raises(UnsupportedFormat) as refused:
        read(f'{{"version":{version}{rest}}}'.encode())
    assert refused.value.version == float(version)
    assert refused.value.supported == "0..4"
    assert "corrupt" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff{}", "not JSON"),
        (b"[]", "not a JSON object"),
        (b"null", "not a JSON object"),
        (b'"session"', "not a JSON object"),
        (b'{"type":"turn/start","seq":0,"time":1,"data":{"turn":1}}', "is an event"),
        (b'{"type":"text-chunks","seq0":0,"time0":1,"data":{}}', "is an event"),
        (b'{"type":"other","version":0}', "no session header"),
        (b'{"id":"a"}', "no session header"),
        (line(version=None), "no version"),
    ],
)
def test_a_first_line_that_is_no_header_is_refused(text: bytes, says: str) -> None:
    assert says in refusal(text)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("key", "value"), [(key, value) for key, values in WRONG.items() for value in values]
)
def test_a_wrong_member_is_refused_by_its_name(version: int, key: str, value: Any) -> None:
    assert key in refusal(line(version, **{key: value}))


@pytest.mark.parametrize("key", ["cwd", "parentSession", "origin", "agentPreset", "seedLength"])
def test_an_optional_member_is_left_out_and_never_null(key: str) -> None:
    text = line(0)[:-2] + f',"{key}":null}}'.encode()
    assert key in refusal(text)


def test_each_version_has_its_own_way_to_say_that_a_log_is_seeded() -> None:
    for version in VERSIONS:
        old = version < 2
        wrong = {"isSeeded": False} if old else {"seedLength": 0}
        assert f"version {version} does not have" in refusal(line(version, **wrong))
        for value in (-1, "1", 1.5, True) if old else (0, 1, "true"):
            key = "seedLength" if old else "isSeeded"
            assert key in refusal(line(version, **{key: value}))
        if not old:
            assert "isSeeded" in refusal(line(version, isSeeded=None))


@pytest.mark.parametrize("number", ["-0", "-0.0", "-0e5", "1e999"])
@pytest.mark.parametrize("place", ['"more":{}', '"more":[1,{{"a":[{}]}}]', '"createdAt":{}'])
def test_a_number_that_no_writer_means_is_refused_anywhere(number: str, place: str) -> None:
    text = line()[:-2].decode() + f",{place.format(number)}}}"
    assert refusal(text.encode())


@pytest.mark.parametrize("version", VERSIONS)
def test_odd_members_are_taken_with_a_note(version: int) -> None:
    text = line(version, cwd="work", sandboxMode="x", approvalPolicy=1, owner={"a": 1}, zzz=[])
    header = read(text)
    assert header.cwd == "work"
    assert header.notes == (
        "the header's cwd is not an absolute path",
        "the header has retired keys: approvalPolicy, sandboxMode",
        "the header has unknown keys: owner, zzz",
    )
    assert header.text.encode() == text[:-1]


@pytest.mark.parametrize("cwd", ["/", "/srv/a", "C:\\garden", "d:/garden", "\\\\server\\share"])
def test_an_absolute_path_needs_no_note(cwd: str) -> None:
    assert read(line(cwd=cwd)).notes == ()


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        (
            b'{"type":"session","version":1,"id":"x","id":"a","createdAt":1,"delegationDepth":0}',
            b'{"type":"session","version":1,"id":"a","createdAt":1,"delegationDepth":0}',
        ),
        (
            rb'{"type":"session","version":1,"\u0069d":"a","createdAt":1.0,"delegationDepth":0}',
            b'{"type":"session","version":1,"id":"a","createdAt":1.0,"delegationDepth":0}',
        ),
        (
            rb'{"type":"session","version":1,"id":"a","createdAt":1,"cwd":"/\ud83c","delegationDepth":0}',
            '{"type":"session","version":1,"id":"a","createdAt":1,"cwd":"/\ufffd","delegationDepth":0}'.encode(),
        ),
    ],
)
def test_a_line_that_sqlite_reads_in_another_way_is_kept_beside_its_text(
    text: bytes, stored: bytes
) -> None:
    header = read(text + b"\n")
    assert header.session_id == "a"
    assert (header.text.encode(), header.raw) == (stored, text)
    assert header.cwd in (None, "/\ufffd")


def test_a_header_that_is_nested_too_deep_for_a_column_is_refused() -> None:
    assert "500 levels" in refusal(line()[:-2] + b',"a":' + b"[" * 600 + b"]" * 600 + b"}")


@given(
    version=st.sampled_from(VERSIONS),
    session_id=st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1
    ),
    created_at=st.integers(0, 2**53 - 1),
    cwd=st.none() | st.text().map("/{}".format),
    parent_session=st.none() | st.text(),
    cut=st.none() | st.integers(0, 99),
    origin=st.sampled_from([None, "subagent"]),
    delegation_depth=st.integers(0, 9),
    agent_preset=st.none() | st.text(),
)
def test_a_written_header_is_read_back(version: int, cut: int | None, **values: Any) -> None:
    seed = {"seed_length": cut} if version < 2 else {"seeded": cut is not None}
    header = write(version=version, **seed, **values)
    assert read(header.text.encode()) == header
    assert header.seeded is (cut is not None)
    assert header.seed_length == (cut if version < 2 else None)
    assert header.session_id == values["session_id"]
    assert (header.raw, header.notes) == (None, ())


def test_members_are_written_in_the_order_of_the_harness() -> None:
    optional: dict[str, Any] = {
        "cwd": "/w",
        "parent_session": "p",
        "origin": "subagent",
        "agent_preset": "plan",
    }
    old = write(version=1, session_id="s", created_at=1, seed_length=3, **optional)
    new = write(session_id="s", created_at=1, seeded=True, **optional)
    before = "type version id createdAt cwd parentSession"
    after = "origin delegationDepth agentPreset"
    assert list(json.loads(old.text)) == f"{before} seedLength {after}".split()
    assert list(json.loads(new.text)) == f"{before} isSeeded {after}".split()
    assert new.version == 4


def test_a_header_that_would_not_be_read_is_not_written() -> None:
    with pytest.raises(LogRefused, match="id is empty"):
        write(session_id="", created_at=1)
    with pytest.raises(LogRefused, match="seedLength"):
        write(session_id="s", created_at=1, seed_length=1)


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("session.jsonl", 0),
        ("session.jsonl.zstd", 0),
        ("session.jsonl.zst", 0),
        ("session.v1.jsonl", 1),
        ("session.v4.jsonl.zstd", 4),
        ("session.v12.jsonl", 12),
        ("session.v0.jsonl", None),
        ("session.v01.jsonl", None),
        ("session.V1.jsonl", None),
        ("Session.jsonl", None),
        ("session.jsonl.tmp", None),
        ("session.jsonl.gz", None),
        ("session.jsonl\n", None),
        ("a.session.jsonl", None),
        ("session.v\u0661.jsonl", None),
    ],
)
def test_a_file_name_may_say_the_version(name: str, version: int | None) -> None:
    assert generation(name) == version


@pytest.mark.shared
def test_real_headers_are_read_and_written_again() -> None:
    if not CORPUS.is_dir():
        pytest.skip("needs ../shared")
    refused = 0
    for path in sorted(CORPUS.glob("v*/*.jsonl")):
        with path.open("rb") as log:
            text = log.readline()
        if "version" not in json.loads(text):
            assert "no version" in refusal(text)
            refused += 1
            continue
        header = read(text)
        assert (header.raw, header.notes) == (None, ())
        again = write(
            version=header.version,
            session_id=header.session_id,
            created_at=header.created_at,
            cwd=header.cwd,
            parent_session=header.parent_session,
            seeded=header.seeded,
            seed_length=header.seed_length,
            origin=header.origin,
            delegation_depth=header.delegation_depth,
            agent_preset=header.agent_preset,
        )
        assert json.loads(again.text) == json.loads(header.text)
    assert refused == 5
