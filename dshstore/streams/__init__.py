"""The token stream of one model attempt: compacted, expanded, assembled, summed up.

Pure: where a stream is stored, and whether the message beside it agrees with it, is for others.
"""

from dshstore.errors import StreamRefused
from dshstore.streams.assembly import Assembled, assemble
from dshstore.streams.records import Accumulator, compact, expand
from dshstore.streams.summary import Summary, summarize

__all__ = [
    "Accumulator",
    "Assembled",
    "StreamRefused",
    "Summary",
    "assemble",
    "compact",
    "expand",
    "summarize",
]
