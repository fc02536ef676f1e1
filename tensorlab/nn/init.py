"""First values of parameters. Every function writes into the tensor it is given, unrecorded, and returns it.

Inside ``skipping()`` the functions that draw or fill leave tensors as they are, for modules whose values come from elsewhere.
"""

from __future__ import annotations

import functools
import math
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tensorlab import creation, linalg, modes, random
from tensorlab.functional.arguments import need_tensor

Tensor = Any

_GAINS = {
    "linear": 1.0, "conv1d": 1.0, "conv2d": 1.0, "conv3d": 1.0, "conv_transpose1d": 1.0, "conv_transpose2d": 1.0,
    "conv_transpose3d": 1.0, "sigmoid": 1.0, "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4,
}  # fmt: skip


class _Skipped(threading.local):
    on = False


_skipped = _Skipped()


@contextmanager
def skipping() -> Iterator[None]:
    """Leave tensors uninitialised: functions of this module do nothing inside, in this thread."""
    before, _skipped.on = _skipped.on, True
    try:
        yield
    finally:
        _skipped.on = before


def _writes(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that writes into its first argument, unrecorded."""

    @functools.wraps(function)
    def written(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        need_tensor(function.__name__, "tensor", 1, tensor)
        if _skipped.on:
            return tensor
        with modes.no_grad():
            return function(tensor, *args, **kwargs)

    return written


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The usual gain before a nonlinearity; ``param`` is the negative slope of ``"leaky_relu"`` (0.01 if left out)."""
    if nonlinearity in _GAINS:
        return _GAINS[nonlinearity]
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}: choose one of {', '.join(_GAINS)}, leaky_relu")


@_writes
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Uniform numbers in [a, b)."""
    return tensor.uniform_(a, b, generator=generator)


@_writes
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Normal numbers."""
    return tensor.normal_(mean, std, generator=generator)


@_writes
def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Tensor:
    """Normal numbers, drawn again where they fall outside [a, b].

    Where hardly any would fall inside, uniform ones are drawn and kept with the chance that the density gives them.
    """
    if not a < b:
        raise ValueError(f"trunc_normal_: a must be less than b, got {a} and {b}")
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be "
            "incorrect.",
            stacklevel=3,
        )
    inside = math.erf((b - mean) / std / math.sqrt(2)) - math.erf((a - mean) / std / math.sqrt(2))
    likely = inside > 0.6
    nearest = max(a, min(mean, b))

    def draw() -> tuple[Tensor, Tensor]:
        """Numbers, and which of them count."""
        fresh = creation.empty_like(tensor)
        if likely:
            fresh.normal_(mean, std, generator=generator)
            return fresh, (fresh >= a) & (fresh <= b)
        fresh.uniform_(a, b, generator=generator)
        density = (((fresh - mean) / std) ** 2 * -0.5 + 0.5 * ((nearest - mean) / std) ** 2).exp()
        return fresh, creation.empty_like(tensor).uniform_(generator=generator) < density

    found, good = draw()
    while not bool(good.all()):
        more, fits = draw()
        found, good = found.where(good, more), good | fits
    return tensor.copy_(found.clamp(a, b))


@_writes
def constant_(tensor: Tensor, val: float) -> Tensor:
    """One value everywhere."""
    return tensor.fill_(val)


@_writes
def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
    return tensor.fill_(1.0)


@_writes
def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
    return tensor.zero_()


@_writes
def eye_(tensor: Tensor) -> Tensor:
    """1 on the diagonal of a matrix, 0 elsewhere."""
    if tensor.dim() != 2:
        raise ValueError(f"Only tensors with 2 dimensions are supported, not shape {list(tensor.shape)}")
    return tensor.copy_(creation.eye(*tensor.shape, dtype=tensor.dtype))


@_writes
def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """The weight ``[out, in, *]`` of a convolution that gives back its channels, as many as fit, in each of ``groups``."""
    if tensor.dim() not in (3, 4, 5):
        raise ValueError(f"Only tensors with 3, 4, or 5 dimensions are supported, not shape {list(tensor.shape)}")
    if tensor.shape[0] % groups:
        raise ValueError(f"dim 0 must be divisible by groups: {tensor.shape[0]} channels, {groups} groups")
    each = tensor.shape[0] // groups
    tensor.zero_()
    middle = tuple([size // 2 for size in tensor.shape[2:]])
    for group in range(groups):
        for at in range(min(each, tensor.shape[1])):
            tensor[(group * each + at, at, *middle)] = 1
    return tensor


@_writes
def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """A matrix with orthonormal rows or columns, whichever are fewer, times ``gain``; further dimensions count as columns.

    Drawn evenly from all such. Raises ``ValueError`` for fewer than 2 dimensions. Source: Saxe and others, 2013.
    """
    if tensor.dim() < 2:
        raise ValueError(f"Only tensors with 2 or more dimensions are supported, not shape {list(tensor.shape)}")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.shape[0]
    columns = tensor.numel() // rows
    wide = tensor.dtype if tensor.element_size() > 2 else None
    drawn = creation.empty((rows, columns), dtype=wide, device=tensor.device)
    drawn.normal_(generator=generator)
    q, r = linalg.qr(drawn.T if rows < columns else drawn)
    q = q * r.diagonal().sign()  # without which the even draw would not be one
    return tensor.copy_((q.T if rows < columns else q).reshape(tensor.shape) * gain)


@_writes
def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Normal numbers in a matrix, with a share ``sparsity`` of every column set to 0. Source: Martens, 2010."""
    if tensor.dim() != 2:
        raise ValueError(f"Only tensors with 2 dimensions are supported, not shape {list(tensor.shape)}")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    tensor.normal_(0, std, generator=generator)
    for column in range(columns):
        tensor[random.randperm(rows, generator=generator)[:zeros].to(tensor.device), column] = 0
    return tensor


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """Inputs and outputs that one element of a weight ``[out, in, *]`` is one of."""
    if tensor.dim() < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions; this one has shape "
            f"{list(tensor.shape)}"
        )
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _fan(tensor: Tensor, mode: str) -> int:
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _calculate_fan_in_and_fan_out(tensor)[mode.lower() == "fan_out"]


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Uniform in ``±gain * sqrt(6 / (fan_in + fan_out))``. Source: Glorot and Bengio, 2010."""
    need_tensor("xavier_uniform_", "tensor", 1, tensor)
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Normal with deviation ``gain * sqrt(2 / (fan_in + fan_out))``. Source: Glorot and Bengio, 2010."""
    need_tensor("xavier_normal_", "tensor", 1, tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor))), generator)


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Uniform in ``±gain * sqrt(3 / fan)``; ``a`` is the negative slope after it. Source: He and others, 2015."""
    need_tensor("kaiming_uniform_", "tensor", 1, tensor)
    if _is_empty(tensor):
        return tensor
    bound = math.sqrt(3.0) * calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode))
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Normal with deviation ``gain / sqrt(fan)``; ``a`` is the negative slope after it. Source: He and others, 2015."""
    need_tensor("kaiming_normal_", "tensor", 1, tensor)
    if _is_empty(tensor):
        return tensor
    return normal_(tensor, 0.0, calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode)), generator)


def _is_empty(tensor: Tensor) -> bool:
    if 0 not in tensor.shape:
        return False
    warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
    return True


# ------------------------------------------------------------------------------------------- the names of long ago


def _renamed(function: Callable[..., Any]) -> Callable[..., Any]:
    name = function.__name__[:-1]

    def old(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(
            f"`nn.init.{name}` is now deprecated in favor of `nn.init.{function.__name__}`.",
            FutureWarning,
            stacklevel=2,
        )
        return function(*args, **kwargs)

    old.__name__ = old.__qualname__ = name
    old.__doc__ = f"The name of ``{function.__name__}`` in old code; warns."
    return old


uniform, normal, constant, eye, dirac = (_renamed(f) for f in (uniform_, normal_, constant_, eye_, dirac_))
xavier_uniform, xavier_normal = _renamed(xavier_uniform_), _renamed(xavier_normal_)
kaiming_uniform, kaiming_normal = _renamed(kaiming_uniform_), _renamed(kaiming_normal_)
orthogonal, sparse = _renamed(orthogonal_), _renamed(sparse_)
