"""What a picture of a context says: levels over the log, drops at compactions, sums, sentences.

Pure: from a `Context` to the numbers and words that `drawing` puts into their places.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import msgspec

from dshstore.charts.context import Call, Compaction, Context, ToolResult

#: What stands behind a number for so many powers of a thousand.
_POWERS = ("", "k", "M", "G", "T", "P", "E")


class Drop(msgspec.Struct, frozen=True):
    """Compactions between two requests, and how many tokens fewer the second one has."""

    seq: int
    before: int
    after: int

    @property
    def tokens(self) -> int:
        return self.before - self.after


class Tool(msgspec.Struct, frozen=True):
    """All results of one tool."""

    name: str
    results: int
    characters: int


def requests_of(context: Context) -> list[Call]:
    """The calls of the turn loop that gave a message: what the context is told by."""
    return [call for call in context.calls if call.kind == "message"]


def find_drops(requests: Sequence[Call], compactions: Sequence[Compaction]) -> list[Drop]:
    """Where compactions made the context smaller: one drop between two requests.

    Where there are several compactions it stands at the last summary, or else at the last.
    """
    drops = []
    waiting = iter(compactions)
    compaction = next(waiting, None)
    for before, after in pairwise(requests):
        between = []
        while compaction is not None and compaction.seq < after.seq:
            if compaction.seq > before.seq:
                between.append(compaction)
            compaction = next(waiting, None)
        if between and after.context < before.context:
            chosen = [c for c in between if c.kind == "summary"] or between
            drops.append(Drop(chosen[-1].seq, before.context, after.context))
    return drops


def find_levels(requests: Sequence[Call], drops: Sequence[Drop]) -> list[Call]:
    """The requests as levels that hold from their place on; a drop brings the next level early."""
    found: list[Call] = []
    waiting = iter(drops)
    drop = next(waiting, None)
    for call in requests:
        if drop is not None and drop.seq < call.seq and found:
            found.append(msgspec.structs.replace(call, seq=drop.seq))
            drop = next(waiting, None)
        found.append(call)
    return found


def rank_tools(results: Sequence[ToolResult]) -> list[Tool]:
    """The tools by the characters of all their results, the most first."""
    sizes: dict[str, list[int]] = {}
    for result in results:
        sizes.setdefault(name_of(result), []).append(result.characters)
    tools = [Tool(name, len(own), sum(own)) for name, own in sizes.items()]
    return sorted(tools, key=lambda tool: (-tool.characters, -tool.results, tool.name))


def add_up(name: str, tools: Sequence[Tool]) -> Tool:
    """Several tools as one."""
    return Tool(name, sum(t.results for t in tools), sum(t.characters for t in tools))


def name_of(result: ToolResult) -> str:
    return "(no name)" if result.name is None else result.name


def short(number: float) -> str:
    """A number of tokens or characters for people: 950, 1.15k, 120k, 2.4M."""
    power = 0
    while abs(number) >= 999.5 and power < len(_POWERS) - 1:
        number, power = number / 1000, power + 1
    digits = f"{number:.0f}" if not power or number >= 99.95 else f"{number:.3g}"
    return digits + _POWERS[power]


def share_cached(requests: Sequence[Call]) -> float:
    """Which share of all that was given came from a cache."""
    return sum(call.cache_read_tokens for call in requests) / sum(call.context for call in requests)


def describe(context: Context) -> str:
    """The picture in words."""
    requests = requests_of(context)
    said = [f"{context.events:,} events, {len(requests):,} requests that told their usage."]
    if requests and any(call.context for call in requests):
        peak = max(requests, key=lambda call: call.context)
        said.append(
            f"The context was largest at event {peak.seq}: {short(peak.context)} tokens; "
            f"{share_cached(requests):.0%} of all tokens given were read from a cache."
        )
    if context.compactions:
        drops = find_drops(requests, context.compactions)
        said.append(
            f"{len(context.compactions):,} compactions; the context fell by "
            f"{short(sum(drop.tokens for drop in drops))} tokens at them."
        )
    if context.tool_results:
        tools = ", ".join(
            f"{tool.name} {short(tool.characters)} in {tool.results:,}"
            for tool in rank_tools(context.tool_results)[:6]
        )
        said.append(f"Tool results, characters: {tools}.")
    return " ".join(said)
