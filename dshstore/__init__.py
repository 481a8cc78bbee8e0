"""Session logs of LLM agents in one SQLite file."""

from dshstore import streams
from dshstore.engine.derive import derive
from dshstore.engine.importing import ImportResult
from dshstore.engine.salvage import QuarantinedPiece
from dshstore.engine.surface import Folded, fold
from dshstore.errors import (
    Conflict,
    CorruptStore,
    EventNotFound,
    EventRefused,
    LogRefused,
    MigrationRefused,
    NotAStore,
    QueryFailed,
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
from dshstore.session import Session
from dshstore.store import SessionSummary, Store
from dshstore.store import open_store as open

__version__ = "0.1.0"

__all__ = [
    "Conflict",
    "CorruptStore",
    "EventNotFound",
    "EventRefused",
    "Folded",
    "ImportResult",
    "Limits",
    "LiveSession",
    "LogRefused",
    "MigrationRefused",
    "NotAStore",
    "QuarantinedPiece",
    "QueryFailed",
    "Session",
    "SessionExists",
    "SessionNotFound",
    "SessionSummary",
    "Store",
    "StoreBusy",
    "StoreError",
    "StreamRefused",
    "UnknownEvent",
    "UnsupportedFormat",
    "UnsupportedSchema",
    "WriteFailed",
    "derive",
    "dump_json",
    "fold",
    "open",
    "streams",
]
