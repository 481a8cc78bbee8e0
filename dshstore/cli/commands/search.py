"""`dshstore search`: where somebody wrote of something."""

from __future__ import annotations

import click
import msgspec

import dshstore
from dshstore import SearchFilters, SearchHit
from dshstore.cli.forms import form_options, say_nothing_found, write_values
from dshstore.cli.output import console, is_terminal, time_text, visible, write_json, write_text
from dshstore.cli.parameters import (
    COUNT,
    examples,
    project_option,
    since_option,
    store_argument,
)
from dshstore.cli.progress import SearchProgress

_SAID = ("user", "assistant", "title")
_ROLES = (*_SAID, "reasoning", "tool", "system")
_STATES = ("surface", "shadowed", "log-only")

#: The columns of a hit; its snippet has its marks in it.
_COLUMNS = tuple(name for name in SearchHit.__struct_fields__ if name != "marks")


@click.command(
    "search",
    epilog=examples(
        "dshstore search garden.db runner beans",
        "dshstore search garden.db '\"cold frame\" OR flee*' --since 7d",
        "dshstore search garden.db '再等一周' --state surface --json",
        "dshstore search garden.db --like 'say(\"' --role tool",
    ),
)
@store_argument
@click.argument("query", metavar="QUERY...", nargs=-1, required=True)
@click.option("--like", is_flag=True, help="Find QUERY as it stands, letter by letter; no index.")
@click.option(
    "--role",
    "roles",
    type=click.Choice(_ROLES),
    multiple=True,
    help="Only what one of these wrote: without it a user, an assistant, or a title.",
)
@click.option("--tools", is_flag=True, help="Also what tools were given and gave back.")
@click.option("--all", "everything", is_flag=True, help="Also tools, reasoning, system prompts.")
@click.option(
    "--state",
    type=click.Choice(_STATES),
    help="Only what the model sees now, what a compaction or the like hides from it, or the rest.",
)
@click.option("--session", metavar="SESSION", help="Only in this session, what it inherited too.")
@project_option("Only where a session ran there or below.")
@since_option("Only what was written since")
@click.option(
    "-n",
    "limit",
    type=COUNT,
    default=20,
    show_default=True,
    metavar="COUNT",
    help="At most so many.",
)
@click.option("--rebuild", is_flag=True, help="Make the index anew first.")
@form_options
def command(
    store: str,
    query: tuple[str, ...],
    like: bool,
    roles: tuple[str, ...],
    tools: bool,
    everything: bool,
    state: str | None,
    session: str | None,
    project: str | None,
    since: int | None,
    limit: int,
    rebuild: bool,
    form: str | None,
) -> None:
    """Find what people and models wrote in STORE, the best match first.

    A text is found that holds every word of QUERY, whatever the case, the accents and the width
    of its letters. Words of Chinese, Japanese, Korean and Thai are found inside running text. The
    rest is for who needs it:

    \b
      "cold frame"       these words side by side
      bean*              words that begin so
      frost OR fleece    one of them; also AND and NOT, in capitals
      (a OR b) NOT c     parentheses group, beside AND, OR, NOT
      "OR"               a word that would mean something else

    Signs inside a word, as in file.py, don't or a:b, stand for any other.

    The index is a file of its own, STORE-search (STORE-search-all with --tools, --all and such
    roles): made at the first search, kept in step by each, and made anew when it is gone.
    """
    wanted = set(roles) or {*_SAID}
    wanted |= {"tool"} if tools else set()
    wanted |= set(_ROLES) if everything else set()
    filters = msgspec.convert(
        {
            "roles": sorted(wanted),
            "state": state,
            "session": session,
            "project": project,
            "since": since,
        },
        SearchFilters,
    )
    with dshstore.open(store, mode="read") as opened, SearchProgress() as progress:
        hits = opened.search(
            " ".join(query), filters, limit=limit, like=like, anew=rebuild, progress=progress
        )
    if not hits:
        say_nothing_found()
    match form:
        case "json":
            for hit in hits:
                write_json(_members(hit))
        case "csv" | "tsv":
            write_values(_COLUMNS, (_members(hit).values() for hit in hits), form)
        case None:
            for number, hit in enumerate(hits):
                if number:
                    write_text("")
                _write(hit)


def _members(hit: SearchHit) -> dict[str, object]:
    members = {name: getattr(hit, name) for name in _COLUMNS}
    return {**members, "snippet": hit.marked()}


def _write(hit: SearchHit) -> None:
    turn = "" if hit.turn is None else f"turn {hit.turn}"
    by = "" if hit.shadowed_by is None else f" by {hit.shadowed_by}"
    words = (
        visible(hit.session_id), f"event {hit.seq}", turn, hit.role, time_text(hit.time),
        f"{hit.state}{by}",
    )  # fmt: skip
    write_text("  ".join(filter(None, words)), "dim")
    if not is_terminal():
        write_text(f"  {visible(hit.marked())}")
        return
    from rich.text import Text

    shown, at = Text("  "), 0
    for begin, end in hit.marks:
        shown.append(visible(hit.snippet[at:begin]))
        shown.append(visible(hit.snippet[begin:end]), "bold")
        at = end
    shown.append(visible(hit.snippet[at:]))
    console().print(shown, soft_wrap=True)
