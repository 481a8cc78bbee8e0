"""The finish of a picture: well-formed, named, and with inks for dark grounds."""

from __future__ import annotations

from xml.etree import ElementTree

from dshstore.charts import palette
from dshstore.charts.svg import Ground, finish, line_of

GROUNDS: tuple[Ground, Ground] = ("light", "dark")

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
    assert text.get("class") == "dshstore-fill-24292f"
    assert line.get("class") == "dshstore-stroke-d0d7de"
    assert shape.get("class") is None
    before, dark = str(root[2].text).split("@media (prefers-color-scheme: dark)")
    assert "dshstore-fill" not in before
    for name in ("dshstore-fill-24292f", "dshstore-stroke-d0d7de"):
        assert f".{name} {{" in dark


def test_a_ground_that_is_known_needs_no_scheme() -> None:
    light, dark = (
        str(ElementTree.fromstring(finish(DRAWN.encode(), "", "", ground))[2].text)
        for ground in GROUNDS
    )
    assert "dshstore-fill" not in light
    assert f"fill: {palette.ON_DARK[palette.INK]}" in dark
    for style in (light, dark):
        assert "@media" not in style


def test_the_style_keeps_to_its_own_picture() -> None:
    root = ElementTree.fromstring(finish(DRAWN.encode(), "", ""))
    assert root.get("class") == "dshstore-chart"
    for rule in str(root[2].text).split("\n"):
        assert rule.startswith((".dshstore-", "svg:root ", "@", "}"))


def test_nothing_points_outside_the_picture() -> None:
    assert b"DOCTYPE" not in finish(DRAWN.encode(), "", "")


def test_a_line_of_text_holds_nothing_that_xml_cannot() -> None:
    assert line_of("a\n\tb  c\x1b[1m \ud83c 检索 \u2028 😀") == "a b c\ufffd[1m \ufffd 检索 😀"
