"""Window functions under SciPy's names. ``sym`` is for filters; ``sym=False`` is one period of a longer window, for spectra.

All take ``dtype`` (float32 or float64), ``device`` and ``requires_grad``, and raise ``ValueError`` for other types or a negative size.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorlab import dtypes
from tensorlab import windows as formulas

__all__ = [
    "bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming", "hann", "kaiser",
    "nuttall",
]  # fmt: skip

Tensor = Any


def _made(
    op: str, formula: Any, M: int, sym: bool, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    kind = dtypes.default.float if dtype is None else dtypes.as_dtype(dtype)
    if M < 0:
        raise ValueError(f"{op} requires non-negative window length, got M={M}")
    if kind not in (dtypes.float32, dtypes.float64):
        raise ValueError(f"{op} expects float32 or float64 dtypes, got: {kind.name}")
    return formulas.made(formula, M, sym, kind, device, requires_grad)


def bartlett(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """A triangle, ``1 - |2 n / (M - 1) - 1|``."""
    return _made("bartlett", formulas.triangle, M, sym, **options)


def blackman(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """``0.42 - 0.5 cos(2π n / (M - 1)) + 0.08 cos(4π n / (M - 1))``."""
    return _made("blackman", formulas.cosines([0.42, 0.5, 0.08]), M, sym, **options)


def cosine(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """``sin(π (n + 1/2) / M)``."""
    return _made("cosine", lambda n, size: np.sin(np.pi * (n + 0.5) / size), M, sym, **options)


def exponential(M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True, **options: Any) -> Tensor:
    """``exp(-|n - center| / tau)``; ``center`` is the middle unless ``sym`` is false."""
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")

    def formula(n: np.ndarray, size: int) -> np.ndarray:
        return np.exp(-np.abs(n - ((size - 1) / 2 if center is None else center)) / tau)

    return _made("exponential", formula, M, sym, **options)


def gaussian(M: int, *, std: float = 1.0, sym: bool = True, **options: Any) -> Tensor:
    """``exp(-((n - (M - 1) / 2) / std)² / 2)``.

    >>> import tensorlab as tl
    >>> tl.signal.windows.gaussian(3, std=1.0)
    tensor([0.6065, 1.0000, 0.6065])
    """
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    return _made("gaussian", lambda n, size: np.exp(-(((n - (size - 1) / 2) / std) ** 2) / 2), M, sym, **options)


def general_cosine(M: int, *, a: Any, sym: bool = True, **options: Any) -> Tensor:
    """``Σ (-1)^i a_i cos(2π i n / (M - 1))`` with coefficients of one's own."""
    if not isinstance(a, (tuple, list)):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    return _made("general_cosine", formulas.cosines([float(x) for x in a]), M, sym, **options)


def general_hamming(M: int, *, alpha: float = 0.54, sym: bool = True, **options: Any) -> Tensor:
    """``alpha - (1 - alpha) cos(2π n / (M - 1))``."""
    return general_cosine(M, a=[alpha, 1.0 - alpha], sym=sym, **options)


def hamming(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """``0.54 - 0.46 cos(2π n / (M - 1))``."""
    return general_hamming(M, sym=sym, **options)


def hann(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """``0.5 - 0.5 cos(2π n / (M - 1))``."""
    return general_hamming(M, alpha=0.5, sym=sym, **options)


def kaiser(M: int, *, beta: float = 12.0, sym: bool = True, **options: Any) -> Tensor:
    """``I0(β sqrt(1 - (2 n / (M - 1) - 1)²)) / I0(β)``; a larger ``beta`` fades out faster."""
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    return _made("kaiser", formulas.kaiser(beta), M, sym, **options)


def nuttall(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """A sum of four cosines with low side lobes."""
    return general_cosine(M, a=[0.3635819, 0.4891775, 0.1365995, 0.0106411], sym=sym, **options)
