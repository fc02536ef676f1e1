"""What a second derivative of a custom Function must not get wrong without a word.

``backward`` of a Function is recorded under ``create_graph`` and so differentiates again, by what it used: inputs, outputs and
gradients are the parts of the graph that they are. An intermediate, a tensor that ``forward`` computed on the way, is no part of
any graph. It is given an edge to a ``Suspect`` node, and a returned gradient that depends on one is warned of.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from tensorlab import modes
from tensorlab.dispatch import edge_of, storage_of
from tensorlab.engine.node import Bound, Node, counter
from tensorlab.modes import state
from tensorlab.tensor import Tensor

new = object.__new__


class Suspect(Node):
    """Where the gradient of an intermediate would have to go. The graph ends here."""

    __slots__ = ("what",)

    what: str

    edges = ()
    saved = None
    attrs = None
    made = None

    def apply(self, grads: Sequence[Any], graph: bool, edges: Sequence[Any] | None = None) -> list[Any]:
        return []


def suspect(array: Any, what: str) -> Any:
    """The edge of an intermediate."""
    node = new(Suspect)
    node.seq, node.outs, node.hooks, node.what = next(counter), (array.shape, array.dtype), None, what
    return node, 0


def run_with_suspects(function: Any, ctx: Any, names: Sequence[str], grads: Sequence[Any]) -> Any:
    """Run ``backward`` with those attributes of its context marked that hold intermediates."""
    kept = {name: ctx.__dict__[name] for name in names if isinstance(ctx.__dict__.get(name), Tensor)}
    try:
        for name, x in kept.items():
            ctx.__dict__[name] = Bound.unpack(x._a, storage_of(x), suspect(x._a, f"ctx.{name}"))
        return function.backward(ctx, *grads)
    finally:
        ctx.__dict__.update(kept)


def warn_of_suspects(function: Any, gradients: Sequence[Any], since: int) -> None:
    """Warn if a gradient depends on an intermediate; looks only at nodes made after number ``since``."""
    found = {}
    stack = [(g._edge[0], i) for i, g in enumerate(gradients) if g is not None and g._edge is not None]
    seen = set()
    while stack:
        node, index = stack.pop()
        if node in seen or node.seq <= since:
            continue
        seen.add(node)
        if type(node) is Suspect:
            found[node.what] = index
        stack += [(edge[0], index) for edge in node.edges if edge is not None]
    if found:
        code = getattr(function.backward, "__code__", None)
        warnings.warn_explicit(
            f"{function.__name__}: the gradient for input {', '.join(sorted({str(i) for i in found.values()}))} was computed from "
            f"{' and '.join(found)}, which forward computed on the way. A second derivative takes that for a constant, and is wrong if "
            "it depends on an input. Keep inputs or outputs instead and compute it again in backward, or return it as an output; if it is "
            "a constant, such as a mask, say so with ctx.mark_non_differentiable(it).",
            UserWarning,
            code.co_filename if code else function.__module__,
            code.co_firstlineno if code else 0,
        )


class Refused(Node):
    """Where a second derivative goes that ``once_differentiable`` rules out."""

    __slots__ = ("function_name",)

    function_name: str

    saved = None
    attrs = None
    many = True

    def apply(self, grads: Sequence[Any], graph: bool, edges: Sequence[Any] | None = None) -> list[Any]:
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable "
            f"({self.function_name}). Write its backward with tensor operations and without the mark, or do not take "
            "a second derivative through it."
        )


def once_differentiable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a ``backward`` that cannot be differentiated again: doing so raises instead of giving a wrong answer."""

    def inside(ctx: Any, *grads: Any) -> Any:
        with modes.no_grad():
            found = function(ctx, *grads)
        if not state.grad:
            return found
        many = isinstance(found, tuple)
        blocked = _blocked(ctx._node(), grads, found if many else (found,))
        return blocked if many else blocked[0]

    inside.__name__ = inside.__qualname__ = getattr(function, "__qualname__", "backward")
    inside.__doc__ = function.__doc__
    return inside


def _blocked(owner: Any, grads: Sequence[Any], found: Sequence[Any]) -> tuple[Any, ...]:
    """Gradients whose history is a node that refuses; it leads to everything that they may depend on."""
    node = new(Refused)
    through = [edge_of(g) for g in grads if isinstance(g, Tensor) and g._live]
    node.edges = tuple([edge for edge in (*through, *owner.edges) if edge is not None])
    node.seq, node.hooks, node.made = next(counter), None, owner.made
    node.function_name = owner.function.__name__
    node.outs = tuple(
        [fact for g in found for fact in ((g._a.shape, g._a.dtype) if isinstance(g, Tensor) else ((), None))]
    )
    return tuple(
        [Bound.unpack(g._a, storage_of(g), (node, i)) if isinstance(g, Tensor) else g for i, g in enumerate(found)]
    )
