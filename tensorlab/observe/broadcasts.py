"""Values that an operation stretched without being told to: where, how far, and what backward then does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorlab.engine.node import Node
from tensorlab.observe.schema_kept import Stretched
from tensorlab.observe.words import shape_text
from tensorlab.ops.elementwise import broadcast

Shape = tuple[int, ...]


def stretched(node: Node, slot: int, given: Shape) -> Stretched | None:
    """How an elementwise operation stretched its input number ``slot``, of shape ``given``; ``None`` where it did not."""
    row = node.row
    if row is None or row.infer is not broadcast or len(row.params) < 2:
        return None
    result = tuple(node.outs[0])
    if given == result or not given:  # a number beside a tensor surprises nobody
        return None
    dims = stretched_dims(given, result)
    if not dims:
        return None
    others = [shape for other, shape in enumerate(input_shapes(node)) if other != slot]
    return _told(given, result, dims, others, _outer(given, result, dims, others))


def stretched_dims(given: Sequence[int], result: Sequence[int]) -> tuple[int, ...]:
    """The dimensions of ``result`` along which a value of shape ``given`` was repeated."""
    extra = len(result) - len(given)
    return tuple(d for d, size in enumerate(result) if (d < extra or given[d - extra] == 1) and size != 1)


def input_shapes(node: Node) -> list[Shape | None]:
    """The shapes of a node's inputs; ``None`` where neither an edge nor a saved value tells one."""
    found: list[Shape | None] = []
    saved = node.saved if type(node.saved) is tuple else ()
    for slot, edge in enumerate(node.edges):
        value = saved[slot] if slot < len(saved) else None
        if edge is not None:
            found.append(tuple(edge[2]._a.shape) if len(edge) > 2 else tuple(edge[0].outs[2 * edge[1]]))
        else:
            found.append(tuple(value[0].shape) if type(value) is tuple else None)
    return found


def _outer(given: Shape, result: Shape, dims: Sequence[int], others: Sequence[Shape | None]) -> bool:
    """Whether this looks like ``[n, 1]`` against ``[n]``: both inputs stretched to n × n, and nobody wrote the missing dimension."""
    own = {size for d, size in enumerate(result) if size != 1 and d not in dims}
    if not any(result[d] in own for d in dims):
        return False
    return all(shape is None or (shape != result and 0 < len(shape) != len(given)) for shape in others)


def _told(given: Shape, result: Shape, dims: tuple[int, ...], others: Sequence[Shape | None], outer: bool) -> Stretched:
    where = f"dim {dims[0]}" if len(dims) == 1 else f"dims {', '.join(map(str, dims))}"
    times = " × ".join(str(result[d]) for d in dims)
    forward = f"{shape_text(given)} is repeated {times} times along {where} to {shape_text(result)}"
    if outer and None not in others:
        both = " and ".join(shape_text(shape) for shape in (given, *others) if shape is not None)
        forward += f": both inputs are stretched ({both}), so every element meets all of the other's"
    elif outer:
        forward += f"; unless the other input is {shape_text(result)} itself, every element meets all of the other's"
    backward = f"its gradient {shape_text(result)} is summed over {where} to {shape_text(given)}"
    return Stretched(shape_text(given), shape_text(result), dims, outer, forward, backward)


def told(node: Any, number: int) -> str:
    """A sentence for a graph with ``number`` outer broadcasts, the first at ``node``."""
    more = f", and {number - 1:,} more do" if number > 1 else ""
    return (
        f" {node.name()} stretches its inputs against each other to {shape_text(node.outs[0])}{more}: check the shapes."
    )
