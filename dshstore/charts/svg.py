"""Finishes a picture: a name and a description for who cannot see it, inks for dark grounds.

Takes the SVG that a library drew and changes it as XML. What is in it is for `drawing`.
"""

from __future__ import annotations

import re
from xml.dom import minidom

from dshstore.charts.palette import ON_DARK

#: What XML cannot hold, and what no line of text should.
_UNWRITABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")

#: The fonts of whoever looks, for they know the scripts that are read there.
_FONTS = 'system-ui, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif'


def line_of(text: str) -> str:
    """The text on one line; U+FFFD stands for what XML cannot hold."""
    return _UNWRITABLE.sub("\ufffd", " ".join(text.split()))


def finish(drawn: bytes, title: str, description: str) -> bytes:
    """The picture with its title and description, and a style for light and dark grounds."""
    document = minidom.parseString(drawn)
    if document.doctype is not None:
        document.removeChild(document.doctype)
    root = document.documentElement
    assert root is not None
    root.setAttribute("role", "img")
    root.setAttribute("aria-label", line_of(title))
    for element in root.getElementsByTagName("*"):
        _name_inks(element)
    first = root.firstChild
    for tag, text in (
        ("title", line_of(title)),
        ("desc", line_of(description)),
        ("style", _style_sheet()),
    ):
        added = document.createElement(tag)
        added.appendChild(document.createTextNode(text))
        root.insertBefore(added, first)
    return document.toxml(encoding="utf-8")


def _name_inks(element: minidom.Element) -> None:
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
    return f"dsh-{key}-{ink.removeprefix('#')}"


def _style_sheet() -> str:
    rules = [
        f".{_class_of(key, ink)} {{ {key}: {dark} !important }}"
        for ink, dark in ON_DARK.items()
        for key in ("fill", "stroke")
    ]
    dark = "\n".join(["@media (prefers-color-scheme: dark) {", *rules, "}"])
    return f"text {{ font-family: {_FONTS} !important }}\n{dark}"
