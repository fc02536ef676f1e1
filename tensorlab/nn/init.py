"""First values of parameters. Every function writes into the tensor it is given, unrecorded, and returns it."""

from __future__ import annotations

import math
import warnings
from typing import Any

from tensorlab import creation, modes
from tensorlab.functional.arguments import need_tensor

Tensor = Any

_GAINS = {
    "linear": 1.0, "conv1d": 1.0, "conv2d": 1.0, "conv3d": 1.0, "conv_transpose1d": 1.0, "conv_transpose2d": 1.0,
    "conv_transpose3d": 1.0, "sigmoid": 1.0, "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4,
}  # fmt: skip


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


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Uniform numbers in [a, b)."""
    need_tensor("uniform_", "tensor", 1, tensor)
    with modes.no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Normal numbers."""
    need_tensor("normal_", "tensor", 1, tensor)
    with modes.no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Tensor:
    """Normal numbers, drawn again where they fall outside [a, b]."""
    need_tensor("trunc_normal_", "tensor", 1, tensor)
    if not a < b:
        raise ValueError(f"trunc_normal_: a must be less than b, got {a} and {b}")
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be "
            "incorrect.",
            stacklevel=2,
        )
    draw = creation.empty_like(tensor.detach())
    with modes.no_grad():
        draw.normal_(mean, std, generator=generator)
        outside = (draw < a) | (draw > b)
        for _ in range(100):
            if not bool(outside.any()):
                break
            draw = creation.empty_like(draw).normal_(mean, std, generator=generator).where(outside, draw)
            outside = (draw < a) | (draw > b)
        return tensor.copy_(draw.clamp(a, b))


def constant_(tensor: Tensor, val: float) -> Tensor:
    """One value everywhere."""
    need_tensor("constant_", "tensor", 1, tensor)
    with modes.no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
    need_tensor("zeros_", "tensor", 1, tensor)
    with modes.no_grad():
        return tensor.zero_()


def eye_(tensor: Tensor) -> Tensor:
    """1 on the diagonal of a matrix, 0 elsewhere."""
    need_tensor("eye_", "tensor", 1, tensor)
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with modes.no_grad():
        return tensor.copy_(creation.eye(*tensor.shape, dtype=tensor.dtype))


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
