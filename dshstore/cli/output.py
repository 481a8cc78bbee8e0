"""How things are written: data to stdout, as bytes that no locale changes, words to stderr.

Decides what a value is as a line of JSON, and that no control character of a log reaches a
terminal, nor one that turns the order of text about. Tables are for `tables`, what is written is
for the commands.
"""

from __future__ import annotations

import errno
import re
import sys
import unicodedata
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

import dshstore
from dshstore import WriteFailed

if TYPE_CHECKING:
    from rich.console import Console

#: Beside the control characters, what ends a line and what turns the order of text about (all of
#: Unicode's Bidi_Control): with these a text can pretend to be another one.
_UNSEEN = "\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
_CONTROLS = re.compile(f"[\x00-\x0a{_UNSEEN}]")
_CONTROLS_BUT_LAYOUT = re.compile(f"[\x00-\x08{_UNSEEN}]")
_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class PipeClosed(Exception):
    """Who read stdout had enough. (Of a BrokenPipeError click makes a status of its own.)"""


def write(data: bytes) -> None:
    """Write bytes to stdout. Raises WriteFailed, or PipeClosed when nobody reads on."""
    try:
        sys.stdout.buffer.write(data)
    except OSError as error:
        raise unwritten(error) from error


def flush() -> None:
    """Hand on what was written so far. Raises as `write` does."""
    try:
        sys.stdout.flush()
    except OSError as error:
        raise unwritten(error) from error


def unwritten(error: OSError) -> Exception:
    """What to raise when stdout took no more."""
    if isinstance(error, BrokenPipeError):
        return PipeClosed()
    if error.errno == errno.EBADF:
        return WriteFailed("standard output: it is closed")
    return WriteFailed(f"standard output: {error.strerror}")


def write_json(value: Any) -> None:
    """Write a value as one line of JSON."""
    write(dshstore.dump_json(value).encode() + b"\n")


def write_text(text: str, style: str = "") -> None:
    """Write text for people, line breaks and tabs included; in a `rich` style on a terminal."""
    shown = legible(text)
    if style and is_terminal():
        console().print(shown, style=style, soft_wrap=True)
    else:
        write(shown.encode("utf-8", "backslashreplace") + b"\n")


def say(text: str) -> None:
    """Tell the person at the terminal: a line on stderr, below what was written before."""
    with suppress(PipeClosed, WriteFailed):
        flush()
    click.echo(f"dshstore: {text}", err=True)


def is_terminal() -> bool:
    """Whether a person reads what is written, rather than a program or a file."""
    return sys.stdout.isatty()


def console() -> Console:
    """Stdout as `rich` writes to it, text being text: no markup, no emoji codes."""
    from rich.console import Console

    flush()
    return Console(markup=False, highlight=False, emoji=False)


def legible(text: str) -> str:
    """The text with its line breaks and tabs, other control characters as escapes."""
    return _CONTROLS_BUT_LAYOUT.sub(_escape, text)


def visible(text: str) -> str:
    """The text on one line, its control characters as escapes."""
    return _CONTROLS.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    return _SHORT.get(match[0]) or f"\\u{ord(match[0]):04x}"


def shorten(text: str, length: int) -> str:
    """At most `length` characters of the text, on one line; an ellipsis stands for the rest."""
    return visible(text if len(text) <= length else f"{text[: length - 1]}…")


def display_width(text: str) -> int:
    """The columns that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def time_text(milliseconds: int | None) -> str:
    """A time (epoch ms) for people, in UTC; the bare number where no calendar reaches."""
    if milliseconds is None:
        return ""
    try:
        time = _EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return str(milliseconds)
    return time.strftime("%Y-%m-%d %H:%M:%SZ")
