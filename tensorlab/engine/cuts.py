"""Where a value left the graph: what is needed to say later why a gradient never arrived.

A tensor that was computed from something with a gradient, and has none, remembers where it was cut off: by ``detach()``, inside
``no_grad()``, or by an operation that has no gradient. What is computed from it remembers the same, and a node that takes it as an
input is known to have done so. Nothing is noted unless places are recorded (as in a notebook), and nothing is kept alive: a cut
knows its node weakly.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from tensorlab.engine import sites
from tensorlab.engine.node import AccumulateGrad, Node
from tensorlab.engine.notes import note, noted
from tensorlab.modes import sites_are_watched

#: Cuts that one tensor remembers, and nodes that are looked at to find the leaves behind a cut.
MOST, FURTHEST = 4, 128

#: Of nodes with an input that was cut off: its number and its cuts.
entered: weakref.WeakKeyDictionary[Node, list[tuple[int, tuple[Cut, ...]]]] = weakref.WeakKeyDictionary()


class Cut:
    """One place where a value lost its history. ``how`` is ``"detach"``, ``"no_grad"`` or the name of an operation."""

    __slots__ = ("how", "site", "_node", "_leaves", "name", "made", "shape")

    def __init__(self, how: str, source: Any, shape: tuple[int, ...]) -> None:
        node = source[0]
        self.how, self.shape = how, shape
        self.site = sites.here(2)
        self._node = weakref.ref(node)
        leaves = (node,) if type(node) is AccumulateGrad else _leaves_behind(node)
        self._leaves = tuple([weakref.ref(leaf) for leaf in leaves])
        self.name, self.made = node.name(), node.site

    @property
    def node(self) -> Node | None:
        """The node that the value came from, if it still exists."""
        return self._node()

    def leads_to(self, leaf: Node) -> bool:
        """Whether the value was computed from a leaf, given by its node; known also when the graph between them is gone."""
        return any(known() is leaf for known in self._leaves)


def _leaves_behind(node: Node) -> list[Node]:
    """The leaves' nodes that a node leads to, as far as a short look shows."""
    found: list[Node] = []
    stack, seen = [node], {node}
    while stack and len(seen) < FURTHEST:
        at = stack.pop()
        if type(at) is AccumulateGrad:
            found.append(at)
        for edge in at.edges:
            if edge is not None and edge[0] not in seen:
                seen.add(edge[0])
                stack.append(edge[0])
    return found


def cuts_of(x: Any) -> tuple[Cut, ...]:
    """Where what ``x`` was computed from lost its history."""
    return noted(x, "cuts", ())


def cut(out: Any, source: Any, how: str) -> None:
    """Note that ``out`` was cut off from ``source``, an edge. Does nothing unless places are recorded."""
    if source is not None and sites_are_watched():
        note(out, "cuts", (Cut(how, source, out._a.shape),))


def lineage(how: str, inputs: Sequence[Any], outs: Sequence[Any], edge_of: Any) -> None:
    """Note of results without history what they were cut off from: here, or where an input was."""
    found: tuple[Cut, ...] = ()
    for x in inputs:
        if x is None:
            continue
        source = edge_of(x) if x._live else None
        found += (Cut(how, source, x._a.shape),) if source is not None else cuts_of(x)
    if found:
        for out in outs:
            note(out, "cuts", found[:MOST])


def enter(node: Node, inputs: Sequence[Any]) -> None:
    """Note of a node which of its inputs were cut off."""
    for x in inputs:
        if x is not None and not x._rg and getattr(x, "_notes", None) is not None:
            break
    else:
        return
    found = [(i, cuts_of(x)) for i, x in enumerate(inputs) if x is not None and not x._rg and cuts_of(x)]
    if found:
        entered[node] = found
