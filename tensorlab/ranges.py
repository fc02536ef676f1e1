"""New tensors from a rule: logarithmic steps, indices of triangles; and uninitialised ones of any layout."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorlab import backend, creation, dtypes, layout

Tensor = Any


def logspace(
    start: Any, end: Any, steps: int, base: float = 10.0, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:  # fmt: skip
    """``base`` to the power of ``steps`` values at equal distances from ``start`` to ``end``, both included.

    >>> import tensorlab as tl
    >>> tl.logspace(0, 2, 3)
    tensor([  1.,  10., 100.])
    """
    kind = dtypes.default.float if dtype is None else dtypes.as_dtype(dtype)
    if kind.category <= dtypes.INTEGER:  # the ends lose their fractions first, as all numbers given to integers do
        start, end = int(start), int(end)
    carried = kind if kind.itemsize > 2 and kind.category > dtypes.INTEGER else dtypes.float64
    try:
        exponents = creation.linspace(start, end, steps, dtype=carried, device="cpu")._a
    except (TypeError, RuntimeError) as error:
        raise type(error)(str(error).replace("linspace", "logspace")) from None
    with np.errstate(all="ignore"):
        found = np.power(exponents.dtype.type(base), exponents)
    return creation.finish(found.astype(kind.np), requires_grad, device)


def range(
    start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:  # fmt: skip
    """``start, start + step, ...`` up to and including ``end``, of the default floating-point type.

    PyTorch keeps it for old code; ``arange`` leaves ``end`` out, as Python does.
    """
    if end is None:
        start, end = 0, start
    if step == 0:
        raise RuntimeError("range(): step must be nonzero")
    if (end - start) / step < 0:
        raise RuntimeError(
            f"range(): upper bound and lower bound inconsistent with step sign: {start} to {end} by {step}"
        )
    kind = dtypes.default.float if dtype is None else dtypes.as_dtype(dtype)
    found = start + step * np.arange(int((end - start) / step) + 1)
    return creation.finish(found.astype(kind.np), requires_grad, device)


def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Rows and columns (a 2 by n tensor) of a matrix's elements on and below a diagonal, row by row.

    >>> import tensorlab as tl
    >>> tl.tril_indices(2, 2)
    tensor([[0, 1, 1],
            [0, 0, 1]])
    """
    return _triangle("tril_indices", row, col, offset, np.tri, dtype, device)


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Rows and columns (a 2 by n tensor) of a matrix's elements on and above a diagonal, row by row."""
    return _triangle(
        "triu_indices", row, col, offset, lambda n, m, k, t: np.logical_not(np.tri(n, m, k - 1, t)), dtype, device
    )


def _triangle(op: str, row: int, col: int, offset: int, mask: Any, dtype: Any, device: Any) -> Tensor:
    kind = dtypes.int64 if dtype is None else dtypes.as_dtype(dtype)
    if kind not in (dtypes.int64, dtypes.int32, dtypes.int16):
        raise NotImplementedError(f'"{op}" not implemented for {kind.name}; indices are int64, int32 or int16')
    for name, n in (("row", row), ("col", col)):
        if operator.index(n) < 0:
            raise RuntimeError(f"{op}(): {name} must be non-negative, got {n}")
    found = np.stack(np.nonzero(mask(row, col, offset, bool)))
    return creation.finish(found.astype(kind.np), device=device)


# ------------------------------------------------------------------------------------------------- layouts of one's own


def empty_strided(
    size: Sequence[int], stride: Sequence[int], *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:  # fmt: skip
    """A tensor of a size and of strides (in elements) whose elements are whatever was in memory.

    >>> import tensorlab as tl
    >>> tl.empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    shape, strides = creation.size_of((size,), "empty_strided"), tuple([operator.index(s) for s in stride])
    if len(shape) != len(strides):
        raise RuntimeError(
            f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides ({len(strides)})"
        )
    if min(strides, default=0) < 0:
        raise RuntimeError(f"empty_strided(): strides must not be negative, got {list(strides)}")
    kind = dtypes.default.float if dtype is None else dtypes.as_dtype(dtype)
    root = creation.empty(layout.extent(shape, strides), dtype=kind, device=device)._a
    steps = [s * kind.itemsize for s in strides]
    return creation.finish(backend.of(root).strided(root, shape, steps, 0, kind.np), requires_grad)


def empty_permuted(
    size: Sequence[int], physical_layout: Sequence[int], *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:  # fmt: skip
    """A tensor of a size whose elements are whatever was in memory, dense, with its dimensions in an order of their own.

    ``physical_layout`` names the dimensions from the outermost in memory to the innermost.
    """
    shape, order = creation.size_of((size,), "empty_permuted"), [operator.index(d) for d in physical_layout]
    if len(shape) != len(order):
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = "
            f"{len(shape)} is not equal to len(physical_layout) = {len(order)}"
        )
    if any(not 0 <= d < len(shape) for d in order):
        raise RuntimeError(f"Dimension out of range (expected to be between 0 and {len(shape) - 1}, but got {order}).")
    if len(set(order)) != len(order):
        raise RuntimeError(f"Duplicate dim not allowed: {order}")
    dense = layout.contiguous_strides([shape[d] for d in order])
    strides = [dense[order.index(d)] for d, _ in enumerate(shape)]
    return empty_strided(shape, strides, dtype=dtype, device=device, requires_grad=requires_grad)
