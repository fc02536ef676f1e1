"""Normalisation: over the last dimensions, over groups of channels, over the batch. Public in ``tensorlab.nn.functional``."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from math import prod as _product
from typing import Any

import numpy as np

from tensorlab import modes
from tensorlab.dispatch import call
from tensorlab.functional.arguments import need_tensor
from tensorlab.functional.joining import cat
from tensorlab.functional.pointwise import div
from tensorlab.functional.reductions import vector_norm
from tensorlab.ops import ROWS

Tensor = Any

#: Functions that are not found at ``tensorlab.<name>``.
ELSEWHERE = """
    batch_norm instance_norm local_response_norm normalize channel_windows
"""

_LAYER_NORM, _GROUP_NORM, _BATCH_NORM = (ROWS[f"native_{kind}_norm"] for kind in ("layer", "group", "batch"))


def _normalized(op: str, input: Tensor, normalized_shape: Any) -> tuple[int, ...]:
    """The last dimensions of ``input`` that are named. Raises ``RuntimeError`` where they are others."""
    need_tensor(op, "input", 1, input)
    wanted = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    wanted = tuple([operator.index(n) for n in wanted])
    if not wanted:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            f"normalized_shape = {list(wanted)}"
        )
    shape = input._a.shape
    if shape[len(shape) - len(wanted) :] != wanted or len(shape) < len(wanted):
        stars = ", ".join(["*", *map(str, wanted)])
        raise RuntimeError(
            f"Given normalized_shape={list(wanted)}, expected input with shape [{stars}], but got input of size{list(shape)}"
        )
    return wanted


def _fits(op: str, name: str, given: Tensor | None, shape: Sequence[int], why: str) -> None:
    if given is None:
        return
    need_tensor(op, name, 3, given)
    if given._a.shape != tuple(shape):
        raise RuntimeError(
            f"Expected {name} to be {why}, but got {name} of shape {list(given._a.shape)} and {list(shape)}"
        )


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """``(input - mean) / sqrt(var + eps) * weight + bias``, mean and variance (biased) over the last dimensions.

    ``weight`` and ``bias`` have the shape ``normalized_shape``, which the last dimensions of ``input`` have. Raises
    ``RuntimeError`` where shapes differ. Source: Ba, Kiros and Hinton, "Layer Normalization", 2016.

    >>> import tensorlab as tl
    >>> tl.nn.functional.layer_norm(tl.tensor([[1., 2., 3.]]), (3,))
    tensor([[-1.2247,  0.0000,  1.2247]])
    """
    shape = _normalized("layer_norm", input, normalized_shape)
    _fits("layer_norm", "weight", weight, shape, "of same shape as normalized_shape")
    _fits("layer_norm", "bias", bias, shape, "of same shape as normalized_shape")
    return call(_LAYER_NORM, (input, weight, bias), normalized_shape=shape, eps=eps)[0]


def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """``input / sqrt(mean(input ** 2) + eps) * weight`` over the last dimensions; ``eps`` is that of the type if left out.

    Source: Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019.
    """
    shape = _normalized("rms_norm", input, normalized_shape)
    _fits("rms_norm", "weight", weight, shape, "of same shape as normalized_shape")
    kind = input.dtype
    low = kind.itemsize == 2
    x = input.float() if low else input
    if eps is None:
        eps = float(np.finfo(x._a.dtype).eps)
    dims = tuple(range(-len(shape), 0))
    out = x * ((x * x).mean(dims, True) + eps).rsqrt()
    out = out if weight is None else out * weight
    return out.to(kind) if low else out


def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Normalise each group of channels of each example; ``input`` is ``[N, C, *]``, ``weight`` and ``bias`` ``[C]``.

    Raises ``RuntimeError`` unless ``num_groups`` divides C. Source: Wu and He, "Group Normalization", 2018.
    """
    need_tensor("group_norm", "input", 1, input)
    shape = input._a.shape
    if len(shape) < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {len(shape)}")
    if num_groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    if shape[1] % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(shape)} and num_groups={num_groups}"
        )
    _several([shape[0] * shape[1] // num_groups, num_groups, *shape[2:]])
    for name, given in (("weight", weight), ("bias", bias)):
        _fits("group_norm", name, given, shape[1:2], "a vector of size equal to the number of channels in input")
    return call(_GROUP_NORM, (input, weight, bias), num_groups=num_groups, eps=eps)[0]


def _several(shape: Sequence[int]) -> None:
    """Raise ``ValueError`` where a channel has one value only, which has no variance."""
    if _product(shape[2:], start=shape[0]) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {list(shape)}")


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise each channel of ``[N, C, *]``: over the batch while ``training``, else by the running statistics.

    In training the running statistics, where given, move by ``momentum`` towards the batch's, towards the unbiased
    variance as in PyTorch. Raises ``ValueError`` for one value a channel, ``RuntimeError`` where sizes differ or
    statistics are missing. Source: Ioffe and Szegedy, "Batch Normalization", 2015.
    """
    need_tensor("batch_norm", "input", 1, input)
    shape = input._a.shape
    if eps <= 0:
        raise ValueError(f"batch_norm eps must be positive, but got {eps}")
    if training:
        _several(shape)
    elif running_mean is None or running_var is None:
        raise RuntimeError("Expected running_mean and running_var to be defined when training=False")
    if len(shape) < 2:
        if not input._a.size:
            return input.clone()
        raise RuntimeError(f"batch_norm(): input must have at least 2 dimensions [N, C, *], it has {len(shape)}")
    given = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    for name, x in given.items():
        if x is not None and x._a.shape != shape[1:2]:
            raise RuntimeError(f"{name} should contain {shape[1]} elements not {x._a.size}")
    if not training:
        return call(_BATCH_NORM, (input, weight, bias, running_mean, running_var), eps=eps)[0]
    out, mean, var = call(_BATCH_NORM, (input, weight, bias, None, None), eps=eps)
    m = _product(shape[2:], start=shape[0])
    if m == 0:
        return out
    with modes.no_grad():
        if running_mean is not None:
            running_mean.mul_(1 - momentum).add_(mean.detach(), alpha=momentum)
        if running_var is not None:
            running_var.mul_(1 - momentum).add_(var.detach(), alpha=momentum * m / max(1, m - 1))
    return out


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise each channel of each example of ``[N, C, *]``, by its own statistics or by the running ones.

    Raises ``ValueError`` for one value a channel. Source: Ulyanov, Vedaldi and Lempitsky, "Instance Normalization", 2016.
    """
    need_tensor("instance_norm", "input", 1, input)
    shape = input._a.shape
    if use_input_stats:
        if _product(shape[2:]) == 1:
            raise ValueError(f"Expected more than 1 spatial element when training, got input size {list(shape)}")
    elif running_mean is None or running_var is None:
        raise RuntimeError("Expected running_mean and running_var to be defined when use_input_stats=False")
    n, c = shape[0], shape[1]
    every: Any = [None if x is None else x.repeat(n) for x in (running_mean, running_var, weight, bias)]
    flat = input.reshape((1, n * c, *shape[2:]))
    mean, var, weight, bias = every
    out = batch_norm(flat, mean, var, weight, bias, use_input_stats, momentum, eps)
    with modes.no_grad():
        for kept, moved in zip((running_mean, running_var), every, strict=False):
            if kept is not None and use_input_stats:
                kept.copy_(moved.view(n, c).mean(0))
    return out.view(shape)


def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12, out: Tensor | None = None) -> Tensor:
    """``input`` divided by its ``p``-norm along ``dim``, or by ``eps`` where the norm is smaller."""
    need_tensor("normalize", "input", 1, input)
    size = vector_norm(input, p, dim, keepdim=True).clamp_min(eps)
    found = input / size.expand_as(input)
    return found if out is None else out.copy_(found)


def channel_windows(input: Tensor, before: int, after: int) -> Tensor:
    """For each channel of ``[N, C, *]`` the sum over the channels from ``before`` it to ``after`` it."""
    shape = input._a.shape
    parts = [input]
    for n, at in ((before, 0), (after, 2)):
        if n:
            parts.insert(at, input.new_zeros((shape[0], n, *shape[2:])))
    padded = cat(parts, 1) if len(parts) > 1 else input
    return padded.unfold(1, before + after + 1, 1).sum(-1)


def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """``input / (k + alpha * mean(input ** 2 over size neighbouring channels)) ** beta``, channels in dimension 1.

    Source: Krizhevsky, Sutskever and Hinton, "ImageNet Classification with Deep Convolutional Neural Networks", 2012.
    """
    need_tensor("local_response_norm", "input", 1, input)
    if input._a.ndim < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {input._a.ndim} dimensions)")
    if input._a.size == 0:
        return input
    total = channel_windows(input * input, size // 2, (size - 1) // 2)
    around = div(total, size, rounding_mode=None if input._a.dtype.kind in "fV" else "trunc")
    return input / (around * alpha + k) ** beta
