"""A log on its way up: the stages from its format to the one that is asked for, in one pass.

Each event goes through all stages before the next one is read, so a log of any length takes no
more memory than its longest attempt, and what is refused first is what stands first in the log.
(Format notes v0-v4, sections 1, 2, 6.2 and 7.) Storing what comes out is for `migrate`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import Final

from dshstore.engine.migration.chunks import ChunkRun, gather
from dshstore.engine.migration.relationships import Relationships
from dshstore.engine.migration.source import Source
from dshstore.engine.migration.v1_to_v2 import Step, V1ToV2
from dshstore.errors import MigrationRefused
from dshstore.formats.dsh import header as headers
from dshstore.model import Event, Header

#: The formats that a log can be migrated to.
TARGETS: Final = range(1, 3)


def migrate_events(
    header: Header, events: Iterable[Event], to: int
) -> tuple[Header, Iterator[Event]]:
    """A log of format v0 or v1 as one of format `to`: its header, and its events as they come.

    The events are those of a whole log, as parsed JSON. Raises `MigrationRefused`, which names
    an event by its seq in the log that was given: at once for the header, on the way for events.
    """
    upgraded = upgrade_header(header, to)
    if to == 1:
        return upgraded, _upgrade(Source(header), events)
    return upgraded, (step.event for step in ToV2(header).run(events))


def upgrade_header(header: Header, to: int) -> Header:
    """The header of the log when it is migrated to format `to`. Raises `MigrationRefused`."""
    if to not in TARGETS or header.version >= to:
        raise MigrationRefused(None, f"no way leads from log format v{header.version} to v{to}")
    if header.notes:
        raise MigrationRefused(None, f"{header.notes[0]}, and a migration passes over nothing")
    return headers.write(
        version=to,
        session_id=header.session_id,
        created_at=header.created_at,
        cwd=header.cwd,
        parent_session=header.parent_session,
        seeded=header.seeded,
        seed_length=header.seed_length if to < 2 else None,
        origin=header.origin,
        delegation_depth=header.delegation_depth,
        agent_preset=header.agent_preset,
    )


def _upgrade(source: Source, events: Iterable[Event]) -> Iterator[Event]:
    yield from map(source.read, events)
    source.finish()


class ToV2:
    """One log on its way to format v2."""

    def __init__(self, header: Header) -> None:
        self._source = Source(header)
        self._target = V1ToV2(header)
        self._relationships = Relationships(header)
        self._origins = array("q")

    def run(self, items: Iterable[Event | ChunkRun]) -> Iterator[Step]:
        """The events of the new log, each with the seq of the old one that it came from.

        `items` are the events of the whole old log in order, token deltas perhaps as runs.
        Raises `MigrationRefused`.
        """
        for item in gather(items):
            if isinstance(item, ChunkRun):
                self._source.pass_over(item.seq, item.count)
                yield from self._check(self._target.push(item))
            else:
                yield from self._check(self._target.push(self._source.read(item)))
        self._source.finish()
        yield from self._check(self._target.finish())
        self._relationships.finish()

    def new_seq(self, seq: int) -> int:
        """Where event `seq` of the old log stands in the new one."""
        return self._target.seqs.new(seq)

    def origin(self, seq: int) -> int:
        """The seq in the old log of what event `seq` of the new one came from."""
        return self._origins[seq]

    def _check(self, steps: Iterator[Step]) -> Iterator[Step]:
        for step in steps:
            self._relationships.push(step.event, step.origin)
            self._origins.append(step.origin)
            yield step
