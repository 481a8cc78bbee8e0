"""A session that an agent loop writes to, in the harness's own events.

Decides which events belong together, in which order, and what they cite. What the payloads look
like is `shapes`', which turn and step is open `turns`', whether an event may enter `appending`'s.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from dshstore.attempt import Attempt, AttemptSession
from dshstore.engine import read
from dshstore.errors import EventRefused, StoreError
from dshstore.formats.dsh import shapes
from dshstore.jsontext import dump

#: A text, or content blocks as the log has them.
Content = str | Sequence[Mapping[str, Any]]


class LiveSession(AttemptSession):
    """An open session; `Store.create`, `resume` and `fork` give one. Close it when done.

    A turn, in the order that its readers rely on:

    >>> import dshstore, tempfile
    >>> store = dshstore.open(f"{tempfile.mkdtemp()}/garden.db")
    >>> session = store.create(session_id="seedlings", cwd="/srv/garden")
    >>> with session.turn(), session.step():
    ...     _ = session.system("You tend a garden.")
    ...     _ = session.user("Is there frost tonight?")
    ...     _ = session.request_header("gardeners", "trowel-1")
    ...     call = {"type": "tool-call", "id": "c1", "name": "weather", "arguments": "{}"}
    ...     _ = session.assistant([call])
    ...     _ = session.tool_call("c1", "weather", {})
    ...     _ = session.tool_result("c1", "minus two")
    >>> [message["role"] for message in session.messages()]
    ['system', 'user', 'assistant', 'tool']
    >>> store.close()
    """

    #: The provider and the model of the last request header that was appended here.
    _route: tuple[str, str] | None = None

    def user(self, content: Content, *, source: Mapping[str, Any] | None = None) -> int:
        """Append a user message; `source` says who wrote it, the user when left out."""
        data = shapes.user_message(_id(), shapes.blocks(content), source or {"kind": "user"})
        return self.append("user/message", data, surface_op="append")

    def system(self, content: Content) -> int:
        """Give the session its system prompt, or another in place of the one it has.

        From format v3 on; before that it is part of the request header.
        """
        with self._appending:
            if self.format_version < shapes.SYSTEM_SINCE:
                raise StoreError(
                    f"a log of format v{self.format_version} has no system messages: give the "
                    "text to request_header"
                )
            text = shapes.blocks(content)
            data = shapes.system_message(self.format_version, self._place(), _id(), text)
            head = self._standing.surface.system_head
            if head is None:
                return self.append("system/message", data, surface_op="append")
            return self.append("system/message", data, surface_op=(head, head), sources=[head])

    def request_header(
        self,
        provider: str,
        model: str,
        *,
        system: str | None = None,
        tools: Sequence[Mapping[str, Any]] = (),
        max_tokens: int | None = None,
        reasoning_effort: str | None = None,
        temperature: float | None = None,
        stop: Sequence[str] | None = None,
        reason: str | None = None,
    ) -> int:
        """Append what the model is called with from now on; before format v3 `system` too.

        `reason` is `initial`, `resume` or `change`, as it fits when left out.
        """
        with self._appending:
            self._turn()
            if system and self.format_version >= shapes.SYSTEM_SINCE:
                raise StoreError("from format v3 on the system prompt is a message: use system()")
            options = {
                "maxTokens": max_tokens,
                "reasoningEffort": reasoning_effort,
                "temperature": temperature,
                "stop": None if stop is None else list(stop),
            }
            given = {key: value for key, value in options.items() if value is not None}
            data = shapes.request_header(
                self.format_version,
                {"provider": provider, "model": model, **given},
                system=system,
                tools=tools,
                reason=reason or self._header_reason(),
            )

            def note() -> None:
                self._route = provider, model

            return self._append_noting(note, self._event("request/header", data))

    def assistant(
        self,
        content: Content,
        *,
        usage: Mapping[str, Any] | None = None,
        stream: Sequence[Mapping[str, Any]] = (),
        interrupted: bool = False,
        provider: str | None = None,
        model: str | None = None,
        replay_state: Any = None,
    ) -> int:
        """Append what the model answered, before any tool call of it runs.

        `provider` and `model` are those of the last request header when left out; `stream` has
        the records of the token stream (`dshstore.streams`), from format v2 on.
        """
        with self._appending:
            provider, model = self._routed(provider, model)
            data = shapes.assistant_message(
                self.format_version,
                self._place(),
                _id(),
                shapes.blocks(content),
                provider=provider,
                model=model,
                replay_state=replay_state,
                usage=usage,
                stream=stream,
                interrupted=interrupted,
            )
            return self.append("assistant/message", data, surface_op="append")

    def attempt(self, *, provider: str | None = None, model: str | None = None) -> Attempt:
        """Begin an attempt at an answer, whose tokens are then pushed as they come in (v2 on).

        `provider` and `model` are those of the last request header when left out. Raises
        OutOfTurn outside a step, or while another attempt is open.

        >>> import dshstore, tempfile
        >>> store = dshstore.open(f"{tempfile.mkdtemp()}/garden.db")
        >>> session = store.create(session_id="seedlings")
        >>> with session.turn(), session.step():
        ...     _ = session.request_header("gardeners", "trowel-1")
        ...     with session.attempt() as attempt:
        ...         attempt.push({"type": "text-delta", "index": 0, "text": "No fro"})
        ...         attempt.push({"type": "text-delta", "index": 0, "text": "st."})
        ...         _ = attempt.settle()
        >>> session.messages()[0]["content"]
        [{'type': 'text', 'text': 'No frost.'}]
        >>> store.close()
        """
        with self._appending:
            return self.start_attempt(*self._routed(provider, model))

    # -- tools --

    def tool_call(self, call_id: str, name: str, arguments: str | Mapping[str, Any]) -> int:
        """Append that a call which the model asked for is started now."""
        with self._appending:
            text = arguments if isinstance(arguments, str) else dump(arguments)
            return self.append("tool/call", shapes.tool_call(self._place(), call_id, name, text))

    def tool_result(
        self,
        call_id: str,
        content: Content,
        *,
        is_error: bool = False,
        error: Mapping[str, str] | None = None,
        meta: Any = None,
    ) -> int:
        """Append what a call gave; it cites the `tool/call` that started it.

        `error` has the `name` and `code` of what went wrong, and makes the result an error.
        """
        with self._appending:
            data = shapes.tool_result(
                self.format_version,
                self._place(),
                _id(),
                call_id,
                shapes.blocks(content),
                is_error=is_error or error is not None,
                error=error,
                meta=meta,
            )
            started = self._tracker.started(call_id)
            sources = None if started is None else [started]
            return self.append("tool/result", data, surface_op="append", sources=sources)

    # -- what the model need not see any more --

    def compact(
        self,
        first: int,
        last: int,
        summary: Content,
        *,
        checkpoint: Content | None = None,
        shadowed_tokens: int = 0,
        provider: str | None = None,
        model: str | None = None,
        max_tokens: int | None = None,
        usage: Mapping[str, Any] | None = None,
    ) -> int:
        """Put a checkpoint in place of the surface from event `first` to event `last`; its seq.

        `summary` is what a model made of them, `checkpoint` how the next one is told, the summary
        itself when left out; `shadowed_tokens` is how long they were. Everything it shadows is
        cited. Raises EventRefused when the two are not on the surface in this order, or when the
        system prompt is among them; then nothing is appended.
        """
        with self._appending:
            self._begin()
            provider, model = self._routed(provider, model)
            compaction, version = _id(), self.format_version
            shadowed = self._standing.surface.span(first, last)
            text = shapes.blocks(summary)
            told = text if checkpoint is None else shapes.blocks(checkpoint)
            source = shapes.checkpoint_source(version, compaction)
            message = shapes.user_message(_id(), told, source)
            self._check("user/message", message, (first, last), shadowed)
            bracket = shapes.compaction_bracket(compaction, self.open_turn)
            made = shapes.compaction_summary(
                compaction,
                text,
                shadowed,
                tokens=shadowed_tokens,
                provider=provider,
                model=model,
                max_tokens=max_tokens,
                usage=usage,
            )
            start = self.next_seq
            cited = [start, start + 1, *shadowed]
            self._append(
                [
                    self._event("compaction/start", bracket),
                    self._event("compaction/summary", made),
                    self._event("user/message", message, (first, last), cited),
                    self._event("compaction/end", bracket),
                ]
            )
        self._commit_if_each()
        return start + 2

    def prune(self, seq: int, content: Content, *, shadowed_tokens: int = 0) -> int:
        """Put a tool result with other content in place of the result `seq`; the new one's seq.

        Raises EventRefused when that is no tool result on the surface, OutOfTurn outside a turn.
        """
        read.check_seq(self._row, seq)
        [old] = self.events(seq, seq)
        if old["type"] != "tool/result":
            raise EventRefused("result-rewrite-target", self.session_id, seq, old["type"])
        with self._appending:
            self._begin()
            self._turn()
            told = shapes.blocks(content)
            data = shapes.rewritten_result(self.format_version, old["data"], told)
            self._check("tool/result", data, (seq, seq), (seq,))
            pruned = self.next_seq
            mark = self._event("compaction/prune", shapes.compaction_prune(seq, shadowed_tokens))
            self._append([mark, self._event("tool/result", data, (seq, seq), [pruned, seq])])
        self._commit_if_each()
        return pruned + 1

    def title(self, text: str, messages: Sequence[int] = ()) -> int:
        """Name the session: as the user wants it, or after the user messages `messages`."""
        return self.append("session/title", shapes.title(text, messages))

    def _header_reason(self) -> str:
        if self._route is not None:
            return "change"
        return "initial" if self._standing.route is None else "resume"

    def _routed(self, provider: str | None, model: str | None) -> tuple[str, str]:
        known = self._route or self._standing.route or (None, None)
        provider, model = provider or known[0], model or known[1]
        if provider is None or model is None:
            raise StoreError("name provider and model: there is no request header yet")
        return provider, model


def _id() -> str:
    return str(uuid.uuid4())
