"""The payloads that a harness writes, in the shape and key order of each format version.

Decides what the data of an event looks like, nothing else: which event may stand where, and which
numbers and ids it has, is for who appends it. A value of None leaves an optional key out. Format
notes v0, section 2; v0-v4, sections 5 and 6.4; the order of keys is that of logs of the harness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

#: The first format versions with streams in settlements, system messages, first-class results.
STREAMS_SINCE, SYSTEM_SINCE, RESULTS_SINCE = 2, 3, 4

Block = Mapping[str, Any]
Payload = dict[str, Any]


def blocks(content: str | Sequence[Block]) -> list[Block]:
    """Content blocks; a text is one block. Raises TypeError for anything else."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    given: Any = content
    if not isinstance(given, Sequence) or not all(isinstance(block, Mapping) for block in given):
        raise TypeError(f"content is a str or a list of blocks, not {given!r}")
    return list(content)


def user_message(id: str, content: Sequence[Block], source: Mapping[str, Any]) -> Payload:
    """Data of a `user/message`: the message itself."""
    return {"content": content, "source": source, "role": "user", "id": id}


def system_message(
    version: int, place: Mapping[str, int], id: str, content: Sequence[Block]
) -> Payload:
    """Data of a `system/message` (format v3 on)."""
    source = {"kind": "plugin", "plugin": "@deepseek-ai/dsh-system-prompt"}
    if version >= RESULTS_SINCE:
        source = {"kind": "system-prompt"}
    message = {"role": "system", "content": content, "source": source, "id": id}
    return {**place, "message": message}


def assistant_message(
    version: int,
    place: Mapping[str, int],
    id: str,
    content: Sequence[Block],
    *,
    provider: str,
    model: str,
    replay_state: Any = None,
    usage: Mapping[str, Any] | None = None,
    stream: Sequence[Mapping[str, Any]] = (),
    interrupted: bool = False,
) -> Payload:
    """Data of an `assistant/message`; before format v2 it has no stream."""
    source = _filled(kind="model", provider=provider, model=model, replayState=replay_state)
    message = {"role": "assistant", "content": content, "source": source, "id": id}
    cut_off = True if interrupted else None
    if version < STREAMS_SINCE:
        return {**place, "message": message, **_filled(usage=usage, interrupted=cut_off)}
    rest = _filled(interrupted=cut_off, usage=usage)
    return {**place, "message": message, **rest, "stream": list(stream)}


def assistant_attempt(place: Mapping[str, int], stream: Sequence[Mapping[str, Any]]) -> Payload:
    """Data of an `assistant/attempt` (format v2 on): a stream of which no message came."""
    return {**place, "stream": list(stream)}


def llm_retry(
    place: Mapping[str, int],
    retry_id: str,
    retry: int,
    *,
    provider: str,
    policy_key: str,
    max_retries: int | None,
    delay_ms: int,
    failure: Mapping[str, Any],
) -> Payload:
    """Data of an `llm/retry`; without `max_retries` there may be any number."""
    limit = {"mode": "always" if max_retries is None else "normal", "policyKey": policy_key}
    head = {"retryId": retry_id, **place, "provider": provider, **limit, "retry": retry}
    return {**head, **_filled(maxRetries=max_retries), "delayMs": delay_ms, "failure": failure}


def llm_retry_started(place: Mapping[str, int], retry_id: str, retry: int) -> Payload:
    """Data of an `llm/retry-started`."""
    return {"retryId": retry_id, **place, "retry": retry}


def request_header(
    version: int,
    config: Mapping[str, Any],
    *,
    system: str | None = None,
    tools: Sequence[Mapping[str, Any]] = (),
    reason: str,
) -> Payload:
    """Data of a `request/header`; from format v3 on the system prompt is a message of its own."""
    header = {"config": config, **_filled(system=system or None, tools=list(tools) or None)}
    return {"header": header, "reason": reason}


def tool_call(place: Mapping[str, int], call_id: str, name: str, arguments: str) -> Payload:
    """Data of a `tool/call`; `arguments` are JSON text."""
    return {**place, "callId": call_id, "name": name, "arguments": arguments}


def tool_result(
    version: int,
    place: Mapping[str, int],
    id: str,
    call_id: str,
    content: Sequence[Block],
    *,
    is_error: bool = False,
    error: Mapping[str, str] | None = None,
    meta: Any = None,
) -> Payload:
    """Data of a `tool/result`: from format v4 on a message of role tool, before that wrapped."""
    source = {"kind": "tool", "callId": call_id}
    result = {"toolCallId": call_id, "content": content, "isError": is_error}
    message: Payload
    if version >= RESULTS_SINCE:
        message = {"role": "tool", "source": source, **result, "id": id}
    else:
        block = {"type": "tool-result", **result}
        message = {"source": source, "content": [block], "role": "user", "id": id}
    return {**place, "message": message, **_filled(error=error, meta=meta)}


def rewritten_result(version: int, data: Mapping[str, Any], content: Sequence[Block]) -> Payload:
    """Data of a `tool/result` that says the same as another one's, with other content."""
    if version == 0 and "message" not in data:  # of an old harness
        return {**data, "content": content}
    message = data["message"]
    if version >= RESULTS_SINCE:
        return {**data, "message": {**message, "content": content}}
    block, *rest = message["content"]
    wrapped = [{**block, "content": content}, *rest]
    return {**data, "message": {**message, "content": wrapped}}


def compaction_bracket(compaction_id: str, turn: int | None) -> Payload:
    """Data of a `compaction/start`, and of the `compaction/end` of one that succeeded."""
    return {"compactionId": compaction_id, "turn": turn}


def compaction_summary(
    compaction_id: str,
    summary: Sequence[Block],
    shadowed: Sequence[int],
    *,
    tokens: int,
    provider: str,
    model: str,
    max_tokens: int | None = None,
    usage: Mapping[str, Any] | None = None,
) -> Payload:
    """Data of a `compaction/summary` of the surface nodes `shadowed`, `tokens` long together."""
    head = {"compactionId": compaction_id, "summary": summary, **_shadowing(shadowed, tokens)}
    route = {"provider": provider, "model": model}
    return {**head, **route, **_filled(maxTokens=max_tokens, usage=usage)}


def compaction_prune(shadowed: int, tokens: int) -> Payload:
    """Data of a `compaction/prune` of one tool result, `tokens` long."""
    return _shadowing([shadowed], tokens)


def checkpoint_source(version: int, compaction_id: str) -> Payload:
    """The source of the user message that stands in place of what a compaction shadowed."""
    if version >= RESULTS_SINCE:
        return {"kind": "compact-checkpoint", "compactionId": compaction_id}
    return {"kind": "plugin", "plugin": "compact", "compactionId": compaction_id}


def title(text: str, messages: Sequence[int]) -> Payload:
    """Data of a `session/title`: the user's own, or made of the user messages `messages`."""
    source = {"kind": "fallback" if messages else "user"}
    return {"title": text, "messageSeqs": list(messages), "source": source}


def _shadowing(seqs: Sequence[int], tokens: int) -> Payload:
    return {
        "shadowedRange": {"start": seqs[0], "end": seqs[-1]},
        "shadowedSeqs": list(seqs),
        "shadowedTokenCount": tokens,
    }


def _filled(**members: Any) -> Payload:
    return {key: value for key, value in members.items() if value is not None}
