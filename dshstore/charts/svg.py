"""Finishes a picture: a name and a description for who cannot see it, inks for dark grounds.

Takes the SVG that a library drew and changes it as XML. What is in it is for `drawing`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from dshstore.charts.palette import DARK_RIM, LIGHT_RIM, ON_DARK

if TYPE_CHECKING:
    from xml.dom.minidom import Element

#: What a picture stands on: what the viewer's scheme says, or what is known.
Ground = Literal["any", "light", "dark"]

#: What XML cannot hold, and what no line of text should.
_UNWRITABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")

#: The fonts of whoever looks, for they know the scripts that are read there.
_FONTS = 'system-ui, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif'

#: The class of the whole picture: its style keeps to that, for a page may hold others. Classes of
#: inks stand by themselves, for what is drawn by `use` is outside of all others.
_ROOT = "dshstore-chart"


def line_of(text: str) -> str:
    """The text on one line; U+FFFD stands for what XML cannot hold."""
    return _UNWRITABLE.sub("\ufffd", " ".join(text.split()))


def finish(drawn: bytes, title: str, description: str, ground: Ground = "any") -> bytes:
    """The picture with its title and description, and a style for the ground it stands on."""
    from xml.dom import minidom  # when it is needed, for all commands would wait for it

    document = minidom.parseString(drawn)
    if document.doctype is not None:
        document.removeChild(document.doctype)
    root = document.documentElement
    assert root is not None
    root.setAttribute("class", _ROOT)
    root.setAttribute("role", "img")
    root.setAttribute("aria-label", line_of(title))
    for element in root.getElementsByTagName("*"):
        _name_inks(element)
    first = root.firstChild
    for tag, text in (
        ("title", line_of(title)),
        ("desc", line_of(description)),
        ("style", _style_sheet(ground)),
    ):
        added = document.createElement(tag)
        added.appendChild(document.createTextNode(text))
        root.insertBefore(added, first)
    return document.toxml(encoding="utf-8")


def _name_inks(element: Element) -> None:
    """Give an element whose style has an ink the class by which the style sheet finds it."""
    pairs = (part.partition(":") for part in element.getAttribute("style").split(";"))
    names = [
        _class_of(key.strip(), value.strip())
        for key, _, value in pairs
        if key.strip() in ("fill", "stroke") and value.strip() in ON_DARK
    ]
    if names:
        element.setAttribute("class", " ".join(names))


def _class_of(key: str, ink: str) -> str:
    return f"dshstore-{key}-{ink.removeprefix('#')}"


def _style_sheet(ground: Ground) -> str:
    fonts = f".{_ROOT} text {{ font-family: {_FONTS} !important }}"
    dark = "\n".join(
        f".{_class_of(key, ink)} {{ {key}: {on_dark} !important }}"
        for ink, on_dark in ON_DARK.items()
        for key in ("fill", "stroke")
    )
    if ground == "light":
        return fonts
    if ground == "dark":
        return f"{fonts}\n{dark}"
    # A page need not be what the viewer's scheme says: a rim keeps its text readable there. A
    # picture that is opened by itself has the ground of its scheme.
    return "\n".join(
        [
            fonts,
            "svg:root { color-scheme: light dark }",
            "@supports (paint-order: stroke) {",
            f".{_ROOT} text {{ paint-order: stroke; stroke: {LIGHT_RIM}; stroke-width: 2px;"
            " stroke-linejoin: round }",
            "}",
            "@media (prefers-color-scheme: dark) {",
            f".{_ROOT} text {{ stroke: {DARK_RIM} }}",
            dark,
            "}",
        ]
    )
