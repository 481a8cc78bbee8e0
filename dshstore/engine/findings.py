"""What `verify` can say: a finding, and the list of all codes with what each means."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

#: `store`: the store is damaged. `log`: the log itself is odd, and was so when it came in.
Kind = Literal["store", "log"]

#: Damage: what a store holds is not what was written into it.
STORE_CODES: dict[str, str] = {
    "file-damaged": "SQLite's own integrity check finds a fault, or a page cannot be read.",
    "reference-broken": "A row refers to a row that is not there.",
    "session-unreadable": "The row of a session, or what belongs to it, cannot be read.",
    "header-mismatch": "The header is not that of the session, or its two spellings differ.",
    "segments-broken": "The segments of a session do not lead through its whole log.",
    "seq-gap": "An event, or a member of a run, is missing or stands twice.",
    "event-unreadable": "The payload or the kept line of an event cannot be read.",
    "citations-invalid": "The cited events or the surface op of an event are not JSON.",
    "raw-mismatch": "The kept line of an event and its columns say different things.",
    "run-broken": "The token chunks of a run are not those that its row tells of.",
    "stream-unreadable": "A packed stream cannot be unpacked, or has another size.",
    "stream-misplaced": "A cut stream has no place in its event's payload.",
    "stream-figures-wrong": "Times, usage or finish of a stream are not what it says.",
    "stream-orphaned": "A packed stream belongs to no event.",
    "surface-rule-broken": "An event breaks a rule of the surface that the store enforces.",
    "surface-mismatch": "The surface kept in the store is not the fold of the events.",
    "import-mismatch": "The session is not what was put on record when its log was imported.",
    "quarantine-broken": "A piece in quarantine has lost its import, or bytes.",
}

#: Faults that a log brought along: stored, exported and shown as they are.
LOG_CODES: dict[str, str] = {
    "header-invalid": "The header lacks something that its format requires.",
    "event-unknown": "An event is of an unknown type and not marked ignorable.",
    "turn-order": "A turn begins within another, or ends where it is not open.",
    "turn-number": "A turn is not numbered one more than the turn before it.",
    "step-order": "A step begins or ends where it cannot.",
    "step-number": "A step is not numbered one more than the step before it in its turn.",
    "outside-turn": "An event that belongs into a turn stands outside.",
    "outside-step": "An event does not stand in the turn and step that it names.",
    "open-turn": "The log ends in the middle of a turn.",
    "call-id-empty": "A tool call or result has an empty call id, or none.",
    "call-repeated": "A call is announced or started a second time while it is open.",
    "call-unannounced": "A call is started that no assistant message of its step announced.",
    "call-mismatch": "A call is started under another name, or with other arguments.",
    "call-unanswered": "A step or turn ends with a call that has no result.",
    "call-open": "The log ends before a call has its result.",
    "result-unpaired": "A tool result answers no open call.",
    "result-not-started": "A call has a result but was never started.",
    "stream-invalid": "The stream of an attempt does not expand, or adds up to no message.",
    "stream-differs": "A message is not what its stream adds up to.",
    "settlement-cites": "An assistant message of format v2 cites events.",
    "offload-invalid": "An image/offload names an image that cannot be left out.",
    "developer-header-invalid": "A developer message adds tools that no earlier header defines.",
    "compaction-order": "A compaction begins, sums up or ends where it cannot.",
    "compaction-span": "A compaction does not name what stands on the surface.",
    "checkpoint-outside": "A compaction checkpoint stands outside the compaction it names.",
    "open-compaction": "The log ends in the middle of a compaction.",
    "seed-marker-missing": "The header says that the log is seeded, but no event marks the cut.",
    "seed-marker-unexpected": "An event marks an inherited cut, but the header says there is none.",
    "seed-beyond-log": "The header counts more inherited events than the log has.",
}

#: Every code that a finding can have, with what it means.
CODES: dict[str, str] = {**STORE_CODES, **LOG_CODES}


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """Something that `verify` found: one line of `verify --json`.

    `session_id` is None for what belongs to no session, `seq` for what belongs to no event.
    `detail` names the generation when the store holds several of the session.
    """

    session_id: str | None
    seq: int | None
    code: str
    kind: Kind
    detail: str


class Fault(NamedTuple):
    """What is wrong with an event, or with a session (`seq` None), before it is a finding."""

    seq: int | None
    code: str
    detail: str


def make_finding(fault: Fault, session_id: str | None = None, generation: str = "") -> Finding:
    """The finding of a fault in a session; `generation` names it among several."""
    return Finding(
        session_id=session_id,
        seq=fault.seq,
        code=fault.code,
        kind="store" if fault.code in STORE_CODES else "log",
        detail=f"{generation}: {fault.detail}" if generation else fault.detail,
    )
