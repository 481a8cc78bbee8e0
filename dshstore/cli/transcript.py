"""How a transcript reads: turns, who speaks, calls with short results, what went wrong, what was
compacted. On a terminal what people and models wrote is set as Markdown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dshstore import TranscriptEntry, dump_json
from dshstore.cli.output import console, is_terminal, legible, shorten, time_text, write_text
from dshstore.cli.wording import block_pieces

#: Of what is only hinted at: characters of a line, and lines; characters of who said it.
_LINE, _LINES, _SOURCE = 160, 3, 40

_BAR = "─" * 8


class TranscriptWriter:
    """Writes entries as they come. `full` shortens nothing, `shadowed` shows what is no longer
    seen by the model, too.
    """

    def __init__(self, *, full: bool = False, shadowed: bool = False) -> None:
        self._full, self._shadowed = full, shadowed
        self._heading: str | None = None
        self._names: dict[str, str] = {}
        self._started: dict[str, int] = {}
        self._turn: Any = None

    def write(self, entry: TranscriptEntry) -> None:
        """Write one entry, if there is something to see of it."""
        data = entry.data if isinstance(entry.data, dict) else {}
        if entry.replaced is not None and self._is_seen(entry):
            self._write_replaced(entry)
        match entry.type:
            case "turn/start":
                self._turn = data.get("turn")
                self._heading = f"turn {_word(self._turn)}  {time_text(entry.time)}"
            case "turn/end":
                self._write_turn_end(entry, data)
            case "user/message" | "system/message" | "developer/message" | "context/message":
                self._write_message(entry, data)
            case "steering/message" | "assistant/message":
                self._write_message(entry, data)
            case "tool/call":
                self._started[_word(data.get("callId"))] = entry.time
            case "tool/result":
                self._write_result(entry)
            case "assistant/attempt":
                self._say(f"✗ an attempt failed: {entry.finish or 'it broke off'}", "red")
            case "llm/retry":
                self._write_retry(entry, data)
            case "session/end-seed" if data.get("inherited") is True:
                self._rule("what comes before is inherited from the parent")
            case "image/offload":
                self._say("some images are no longer shown to the model from here on", "dim")
            case "approval/asked":
                self._say(f"? may {_word(data.get('toolName'))} run?", "yellow")
            case "approval/decided":
                self._say(f"? {_word(data.get('outcome'))}", "yellow")
            case "compaction/end" | "compact/end" if "error" in data:
                self._say(f"✗ a compaction failed{_failure(entry)}", "red")

    def finish(self) -> None:
        """Say what the end leaves open."""
        if self._turn is not None:
            self._say(f"turn {_word(self._turn)} is open", "yellow")

    def _is_seen(self, entry: TranscriptEntry) -> bool:
        return self._shadowed or entry.state != "shadowed"

    # -- what has a line of its own --

    def _write_turn_end(self, entry: TranscriptEntry, data: Mapping[str, Any]) -> None:
        reason = data.get("reason")
        kind = reason.get("kind") if isinstance(reason, dict) else None
        if kind == "completed":
            self._heading = None  # there was nothing to see of it
        else:
            ended = f"turn {_word(data.get('turn'))} ended: {_word(kind)}"
            self._say(f"{ended}{_failure(entry)}", "yellow")
        self._turn = None

    def _write_retry(self, entry: TranscriptEntry, data: Mapping[str, Any]) -> None:
        count = f"{data.get('retry')}" + (
            f" of {data['maxRetries']}" if "maxRetries" in data else ""
        )
        self._say(f"↻ retry {count} in {data.get('delayMs')} ms{_failure(entry)}", "yellow")

    def _write_replaced(self, entry: TranscriptEntry) -> None:
        found = entry.replaced
        assert found is not None
        if entry.type not in ("user/message", "assistant/message"):
            return
        nodes = "1 message" if found.nodes == 1 else f"{found.nodes} messages"
        place = f"events {found.first_seq}..{found.last_seq}"
        if found.nodes == 1:
            place = f"event {found.first_seq}"
        hint = "" if self._shadowed else "; --shadowed shows what was there"
        self._rule(f"{nodes} ({place}) gave way to event {entry.seq}{hint}")

    # -- messages --

    def _write_message(self, entry: TranscriptEntry, data: Mapping[str, Any]) -> None:
        speech = entry.speech
        if not self._is_seen(entry) or not speech.blocks:
            return
        who = entry.type.partition("/")[0]
        if who != "assistant" and speech.source != "user":
            who = f"{who} ({shorten(_word(speech.source), _SOURCE)})"
        marks = [f"event {entry.seq}"]
        if data.get("interrupted") is True:
            marks.append("interrupted")
        if entry.state == "shadowed":
            marks.append(f"no longer seen: event {entry.shadowed_by} stands for it")
        self._start()
        write_text("")
        write_text(f"{who}  ({', '.join(marks)})", "bold" if entry.state == "live" else "dim bold")
        for block in speech.blocks:
            self._write_block(block, speech.spoken, entry)

    def _write_block(self, block: Any, spoken: bool, entry: TranscriptEntry) -> None:
        match block:
            case {"type": "text", "text": str(text)}:
                if spoken or self._full:
                    _write_prose(text, "" if entry.state == "live" else "dim")
                else:
                    write_text(_first_lines(text), "dim")
            case {"type": "reasoning", "text": str(text)}:
                write_text(f"(reasoning) {text if self._full else shorten(text, _LINE)}", "dim")
            case {"type": "tool-call", "id": str(id), "name": str(name), "arguments": arguments}:
                self._names[id] = name
                said = _word(arguments)
                shown = said if self._full else shorten(said, _LINE)
                write_text(f"→ {shorten(name, _LINE)} {shown}", "cyan")
            case _:
                for text, style in block_pieces(block):
                    write_text(text, style)

    def _write_result(self, entry: TranscriptEntry) -> None:
        answer = entry.answer
        call_id = _word(answer.call_id)
        known = self._names.get(call_id)
        if not self._is_seen(entry):
            if known is not None:
                self._say(f"← {known}: event {entry.shadowed_by} stands for its result", "dim")
            return
        marks = [known or f"result of {call_id}"]
        if entry.replaced is not None:
            marks.append(f"rewritten (event {entry.replaced.first_seq} was longer or other)")
        elif (started := self._started.get(call_id)) is not None:
            marks.append(f"{entry.time - started} ms")
        if answer.failed:
            code = answer.error_code
            marks.append(f"error {_word(code)}" if code else "error")
        if entry.state == "shadowed":
            marks.append(f"no longer seen: event {entry.shadowed_by} stands for it")
        self._start()
        style = "red" if answer.failed else "green" if entry.state == "live" else "dim"
        write_text(f"← {shorten(', '.join(marks), _LINE)}", style)
        for block in answer.blocks:
            match block:
                case {"type": "text", "text": str(text)}:
                    write_text(text if self._full else _first_lines(text), "dim")
                case _:
                    for text, piece_style in block_pieces(block):
                        write_text(text, piece_style)

    # -- lines --

    def _start(self) -> None:
        """The heading of a turn stands before the first thing to see of it."""
        if self._heading is not None:
            heading, self._heading = self._heading, None
            self._rule(heading)

    def _say(self, text: str, style: str) -> None:
        self._start()
        write_text(shorten(text, 4 * _LINE), style)

    def _rule(self, text: str) -> None:
        self._start()
        write_text("")
        write_text(f"{_BAR} {shorten(text, _LINE)} {_BAR}", "bold blue")


def _write_prose(text: str, style: str) -> None:
    if not is_terminal():
        write_text(text)
        return
    from rich.markdown import Markdown

    console().print(Markdown(legible(text), hyperlinks=False), style=style)


def _first_lines(text: str) -> str:
    lines = text.split("\n")
    shown = [shorten(line, _LINE) for line in lines[:_LINES]]
    rest = len(lines) - _LINES
    if rest > 0:
        shown.append(f"… {rest} more lines" if rest > 1 else "… 1 more line")
    return "\n".join(shown)


def _word(value: Any) -> str:
    return value if isinstance(value, str) else dump_json(value)


def _hint(value: Any) -> str:
    return shorten(_word(value), _LINE)


def _failure(entry: TranscriptEntry) -> str:
    """What went wrong, behind a colon; nothing if that is not told."""
    failure = entry.failure
    return "" if failure is None else f": {failure.words(_hint)}"
