"""Tensors joined, turned and laid out, and products of them, by the array API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorlab import dtypes
from tensorlab.array_api.axes import axes_of
from tensorlab.array_api.types import broadcast_arrays
from tensorlab.functional import plain
from tensorlab.tensor import Tensor

__all__ = [
    "concat", "expand_dims", "flip", "matmul", "matrix_transpose", "moveaxis", "permute_dims", "repeat", "reshape", "roll",
    "squeeze", "stack", "tensordot", "tile", "unstack", "vecdot",
]  # fmt: skip


def concat(arrays: Sequence[Tensor], /, *, axis: int | None = 0) -> Tensor:
    """Tensors one after another along an axis; flattened first where that is ``None``."""
    if axis is None:
        return plain["cat"]([x.reshape(-1) for x in arrays], 0)
    return plain["cat"](list(arrays), axis)


def expand_dims(x: Tensor, /, axis: Any = 0) -> Tensor:
    """New axes of size 1 at places of the result."""
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    ndim = x.ndim + len(axes)
    for one in axes:
        if not -ndim <= one < ndim:
            raise IndexError(f"expand_dims(): axis {one} is outside of {ndim} dimensions")
    for one in sorted(a % ndim for a in axes):
        x = x.unsqueeze(one)
    return x


def flip(x: Tensor, /, *, axis: Any = None) -> Tensor:
    """Axes reversed, all of them unless told which."""
    return plain["flip"](x, axes_of(x, axis))


def moveaxis(x: Tensor, source: Any, destination: Any, /) -> Tensor:
    """Axes at other places; a view."""
    return plain["movedim"](x, source, destination)


def permute_dims(x: Tensor, /, axes: Any) -> Tensor:
    """Axes in another order; a view."""
    return x.permute(tuple(axes))


def matrix_transpose(x: Tensor, /) -> Tensor:
    """The last two axes exchanged; a view."""
    return x.mT


def repeat(x: Tensor, repeats: Any, /, *, axis: int | None = None) -> Tensor:
    """Every element so many times in a row along an axis; of the flattened tensor where that is ``None``."""
    return plain["repeat_interleave"](x, repeats, axis)


def reshape(x: Tensor, /, shape: Any, *, copy: Any = None) -> Tensor:
    """Another shape; with ``copy=False`` a view or a ``ValueError``."""
    if copy is False:
        try:
            return x.view(tuple(shape))
        except RuntimeError as error:
            raise ValueError(f"reshape(): copy=False, but {error}") from None
    found = x.reshape(tuple(shape))
    return found.clone() if copy and found.data_ptr() == x.data_ptr() else found


def roll(x: Tensor, /, shift: Any, *, axis: Any = None) -> Tensor:
    """Elements moved along axes, those that leave at one end entering at the other."""
    if axis is None:
        return plain["roll"](x, shift)
    axes = axes_of(x, axis)
    shifts = (shift,) * len(axes) if isinstance(shift, int) else tuple(shift)
    return plain["roll"](x, shifts, axes)


def squeeze(x: Tensor, /, axis: Any) -> Tensor:
    """Axes of size 1 removed. Raises ``ValueError`` for an axis of another size."""
    axes = axes_of(x, axis)
    if wrong := [a for a in axes if x.shape[a] != 1]:
        raise ValueError(f"squeeze(): axis {wrong[0]} has size {x.shape[wrong[0]]}, not 1")
    return plain["squeeze"](x, axes)


def stack(arrays: Sequence[Tensor], /, *, axis: int = 0) -> Tensor:
    """Tensors of one shape side by side along a new axis."""
    return plain["stack"](list(arrays), axis)


def tile(x: Tensor, repetitions: Any, /) -> Tensor:
    """The tensor laid out several times along its axes."""
    return plain["tile"](x, tuple(repetitions))


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """The parts along an axis, which is gone from them; views."""
    return tuple(plain["unbind"](x, axis))


def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The product of matrices, or of batches of them, in their common type."""
    kind = dtypes.promote_types(x1.dtype, x2.dtype)
    return plain["matmul"](x1.to(kind), x2.to(kind))


def tensordot(x1: Tensor, x2: Tensor, /, *, axes: Any = 2) -> Tensor:
    """Products summed over some axes of both."""
    kind = dtypes.promote_types(x1.dtype, x2.dtype)
    return plain["tensordot"](x1.to(kind), x2.to(kind), axes)


def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """Products of elements summed along an axis, the conjugate of the first where numbers are complex."""
    a, b = broadcast_arrays(x1, x2)
    kind = dtypes.promote_types(x1.dtype, x2.dtype)
    return (a.to(kind).conj() * b.to(kind)).sum(axis, dtype=kind)
