"""The turns and steps of a session that an agent writes to.

Decides when one may begin or end, keeps their numbers, which go on where the session is taken up
or forked, and ends a turn in order when something breaks it off. What stands in a turn is for
`live`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from dshstore.appending import OpenSession
from dshstore.engine.repair import TurnTracker
from dshstore.errors import OutOfTurn, StoreError


class TurnSession(OpenSession):
    """A session open for writing that knows which turn and step is open."""

    @property
    def _tracker(self) -> TurnTracker:
        with self._appending:
            return self._standing.tracker

    @property
    def open_turn(self) -> int | None:
        """The number of the turn that is open, from 1."""
        return self._tracker.turn  # type: ignore[no-any-return]

    @property
    def open_step(self) -> int | None:
        """The number of the step that is open, from 1 in each turn."""
        return self._tracker.step  # type: ignore[no-any-return]

    def start_turn(self) -> int:
        """Begin the next turn; its number. Raises OutOfTurn while one is open."""
        with self._appending:
            if self.open_turn is not None:
                raise OutOfTurn(f"turn {self.open_turn} is still open")
            turn = self._tracker.last_turn + 1
            self.append("turn/start", {"turn": turn})
            return turn

    def end_turn(self, reason: str | Mapping[str, Any] = "completed") -> int:
        """End the open turn: `completed`, `max-tokens`, `blocked`, or a reason as the log has it.

        Raises OutOfTurn when none is open, or a step is.
        """
        with self._appending:
            if self.open_step is not None:
                raise OutOfTurn(f"step {self.open_step} is still open")
            kind = {"kind": reason} if isinstance(reason, str) else dict(reason)
            return self.append("turn/end", {"turn": self._turn(), "reason": kind})

    def start_step(self) -> int:
        """Begin the next step of the open turn; its number. Raises OutOfTurn."""
        with self._appending:
            turn = self._turn()
            if self.open_step is not None:
                raise OutOfTurn(f"step {self.open_step} is still open")
            step = self._tracker.last_step + 1
            self.append("step/start", {"turn": turn, "step": step})
            return step

    def end_step(self) -> int:
        """End the open step. Raises OutOfTurn when none is open."""
        with self._appending:
            return self.append("step/end", self._place())

    def break_off(self, reason: Mapping[str, Any]) -> None:
        """End the open turn, if one is, in the middle: its open calls get error results first."""
        with self._appending:
            for event in self._tracker.closers(self.format_version):
                data = event["data"]
                if event["type"] == "turn/end":
                    data = {**data, "reason": dict(reason)}
                sources = event.get("sourceEventSeqs")
                self.append(event["type"], data, surface_op=event.get("surfaceOp"), sources=sources)

    @contextmanager
    def turn(self) -> Iterator[int]:
        """A turn, begun and ended; gives its number.

        What the block raises ends the turn too: open calls get error results, and the reason
        tells an error from an abort (Ctrl-C, a cancelled task).
        """
        turn = self.start_turn()
        try:
            yield turn
        except BaseException as error:
            with suppress(StoreError):  # what the block raised matters more
                self.break_off(_reason(error))
            raise
        if self.open_turn == turn:
            self.end_turn()

    @contextmanager
    def step(self) -> Iterator[int]:
        """A step of the open turn, begun and ended; gives its number."""
        step = self.start_step()
        yield step
        if self.open_step == step:
            self.end_step()

    def _turn(self) -> int:
        if self.open_turn is None:
            raise OutOfTurn("no turn is open")
        return self.open_turn

    def _place(self) -> dict[str, int]:
        turn = self._turn()
        if self.open_step is None:
            raise OutOfTurn("no step is open")
        return {"turn": turn, "step": self.open_step}


def _reason(error: BaseException) -> dict[str, Any]:
    """The reason of a turn that this ended."""
    if not isinstance(error, Exception):
        return {"kind": "aborted", "reason": {"kind": "user"}}
    failure = {"message": str(error) or type(error).__name__, "code": type(error).__name__}
    return {"kind": "error", "error": failure}
