"""Linear algebra of the stand-in for CuPy: NumPy's and SciPy's own, with CuPy's narrower terms.

Arrays are the device's, of the four types that cuSOLVER knows. A factorisation that fails says nothing and leaves NaN, unless
``errstate(linalg="raise")`` is on. ``solve`` does not broadcast, LU takes one matrix, ``eigh`` and the like reject 16 bits.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import scipy.linalg

from tests.device import double_fft
from tests.device.double import made, ndarray, plain

TYPES = ("float32", "float64", "complex64", "complex128")


class State:
    """Whether factorisations that fail raise."""

    linalg = "ignore"


@contextlib.contextmanager
def errstate(*, linalg: str) -> Iterator[None]:
    """``cupyx.errstate``, as far as it concerns linear algebra."""
    before, State.linalg = State.linalg, linalg
    try:
        yield
    finally:
        State.linalg = before


def _taken(*arrays: Any) -> list[np.ndarray]:
    for a in arrays:
        if not isinstance(a, ndarray):
            raise np.linalg.LinAlgError("cupy.linalg only supports cupy.ndarray")
        if a.ndim < 2:
            raise np.linalg.LinAlgError(f"{a.ndim}-dimensional array given. Array must be at least two-dimensional")
        if a.dtype.name not in TYPES:
            raise TypeError(f"{a.dtype} is unsupported in linalg")
    return [plain(a) for a in arrays]


def _run(function: Any, *arrays: Any, **options: Any) -> Any:
    """A result of NumPy's on the device; NaN everywhere where it failed and nobody asked to hear of it."""
    hosts = _taken(*arrays)
    try:
        with np.errstate(all="ignore"):
            found = function(*hosts, **options)
    except np.linalg.LinAlgError:
        if State.linalg == "raise":
            raise
        with np.errstate(all="ignore"):
            found = function(
                *[np.broadcast_to(np.eye(*a.shape[-2:], dtype=a.dtype), a.shape) for a in hosts], **options
            )
        found = tuple(part * np.nan for part in found) if isinstance(found, tuple) else found * np.nan
    return tuple(made(part, fresh=True) for part in found) if isinstance(found, tuple) else made(found, fresh=True)


def solve(a: ndarray, b: ndarray) -> ndarray:
    if a.shape[:-1] != b.shape[:-1]:
        raise ValueError("a must have (..., M, M) shape and b must have (..., M, K) for multidimensional b")
    return _run(np.linalg.solve, a, b)


def qr(a: ndarray, mode: str = "reduced") -> Any:
    if mode not in ("reduced", "complete", "r", "raw"):
        raise ValueError(f"Unrecognized mode '{mode}'")
    return _run(np.linalg.qr, a, mode=mode)


def svd(a: ndarray, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    return _run(np.linalg.svd, a, full_matrices=full_matrices, compute_uv=compute_uv)


def eigh(a: ndarray, UPLO: str = "L") -> Any:
    return _run(np.linalg.eigh, a, UPLO=UPLO)


def eigvalsh(a: ndarray, UPLO: str = "L") -> ndarray:
    return _run(np.linalg.eigvalsh, a, UPLO=UPLO)


def eig(a: ndarray) -> Any:
    found = _run(np.linalg.eig, a)
    return tuple(part.astype(np.result_type(a.dtype, np.complex64)) for part in found)


def eigvals(a: ndarray) -> ndarray:
    return _run(np.linalg.eigvals, a).astype(np.result_type(a.dtype, np.complex64))


def module() -> ModuleType:
    """``cupy.linalg``."""
    found = ModuleType("cupy.linalg")
    for name in ("inv", "cholesky", "det", "slogdet"):
        found.__dict__[name] = (lambda theirs: lambda a: _run(theirs, a))(getattr(np.linalg, name))
    for function in (solve, qr, svd, eigh, eigvalsh, eig, eigvals):
        found.__dict__[function.__name__] = function
    return found


# ------------------------------------------------------------------------------------------------------ cupyx.scipy.linalg


def lu_factor(a: ndarray, overwrite_a: bool = False, check_finite: bool = True) -> tuple[ndarray, ndarray]:
    """Of one matrix; warns where it is singular."""
    (host,) = _taken(a)
    if host.ndim != 2:
        raise np.linalg.LinAlgError(f"{host.ndim}-dimensional array given. Array must be two-dimensional")
    packed, pivots, info = scipy.linalg.get_lapack_funcs("getrf", (host,))(host)
    if info > 0:
        warnings.warn(f"Diagonal number {info} is exactly zero. Singular matrix.", RuntimeWarning, stacklevel=2)
    return made(packed, fresh=True, keep=True), made(pivots.astype(np.intc), fresh=True)


def solve_triangular(
    a: ndarray,
    b: ndarray,
    trans: Any = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = False,
) -> ndarray:
    """Of one matrix or a batch of them, as CuPy's, which differs from SciPy's in that."""
    left, right = _taken(a, b)
    if left.shape[:-1] != right.shape[:-1]:
        raise ValueError("incompatible dimensions")
    if not left.size:
        raise ValueError("nothing to launch")
    found = np.empty(right.shape, right.dtype)
    run = scipy.linalg.get_blas_funcs("trsm", (left,))
    for at in np.ndindex(*left.shape[:-2]):
        found[at] = run(1, left[at], right[at], lower=lower, diag=unit_diagonal)
    return made(found, fresh=True)


def install(cupy: Any, cupyx: Any, cupyx_scipy: Any) -> dict[str, ModuleType]:
    """Put linear algebra and Fourier transforms where CuPy has them; the modules that are imported by name."""
    found = ModuleType("cupyx.scipy.linalg")
    found.__dict__.update(lu_factor=lu_factor, solve_triangular=solve_triangular)
    cupy.linalg, cupy.fft, cupyx.errstate, cupyx_scipy.linalg = module(), double_fft.module(), errstate, found
    return {found.__name__: found}
