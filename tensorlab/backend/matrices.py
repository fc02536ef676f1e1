"""Linear algebra that NumPy and CuPy spell differently or leave to SciPy, for batches of matrices ``[..., m, n]``.

Everything runs where its arrays are. On the CPU it is LAPACK and BLAS through SciPy, one matrix at a time; on a GPU it is cuSOLVER
and cuBLAS through CuPy. Neither SciPy nor ``cupyx`` is loaded before it is needed.
"""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from functools import cache
from math import prod
from typing import Any

import numpy as np

from tensorlab import backend

INT32 = np.dtype(np.int32)


def raising(xp: Any) -> Any:
    """A context in which factorisations that fail raise ``numpy.linalg.LinAlgError``; CuPy would say nothing."""
    if xp is np:
        return nullcontext()
    import cupyx

    return cupyx.errstate(linalg="raise")


def failed(info: Any) -> bool:
    """Whether any matrix of a batch failed."""
    with backend.of(info).on(info):
        return bool(info.any())


def by_columns(xp: Any, a: Any) -> Any:
    """The same matrices, each laid out column by column, as LAPACK leaves them."""
    return xp.ascontiguousarray(a.swapaxes(-1, -2)).swapaxes(-1, -2)


def adjoint(a: Any) -> Any:
    """The conjugate transposes."""
    return a.swapaxes(-1, -2).conj() if a.dtype.kind == "c" else a.swapaxes(-1, -2)


@cache
def _routine(name: str, dtype: Any) -> Any:
    """A routine of LAPACK or BLAS for one type, through SciPy."""
    from scipy.linalg import get_blas_funcs, get_lapack_funcs

    return (get_blas_funcs if name == "trsm" else get_lapack_funcs)(name, dtype=dtype)


def _batch(a: Any) -> int:
    return prod(a.shape[:-2])


def lu(xp: Any, a: Any) -> tuple[Any, Any, Any]:
    """``L`` without its ones and ``U`` in one matrix, the row each row was exchanged with, and the first zero of ``U`` (from 1)."""
    batch, (m, n), k = a.shape[:-2], a.shape[-2:], min(a.shape[-2:])
    flat = a.reshape(_batch(a), m, n)
    packed = xp.empty((len(flat), n, m), a.dtype)  # column by column
    pivots = xp.zeros((len(flat), k), INT32)
    info = xp.zeros(len(flat), INT32)
    if a.size:
        factor = _lu_factor(xp, a.dtype)
        for i in range(len(flat)):
            found = factor(flat[i])
            packed[i] = found[0].T
            pivots[i] = found[1] + 1
        zero = packed.diagonal(0, 1, 2) == 0
        info = xp.where(zero.any(1), zero.argmax(1) + 1, 0).astype(INT32)
    packed = packed.reshape((*batch, n, m)).swapaxes(-1, -2)
    return packed, pivots.reshape((*batch, k)), info.reshape(batch)


def _lu_factor(xp: Any, dtype: Any) -> Any:
    if xp is np:
        return _routine("getrf", dtype)
    from cupyx.scipy.linalg import lu_factor

    def quietly(a: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            return lu_factor(a, check_finite=False)

    return quietly


def permutation(xp: Any, pivots: Any, m: int) -> Any:
    """Which row of ``L U`` each row comes from, by the exchanges that ``lu`` made: ``A[perm] = L U``."""
    batch, k = pivots.shape[:-1], pivots.shape[-1]
    count = prod(batch)
    rows, flat = xp.arange(count), pivots.reshape(count, k)
    order = xp.zeros((count, m), np.int64) + xp.arange(m)
    for i in range(k):
        j = flat[:, i] - 1
        here, there = order[:, i].copy(), order[rows, j]
        order[:, i] = there
        order[rows, j] = here
    return order.reshape((*batch, m))


def triangular(xp: Any, a: Any, b: Any, upper: bool, unit: bool) -> Any:
    """The solution of ``a x = b`` for triangular ``a``; both have the same batch. Zeros on the diagonal give inf and NaN."""
    if not b.size:
        return xp.zeros(b.shape, b.dtype)
    if xp is not np:
        from cupyx.scipy.linalg import solve_triangular

        return by_columns(xp, solve_triangular(a, b, lower=not upper, unit_diagonal=unit))
    solve = _routine("trsm", a.dtype)
    n, k = b.shape[-2:]
    left, right = a.reshape(_batch(a), n, n), b.reshape(_batch(b), n, k)
    found = np.empty((len(right), k, n), b.dtype)  # column by column
    for i in range(len(right)):
        found[i] = solve(1, left[i], right[i], lower=not upper, diag=unit).T
    return found.reshape((*b.shape[:-2], k, n)).swapaxes(-1, -2)


def cholesky(xp: Any, a: Any) -> tuple[Any, Any]:
    """The lower factor, and the order of the first leading minor that is not positive (0 where all are)."""
    try:
        with raising(xp):
            found = xp.linalg.cholesky(a) if a.size else xp.zeros(a.shape, a.dtype)
        if (found.diagonal(0, -2, -1).real > 0).all():
            return by_columns(xp, found), xp.zeros(a.shape[:-2], INT32)
    except np.linalg.LinAlgError:
        pass
    return _cholesky_by_columns(xp, a)


def _cholesky_by_columns(xp: Any, a: Any) -> tuple[Any, Any]:
    """A factorisation that notes where it fails, one column at a time for all matrices."""
    found, info = by_columns(xp, xp.tril(a)), xp.zeros(a.shape[:-2], INT32)
    for j in range(a.shape[-1]):
        done = found[..., j:, :j] @ found[..., j, :j, None].conj()
        column = a[..., j:, j] - done[..., 0]
        positive = column[..., 0].real > 0
        info = xp.where((info == 0) & ~positive, j + 1, info).astype(INT32)
        root = xp.sqrt(xp.where(positive, column[..., 0].real, 1))
        found[..., j:, j] = xp.where((info == 0)[..., None], column / root[..., None], a[..., j:, j])
    return found, info


def solve(xp: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """The solution of ``a x = b``, both with the same batch, and where a zero pivot was met (from 1; 0 for none)."""
    try:
        with raising(xp):
            found = xp.linalg.solve(a, b) if b.size else xp.zeros(b.shape, b.dtype)
        return by_columns(xp, found), xp.zeros(a.shape[:-2], INT32)
    except np.linalg.LinAlgError:
        packed, pivots, info = lu(xp, a)
    b = xp.take_along_axis(b, permutation(xp, pivots, a.shape[-1])[..., None], axis=-2)
    return triangular(xp, packed, triangular(xp, packed, b, upper=False, unit=True), upper=True, unit=False), info


def inverse(xp: Any, a: Any) -> tuple[Any, Any]:
    """The inverses, and where a zero pivot was met (from 1; 0 for none)."""
    try:
        with raising(xp):
            found = xp.linalg.inv(a) if a.size else xp.zeros(a.shape, a.dtype)
        return by_columns(xp, found), xp.zeros(a.shape[:-2], INT32)
    except np.linalg.LinAlgError:
        return solve(xp, a, xp.zeros(a.shape, a.dtype) + xp.eye(a.shape[-1], dtype=a.dtype))


#: Coefficients of the numerator of the rational approximation of degree 13. Source: Higham (2005), "The scaling and squaring method".
_PADE = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0, 10559470521600.0,
    670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip
_LARGEST = 5.371920351148152  # 1-norm up to which the approximation is exact to rounding


def exponential(xp: Any, a: Any) -> Any:
    """``e`` to the power of each matrix, by scaling, a rational function, and squaring."""
    if not a.size:
        return a.copy()
    size = xp.abs(a).sum(-2).max(-1)
    halvings = xp.ceil(xp.log2(xp.where(xp.isfinite(size), size, 1) / _LARGEST)).clip(0, None)
    a = a / (2**halvings).astype(a.real.dtype)[..., None, None]
    b = [a.dtype.type(c) for c in _PADE]
    one = xp.eye(a.shape[-1], dtype=a.dtype)
    two = a @ a
    four = two @ two
    six = two @ four
    odd = a @ (six @ (b[13] * six + b[11] * four + b[9] * two) + b[7] * six + b[5] * four + b[3] * two + b[1] * one)
    even = six @ (b[12] * six + b[10] * four + b[8] * two) + b[6] * six + b[4] * four + b[2] * two + b[0] * one
    found = xp.linalg.solve(even - odd, even + odd)
    for i in range(int(halvings.max())):
        found = xp.where((halvings > i)[..., None, None], found @ found, found)
    return found


def pseudoinverse(xp: Any, a: Any, atol: Any, rtol: Any, hermitian: bool) -> Any:
    """The inverse of what is larger than a tolerance: singular values (or eigenvalues, in size) above ``max(atol, rtol * largest)``."""
    if not a.size:
        return xp.zeros((*a.shape[:-2], a.shape[-1], a.shape[-2]), a.dtype)
    if hermitian:
        values, left = xp.linalg.eigh(a)
        right = adjoint(left)
    else:
        left, values, right = xp.linalg.svd(a, full_matrices=False)
    sizes = xp.abs(values)
    limit = xp.maximum(atol, rtol * sizes.max(-1))
    turned = xp.where(sizes > limit[..., None], 1 / values, 0).astype(a.dtype)
    return (adjoint(right) * turned[..., None, :]) @ adjoint(left)


def cofactors(xp: Any, a: Any) -> Any:
    """The derivative of the determinant for each element; of singular matrices too."""
    if not a.size:
        return a.copy()
    left, values, right = xp.linalg.svd(a)
    n = a.shape[-1]
    table = values[..., None, :] * (1 - xp.eye(n, dtype=values.dtype)) + xp.eye(n, dtype=values.dtype)
    phase = xp.linalg.det(left) * xp.linalg.det(right)
    others = table.prod(-1) * phase[..., None]
    return (left.conj() * others[..., None, :]) @ right.conj()


def ldl(a: np.ndarray, hermitian: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``L`` and the blocks of ``D`` in one matrix, LAPACK's exchanges, and the first zero block (from 1); on the CPU only."""
    factor = _routine("hetrf" if hermitian and a.dtype.kind == "c" else "sytrf", a.dtype)
    n, batch = a.shape[-1], a.shape[:-2]
    flat = a.reshape(_batch(a), n, n)
    packed, pivots = np.empty(flat.shape, a.dtype), np.zeros(flat.shape[:-1], INT32)
    info = np.zeros(len(flat), INT32)
    for i in range(len(flat) if n else 0):
        found, pivots[i], info[i] = factor(flat[i], lower=1)
        packed[i] = np.tril(found).T
    return packed.reshape(a.shape).swapaxes(-1, -2), pivots.reshape((*batch, n)), info.reshape(batch)


def ldl_solve(packed: np.ndarray, pivots: np.ndarray, b: np.ndarray, hermitian: bool) -> np.ndarray:
    """The solution of ``A x = b`` from what ``ldl`` gave, all with the same batch; on the CPU only."""
    finish = _routine("hetrs" if hermitian and packed.dtype.kind == "c" else "sytrs", packed.dtype)
    n, k = b.shape[-2:]
    flat, rows, right = packed.reshape(_batch(b), n, n), pivots.reshape(_batch(b), n), b.reshape(_batch(b), n, k)
    found = np.empty((len(right), k, n), b.dtype)
    for i in range(len(right) if b.size else 0):
        found[i] = finish(flat[i], rows[i], right[i], lower=1)[0].T
    return found.reshape((*b.shape[:-2], k, n)).swapaxes(-1, -2)
