"""Discrete Fourier transforms, under PyTorch's names: ``tensorlab.fft.fft`` and its kind.

``norm`` is ``"backward"`` (inverses divide by the number of points), ``"forward"`` (the others do) or ``"ortho"`` (both divide by its
root). ``n`` and ``s`` cut a dimension or fill it up with zeros first. float32 gives complex64, float64 gives complex128, integers
count as the default type; float16 and bfloat16 are refused with a ``RuntimeError``. Source of the definitions: Cooley and Tukey (1965).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorlab import dtypes
from tensorlab.creation import allocate, finish
from tensorlab.dispatch import call, cast
from tensorlab.functional.arguments import an_int
from tensorlab.functional.autocasting import widened
from tensorlab.functional.checked import checked
from tensorlab.functional.joining import cat
from tensorlab.functional.shapes import narrow, roll
from tensorlab.layout import wrap_dim, wrap_dims
from tensorlab.modes import state
from tensorlab.ops import ROWS

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "ihfft2",
    "ihfftn", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip

Tensor = Any
_public = functools.partial(checked, takes_out=True)
_SCALES = {None: ("1", "n"), "backward": ("1", "n"), "forward": ("n", "1"), "ortho": ("sqrt", "sqrt")}


def _scale(norm: Any, forward: bool) -> str:
    """What a transform in one direction is divided by."""
    if norm not in _SCALES:
        raise RuntimeError(f'Invalid normalization mode: "{norm}"; it is "backward", "forward" or "ortho"')
    return _SCALES[norm][0 if forward else 1]


def _typed(op: str, x: Tensor, kind: str) -> Tensor:
    """The input in a type that can be transformed: ``"real"`` refuses complex numbers, ``"complex"`` makes them."""
    if state.autocast is not None:
        (x,) = widened(x)
    a = x._a
    if kind == "real" and a.dtype.kind == "c":
        raise RuntimeError(f"{op} expects a real input tensor, but got {x.dtype.name}; use its real part, or fft()")
    if a.dtype.kind in "biu":
        x = cast(x, dtypes.default.float.np)
    elif a.dtype.itemsize == 2:
        raise RuntimeError(
            f"{op}(): Unsupported dtype {x.dtype.name}; transforms take float32 and float64, use .float()"
        )
    return cast(x, np.result_type(x._a.dtype, np.complex64)) if kind == "complex" else x


def _sized(x: Tensor, dims: Sequence[int], sizes: Sequence[int]) -> Tensor:
    """The input cut, or filled up with zeros, along some dimensions; -1 leaves one as it is."""
    for d, n in zip(dims, sizes, strict=True):
        have = x._a.shape[d]
        if n > have:
            x = cat([x, x._zeros((*x._a.shape[:d], n - have, *x._a.shape[d + 1 :]))], d)
        elif -1 != n < have:
            x = narrow(x, d, 0, n)
    return x


def _points(*sizes: int) -> None:
    for n in sizes:
        if n < 1:
            raise RuntimeError(f"Invalid number of data points ({n}) specified")


def _one(op: str, x: Tensor, n: int | None, dim: int) -> tuple[int, int]:
    """The dimension to transform, and how many points it is to have."""
    d = wrap_dim(dim, x._a.ndim, op)
    if not x._a.ndim:
        raise IndexError(f"{op}(): Dimension specified as {dim} but tensor has no dimensions")
    size = x._a.shape[d] if n is None else n
    _points(size)
    return d, size


def _several(op: str, x: Tensor, s: Any, dim: Any) -> tuple[tuple[int, ...], list[int]]:
    """The dimensions to transform, and how many points each is to have; the last ones of the tensor where only sizes are given."""
    shape = x._a.shape
    s = [s] if isinstance(s, int) else s
    if dim is None:
        if s is not None and len(s) > len(shape):
            raise RuntimeError(f"Got shape with {len(s)} values but input tensor only has {len(shape)} dimensions.")
        dims = tuple(range(len(shape) - len(s if s is not None else shape), len(shape)))
    else:
        given = [dim] if isinstance(dim, int) else list(dim)
        wrapped = [wrap_dim(d, len(shape), op) for d in given]
        if len(set(wrapped)) < len(wrapped):
            raise RuntimeError("FFT dims must be unique")
        dims = tuple(wrapped)
    sizes = [-1] * len(dims) if s is None else list(s)
    if len(sizes) != len(dims):
        raise RuntimeError(
            f"When given, dim and shape arguments must have the same length: {len(dims)} dimensions, {len(sizes)} sizes"
        )
    sizes = [shape[d] if n == -1 else n for d, n in zip(dims, sizes, strict=True)]
    _points(*sizes)
    return dims, sizes


def _c2c(op: str, x: Tensor, dims: tuple[int, ...], sizes: list[int], norm: Any, forward: bool) -> Tensor:
    """A transform with complex results; of real numbers it takes half the work."""
    scale = _scale(norm, forward)
    x = _sized(x, dims, sizes)
    if not dims:
        return x
    if x._a.dtype.kind == "f":
        if forward:
            return call(ROWS["fft_r2c"], (x,), dim=dims, scale=scale, onesided=False)
        return call(ROWS["fft_r2c"], (x,), dim=dims, scale=scale, onesided=False).conj()
    return call(ROWS["fft_c2c"], (x,), dim=dims, scale=scale, forward=forward)


@_public
def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Fourier transform along one dimension, complex.

    >>> import tensorlab as tl
    >>> tl.fft.fft(tl.tensor([0., 1., 2., 3.])).abs()
    tensor([6.0000, 2.8284, 2.0000, 2.8284])
    """
    x = _typed("fft", input, "any")
    d, size = _one("fft", x, n, dim)
    return _c2c("fft", x, (d,), [size], norm, True)


@_public
def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Inverse of ``fft`` along one dimension."""
    x = _typed("ifft", input, "any")
    d, size = _one("ifft", x, n, dim)
    return _c2c("ifft", x, (d,), [size], norm, False)


@_public
def fftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """Fourier transform along several dimensions, all of them unless ``s`` or ``dim`` says otherwise."""
    x = _typed("fftn", input, "any")
    x = x if x._a.ndim else _typed("fftn", x, "complex")
    return _c2c("fftn", x, *_several("fftn", x, s, dim), norm, True)


@_public
def ifftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """Inverse of ``fftn``."""
    x = _typed("ifftn", input, "any")
    x = x if x._a.ndim else _typed("ifftn", x, "complex")
    return _c2c("ifftn", x, *_several("ifftn", x, s, dim), norm, False)


def _r2c(op: str, x: Tensor, dims: tuple[int, ...], sizes: list[int], norm: Any, forward: bool) -> Tensor:
    """Half the spectrum of real numbers: along the last of ``dims`` only as many points as differ from their mirror image."""
    scale = _scale(norm, forward)
    if not dims:
        raise RuntimeError(f"{op} must transform at least one axis")
    x = _sized(x, dims, sizes)
    if forward:
        return call(ROWS["fft_r2c"], (x,), dim=dims, scale=scale, onesided=True)
    half = call(ROWS["fft_r2c"], (x,), dim=dims[-1:], scale=scale, onesided=True).conj()
    return half if len(dims) == 1 else call(ROWS["fft_c2c"], (half,), dim=dims[:-1], scale=scale, forward=False)


def _c2r(op: str, x: Tensor, dims: tuple[int, ...], sizes: list[int], norm: Any, forward: bool) -> Tensor:
    """Real numbers from half a spectrum; ``forward`` takes the spectrum for its own mirror image, as ``hfft`` does."""
    scale = _scale(norm, forward)
    if not dims:
        raise RuntimeError(f"{op} must transform at least one axis")
    x = _sized(x, dims, [*sizes[:-1], sizes[-1] // 2 + 1])
    if len(dims) > 1:
        x = call(ROWS["fft_c2c"], (x,), dim=dims[:-1], scale=scale, forward=forward)
    return call(ROWS["fft_c2r"], (x.conj() if forward else x,), dim=dims[-1], scale=scale, n=sizes[-1])


def _last_of_half(op: str, x: Tensor, s: Any, dim: Any) -> tuple[tuple[int, ...], list[int]]:
    """As ``_several``, where the last dimension holds half a spectrum and stands for twice as many points less two."""
    dims, sizes = _several(op, x, s, dim)
    given = [s] if isinstance(s, int) else s
    if dims and (given is None or given[-1] == -1):
        sizes[-1] = 2 * (x._a.shape[dims[-1]] - 1)
        _points(sizes[-1])
    return dims, sizes


@_public
def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Fourier transform of real numbers along one dimension: the first ``n // 2 + 1`` points, the rest being their mirror image."""
    x = _typed("rfft", input, "real")
    d, size = _one("rfft", x, n, dim)
    return _r2c("rfft", x, (d,), [size], norm, True)


@_public
def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Inverse of ``rfft``: ``n`` real numbers, by default ``2 * (size - 1)``; give ``n`` where it was odd."""
    x = _typed("irfft", input, "complex")
    d, _ = _one("irfft", x, None, dim)
    size = 2 * (x._a.shape[d] - 1) if n is None else n
    _points(size)
    return _c2r("irfft", x, (d,), [size], norm, False)


@_public
def rfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """Fourier transform of real numbers along several dimensions; the last of them holds half the spectrum."""
    x = _typed("rfftn", input, "real")
    return _r2c("rfftn", x, *_several("rfftn", x, s, dim), norm, True)


@_public
def irfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """Inverse of ``rfftn``; give ``s`` where the last size was odd."""
    x = _typed("irfftn", input, "complex")
    return _c2r("irfftn", x, *_last_of_half("irfftn", x, s, dim), norm, False)


@_public
def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Fourier transform along one dimension of a signal that is its own mirror image, given by its first half: real numbers."""
    x = _typed("hfft", input, "complex")
    d, _ = _one("hfft", x, None, dim)
    size = 2 * (x._a.shape[d] - 1) if n is None else n
    _points(size)
    return _c2r("hfft", x, (d,), [size], norm, True)


@_public
def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Inverse of ``hfft``: the first half of a signal that is its own mirror image, from its real spectrum."""
    x = _typed("ihfft", input, "real")
    d, size = _one("ihfft", x, n, dim)
    return _r2c("ihfft", x, (d,), [size], norm, False)


@_public
def hfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """``hfft`` along several dimensions; the last of them holds half the signal."""
    x = _typed("hfftn", input, "complex")
    return _c2r("hfftn", x, *_last_of_half("hfftn", x, s, dim), norm, True)


@_public
def ihfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """Inverse of ``hfftn``."""
    x = _typed("ihfftn", input, "real")
    return _r2c("ihfftn", x, *_several("ihfftn", x, s, dim), norm, False)


def _two(name: str, several: Any, doc: str) -> Any:
    def function(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
        return several(input, s, dim, norm)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return _public(function)


fft2 = _two("fft2", fftn, "``fftn`` along the last two dimensions.")
ifft2 = _two("ifft2", ifftn, "``ifftn`` along the last two dimensions.")
rfft2 = _two("rfft2", rfftn, "``rfftn`` along the last two dimensions.")
irfft2 = _two("irfft2", irfftn, "``irfftn`` along the last two dimensions.")
hfft2 = _two("hfft2", hfftn, "``hfftn`` along the last two dimensions.")
ihfft2 = _two("ihfft2", ihfftn, "``ihfftn`` along the last two dimensions.")


def fftfreq(n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """The frequencies of the points of ``fft`` over ``n`` samples that are ``d`` apart, negative ones in the second half.

    >>> import tensorlab as tl
    >>> tl.fft.fftfreq(5)
    tensor([ 0.0000,  0.2000,  0.4000, -0.4000, -0.2000])
    """
    half = an_int("fftfreq", "n", n) // 2
    numbers = allocate(lambda size, kind: np.arange(-half, size[0] - half, dtype=kind), (n,), np.dtype(np.int64))
    numbers = np.roll(numbers, -half)
    return _frequencies(numbers, n, d, dtype, device, requires_grad)


def rfftfreq(n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """The frequencies of the points of ``rfft`` over ``n`` samples that are ``d`` apart."""
    size = an_int("rfftfreq", "n", n) // 2 + 1
    numbers = allocate(lambda size, kind: np.arange(size[0], dtype=kind), (size,), np.dtype(np.int64))
    return _frequencies(numbers, n, d, dtype, device, requires_grad)


def _frequencies(numbers: Any, n: int, d: float, dtype: Any, device: Any, requires_grad: bool) -> Tensor:
    kind = dtypes.default.float if dtype is None else dtypes.as_dtype(dtype)
    if not kind.is_floating_point and not kind.is_complex:
        raise RuntimeError(f"frequencies need a floating point or complex dtype, got {kind.name}")
    values = numbers / (n * d) if n else numbers.astype(np.float64)
    return finish(values.astype(kind.np), requires_grad, device)


def _shifted(op: str, x: Tensor, dim: Any, half: Any) -> Tensor:
    dims = tuple(range(x._a.ndim)) if dim is None else wrap_dims(dim, x._a.ndim, op)
    return roll(x, [half(x._a.shape[d]) for d in dims], list(dims)) if dims else x.clone()


@_public
def fftshift(input: Tensor, dim: Any = None) -> Tensor:
    """The points of a spectrum in order of their frequency, zero in the middle; all dimensions unless ``dim`` names some."""
    return _shifted("fftshift", input, dim, lambda n: n // 2)


@_public
def ifftshift(input: Tensor, dim: Any = None) -> Tensor:
    """Inverse of ``fftshift``."""
    return _shifted("ifftshift", input, dim, lambda n: (n + 1) // 2)
