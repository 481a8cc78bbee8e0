"""Colours can be seen, and text can be read, on a light and on a dark ground."""

from __future__ import annotations

import pytest

from dshstore.charts import palette

LIGHT = ("#ffffff", "#f6f8fa")
DARK = ("#1e1e1e", "#0d1117", "#000000")

#: What the web's guidelines for accessible content ask of text, and of shapes that have a meaning.
TEXT, SHAPE = 4.5, 3.0


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_as_it_is_defined() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("ground", LIGHT + DARK)
@pytest.mark.parametrize(
    "colour",
    [
        palette.CACHE_READ,
        palette.CACHE_WRITE,
        palette.NEW,
        palette.DROP,
        palette.REST,
        *palette.TOOLS,
    ],
)
def test_data_are_seen_on_both_grounds(colour: str, ground: str) -> None:
    assert contrast(colour, ground) >= SHAPE


@pytest.mark.parametrize("ink", [palette.INK, palette.FAINT])
def test_text_is_read_on_both_grounds(ink: str) -> None:
    assert min(contrast(ink, ground) for ground in LIGHT) >= TEXT
    assert min(contrast(palette.ON_DARK[ink], ground) for ground in DARK) >= TEXT


@pytest.mark.parametrize("ink", [palette.INK, palette.FAINT])
def test_the_rim_of_text_makes_it_readable_on_the_other_ground(ink: str) -> None:
    assert contrast(ink, palette.LIGHT_RIM) >= TEXT
    assert contrast(palette.ON_DARK[ink], palette.DARK_RIM) >= TEXT


def test_every_tool_has_a_colour_of_its_own() -> None:
    assert len({*palette.TOOLS, palette.REST}) == len(palette.TOOLS) + 1
