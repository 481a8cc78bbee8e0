from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar
from zlib import crc32

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dshstore import schema
from dshstore.engine.surface import Surface
from tests.contract import PAYLOAD_CODES, Outcome, SurfaceContract, push_all
from tests.logs import EventDict
from tests.sql.plain import POLICIES, WAYS, PlainWriter, ShellWriter, Way, to_json
from tests.strategies import VERSIONS, logs, surface_logs

SHORT = 8


class TriggersContract(SurfaceContract):
    """The triggers alone keep the surface, whoever writes and in whatever way."""

    payload_rules = False

    #: How long a log may be that is always written one by one, too.
    one_by_one = 1000

    @abstractmethod
    def write(
        self, events: Sequence[EventDict], version: int, ways: Sequence[Way]
    ) -> list[Outcome]:
        """What becomes of a log in each of these ways to write it."""

    def run(self, events: Sequence[EventDict], format_version: int) -> Outcome:
        ways: Sequence[Way] = WAYS
        if len(events) > SHORT:  # then a policy of its own for every log is enough
            at = 2 * (crc32(to_json(events).encode()) % len(POLICIES))
            ways = WAYS[at : at + 2]
        batched = [way for way in ways if way.batched]
        outcomes = self.write(events, format_version, batched)
        code = outcomes[0].code
        assert outcomes == [Outcome([], [], code) if code else outcomes[0]] * len(batched)
        if code or len(events) <= self.one_by_one:
            one_by_one = [way for way in ways if not way.batched]
            outcomes = self.write(events, format_version, one_by_one)
            assert outcomes == outcomes[:1] * len(one_by_one)
            assert outcomes[0].code == code
        return outcomes[0]


class TestOwnConnection(TriggersContract):
    writer: ClassVar[PlainWriter]

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _store(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
        database = schema.create(str(tmp_path_factory.mktemp("plain") / "store.db"))
        cls.writer = PlainWriter(database)
        yield
        database.close()

    def write(
        self, events: Sequence[EventDict], version: int, ways: Sequence[Way]
    ) -> list[Outcome]:
        return [self.writer.write(events, version, way) for way in ways]

    @pytest.mark.parametrize("version", VERSIONS)
    @settings(suppress_health_check=[HealthCheck.differing_executors])
    @given(data=st.data())
    def test_triggers_and_fold_agree(self, version: int, data: st.DataObject) -> None:
        events = data.draw(surface_logs(version) | logs(version))
        folded = push_all(Surface(version), events)
        if folded.code in PAYLOAD_CODES:
            events = events[: folded.at]
            folded = push_all(Surface(version), events)
        way: Way = data.draw(st.sampled_from([way for way in WAYS if not way.batched]))
        assert self.writer.write(events, version, way) == folded


class TestShell(TriggersContract):
    one_by_one = SHORT  # it takes a while to read an INSERT with all its triggers
    writer: ClassVar[ShellWriter]

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _store(cls, tmp_path_factory: pytest.TempPathFactory) -> None:
        path = str(tmp_path_factory.mktemp("shell") / "store.db")
        schema.create(path).close()
        cls.writer = ShellWriter(path)

    def write(
        self, events: Sequence[EventDict], version: int, ways: Sequence[Way]
    ) -> list[Outcome]:
        return self.writer.write(events, version, ways)
