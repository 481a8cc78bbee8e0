"""What a search finds, where, and what it says of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dshstore
from dshstore import QueryFailed, SearchFilters, SessionNotFound, Store
from dshstore.db import Database
from dshstore.engine.searching.sidefile import RANKED
from dshstore.engine.searching.texts import Role
from tests.engine.searching.written import found, log_of, take_in
from tests.logs import LogBuilder, make_header, text, write_log
from tests.sql.plain import PlainWriter
from tests.stores import take_samples

EVERYTHING: tuple[Role, ...] = ("user", "assistant", "title", "reasoning", "tool", "system")


@pytest.fixture
def garden(store: Store) -> Store:
    take_samples(store)
    return store


def test_a_hit_says_where_it_is_and_what_became_of_it(garden: Store) -> None:
    [hit] = garden.search('"runner beans by the fence"')
    assert (hit.session_id, hit.format_version, hit.seq, hit.turn) == ("bean-bed", 0, 2, 1)
    assert (hit.role, hit.state, hit.shadowed_by) == ("user", "shadowed", 38)
    assert hit.marked() == (
        "The [runner beans by the fence] look thirsty. "
        "Could you check the soil and tell me how long to water?"
    )
    assert hit.marked("<b>", "</b>").startswith("The <b>runner beans by the fence</b> look")
    [summary] = garden.search("said short", SearchFilters(state="surface"))
    assert (summary.seq, summary.turn, summary.state) == (38, None, "surface")
    [title] = garden.search("Watering runner")
    assert (title.role, title.state, title.shadowed_by) == ("title", "log-only", None)


def test_the_best_match_comes_first(store: Store, tmp_path: Path) -> None:
    said = ["beans " + "and more " * 100, "beans", "no word of it", "beans " + "and " * 20]
    take_in(store, log_of("a", *said), tmp_path / "a.jsonl")
    hits = store.search("beans")
    assert [hit.seq for hit in hits] == [3, 5, 2]
    scores = [hit.score for hit in hits if hit.score is not None]
    assert scores == sorted(scores)
    assert [hit.seq for hit in store.search("beans", limit=1)] == [3]


def test_a_word_that_is_nearly_everywhere_hides_no_hit(store: Store, tmp_path: Path) -> None:
    log = LogBuilder(4)
    log.append("user/message", log.user(text("beans, the first")))
    log.replace("user/message", log.user(text("so far")), 0, 0)
    for _ in range(RANKED + 10):
        log.append("user/message", log.user(text("beans")))
    take_in(store, write_log(make_header(4, "a"), log.events), tmp_path / "a.jsonl")
    assert found(store, "beans", state="shadowed") == [("a", 0)]
    assert len(found(store, "beans", limit=30)) == 30


def test_what_a_replace_hides_says_so_at_once(store: Store) -> None:
    session = store.create(session_id="a", commit_each=True)
    with session.turn(), session.step():
        first = session.user("runner beans")
    assert [hit.state for hit in store.search("beans")] == ["surface"]
    at = session.compact(first, first, "so far", provider="p", model="m")
    [hit] = store.search("beans")
    assert (hit.state, hit.shadowed_by) == ("shadowed", session.surface[0])
    assert found(store, "beans", state="surface") == []
    assert found(store, "so far", state="surface") == [("a", session.surface[0])]
    assert at is not None


def test_hits_are_chosen_by_state_role_session_project_and_time(garden: Store) -> None:
    assert found(garden, "beans", state="shadowed") == [("bean-bed", 2), ("bean-bed", 33)]
    assert found(garden, "beans", state="log-only") == [("bean-bed", 3)]
    assert found(garden, "beans", roles=("title",)) == [("bean-bed", 3)]
    assert found(garden, "water", roles=("assistant",), session="bean") != []
    assert found(garden, "water", session="compost") == []
    assert found(garden, "beans", project="/srv") == found(garden, "beans")
    assert found(garden, "beans", project="/srv/gard") == []
    [hit] = garden.search("beans", SearchFilters(roles=("title",)))
    assert found(garden, "beans", roles=("title",), since=hit.time) != []
    assert found(garden, "beans", roles=("title",), since=hit.time + 1) == []
    with pytest.raises(SessionNotFound):
        found(garden, "beans", session="nobody")


def test_a_shared_beginning_is_found_once_and_in_each_session_that_is_asked(
    garden: Store,
) -> None:
    assert found(garden, "再等一周") == [("seedlings", 17)]
    fork = garden.fork("seedlings", new_id="another")
    fork.user("再等一周?")
    fork.flush()
    assert found(garden, "再等一周") == [("another", fork.next_seq - 1), ("seedlings", 17)]
    assert found(garden, "再等一周", session="another") == [
        ("another", 17),
        ("another", fork.next_seq - 1),
    ]
    assert found(garden, "再等一周", session="seedlings") == [("seedlings", 17)]


def states(store: Store, session: str, **options: Any) -> dict[int, tuple[str, int | None]]:
    """What became of each event with okapis, as it is told of one session that was asked for."""
    hits = store.search("okapi", SearchFilters(session=session), limit=100, **options)
    assert {(hit.session_id, hit.turn) for hit in hits} <= {(session, 1), (session, None)}
    for state in ("surface", "shadowed", "log-only"):
        chosen = SearchFilters(session=session, state=state)
        only = store.search("okapi", chosen, limit=100, **options)
        assert {hit.seq for hit in only} == {hit.seq for hit in hits if hit.state == state}
    return {hit.seq: (hit.state, hit.shadowed_by) for hit in hits}


@pytest.mark.parametrize("like", [False, True])
def test_what_was_inherited_is_told_as_it_is_in_the_session_that_was_asked_for(
    store: Store, like: bool
) -> None:
    parent = store.create(session_id="parent", commit_each=True)
    with parent.turn(), parent.step():
        parent.request_header("nursery", "trowel-1")
        said = [parent.user(f"okapi {number}") for number in range(4)]
    early = parent.compact(said[0], said[0], "okapi before")
    parent.title("an animal")
    title = parent.title("okapi")
    live: tuple[str, int | None] = ("surface", None)
    parents = {
        said[0]: ("shadowed", early), **dict.fromkeys(said[1:], live), early: live,
        title: ("log-only", None),
    }  # fmt: skip
    child = store.fork("parent", new_id="child", commit_each=True)
    children = dict(parents)
    mid = child.compact(said[1], said[1], "okapi child")
    children |= {said[1]: ("shadowed", mid), mid: live}
    grandchild = store.fork("child", new_id="grandchild", commit_each=True)
    grandchildren = dict(children)
    late = grandchild.compact(said[2], said[2], "okapi grandchild")
    grandchildren |= {said[2]: ("shadowed", late), late: live}
    for forked, of_session, seq in ((parent, parents, said[3]), (child, children, said[2])):
        after = forked.compact(seq, seq, "okapi after")
        of_session |= {seq: ("shadowed", after), after: live}
    before = store.fork("parent", said[0], new_id="before")
    assert states(store, "parent", like=like) == parents
    assert states(store, "child", like=like) == children
    assert states(store, "grandchild", like=like) == grandchildren
    assert states(store, "before", like=like) == {said[0]: live}
    for session in (parent, child, grandchild, before):
        told = states(store, session.session_id, like=like)
        on_surface = {seq for seq, (state, _) in told.items() if state == "surface"}
        assert on_surface == told.keys() & set(session.surface)


def test_what_a_log_inherited_is_its_own_while_its_parent_is_not_here(
    store: Store, tmp_path: Path
) -> None:
    def log(session_id: str, **header: Any) -> bytes:
        built = LogBuilder(1)
        built.start_turn()
        built.append("user/message", built.user(text("runner beans")))
        built.end_turn()
        return write_log(make_header(1, session_id, **header), built.events)

    child = log("child", parentSession="parent", seedLength=3)
    take_in(store, child, tmp_path / "a.jsonl")
    assert found(store, "beans") == [("child", 1)]
    take_in(store, log("parent"), tmp_path / "a.jsonl")
    assert found(store, "beans") == found(store, "beans", like=True) == [("parent", 1)]
    assert found(store, "beans", session="child") == [("child", 1)]


def test_only_the_highest_generation_is_searched(store: Store, tmp_path: Path) -> None:
    for version in (0, 2, 4, 3):
        take_in(store, log_of("a", f"beans {version}", version=version), tmp_path / "a.jsonl")
    assert [hit.format_version for hit in store.search("beans")] == [4]
    assert len(store.search("beans", SearchFilters(session="a@v0"))) == 1


# -- which texts --


def full_log(version: int) -> bytes:
    log = LogBuilder(version)
    log.start_turn()
    log.start_step()
    if version >= 3:
        log.append("system/message", log.system(text("the prompt")))
    log.append("user/message", log.user(text("the question")))
    call = {"type": "tool-call", "id": "c", "name": "shell", "arguments": '{"say":"the call"}'}
    blocks = [
        ({"type": "reasoning", "text": "the thought"}, ["the thought"]),
        (text("the answer"), ["the ", "ans", "wer"]),
        (call, [call["arguments"]]),
    ]
    log.settle(blocks)
    log.call(call)
    log.append("tool/result", log.result("c", text("the result")))
    log.add("session/title", {"title": "the title", "messageSeqs": [2], "source": "model"})
    log.end_step()
    log.end_turn()
    return write_log(make_header(version, "a"), log.events)


@pytest.mark.parametrize("version", range(5))
@pytest.mark.parametrize("like", [False, True])
def test_each_text_is_found_by_who_wrote_it(
    store: Store, tmp_path: Path, version: int, like: bool
) -> None:
    take_in(store, full_log(version), tmp_path / "a.jsonl")
    said = [hit.role for hit in store.search("the", like=like)]
    assert sorted(said) == ["assistant", "title", "user"]
    hits = store.search("the", SearchFilters(roles=EVERYTHING), like=like)
    snippets = {(hit.role, hit.marked()) for hit in hits}
    assert snippets == {
        ("user", "[the] question"),
        ("assistant", "[the] answer"),
        ("title", "[the] title"),
        ("reasoning", "[the] thought"),
        ("tool", 'shell {"say":"[the] call"}'),
        ("tool", "[the] result"),
        *([("system", "[the] prompt")] if version >= 3 else []),
    }


OLD = [
    ("user/message", {"content": [text("beans")], "source": {"kind": "user"}}),
    ("steering/message", {"turn": 1, "message": {"content": [text("beans")], "source": {}}}),
    ("steering/message", {"turn": 1, "content": [text("beans")], "source": {"kind": "user"}}),
    ("assistant/message", {"turn": 1, "content": [text("beans")], "provenance": {}}),
    ("tool/result", {"callId": "c", "content": [text("beans")], "isError": False}),
]


@pytest.mark.parametrize(("type", "data"), OLD)
def test_messages_of_old_shapes_are_found(
    store: Store, tmp_path: Path, type: str, data: dict[str, Any]
) -> None:
    log = LogBuilder(0)
    log.append(type, data)
    take_in(store, write_log(make_header(0, "a"), log.events), tmp_path / "a.jsonl")
    assert found(store, "beans", roles=EVERYTHING) == [("a", 0)]


def test_the_prompt_of_an_old_request_is_found_when_asked_for(store: Store, tmp_path: Path) -> None:
    log = LogBuilder(1)
    log.add("request/header", {"header": {"config": {}, "system": "You tend a garden"}})
    take_in(store, write_log(make_header(1, "a"), log.events), tmp_path / "a.jsonl")
    assert found(store, "garden") == []
    assert found(store, "garden", roles=("system",)) == [("a", 0)]


def test_half_a_surrogate_pair_hides_nothing(store: Store, tmp_path: Path) -> None:
    take_in(store, log_of("a", "runner \ud83c beans", "beans\udc00"), tmp_path / "a.jsonl")
    assert found(store, '"runner beans"') == [("a", 2)]
    assert found(store, "beans") == [("a", 2), ("a", 3)]
    assert found(store, "beans \udcff") == [("a", 2), ("a", 3)]


def test_payloads_of_odd_shapes_have_no_text_and_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    dshstore.open(path).close()
    odd: list[Any] = [
        "beans",
        ["beans"],
        {"content": "beans"},
        {"content": ["beans", {"type": "text"}, {"type": "text", "text": 1}]},
        {"content": {"type": "text", "text": "beans"}},
        {"content": [{"type": "tool-result", "content": "beans"}]},
        {"message": ["beans"]},
    ]
    database = Database.open(str(path), "write")
    writer = PlainWriter(database)
    log = LogBuilder(4)
    for data in odd:
        log.append("user/message", data)
    writer.append(writer.begin(4), log.events)
    database.close()
    with dshstore.open(path) as store:
        assert found(store, "beans", roles=EVERYTHING) == [("s1", 2), ("s1", 5)]


def test_a_message_that_is_nested_too_deep_for_sqlite_is_found(
    store: Store, tmp_path: Path
) -> None:
    deep: Any = []
    for _ in range(700):
        deep = [deep]
    log = LogBuilder(4)
    log.append("user/message", log.user(text("runner beans"), {"type": "odd", "deep": deep}))
    take_in(store, write_log(make_header(4, "a"), log.events), tmp_path / "a.jsonl")
    assert found(store, "beans") == [("a", 0)]


# -- what is found --


@pytest.mark.parametrize(
    "query",
    ["file.py", "foo-bar", "C++", "don't", "a:b", "x = f(y)", "#12", "50%", "--rebuild", "_id"],
)
def test_what_is_pasted_is_found(store: Store, tmp_path: Path, query: str) -> None:
    take_in(store, log_of("a", "nothing", f"so: {query} it is"), tmp_path / "a.jsonl")
    assert found(store, query) == [("a", 3)]


@pytest.mark.parametrize(
    ("query", "seqs"),
    [
        ("beans soil", [2]),
        ("BEANS", [2, 3, 5]),
        ("frost OR soil", [2, 4]),
        ("beans NOT soil", [3, 5]),
        ("(frost OR soil) NOT dry", [4]),
        ('"runner beans"', [2, 5]),
        ("run*", [2, 5]),
        ('"cold fra"*', [4]),
        ("creme", [3]),
        ("crème*", [3]),
        ("ガーデン", [6]),
        ("デ", [6]),
        ("水やり", [6]),
        ("庭の水", []),
        ("물을", [7]),
        ("을주", []),
        ("C++", [8]),
        ("c", [8]),
        ("👍", [8]),
        ("ทดสอบ", [9]),
    ],
)
def test_the_language_of_queries(store: Store, tmp_path: Path, query: str, seqs: list[int]) -> None:
    said = [
        "Runner beans, dry soil",
        "beans à la crème",
        "frost on the cold frames",
        "more runner BEANS",
        "ｶﾞｰﾃﾞﾝの水やり",
        "토마토에 물을 준다",
        "C++ 👍🏽",
        "การทดสอบระบบ",
    ]
    take_in(store, log_of("a", *said), tmp_path / "a.jsonl")
    assert [seq for _, seq in found(store, query)] == seqs


CJK = "水明天再等一周的了ガーデンのんカ々〇한국어물을한𠀀豈"
RUNNING_TEXT = st.text(f"{CJK} a。", min_size=1, max_size=12)


@given(st.lists(RUNNING_TEXT, min_size=1, max_size=4), st.data())
def test_any_piece_of_running_text_is_found(
    tmp_path_factory: pytest.TempPathFactory, said: list[str], data: st.DataObject
) -> None:
    runs = [run for words in said for run in re.findall(f"[{CJK}]+", words)] or [""]
    run = data.draw(st.sampled_from(runs))
    begin = data.draw(st.integers(0, max(0, len(run) - 1)))
    piece = run[begin : data.draw(st.integers(begin + 1, max(begin + 1, len(run))))]
    folder = tmp_path_factory.mktemp("cjk")
    with dshstore.open(folder / "store.db", durability="NORMAL") as store:
        take_in(store, log_of("a", *said), folder / "a.jsonl")
        for wanted in {piece, run} - {""}:
            seqs = [seq for seq, words in enumerate(said, 2) if wanted in words]
            assert [seq for _, seq in found(store, wanted)] == seqs


WORDS = st.sampled_from(["bean", "beans", "soil", "frost", "snow"])


@given(
    st.lists(st.lists(st.lists(WORDS, max_size=5), max_size=4), min_size=1, max_size=3),
    st.lists(WORDS, min_size=1, max_size=2),
)
def test_a_search_is_a_scan_of_all_words(
    tmp_path_factory: pytest.TempPathFactory, said: list[list[list[str]]], wanted: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("words")
    with dshstore.open(folder / "store.db", durability="NORMAL") as store:
        for number, messages in enumerate(said):
            log = log_of(f"s{number}", *(" ".join(words) for words in messages))
            take_in(store, log, folder / "a.jsonl")
        texts = {
            (f"s{number}", seq): words
            for number, messages in enumerate(said)
            for seq, words in enumerate(messages, 2)
        }
        everywhere = [place for place, words in texts.items() if set(wanted) <= set(words)]
        anywhere = [place for place, words in texts.items() if set(wanted) & set(words)]
        beginning = [p for p, words in texts.items() if any(w.startswith("bean") for w in words)]
        assert found(store, " ".join(wanted)) == everywhere
        assert found(store, " OR ".join(wanted)) == anywhere
        assert found(store, "bean*") == beginning
        like = [p for p, words in texts.items() if " ".join(wanted) in " ".join(words)]
        assert found(store, " ".join(wanted), like=True) == like


# -- as it stands --


def test_like_takes_a_text_as_it_stands(store: Store, tmp_path: Path) -> None:
    said = ['he said "so"\tand left', "100% of it", "100 of it", "a_b", "axb", "Straße"]
    take_in(store, log_of("a", *said), tmp_path / "a.jsonl")
    for query, seqs in (
        ('"SO"\tand', [2]),
        ("100%", [3]),
        ("a_b", [5]),
        ("traß", [7]),
        ("OF IT", [3, 4]),
        ("\\", []),
        ("AND (", []),
    ):
        assert [seq for _, seq in found(store, query, like=True)] == seqs, query
    assert not (tmp_path / "store.db-search").exists()
    with pytest.raises(QueryFailed, match="nothing to look for"):
        store.search("", like=True)


def test_like_has_the_latest_first_and_all_filters(garden: Store) -> None:
    hits = garden.search("a", like=True, limit=5)
    assert [hit.time for hit in hits] == sorted((hit.time for hit in hits), reverse=True)
    assert (len(hits), {hit.score for hit in hits}) == (5, {None})
    for options in (
        {"state": "shadowed"},
        {"roles": ("assistant", "tool")},
        {"session": "seedlings-for-a-neighbour"},
        {"project": "/srv"},
        {"since": 1_793_500_000_000},
        {},
    ):
        by_index = found(garden, "the", **options)
        assert by_index
        assert set(by_index) <= set(found(garden, "the", like=True, **options))
