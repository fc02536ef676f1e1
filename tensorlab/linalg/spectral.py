"""Singular values, eigenvalues, and functions made of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorlab import dispatch
from tensorlab.dispatch import call
from tensorlab.functional.pointwise import abs, where
from tensorlab.functional.reductions import amax, sum
from tensorlab.linalg.arguments import need_matrix, need_square, public
from tensorlab.ops import ROWS
from tensorlab.ops.linalg import square
from tensorlab.return_types import named

Tensor = Any


@public
def svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> Any:
    """``(U, S, Vh)`` with ``U diag(S) Vh = A``, singular values falling; all of ``U`` and ``Vh`` unless ``full_matrices`` is false.

    Vectors are unique up to a common sign (phase) only, so gradients are for functions that do not depend on it. Raises
    ``LinAlgError`` where the matrix holds NaN.

    >>> import tensorlab as tl
    >>> tl.linalg.svd(tl.tensor([[0., 2.], [1., 0.]])).S
    tensor([2., 1.])
    """
    need_matrix("linalg.svd", A)
    _no_driver("linalg.svd", driver)
    return named("linalg_svd", ("U", "S", "Vh"))(*call(ROWS["linalg_svd"], (A,), full_matrices=bool(full_matrices)))


def _no_driver(op: str, driver: str | None) -> None:
    if driver is not None:
        raise RuntimeError(
            f"{op}: `driver=` chooses among methods of cuSOLVER, of which there is no choice here; leave it away"
        )


@public
def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """The singular values of matrices, falling."""
    need_matrix("linalg.svd", A)
    _no_driver("linalg.svdvals", driver)
    return call(ROWS["linalg_svdvals"], (A,))


def _triangle(UPLO: str) -> str:
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return UPLO.upper()


@public
def eigh(A: Tensor, UPLO: str = "L") -> Any:
    """``(eigenvalues, eigenvectors)`` of symmetric or Hermitian matrices, values rising, vectors in columns; reads one triangle.

    Vectors are unique up to a sign (phase) only, so gradients are for functions that do not depend on it.

    >>> import tensorlab as tl
    >>> tl.linalg.eigh(tl.tensor([[2., 0.], [0., 1.]])).eigenvalues
    tensor([1., 2.])
    """
    need_square("linalg.eigh", A)
    return named("linalg_eigh", ("eigenvalues", "eigenvectors"))(*call(ROWS["linalg_eigh"], (A,), UPLO=_triangle(UPLO)))


@public
def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """The eigenvalues of symmetric or Hermitian matrices, rising; reads one triangle."""
    need_square("linalg.eigh", A)
    return call(ROWS["linalg_eigvalsh"], (A,), UPLO=_triangle(UPLO))


@public
def eig(A: Tensor) -> Any:
    """``(eigenvalues, eigenvectors)`` of square matrices, complex, in no particular order, vectors of length 1 in columns."""
    need_square("linalg.eig", A)
    return named("linalg_eig", ("eigenvalues", "eigenvectors"))(*call(ROWS["linalg_eig"], (A,)))


@public
def eigvals(A: Tensor) -> Tensor:
    """The eigenvalues of square matrices, complex, in no particular order."""
    need_square("linalg.eig", A)
    return call(ROWS["linalg_eigvals"], (A,))


def _tolerances(op: str, A: Tensor, atol: Any, rtol: Any) -> tuple[Tensor, Tensor]:
    """Both tolerances as tensors: ``rtol`` is ``eps max(m, n)`` unless it is given or ``atol`` is above 0."""
    real = A._a.real.dtype
    usual = _number(A, float(np.finfo(real).eps) * max(A._a.shape[-2:]), real)
    found = []
    for name, value in (("atol", atol), ("rtol", rtol)):
        if isinstance(value, dispatch.Tensor):
            if value._a.dtype.kind == "c":
                raise RuntimeError(f"{op}: {name} tensor of complex type is not supported. Got {value.dtype.name}")
            value = dispatch.cast(value.detach(), real)
        elif value is not None:
            value = _number(A, float(value), real)
        found.append(value)
    first = _number(A, 0.0, real) if found[0] is None else found[0]
    second = found[1]
    if second is None:
        second = usual if found[0] is None else where(first > 0, _number(A, 0.0, real), usual)
    return first, second


def _number(A: Tensor, value: float, dtype: Any) -> Tensor:
    """A number beside a tensor, on its device."""
    return dispatch.move(dispatch.wrap(np.asarray(value, dtype)), dispatch.device_of(A._a))


@public
def pinv(A: Tensor, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Tensor:
    """The pseudoinverse (Moore and Penrose): the inverse of what ``A`` does not map to 0.

    Singular values up to ``max(atol, rtol * largest)`` count as 0; ``rtol`` (also ``rcond``) is ``eps * max(m, n)`` unless it is
    given. Tolerances may be tensors, one number a matrix. ``hermitian`` reads one triangle and works through eigenvalues.
    """
    need_matrix("linalg.pinv", A)
    if hermitian:
        need_square("linalg.pinv", A)
    tolerances = _tolerances("linalg.pinv", A, atol, rcond if rtol is None else rtol)
    return call(ROWS["linalg_pinv"], (A, *tolerances), hermitian=bool(hermitian))


@public
def matrix_rank(A: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Tensor:
    """How many singular values (eigenvalues in size, with ``hermitian``) are above ``max(atol, rtol * largest)``; ``tol`` is ``atol``."""
    op = "linalg.matrix_rank"
    need_matrix(op, A)
    A = A.detach()
    if tol is not None:
        atol, rtol = tol, 0.0
    first, second = _tolerances(op, A, atol, rtol)
    values = abs(eigvalsh(A)) if hermitian else svdvals(A)
    if not values._a.shape[-1]:
        return sum(values, -1).long()
    limit = where(first > second * amax(values, -1), first, second * amax(values, -1))
    return sum(values > limit.unsqueeze(-1), -1)


@public
def matrix_exp(A: Tensor) -> Tensor:
    """``e`` to the power of square matrices. Source: Higham (2005), "The scaling and squaring method for the matrix exponential".

    >>> import tensorlab as tl
    >>> tl.linalg.matrix_exp(tl.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    square("linalg.matrix_exp", A._a.shape)
    if A._a.dtype.kind in "biu":
        raise RuntimeError(
            f"linalg.matrix_exp: Expected a floating point or complex tensor as input. Got {A.dtype.name}; use .float()"
        )
    return call(ROWS["linalg_matrix_exp"], (A,))
