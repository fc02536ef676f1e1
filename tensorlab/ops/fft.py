"""Discrete Fourier transforms: complex to complex, real to (half of the) complex, half of the complex to real.

``scale`` says what a sum is divided by: ``"1"``, ``"sqrt"`` (the root of the number of points) or ``"n"``. The adjoint of a transform
is the one in the other direction under the same scale, so gradients need no factor of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log2
from typing import Any

import numpy as np

from tensorlab.backend.host import inverse
from tensorlab.ops.table import CPU_FLOAT32, NO_ONNX, elements, row

Shape = tuple[int, ...]
Dims = tuple[int, ...]

#: The name of a scale for a transform in the direction of ``fft`` and of ``ifft``.
FORWARD = {"1": "backward", "sqrt": "ortho", "n": "forward"}
BACKWARD = {"1": "forward", "sqrt": "ortho", "n": "backward"}


def _laid_out(xp: Any, a: Any, dim: Dims, transform: Callable[[Any, Dims], Any], last: int = 0) -> Any:
    """Run ``transform(array, axes)`` with the dimensions that stay outermost in memory, and leave its result like that.

    ``last`` dimensions at the end of ``dim`` keep their place; the others are taken in the order in which they lie.
    """
    by_stride = lambda d: (-a.strides[d], d)  # noqa: E731
    kept = sorted((d for d in range(a.ndim) if d not in dim), key=by_stride)
    inner = sorted(dim[: len(dim) - last], key=by_stride)
    order = [*kept, *inner, *dim[len(dim) - last :]]
    found = transform(a.transpose(order), tuple(range(len(kept), a.ndim)))
    return xp.ascontiguousarray(found).transpose(inverse(order))


def _transforms(xp: Any) -> Any:
    """The module of transforms: SciPy's on the CPU, which is several times faster than NumPy's, and CuPy's on a GPU."""
    if xp is not np:
        return xp.fft
    import scipy.fft

    return scipy.fft


def _need_wide(a: Any) -> None:
    if a.dtype.itemsize < 4 or a.dtype.kind not in "fc":
        raise RuntimeError(
            f"fft: Unsupported dtype {a.dtype.name}; transforms take float32, float64 and complex numbers"
        )


def _c2c(xp: Any, a: Any, dim: Dims, scale: str, forward: bool) -> Any:
    if not a.size:
        return a.copy()
    transform, names = (_transforms(xp).fftn, FORWARD) if forward else (_transforms(xp).ifftn, BACKWARD)
    return _laid_out(xp, a, dim, lambda b, axes: transform(b, axes=axes, norm=names[scale]))


def _r2c(xp: Any, a: Any, dim: Dims, scale: str, onesided: bool) -> Any:
    _need_wide(a)
    transform = _transforms(xp).rfftn if onesided else _transforms(xp).fftn
    if not a.size:
        kind = np.complex64 if a.dtype.itemsize == 4 else np.complex128
        return xp.zeros(_r2c_shape([a.shape], dim, scale, onesided), kind)
    return _laid_out(xp, a, dim, lambda b, axes: transform(b, axes=axes, norm=FORWARD[scale]), last=1)


def _c2r(xp: Any, a: Any, dim: int, scale: str, n: int) -> Any:
    if not a.size:
        return xp.zeros(_c2r_shape([a.shape], dim, scale, n), a.real.dtype)
    return _laid_out(xp, a, (dim,), lambda b, axes: _transforms(xp).irfft(b, n, axes[0], BACKWARD[scale]))


def _r2c_shape(shapes: Sequence[Shape], dim: Dims, scale: str, onesided: bool) -> Shape:
    return tuple([n // 2 + 1 if onesided and d == dim[-1] else n for d, n in enumerate(shapes[0])])


def _c2r_shape(shapes: Sequence[Shape], dim: int, scale: str, n: int) -> Shape:
    return tuple([n if d == dim else size for d, size in enumerate(shapes[0])])


def _cost(shapes: Sequence[Shape], result: Shape, **attrs: Any) -> int:
    """Five operations for a point and a halving, the textbook count of a fast transform."""
    dim = attrs["dim"] if isinstance(attrs["dim"], tuple) else (attrs["dim"],)
    size = max(elements(shapes[0]), elements(result))
    return round(5 * size * sum(log2(max(2, result[d])) for d in dim))


def _of_half(g: Any, dim: Dims, scale: str, onesided: bool, self_shape: Shape) -> Any:
    """The gradient of a real input: the points that the one-sided result leaves out had none."""
    if onesided:
        last = dim[-1]
        missing = self_shape[last] - g.shape[last]
        shape = tuple([missing if d == last else n for d, n in enumerate(g.shape)])
        g = g._op("cat", g._zeros(shape), dim=last, sizes=(g.shape[last], missing)) if missing else g
    return g._op("fft_c2c", dim=dim, scale=scale, forward=False).real


def _to_half(g: Any, dim: int, scale: str, n: int) -> Any:
    """The gradient of half a spectrum: points that stand for two, themselves and their mirror image, count twice."""
    half = g._op("fft_r2c", dim=(dim,), scale=scale, onesided=True)
    twice = n - half.shape[dim]
    if not twice:
        return half
    rest = half.shape[dim] - 1 - twice
    parts = [half.narrow(dim, 0, 1), half.narrow(dim, 1, twice) * 2, half.narrow(dim, 1 + twice, rest)]
    return parts[0]._op("cat", *parts[1:], dim=dim, sizes=(1, twice, rest))


fft_c2c = row(
    "fft_c2c",
    "self",
    forward=_c2c,
    infer=lambda shapes, **attrs: tuple(shapes[0]),
    grad={"self": lambda g, dim, scale, forward: g._op("fft_c2c", dim=dim, scale=scale, forward=not forward)},
    formula="result[k] = Σ self[t] · e^(∓2πi k t ÷ n) ÷ scale",
    derivatives={"self": "grad transformed in the other direction"},
    autocast=CPU_FLOAT32,
    onnx="DFT",
    cost=_cost,
    samples=lambda t: [
        ((t.complex(3, 4),), {"dim": (1,), "scale": "1", "forward": True}),
        ((t.complex(2, 3, 4),), {"dim": (0, 2), "scale": "n", "forward": False}),
        ((t.complex(4, 3),), {"dim": (0,), "scale": "sqrt", "forward": True}),
    ],
    node="FftC2CBackward0",
    holomorphic=False,
)
fft_r2c = row(
    "fft_r2c",
    "self",
    forward=_r2c,
    infer=_r2c_shape,
    grad={"self": _of_half},
    formula="result[k] = Σ self[t] · e^(−2πi k t ÷ n) ÷ scale, for the first half of k or for all",
    derivatives={"self": "real part of grad transformed in the other direction"},
    autocast=CPU_FLOAT32,
    onnx="DFT",
    cost=_cost,
    samples=lambda t: [
        ((t(3, 4),), {"dim": (1,), "scale": "1", "onesided": True}),
        ((t(3, 5),), {"dim": (0, 1), "scale": "n", "onesided": True}),
        ((t(3, 4),), {"dim": (1,), "scale": "sqrt", "onesided": False}),
        ((t(2, 1),), {"dim": (1,), "scale": "1", "onesided": True}),
    ],
    node="FftR2CBackward0",
    holomorphic=False,
)
fft_c2r = row(
    "fft_c2r",
    "self",
    forward=_c2r,
    infer=_c2r_shape,
    grad={"self": _to_half},
    formula="result[t] = Σ self[k] · e^(2πi k t ÷ n) ÷ scale, the second half of k being the mirror image of the first",
    derivatives={"self": "grad transformed forward; points that stand for two count twice"},
    autocast=CPU_FLOAT32,
    onnx=NO_ONNX("DFT has no real inverse"),
    cost=_cost,
    samples=lambda t: [
        ((t.complex(3, 3),), {"dim": 1, "scale": "1", "n": 4}),
        ((t.complex(3, 3),), {"dim": 0, "scale": "n", "n": 5}),
        ((t.complex(2, 1),), {"dim": 1, "scale": "sqrt", "n": 1}),
    ],
    node="FftC2RBackward0",
    holomorphic=False,
)
