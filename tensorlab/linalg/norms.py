"""Sizes of vectors and matrices."""

from __future__ import annotations

import builtins
from math import inf
from typing import Any

from tensorlab import dtypes
from tensorlab.backend import matrices
from tensorlab.dispatch import call
from tensorlab.functional import reductions
from tensorlab.functional.arguments import some_dims
from tensorlab.functional.pointwise import div, mul, where
from tensorlab.functional.reductions import amax, amin, sum
from tensorlab.functional.shapes import movedim, reshape, select, unsqueeze
from tensorlab.layout import wrap_dim
from tensorlab.linalg.arguments import public
from tensorlab.linalg.spectral import svdvals
from tensorlab.ops import ROWS
from tensorlab.ops.linalg import matrix, need_wide, square

Tensor = Any


def _typed(op: str, x: Tensor, dtype: Any) -> Tensor:
    """The tensor in the type its norm is worked out in."""
    if dtype is not None:
        kind = dtypes.as_dtype(dtype)
        if kind.category < dtypes.FLOAT or (x.dtype.is_complex and not kind.is_complex):
            raise RuntimeError(
                f"{op}: dtype should be floating point or complex, as the input is. Got {kind.name} for {x.dtype.name}"
            )
        if dtypes.promote_types(x.dtype, kind) is not kind:
            raise RuntimeError(
                f"{op}: the dtype of the input ({x.dtype.name}) should be convertible without narrowing to the "
                f"specified dtype ({kind.name})"
            )
        x = x.to(kind)
    if x._a.dtype.kind in "biu":
        raise RuntimeError(
            f"{op}: Expected a floating point or complex tensor as input. Got {x.dtype.name}; use .float()"
        )
    return x


@public
def vector_norm(x: Tensor, ord: float = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """``(sum(|x| ** ord)) ** (1 / ord)`` over ``dim`` or all elements; ``inf`` the largest, ``-inf`` the smallest, 0 counts what is not 0.

    Its gradient where the norm is 0 is 0. Raises ``RuntimeError`` for integers, and where nothing has no largest element.

    >>> import tensorlab as tl
    >>> tl.linalg.vector_norm(tl.tensor([3., 4.]))
    tensor(5.)
    """
    if not isinstance(ord, (int, float)):
        raise TypeError(f"linalg_vector_norm(): argument 'ord' (position 2) must be Number, not {type(ord).__name__}")
    op = "linalg.vector_norm"
    dims = some_dims(op, x, dim)
    x = _typed(op, x, dtype)
    if ord < 0 or ord == inf:
        size = 1
        for d in dims:
            size *= x._a.shape[d]
        if not size and x._a.ndim:
            raise RuntimeError(
                f"{op} cannot compute the {ord} norm on an empty tensor because the operation does not have an identity"
            )
    return reductions.vector_norm(x, ord, dim, keepdim)


def _two_dims(op: str, x: Tensor, dim: Any) -> tuple[int, int]:
    matrix(op, x._a.shape)
    given = (dim,) if isinstance(dim, int) else tuple(dim)
    if len(given) != 2:
        raise RuntimeError(f"{op}: dim must be a 2-tuple. Got {' '.join(map(str, given))}")
    first, second = (wrap_dim(d, x._a.ndim, op) for d in given)
    if first == second:
        raise RuntimeError(f"{op}: dims must be different. Got ({given[0]}, {given[1]})")
    return first, second


@public
def matrix_norm(
    A: Tensor, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """The norm of matrices: ``"fro"`` (of all elements), ``"nuc"`` (sum of singular values), 2 (largest one), 1 or ``inf`` (largest sum
    of a column or a row), and -2, -1, ``-inf`` for the smallest.
    """
    op = "linalg.matrix_norm"
    if (
        isinstance(ord, str)
        and ord not in ("fro", "nuc")
        or not isinstance(ord, str)
        and builtins.abs(ord) not in (1, 2, inf)
    ):
        raise RuntimeError(f"{op}: Order {ord} not supported.")
    rows, columns = _two_dims(op, A, dim)
    if ord == "fro":
        return vector_norm(A, 2, (rows, columns), keepdim, dtype=dtype)
    x = _typed(op, A, dtype)
    if ord in ("nuc", 2, -2):
        need_wide(op, x._a)
        values = svdvals(movedim(x, (rows, columns), (-2, -1)))
        if ord == "nuc":
            found = sum(values, -1)
        else:
            found = amin(values, -1) if ord == -2 else amax(values, -1) if values._a.shape[-1] else sum(values, -1)
        if keepdim:
            for d in sorted((rows, columns)):
                found = unsqueeze(found, d)
        return found
    along, over = (rows, columns) if builtins.abs(ord) == 1 else (columns, rows)
    sums = vector_norm(x, 1, along, True)
    found = amin(sums, over, True) if ord < 0 else (amax if x._a.shape[over] else sum)(sums, over, True)
    return found if keepdim else reshape(found, [n for d, n in enumerate(found._a.shape) if d not in (rows, columns)])


@public
def norm(A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """``matrix_norm`` where ``dim`` names two dimensions or ``ord`` is text, else ``vector_norm``; of a matrix with an ``ord``, the matrix
    norm. Without ``ord`` the root of the sum of squares.
    """
    op = "linalg.norm"
    dims = None if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    if ord is not None:
        if dims is not None and len(dims) not in (1, 2):
            raise RuntimeError(f"{op}: If dim is specified, it must be of length 1 or 2. Got {list(dims)}")
        if dims is None and A._a.ndim not in (1, 2):
            raise RuntimeError(
                f"{op}: If dim is not specified but ord is, the input must be 1D or 2D. Got {A._a.ndim}D."
            )
        if isinstance(ord, str) or (len(dims) if dims is not None else A._a.ndim) == 2:
            return matrix_norm(A, ord, (0, 1) if dims is None else dims, keepdim, dtype=dtype)
    return vector_norm(A, 2 if ord is None else ord, dims, keepdim, dtype=dtype)


@public
def cond(A: Tensor, p: Any = None) -> Tensor:
    """The condition number ``norm(A) * norm(A^-1)``: how much larger relative errors may become in a solution. ``inf`` if singular.

    ``p`` is a norm of ``matrix_norm``; ``None`` is 2, the largest singular value over the smallest.
    """
    op = "linalg.cond"
    matrix(op, A._a.shape)
    if p not in (None, "fro", "nuc", inf, -inf, 1, -1, 2, -2):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    if p in (None, 2, -2):
        values = svdvals(A)
        if not values._a.shape[-1]:
            return sum(values, -1)
        large, small = select(values, -1, 0), select(values, -1, -1)
        return div(small, large) if p == -2 else div(large, small)
    square(op, A._a.shape)
    need_wide(op, A._a)
    if not A._a.size:
        return reductions.vector_norm(A, 2, (-2, -1))
    inverse, info = call(ROWS["linalg_inv_ex"], (A,))
    found = mul(matrix_norm(A, p), matrix_norm(inverse, p))
    singular = info != 0
    return where(singular, found._zeros(()) + inf, found) if matrices.failed(info._a) else found
