"""Independent formulas for rows of linear algebra, products and transforms: definitions, written out, with no factorisation behind them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np


def each(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of single matrices, for batches that broadcast."""

    def call(*arrays: Any, **attrs: Any) -> Any:
        batch = np.broadcast_shapes(*[a.shape[:-2] for a in arrays])
        spread = [np.broadcast_to(a, batch + a.shape[-2:]) for a in arrays]
        found = [function(*[a[at] for a in spread], **attrs) for at in np.ndindex(*batch)]
        if isinstance(found[0] if found else 0, tuple):
            return tuple(np.array(part).reshape(batch + np.shape(part[0])) for part in zip(*found, strict=True))
        return np.array(found).reshape(batch + np.shape(found[0])) if found else np.zeros(spread[0].shape)

    return call


def determinant(a: np.ndarray) -> Any:
    """Leibniz: signed products over all permutations."""
    n = len(a)
    total: Any = 0.0
    for order in itertools.permutations(range(n)):
        swaps = sum(order[i] > order[j] for i in range(n) for j in range(i + 1, n))
        total += (-1) ** swaps * math.prod([a[i, order[i]] for i in range(n)])
    return total


def minors(a: np.ndarray) -> np.ndarray:
    n = len(a)
    return np.array([
        [(-1) ** (i + j) * determinant(np.delete(np.delete(a, i, 0), j, 1)) for j in range(n)] for i in range(n)
    ])  # fmt: skip


def inverse(a: np.ndarray) -> np.ndarray:
    """Cramer: cofactors, transposed, over the determinant."""
    return minors(a).T / determinant(a) if len(a) else a


def triangle(a: np.ndarray, upper: bool, unitriangular: bool) -> np.ndarray:
    kept = np.triu(a) if upper else np.tril(a)
    if unitriangular:
        kept = kept - np.diag(np.diag(kept)) + np.eye(len(a))
    return kept


def cholesky(a: np.ndarray, upper: bool) -> np.ndarray:
    """Column by column, from the definition."""
    L = np.zeros_like(a)
    for j in range(len(a)):
        L[j, j] = math.sqrt(a[j, j] - sum(L[j, k] ** 2 for k in range(j)))
        for i in range(j + 1, len(a)):
            L[i, j] = (a[i, j] - sum(L[i, k] * L[j, k] for k in range(j))) / L[j, j]
    return L.T if upper else L


def exponential(a: np.ndarray) -> np.ndarray:
    """The power series of a 64th of the matrix, squared six times."""
    term, total = np.eye(len(a)), np.eye(len(a))
    for k in range(1, 40):
        term = term @ a / 64 / k
        total = total + term
    return np.linalg.matrix_power(total, 64)


def transform(a: np.ndarray, dim: int, sign: int) -> np.ndarray:
    """The sum that defines a Fourier transform along one dimension."""
    n = a.shape[dim]
    k = np.arange(n)
    table = np.exp(sign * 2j * np.pi * np.outer(k, k) / n)
    return np.moveaxis(np.tensordot(table, a, (1, dim)), 0, dim)


def scaled(a: np.ndarray, count: int, scale: str) -> np.ndarray:
    return a / {"1": 1, "sqrt": math.sqrt(count), "n": count}[scale]


def c2c(a: np.ndarray, dim: tuple[int, ...], scale: str, forward: bool) -> np.ndarray:
    count = math.prod([a.shape[d] for d in dim])
    for d in dim:
        a = transform(a, d, -1 if forward else 1)
    return scaled(a, count, scale)


def r2c(a: np.ndarray, dim: tuple[int, ...], scale: str, onesided: bool) -> np.ndarray:
    full = c2c(a, dim, scale, True)
    return np.take(full, range(a.shape[dim[-1]] // 2 + 1), dim[-1]) if onesided else full


def c2r(a: np.ndarray, dim: int, scale: str, n: int) -> np.ndarray:
    """The second half is the mirror image of the first, and the points that mirror themselves are real."""
    a = np.moveaxis(a, dim, -1)
    full = np.zeros((*a.shape[:-1], n), complex)
    for k in range(n):
        full[..., k] = a[..., k] if k <= n // 2 else a[..., n - k].conj()
        if k == 0 or 2 * k == n:
            full[..., k] = full[..., k].real
    return np.moveaxis(scaled(transform(full, full.ndim - 1, 1), n, scale).real, -1, dim)


def cdist(a: np.ndarray, b: np.ndarray, p: float, compute_mode: str) -> np.ndarray:
    off = np.abs(a[..., :, None, :] - b[..., None, :, :])
    return off.max(-1) if p == math.inf else (off**p).sum(-1) ** (1 / p)


def cross(a: np.ndarray, b: np.ndarray, dim: int = -1) -> np.ndarray:
    a, b = np.broadcast_arrays(a, b)
    return np.cross(a, b, axis=dim)


def roots(a: np.ndarray) -> np.ndarray:
    """Eigenvalues as roots of the characteristic polynomial."""
    return np.zeros(0) if not a.size else np.roots(np.poly(a)).astype(complex)


def placed(order: np.ndarray, rows: np.ndarray) -> np.ndarray:
    out = np.zeros_like(rows)
    for at in np.ndindex(*order.shape):
        out[(*at[:-1], order[at])] = rows[at]
    return out


def taken(order: np.ndarray, rows: np.ndarray) -> np.ndarray:
    out = np.zeros_like(rows)
    for at in np.ndindex(*order.shape):
        out[at] = rows[(*at[:-1], order[at])]
    return out


LINALG: dict[str, Callable[..., Any]] = {
    "addmv": lambda c, a, v, beta=1, alpha=1: beta * c + alpha * np.einsum("ij,j->i", a, v),
    "addr": lambda c, v, w, beta=1, alpha=1: beta * c + alpha * np.einsum("i,j->ij", v, w),
    "addbmm": lambda c, a, b, beta=1, alpha=1: beta * c + alpha * np.einsum("bij,bjk->ik", a, b),
    "baddbmm": lambda c, a, b, beta=1, alpha=1: beta * c + alpha * np.einsum("bij,bjk->bik", a, b),
    "vdot": lambda v, w: np.sum(v.conj() * w),
    "linalg_cross": cross,
    "cdist": cdist,
    "fft_c2c": c2c,
    "fft_r2c": r2c,
    "fft_c2r": c2r,
    "linalg_inv_ex": lambda a: (each(inverse)(a), np.zeros(a.shape[:-2])),
    "linalg_solve_ex": lambda a, b: (found := each(lambda a, b: inverse(a) @ b)(a, b), np.zeros(found.shape[:-2])),
    "linalg_solve_triangular": each(lambda a, b, upper, unitriangular: inverse(triangle(a, upper, unitriangular)) @ b),
    "linalg_det": each(determinant),
    "linalg_cofactor": each(minors),
    "linalg_slogdet": each(lambda a: (np.sign(determinant(a)), math.log(abs(determinant(a))))),
    "linalg_cholesky_ex": lambda a, upper: (each(cholesky)(a, upper=upper), np.zeros(a.shape[:-2])),
    "linalg_svdvals": each(lambda a: np.sqrt(np.sort(roots(a @ a.T if len(a) < a.shape[1] else a.T @ a).real)[::-1])),
    "linalg_eigvalsh": each(lambda a, UPLO: np.sort(roots(a).real)),
    "linalg_matrix_exp": each(exponential),
    "linalg_place": placed,
    "linalg_take": taken,
}
