"""The numbers and words of a picture."""

from __future__ import annotations

import pytest

from dshstore.charts import Call, Compaction, Context, ToolResult
from dshstore.charts.story import (
    Drop,
    Tool,
    describe,
    find_drops,
    find_levels,
    rank_tools,
    share_cached,
    short,
)


def request(seq: int, tokens: int, cached: int = 0) -> Call:
    return Call(seq, "message", tokens - cached, cached, 0)


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (0, "0"),
        (950, "950"),
        (999.6, "1k"),
        (1150, "1.15k"),
        (12_000, "12k"),
        (99_960, "100k"),
        (123_456, "123k"),
        (1_200_000, "1.2M"),
        (9.2e18, "9.2E"),
        (2e22, "20000E"),
    ],
)
def test_numbers_are_short(number: float, told: str) -> None:
    assert short(number) == told


def test_a_drop_stands_at_the_last_summary_between_two_requests() -> None:
    compactions = [Compaction(3, "prune"), Compaction(5, "summary"), Compaction(6, "prune")]
    requests = [request(2, 900), request(9, 200)]
    assert find_drops(requests, compactions) == [Drop(5, 900, 200)]
    assert find_drops(requests, compactions[2:]) == [Drop(6, 900, 200)]


def test_where_the_context_grew_all_the_same_or_nothing_followed_nothing_fell() -> None:
    compactions = [Compaction(3, "prune"), Compaction(12, "summary")]
    assert find_drops([request(2, 900), request(9, 950)], compactions) == []
    assert find_drops([request(20, 900)], compactions) == []
    assert find_drops([], compactions) == []


def test_a_context_that_fell_by_itself_is_no_drop() -> None:
    assert find_drops([request(2, 900), request(9, 100)], [Compaction(1, "summary")]) == []


def test_the_level_after_a_compaction_begins_where_it_stands() -> None:
    requests = [request(2, 900), request(9, 200), request(12, 300)]
    levels = find_levels(requests, [Drop(5, 900, 200)])
    assert [(call.seq, call.context) for call in levels] == [
        (2, 900),
        (5, 200),
        (9, 200),
        (12, 300),
    ]


def test_tools_are_ranked_by_what_all_their_results_hold() -> None:
    results = [
        ToolResult(1, "shell", 10),
        ToolResult(2, None, 50),
        ToolResult(3, "shell", 45),
        ToolResult(4, "plan", 0),
    ]
    assert rank_tools(results) == [
        Tool("shell", 2, 55),
        Tool("(no name)", 1, 50),
        Tool("plan", 1, 0),
    ]


def test_a_picture_is_told_in_words() -> None:
    context = Context(
        "s",
        4,
        None,
        None,
        1200,
        calls=(request(2, 9000, 3000), Call(5, "compaction", 9, 0, 0), request(9, 3000, 3000)),
        compactions=(Compaction(6, "summary"),),
        tool_results=(ToolResult(3, "shell", 1500),),
    )
    assert describe(context) == (
        "1,200 events, 2 requests that told their usage. The context was largest at event 2: 9k "
        "tokens; 50% of all tokens given were read from a cache. 1 compactions; the context fell "
        "by 6k tokens at them. Tool results, characters: shell 1.5k in 1."
    )
    assert describe(Context("s", 4, None, None, 0)) == "0 events, 0 requests that told their usage."
    assert share_cached(context.calls) == pytest.approx(6000 / 12009)
