"""Window functions: weights that fade a stretch of a signal out towards its ends.

All are worked out in float64 and rounded once. Sources of the formulas: Harris (1978), "On the use of windows for harmonic analysis
with the discrete Fourier transform"; Nuttall (1981), "Some windows with very good sidelobe behavior".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorlab import dtypes
from tensorlab.creation import allocate, finish

Tensor = Any
Formula = Callable[[np.ndarray, int], np.ndarray]


def cosines(coefficients: Sequence[float]) -> Formula:
    """``Σ (-1)^i a_i cos(2π i n / (N - 1))``."""

    def formula(n: np.ndarray, size: int) -> np.ndarray:
        turns = 2 * np.pi * n / (size - 1)
        parts = [(-1) ** i * a * np.cos(i * turns) for i, a in enumerate(coefficients)]
        return np.sum(parts, axis=0)

    return formula


def triangle(n: np.ndarray, size: int) -> np.ndarray:
    """``1 - |2 n / (N - 1) - 1|``."""
    return 1 - np.abs(2 * n / (size - 1) - 1)


def kaiser(beta: float) -> Formula:
    """``I0(β sqrt(1 - (2 n / (N - 1) - 1)²)) / I0(β)`` with the modified Bessel function of order 0."""
    return lambda n, size: np.i0(beta * np.sqrt(np.clip(1 - (2 * n / (size - 1) - 1) ** 2, 0, None))) / np.i0(beta)


def made(formula: Formula, size: int, symmetric: bool, dtype: dtypes.dtype, device: Any, requires_grad: bool) -> Tensor:
    """A window of ``size`` points; one that is not symmetric is a symmetric one of one point more, without its last."""
    if size <= 1:
        return finish(np.ones(size, dtype.np), requires_grad, device)
    values = formula(
        allocate(lambda n, kind: np.arange(n[0], dtype=kind), (size,), np.dtype(np.float64)),
        size if symmetric else size + 1,
    )
    return finish(values.astype(dtype.np), requires_grad, device)


def _window(
    op: str, formula: Formula, size: int, periodic: bool, dtype: Any, device: Any, requires_grad: bool
) -> Tensor:
    kind = dtypes.default.float if dtype is None else dtypes.as_dtype(dtype)
    if kind.is_complex:
        raise NotImplementedError(f'"{op}" not implemented for {kind.name}; windows are real, use .to({kind.name})')
    if not kind.is_floating_point:
        raise RuntimeError(f"{op} expects floating point dtypes, got: {kind.name}")
    if size < 0:
        raise RuntimeError(f"{op} requires non-negative window_length, got window_length={size}")
    return made(formula, size, not periodic, kind, device, requires_grad)


def hann_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Hann window, ``0.5 - 0.5 cos(2π n / N)``. ``periodic`` is for spectra; without it both ends are equal.

    >>> import tensorlab as tl
    >>> tl.hann_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return _window("hann_window", cosines([0.5, 0.5]), window_length, periodic, dtype, device, requires_grad)


def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Hamming window, ``alpha - beta cos(2π n / N)``. ``periodic`` is for spectra; without it both ends are equal."""
    return _window("hamming_window", cosines([alpha, beta]), window_length, periodic, dtype, device, requires_grad)


def blackman_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Blackman window, ``0.42 - 0.5 cos(2π n / N) + 0.08 cos(4π n / N)``."""
    formula = cosines([0.42, 0.5, 0.08])
    return _window("blackman_window", formula, window_length, periodic, dtype, device, requires_grad)


def bartlett_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Bartlett window, a triangle."""
    return _window("bartlett_window", triangle, window_length, periodic, dtype, device, requires_grad)


def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Kaiser window; a larger ``beta`` fades out faster."""
    return _window("kaiser_window", kaiser(beta), window_length, periodic, dtype, device, requires_grad)
