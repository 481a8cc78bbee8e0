"""Session logs of LLM agents in one SQLite file."""

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
    QueryFailed,
    SearchIndexUnwritten,
    SessionExists,
    SessionNotFound,
    StoreBusy,
    StoreError,
    StreamRefused,
    UnknownEvent,
    UnsupportedFormat,
    UnsupportedSchema,
    WriteFailed,
)
from dshstore.formats.dsh.frames import Limits
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
    "QuarantinedPiece",
    "QueryFailed",
    "Replaced",
    "Request",
    "SearchFilters",
    "SearchHit",
    "SearchIndexUnwritten",
    "Session",
    "SessionExists",
    "SessionNotFound",
    "SessionSummary",
    "Store",
    "StoreBusy",
    "StoreError",
    "StreamRefused",
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
