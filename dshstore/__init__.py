"""Session logs of LLM agents in one SQLite file."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dshstore.errors import (
    Conflict,
    CorruptStore,
    EventNotFound,
    EventRefused,
    ExtraMissing,
    ForkRefused,
    LogRefused,
    MigrationRefused,
    NotAStore,
    NoWriteAheadLog,
    OutOfTurn,
    OutputRefused,
    QueryFailed,
    SearchIndexBusy,
    SearchIndexUnwritten,
    SessionExists,
    SessionNotFound,
    StoreBusy,
    StoreError,
    StreamRefused,
    TextUnreadable,
    UnknownEvent,
    UnsupportedFormat,
    UnsupportedSchema,
    WriteFailed,
)

if TYPE_CHECKING:
    from dshstore import borrowed, charts, parquet, reports, streams
    from dshstore.attempt import Attempt, LiveChunk
    from dshstore.engine.derive import derive
    from dshstore.engine.findings import CODES as FINDING_CODES
    from dshstore.engine.findings import Finding
    from dshstore.engine.importing import ImportResult
    from dshstore.engine.overview import SessionSummary
    from dshstore.engine.requesting import Request
    from dshstore.engine.salvage import QuarantinedPiece
    from dshstore.engine.search import SearchFilters, SearchHit
    from dshstore.engine.surface import Folded, fold
    from dshstore.engine.timing import AttemptTiming, Gap
    from dshstore.engine.transcript import Replaced, TranscriptEntry
    from dshstore.engine.why import EventBrief, Explanation
    from dshstore.formats.dsh.limits import Limits
    from dshstore.jsontext import dump as dump_json
    from dshstore.live import LiveSession
    from dshstore.session import Difference, Session
    from dshstore.store import Store
    from dshstore.store import open_store as open

__version__ = "0.1.0"

__all__ = [
    "FINDING_CODES",
    "Attempt",
    "AttemptTiming",
    "Conflict",
    "CorruptStore",
    "Difference",
    "EventBrief",
    "EventNotFound",
    "EventRefused",
    "Explanation",
    "ExtraMissing",
    "Finding",
    "Folded",
    "ForkRefused",
    "Gap",
    "ImportResult",
    "Limits",
    "LiveChunk",
    "LiveSession",
    "LogRefused",
    "MigrationRefused",
    "NoWriteAheadLog",
    "NotAStore",
    "OutOfTurn",
    "OutputRefused",
    "QuarantinedPiece",
    "QueryFailed",
    "Replaced",
    "Request",
    "SearchFilters",
    "SearchHit",
    "SearchIndexBusy",
    "SearchIndexUnwritten",
    "Session",
    "SessionExists",
    "SessionNotFound",
    "SessionSummary",
    "Store",
    "StoreBusy",
    "StoreError",
    "StreamRefused",
    "TextUnreadable",
    "TranscriptEntry",
    "UnknownEvent",
    "UnsupportedFormat",
    "UnsupportedSchema",
    "WriteFailed",
    "borrowed",
    "charts",
    "derive",
    "dump_json",
    "fold",
    "open",
    "parquet",
    "reports",
    "streams",
]

#: Where a name is found when it is first asked for: a module, or a name there after a colon. Who
#: imports the package does not wait for what it does not use.
_HOMES = {
    "borrowed": "borrowed",
    "charts": "charts",
    "parquet": "parquet",
    "reports": "reports",
    "streams": "streams",
    "Attempt": "attempt:Attempt",
    "LiveChunk": "attempt:LiveChunk",
    "derive": "engine.derive:derive",
    "FINDING_CODES": "engine.findings:CODES",
    "Finding": "engine.findings:Finding",
    "ImportResult": "engine.importing:ImportResult",
    "SessionSummary": "engine.overview:SessionSummary",
    "Request": "engine.requesting:Request",
    "QuarantinedPiece": "engine.salvage:QuarantinedPiece",
    "SearchFilters": "engine.search:SearchFilters",
    "SearchHit": "engine.search:SearchHit",
    "Folded": "engine.surface:Folded",
    "fold": "engine.surface:fold",
    "AttemptTiming": "engine.timing:AttemptTiming",
    "Gap": "engine.timing:Gap",
    "Replaced": "engine.transcript:Replaced",
    "TranscriptEntry": "engine.transcript:TranscriptEntry",
    "EventBrief": "engine.why:EventBrief",
    "Explanation": "engine.why:Explanation",
    "Limits": "formats.dsh.limits:Limits",
    "dump_json": "jsontext:dump",
    "LiveSession": "live:LiveSession",
    "Difference": "session:Difference",
    "Session": "session:Session",
    "Store": "store:Store",
    "open": "store:open_store",
}

if not TYPE_CHECKING:  # to a type checker the imports above are all there is

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module, _, inner = _HOMES[name].partition(":")
        found = import_module(f"{__name__}.{module}")
        globals()[name] = getattr(found, inner) if inner else found
        return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
