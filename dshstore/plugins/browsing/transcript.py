"""A transcript as a page shows it: turns, who speaks, calls and results, what gave way to what.

Decides what a reader is told of each event; where the entries come from is `dshstore`'s, how they
look is the template's and the style sheet's. What the model no longer sees is in groups of its
own, folded, so that the page reads as the model does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import msgspec
from markupsafe import Markup

from dshstore import TranscriptEntry, dump_json
from dshstore.plugins.browsing.prose import (
    MAX_TEXT,
    legible,
    set_json,
    set_markdown,
    set_text,
    set_time,
    shorten,
)

#: Characters of what is only told in a word or a line.
_WORD, _LINE = 60, 300


@dataclass(frozen=True)
class Block:
    """A part of a message: its kind (a class of the style sheet), a heading, its content."""

    kind: str
    html: Markup
    title: str = ""
    folded: bool = False


@dataclass(frozen=True)
class Item:
    """What the page shows of one event. `kind`: turn, message, call-result, note or rule."""

    kind: str
    seq: int
    time: Markup | None
    title: str = ""
    tone: str = ""
    marks: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True)
class Group:
    """Items that follow each other; of those no longer seen, the seqs of what stands for them."""

    items: tuple[Item, ...]
    shadowed_by: tuple[int, ...] = ()

    @property
    def count(self) -> str:
        """How many messages it has, in words."""
        messages = sum(item.kind in ("message", "call-result") for item in self.items)
        return "1 message" if messages == 1 else f"{messages} messages"

    def holds(self, seq: int | None) -> bool:
        """Whether the event is in the group."""
        return any(item.seq == seq for item in self.items)


@dataclass
class Transcript:
    """Makes items of entries, which it is given in the order of the log."""

    _names: dict[str, str] = field(default_factory=dict)
    _started: dict[str, int] = field(default_factory=dict)
    open_turn: Any = None

    def groups(self, entries: Iterable[TranscriptEntry]) -> list[Group]:
        """The groups of these entries."""
        shown, turns = [], []
        turn = None
        for entry in entries:
            turn = entry.seq if entry.type == "turn/start" else turn
            for item in self._items(entry):
                shown.append((entry, item))
                turns.append(turn)
            turn = None if entry.type == "turn/end" else turn
        hidden = _hidden([entry.state for entry, _ in shown])
        # the heading of a turn of which something is seen stays where it is seen
        seen = {turn for turn, is_hidden in zip(turns, hidden, strict=True) if not is_hidden}
        for place, (entry, item) in enumerate(shown):
            hidden[place] &= not (item.kind == "turn" and entry.seq in seen)
        found = []
        for is_hidden, run in groupby(zip(hidden, shown, strict=True), lambda pair: pair[0]):
            pairs = [pair for _, pair in run]
            by = sorted({e.shadowed_by for e, _ in pairs if e.shadowed_by is not None})
            found.append(Group(tuple(item for _, item in pairs), tuple(by) if is_hidden else ()))
        return found

    def _items(self, entry: TranscriptEntry) -> Iterator[Item]:
        data = entry.data if isinstance(entry.data, dict) else {}
        if entry.replaced is not None and entry.type in ("user/message", "assistant/message"):
            yield self._replaced(entry)
        match entry.type:
            case "turn/start":
                self.open_turn = data.get("turn")
                yield _item("turn", entry, f"Turn {_word(self.open_turn)}")
            case "turn/end":
                yield from self._turn_end(entry, data)
            case "tool/call":
                self._started[_word(data.get("callId"))] = entry.time
                self._names.setdefault(_word(data.get("callId")), _word(data.get("name")))
            case "tool/result":
                yield self._result(entry)
            case "assistant/attempt":
                yield _note(entry, f"An attempt failed: {entry.finish or 'it broke off'}", "bad")
            case "llm/retry":
                yield _note(entry, _retry(entry, data), "odd")
            case "session/end-seed":
                if data.get("inherited") is True:
                    yield _item("rule", entry, "What comes before is inherited from the parent")
            case "image/offload":
                yield _note(entry, "Some images are no longer shown to the model from here on")
            case "approval/asked":
                yield _note(entry, f"May {_word(data.get('toolName'))} run?", "odd")
            case "approval/decided":
                yield _note(entry, f"Decided: {_word(data.get('outcome'))}", "odd")
            case "compaction/end" | "compact/end":
                if "error" in data:
                    yield _note(entry, f"A compaction failed{_failure(entry)}", "bad")
            case _:
                yield from self._message(entry, data)

    # -- what has a line of its own --

    def _turn_end(self, entry: TranscriptEntry, data: Mapping[str, Any]) -> Iterator[Item]:
        self.open_turn = None
        reason = data.get("reason")
        kind = reason.get("kind") if isinstance(reason, dict) else None
        if kind != "completed":
            ended = f"Turn {_word(data.get('turn'))} ended: {_word(kind)}"
            yield _note(entry, f"{ended}{_failure(entry)}", "odd")

    def _replaced(self, entry: TranscriptEntry) -> Item:
        found = entry.replaced
        assert found is not None
        many = "1 message" if found.nodes == 1 else f"{found.nodes} messages"
        place = f"events {found.first_seq} to {found.last_seq}"
        if found.nodes == 1:
            place = f"event {found.first_seq}"
        title = f"Compaction: {many} ({place}) gave way to this"
        return Item("rule", entry.seq, None, title, "gain")

    # -- messages --

    def _message(self, entry: TranscriptEntry, data: Mapping[str, Any]) -> Iterator[Item]:
        speech = entry.speech
        if not speech.blocks:
            return
        role = entry.type.partition("/")[0]
        title = role
        if role != "assistant" and speech.source != "user":
            title = f"{role} · {shorten(_word(speech.source), _WORD)}"
        yield Item(
            "message",
            entry.seq,
            set_time(entry.time),
            legible(title),
            role,
            (*(["interrupted"] if data.get("interrupted") is True else []), *_shadow(entry)),
            tuple(self._block(block, speech.spoken) for block in speech.blocks),
        )

    def _block(self, block: Any, spoken: bool) -> Block:
        match block:
            case str(text) | {"type": "text", "text": str(text)}:
                return _text(text) if spoken else Block("output", set_text(text))
            case {"type": "reasoning", "text": str(text)}:
                shown = Markup("<p>{}</p>").format(legible(shorten(text, MAX_TEXT)))
                first = legible(shorten(text.strip().partition("\n")[0], 2 * _WORD))
                return Block("reasoning", shown, first, len(text) > _LINE)
            case {"type": "tool-call", "id": str(id), "name": str(name), "arguments": arguments}:
                self._names[id] = name
                return Block("call", _arguments(arguments), legible(shorten(name, _LINE)))
            case _:
                return _other(block)

    def _result(self, entry: TranscriptEntry) -> Item:
        answer = entry.answer
        call_id = _word(answer.call_id)
        marks = []
        if entry.replaced is not None:
            marks.append(f"rewritten: event {entry.replaced.first_seq} was longer or other")
        elif (started := self._started.get(call_id)) is not None:
            marks.append(f"{entry.time - started:,} ms")
        if answer.failed:
            code = answer.error_code
            marks.append(f"error {_word(code)}" if code else "error")
        return Item(
            "call-result",
            entry.seq,
            set_time(entry.time),
            self._names.get(call_id, f"result of {call_id}"),
            "bad" if answer.failed else "",
            (*marks, *_shadow(entry)),
            tuple(_result_block(block) for block in answer.blocks),
        )


def _hidden(states: list[str]) -> list[bool]:
    """Which items are folded away: the shadowed ones, and what is log-only between two of them."""
    ahead: list[str] = []
    following = ""
    for state in reversed(states):
        following = following if state == "log-only" else state
        ahead.append(following)
    hidden = []
    before = ""
    for state, after in zip(states, reversed(ahead), strict=True):
        before = before if state == "log-only" else state
        hidden.append({before or after, after or before} == {"shadowed"})
    return hidden


def _item(kind: str, entry: TranscriptEntry, title: str, tone: str = "") -> Item:
    return Item(kind, entry.seq, set_time(entry.time), title, tone)


def _note(entry: TranscriptEntry, title: str, tone: str = "") -> Item:
    return _item("note", entry, title, tone)


def _shadow(entry: TranscriptEntry) -> list[str]:
    gone = entry.state == "shadowed"
    return [f"gave way to event {entry.shadowed_by}"] if gone else []


def _text(text: str) -> Block:
    rest = len(text) - MAX_TEXT
    if rest <= 0:
        return Block("prose", set_markdown(text))
    return Block("prose", set_markdown(text[:MAX_TEXT]), f"… {rest:,} more characters in the event")


def _result_block(block: Any) -> Block:
    match block:
        case str(text) | {"type": "text", "text": str(text)}:
            return Block("output", set_text(text))
        case _:
            return _other(block)


def _other(block: Any) -> Block:
    match block:
        case {"type": "image", "attachment": {"mediaType": str(media), **attachment}}:
            name = attachment.get("name") or attachment.get("attachmentId") or ""
            said = legible(shorten(f"{media} {_word(name)}", _LINE))
            hidden = ", no longer shown" if block.get("offloaded") is True else ""
            return Block("image", Markup("<p>{}{}</p>").format(said, hidden))
        case _:
            return Block("output", set_text(set_json(block)))


def _arguments(arguments: Any) -> Markup:
    """The arguments of a call, laid out where they are JSON."""
    if isinstance(arguments, str):
        try:
            arguments = msgspec.json.decode(arguments)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            return set_text(arguments)
    match arguments:
        case {} if not arguments:
            return Markup("")
        case dict():
            rows = Markup("").join(
                Markup("<dt>{}</dt><dd>{}</dd>").format(
                    legible(name), set_text(value if isinstance(value, str) else set_json(value))
                )
                for name, value in arguments.items()
            )
            return Markup("<dl>{}</dl>").format(rows)
        case _:
            return set_text(set_json(arguments))


def _word(value: Any) -> str:
    return legible(shorten(value if isinstance(value, str) else dump_json(value), _LINE))


def _retry(entry: TranscriptEntry, data: Mapping[str, Any]) -> str:
    of = f" of {_word(data['maxRetries'])}" if "maxRetries" in data else ""
    after = f"Retry {_word(data.get('retry'))}{of} in {_word(data.get('delayMs'))} ms"
    return f"{after}{_failure(entry)}"


def _failure(entry: TranscriptEntry) -> str:
    """What went wrong, behind a colon; nothing if that is not told."""
    failure = entry.failure
    return "" if failure is None else f": {failure.words(_word)}"
