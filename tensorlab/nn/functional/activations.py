"""Activations as functions, with their ``inplace=`` forms."""

from __future__ import annotations

import warnings
from typing import Any

from tensorlab import creation, functional, random
from tensorlab.functional import celu_ as celu_
from tensorlab.functional import gelu as gelu
from tensorlab.functional import glu as glu
from tensorlab.functional import hardshrink as hardshrink
from tensorlab.functional import logsigmoid as logsigmoid
from tensorlab.functional import prelu as prelu
from tensorlab.functional import relu as _relu
from tensorlab.functional import rrelu_ as rrelu_
from tensorlab.functional import sigmoid as sigmoid
from tensorlab.functional import softplus as softplus
from tensorlab.functional import softshrink as softshrink
from tensorlab.functional import softsign as softsign
from tensorlab.functional import tanh as tanh
from tensorlab.functional import tanhshrink as tanhshrink
from tensorlab.functional import threshold_ as threshold_
from tensorlab.functional.arguments import need_tensor
from tensorlab.functional.gates import limits
from tensorlab.inplace import write
from tensorlab.ops import ROWS

__all__ = [
    "celu", "celu_", "elu", "elu_", "gelu", "glu", "gumbel_softmax", "hardshrink", "hardsigmoid", "hardswish", "hardtanh",
    "hardtanh_", "leaky_relu", "leaky_relu_", "log_softmax", "logsigmoid", "mish", "prelu", "relu", "relu6", "relu_", "rrelu",
    "rrelu_", "selu", "selu_", "sigmoid", "silu", "softmax", "softmin", "softplus", "softshrink", "softsign", "tanh",
    "tanhshrink", "threshold", "threshold_",
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


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * tanh(softplus(input))``."""
    return write(ROWS["mish"], input) if inplace else functional.mish(input)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """``input`` where it is positive, else ``negative_slope * input``."""
    return leaky_relu_(input, negative_slope) if inplace else functional.leaky_relu(input, negative_slope)


def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """``leaky_relu``, written into ``input``."""
    return write(ROWS["leaky_relu"], input, negative_slope=float(negative_slope))


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``input`` where it is positive, else ``alpha * (exp(input) - 1)``."""
    return elu_(input, alpha) if inplace else functional.elu(input, alpha)


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """``elu``, written into ``input``."""
    return write(ROWS["elu"], input, alpha=float(alpha), scale=1.0, input_scale=1.0)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """``elu`` with the two constants for which layers keep mean 0 and variance 1."""
    return functional.selu_(input) if inplace else functional.selu(input)


def selu_(input: Tensor) -> Tensor:
    """``selu``, written into ``input``."""
    return functional.selu_(input)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``input`` where it is positive, else ``alpha * (exp(input / alpha) - 1)``."""
    return celu_(input, alpha) if inplace else functional.celu(input, alpha)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """``input`` limited to ``[min_val, max_val]``; no gradient passes at the ends."""
    return hardtanh_(input, min_val, max_val) if inplace else functional.hardtanh(input, min_val, max_val)


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """``hardtanh``, written into ``input``."""
    return write(ROWS["hardtanh"], input, **limits("hardtanh_", input, min_val, max_val))


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """``input`` limited to [0, 6]."""
    return hardtanh_(input, 0.0, 6.0) if inplace else functional.relu6(input)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """``input / 6 + 0.5`` limited to [0, 1]."""
    return write(ROWS["hardsigmoid"], input) if inplace else functional.hardsigmoid(input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * hardsigmoid(input)``."""
    return write(ROWS["hardswish"], input) if inplace else functional.hardswish(input)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """``input`` where it is above ``threshold``, else ``value``."""
    return threshold_(input, threshold, value) if inplace else functional.threshold(input, threshold, value)


def rrelu(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, inplace: bool = False
) -> Tensor:
    """``leaky_relu`` with a slope that is drawn for each element while ``training``, else with the middle slope."""
    return (rrelu_ if inplace else functional.rrelu)(input, lower, upper, training)


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


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """A draw from the categorical distribution of ``logits``, softened so that gradients pass: the lower ``tau``, the
    harder. ``hard`` gives one-hot vectors with the gradient of the soft ones.

    Source: Jang, Gu and Poole, "Categorical Reparameterization with Gumbel-Softmax", 2016.
    """
    need_tensor("gumbel_softmax", "logits", 1, logits)
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    drawn = random.rand_like(logits.detach())
    noise = -(-(drawn.clamp(min=1e-20)).log()).log()
    soft = functional.softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    chosen = soft.detach().argmax(dim, keepdim=True)
    one_hot = creation.zeros_like(soft)
    one_hot.scatter_(dim, chosen, 1.0)
    return one_hot - soft.detach() + soft
