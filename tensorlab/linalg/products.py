"""Products and powers of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorlab.dispatch import call
from tensorlab.functional import products
from tensorlab.functional.arguments import need_tensor
from tensorlab.functional.autocasting import composed
from tensorlab.functional.contraction import in_best_order
from tensorlab.functional.joining import cat
from tensorlab.functional.pointwise import mul
from tensorlab.functional.reductions import cumprod, sum
from tensorlab.functional.shapes import clone, reshape, unsqueeze
from tensorlab.functional.shapes import diagonal as diagonal_of
from tensorlab.layout import wrap_dim
from tensorlab.linalg.arguments import need_same_type, public
from tensorlab.linalg.solving import inv
from tensorlab.ops import ROWS
from tensorlab.ops.linalg import identity, square

Tensor = Any


@public
def matmul(input: Tensor, other: Tensor) -> Tensor:
    """``tensorlab.matmul``."""
    return products.matmul(input, other)


@public
def cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """Cross product of vectors with 3 elements along ``dim``; other dimensions broadcast."""
    return products.cross(input, other, dim)


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonals of matrices, as the last dimension of a view."""
    need_tensor("linalg_diagonal", "A", 1, A)
    return diagonal_of(A, offset, dim1, dim2)


@public
@composed
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """The inner products of vectors along ``dim``, the first conjugated; other dimensions broadcast."""
    need_same_type("linalg.vecdot", x, y, "x y")
    wrap_dim(dim, max(x._a.ndim, y._a.ndim), "linalg.vecdot")
    return sum(mul(x.conj(), y), dim)


@public
def matrix_power(A: Tensor, n: int) -> Tensor:
    """Square matrices to a whole power, by repeated squaring; a negative one is that of the inverse.

    >>> import tensorlab as tl
    >>> tl.linalg.matrix_power(tl.tensor([[1, 1], [0, 1]]), 5)
    tensor([[1, 5],
            [0, 1]])
    """
    if not isinstance(n, int):
        raise TypeError(f"linalg_matrix_power(): argument 'n' (position 2) must be int, not {type(n).__name__}")
    square("linalg.matrix_power", A._a.shape)
    if n == 0:
        return call(ROWS["zero"], (A,)) + identity(A, A._a.shape[-1])
    if n < 0:
        A, n = inv(A), -n
    found = None
    while True:
        if n & 1:
            found = A if found is None else products.matmul(found, A)
        n >>= 1
        if not n:
            return clone(A) if found is A else found
        A = products.matmul(A, A)


@public
def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """Product of matrices, in the order that takes the fewest multiplications; the first and the last may be vectors.

    >>> import tensorlab as tl
    >>> tl.linalg.multi_dot([tl.ones(2), tl.ones(2, 3), tl.ones(3)])
    tensor(6.)
    """
    n = len(tensors)
    if n < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {n}")
    for i, x in enumerate(tensors):
        need_tensor("linalg_multi_dot", f"tensors[{i}]", 1, x)
        if x._a.dtype != tensors[0]._a.dtype:
            raise RuntimeError(
                f"multi_dot(): all tensors must have be the same dtype but tensor 0 is "
                f"{tensors[0].dtype.name} and tensor {i} {x.dtype.name}"
            )
        allowed = (1, 2) if i in (0, n - 1) else (2,)
        if x._a.ndim not in allowed:
            said = "1D or 2D" if len(allowed) == 2 else "2D"
            raise RuntimeError(f"multi_dot(): tensor {i} must be {said} but got {x._a.ndim}D")
    first, last = tensors[0]._a.ndim == 1, tensors[-1]._a.ndim == 1
    matrices = list(tensors)
    if first:
        matrices[0] = unsqueeze(matrices[0], 0)
    if last:
        matrices[-1] = unsqueeze(matrices[-1], -1)
    for i, (a, b) in enumerate(zip(matrices[:-1], matrices[1:], strict=True)):
        if a._a.shape[-1] != b._a.shape[-2]:
            raise RuntimeError(
                f"multi_dot(): tensors {i} and {i + 1} with shapes {list(a._a.shape)} and {list(b._a.shape)} cannot be multiplied"
            )
    found = in_best_order(matrices)
    shape = ([] if first else [matrices[0]._a.shape[0]]) + ([] if last else [matrices[-1]._a.shape[1]])
    return reshape(found, shape)


@public
def vander(x: Tensor, N: int | None = None) -> Tensor:
    """Matrices with the powers of ``x`` from 0 to ``N - 1`` in rows (Vandermonde).

    >>> import tensorlab as tl
    >>> tl.linalg.vander(tl.tensor([2, 3]), N=3)
    tensor([[1, 2, 4],
            [1, 3, 9]])
    """
    if x._a.dtype.kind not in "uifc" or (x._a.dtype.kind != "u" and x._a.dtype.kind != "i" and x._a.dtype.itemsize < 4):
        raise RuntimeError(
            f"linalg.vander supports floating point, complex, and integer tensors, but got {x.dtype.name}"
        )
    x = x if x._a.ndim else unsqueeze(x, 0)
    n = x._a.shape[-1] if N is None else N
    if n <= 1:
        raise RuntimeError(f"linalg.vander: N must be greater than 1, not {n}.")
    columns = cumprod(unsqueeze(x, -1).expand(*x._a.shape, n - 1), -1)
    ones = columns._zeros((*x._a.shape, 1)) + 1
    return cat([ones, columns], -1)
