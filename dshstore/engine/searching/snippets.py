"""Where a query stands in a text, and the piece of the text that is shown of it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

from dshstore.engine.searching.queries import Phrase
from dshstore.engine.searching.terms import locate_terms

#: Where something was found: the first character and the one behind the last.
Span = tuple[int, int]

#: How many characters of a text are shown, and how many of them before the first hit.
_LENGTH, _BEFORE = 160, 50

#: How long a word is that is not cut.
_WORD = 20

#: What no term holds.
_SEPARATOR = "\0"

_SPACE = re.compile(r"\s+")


def find_phrases(text: str, phrases: Sequence[Phrase]) -> list[Span]:
    """Where the phrases stand in a text, in order, overlapping ones as one."""
    located = locate_terms(text)
    terms = _SEPARATOR.join(["", *(term for term, _, _ in located), ""])
    #: Behind which separators the terms stand.
    begins = list(accumulate((len(term) + 1 for term, _, _ in located), initial=0))
    spans = []
    for phrase in dict.fromkeys(phrases):
        wanted = _SEPARATOR.join(["", *phrase.terms, *([] if phrase.is_prefix else [""])])
        at = terms.find(wanted)
        while at >= 0:
            begin = bisect_left(begins, at)
            spans.append((located[begin][1], located[begin + len(phrase.terms) - 1][2]))
            at = terms.find(wanted, at + 1)
    return _merge(spans)


def _merge(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return merged


def make_snippet(text: str, spans: Sequence[Span]) -> tuple[str, tuple[Span, ...]]:
    """The piece of a text around its first hit, on one line, and where the hits stand in it."""
    first = max(0, spans[0][0] - _BEFORE)
    last = min(len(text), max(first + _LENGTH, spans[0][1]))
    first = max(0, min(first, last - _LENGTH))
    # no word is cut where one begins or ends near by
    if first and (space := text.find(" ", first, min(first + _WORD, spans[0][0]))) >= 0:
        first = space + 1
    if last < len(text) and (space := text.rfind(" ", max(last - _WORD, spans[0][1]), last)) >= 0:
        last = space
    pieces, marks = ["…" if first else ""], []
    at, length = first, len(pieces[0])
    for begin, end in [*spans, (last, last)]:
        between, found = text[at : min(begin, last)], text[begin : min(end, last)]
        for piece in (between, found):
            shown = _SPACE.sub(" ", piece)
            if piece is found and shown:
                marks.append((length, length + len(shown)))
            pieces.append(shown)
            length += len(shown)
        at = min(max(end, at), last)
    return "".join([*pieces, "…" if last < len(text) else ""]), tuple(marks)
