from __future__ import annotations

from collections.abc import Sequence

from dshstore.engine.surface import Surface
from dshstore.errors import EventRefused
from tests.contract import Outcome, SurfaceContract
from tests.logs import EventDict


class TestFold(SurfaceContract):
    def run(self, events: Sequence[EventDict], format_version: int) -> Outcome:
        surface = Surface(format_version)
        shadowed: list[tuple[int, list[int]]] = []
        for at, event in enumerate(events):
            try:
                done = surface.push(event)
            except EventRefused as refused:
                return Outcome(list(surface.nodes), shadowed, refused.code, at)
            if done is not None:
                shadowed.append((done.seq, list(done.shadowed_seqs)))
        return Outcome(list(surface.nodes), shadowed)
