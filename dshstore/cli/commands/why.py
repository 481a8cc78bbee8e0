"""`dshstore why`: what an event was made of, and what stands for it now."""

from __future__ import annotations

from collections.abc import Iterator

import click
import msgspec

import dshstore
from dshstore import EventBrief, Explanation
from dshstore.cli.output import shorten, time_text, write_json, write_text
from dshstore.cli.parameters import (
    SEQ,
    examples,
    json_option,
    session_argument,
    store_argument,
)

#: Characters of an event's first words that are shown.
_WORDS = 72

#: Levels of citations that are set further and further to the right.
_INDENTED = 8


@click.command(
    "why",
    epilog=examples(
        "dshstore why garden.db bean-bed 38",
        "dshstore why garden.db bean-bed 38 --json",
    ),
)
@store_argument
@session_argument
@click.argument("seq", type=SEQ, metavar="SEQ")
@json_option
def command(store: str, session: str, seq: int, as_json: bool) -> None:
    """Tell why event SEQ of SESSION stands where it does.

    What it cites, back to the events that cite nothing; whose place it took; who took its place,
    up to what the model sees now; for a tool result also the call.
    """
    with dshstore.open(store, mode="read") as opened:
        found = opened.session(session).why(seq)
    if as_json:
        write_json(msgspec.to_builtins(found))
        return
    for line in _lines(found):
        write_text(line)


def _lines(found: Explanation) -> Iterator[str]:
    event = found.event
    yield f"{_line(event)}"
    match event.state:
        case "live":
            yield "  on the surface"
        case "shadowed":
            yield "  no longer on the surface"
        case _:
            yield "  in the log only"
    for title, briefs in (
        ("its call", [brief for brief in (found.call, found.message) if brief]),
        ("took the place of", found.shadowed),
        ("its place was taken by", found.shadowed_by),
        ("cited by", found.cited_by),
    ):
        if briefs:
            yield f"  {title}"
            yield from (f"    {_line(brief)}{_now(brief)}" for brief in briefs)
    if event.cites:
        yield "  made of"
        yield from _tree(event, found.sources)


def _tree(event: EventBrief, sources: list[EventBrief]) -> Iterator[str]:
    """What the event cites, below each what that one cites; each is told once."""
    by_seq = {seq: brief for brief in sources for seq in range(brief.seq, brief.seq + brief.count)}
    told: set[int] = set()
    todo = [(0, brief) for brief in _cited(event, by_seq)[::-1]]
    while todo:
        depth, brief = todo.pop()
        again = brief.seq in told and bool(brief.cites)
        told.add(brief.seq)
        indent = "  " * min(depth, _INDENTED)
        yield f"    {indent}{_line(brief)}{'  (see above)' if again else ''}"
        if not again:
            todo += [(depth + 1, cited) for cited in _cited(brief, by_seq)[::-1]]


def _cited(event: EventBrief, by_seq: dict[int, EventBrief]) -> list[EventBrief]:
    """What an event cites, in the order in which it does, a run as one."""
    found = {by_seq[seq].seq: by_seq[seq] for seq in event.cites}
    return list(found.values())


def _line(brief: EventBrief) -> str:
    last = brief.seq + brief.count - 1
    seqs = str(brief.seq) if brief.count == 1 else f"{brief.seq}..{last}"
    words = shorten(brief.text, _WORDS)
    return f"{seqs}  {shorten(brief.type, 40)}  {time_text(brief.time)}  {words}"


def _now(brief: EventBrief) -> str:
    return f"  (now: {brief.now})" if brief.state == "shadowed" else ""
