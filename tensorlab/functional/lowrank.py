"""A few singular values or eigenvalues of large matrices, with their vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorlab.functional.joining import cat, stack
from tensorlab.functional.pointwise import abs, sub
from tensorlab.functional.products import matmul
from tensorlab.functional.reductions import mean, vector_norm
from tensorlab.functional.shapes import flip, narrow, reshape
from tensorlab.linalg import factors, solving, spectral
from tensorlab.linalg.arguments import conjugate_transpose, need_square
from tensorlab.modes import no_grad
from tensorlab.random import randn

Tensor = Any


def _range(A: Tensor, q: int, niter: int, M: Tensor | None) -> Tensor:
    """An orthonormal basis of most of what ``A - M`` reaches."""

    def times(x: Tensor, turned: bool = False) -> Tensor:
        a, m = (conjugate_transpose(A), None if M is None else conjugate_transpose(M)) if turned else (A, M)
        return matmul(a, x) if m is None else sub(matmul(a, x), matmul(m, x))

    start = randn(A._a.shape[-1], q, dtype=A.dtype.to_real(), device=A.device).to(A.dtype)
    Q = factors.qr(times(start)).Q
    for _ in range(niter):
        Q = factors.qr(times(Q, turned=True)).Q
        Q = factors.qr(times(Q)).Q
    return Q


def svd_lowrank(A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None) -> tuple[Tensor, ...]:
    """``(U, S, V)`` with ``U diag(S) V^H`` near ``A - M``: the ``q`` largest singular values, found from random products.

    Source: Halko, Martinsson and Tropp (2009), "Finding structure with randomness". Draws from the default generator.
    """
    q, niter = 6 if q is None else q, 2 if niter is None else niter
    if niter > 1000:
        raise ValueError(
            f"niter(={niter}) counts rounds over the whole matrix: 2 are enough for most, 1000 are the most"
        )
    M = None if M is None else M.expand(A._a.shape)
    if A._a.shape[-2] < A._a.shape[-1]:
        U, S, V = svd_lowrank(conjugate_transpose(A), q, niter, None if M is None else conjugate_transpose(M))
        return V, S, U
    Q = _range(A, q, niter, M)
    B = matmul(conjugate_transpose(Q), A if M is None else sub(A, M))
    U, S, Vh = spectral.svd(B, False)
    return matmul(Q, U), S, conjugate_transpose(Vh)


def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> tuple[Tensor, ...]:
    """``(U, S, V)`` of the ``q`` main components of rows of ``A`` (6 at most, unless said), less their mean where ``center`` holds.

    Raises ``ValueError`` for a ``q`` that is larger than the matrix.
    """
    m, n = A._a.shape[-2:]
    q = min(6, m, n) if q is None else q
    if not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(sub(A, mean(A, -2, True)) if center else A, q, niter)


def lobpcg(
    A: Tensor,
    k: int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: int | None = None,
    iK: Tensor | None = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """The ``k`` largest (or smallest) eigenvalues of ``A x = λ B x`` and their vectors, found from products with ``A`` alone.

    ``A`` is symmetric or Hermitian, ``B`` positive definite. ``X`` holds first guesses in ``n`` columns, ``iK`` is a rough inverse of
    ``A`` that speeds things up. Ends after ``niter`` steps (1000 unless said) or when errors are below ``tol``. Where ``A`` requires
    grad all its eigenvalues are worked out, by ``linalg.eigh``. Raises ``ValueError`` for fewer than 3 rows an eigenvalue. Source:
    Knyazev (2001), "Toward the optimal preconditioned eigensolver".

    >>> import tensorlab as tl
    >>> values, vectors = tl.lobpcg(tl.diag(tl.arange(9.)), k=2)
    >>> tl.round(values)
    tensor([8., 7.])
    """
    need_square("lobpcg", A)
    m = A._a.shape[-1]
    k = (1 if X is None else X._a.shape[-1]) if k is None else k
    n = X._a.shape[-1] if X is not None else k if n is None else n
    if m < 3 * n:
        raise ValueError(
            f"LOBPCG algorithm is not applicable when the number of A rows (={m}) is smaller than 3 x the number of requested eigenpairs "
            f"(={n})"
        )
    if not 0 < k <= n:
        raise ValueError(f"lobpcg(): k(={k}) must be between 1 and n(={n})")
    largest = True if largest is None else largest
    limit = float(np.finfo(A._a.dtype).eps) ** 0.5 if tol is None else tol
    if B is None:
        return _eigenpairs(A, k, n, X, iK, 1000 if niter is None else niter, limit, largest)
    L = factors.cholesky(B)
    LH = conjugate_transpose(L)
    half = solving.solve_triangular(L, A, upper=False)  # L^-1 A L^-H has the same eigenvalues, and vectors L^H x
    whitened = conjugate_transpose(solving.solve_triangular(L, conjugate_transpose(half), upper=False))
    first = None if X is None else matmul(LH, X)
    rough = None if iK is None else matmul(matmul(LH, iK), L)
    values, vectors = _eigenpairs(whitened, k, n, first, rough, 1000 if niter is None else niter, limit, largest)
    return values, solving.solve_triangular(LH, vectors, upper=True)


def _eigenpairs(
    A: Tensor, k: int, n: int, X: Any, iK: Any, niter: int, tol: float, largest: bool
) -> tuple[Tensor, Tensor]:
    if A.requires_grad:
        values, vectors = spectral.eigh((A + conjugate_transpose(A)) / 2)
        return _best(values, vectors, k, largest)
    batch, m = A._a.shape[:-2], A._a.shape[-1]
    flat = reshape(A, (-1, m, m))
    found = []
    with no_grad():
        for i in range(flat._a.shape[0]):
            first = None if X is None else X.expand(*batch, m, n).reshape(-1, m, n)[i]
            rough = None if iK is None else iK.expand(*batch, m, m).reshape(-1, m, m)[i]
            found.append(_iterated(flat[i], k, n, first, rough, niter, tol, largest))
    values, vectors = (stack(list(parts)) for parts in zip(*found, strict=True))
    return reshape(values, (*batch, k)), reshape(vectors, (*batch, m, k))


def _best(values: Tensor, vectors: Tensor, k: int, largest: bool) -> tuple[Tensor, Tensor]:
    """The first ``k`` eigenpairs in the order asked for, of pairs whose values rise."""
    if not largest:
        return narrow(values, -1, 0, k), narrow(vectors, -1, 0, k)
    at = values._a.shape[-1] - k
    return flip(narrow(values, -1, at, k), (-1,)), flip(narrow(vectors, -1, at, k), (-1,))


def _iterated(
    A: Tensor, k: int, n: int, X: Any, iK: Any, niter: int, tol: float, largest: bool
) -> tuple[Tensor, Tensor]:
    """Steps for one matrix: the best of the space of guesses, what they miss by, and the last step's direction."""
    if X is None:
        X = randn(A._a.shape[-1], n, dtype=A.dtype.to_real(), device=A.device).to(A.dtype)
    space, step = factors.qr(X).Q, None
    size = vector_norm(A)
    while True:
        small = matmul(conjugate_transpose(space), matmul(A, space))
        values, mix = spectral.eigh(small)
        values, mix = _best(values, mix, n, largest)
        last, X = X, matmul(space, mix)
        if step is not None:
            step = sub(X, matmul(last, matmul(conjugate_transpose(last), X)))
        missed = sub(matmul(A, X), X * values)
        errors = vector_norm(missed, 2, 0) / (size + abs(values))
        if niter == 0 or bool((narrow(errors, 0, 0, k) < tol).all()):
            return narrow(values, 0, 0, k), narrow(X, 1, 0, k)
        niter -= 1
        towards = missed if iK is None else matmul(iK, missed)
        space = factors.qr(cat([X, towards] if step is None else [X, towards, step], 1)).Q
        step = X if step is None else step
