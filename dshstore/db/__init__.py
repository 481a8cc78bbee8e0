"""The only part that talks to SQLite: the seam behind which another driver can sit."""

from dshstore.db.asking import Parameters, Row
from dshstore.db.connecting import PAGE_SIZE, Durability
from dshstore.db.database import Database, Mode
from dshstore.db.guarding import Guard
from dshstore.db.ownfiles import INDEX_ENDS, check_output, is_own_file
from dshstore.db.refusals import BUSY_TIMEOUT

__all__ = [
    "BUSY_TIMEOUT",
    "INDEX_ENDS",
    "PAGE_SIZE",
    "Database",
    "Durability",
    "Guard",
    "Mode",
    "Parameters",
    "Row",
    "check_output",
    "is_own_file",
]
