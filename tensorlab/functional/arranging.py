"""Tensors laid out anew: as rows, columns, blocks and diagonals, turned, multiplied out."""

from __future__ import annotations

import builtins
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorlab import dispatch, dtypes, layout
from tensorlab.creation import allocate, finish, zeros
from tensorlab.dispatch import call
from tensorlab.functional.arguments import an_int, list_of_tensors, need_tensor, tuple_of_ints
from tensorlab.functional.joining import cat, meshgrid, stack
from tensorlab.functional.pointwise import mul
from tensorlab.functional.reductions import cumprod
from tensorlab.functional.shapes import clone, flip, reshape, transpose, unsqueeze
from tensorlab.layout import wrap_dim
from tensorlab.ops import ROWS
from tensorlab.size import Size

Tensor = Any

#: Functions that are methods under the same name, with the tensor as their first argument.
METHODS = """
    diag_embed diagflat fliplr flipud rot90 kron
"""


def _at_least(op: str, tensors: tuple[Any, ...], grow: Any) -> Any:
    """``grow`` applied to each of several tensors, given one by one or as a list; a single one comes back alone."""
    if len(tensors) == 1 and isinstance(tensors[0], dispatch.Tensor):
        return grow(tensors[0])
    given = tensors[0] if len(tensors) == 1 else tensors
    return tuple([grow(x) for x in list_of_tensors(op, given)])


def atleast_1d(*tensors: Any) -> Any:
    """Numbers as vectors of one element, other tensors as they are; views."""
    return _at_least("atleast_1d", tensors, lambda x: x if x._a.ndim else reshape(x, (1,)))


def atleast_2d(*tensors: Any) -> Any:
    """Vectors as rows of a matrix, tensors with more dimensions as they are; views."""

    def grow(x: Tensor) -> Tensor:
        return reshape(x, (1, 1)) if x._a.ndim == 0 else unsqueeze(x, 0) if x._a.ndim == 1 else x

    return _at_least("atleast_2d", tensors, grow)


def atleast_3d(*tensors: Any) -> Any:
    """Vectors as ``[1, n, 1]``, matrices as ``[n, m, 1]``, tensors with more dimensions as they are; views."""

    def grow(x: Tensor) -> Tensor:
        if x._a.ndim == 0:
            return reshape(x, (1, 1, 1))
        if x._a.ndim == 1:
            return unsqueeze(unsqueeze(x, 0), -1)
        return unsqueeze(x, -1) if x._a.ndim == 2 else x

    return _at_least("atleast_3d", tensors, grow)


def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors side by side along dimension 1, vectors and numbers as columns."""
    return cat(
        [reshape(x, (x._a.size, 1)) if x._a.ndim < 2 else x for x in list_of_tensors("column_stack", tensors)], 1
    )


def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors one behind the other along dimension 2, vectors as ``[1, n, 1]``."""
    return cat([atleast_3d(x) for x in list_of_tensors("dstack", tensors)], 2)


def broadcast_shapes(*shapes: Any) -> Size:
    """The common shape of several, each a number or a sequence of numbers. Raises ``RuntimeError`` where they do not meet.

    >>> import tensorlab as tl
    >>> tl.broadcast_shapes((3, 1), 4)
    tensorlab.Size([3, 4])
    """
    found = []
    for shape in shapes:
        sizes = (shape,) if isinstance(shape, int) else shape
        if not isinstance(sizes, (tuple, list)) or not builtins.all(isinstance(n, int) for n in sizes):
            raise RuntimeError(
                f"broadcast_shapes(): Input shapes should be of type ints, or a tuple of ints, got {shape}"
            )
        if builtins.any(n < 0 for n in sizes):
            raise ValueError(f"broadcast_shapes(): a dimension cannot have a negative length: {tuple(sizes)}")
        found.append(tuple(sizes))
    return Size(layout.broadcast_shapes(*found, op="broadcast_shapes"))


def block_diag(*tensors: Tensor) -> Tensor:
    """A matrix with the tensors along its diagonal and zeros elsewhere; vectors count as rows. Types promote."""
    parts = [atleast_2d(x) for x in list_of_tensors("block_diag", tensors)] if tensors else [zeros(1, 0)]
    for i, x in enumerate(parts):
        if x._a.ndim > 2:
            raise RuntimeError(
                f"block_diag: Input tensors must have 2 or fewer dimensions. Input {i} has {x._a.ndim} dimensions"
            )
    return call(ROWS["block_diag"], parts, sizes=tuple([x._a.shape for x in parts]))


def kron(input: Tensor, other: Tensor) -> Tensor:
    """Kronecker's product: every element of ``input`` times all of ``other``, as blocks."""
    need_tensor("kron", "other", 2, other)
    n = max(input._a.ndim, other._a.ndim)
    a, b = ((1,) * (n - x._a.ndim) + x._a.shape for x in (input, other))
    spread = mul(
        reshape(input, [m for size in a for m in (size, 1)]), reshape(other, [m for size in b for m in (1, size)])
    )
    return reshape(spread, [p * q for p, q in zip(a, b, strict=True)])


def _vector(input: Tensor) -> None:
    if input._a.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input._a.shape)}")


def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """The powers of every element of ``[n]`` in a row, ``[n, N]``: from ``N - 1`` down to 0, or up with ``increasing``.

    ``N`` is ``n`` if left out. Integers give int64. Raises ``RuntimeError`` for another number of dimensions than one.

    >>> import tensorlab as tl
    >>> tl.vander(tl.tensor([2, 3]), 3)
    tensor([[4, 2, 1],
            [9, 3, 1]])
    """
    need_tensor("vander", "x", 1, x)
    if x._a.ndim != 1:
        raise RuntimeError(f"vander(): x must be a one-dimensional tensor, got {x._a.ndim} dimensions")
    n = x._a.shape[0] if N is None else an_int("vander", "N", N)
    if n < 0:
        raise RuntimeError(f"vander(): N must be non-negative, got {n}")
    base = unsqueeze(x, -1)
    if x._a.dtype.kind in "biu":
        base = base.to(dtypes.int64)
    columns = [base._zeros((x._a.shape[0], min(n, 1))) + 1] if n else [base[:, :0]]
    if n > 1:
        columns.append(cumprod(base.expand(-1, n - 1), -1))
    found = cat(columns, 1)
    return found if increasing else flip(found, (1,))


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All choices of ``r`` elements of a vector, one row each, in order.

    >>> import tensorlab as tl
    >>> tl.combinations(tl.tensor([1, 2, 3]))
    tensor([[1, 2],
            [1, 3],
            [2, 3]])
    """
    _vector(input)
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return zeros(0, dtype=input.dtype, device=input.device)
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    n = input._a.size
    count = (math.comb(n + r - 1, r) if n else 0) if with_replacement else math.comb(n, r)
    numbers = itertools.chain.from_iterable(choose(range(n), r))
    chosen = allocate(lambda size, kind: np.fromiter(numbers, kind, math.prod(size)), (count, r), np.dtype(np.int64))
    chosen = chosen.reshape(-1, r)
    return input[dispatch.wrap(chosen).to(input.device)]


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All choices of one element of each vector, one row each, in order; a single vector as it is."""
    parts = list_of_tensors("cartesian_prod", tensors)
    for x in parts:
        _vector(x)
    if len(parts) == 1:
        return parts[0]
    return stack([reshape(x, (-1,)) for x in meshgrid(*parts)], 1)


# ---------------------------------------------------------------------------------------------------------- diagonals


def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices of zeros with the last dimension of ``input`` on a diagonal of ``dim1`` and ``dim2``."""
    n = input._a.ndim + 1
    d1, d2 = wrap_dim(dim1, n, "diag_embed"), wrap_dim(dim2, n, "diag_embed")
    if d1 == d2:
        raise RuntimeError(f"diag_embed(): diagonal dimensions cannot be identical {dim1}, {dim2}")
    return call(ROWS["diag_embed"], (input,), offset=an_int("diag_embed", "offset", offset), dim1=d1, dim2=d2)


def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """A matrix with all elements of ``input`` on a diagonal."""
    return diag_embed(reshape(input, (-1,)), offset)


# ------------------------------------------------------------------------------------------------------------- turned


def fliplr(input: Tensor) -> Tensor:
    """Dimension 1 reversed; a copy."""
    if input._a.ndim < 2:
        raise RuntimeError(f"fliplr(): Input must be >= 2-d, got {input._a.ndim}-d")
    return flip(input, (1,))


def flipud(input: Tensor) -> Tensor:
    """Dimension 0 reversed; a copy."""
    if input._a.ndim < 1:
        raise RuntimeError("flipud(): Input must be >= 1-d, got 0-d")
    return flip(input, (0,))


def rot90(input: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """Turned by ``k`` right angles in the plane of two dimensions, from the first towards the second; a copy."""
    n = input._a.ndim
    dims, k = tuple_of_ints("rot90", "dims", dims), an_int("rot90", "k", k)
    if len(dims) != 2:
        raise RuntimeError(f"rot90(): expected total rotation dims == 2, but got dims = {len(dims)}")
    if n < 2:
        raise RuntimeError(f"rot90(): expected total dims >= 2, but got total dims = {n}")
    if dims[0] == dims[1] or builtins.abs(dims[0] - dims[1]) == n:
        raise RuntimeError(
            f"rot90(): expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}"
        )
    for d in dims:
        if not -n <= d < n:
            raise IndexError(
                f"rot90(): Rotation dim out of range (expected to be in range of [{-n}, {n - 1}], but got {d})"
            )
    quarter = k % 4
    if quarter == 0:
        return clone(input, memory_format=layout.contiguous_format)
    if quarter == 2:
        return flip(input, tuple(dims))
    return transpose(flip(input, (dims[1] if quarter == 1 else dims[0],)), dims[0], dims[1])


# ----------------------------------------------------------------------------------------------- places in a triangle


def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None) -> Tensor:
    """The places of the lower triangle of a matrix, row by row: their rows, and their columns.

    >>> import tensorlab as tl
    >>> tl.tril_indices(2, 2)
    tensor([[0, 1, 1],
            [0, 0, 1]])
    """
    return _places("tril_indices", np.tril_indices, row, col, offset, dtype, device)


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None) -> Tensor:
    """The places of the upper triangle of a matrix, row by row: their rows, and their columns."""
    return _places("triu_indices", np.triu_indices, row, col, offset, dtype, device)


def _places(op: str, places: Any, row: int, col: int, offset: int, dtype: Any, device: Any) -> Tensor:
    rows, columns = an_int(op, "row", row), an_int(op, "col", col)
    if rows < 0 or columns < 0:
        raise RuntimeError(f"{op}(): row and col must be non-negative, got {rows} and {columns}")
    found = np.stack(places(rows, an_int(op, "offset", offset), columns))
    kind = np.dtype(np.int64) if dtype is None else dtypes.as_dtype(dtype).np
    return finish(found.astype(kind), device=device)
