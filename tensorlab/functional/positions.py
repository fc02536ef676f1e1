"""Index tensors and masks as arrays of positions, where the indexed tensor is."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorlab import backend, dispatch
from tensorlab.ops import ROWS

Tensor = Any


def beside(array: Any, x: Tensor) -> Any:
    """An index array where the tensor is. Raises ``RuntimeError`` for one on another GPU, or on a GPU when the tensor is not."""
    here, there = dispatch.device_of(x._a), dispatch.device_of(array)
    if here == there:
        return array
    if there.type != "cpu":
        raise RuntimeError(
            f"indices should be either on cpu or on the same device as the indexed tensor ({here}), but one is on {there}"
        )
    return backend.gpu(here).from_host(array, here.index)


class Outside(IndexError):
    """An index tensor reaches out of bounds: wrong, unless another one leaves nothing to index. Holds the array."""

    array: Any


def index_arrays(entry: Tensor, x: Tensor, dim: int) -> list[Any]:
    """Integer arrays for an index tensor or a mask, where the indexed tensor is, negative positions counted from the end."""
    a, shape = beside(entry._a, x), x._a.shape
    with backend.of(a).on(a):
        return _positions(backend.namespace(a), a, shape, dim)


def _positions(xp: Any, a: Any, shape: tuple[int, ...], dim: int) -> list[Any]:
    if a.dtype.kind == "b":
        for d, n in enumerate(a.shape):
            if shape[dim + d] != n:
                raise IndexError(
                    f"The shape of the mask {list(a.shape)} at index {d} does not match the shape of the "
                    f"indexed tensor {list(shape)} at index {dim + d}"
                )
        return list(xp.nonzero(a))
    if a.dtype not in (np.int64, np.int32):
        raise IndexError(f"tensors used as indices must be long, int, byte or bool tensors, not {a.dtype.name}")
    size = shape[dim]
    a = a.astype(np.int64)  # a copy of its own: the node keeps it, whatever happens to the index tensor later
    low, high = (int(a.min()), int(a.max())) if a.size else (0, -1)
    if high >= size or low < -size:
        error = Outside(f"index {high if high >= size else low} is out of bounds for dimension {dim} with size {size}")
        error.array = a
        raise error
    if low < 0:
        a += (a < 0) * np.int64(size)
    return [a]


def agree(indices: list[Any], outside: Outside | None = None) -> tuple[Any, ...]:
    """Index arrays that broadcast together. Raises ``IndexError`` where they do not, or what was found ``outside``."""
    arrays = [i for i in indices if not isinstance(i, slice)]
    try:
        common = np.broadcast_shapes(*[i.shape for i in arrays])
    except ValueError:
        given = ", ".join(str(list(i.shape)) for i in arrays)
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {given}"
        ) from None
    if outside is None:
        return tuple(indices)
    if 0 not in common:
        raise IndexError(*outside.args) from None
    nothing = backend.zeros(common, outside.array)
    return tuple([i if isinstance(i, slice) else nothing for i in indices])


def check_assigned(x: Tensor, indices: Any, value: Tensor) -> None:
    shape = ROWS["index"].infer([x._a.shape], indices=indices)
    try:
        fits = np.broadcast_shapes(shape, value._a.shape) == tuple(shape)
    except ValueError:
        fits = False
    if not fits:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(value._a.shape)} cannot be broadcast to indexing result of "
            f"shape {list(shape)}"
        )
