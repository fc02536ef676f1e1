"""Inverses, solutions and determinants."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorlab.backend import matrices
from tensorlab.dispatch import call
from tensorlab.functional.arguments import need_tensor
from tensorlab.functional.autocasting import composed
from tensorlab.functional.pointwise import abs, square
from tensorlab.functional.products import matmul
from tensorlab.functional.reductions import sum
from tensorlab.functional.shapes import movedim, narrow, reshape, squeeze, unsqueeze
from tensorlab.linalg.arguments import by_columns, need_matrix, need_same_type, need_square, public, refuse, vector_side
from tensorlab.linalg.spectral import pinv, svdvals
from tensorlab.ops import ROWS
from tensorlab.ops.linalg import meeting
from tensorlab.return_types import named

Tensor = Any

_SINGULAR = (
    "The diagonal element {info} is zero, the inversion could not be completed because the input matrix is singular."
)


@public
def inv(A: Tensor) -> Tensor:
    """The inverses of square matrices. Raises ``LinAlgError`` naming the first that is singular, and its pivot.

    >>> import tensorlab as tl
    >>> tl.linalg.inv(tl.tensor([[2., 0.], [0., 4.]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    need_square("linalg.inv", A)
    found, info = call(ROWS["linalg_inv_ex"], (A,))
    refuse("linalg.inv", info, _SINGULAR)
    return found


@public
def inv_ex(A: Tensor, *, check_errors: bool = False) -> Any:
    """The pair ``(inverse, info)``: where ``info`` is not 0 it is the pivot that was 0, and the inverse holds no meaningful numbers."""
    need_square("linalg.inv", A)
    found, info = call(ROWS["linalg_inv_ex"], (A,))
    if check_errors:
        refuse("linalg.inv_ex", info, _SINGULAR)
    return named("linalg_inv_ex", ("inverse", "info"))(found, info)


def _solved(op: str, A: Tensor, B: Tensor, left: bool) -> tuple[Tensor, Tensor]:
    need_square("linalg.solve", A)
    need_same_type("linalg.solve", A, B)
    vector = vector_side(A, B)
    if vector:
        if not left:
            raise RuntimeError(
                f"{op}: Vector broadcasting of the left hand side is not supported for left=False. In this case linalg.solve is "
                "equivalent to B / A.squeeze(-1)"
            )
        B = unsqueeze(B, -1)
    meeting("linalg.solve", A._a.shape, B._a.shape, left)
    if left:
        found, info = call(ROWS["linalg_solve_ex"], (A, B))
    else:
        found, info = call(ROWS["linalg_solve_ex"], (A.mT, B.mT))
        found = found.mT
    return squeeze(found, -1) if vector else found, info


@public
def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """The solution of ``A X = B`` (``X A = B`` where ``left`` is false); ``B`` holds vectors or matrices.

    Raises ``LinAlgError`` naming the first matrix that is singular.

    >>> import tensorlab as tl
    >>> tl.linalg.solve(tl.tensor([[2., 0.], [0., 4.]]), tl.tensor([2., 2.]))
    tensor([1.0000, 0.5000])
    """
    found, info = _solved("linalg.solve", A, B, left)
    refuse("linalg.solve", info, "The solver failed because the input matrix is singular (pivot {info} is zero).")
    return found


@public
def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> Any:
    """The pair ``(result, info)``: where ``info`` is not 0 it is the pivot that was 0, and the result holds no meaningful numbers."""
    found, info = _solved("linalg.solve_ex", A, B, left)
    if check_errors:
        refuse(
            "linalg.solve_ex", info, "The solver failed because the input matrix is singular (pivot {info} is zero)."
        )
    return named("linalg_solve_ex", ("result", "info"))(found, info)


@public
def solve_triangular(A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Tensor:
    """The solution of ``A X = B`` (``X A = B`` where ``left`` is false), reading only one triangle of ``A``.

    ``unitriangular`` takes its diagonal for ones. A 0 on the diagonal gives inf and NaN, and no error.
    """
    op = "linalg.solve_triangular"
    need_square(op, A)
    need_same_type(op, A, B)
    meeting(op, A._a.shape, B._a.shape, left)
    row = ROWS["linalg_solve_triangular"]
    if left:
        return call(row, (A, B), upper=bool(upper), unitriangular=bool(unitriangular))
    return by_columns(call(row, (A.mT, B.mT), upper=not upper, unitriangular=bool(unitriangular)).mT)


@public
def det(A: Tensor) -> Tensor:
    """The determinants of square matrices. The gradient is right for singular matrices too.

    >>> import tensorlab as tl
    >>> tl.linalg.det(tl.tensor([[1., 2.], [3., 4.]]))
    tensor(-2.)
    """
    need_square("linalg.det", A)
    return call(ROWS["linalg_det"], (A,))


@public
def slogdet(A: Tensor) -> Any:
    """The pair ``(sign, logabsdet)`` of determinants that may be too large or small for a number: ``det = sign * exp(logabsdet)``."""
    need_square("linalg.slogdet", A)
    return named("linalg_slogdet", ("sign", "logabsdet"))(*call(ROWS["linalg_slogdet"], (A,)))


def _ranks(values: Tensor, limit: float) -> Tensor:
    """How many singular values are above ``limit`` times the largest."""
    if not values._a.shape[-1]:
        return sum(values, -1).long()
    return sum(values > limit * narrow(values, -1, 0, 1), -1)


_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


@public
@composed
def lstsq(A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None) -> Any:
    """The least squares solution of ``A X = B``: ``(solution, residuals, rank, singular_values)``.

    Every driver works through singular values; its name decides which results there are, as in PyTorch: ``"gels"`` takes ``A`` for
    full rank and gives no rank, ``"gelsd"`` and ``"gelss"`` give singular values, ``"gelsy"`` (the default) no residuals. ``rcond``
    times the largest singular value is where smaller ones count as 0. Residuals are given where ``m > n`` and all ranks are ``n``.
    """
    op = "linalg.lstsq"
    need_matrix(op, A, "input")
    need_same_type(op, A, B, "input other")
    driver = "gelsy" if driver is None else driver
    if driver not in _DRIVERS:
        raise RuntimeError(f"{op}: parameter `driver` should be one of ({', '.join(_DRIVERS)}), not {driver!r}")
    vector = vector_side(A, B)
    right = unsqueeze(B, -1) if vector else B
    m, n = A._a.shape[-2:]
    if right._a.ndim < 2 or right._a.shape[-2] != m:
        raise RuntimeError(
            f"{op}: input.size(-2) should match other.size(-2), but the shapes are {list(A._a.shape)} and {list(B._a.shape)}"
        )
    limit = float(np.finfo(A._a.dtype).eps) * max(m, n) if rcond is None else float(rcond)
    found = by_columns(matmul(pinv(A, rtol=limit), right))
    values = svdvals(A.detach())
    ranks = _ranks(values, limit)
    nothing = values._zeros((0,))
    residuals = abs(narrow(reshape(found, (-1,)), 0, 0, 0))
    if m > n and driver != "gelsy" and (driver == "gels" or not matrices.failed((ranks != n)._a)):
        residuals = sum(square(abs(matmul(A, found) - right)), -2)
        residuals = squeeze(residuals, -1) if vector else residuals
    rank = narrow(reshape(ranks, (-1,)), 0, 0, 0) if driver == "gels" else ranks
    singular = values if driver in ("gelsd", "gelss") else nothing
    solution = squeeze(found, -1) if vector else found
    return named("linalg_lstsq", ("solution", "residuals", "rank", "singular_values"))(
        solution, residuals, rank, singular
    )


@public
def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """The inverse of a tensor as a map from its last dimensions to its first ``ind``.

    ``tensordot(tensorinv(A), A, ind)`` is the identity.
    """
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    shape = A._a.shape
    first, last = shape[:ind], shape[ind:]
    if math.prod(first) != math.prod(last):
        raise RuntimeError(
            f"Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
            f"{math.prod(last)} != {math.prod(first)}"
        )
    return reshape(inv(reshape(A, (math.prod(first), math.prod(last)))), last + first)


@public
def tensorsolve(A: Tensor, B: Tensor, dims: Any = None) -> Tensor:
    """The solution of ``tensordot(A, X, X.ndim) == B``; ``dims`` of ``A`` are moved to its end first."""
    need_tensor("linalg.tensorsolve", "other", 2, B)
    if dims is not None:
        A = movedim(A, tuple(dims), tuple(range(-len(dims), 0)))
    first, last = A._a.shape[: B._a.ndim], A._a.shape[B._a.ndim :]
    if math.prod(first) != math.prod(last):
        raise RuntimeError(
            f"Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but got "
            f"{math.prod(last)} != {math.prod(first)}"
        )
    n = math.prod(last)
    return reshape(solve(reshape(A, (n, n)), reshape(B, (-1,))), last)
