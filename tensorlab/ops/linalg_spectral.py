"""Orthogonal and spectral factors of batches of matrices: QR, singular values, eigenvalues, what is made of them.

Factors are unique up to signs (phases of complex ones), so only functions that do not depend on those have gradients. Sources: Giles
(2008); Walter and Lehmann (2010), "Algorithmic differentiation of linear algebra functions"; Wan and Zhang (2019) for complex SVD.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorlab import backend
from tensorlab.backend import matrices
from tensorlab.backend.matrices import by_columns
from tensorlab.ops.linalg import (
    NONE,
    adjoint,
    cubic,
    diagonal_matrix,
    half_diagonal,
    identity,
    linalg_row,
    matrix,
    regular,
    solved,
    square,
    symmetric,
)
from tensorlab.ops.table import NO_GRAD, nothing, row

Shape = tuple[int, ...]

# --------------------------------------------------------------------------------------------------------------------- QR


def _qr(xp: Any, a: Any, mode: str) -> Any:
    if mode == "r":
        return xp.zeros(0, a.dtype), by_columns(xp, xp.linalg.qr(a, mode="r"))
    q, r = xp.linalg.qr(a, mode=mode)
    return by_columns(xp, q), by_columns(xp, r)


def _qr_shape(shapes: Sequence[Shape], mode: str) -> list[Shape]:
    *batch, m, n = matrix("linalg.qr", shapes[0])
    k = m if mode == "complete" else min(m, n)
    return [(0,) if mode == "r" else (*batch, m, k), (*batch, k, n)]


def _qr_grad(grads: Any, needs: Any, Q: Any, R: Any, mode: str) -> list[Any]:
    gQ, gR = grads
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, mode='reduced') if "
            "you are going to require gradients through it."
        )
    m, k, n = Q.shape[-2], Q.shape[-1], R.shape[-1]
    if mode == "complete" and m > n:
        raise RuntimeError(
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols: the columns of Q past the rank of A are "
            "not unique. Use mode='reduced'."
        )
    more = None
    if n > k:  # A = [Q R1, Q R2]: the part of Q that R2 = Qᴴ A2 adds, then as if A were square
        R1, R2 = R.narrow(-1, 0, k), R.narrow(-1, k, n - k)
        if gR is not None:
            of_rest, gR = gR.narrow(-1, k, n - k), gR.narrow(-1, 0, k)
            more = Q @ of_rest
            gQ = Q @ R2 @ adjoint(of_rest) + (0 if gQ is None else gQ)
        R = R1
    inner = 0 if gR is None else R @ adjoint(gR)
    inner = inner - (0 if gQ is None else adjoint(gQ) @ Q)
    half = half_diagonal(inner)
    hermitian = half + adjoint(half)
    total = Q @ hermitian + (0 if gQ is None else gQ)
    found = adjoint(R._op("linalg_solve_triangular", adjoint(total), upper=True, unitriangular=False))
    if n > k:
        more = Q._zeros((*Q.shape[:-1], n - k)) if more is None else more
        found = found._op("cat", more, dim=len(found.shape) - 1, sizes=(k, n - k))
    return [found]


_qr_row = linalg_row(
    "linalg_qr",
    "self",
    "linalg.qr",
    _qr,
    _qr_shape,
    grad=_qr_grad,
    formula="Q · R = self, Qᴴ · Q = 1, R an upper triangle",
    derivatives={
        "self": "(grad_Q + Q · H) · R⁻ᴴ, H the Hermitian matrix with the lower triangle of R · grad_Rᴴ − grad_Qᴴ · Q"
    },
    cost=cubic(4),
    samples=lambda t: [
        ((regular(t, 3, 3),), {"mode": "reduced"}),
        ((regular(t, 2, 4, 3),), {"mode": "reduced"}),
        ((regular(t, 2, 3, 4),), {"mode": "complete"}),
    ],
    results="Q R",
)


def _geqrf(xp: Any, a: Any) -> Any:
    h, tau = xp.linalg.qr(a, mode="raw")
    return xp.ascontiguousarray(h).swapaxes(-1, -2), tau


geqrf = linalg_row(
    "geqrf",
    "self",
    "geqrf",
    _geqrf,
    lambda shapes: [matrix("geqrf", shapes[0]), (*shapes[0][:-2], min(shapes[0][-2:]))],
    grad=NO_GRAD("reflectors are a form in between; linalg.qr has gradients"),
    formula="a = R and the reflectors whose product is Q; tau = their scales",
    cost=cubic(2),
    samples=lambda t: [((regular(t, 3, 3),), {}), ((regular(t, 2, 4, 3),), {})],
    results="a tau",
)

# ----------------------------------------------------------------------------------------------------------- singular values


def _svd(xp: Any, a: Any, full_matrices: bool) -> Any:
    u, s, vh = xp.linalg.svd(a, full_matrices=full_matrices)
    return by_columns(xp, u), s, by_columns(xp, vh)


def _svd_shape(shapes: Sequence[Shape], full_matrices: bool) -> list[Shape]:
    *batch, m, n = matrix("linalg.svd", shapes[0])
    k = min(m, n)
    return [(*batch, m, m if full_matrices else k), (*batch, k), (*batch, n if full_matrices else k, n)]


def _of_phase(op: str, turn: Any) -> None:
    """Refuse a gradient that depends on the free phase of a vector: ``turn`` would be 0."""
    if turn._a.dtype.kind == "c" and turn._a.size:
        with backend.of(turn._a).on(turn._a):
            size = float(abs(turn._a.imag).max())
        if size > 1e-2:
            raise RuntimeError(
                f"{op}_backward: The vectors in the complex case are specified up to multiplication by e^(i phi). The loss depends on "
                f"this phase (by {size:.2g}), making its gradient ill-defined; use abs() or products that do not, such as V diag(x) V^H."
            )


def _skew(x: Any) -> Any:
    return x - adjoint(x)


def _svd_grad(grads: Any, needs: Any, U: Any, S: Any, Vh: Any) -> list[Any]:
    gU, gS, gVh = grads
    m, n, k = U.shape[-2], Vh.shape[-1], S.shape[-1]
    U, Vh = U.narrow(-1, 0, k), Vh.narrow(-2, 0, k)
    gU = None if gU is None else gU.narrow(-1, 0, k)
    gVh = None if gVh is None else gVh.narrow(-2, 0, k)
    if gU is None and gVh is None:
        return [(U * gS.unsqueeze(-2)) @ Vh]
    gap = (S * S).unsqueeze(-2) - (S * S).unsqueeze(-1) + identity(S, k)
    inner = 0 if gS is None else diagonal_matrix(gS)
    left = None if gU is None else adjoint(U) @ gU
    right = None if gVh is None else Vh @ adjoint(gVh)
    if U._a.dtype.kind == "c":
        one, two = (nothing(S) if x is None else x.diagonal(0, -2, -1) for x in (left, right))
        _of_phase("svd", one + two)
        turn = one - two
        inner = inner + diagonal_matrix((turn - turn.conj()) / (4 * S))
    if left is not None:
        inner = inner + _skew(left) / gap * S.unsqueeze(-2)
    if right is not None:
        inner = inner + S.unsqueeze(-1) * (_skew(right) / gap)
    found = U @ inner @ Vh
    if gU is not None and m > k:
        outside = gU / S.unsqueeze(-2)
        found = found + (outside - U @ (adjoint(U) @ outside)) @ Vh
    if gVh is not None and n > k:
        outside = gVh / S.unsqueeze(-1)
        found = found + U @ (outside - (outside @ adjoint(Vh)) @ Vh)
    return [found]


svd = linalg_row(
    "linalg_svd",
    "self",
    "linalg.svd",
    _svd,
    _svd_shape,
    grad=_svd_grad,
    formula="U · diag(S) · Vh = self, Uᴴ · U = Vh · Vhᴴ = 1, S falling",
    derivatives={
        "self": "U · (skew(Uᴴ · grad_U) ÷ (sⱼ² − sᵢ²) · S + S · skew(Vh · grad_Vhᴴ) ÷ (sⱼ² − sᵢ²) + grad_S) · Vh + parts outside"
    },
    cost=cubic(20),
    samples=lambda t: [
        ((t(3, 3),), {"full_matrices": False}),
        ((t(2, 4, 2),), {"full_matrices": False}),
        ((t(2, 4),), {"full_matrices": False}),
    ],
    results="U S Vh",
)


def _svdvals_grad(g: Any, self: Any) -> Any:
    u, _, vh = self._op("linalg_svd", full_matrices=False)
    return (u * g.unsqueeze(-2)) @ vh


svdvals = linalg_row(
    "linalg_svdvals",
    "self",
    "linalg.svd",
    lambda xp, a: xp.linalg.svd(a, compute_uv=False),
    lambda shapes: (*matrix("linalg.svd", shapes[0])[:-2], min(shapes[0][-2:])),
    grad={"self": _svdvals_grad},
    formula="result = singular values of self, falling",
    derivatives={"self": "U · diag(grad) · Vh"},
    cost=cubic(4),
    samples=lambda t: [((t(3, 3),), {}), ((t(2, 4, 2),), {}), ((t(0, 3),), {})],
    node="LinalgSvdBackward0",
)

# ---------------------------------------------------------------------------------------------------------------- eigenvalues


def _eigh(xp: Any, a: Any, UPLO: str) -> Any:
    w, v = xp.linalg.eigh(a, UPLO)
    return w, by_columns(xp, v)


def _eigh_grad(grads: Any, needs: Any, eigenvalues: Any, eigenvectors: Any) -> list[Any]:
    of_values, of_vectors = grads
    V = eigenvectors
    if of_vectors is None:
        return [(V * of_values.unsqueeze(-2)) @ adjoint(V)]
    turn = adjoint(V) @ of_vectors
    _of_phase("linalg_eigh", turn.diagonal(0, -2, -1))
    n = V.shape[-1]
    gap = eigenvalues.unsqueeze(-2) - eigenvalues.unsqueeze(-1) + identity(eigenvalues, n)
    inner = turn / gap
    inner = inner - diagonal_matrix(inner.diagonal(0, -2, -1))
    inner = inner + (0 if of_values is None else diagonal_matrix(of_values))
    return [V @ inner @ adjoint(V)]


eigh = linalg_row(
    "linalg_eigh",
    "self",
    "linalg.eigh",
    _eigh,
    lambda shapes, UPLO: [square("linalg.eigh", shapes[0])[:-1], tuple(shapes[0])],
    grad=_eigh_grad,
    formula="V · diag(λ) · Vᴴ = self, reading one triangle of self, λ rising",
    derivatives={"self": "V · (diag(grad_λ) + (Vᴴ · grad_V) ÷ (λⱼ − λᵢ)) · Vᴴ"},
    cost=cubic(9),
    samples=lambda t: [((symmetric(t, 3, 3),), {"UPLO": "L"}), ((symmetric(t, 2, 2, 2),), {"UPLO": "U"})],
    results="eigenvalues eigenvectors",
)


def _eigvalsh_grad(g: Any, self: Any, UPLO: str) -> Any:
    _, V = self._op("linalg_eigh", UPLO=UPLO)
    return (V * g.unsqueeze(-2)) @ adjoint(V)


eigvalsh = linalg_row(
    "linalg_eigvalsh",
    "self",
    "linalg.eigh",
    lambda xp, a, UPLO: xp.linalg.eigvalsh(a, UPLO),
    lambda shapes, UPLO: square("linalg.eigh", shapes[0])[:-1],
    grad={"self": _eigvalsh_grad},
    formula="result = eigenvalues of self, reading one triangle of it, rising",
    derivatives={"self": "V · diag(grad) · Vᴴ"},
    cost=cubic(4),
    samples=lambda t: [((symmetric(t, 3, 3),), {"UPLO": "L"})],
    node="LinalgEighBackward0",
)


def _complex(a: Any) -> Any:
    return np.result_type(a.dtype, np.complex64)


def _eig(xp: Any, a: Any) -> Any:
    w, v = xp.linalg.eig(a)
    return w.astype(_complex(a)), by_columns(xp, v.astype(_complex(a)))


def _eig_grad(grads: Any, needs: Any, eigenvalues: Any, eigenvectors: Any) -> list[Any]:
    of_values, of_vectors = grads
    V = eigenvectors
    if of_vectors is None:
        return [solved(adjoint(V), diagonal_matrix(of_values) @ adjoint(V))]
    turn = adjoint(V) @ of_vectors
    diagonal = turn.diagonal(0, -2, -1)
    _of_phase("linalg_eig", diagonal)
    length = (diagonal + diagonal.conj()) / 2
    gap = (eigenvalues.unsqueeze(-2) - eigenvalues.unsqueeze(-1)).conj() + identity(V, V.shape[-1])
    inner = (turn - (adjoint(V) @ V) * length.unsqueeze(-2)) / gap
    inner = inner - diagonal_matrix(inner.diagonal(0, -2, -1))
    inner = inner + (0 if of_values is None else diagonal_matrix(of_values))
    return [solved(adjoint(V), inner @ adjoint(V))]


eig = linalg_row(
    "linalg_eig",
    "self",
    "linalg.eig",
    _eig,
    lambda shapes: [square("linalg.eig", shapes[0])[:-1], tuple(shapes[0])],
    grad=_eig_grad,
    formula="self · V = V · diag(λ), columns of V of length 1, complex",
    derivatives={"self": "V⁻ᴴ · (diag(grad_λ) + (Vᴴ · grad_V − Vᴴ · V · Re diag(Vᴴ · grad_V)) ÷ (λⱼ − λᵢ)*) · Vᴴ"},
    cost=cubic(25),
    samples=lambda t: [((t(3, 3),), {}), ((t(2, 2, 2),), {})],
    results="eigenvalues eigenvectors",
)


def _eigvals_grad(g: Any, self: Any) -> Any:
    _, V = self._op("linalg_eig")
    return solved(adjoint(V), diagonal_matrix(g) @ adjoint(V))


eigvals = linalg_row(
    "linalg_eigvals",
    "self",
    "linalg.eig",
    lambda xp, a: xp.linalg.eigvals(a).astype(_complex(a)),
    lambda shapes: square("linalg.eig", shapes[0])[:-1],
    grad={"self": _eigvals_grad},
    formula="result = eigenvalues of self, complex",
    derivatives={"self": "V⁻ᴴ · diag(grad) · Vᴴ"},
    cost=cubic(10),
    samples=lambda t: [((t(3, 3),), {}), ((t(2, 2, 2),), {})],
    node="LinalgEigBackward0",
)

# --------------------------------------------------------------------------------------------------- functions of matrices


def _pinv_grad(g: Any, self: Any, result: Any) -> Any:
    """Golub and Pereyra (1973); the longer side decides which products are small."""
    m, n = self.shape[-2:]
    P, G = result, adjoint(g)
    PH = adjoint(P)
    if m <= n:
        K = G @ P
        KPH = K @ PH
        return -adjoint(P @ K) + KPH - (self @ P) @ KPH + (PH @ P) @ (G - K @ self)
    K = P @ G
    PHK = PH @ K
    return -adjoint(K @ P) + (G - self @ K) @ P @ PH + PHK - (PHK @ P) @ self


pinv = linalg_row(
    "linalg_pinv",
    "self atol rtol",
    "linalg.pinv",
    matrices.pseudoinverse,
    lambda shapes, hermitian: (*matrix("linalg.pinv", shapes[0])[:-2], shapes[0][-1], shapes[0][-2]),
    grad={"self": _pinv_grad},
    formula="result = V · diag(1 ÷ s where s > max(atol, rtol · largest s)) · Uᴴ",
    derivatives={"self": "the derivative of self⁻¹ inside the space that self reaches, and of that space"},
    cost=cubic(22),
    samples=lambda t: [
        ((t(3, 3), _tolerance(t), _tolerance(t)), {"hermitian": False}),
        ((t(2, 4, 2), _tolerance(t), _tolerance(t)), {"hermitian": False}),
        ((t(2, 4), _tolerance(t), _tolerance(t)), {"hermitian": False}),
    ],
)


def _tolerance(t: Any) -> Any:
    return t(low=0.0, high=1e-9).detach()


def _exponential_grad(g: Any, self: Any) -> Any:
    """The upper right part of the exponential of ``[[selfᴴ, grad], [0, selfᴴ]]`` (Najfeld and Havel, 1995)."""
    n = self.shape[-1]
    A, dim = adjoint(self), len(self.shape) - 1
    above = A._op("cat", g, dim=dim, sizes=(n, n))
    below = A._zeros(tuple(A.shape))._op("cat", A, dim=dim, sizes=(n, n))
    both = above._op("cat", below, dim=dim - 1, sizes=(n, n))._op("linalg_matrix_exp")
    return both.narrow(-2, 0, n).narrow(-1, n, n)


def _exponential(xp: Any, a: Any) -> Any:
    if a.dtype.itemsize == 2:
        return matrices.exponential(xp, a.astype(np.float32)).astype(a.dtype)
    return matrices.exponential(xp, a)


matrix_exp = row(
    "linalg_matrix_exp",
    "self",
    forward=_exponential,
    infer=lambda shapes: square("linalg.matrix_exp", shapes[0]),
    grad={"self": _exponential_grad},
    formula="result = Σ selfᵏ ÷ k!",
    derivatives={"self": "upper right part of exp [[selfᴴ, grad], [0, selfᴴ]]"},
    onnx=NONE,
    cost=cubic(20),
    samples=lambda t: [((t(3, 3),), {}), ((t(2, 2, 2, low=-20.0, high=1.0),), {}), ((t(1, 1),), {})],
    holomorphic=False,
)
