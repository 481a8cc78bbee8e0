from __future__ import annotations

import copy
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dshstore import jsontext
from dshstore.engine.derive import offloaded_images
from dshstore.engine.payload import digest_result, read_tool_names
from dshstore.engine.surface import Folded, Node, Surface, fold, make_node
from dshstore.errors import EventRefused
from dshstore.model import Replacement
from tests.contract import Outcome, SurfaceContract, push_all
from tests.logs import TOOL, EventDict, Json, LogBuilder, image, text
from tests.strategies import VERSIONS, json_values, logs, respelled, surface_logs

versions = st.sampled_from(VERSIONS)


class TestFold(SurfaceContract):
    def run(self, events: Sequence[EventDict], format_version: int) -> Outcome:
        return push_all(Surface(format_version), events)


class TestResumedFold(SurfaceContract):
    """A surface that is made anew for each event, of what a store keeps of those before it."""

    def run(self, events: Sequence[EventDict], format_version: int) -> Outcome:
        shadowed: list[tuple[int, list[int]]] = []
        kept: dict[int, Node] = {}
        for at, event in enumerate(events):
            before = events[:at]
            offloaded = offloaded_images(before) if format_version >= 4 else {}
            headers = {
                earlier["seq"]: read_tool_names(earlier["data"])
                for earlier in before
                if earlier["type"] == "request/header"
            }
            nodes = [
                make_node(
                    node.seq,
                    node.pos,
                    node.type,
                    events[node.seq]["data"],
                    format_version,
                    offloaded.get(node.seq, ()),
                )
                for node in kept.values()
            ]
            surface = Surface.resume(format_version, at, nodes, headers)
            outcome = push_all(surface, [event])
            shadowed += outcome.shadowed
            if outcome.code is not None:
                return Outcome(outcome.nodes, shadowed, outcome.code, at)
            pos = kept[outcome.shadowed[0][1][0]].pos if outcome.shadowed else at
            if at in outcome.nodes:
                kept[at] = Node(at, pos, event["type"])
            kept = {seq: node for seq, node in kept.items() if seq in outcome.nodes}
        return Outcome([node.seq for node in sorted(kept.values(), key=_pos)], shadowed)


def _pos(node: Node) -> int:
    return node.pos


def test_a_fold_tells_the_nodes_and_the_replaces() -> None:
    log = LogBuilder(0)
    for _ in range(3):
        log.append("user/message", log.user())
    log.replace("user/message", log.user(), 0, 1)
    assert fold(log.events) == Folded((3, 2), (Replacement(3, 0, 1, (0, 1)),))


def test_a_fold_takes_any_iterable() -> None:
    log = LogBuilder(4)
    log.append("user/message", log.user())
    assert fold(iter(log.events), 4).nodes == (0,)


def test_a_refusal_names_the_code_and_the_seq_and_no_session() -> None:
    with pytest.raises(EventRefused) as refused:
        fold([{"type": "user/message", "seq": 7, "time": 0, "data": {}, "surfaceOp": "append"}])
    assert (refused.value.code, refused.value.seq) == ("seq-not-contiguous", 7)
    assert refused.value.session_id is None


@pytest.mark.parametrize("seq", [None, True, "1", 1.5, -1])
def test_a_seq_that_is_none_is_refused_as_the_one_that_was_expected(seq: Json) -> None:
    log = LogBuilder(0)
    log.append("user/message", log.user())
    log.append("user/message", log.user())
    log.events[1]["seq"] = seq
    with pytest.raises(EventRefused) as refused:
        fold(log.events)
    assert (refused.value.code, refused.value.seq) == ("seq-not-contiguous", 1)


@given(st.data(), versions)
def test_a_check_says_what_a_push_will_say_and_changes_nothing(
    data: st.DataObject, version: int
) -> None:
    surface = Surface(version)
    for at, event in enumerate(data.draw(surface_logs(version))):
        as_given, nodes = copy.deepcopy(event), surface.nodes
        checked = _code(surface.check, event)
        assert (surface.nodes, surface.next_seq) == (nodes, at)
        assert _code(surface.push, event) == checked
        assert event == as_given
        if checked is not None:
            assert (surface.nodes, surface.next_seq) == (nodes, at)
            break


def _code(call: Callable[[EventDict], object], event: EventDict) -> str | None:
    try:
        call(event)
    except EventRefused as refused:
        return refused.code
    return None


@given(st.data(), versions)
def test_a_log_as_a_harness_writes_it_is_taken_whole(data: st.DataObject, version: int) -> None:
    events = data.draw(logs(version))
    assert push_all(Surface(version), events).code is None


def test_a_surface_resumes_from_its_live_nodes_alone() -> None:
    surface = Surface.resume(
        0, 1_000_000, [Node(900, 4, "user/message"), Node(7, 7, "tool/result")]
    )
    assert surface.nodes == (900, 7)
    op = {"op": "replace", "start": 900, "end": 7}
    event = {"type": "user/message", "seq": 1_000_000, "time": 0, "data": {}, "surfaceOp": op}
    done = surface.push({**event, "sourceEventSeqs": [7, 900]})
    assert done == Replacement(1_000_000, 900, 7, (900, 7))


# -- digests --


@given(st.data(), versions, json_values())
def test_results_that_javascript_finds_equal_have_one_digest(
    data: st.DataObject, version: int, meta: Json
) -> None:
    log = LogBuilder(version)
    log.append("tool/result", log.result("c1", text("long"), meta=meta))
    other = data.draw(respelled(log.rewritten(0, image("short"), text("er"))))
    assert digest_result(log.events[0]["data"], version) == digest_result(other, version)


@given(json_values(), json_values(), versions)
def test_digests_are_equal_only_for_equal_results(one: Json, other: Json, version: int) -> None:
    log = LogBuilder(version)
    digests = [digest_result(log.result("c", meta=meta), version) for meta in (one, other)]
    assert (digests[0] == digests[1]) == jsontext.same(one, other)


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (1, 1.0, True),
        (0, -0.0, True),
        (2**53, 2**53 + 1, True),
        (10**400, float("inf"), True),
        (1, True, False),
        (None, float("inf"), False),
        ("\ud83c\udf32", "🌲", True),
        ("\ud83c", "\ud83d", False),
        ("half \ud83c", "half \ufffd", False),
        ([], {}, False),
        ([[1], 2], [[1, 2]], False),
        ({"a": "b"}, ["a", "b"], False),
        ("1", 1, False),
    ],
)
def test_values_are_compared_as_javascript_does(one: Json, other: Json, equal: bool) -> None:
    log = LogBuilder(4)
    digests = [digest_result(log.result("c", meta=meta), 4) for meta in (one, other)]
    assert (digests[0] == digests[1]) is equal
    assert jsontext.same(one, other) is equal


def test_a_digest_reaches_as_deep_as_a_log() -> None:
    deep: list[Json] = []
    for _ in range(990):
        deep = [deep]
    log = LogBuilder(4)
    assert digest_result(log.result("c", meta=deep), 4) != digest_result(log.result("c"), 4)


# -- tools --


def test_only_a_complete_tool_that_stands_once_can_be_added() -> None:
    tools = [
        TOOL,
        {**TOOL, "name": "twice"},
        {**TOOL, "name": "twice"},
        {**TOOL, "name": "no description", "description": None},
        {**TOOL, "name": "no parameters", "parameters": []},
        {**TOOL, "name": "late", "deferLoading": True},
        {**TOOL, "name": "not late", "deferLoading": False},
        "no tool",
    ]
    assert read_tool_names({"header": {"tools": tools}}) == {"shell", "late"}


def test_a_span_is_what_stands_between_its_ends_by_position() -> None:
    log = LogBuilder(2)
    for words in "abcd":
        log.append("user/message", log.user(text(words)))
    log.replace("user/message", log.user(text("e")), 1, 2)
    surface = Surface(2)
    push_all(surface, log.events)
    assert surface.nodes == (0, 4, 3)
    assert surface.span(0, 3) == (0, 4, 3)
    assert surface.span(4, 4) == (4,)
    assert (
        surface.span(3, 4) == surface.span(1, 3) == surface.span(0, 9) == surface.span(-1, 3) == ()
    )
