"""Linear algebra under its older names, which are methods too. The newer ones are in ``tensorlab.linalg``."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np

from tensorlab.dispatch import call
from tensorlab.functional.arguments import need_tensor
from tensorlab.functional.pointwise import add, log, where
from tensorlab.functional.reductions import vector_norm
from tensorlab.functional.shapes import clone
from tensorlab.linalg import factors, norms, solving, spectral
from tensorlab.linalg import products as powers
from tensorlab.linalg.arguments import by_columns, conjugate_transpose, need_matrix, need_same_type, need_square, refuse
from tensorlab.ops import ROWS
from tensorlab.ops.linalg import identity, meeting
from tensorlab.return_types import named

Tensor = Any

#: Functions that are methods under the same name, with the tensor as their first argument.
METHODS = """
    cholesky cholesky_inverse cholesky_solve det geqrf inverse logdet lu lu_solve matrix_exp matrix_power norm ormqr orgqr pinverse qr
    slogdet svd triangular_solve
"""


def norm(
    input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, out: Any = None, dtype: Any = None
) -> Tensor:
    """The ``p``-norm of all elements, or over ``dim``: a number, ``inf``, ``-inf``, ``"fro"`` (2) or ``"nuc"`` (singular values).

    Its gradient where it is 0 is 0. ``linalg.norm``, ``vector_norm`` and ``matrix_norm`` say more plainly what they do.
    """
    if isinstance(p, str) and p not in ("fro", "nuc"):
        raise RuntimeError(f"norm(): only p='fro' and p='nuc' are known by name, got {p!r}")
    if p == "nuc":
        dims = tuple(range(input._a.ndim)) if dim is None else dim
        return norms.matrix_norm(input, "nuc", dims, keepdim, dtype=dtype)
    return vector_norm(input, 2 if p in ("fro", None) else p, dim, keepdim, dtype=dtype)


def det(input: Tensor) -> Tensor:
    """The determinants of square matrices."""
    return solving.det(input)


def slogdet(input: Tensor) -> Any:
    """The pair ``(sign, logabsdet)`` of determinants: ``det = sign * exp(logabsdet)``."""
    return named("slogdet", ("sign", "logabsdet"))(*solving.slogdet(input))


def logdet(input: Tensor) -> Tensor:
    """The logarithms of determinants; NaN where one is negative, ``-inf`` where one is 0."""
    sign, size = solving.slogdet(input)
    if sign._a.dtype.kind == "c":
        return add(log(sign), size)
    return where(sign == -1, size._zeros(()) + nan, size)


def inverse(input: Tensor) -> Tensor:
    """The inverses of square matrices. Raises ``LinAlgError`` naming the first that is singular."""
    return solving.inv(input)


def pinverse(input: Tensor, rcond: Any = 1e-15) -> Tensor:
    """The pseudoinverse; singular values up to ``rcond`` times the largest count as 0."""
    return spectral.pinv(input, rcond)


def matrix_exp(input: Tensor) -> Tensor:
    """``e`` to the power of square matrices."""
    return spectral.matrix_exp(input)


def matrix_power(input: Tensor, n: int) -> Tensor:
    """Square matrices to a whole power; a negative one is that of the inverse."""
    return powers.matrix_power(input, n)


# -------------------------------------------------------------------------------------------------------------- Cholesky


def cholesky(input: Tensor, upper: bool = False) -> Tensor:
    """The lower triangle ``L`` with ``L L^H = input`` for positive definite matrices (``U^H U = input`` with ``upper``)."""
    need_square("cholesky", input)
    found, info = call(ROWS["linalg_cholesky_ex"], (input,), upper=bool(upper))
    refuse("cholesky", info, factors._MINOR)
    return found


def cholesky_solve(input: Tensor, L: Tensor, upper: bool = False) -> Tensor:
    """The solution of ``A X = input`` where ``L`` is what ``cholesky`` gave for ``A``."""
    op = "cholesky_solve"
    need_same_type(op, input, L, "B L")
    need_square(op, L, "L")
    meeting(op, L._a.shape, input._a.shape)
    first = conjugate_transpose(L) if upper else L
    half = solving.solve_triangular(first, input, upper=False)
    return solving.solve_triangular(conjugate_transpose(first), half, upper=True)


def cholesky_inverse(L: Tensor, upper: bool = False) -> Tensor:
    """The inverse of ``A`` where ``L`` is what ``cholesky`` gave for it."""
    need_square("cholesky_inverse", L)
    return cholesky_solve(identity(L.detach(), L._a.shape[-1]), L, upper)


# ---------------------------------------------------------------------------------------------------------------------- LU


def lu(A: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:
    """``(LU, pivots)``, and with ``get_infos`` where a zero pivot was met, for ``lu_solve`` and ``lu_unpack``."""
    found = factors._factored(A, pivot)
    if not get_infos:
        refuse("lu", found[2], factors._ZERO)
    return tuple(found) if get_infos else tuple(found[:2])


def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """The solution of ``A X = input`` from what ``lu`` gave for ``A``."""
    return factors.lu_solve(LU_data, LU_pivots, input)


def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    """``(P, L, U)`` from what ``lu`` gave; empty tensors for what is not to be unpacked."""
    need_matrix("lu_unpack", LU_data, "LU_data")
    need_tensor("lu_unpack", "LU_pivots", 2, LU_pivots)
    if unpack_pivots and LU_pivots._a.dtype != np.int32:
        raise RuntimeError(
            f"lu_unpack: LU_pivots is expected to be a contiguous tensor of int32 dtype, not {LU_pivots.dtype.name}; give the pivots that "
            "linalg.lu_factor returned"
        )
    none = LU_data._zeros((0,))
    P = factors.permutation_matrix(LU_data, LU_pivots) if unpack_pivots else none
    return named("lu_unpack", ("P", "L", "U"))(P, *(factors.unpacked(LU_data) if unpack_data else (none, none)))


def triangular_solve(
    input: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """``(solution, cloned_coefficient)`` of ``A X = input``, reading one triangle of ``A``. ``linalg.solve_triangular`` is newer."""
    op = "triangular_solve"
    need_same_type(op, input, A, "b A")
    need_square(op, A)
    meeting(op, A._a.shape, input._a.shape)
    turned = A.mT if transpose else A
    found = solving.solve_triangular(turned, input, upper=upper != transpose, unitriangular=unitriangular)
    return named(op, ("solution", "cloned_coefficient"))(
        found, by_columns(clone(A.expand(*found._a.shape[:-2], *A._a.shape[-2:])))
    )


# ---------------------------------------------------------------------------------------------------- orthogonal factors


def qr(input: Tensor, some: bool = True) -> Any:
    """``(Q, R)`` with ``Q R = input``; all columns of ``Q`` unless ``some``."""
    return named("qr", ("Q", "R"))(*factors.qr(input, "reduced" if some else "complete"))


def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """``(U, S, V)`` with ``U diag(S) V^H = input``; all columns unless ``some``; zeros for ``U`` and ``V`` without ``compute_uv``."""
    made = named("svd", ("U", "S", "V"))
    if not compute_uv:
        (m, n), batch = input._a.shape[-2:], input._a.shape[:-2]
        return made(input._zeros((*batch, m, m)), spectral.svdvals(input), input._zeros((*batch, n, n)))
    U, S, Vh = spectral.svd(input, not some)
    return made(U, S, conjugate_transpose(Vh))


def geqrf(input: Tensor) -> Any:
    """``(a, tau)``: ``R`` with, below it, the vectors of the reflections whose product is ``Q``, and their scales. No gradient."""
    need_matrix("geqrf", input, "input")
    return named("geqrf", ("a", "tau"))(*call(ROWS["geqrf"], (input,)))


def orgqr(input: Tensor, tau: Tensor) -> Tensor:
    """The first columns of the product of the reflections that ``geqrf`` gave. ``linalg.householder_product`` is the newer name."""
    return factors.householder_product(input, tau)


def ormqr(input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False) -> Tensor:
    """``Q other`` for the product ``Q`` of the reflections that ``geqrf`` gave; ``left=False``: ``other Q``; ``transpose``: ``Q^H``."""
    op = "ormqr"
    need_matrix(op, input, "input")
    need_same_type(op, input, tau, "input tau")
    need_same_type(op, input, other, "input other")
    need_matrix(op, other, "other")
    m, side = input._a.shape[-2], other._a.shape[-2 if left else -1]
    if m < tau._a.shape[-1] or input._a.shape[-1] < tau._a.shape[-1]:
        raise RuntimeError(
            f"{op}: input.shape[-1] must be greater than or equal to tau.shape[-1], but got {input._a.shape[-1]}"
        )
    if tau._a.ndim != input._a.ndim - 1 or other._a.ndim != input._a.ndim:
        raise RuntimeError(
            f"{op}: Expected tau to have one dimension less than input and other as many, but got {input._a.ndim}, {tau._a.ndim} and "
            f"{other._a.ndim}"
        )
    if tau._a.shape[:-1] != input._a.shape[:-2] or other._a.shape[:-2] != input._a.shape[:-2]:
        raise RuntimeError(
            f"{op}: Expected batch dimensions of tau and other to be those of input, but the shapes are {list(input._a.shape)}, "
            f"{list(tau._a.shape)} and {list(other._a.shape)}"
        )
    if m != side:
        raise RuntimeError(
            f"{op}: other.shape[{-2 if left else -1}] must be equal to input.shape[-2], but they are {side} and {m}"
        )
    if left:
        return factors.reflected(input, tau, other, adjoint=transpose)
    return by_columns(
        conjugate_transpose(factors.reflected(input, tau, conjugate_transpose(other), adjoint=not transpose))
    )
