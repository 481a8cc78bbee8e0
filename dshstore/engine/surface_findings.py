"""The surface that a store keeps against the fold of its events.

The fold is the Python one, the nodes come from the store in the order of their seqs, so memory is
needed for live nodes alone. Nodes that a fork inherited are its ancestors' events: they are
compared where its own part begins.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import Any, NamedTuple

from dshstore.engine.findings import LOG_CODES, Fault
from dshstore.engine.surface import Surface
from dshstore.errors import EventRefused
from dshstore.formats.dsh.vocabulary import is_surface
from dshstore.model import Replacement


class KeptNode(NamedTuple):
    """A row of `surface_nodes`."""

    seq: int
    pos: int
    shadowed_by: int | None
    owner: int


class SurfaceCheck:
    """Folds a session's log and compares what comes of it with its `nodes`.

    `surface` is the fold so far; `lost` says that an event could not be folded, and that nothing
    more can be said.
    """

    def __init__(self, version: int, nodes: Iterable[KeptNode]) -> None:
        self.surface = Surface(version)
        self.lost = False
        self._nodes = iter(nodes)
        self._node = next(self._nodes, None)
        #: Of each live node: what the store should have of it, and the shadowed_by that it has.
        self._live: dict[int, KeptNode] = {}

    def lose(self) -> None:
        """An event cannot be read: no surface can be told from here on."""
        self.lost = True

    def pass_over(self, count: int) -> None:
        """Take so many events that do nothing."""
        self.surface.next_seq += count

    def push(self, event: dict[str, Any], owner: int, *, inherited: bool) -> Iterator[Fault]:
        """Take the next event, whose row is `owner`'s."""
        if self.lost:
            return
        seq = self.surface.next_seq
        try:
            replacement = self.surface.push(event)
        except EventRefused as refusal:
            if refusal.code not in LOG_CODES:
                self.lost = True
                detail = f" ({refusal.detail})" if refusal.detail else ""
                yield Fault(seq, "surface-rule-broken", f"{refusal.code}{detail}")
                return
            yield Fault(seq, refusal.code, refusal.detail)
            replacement = self._take_as_stored(event)
        if not is_surface(event["type"], self.surface.format_version):
            return
        first = seq if replacement is None else self._live[replacement.start].pos
        expected = KeptNode(seq, first, None, owner)
        if replacement is not None:
            for shadowed in replacement.shadowed_seqs:
                yield from self._compare_shadow(self._live.pop(shadowed), seq, inherited)
        if not inherited:
            yield from self._skip_nodes(seq)
            expected = yield from self._compare_node(expected)
        self._live[seq] = expected

    def begin_own(self, first: int) -> Iterator[Fault]:
        """The inherited part ends here: what is live is what the store should have of it."""
        for seq in sorted(self._live):
            yield from self._skip_nodes(seq)
            self._live[seq] = yield from self._compare_node(self._live[seq])
        yield from self._skip_nodes(first)

    def finish(self) -> Iterator[Fault]:
        """The log ends here."""
        if self.lost:
            return
        for seq, node in self._live.items():
            if node.shadowed_by is not None:
                yield _mismatch(seq, f"it is on the surface, not shadowed by {node.shadowed_by}")
        while self._node is not None:
            yield from self._skip_nodes(self._node.seq + 1)

    def _take_as_stored(self, event: dict[str, Any]) -> Replacement | None:
        """Take an event whose payload breaks a rule that a store does not enforce."""
        if is_surface(event["type"], self.surface.format_version):
            return self.surface.push({**event, "data": {}})
        self.pass_over(1)
        return None

    def _compare_node(self, expected: KeptNode) -> Generator[Fault, None, KeptNode]:
        """The node with the `shadowed_by` that the store has."""
        node = self._node
        if node is None or node.seq != expected.seq:
            yield _mismatch(expected.seq, "it joined the surface, but the store has no node of it")
            return expected
        self._node = next(self._nodes, None)
        for name, here, there in (
            ("position", node.pos, expected.pos),
            ("owner", node.owner, expected.owner),
        ):
            if here != there:
                yield _mismatch(node.seq, f"its {name} is {here}, not {there}")
        return expected._replace(shadowed_by=node.shadowed_by)

    def _compare_shadow(self, node: KeptNode, seq: int, inherited: bool) -> Iterator[Fault]:
        if not inherited and node.shadowed_by != seq:
            told = "still live" if node.shadowed_by is None else f"shadowed by {node.shadowed_by}"
            yield _mismatch(node.seq, f"event {seq} shadows it, but the store has it {told}")

    def _skip_nodes(self, before: int) -> Iterator[Fault]:
        """Nodes with smaller seqs that should not be there."""
        while self._node is not None and self._node.seq < before:
            yield _mismatch(self._node.seq, "the store has a node of it that no event made")
            self._node = next(self._nodes, None)


def _mismatch(seq: int, detail: str) -> Fault:
    return Fault(seq, "surface-mismatch", detail)
