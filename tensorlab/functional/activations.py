"""Elementwise functions of neural networks. They are public in ``tensorlab.nn.functional``."""

from __future__ import annotations

from typing import Any

from tensorlab.dispatch import call
from tensorlab.functional.arguments import need_tensor
from tensorlab.inplace import write
from tensorlab.ops import ROWS

Tensor = Any

#: Functions that are not found at ``tensorlab.<name>``.
ELSEWHERE = """
    silu gelu softplus leaky_relu elu
"""


def silu(input: Tensor) -> Tensor:
    """``input * sigmoid(input)``, also called swish."""
    need_tensor("silu", "input", 1, input)
    return call(ROWS["silu"], (input,))


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """``input`` times the normal distribution function of it; ``approximate="tanh"`` takes the usual formula with tanh.

    Source: Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016.
    """
    need_tensor("gelu", "input", 1, input)
    if approximate not in ("none", "tanh"):
        raise RuntimeError(f"approximate argument must be either none or tanh, got {approximate!r}")
    return call(ROWS["gelu"], (input,), approximate=approximate)


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """``log(1 + exp(beta * input)) / beta``; where ``beta * input`` exceeds ``threshold``, ``input`` itself."""
    need_tensor("softplus", "input", 1, input)
    return call(ROWS["softplus"], (input,), beta=float(beta), threshold=float(threshold))


def leaky_relu(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """``input`` where it is positive, else ``negative_slope * input``."""
    need_tensor("leaky_relu", "input", 1, input)
    return call(ROWS["leaky_relu"], (input,), negative_slope=float(negative_slope))


def elu(input: Tensor, alpha: float = 1.0) -> Tensor:
    """``input`` where it is positive, else ``alpha * (exp(input) - 1)``.

    Source: Clevert, Unterthiner and Hochreiter, "Fast and Accurate Deep Network Learning by Exponential Linear Units", 2015.
    """
    need_tensor("elu", "input", 1, input)
    return call(ROWS["elu"], (input,), alpha=float(alpha), scale=1.0, input_scale=1.0)


#: The two constants of ``selu``, as options of the row ``elu``.
_SELU: dict[str, Any] = {
    "alpha": 1.6732632423543772848170429916717,
    "scale": 1.0507009873554804934193349852946,
    "input_scale": 1.0,
}


def selu(input: Tensor) -> Tensor:
    """``elu`` with the two constants for which layers keep mean 0 and variance 1.

    Source: Klambauer et al., "Self-Normalizing Neural Networks", 2017.
    """
    need_tensor("selu", "input", 1, input)
    return call(ROWS["elu"], (input,), **_SELU)


def selu_(input: Tensor) -> Tensor:
    """``selu``, written into ``input``."""
    need_tensor("selu_", "input", 1, input)
    return write(ROWS["elu"], input, op="selu_", **_SELU)


def relu_(input: Tensor) -> Tensor:
    """``relu``, written into ``input``."""
    need_tensor("relu_", "input", 1, input)
    return write(ROWS["relu"], input)
