"""Triangular and orthogonal factors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorlab import backend, dispatch
from tensorlab.backend import matrices
from tensorlab.dispatch import call
from tensorlab.functional.arguments import need_tensor
from tensorlab.functional.shapes import narrow, tril, triu
from tensorlab.linalg.arguments import (
    by_columns,
    conjugate_transpose,
    need_matrix,
    need_same_type,
    need_square,
    public,
    refuse,
)
from tensorlab.linalg.solving import solve_triangular
from tensorlab.ops import ROWS
from tensorlab.ops.linalg import identity, meeting
from tensorlab.return_types import named

Tensor = Any

_MINOR = (
    "The factorization could not be completed because the input is not positive-definite (the leading minor of order {info} is not "
    "positive-definite)."
)


@public
def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """The lower triangle ``L`` with ``L L^H = A`` for Hermitian positive definite matrices (``U^H U = A`` with ``upper``).

    Reads one triangle of ``A``. Raises ``LinAlgError`` naming the first matrix that is not positive definite, and its minor.

    >>> import tensorlab as tl
    >>> tl.linalg.cholesky(tl.tensor([[4., 2.], [2., 5.]]))
    tensor([[2., 0.],
            [1., 2.]])
    """
    need_square("linalg.cholesky", A)
    found, info = call(ROWS["linalg_cholesky_ex"], (A,), upper=bool(upper))
    refuse("linalg.cholesky", info, _MINOR)
    return found


@public
def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> Any:
    """The pair ``(L, info)``: where ``info`` is not 0 it is the order of the first leading minor that is not positive."""
    need_square("linalg.cholesky", A)
    found, info = call(ROWS["linalg_cholesky_ex"], (A,), upper=bool(upper))
    if check_errors:
        refuse("linalg.cholesky_ex", info, _MINOR)
    return named("linalg_cholesky_ex", ("L", "info"))(found, info)


# ---------------------------------------------------------------------------------------------------------------------- LU


def _factored(A: Tensor, pivot: bool) -> Any:
    need_matrix("linalg.lu_factor", A)
    if not pivot:
        raise RuntimeError(
            "linalg.lu_factor: LU without pivoting is not implemented; rows are always exchanged (pivot=True)"
        )
    return call(ROWS["linalg_lu_factor_ex"], (A,))


@public
def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """``(LU, pivots, info)``: both triangles in one matrix, the row each row was exchanged with, and the first zero of ``U``."""
    found = _factored(A, pivot)
    if check_errors:
        refuse("linalg.lu_factor_ex", found[2], _ZERO)
    return named("linalg_lu_factor_ex", ("LU", "pivots", "info"))(*found)


_ZERO = (
    "U[{info},{info}] is zero and using it on lu_solve would result in a division by zero. If you still want to perform the "
    "factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
)


@public
def lu_factor(A: Tensor, *, pivot: bool = True) -> Any:
    """``(LU, pivots)`` for ``lu_solve``. Raises ``LinAlgError`` naming the first matrix that is singular, and its pivot."""
    packed, pivots, info = _factored(A, pivot)
    refuse("linalg.lu_factor", info, _ZERO)
    return named("linalg_lu_factor", ("LU", "pivots"))(packed, pivots)


def unpacked(packed: Tensor) -> tuple[Tensor, Tensor]:
    """``L``, with ones on its diagonal, and ``U`` from both in one matrix."""
    m, n = packed._a.shape[-2:]
    k = min(m, n)
    lower = tril(narrow(packed, -1, 0, k), -1)
    ones = identity(packed, max(m, k))
    return lower + narrow(ones, 1, 0, k), triu(narrow(packed, -2, 0, k))


def permutation_matrix(packed: Tensor, pivots: Tensor) -> Tensor:
    """``P`` of ``A = P L U``, from the exchanges of rows."""
    m = packed._a.shape[-2]
    order = call(ROWS["linalg_permutation"], (pivots,), rows=m)
    ones = identity(packed.detach(), m).expand(*pivots._a.shape[:-1], m, m)
    return call(ROWS["linalg_place"], (order, ones))


@public
def lu(A: Tensor, *, pivot: bool = True) -> Any:
    """``(P, L, U)`` with ``P L U = A``: a permutation, a lower triangle with ones on its diagonal, an upper triangle."""
    packed, pivots, _ = _factored(A, pivot)
    return named("linalg_lu", ("P", "L", "U"))(permutation_matrix(packed, pivots), *unpacked(packed))


@public
def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False) -> Tensor:
    """The solution of ``A X = B`` from what ``lu_factor`` gave for ``A``; ``left=False`` solves ``X A = B``, ``adjoint`` ``A^H X = B``."""
    op = "linalg.lu_solve"
    need_square(op, LU, "LU")
    need_tensor(op, "pivots", 2, pivots)
    need_tensor(op, "B", 3, B)
    need_same_type(op, LU, B, "LU B")
    if pivots._a.dtype != np.int32:
        raise RuntimeError(f"{op}: pivots should be a Tensor of scalar type int32, not {pivots.dtype.name}")
    if pivots._a.shape != LU._a.shape[:-1]:
        raise RuntimeError(f"{op}: Number of pivots per batch should be same as the dimension of the matrix")
    meeting(op, LU._a.shape, B._a.shape, left)
    if not left:
        return conjugate_transpose(lu_solve(LU, pivots, conjugate_transpose(B), adjoint=not adjoint))
    order = call(ROWS["linalg_permutation"], (pivots,), rows=LU._a.shape[-1])
    batch = meeting(op, LU._a.shape, B._a.shape)[1]
    B, order = B.expand(batch), order.expand(batch[:-1])
    if not adjoint:
        B = call(ROWS["linalg_take"], (order, B))
        return solve_triangular(LU, solve_triangular(LU, B, upper=False, unitriangular=True), upper=True)
    turned = conjugate_transpose(LU)
    found = solve_triangular(turned, solve_triangular(turned, B, upper=False), upper=True, unitriangular=True)
    return by_columns(call(ROWS["linalg_place"], (order, found)))


# --------------------------------------------------------------------------------------------------------------------- LDL


def _on_host(function: Any, *tensors: Tensor) -> list[Tensor]:
    """Results of a function of host arrays, on the device of the first tensor. (CuPy has no LDL; the matrix crosses twice.)"""
    found = function(*[backend.to_host(x._a) for x in tensors])
    where = dispatch.device_of(tensors[0]._a)
    return [dispatch.move(dispatch.wrap(a), where) for a in (found if isinstance(found, tuple) else (found,))]


@public
def ldl_factor_ex(A: Tensor, *, hermitian: bool = False, check_errors: bool = False) -> Any:
    """``(LD, pivots, info)`` of symmetric (or Hermitian) matrices that need not be positive; reads the lower triangle. No gradient."""
    need_square("linalg.ldl_factor_ex", A)
    packed, pivots, info = _on_host(lambda a: matrices.ldl(a, hermitian), A)
    if check_errors:
        refuse("linalg.ldl_factor_ex", info, _BLOCK)
    return named("linalg_ldl_factor_ex", ("LD", "pivots", "info"))(packed, pivots, info)


_BLOCK = "The block of D at {info} is zero, and using it on ldl_solve would result in a division by zero."


@public
def ldl_factor(A: Tensor, *, hermitian: bool = False) -> Any:
    """``(LD, pivots)`` for ``ldl_solve``. Raises ``LinAlgError`` naming the first matrix that is singular, and its block."""
    packed, pivots, info = ldl_factor_ex(A, hermitian=hermitian)
    refuse("linalg.ldl_factor", info, _BLOCK)
    return named("linalg_ldl_factor", ("LD", "pivots"))(packed, pivots)


@public
def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False) -> Tensor:
    """The solution of ``A X = B`` from what ``ldl_factor`` gave for ``A``. No gradient."""
    op = "linalg.ldl_solve"
    need_square(op, LD, "LD")
    need_tensor(op, "pivots", 2, pivots)
    need_tensor(op, "B", 3, B)
    need_same_type(op, LD, B, "LD B")
    if pivots._a.dtype.kind != "i" or pivots._a.shape != LD._a.shape[:-1]:
        raise RuntimeError(f"{op}: Expected pivots to be integers of shape {list(LD._a.shape[:-1])}")
    left, right = meeting(op, LD._a.shape, B._a.shape)

    def solved(packed: Any, rows: Any, b: Any) -> Any:
        parts = np.broadcast_to(packed, left), np.broadcast_to(rows, left[:-1]), np.broadcast_to(b, right)
        return matrices.ldl_solve(*parts, hermitian)

    return _on_host(solved, LD, pivots, B)[0]


# ---------------------------------------------------------------------------------------------------------------------- QR


@public
def qr(A: Tensor, mode: str = "reduced") -> Any:
    """``(Q, R)`` with ``Q R = A``, orthonormal columns and an upper triangle; ``mode`` is ``"reduced"``, ``"complete"`` or ``"r"``.

    ``"r"`` leaves ``Q`` empty. ``R`` may have negative numbers on its diagonal.
    """
    need_matrix("linalg.qr", A)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'"
        )
    return named("linalg_qr", ("Q", "R"))(*call(ROWS["linalg_qr"], (A,), mode=mode))


def reflected(vectors: Tensor, tau: Tensor, x: Tensor, adjoint: bool) -> Tensor:
    """``Q x`` (or ``Q^H x``) for ``Q`` the product of the reflections ``1 - tau v v^H``, the vectors below the diagonal."""
    m, k = vectors._a.shape[-2], tau._a.shape[-1]
    below = tril(narrow(vectors, -1, 0, k), -1) + narrow(identity(vectors, max(m, k)), 1, 0, k)
    for i in range(k) if adjoint else reversed(range(k)):
        v = narrow(below, -1, i, 1)
        scale = narrow(tau, -1, i, 1).unsqueeze(-1)
        x = x - (scale.conj() if adjoint else scale) * (v @ (conjugate_transpose(v) @ x))
    return by_columns(x)


@public
def householder_product(A: Tensor, tau: Tensor) -> Tensor:
    """The first ``n`` columns of the product of reflections ``1 - tau_i v_i v_i^H``, whose vectors stand below the diagonal of ``A``."""
    op = "linalg.householder_product"
    need_matrix(op, A)
    need_same_type(op, A, tau, "input tau")
    m, n = A._a.shape[-2:]
    if m < n:
        raise RuntimeError(
            f"{op}: input.shape[-2] must be greater than or equal to input.shape[-1], but they are {m} and {n}"
        )
    if not tau._a.ndim or n < tau._a.shape[-1] or tau._a.shape[:-1] != A._a.shape[:-2]:
        raise RuntimeError(
            f"{op}: input.shape[-1] must be greater than or equal to tau.shape[-1], and the batches equal, but the shapes are "
            f"{list(A._a.shape)} and {list(tau._a.shape)}"
        )
    start = narrow(identity(A, m), 1, 0, n)
    start = start if A._a.ndim == 2 else start.expand(*A._a.shape[:-2], m, n)
    return reflected(A, tau, start, adjoint=False) + call(ROWS["zero"], (A,))
