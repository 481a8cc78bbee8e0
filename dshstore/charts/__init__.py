"""Pictures of sessions, as SVG: the context over the log. They need the extra `dshstore[charts]`.

`read_context` fills a `Context` from any connection to a store, `draw_context` draws it.
"""

from dshstore.charts.context import Ask, Call, Compaction, Context, ToolResult, read_context
from dshstore.charts.drawing import draw_context, write_picture
from dshstore.charts.svg import Ground

__all__ = [
    "Ask",
    "Call",
    "Compaction",
    "Context",
    "Ground",
    "ToolResult",
    "draw_context",
    "read_context",
    "write_picture",
]
