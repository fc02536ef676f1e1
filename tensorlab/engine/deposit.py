"""Whether a gradient may become ``.grad`` itself, or must be copied or added; and whether it fits where another waits."""

from __future__ import annotations

from sys import getrefcount
from typing import Any

import numpy as np

from tensorlab import backend
from tensorlab.engine.cells import Cell
from tensorlab.engine.node import Bound, Node, facts


def own(cell: Cell, like: Any) -> Any:
    """A gradient for ``.grad`` that nobody else holds, with the leaf's order of dimensions: itself if it is both, else a copy."""
    if cell[1]._edge is None and getrefcount(cell[1]) <= 2 and _alone(getrefcount(cell[1]._a), cell[1]._a, like):
        return cell[1]
    return Bound.like(cell[1]._a, like)


def own_array(cell: Cell, like: Any) -> Any:
    if _alone(getrefcount(cell[1]), cell[1], like):
        return Bound.wrap(cell[1])
    return Bound.like(cell[1], like)


def _alone(references: int, array: Any, like: Any) -> bool:
    """Whether an array is held once (plus by the call that counted), owns its memory, and lies like ``like``."""
    if references > 2 or array.base is not None or array.strides != like.strides:
        return False
    return isinstance(array, (np.ndarray, np.generic)) or backend.of(array).alone(array)


#: Bytes of a gradient from which it pays to ask whether a sum may take its place.
_LARGE = 1 << 16


def spare(array: Any) -> bool:
    """Whether a large array that just came out of a formula is nobody else's, so that a sum may be written into it."""
    return (
        type(array) is np.ndarray
        and array.nbytes >= _LARGE
        and getrefcount(array) <= _SOLE
        and array.base is None
        and array.flags.writeable
    )


def _counted(outs: tuple[Any, ...]) -> int:
    """How many references are counted of an array that only the results of a formula and a variable hold."""
    new = outs[0]
    return _count(new)


def _count(array: Any) -> int:
    return getrefcount(array)


_SOLE = _counted((np.empty(1),))


def total(current: Any, more: Any, arrays: bool) -> Any:
    """The sum as a new tensor, for ``.grad`` that is part of a graph or cannot be written to."""
    if arrays:
        return Bound.wrap(current._a + more)
    return more.clone() if current is None else current + more


def added(into: Any, more: Any) -> bool:
    """Add a gradient to one that is there, in place; ``False`` where its memory must not be written to."""
    try:
        if type(into) is np.ndarray:
            into += more
        else:
            backend.add_into(into, more)
    except (FloatingPointError, RuntimeWarning):
        pass  # NumPy was told to raise, which it does once it has added
    except ValueError:
        return False
    return True


def fits(node: Node, output: int, gradient: Any) -> Any:
    """A gradient that may take the place of one that waits."""
    shape, dtype = facts((node, output))
    if not hasattr(gradient, "_a"):
        raise TypeError(f"a gradient is a Tensor, not {type(gradient).__name__}")
    if gradient._a.shape != shape or gradient._a.dtype != dtype:
        raise RuntimeError(
            f"the gradient for {node.name()} must have shape {list(shape)} and type {dtype}, not "
            f"{list(gradient._a.shape)} and {gradient._a.dtype}"
        )
    return gradient
