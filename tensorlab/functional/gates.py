"""Activations with corners, slopes and gates. Public in ``tensorlab.nn.functional``, some of them here as well."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorlab import dispatch, random
from tensorlab.dispatch import call
from tensorlab.functional.arguments import need_tensor
from tensorlab.inplace import write
from tensorlab.layout import wrap_dim
from tensorlab.ops import ROWS

Tensor = Any

#: Functions that are methods under the same name, with the tensor as their first argument.
METHODS = "hardshrink prelu"
#: Functions that are not found at ``tensorlab.<name>``.
ELSEWHERE = """
    hardtanh relu6 hardsigmoid hardswish softshrink mish logsigmoid glu softsign tanhshrink limits drawn_slopes
"""


def limits(op: str, input: Tensor, min_val: float, max_val: float) -> dict[str, Any]:
    """The two ends of ``hardtanh``. Raises ``ValueError`` where they are in the wrong order."""
    need_tensor(op, "input", 1, input)
    if min_val > max_val:
        raise ValueError(f"{op}: min_val cannot be greater than max_val, got {min_val} and {max_val}")
    kind = input._a.dtype.kind
    if kind == "b":
        raise RuntimeError('"hardtanh_cpu" not implemented for bool; convert with .float()')
    if kind == "u" and min_val < 0:
        raise RuntimeError(f"cannot do {op} on an unsigned type with negative limits")
    if kind in "iu":
        return {"min_val": int(min_val), "max_val": int(max_val)}
    return {"min_val": float(min_val), "max_val": float(max_val)}


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """``input`` limited to ``[min_val, max_val]``; no gradient passes at the ends."""
    return call(ROWS["hardtanh"], (input,), **limits("hardtanh", input, min_val, max_val))


def relu6(input: Tensor) -> Tensor:
    """``input`` limited to [0, 6]."""
    return call(ROWS["hardtanh"], (input,), **limits("relu6", input, 0.0, 6.0))


def hardsigmoid(input: Tensor) -> Tensor:
    """``input / 6 + 0.5`` limited to [0, 1]."""
    need_tensor("hardsigmoid", "input", 1, input)
    return call(ROWS["hardsigmoid"], (input,))


def hardswish(input: Tensor) -> Tensor:
    """``input * hardsigmoid(input)``. Source: Howard and others, "Searching for MobileNetV3", 2019."""
    need_tensor("hardswish", "input", 1, input)
    return call(ROWS["hardswish"], (input,))


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """``input`` where it lies outside ``[-lambd, lambd]``, else 0."""
    need_tensor("hardshrink", "input", 1, input)
    return call(ROWS["hardshrink"], (input,), lambd=float(lambd))


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """``input`` moved towards 0 by ``lambd``, at most to 0. Raises ``RuntimeError`` for a negative ``lambd``."""
    need_tensor("softshrink", "input", 1, input)
    if lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd}.")
    return call(ROWS["softshrink"], (input,), lambd=float(lambd))


def threshold(input: Tensor, threshold: float, value: float) -> Tensor:
    """``input`` where it is above ``threshold``, else ``value``."""
    need_tensor("threshold", "input", 1, input)
    return call(ROWS["threshold"], (input,), threshold=threshold, value=value)


def celu(input: Tensor, alpha: float = 1.0) -> Tensor:
    """``input`` where it is positive, else ``alpha * (exp(input / alpha) - 1)``.

    Source: Barron, "Continuously Differentiable Exponential Linear Units", 2017.
    """
    need_tensor("celu", "input", 1, input)
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return call(ROWS["celu"], (input,), alpha=float(alpha))


def mish(input: Tensor) -> Tensor:
    """``input * tanh(softplus(input))``. Source: Misra, "Mish: A Self Regularized Non-Monotonic Activation", 2019."""
    need_tensor("mish", "input", 1, input)
    return call(ROWS["mish"], (input,))


def logsigmoid(input: Tensor) -> Tensor:
    """``log(sigmoid(input))``, without overflow."""
    need_tensor("logsigmoid", "input", 1, input)
    return call(ROWS["log_sigmoid"], (input,))


def softsign(input: Tensor) -> Tensor:
    """``input / (1 + |input|)``."""
    need_tensor("softsign", "input", 1, input)
    return input / (input.abs() + 1)


def tanhshrink(input: Tensor) -> Tensor:
    """``input - tanh(input)``."""
    need_tensor("tanhshrink", "input", 1, input)
    return input - input.tanh()


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half of ``input`` along ``dim``, times the sigmoid of the second.

    Raises ``RuntimeError`` where there are no two halves. Source: Dauphin and others, 2016.
    """
    need_tensor("glu", "input", 1, input)
    if not input._a.ndim:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    return call(ROWS["glu"], (input,), dim=wrap_dim(dim, input._a.ndim, "glu"))


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """``input`` where it is positive, else ``weight * input``; ``weight`` is one number, or one a channel (dimension 1).

    Raises ``RuntimeError`` for another number of weights, or for two types.
    """
    need_tensor("prelu", "input", 1, input)
    need_tensor("prelu", "weight", 2, weight)
    n, shape = weight._a.size, input._a.shape
    if weight._a.ndim > 1:
        raise RuntimeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight._a.ndim}")
    if n != 1:
        if not shape:
            raise RuntimeError("prelu: Not allow zero-dim input tensor.")
        channels = shape[1] if len(shape) > 1 else 1
        if channels != n:
            raise RuntimeError(
                f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {n} and channel size = {channels}."
            )
    if weight._a.ndim and len(shape) != 1:
        weight = weight.reshape((1, n) + (1,) * (len(shape) - 2)) if len(shape) > 1 else weight.reshape(())
    return call(ROWS["prelu"], (input, weight))


def drawn_slopes(input: Tensor, lower: float, upper: float, generator: Any = None) -> Tensor:
    """1 where ``input`` is positive, else a number drawn from ``[lower, upper]``."""
    kind = input._a.dtype
    drawn = random.numpy_generator(generator).random(input._a.shape) * (upper - lower) + lower
    noise = dispatch.move(dispatch.wrap(np.asarray(drawn).astype(kind)), input.device)
    return noise.masked_fill(input.detach() > 0, 1)


def _slopes_in_order(op: str, input: Tensor, lower: float, upper: float) -> None:
    need_tensor(op, "input", 1, input)
    if lower > upper:
        raise RuntimeError(
            f"{op}: Lower bound should be less than or equal to the upper bound, got {lower} and {upper}"
        )


def rrelu(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, generator: Any = None
) -> Tensor:
    """``leaky_relu`` with a slope that is drawn for each element while ``training``, else with the middle slope.

    Source: Xu and others, "Empirical Evaluation of Rectified Activations in Convolutional Network", 2015.
    """
    _slopes_in_order("rrelu", input, lower, upper)
    if not training:
        return call(ROWS["leaky_relu"], (input,), negative_slope=(lower + upper) / 2)
    return call(ROWS["rrelu_with_noise"], (input, drawn_slopes(input, lower, upper, generator)))


# ------------------------------------------------------------------------------------------------------- in place


def rrelu_(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, generator: Any = None
) -> Tensor:
    """``rrelu``, written into ``input``."""
    _slopes_in_order("rrelu_", input, lower, upper)
    if not training:
        return write(ROWS["leaky_relu"], input, op="rrelu_", negative_slope=(lower + upper) / 2)
    noise = drawn_slopes(input, lower, upper, generator)
    return write(ROWS["rrelu_with_noise"], input, noise, op="rrelu_")


def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """``celu``, written into ``input``."""
    need_tensor("celu_", "input", 1, input)
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return write(ROWS["celu"], input, alpha=float(alpha))


def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """``threshold``, written into ``input``."""
    need_tensor("threshold_", "input", 1, input)
    return write(ROWS["threshold"], input, threshold=threshold, value=value)
