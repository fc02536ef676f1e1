"""Pooling as functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorlab import functional, layout, random
from tensorlab.dispatch import call
from tensorlab.functional import adaptive_avg_pool1d as adaptive_avg_pool1d
from tensorlab.functional import adaptive_avg_pool2d as adaptive_avg_pool2d
from tensorlab.functional import adaptive_avg_pool3d as adaptive_avg_pool3d
from tensorlab.functional import adaptive_max_pool2d as adaptive_max_pool2d
from tensorlab.functional import adaptive_max_pool3d as adaptive_max_pool3d
from tensorlab.functional import avg_pool1d as avg_pool1d
from tensorlab.functional import avg_pool2d as avg_pool2d
from tensorlab.functional import avg_pool3d as avg_pool3d
from tensorlab.functional import max_pool1d as max_pool1d
from tensorlab.functional import max_pool1d_with_indices as max_pool1d_with_indices
from tensorlab.functional import max_pool2d as max_pool2d
from tensorlab.functional import max_pool3d as max_pool3d
from tensorlab.functional import sizes
from tensorlab.functional.arguments import need_tensor
from tensorlab.ops import ROWS
from tensorlab.ops.windows import channels_last

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d", "adaptive_max_pool2d_with_indices", "adaptive_max_pool3d", "adaptive_max_pool3d_with_indices",
    "avg_pool1d", "avg_pool2d", "avg_pool3d", "fractional_max_pool2d", "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d", "fractional_max_pool3d_with_indices", "lp_pool1d", "lp_pool2d", "lp_pool3d", "max_pool1d",
    "max_pool1d_with_indices", "max_pool2d", "max_pool2d_with_indices", "max_pool3d", "max_pool3d_with_indices", "max_unpool1d",
    "max_unpool2d", "max_unpool3d",
]  # fmt: skip

Tensor = Any


def max_pool2d_with_indices(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """:func:`max_pool2d` with the indices of the largest values."""
    return max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


def max_pool3d_with_indices(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """:func:`max_pool3d` with the indices of the largest values."""
    return max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest values of windows along the last dimension, as many as ``output_size`` says; see :func:`adaptive_max_pool2d`."""
    found = functional.adaptive_max_pool1d(input, output_size)
    return found if return_indices else found[0]


def adaptive_max_pool1d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """:func:`adaptive_max_pool1d` with the indices of the largest values."""
    return functional.adaptive_max_pool1d(input, output_size)


def adaptive_max_pool2d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """:func:`adaptive_max_pool2d` with the indices of the largest values."""
    return adaptive_max_pool2d(input, output_size, True)


def adaptive_max_pool3d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """:func:`adaptive_max_pool3d` with the indices of the largest values."""
    return adaptive_max_pool3d(input, output_size, True)


# --------------------------------------------------------------------------------------------------------- power means


def lp_pool1d(input: Tensor, norm_type: float, kernel_size: int, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """``(sum of input ** norm_type) ** (1 / norm_type)`` of each window along the last dimension."""
    (kernel,) = sizes("lp_pool1d", "kernel_size", kernel_size, 1)
    return _root(avg_pool1d(input.pow(norm_type), kernel, stride, 0, ceil_mode), kernel, norm_type)


def lp_pool2d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """``(sum of input ** norm_type) ** (1 / norm_type)`` of each window of an image."""
    kernel = sizes("lp_pool2d", "kernel_size", kernel_size, 2)
    return _root(avg_pool2d(input.pow(norm_type), kernel, stride, 0, ceil_mode), kernel[0] * kernel[1], norm_type)


def lp_pool3d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """``(sum of input ** norm_type) ** (1 / norm_type)`` of each window of a volume."""
    kernel = sizes("lp_pool3d", "kernel_size", kernel_size, 3)
    found = avg_pool3d(input.pow(norm_type), kernel, stride, 0, ceil_mode)
    return _root(found, kernel[0] * kernel[1] * kernel[2], norm_type)


def _root(mean: Tensor, elements: int, norm_type: float) -> Tensor:
    return (mean.sign() * mean.abs().relu()).mul(elements).pow(1.0 / norm_type)


# ------------------------------------------------------------------------------------------------------ drawn windows


def _fractional(
    n: int, input: Tensor, kernel_size: Any, output_size: Any, output_ratio: Any, samples: Tensor | None
) -> tuple[Tensor, Tensor]:
    op = f"fractional_max_pool{n}d"
    need_tensor(op, "input", 1, input)
    shape = tuple(input._a.shape)
    if output_size is None and output_ratio is None:
        raise ValueError(f"{op} requires specifying either an output_size or an output_ratio")
    if len(shape) not in (n + 1, n + 2) or 0 in shape[len(shape) - n - 1 :]:
        raise RuntimeError(f"{op}(): Expected {n + 1}D or {n + 2}D tensor with sizes above 0, but got: {list(shape)}")
    whole = shape[len(shape) - n :]
    if output_size is None:
        ratio = tuple(output_ratio) if isinstance(output_ratio, (tuple, list)) else (output_ratio,) * n
        output_size = [int(k * r) for k, r in zip(whole, ratio, strict=True)]
    kernel, wanted = sizes(op, "kernel_size", kernel_size, n), sizes(op, "output_size", output_size, n)
    if any(w + k - 1 > size or w < 1 or k < 1 for w, k, size in zip(wanted, kernel, whole, strict=True)):
        raise RuntimeError(
            f"{op}(): pool size {list(kernel)} too large relative to input size {list(whole)} for an output of {list(wanted)}"
        )
    if samples is None:
        batch = shape[0] if len(shape) == n + 2 else 1
        samples = random.rand(batch, shape[-n - 1], n, dtype=input.dtype, device=input.device)
    if samples._a.dtype != input._a.dtype:
        raise RuntimeError(f"Expect _random_samples to have the same dtype as input, not {samples.dtype.name}")
    _check_samples(op, samples, shape, n)
    return call(ROWS[f"{op}_drawn"], (input, samples), kernel=kernel, size=wanted)


def _check_samples(op: str, samples: Tensor, shape: Sequence[int], n: int) -> None:
    batch = shape[0] if len(shape) == n + 2 else 1
    found = tuple(samples._a.shape)
    if len(found) != 3 or found[0] < batch or found[1] != shape[-n - 1] or found[2] != n:
        raise RuntimeError(
            f"{op}(): Expect _random_samples to have shape {[batch, shape[-n - 1], n]}, got {list(found)}"
        )


def fractional_max_pool2d(
    input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:  # fmt: skip
    """The largest values of windows of an image at places that are drawn, so many that the size is what is asked for.

    Source: Graham, "Fractional Max-Pooling", 2014.
    """
    found = _fractional(2, input, kernel_size, output_size, output_ratio, _random_samples)
    return found if return_indices else found[0]


def fractional_max_pool3d(
    input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:  # fmt: skip
    """The largest values of windows of a volume at places that are drawn; see :func:`fractional_max_pool2d`."""
    found = _fractional(3, input, kernel_size, output_size, output_ratio, _random_samples)
    return found if return_indices else found[0]


def fractional_max_pool2d_with_indices(
    input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """:func:`fractional_max_pool2d` with the indices of the largest values."""
    return _fractional(2, input, kernel_size, output_size, output_ratio, _random_samples)


def fractional_max_pool3d_with_indices(
    input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """:func:`fractional_max_pool3d` with the indices of the largest values."""
    return _fractional(3, input, kernel_size, output_size, output_ratio, _random_samples)


# ------------------------------------------------------------------------------------------------------------- and back


def _unpool(
    n: int, input: Tensor, indices: Tensor, kernel_size: Any, stride: Any, padding: Any, output_size: Any
) -> Tensor:
    op = f"max_unpool{n}d"
    need_tensor(op, "input", 1, input)
    need_tensor(op, "indices", 2, indices)
    kernel = sizes(op, "kernel_size", kernel_size, n)
    step = kernel if stride is None else sizes(op, "stride", stride, n)
    margin = sizes(op, "padding", padding, n)
    shape = tuple(input._a.shape)
    if indices._a.dtype.name != "int64":
        raise RuntimeError(f"{op}(): elements in indices should be type int64 but got: {indices.dtype.name}")
    if tuple(indices._a.shape) != shape:
        raise RuntimeError(
            f"{op}(): Expected shape of indices to be same as that of the input tensor ({list(shape)}) but got indices tensor with "
            f"shape: {list(indices._a.shape)}"
        )
    if len(shape) not in (n + 1, n + 2) or 0 in shape[len(shape) - n - 1 :]:
        raise RuntimeError(
            f"{op}(): Input to {op} should be a {n + 1}D or {n + 2}D Tensor with sizes above 0, but got {list(shape)}"
        )
    size = _unpooled_size(op, n, shape, kernel, step, margin, output_size)
    lead = shape[: len(shape) - n]
    places, whole = _product(shape[len(shape) - n :]), _product(size)
    flat = indices.reshape((*lead, places))
    zeros = input._zeros((*lead, whole))
    found = zeros.scatter(len(lead), flat, input.reshape((*lead, places))).reshape((*lead, *size))
    inner = n == 2 and channels_last(shape, input._a.strides)
    return found.contiguous(memory_format=layout.channels_last) if inner else found


def _product(values: Sequence[int]) -> int:
    total = 1
    for value in values:
        total *= value
    return total


def _unpooled_size(
    op: str, n: int, shape: Sequence[int], kernel: Any, stride: Any, padding: Any, output_size: Any
) -> tuple[int, ...]:
    usual = [
        (k - 1) * s + w - 2 * p for k, s, w, p in zip(shape[len(shape) - n :], stride, kernel, padding, strict=True)
    ]
    if output_size is None:
        return tuple(usual)
    wanted = list(output_size)[2:] if len(output_size) == n + 2 else list(output_size)
    if len(wanted) != n:
        raise ValueError(
            f"output_size should be a sequence containing {n} or {n + 2} elements, but it has a length of '{len(output_size)}'"
        )
    if any(not low - s < w < low + s for w, low, s in zip(wanted, usual, stride, strict=True)):
        raise ValueError(
            f'invalid output_size "{wanted}" (each dim must be less than a stride {list(stride)} away from {usual})'
        )
    return tuple(wanted)


def max_unpool1d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Zeros with the values of :func:`max_pool1d` back where its ``indices`` say. ``output_size`` chooses among possible sizes."""
    return _unpool(1, input, indices, kernel_size, stride, padding, output_size)


def max_unpool2d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Zeros with the values of :func:`max_pool2d` back where its ``indices`` say. ``output_size`` chooses among possible sizes."""
    return _unpool(2, input, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Zeros with the values of :func:`max_pool3d` back where its ``indices`` say. ``output_size`` chooses among possible sizes."""
    return _unpool(3, input, indices, kernel_size, stride, padding, output_size)
