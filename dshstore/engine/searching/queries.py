"""The little language of searches: what a person types -> an expression of FTS5.

Words must all be there; `"..."` is a phrase; `*` at an end takes any ending; AND, OR and NOT in
capitals join, and then parentheses group. Whatever else a word holds is taken as it stands in
text: `file.py`, `a:b` and `don't` are phrases of their terms. So nothing that was pasted is a
syntax error, but for operators that join nothing and a quote that is not closed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from dshstore.engine.searching.terms import cut_terms
from dshstore.errors import QueryFailed

#: FTS5's parser gives up somewhat beyond these, and a phrase takes the longer the more terms it
#: has; a query of a person has not nearly as many. (A character can be a term: see `terms`.)
_MOST_TERMS, _MOST_NESTED = 200, 20

_OPERATORS = ("AND", "OR", "NOT")
_QUOTED = re.compile(r'"((?:[^"]|"")*)"(\*?)')
_OPERATOR = re.compile(r"(?<![^\s()])(?:AND|OR|NOT)(?![^\s()])")
_BARE = re.compile(r"\S+")
_AS_TEXT = "; or put the words in quotes to take them as they stand"
_QUOTE_IT = 'to look for the word itself, put it in quotes: "{}"'


class Phrase(msgspec.Struct, frozen=True):
    """Terms that stand one after another; of the last one its beginning, if `is_prefix`."""

    terms: tuple[str, ...]
    is_prefix: bool


class Query(msgspec.Struct, frozen=True):
    """A search, as FTS5 matches it, and the phrases of which a hit has one at least."""

    match: str
    phrases: tuple[Phrase, ...]


def parse_query(text: str) -> Query:
    """What a query means. Raises QueryFailed, with the place, for one that means nothing."""
    return _Parser(text).parse()


class _Item(msgspec.Struct, frozen=True):
    """A piece of a query: an operator, a parenthesis, or a phrase (kind "")."""

    kind: str
    text: str
    place: int
    is_prefix: bool = False


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._out: list[str] = []
        self._phrases: list[Phrase] = []
        self._count = 0
        self._opened: list[tuple[_Item, bool]] = []
        self._negated = False
        #: The item before: an operand can follow it, unless it ends one.
        self._before: _Item | None = None

    def parse(self) -> Query:
        # parentheses are part of what was pasted unless an operator shows that they are meant
        is_structured = _OPERATOR.search(_QUOTED.sub(" ", self._text)) is not None
        for item in self._items(grouped=is_structured):
            if item.kind in _OPERATORS:
                self._join(item)
            elif item.kind == "(":
                self._open(item)
            elif item.kind == ")":
                self._close(item)
            else:
                self._add(item, is_structured)
        if self._opened:
            raise self._fault(f'this "(" is not closed{_AS_TEXT}', self._opened[-1][0])
        if self._before is None:
            raise QueryFailed(
                "nothing to look for: a search needs a letter, a digit or an emoji; "
                "--like finds any text",
                self._text,
            )
        if self._before.kind in _OPERATORS:
            raise self._dangling(self._before)
        return Query(" ".join(self._out), tuple(self._phrases))

    def _items(self, *, grouped: bool) -> Iterator[_Item]:
        text, at = self._text, 0
        while at < len(text):
            if text[at].isspace():
                at += 1
            elif text[at] == '"':
                quoted = _QUOTED.match(text, at)
                if quoted is None:
                    reason = 'this quote is not closed; add a " at its end, or leave it out'
                    raise QueryFailed(reason, text, at)
                yield _Item("", quoted[1], at, quoted[2] != "")
                at = quoted.end()
            elif grouped and text[at] in "()":
                yield _Item(text[at], text[at], at)
                at += 1
            else:
                word = self._word(at, grouped)
                if word in _OPERATORS:
                    yield _Item(word, word, at)
                else:
                    yield _Item("", word, at, word.endswith("*"))
                at += len(word)

    def _word(self, at: int, grouped: bool) -> str:
        """The word that begins there: to the next space, or to a `)` that it did not open."""
        found = _BARE.match(self._text, at)
        assert found is not None
        depth = 0
        for index, character in enumerate(found[0]):
            depth += (character == "(") - (character == ")")
            if grouped and depth < 0:
                return found[0][:index]
        return found[0]

    def _add(self, item: _Item, is_structured: bool) -> None:
        terms = tuple(cut_terms(item.text.encode("utf-8", "replace").decode()))
        if not terms:
            if is_structured:
                reason = "there is no letter, digit or emoji in this: nothing to look for"
                raise self._fault(reason, item)
            return
        self._count += len(terms)
        if self._count > _MOST_TERMS:
            raise self._fault(f"more than {_MOST_TERMS} words; look for fewer of them", item)
        # between two phrases FTS5 puts an AND of its own, which binds more than all others
        if self._before is not None and self._before.kind == ")":
            self._out.append("AND")
        if not self._negated:
            self._phrases.append(Phrase(terms, item.is_prefix))
        self._out.append(f'"{" ".join(terms)}"{"*" if item.is_prefix else ""}')
        self._before = item

    def _join(self, item: _Item) -> None:
        before = self._before
        if item.kind == "NOT" and before is not None and before.kind == "AND":
            self._out[-1] = "NOT"
        elif before is None or before.kind in (*_OPERATORS, "("):
            raise self._dangling(item)
        else:
            self._out.append(item.kind)
        outer = self._opened[-1][1] if self._opened else False
        self._negated = outer or item.kind == "NOT"
        self._before = item

    def _open(self, item: _Item) -> None:
        if len(self._opened) == _MOST_NESTED:
            raise self._fault(f"parentheses more than {_MOST_NESTED} deep", item)
        if self._before is not None and self._before.kind in ("", ")"):
            self._out.append("AND")
        self._opened.append((item, self._negated))
        self._out.append("(")
        self._before = item

    def _close(self, item: _Item) -> None:
        if not self._opened:
            raise self._fault(f'this ")" closes nothing{_AS_TEXT}', item)
        if self._before is not None and self._before.kind == "(":
            raise self._fault("there is nothing in these parentheses", item)
        if self._before is not None and self._before.kind in _OPERATORS:
            raise self._dangling(self._before)
        self._opened.pop()
        self._out.append(")")
        self._before = item

    def _dangling(self, item: _Item) -> QueryFailed:
        sides = "a word before and after it"
        return self._fault(f"{item.kind} needs {sides}; {_QUOTE_IT.format(item.kind)}", item)

    def _fault(self, reason: str, item: _Item) -> QueryFailed:
        return QueryFailed(reason, self._text, item.place)
