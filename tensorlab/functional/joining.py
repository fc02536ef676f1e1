"""Several tensors put together, or made to fit each other."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from tensorlab.dispatch import call
from tensorlab.functional.arguments import list_of_tensors
from tensorlab.functional.shapes import expand, reshape
from tensorlab.layout import wrap_dim
from tensorlab.ops import ROWS

Tensor = Any


def cat(tensors: Sequence[Tensor], dim: int = 0, *, axis: int | None = None) -> Tensor:
    """Tensors one after another along ``dim``; all other sizes must agree. Types promote.

    >>> import tensorlab as tl
    >>> tl.cat([tl.tensor([1, 2]), tl.tensor([3])])
    tensor([1, 2, 3])
    """
    parts = list_of_tensors("cat", tensors, ValueError)
    n = builtins.max([x._a.ndim for x in parts])
    for i, x in enumerate(parts):
        if x._a.ndim == 0:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated; use stack()")
    d = wrap_dim(dim if axis is None else axis, n, "cat")
    sizes = tuple([0 if x._a.shape == (0,) and n > 1 else x._a.shape[d] if d < x._a.ndim else -1 for x in parts])
    return call(ROWS["cat"], parts, dim=d, sizes=sizes)


concat = concatenate = cat


def stack(tensors: Sequence[Tensor], dim: int = 0, *, axis: int | None = None) -> Tensor:
    """Tensors of one shape side by side along a new dimension. Types promote."""
    parts = list_of_tensors("stack", tensors)
    return call(ROWS["stack"], parts, dim=wrap_dim(dim if axis is None else axis, parts[0]._a.ndim + 1, "stack"))


def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors side by side: along dimension 0 for vectors, 1 for everything else."""
    parts = [x if x._a.ndim else reshape(x, (1,)) for x in list_of_tensors("hstack", tensors)]
    return cat(parts, 0 if parts[0]._a.ndim == 1 else 1)


def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors on top of each other, vectors as rows."""
    return cat([x if x._a.ndim > 1 else reshape(x, (1, -1)) for x in list_of_tensors("vstack", tensors)], 0)


row_stack = vstack


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Coordinates of a grid: one tensor for each vector, all of one shape. ``indexing="xy"`` exchanges the first two dimensions."""
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    parts = list_of_tensors("meshgrid", list(given))
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f'meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    for x in parts:
        if x._a.ndim > 1:
            raise RuntimeError(
                f"meshgrid: Expected 0D or 1D tensor in the tensor list but got a tensor with {x._a.ndim} dimensions"
            )
    swap = indexing == "xy" and len(parts) > 1
    parts = [parts[1], parts[0], *parts[2:]] if swap else parts
    shape = [x._a.size for x in parts]
    found = [expand(reshape(x, [-1 if d == i else 1 for d in range(len(parts))]), shape) for i, x in enumerate(parts)]
    return tuple([found[1], found[0], *found[2:]] if swap else found)
