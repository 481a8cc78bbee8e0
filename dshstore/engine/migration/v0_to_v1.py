"""Format v0 -> v1: the shapes of all the summer in the words of its end.

(Format notes v0-v4, section 7.1.) Events keep their seqs and times, and token deltas pass as they
are. The shapes that can be told from an event alone are `legacy`'s; here are those that need
what came before, and what no later format can say. Members that are added go last.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dshstore.engine.migration.payloads import check_payload
from dshstore.engine.migration.shapes import Misfit, mapping, positive
from dshstore.formats.dsh import legacy
from dshstore.formats.dsh.envelope import CHUNK
from dshstore.jsontext import dump
from dshstore.model import Event

_UNSAYABLE: Final = frozenset({"request/header-delta", "mode/set"})


class V0ToV1:
    """Upgrades the events of one log, in order."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._message_ids: dict[int, str] = {}
        self._retry_ids: dict[str, str] = {}
        self._compaction: str | None = None

    def upgrade(self, event: Event) -> Event:
        """The event as a v1 log has it; the same object when nothing in it is old.

        Raises `Misfit` for one that v1 cannot say or that is not as v0 has it.
        """
        if event["type"] == CHUNK:
            return event
        self._check(event)
        event = legacy.upgrade(event, self._session_id, self._message_ids.get)
        match event["type"]:
            case "request/header":
                event = _without_prefix(event)
            case "llm/retry":
                event = self._with_retry_id(event)
            case "compaction/start" | "compaction/summary" | "compaction/end":
                event = self._with_compaction_id(event)
            case "user/message":
                event = self._with_compaction_of_source(event)
            case "session/end-seed":
                self._compaction = None
            case _:
                pass
        check_payload(event, 0)
        message_id = legacy.message_id(event)
        if message_id is not None and "surfaceOp" in event:
            self._message_ids[event["seq"]] = message_id
        return event

    def _check(self, event: Event) -> None:
        kind, data = event["type"], event["data"]
        if kind in _UNSAYABLE:
            raise Misfit(f"{kind} is something that no later format can say")
        try:
            mapping(data)
            if kind == "turn/end" and "turn" in data:
                positive(data["turn"])
        except Misfit as misfit:
            misfit.path = f"{kind}: data"
            raise
        if kind == "request/header" and data.get("reason") == "fallback":
            raise Misfit("a request/header of reason fallback is something no later format can say")

    def _with_retry_id(self, event: Event) -> Event:
        data = event["data"]
        chain = dump([data.get(key) for key in ("turn", "step", "provider", "policyKey")])
        if "retryId" in data:
            if isinstance(data["retryId"], str):
                self._retry_ids[chain] = data["retryId"]
            return event
        minted = f"legacy-retry:{self._session_id}:{event['seq']}"
        retry_id = self._retry_ids.setdefault(chain, minted)
        return _with(event, {**data, "retryId": retry_id})

    def _with_compaction_id(self, event: Event) -> Event:
        data, begins = event["data"], event["type"] == "compaction/start"
        if begins and "compactionId" in data:
            self._compaction = data["compactionId"]
        elif begins:
            self._compaction = f"legacy-compaction:{self._session_id}:{event['seq']}"
        if "compactionId" not in data and self._compaction is not None:
            event = _with(event, {**data, "compactionId": self._compaction})
        if event["type"] == "compaction/end":
            self._compaction = None
        return event

    def _with_compaction_of_source(self, event: Event) -> Event:
        data = event["data"]
        source = data.get("source")
        if (
            self._compaction is None
            or not isinstance(source, Mapping)
            or (source.get("kind"), source.get("plugin")) != ("plugin", "compact")
            or "compactionId" in source
        ):
            return event
        return _with(event, {**data, "source": {**source, "compactionId": self._compaction}})


def _without_prefix(event: Event) -> Event:
    """A request header without the messages that once stood in it."""
    data = event["data"]
    header = data.get("header")
    if not isinstance(header, Mapping) or "messagePrefix" not in header:
        return event
    if not isinstance(header["messagePrefix"], list):
        raise Misfit("request/header: data.header.messagePrefix must be an array")
    rest = {key: value for key, value in header.items() if key != "messagePrefix"}
    return _with(event, {**data, "header": rest})


def _with(event: Event, data: dict[str, Any]) -> Event:
    return {**event, "data": data}
