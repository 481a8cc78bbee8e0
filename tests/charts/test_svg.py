"""The finish of a picture: well-formed, named, and with inks for dark grounds."""

from __future__ import annotations

from xml.etree import ElementTree

from dshstore.charts import palette
from dshstore.charts.svg import finish, line_of

SVG = "{http://www.w3.org/2000/svg}"
DRAWN = f"""<?xml version="1.0"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg xmlns="http://www.w3.org/2000/svg"><text style="fill: {palette.INK}">a &lt; b</text>
<path style="fill: none; stroke: {palette.GRID}; stroke-width: 2"/><path style="fill: #123456"/>
</svg>"""


def test_a_picture_gets_a_name_a_description_and_a_style() -> None:
    root = ElementTree.fromstring(finish(DRAWN.encode(), "A & <b>\x00", "Two\nlines"))
    assert [child.tag for child in root][:3] == [f"{SVG}title", f"{SVG}desc", f"{SVG}style"]
    assert root[0].text == "A & <b>\ufffd"
    assert root[1].text == "Two lines"
    assert root.get("role") == "img"
    assert root[3].text == "a < b"


def test_an_ink_is_named_where_it_is_used_and_changed_in_the_dark_alone() -> None:
    root = ElementTree.fromstring(finish(DRAWN.encode(), "", ""))
    text, line, shape = root[3:]
    assert text.get("class") == "dsh-fill-24292f"
    assert line.get("class") == "dsh-stroke-d0d7de"
    assert shape.get("class") is None
    before, dark = str(root[2].text).split("@media (prefers-color-scheme: dark)")
    assert "dsh-" not in before
    for name in ("dsh-fill-24292f", "dsh-stroke-d0d7de"):
        assert f".{name} {{" in dark


def test_nothing_points_outside_the_picture() -> None:
    assert b"DOCTYPE" not in finish(DRAWN.encode(), "", "")


def test_a_line_of_text_holds_nothing_that_xml_cannot() -> None:
    assert line_of("a\n\tb  c\x1b[1m \ud83c 检索 \u2028 😀") == "a b c\ufffd[1m \ufffd 检索 😀"
