"""Activations as functions, with their ``inplace=`` forms."""

from __future__ import annotations

import warnings
from typing import Any

from tensorlab import functional
from tensorlab.functional import gelu as gelu
from tensorlab.functional import relu as _relu
from tensorlab.functional import selu as selu
from tensorlab.functional import sigmoid as sigmoid
from tensorlab.functional import softplus as softplus
from tensorlab.functional import tanh as tanh
from tensorlab.functional.arguments import need_tensor
from tensorlab.inplace import write
from tensorlab.ops import ROWS

__all__ = [
    "gelu", "selu", "sigmoid", "softplus", "tanh", "relu", "relu_", "silu", "leaky_relu", "elu", "softmax",
    "softmin", "log_softmax",
]  # fmt: skip

Tensor = Any


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """``max(input, 0)``, element by element; its derivative at 0 is 0."""
    return relu_(input) if inplace else _relu(input)


def relu_(input: Tensor) -> Tensor:
    """``relu``, written into ``input``."""
    need_tensor("relu_", "input", 1, input)
    return input.relu_()


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * sigmoid(input)``, also called swish."""
    return write(ROWS["silu"], input) if inplace else functional.silu(input)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """``input`` where it is positive, else ``negative_slope * input``."""
    if inplace:
        return write(ROWS["leaky_relu"], input, negative_slope=float(negative_slope))
    return functional.leaky_relu(input, negative_slope)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``input`` where it is positive, else ``alpha * (exp(input) - 1)``."""
    if inplace:
        return write(ROWS["elu"], input, alpha=float(alpha), scale=1.0, input_scale=1.0)
    return functional.elu(input, alpha)


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """``exp(input) / sum(exp(input))`` along ``dim``. Without ``dim`` one is guessed, with a warning."""
    need_tensor("softmax", "input", 1, input)
    return functional.softmax(input, _dim("softmax", dim, input, _stacklevel), dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """``softmax(-input)``."""
    need_tensor("softmin", "input", 1, input)
    return functional.softmax(-input, _dim("softmin", dim, input, _stacklevel), dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """``log(softmax(input))`` along ``dim``, without overflow. Without ``dim`` one is guessed, with a warning."""
    need_tensor("log_softmax", "input", 1, input)
    return functional.log_softmax(input, _dim("log_softmax", dim, input, _stacklevel), dtype)


def _dim(name: str, dim: int | None, input: Tensor, stacklevel: int) -> int:
    if dim is not None:
        return dim
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=stacklevel,
    )
    return 0 if input.dim() in (0, 1, 3) else 1
