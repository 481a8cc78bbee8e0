"""Events to surface: which events the model sees now, in which order, and what may enter.

This module holds the rules of the surface for Python, one event at a time: the same codes in the
same order as the triggers of a store. It decides what an event does to the surface and refuses it
otherwise; what a payload means (images, tools, equal results) it asks `payload`, what the types
are it asks the vocabulary. Messages are `derive`'s.

The surface is a ring linked by seq, so an append costs O(1) and a replace O(k) for k shadowed
events, however long the surface is. Order is kept as a store keeps it: an append has its own seq
as position, a replace takes the position of the first event that it shadows.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypeAlias, assert_never

import msgspec

from dshstore.engine.payload import (
    check_developer,
    digest_result,
    flag_images,
    offload_images,
    read_targets,
    read_tool_names,
    to_seq,
)
from dshstore.errors import EventRefused
from dshstore.formats.dsh.vocabulary import is_known, is_surface
from dshstore.model import Event, Replacement

#: The node before the first and after the last one.
_RING = -1


class Node(msgspec.Struct, frozen=True):
    """An event on the surface, with what later events are held against.

    `digest` is the `payload.digest_result` of a tool result, None for other types. `images` are
    the `payload.flag_images` of a message (format v4 on) with what was offloaded since applied.
    """

    seq: int
    pos: int
    type: str
    digest: bytes | None = None
    images: bytes | None = None


def make_node(
    seq: int,
    pos: int,
    type: str,
    data: Any,
    format_version: int,
    offloaded: Collection[int] = (),
) -> Node:
    """The node of an event on the surface; `offloaded` are the indexes of images left out since."""
    digest = digest_result(data, format_version) if type == "tool/result" else None
    images = flag_images(type, data) if format_version >= 4 else None
    if images is not None and offloaded:
        flags = (flag or index in offloaded for index, flag in enumerate(images))
        images = bytes(flags)
    return Node(seq, pos, sys.intern(type), digest, images)


class Folded(msgspec.Struct, frozen=True):
    """The surface that a log ends with, as seqs in order, and the replaces that led there."""

    nodes: tuple[int, ...]
    replacements: tuple[Replacement, ...]


def fold(events: Iterable[Event], format_version: int = 0) -> Folded:
    """Fold a whole log, from its first event on.

    Raises `EventRefused` for the first event that breaks a rule.

    >>> fold([{"type": "user/message", "seq": 0, "time": 0, "data": {}, "surfaceOp": "append"}])
    Folded(nodes=(0,), replacements=())
    """
    surface = Surface(format_version)
    replacements = [done for event in events if (done := surface.push(event)) is not None]
    return Folded(surface.nodes, tuple(replacements))


class Surface:
    """The surface of one session, kept while its log grows.

    A new one is at the beginning of a log; `resume` makes one for a log that is stored already.
    Sources are taken as expanded: a range in `sourceEventSeqs` is a codec's business.
    """

    def __init__(self, format_version: int) -> None:
        self.format_version = format_version
        self.next_seq = 0
        spelled = ("startSeq", "endSeq") if format_version >= 3 else ("start", "end")
        self._start_key, self._end_key = spelled
        self._live = {_RING: _Live(pos=-1, type="", before=_RING, after=_RING)}
        self._headers: dict[int, Collection[str]] = {}

    @classmethod
    def resume(
        cls,
        format_version: int,
        next_seq: int,
        nodes: Iterable[Node],
        headers: Mapping[int, Collection[str]] | None = None,
    ) -> Surface:
        """The surface of a log of `next_seq` events, of which only what is live is read.

        `nodes` are the live nodes in any order; their `digest` is needed for a tool result and
        `images` (v4) for a message that has some. `headers` (v4) has the `read_tool_names` of
        the log's `request/header` events by their seqs.
        """
        surface = cls(format_version)
        surface.next_seq = next_seq
        surface._headers.update(headers or {})
        for node in sorted(nodes, key=lambda node: node.pos):
            last = surface._live[_RING].before
            surface._link(last, node, _RING)
        return surface

    @property
    def nodes(self) -> tuple[int, ...]:
        """The seqs on the surface, in order."""
        return tuple(self._walk(self._live[_RING].after, self._live[_RING].before))

    def span(self, start: int, end: int) -> tuple[int, ...]:
        """The seqs on the surface from `start` to `end`, both included, in order.

        None of them if one of the two is not there, or `end` stands before `start`.
        """
        first, last = self._live.get(start), self._live.get(end)
        if first is None or last is None or not 0 <= first.pos <= last.pos:
            return ()
        return tuple(self._walk(start, end))

    @property
    def system_head(self) -> int | None:
        """The seq of the system message at the head of the surface, if one is there."""
        head = self._live[_RING].after
        return head if self._live[head].type == "system/message" else None

    def check(self, event: Event) -> None:
        """Raise `EventRefused` if `push` would refuse the event."""
        self._judge(event)

    def push(self, event: Event) -> Replacement | None:
        """Take the next event of the log; the replacement that it made, if it is a replace.

        Raises `EventRefused` for an event that breaks a rule; the surface is then as before.
        """
        change = self._judge(event)
        self.next_seq += 1
        match change:
            case None:
                return None
            case _Join(node, replacement):
                self._join(node, replacement)
                return replacement
            case _Offload(images):
                for seq, flags in images.items():
                    self._live[seq].images = flags
                return None
            case _Header(names):
                self._headers[self.next_seq - 1] = names
                return None
            case _:
                assert_never(change)

    def _judge(self, event: Event) -> _Change | None:
        """What the event does, None for nothing; every rule is looked at before any state."""
        seq = event.get("seq")
        if seq != self.next_seq or isinstance(seq, bool):
            own = to_seq(seq)
            expected = f"expected {self.next_seq}"
            raise _refuse("seq-not-contiguous", self.next_seq if own is None else own, expected)
        seq = self.next_seq
        kind: str = event["type"]
        if is_surface(kind, self.format_version):
            return self._judge_surface(event, kind, seq)
        if event.get("ignorable") is True and not is_known(kind, self.format_version):
            return None  # opaque: whatever it carries is its owner's
        if "surfaceOp" in event:
            raise _refuse("op-on-log-only", seq, kind)
        if "sourceEventSeqs" in event:
            raise _refuse("sources-on-log-only", seq, kind)
        if self.format_version >= 4:
            if kind == "image/offload":
                return self._judge_offload(event.get("data"), seq)
            if kind == "request/header":
                return _Header(read_tool_names(event.get("data")))
        return None

    def _judge_surface(self, event: Event, kind: str, seq: int) -> _Join:
        if "surfaceOp" not in event:
            raise _refuse("op-missing", seq, kind)
        span = self._read_op(event["surfaceOp"], seq)
        sources: set[int] = set()
        if "sourceEventSeqs" in event:
            sources = self._read_sources(event["sourceEventSeqs"], kind, seq)
        data = event.get("data")
        pos = seq if span is None else self._live[span[0]].pos
        node = make_node(seq, pos, kind, data, self.format_version)
        replacement = None
        if span is not None:
            replacement = Replacement(seq, *span, tuple(self._walk(*span)))
            self._check_replace(node, replacement, sources)
        if kind == "developer/message":
            check_developer(data, seq, self._headers)
        return _Join(node, replacement)

    def _read_op(self, op: Any, seq: int) -> tuple[int, int] | None:
        """The first and last seq that a replace shadows, None for an append."""
        if op == "append":
            return None
        if not isinstance(op, Mapping):
            raise _refuse("op-invalid", seq)
        start, end = to_seq(op.get(self._start_key)), to_seq(op.get(self._end_key))
        if op.get("op") != "replace" or len(op) != 3 or start is None or end is None:
            raise _refuse("replace-invalid", seq)
        if start not in self._live:
            raise _refuse("replace-start-not-on-surface", seq, f"event {start}")
        if end not in self._live:
            raise _refuse("replace-end-not-on-surface", seq, f"event {end}")
        if self._live[start].pos > self._live[end].pos:
            raise _refuse("replace-inverted", seq, f"event {start} stands after event {end}")
        return start, end

    def _read_sources(self, sources: Any, kind: str, seq: int) -> set[int]:
        if not isinstance(sources, list | tuple):
            raise _refuse("sources-not-array", seq)
        settles = kind == "assistant/message"
        strict = self.format_version >= 3
        if not sources and (strict or not settles):
            raise _refuse("sources-empty", seq)
        if settles and strict:
            raise _refuse("sources-on-settlement", seq)
        listed = [to_seq(source) for source in sources]
        seqs = {source for source in listed if source is not None}
        if None in listed:
            raise _refuse("sources-not-seqs", seq)
        if len(seqs) != len(listed):
            raise _refuse("sources-duplicate", seq)
        if seqs and max(seqs) >= seq:
            raise _refuse("sources-not-earlier", seq, f"event {max(seqs)}")
        return seqs

    def _check_replace(self, node: Node, replacement: Replacement, sources: set[int]) -> None:
        seq, shadowed = node.seq, replacement.shadowed_seqs
        if missed := [of for of in shadowed if of not in sources]:
            raise _refuse("sources-miss-shadowed", seq, f"events {missed}")
        first = self._live[replacement.start]
        if node.type == "tool/result":
            if len(shadowed) != 1:
                raise _refuse("result-rewrite-span", seq)
            if first.type != "tool/result":
                raise _refuse("result-rewrite-target", seq, first.type)
            if first.digest != node.digest:
                raise _refuse("result-rewrite-fields", seq)
        rewrites = node.type == "system/message" and len(shadowed) == 1
        is_head = first.type == "system/message" and first.before == _RING
        if self.format_version >= 3 and is_head and not rewrites:
            raise _refuse("system-head-protected", seq)

    def _judge_offload(self, data: Any, seq: int) -> _Offload:
        images: dict[int, bytes] = {}
        for of, indexes in read_targets(data, seq).items():
            node = self._live.get(of)
            if node is None or node.type not in ("user/message", "tool/result"):
                where = "not on the surface" if node is None else f"a {node.type}"
                raise _refuse("offload-invalid", seq, f"event {of} is {where}")
            images[of] = offload_images(node.images, indexes, seq)
        return _Offload(images)

    def _join(self, node: Node, replacement: Replacement | None) -> None:
        before, after = self._live[_RING].before, _RING
        if replacement is not None:
            before = self._live[replacement.start].before
            after = self._live[replacement.end].after
            for seq in replacement.shadowed_seqs:
                del self._live[seq]
        self._link(before, node, after)

    def _link(self, before: int, node: Node, after: int) -> None:
        self._live[node.seq] = _Live(node.pos, node.type, before, after, node.digest, node.images)
        self._live[before].after = node.seq
        self._live[after].before = node.seq

    def _walk(self, first: int, last: int) -> Iterable[int]:
        """The seqs from `first` to `last`, both included, in surface order."""
        seq = first
        while seq != _RING:
            yield seq
            if seq == last:
                return
            seq = self._live[seq].after


class _Live(msgspec.Struct, gc=False):
    """A node in the ring; it holds no containers, so it need not be tracked for cycles."""

    pos: int
    type: str
    before: int
    after: int
    digest: bytes | None = None
    images: bytes | None = None


class _Join(msgspec.Struct, frozen=True):
    node: Node
    replacement: Replacement | None


class _Offload(msgspec.Struct, frozen=True):
    images: dict[int, bytes]


class _Header(msgspec.Struct, frozen=True):
    names: frozenset[str]


_Change: TypeAlias = _Join | _Offload | _Header


def _refuse(code: str, seq: int, detail: str = "") -> EventRefused:
    return EventRefused(code, None, seq, detail)
