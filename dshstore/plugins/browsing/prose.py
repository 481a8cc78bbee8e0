"""Text of a log as safe HTML: what people and models wrote, times, JSON.

Everything is escaped: a message may hold any text, and none of it becomes markup but what
Markdown gives. Nothing that a log names is loaded by showing it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup

from dshstore import dump_json

#: Characters that are shown of one text; who wants the rest follows the event.
MAX_TEXT = 20_000

_HALVES = re.compile("[\ud800-\udfff]")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def legible(text: str) -> str:
    """The text as a page can hold it: control characters as pictures, no half surrogate pairs."""
    whole = _HALVES.sub("\ufffd", text.replace("\r\n", "\n"))
    return _CONTROLS.sub(_picture, whole)


def _picture(control: re.Match[str]) -> str:
    return "\u2421" if control[0] == "\x7f" else chr(0x2400 + ord(control[0]))


def shorten(text: str, length: int) -> str:
    """At most `length` characters; an ellipsis stands for the rest."""
    return text if len(text) <= length else f"{text[: length - 1]}…"


def set_markdown(text: str) -> Markup:
    """The text as Markdown. HTML in it is shown as text, images are links."""
    return Markup(_markdown().render(legible(text)))


def set_time(milliseconds: Any) -> Markup | None:
    """A time (epoch ms) for people, in UTC; None where no calendar reaches."""
    if not isinstance(milliseconds, int):
        return None
    try:
        time = _EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return None
    return Markup('<time datetime="{}" title="{} ms">{}</time>').format(
        time.isoformat(), milliseconds, time.strftime("%Y-%m-%d %H:%M:%SZ")
    )


def set_json(value: Any) -> str:
    """A value as JSON laid out in lines, as text."""
    return legible("\n".join(_lines(value, "")))


def _lines(value: Any, indent: str, depth: int = 40) -> list[str]:
    """Lines of JSON; a value without holders in it stands on one line when it is short."""
    flat = dump_json(value)
    if not isinstance(value, dict | list) or len(flat) <= 72 or not depth:
        return [flat]
    inner = f"{indent}  "
    lines = []
    items = (
        ((f"{dump_json(key)}: ", item) for key, item in value.items())
        if isinstance(value, dict)
        else (("", item) for item in value)
    )
    for head, item in items:
        first, *rest = _lines(item, inner, depth - 1)
        lines.append(f"{inner}{head}{first}")
        lines += rest
        lines[-1] += ","
    lines[-1] = lines[-1].removesuffix(",")
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return [opening, *lines, f"{indent}{closing}"]


def is_long(text: str, lines: int) -> bool:
    """Whether the text takes more than about so many lines."""
    return text.count("\n") >= lines or len(text) > 100 * lines


def set_text(text: str, lines: int = 12, hint: str = "") -> Markup:
    """Text as it is laid out; one of more lines is folded below its beginning, or below `hint`."""
    shown = legible(shorten(text, MAX_TEXT))
    count = shown.count("\n") + 1
    if not is_long(shown, lines):
        return Markup("<pre>{}</pre>").format(shown)
    first = shorten(legible(hint) or shown.lstrip().partition("\n")[0], 100)
    size = f"{count} lines" if count > 1 else f"{len(text):,} characters"
    return Markup(
        "<details><summary><code>{}</code> <small>{}</small></summary><pre>{}</pre></details>"
    ).format(first, size, shown)


def _link(
    self: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: EnvType
) -> str:
    tokens[place].attrSet("rel", "noopener noreferrer nofollow")
    return self.renderToken(tokens, place, options, env)


def _markdown() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False, "breaks": True})
    reader.enable(["table", "strikethrough"]).disable("image")
    reader.add_render_rule("link_open", _link)
    return reader
