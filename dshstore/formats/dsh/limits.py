"""How much a log may take. What goes beyond it is told by `frames`, which counts."""

from __future__ import annotations

import msgspec


class Limits(msgspec.Struct, frozen=True):
    """How much a log may take; more is refused. Bytes, and decoded bytes per byte of a file."""

    max_line: int = 512 << 20
    max_decoded: int = 64 << 30
    max_ratio: int = 20_000


DEFAULT_LIMITS = Limits()
