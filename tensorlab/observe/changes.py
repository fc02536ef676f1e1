"""Where a run stands, as the changes since a view last heard of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorlab.engine.node import Node
from tensorlab.engine.run import BackwardRun
from tensorlab.observe.preview import bins, norm
from tensorlab.observe.schema import STATES, Changes, Stopped
from tensorlab.observe.snapshot import Walk
from tensorlab.observe.telling import sentence

if TYPE_CHECKING:
    from tensorlab.observe.moves import Moves

_NUMBER = {name: number for number, name in enumerate(STATES)}
#: Arrays up to this size take a short way to their norm.
SMALL = 1 << 12


class Picture:
    """States of nodes and norms of gradients, in the ids and edge positions of a graph document."""

    def __init__(self, walk: Walk, run: BackwardRun) -> None:
        self.walk = walk
        self.run = run
        self.current: Node | None = run.current
        self.moved: dict[int, float] = {}  # edge position -> norm of the gradient that moved along it
        self._edges: dict[tuple[int, int], int] = {}
        self._consumers: dict[int, list[int]] = {}
        for position, (source, target, slot) in enumerate(walk.edges):
            self._edges[target, slot] = position
            self._consumers.setdefault(source, []).append(target)

    def state(self, node: Node) -> str:
        """Where the run stands at a node, as one of ``schema.STATES``."""
        left = self.run.left(node)
        if left is not None and left < 0:
            return "done"
        if node is self.run.current:
            return "current"
        if self.run.held(node) is not None:
            return "waiting"
        return "freed" if node.freed is not None else "idle"

    def consumers(self, number: int) -> list[Node]:
        """The nodes of the picture that used what this one made."""
        found = (self.walk.items[at] for at in self._consumers.get(self.walk.place[number], ()))
        return [item for item in found if isinstance(item, Node)]

    def ran(self, node: Node) -> None:
        """Note what a node sent on; to be called when it has just run."""
        at = self.walk.place.get(node.seq)
        if at is None:
            return
        for slot, gradient in self.run.flow(node):
            edge = self._edges.get((at, slot))
            if edge is not None:
                self.moved[edge] = size(gradient)

    def after(self, session: Moves, touched: Iterable[Node]) -> Stopped:
        """What a move changed: ``touched`` are the nodes that ran, were undone or edited."""
        nodes: dict[Node, None] = {}
        edges: list[int] = []
        for node in touched:
            nodes[node] = None
            at = self.walk.place.get(node.seq)
            for slot, edge in enumerate(node.edges):
                if edge is not None:
                    nodes[edge[0]] = None
                    position = self._edges.get((at, slot)) if at is not None else None
                    if position is not None and position in self.moved and self.state(node) == "done":
                        edges.append(position)
        for held_up in (self.current, self.run.current):
            if held_up is not None:
                nodes[held_up] = None
        self.current = self.run.current
        return self._stopped(session, list(nodes), edges)

    def everything(self, session: Moves) -> Stopped:
        """All that is to be known, for a view that has just opened."""
        nodes = [node for node in self.walk.nodes if self.state(node) != "idle"]
        done = {self.walk.place[node.seq] for node in nodes if self.state(node) == "done"}
        edges = [edge for edge in self.moved if self.walk.edges[edge][1] in done]
        order = tuple(node.seq for node in self.run.done)
        return self._stopped(session, nodes, edges, order, tuple(node.seq for node in self.run.planned()))

    def _stopped(
        self,
        session: Moves,
        nodes: Sequence[Node],
        edges: Sequence[int],
        order: tuple[int, ...] = (),
        upcoming: tuple[int, ...] = (),
    ) -> Stopped:
        states = [self.state(node) for node in nodes]
        current = self.run.current
        waiting = self.run.held(current) if current is not None else None
        first = next((gradient for gradient in waiting or () if gradient is not None), None)
        return Stopped(
            reason=session.reason,
            step=self.run.count,
            total=self.run.total,
            node=current.seq if current is not None else -1,
            order=order,
            upcoming=upcoming,
            edited=tuple(sorted({number for _, number, _ in session.edits})),
            changes=Changes(
                node=tuple(node.seq for node in nodes),
                state=tuple(_NUMBER[state] for state in states),
                norm=tuple(
                    self._waiting_norm(node) if state in ("waiting", "current") else None
                    for node, state in zip(nodes, states, strict=True)
                ),
                edge=tuple(edges),
                flow=tuple(self.moved[edge] for edge in edges),
            ),
            histogram=bins(first._a) if first is not None else (),
            sentence=sentence(session),
            watches=session.watched(),
        )

    def _waiting_norm(self, node: Node) -> float:
        sizes = [size(gradient) for gradient in self.run.held(node) or () if gradient is not None]
        return sizes[0] if len(sizes) == 1 else math.hypot(*sizes)


def size(gradient: Any) -> float:
    """The norm of a gradient: exact and quick for a small one, sampled past the limit of previews."""
    array = gradient._a
    if array.size <= SMALL and type(array) is np.ndarray and array.dtype.kind == "f" and array.itemsize > 2:
        flat = array.reshape(-1)
        squares = float(flat.dot(flat))
        # Outside this range squares overflow or vanish; the slower way scales first.
        if 1e-30 < squares < 1e30:
            return math.sqrt(squares)
    return norm(array)
