"""Values of a graph that nobody kept, worked out again from those that somebody did.

A node's inputs are looked for where they are saved, in leaves, and in other nodes that saved the same; what is still missing is
computed anew by the forwards of the nodes before, from what those have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tensorlab import backend
from tensorlab.engine.node import AccumulateGrad, Node
from tensorlab.layout import Layout

#: How far back, and how many forwards, are run again for one value.
DEEPEST, MOST = 64, 400

Consumers = Callable[[Node], Iterable[Node]]
#: What was looked for and is nowhere.
UNKNOWN: Any = object()


def forward_of(node: Node) -> Callable[..., tuple[Any, ...]] | None:
    """A node's forward on plain arrays, as a function that gives a tuple of results; ``None`` where it has none of its own."""
    row = node.row
    if row is None:
        return None
    attrs = dict(node.attrs or {})
    if row.view is not None:
        before = attrs.pop("base_layout", None)
        return None if before is None or row.seen_as is not None else lambda x: _viewed(row, x, before, attrs)

    def run(*arrays: Any) -> tuple[Any, ...]:
        first = next(array for array in arrays if array is not None)
        where = backend.of(first)
        with where.on(first):
            found = row.forward(where.xp, *arrays, **attrs)
        results = found if type(found) is tuple else (found,)
        return tuple(np.asarray(result) if isinstance(result, np.generic) else result for result in results)

    return run


def _viewed(row: Any, x: Any, before: Layout, attrs: dict[str, Any]) -> tuple[Any, ...]:
    """What a view of ``x`` holds, where ``x`` lies in its storage as ``before`` says."""
    after = row.view(before, **attrs)
    where, several = backend.of(x), not isinstance(after, Layout)
    layouts = tuple(after) if several else (after,)
    reach = max(_end(each) for each in (before, *layouts))
    with where.on(x):
        root = where.xp.zeros(reach, x.dtype)
        where.strided(root, *_bytes(before, x.itemsize), x.dtype)[...] = x
        return tuple(where.strided(root, *_bytes(each, x.itemsize), x.dtype).copy() for each in layouts)


def _end(at: Layout) -> int:
    """The number of elements that a storage needs for a layout."""
    shape, strides, offset = at
    if 0 in shape:
        return offset
    return 1 + offset + sum((size - 1) * step for size, step in zip(shape, strides, strict=True) if step > 0)


def _bytes(at: Layout, size: int) -> tuple[Any, Any, int]:
    shape, strides, offset = at
    return shape, [step * size for step in strides], offset * size


class Values:
    """Values around a graph. ``consumers(node)`` gives the nodes that used what a node made: they may have saved it."""

    def __init__(self, consumers: Consumers) -> None:
        self.consumers = consumers
        self._known: dict[tuple[int, int], Any] = {}
        self._runs = 0

    def input(self, node: Node, index: int) -> Any:
        """Input number ``index`` of a node as an array, or ``UNKNOWN``."""
        return self._input(node, index, 0)

    def _input(self, node: Node, index: int, depth: int) -> Any:
        saved = _saved(node, index)
        if saved is not UNKNOWN or node.edges[index] is None:
            return saved
        target, output = node.edges[index][:2]  # type: ignore[index]
        if type(target) is AccumulateGrad:
            leaf = target.variable
            return UNKNOWN if leaf is None or leaf._a.shape != target.outs[0] else leaf._a
        return self._made(target, output, depth + 1)

    def _made(self, node: Node, output: int, depth: int) -> Any:
        """What a node made as its output number ``output``."""
        key = (node.seq, output)
        if key not in self._known:
            self._known[key] = UNKNOWN
            self._known[key] = self._find(node, output, depth)
        return self._known[key]

    def _find(self, node: Node, output: int, depth: int) -> Any:
        found = _saved(node, len(node.edges) + output) if node.row is not None and not node.row.variadic else UNKNOWN
        if found is not UNKNOWN:
            return found
        for consumer in self.consumers(node):
            for index, edge in enumerate(consumer.edges):
                if edge is not None and edge[0] is node and edge[1] == output:
                    found = _saved(consumer, index)
                    if found is not UNKNOWN:
                        return found
        return self._again(node, output, depth)

    def _again(self, node: Node, output: int, depth: int) -> Any:
        forward = forward_of(node)
        if forward is None or depth > DEEPEST or self._runs >= MOST:
            return UNKNOWN
        self._runs += 1
        inputs = [self._input(node, index, depth) for index in range(len(node.edges))]
        if any(value is UNKNOWN for value in inputs):
            return UNKNOWN
        try:
            results = forward(*inputs)
        except Exception:
            return UNKNOWN
        fits = output < len(results) and results[output].shape == node.outs[2 * output]
        return results[output] if fits else UNKNOWN


def _saved(node: Node, index: int) -> Any:
    """A saved value that nobody has written to since. Nodes of no row save what they like, in an order of their own."""
    if node.row is None:
        return UNKNOWN
    value = node.saved[index] if type(node.saved) is tuple and index < len(node.saved) else None
    return value[0] if type(value) is tuple and value[1].version == value[2] else UNKNOWN
