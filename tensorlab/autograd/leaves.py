"""What functional gradients stand on: fresh leaves to differentiate at, and results that keep only the graph that is somebody else's."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

from tensorlab import creation
from tensorlab.dispatch import edge_of
from tensorlab.engine.node import AccumulateGrad
from tensorlab.engine.notes import note, noted
from tensorlab.modes import state
from tensorlab.tensor import Tensor

_clock = count()


def marked(x: Tensor) -> Tensor:
    """``x`` as a tensor that a transform made for itself; of two, the one made later belongs to the inner transform."""
    note(x, "made at", next(_clock))
    return x


def fresh(x: Tensor, attached: bool) -> Tensor:
    """``x`` as something to differentiate at: a view of it where the result is to stay ``attached`` to its graph, else a new leaf."""
    return marked(x.view_as(x) if attached and x.requires_grad else x.detach().requires_grad_())


def zeros(like: Tensor) -> Tensor:
    """Weights to differentiate by: what is linear in them has the same derivative everywhere."""
    return marked(creation.zeros_like(like).requires_grad_())


def others(x: Tensor, own: Sequence[Tensor]) -> bool:
    """Whether ``x`` was computed from any leaf that is neither one of our own nor of a transform inside."""
    edge = edge_of(x) if x._live else None
    if edge is None or not own:
        return edge is not None
    since = min(noted(leaf, "made at") for leaf in own)
    stack, seen = [edge[0]], {edge[0]}
    while stack:
        node = stack.pop()
        if type(node) is AccumulateGrad and noted(node.variable, "made at", -1) < since:
            return True
        for going in node.edges:
            if going is not None and going[0] not in seen:
                seen.add(going[0])
                stack.append(going[0])
    return False


def released(x: Any, own: Sequence[Tensor], recording: bool | None = None) -> Any:
    """``x`` without the part of its graph that only leads to our own leaves; not recorded at all outside ``recording``."""
    if not isinstance(x, Tensor) or not x.requires_grad:
        return x
    return x if (state.grad if recording is None else recording) and others(x, own) else x.detach()
