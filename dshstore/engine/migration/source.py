"""The log that is migrated, read event by event as if it were one of format v1.

(Format notes v0-v4, sections 3.1, 5 and 7.1.) What is not as the frozen formats have it is
refused here, before anything is made of it.
"""

from __future__ import annotations

from typing import Final

from dshstore.engine.migration.payloads import check_payload
from dshstore.engine.migration.shapes import Misfit
from dshstore.engine.migration.v0_to_v1 import V0ToV1
from dshstore.errors import MigrationRefused
from dshstore.formats.dsh.envelope import RowRefused, check_event
from dshstore.model import Event, Header

_DELIVERY: Final = "session-log-deepseek/delivery-accepted"


class Source:
    """Reads a log of format v0 or v1 from its first event on. Raises `MigrationRefused`."""

    def __init__(self, header: Header) -> None:
        self._header = header
        self._v0 = V0ToV1(header.session_id) if header.version == 0 else None
        self._next_seq = 0

    def read(self, event: Event) -> Event:
        """The next event as a v1 log has it; the same object when it is the same.

        The payload of a token delta is not looked into.
        """
        seq = self._next_seq
        try:
            found, _ = check_event(event)
        except RowRefused as refusal:
            raise MigrationRefused(seq, str(refusal)) from None
        self.pass_over(found, 1)
        try:
            if self._v0 is not None:
                event = self._v0.upgrade(event)
            else:
                check_payload(event, self._header.version)
            if event["type"] == _DELIVERY:
                self._check_delivery(event)
        except Misfit as misfit:
            raise MigrationRefused(seq, str(misfit)) from None
        return event

    def pass_over(self, seq: int, events: int) -> None:
        """Note that the next events, from `seq` on, are token deltas that were read elsewhere."""
        if seq != self._next_seq:
            raise MigrationRefused(self._next_seq, f"has seq {seq} in place of its own")
        self._next_seq += events

    def finish(self) -> None:
        """Note that the log is at its end."""
        if (cut := self._header.seed_length or 0) > self._next_seq:
            raise MigrationRefused(
                None,
                f"the header speaks of {cut} inherited events, but the log has {self._next_seq}",
            )

    def _check_delivery(self, event: Event) -> None:
        """What a log of this format says was delivered of it must have been of this session."""
        header, data = self._header, event["data"]
        is_inherited = header.parent_session is not None and event["seq"] < (
            header.seed_length or 0
        )
        of_this = data.get("sessionFormatVersion", 0) == header.version and not is_inherited
        if of_this and data["sessionId"] != header.session_id:
            raise Misfit(f"{_DELIVERY}: speaks of another session")
