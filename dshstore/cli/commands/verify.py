"""`dshstore verify`: what is wrong with a store, and with the logs in it."""

from __future__ import annotations

from collections import Counter

import click
import msgspec

import dshstore
from dshstore.cli.output import say, shorten, write_json, write_text
from dshstore.cli.parameters import any_session_argument, examples, json_option, store_argument

#: The exit status when something is found that counts.
_FOUND = 1


@click.command(
    "verify",
    epilog=examples(
        "dshstore verify garden.db",
        "dshstore verify garden.db seedlings --strict --json",
    ),
)
@store_argument
@any_session_argument
@click.option("--strict", is_flag=True, help="The status is 1 for faults of a log as well.")
@json_option
def command(store: str, session: str | None, strict: bool, as_json: bool) -> int:
    """Look for damage in STORE, and for faults in its logs.

    With SESSION only at that session and those whose events it shares. Nothing is changed. The
    status is 1 when the store is damaged. The faults of a log itself (an open call, an unknown
    event) were there when it came in; they are told and do not count.
    """
    kinds: Counter[str] = Counter()
    with dshstore.open(store, mode="read") as opened:
        for finding in opened.verify(session):
            kinds[finding.kind] += 1
            if as_json:
                write_json(msgspec.to_builtins(finding))
            else:
                write_text(_line(finding))
    if not as_json:
        say(_summary(kinds))
    return _FOUND if kinds["store"] or (strict and kinds) else 0


def _line(finding: dshstore.Finding) -> str:
    where = [] if finding.session_id is None else [shorten(finding.session_id, 60)]
    if finding.seq is not None:
        where.append(f"event {finding.seq}")
    place = f"{', '.join(where)}: " if where else ""
    return f"{finding.kind}  {finding.code}  {place}{shorten(finding.detail, 240)}"


def _summary(kinds: Counter[str]) -> str:
    damage, faults = kinds["store"], kinds["log"]
    told = f"{damage} finding{'' if damage == 1 else 's'} of damage" if damage else "no damage"
    return f"{told}; {faults or 'no'} fault{'' if faults == 1 else 's'} of the logs themselves"
