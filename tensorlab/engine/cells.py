"""What waits at a node during a pass, and in which order nodes run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorlab import backend
from tensorlab.engine.node import AccumulateGrad, Bound, Node

#: How many edges that lead to a node have not run yet (-1 once it ran itself), and the gradient that waits there.
Cell = list[Any]


#: The priority of a leaf's node is below this, that of any other above.
LEAVES = AccumulateGrad.first // 2


def priority(node: Node) -> int:
    """The newest ready node runs first; leaves' accumulators run before everything."""
    return node.first - node.seq


def summed(a: Any, b: Any) -> Any:
    """The sum of two gradients that no graph follows."""
    x, y = a._a, b._a
    if type(x) is np.ndarray:
        return Bound.wrap(x + y)
    with backend.of(x).on(x):
        return Bound.wrap(x + y)


def joined(node: Node, held: Any, output: int, gradient: Any, add: Callable[[Any, Any], Any]) -> Any:
    """What waits at a node once a gradient for one of its outputs arrived."""
    if gradient is None:
        return held
    if not node.many:
        return gradient if held is None else add(held, gradient)
    slots = [None] * (len(node.outs) // 2) if held is None else held.copy()
    slots[output] = gradient if slots[output] is None else add(slots[output], gradient)
    return slots


def slots_of(node: Node, held: Any) -> list[Any]:
    """What waits at a node, one entry an output."""
    if node.many:
        return [None] * (len(node.outs) // 2) if held is None else list(held)
    return [held]
