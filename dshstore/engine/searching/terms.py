"""Text as it is indexed and as it is asked for: folded, then cut into terms.

Decides what counts as the same letter (case, width, compatibility forms and diacritics do not
matter) and what a term is: a word of letters and digits; but each character by itself in scripts
that put no space between words, so that any piece of running text is a phrase of them. Emoji are
terms too, and so are the signs of `C++` and `C#`. Everything else separates.

Index and query go the same way through here, so the tokenizer of the index itself need only be
told where a term ends: the `ascii` tokenizer of FTS5, for which every character beyond ASCII
belongs to one.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import accumulate

#: What of Unicode decides about terms: with other tables an index has to be made anew.
UNICODE = tuple(int(part) for part in unicodedata.unidata_version.split(".")[:2])

#: Scripts without spaces between words: Thai, Lao, Myanmar, Khmer, Hangul, kana, Bopomofo and
#: ideographs. (Korean has spaces, but its words carry endings.)
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1100-\u11ff\u3005-\u3007\u3021-\u3029\u3031-\u3035"
    "\u303b\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3100-\u318f"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)

#: Emoji and other pictures; and how the signs of `C++` and `C#` are written in folded text, where
#: no other character is wide.
_PICTURES = "\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff\uff0b\uff03"

#: Marks that fold to nothing: diacritics, vowel points, joiners, variation and skin tone.
_DROPPED = (
    "\u00ad\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200f\u2060\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\ufeff"
    "\U0001f3fb-\U0001f3ff\U000e0100-\U000e01ef"
)

#: The blocks of Indic scripts, whose words hold marks that are no letters, but two stops.
_INDIC = "\u0900-\u0963\u0966-\u0dff"

#: The marks of all scripts that are in use, which belong to the character before them.
_MARKS = "".join(
    mark
    for first, last in ((0x300, 0x30FF), (0xA66F, 0xABED))
    for mark in map(chr, range(first, last + 1))
    if unicodedata.category(mark).startswith("M")
)

#: What is folded together with the character before it.
_ATTACHED = f"{_DROPPED}{_MARKS}\u1160-\u11ff\uff9e\uff9f"

#: A mark that stands behind a space or the like has nothing before it to belong to.
_CLUSTER = re.compile(f"_|[^\\w{_PICTURES}{_ATTACHED}]|.[{_ATTACHED}]*", re.DOTALL)
_drop = re.compile(f"[{_DROPPED}]+").sub
_SINGLE = f"{_UNSPACED}{_PICTURES}"
_TERM = re.compile(f"[{_SINGLE}]|(?:[^\\W_{_SINGLE}]|[{_INDIC}])+")

#: Letters of Latin that Unicode does not take apart, as they are written without them.
_SPELLED = {"æ": "ae", "œ": "oe", "ð": "d", "þ": "th", "\u0131": "i", "ȷ": "j"}
_WITH = re.compile("LATIN SMALL LETTER ([A-Z]) WITH .+")
_PLAIN = str.maketrans(
    _SPELLED
    | {
        letter: named[1].lower()
        for first, last in ((0xDF, 0x2AF), (0x1D00, 0x1DBF), (0x2C60, 0x2C7F), (0xA720, 0xA7FF))
        for letter in map(chr, range(first, last + 1))
        if (named := _WITH.fullmatch(unicodedata.name(letter, "")))
        and not unicodedata.decomposition(letter)
    }
)

_SIGNS = re.compile(r"(?<=[a-z])(?:\+\+|#)(?![\w+#])")
_WIDE = str.maketrans("+#", "\uff0b\uff03")


def fold(text: str) -> str:
    """The text with everything folded that a search does not tell apart."""
    return _mark_signs(_fold_plain(text))


def _fold_plain(text: str) -> str:
    if text.isascii():
        return text.lower()
    bare = _drop("", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFC", bare.translate(_PLAIN))


def _mark_signs(folded: str) -> str:
    if "++" not in folded and "#" not in folded:
        return folded
    return _SIGNS.sub(lambda signs: signs[0].translate(_WIDE), folded)


def cut_terms(text: str) -> list[str]:
    """The terms of a text, in order."""
    return _TERM.findall(fold(text))


def spread_terms(text: str) -> str:
    """The text as the index takes it: its terms, with something that is none between them."""
    folded = fold(text)
    return folded if folded.isascii() else " ".join(_TERM.findall(folded))


def locate_terms(text: str) -> list[tuple[str, int, int]]:
    """The terms of a text, each with where it begins and ends in the text itself."""
    if text.isascii():
        return [(m[0], *m.span()) for m in _TERM.finditer(_mark_signs(text.lower()))]
    known: dict[str, str] = {}
    clusters = _CLUSTER.findall(text)
    pieces = [known.get(c) or known.setdefault(c, _fold_plain(c)) for c in clusters]
    ends = list(accumulate(map(len, clusters)))
    owner = [index for index, piece in enumerate(pieces) for _ in piece]
    return [
        (m[0], ends[owner[m.start()]] - len(clusters[owner[m.start()]]), ends[owner[m.end() - 1]])
        for m in _TERM.finditer(_mark_signs("".join(pieces)))
    ]
