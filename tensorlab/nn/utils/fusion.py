"""A batch norm in evaluation is an affine map, so it can be worked into the layer before it."""

from __future__ import annotations

import copy
from typing import Any

from tensorlab.nn.parameter import Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]

Tensor = Any


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A copy of ``conv`` that gives what ``bn(conv(x))`` gives. ``transpose`` says that it is a transposed convolution.

    Raises ``AssertionError`` where one of the two is in training.

    >>> import tensorlab as tl
    >>> conv, bn = tl.nn.Conv2d(3, 4, 3).eval(), tl.nn.BatchNorm2d(4).eval()
    >>> x = tl.randn(2, 3, 8, 8)
    >>> tl.allclose(tl.nn.utils.fuse_conv_bn_eval(conv, bn)(x), bn(conv(x)), atol=1e-5)
    True
    """
    fused = _copied(conv, bn)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused


def fuse_conv_bn_weights(
    conv_w: Tensor, conv_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float, bn_w: Tensor | None, bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:  # fmt: skip
    """Weight and bias of a convolution and the batch norm after it, as those of one convolution."""
    scale, shift = _affine(conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
    shape = [1, -1] if transpose else [-1, 1]
    weight = conv_w * scale.reshape(shape + [1] * (conv_w.dim() - 2)).to(conv_w.dtype)
    return Parameter(weight.detach(), conv_w.requires_grad), Parameter(shift.detach(), conv_w.requires_grad)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A copy of ``linear`` that gives what ``bn(linear(x))`` gives.

    Raises ``AssertionError`` where one of the two is in training, or where their features do not meet.
    """
    fused = _copied(linear, bn)
    if not (linear.out_features == bn.num_features or bn.num_features == 1):
        raise AssertionError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1")
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused


def fuse_linear_bn_weights(
    linear_w: Tensor, linear_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float, bn_w: Tensor | None, bn_b: Tensor | None
) -> tuple[Parameter, Parameter]:  # fmt: skip
    """Weight and bias of a linear layer and the batch norm after it, as those of one linear layer."""
    scale, shift = _affine(linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
    weight = linear_w * scale.unsqueeze(-1).to(linear_w.dtype)
    return Parameter(weight.detach(), linear_w.requires_grad), Parameter(shift.detach(), linear_w.requires_grad)


def _copied(layer: Any, bn: Any) -> Any:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    return copy.deepcopy(layer)


def _affine(
    bias: Tensor | None, mean: Tensor, var: Tensor, eps: float, weight: Tensor | None, shift: Tensor | None
) -> tuple[Tensor, Tensor]:
    """What the norm multiplies with, and what is added in the end."""
    scale = (var + eps).rsqrt()
    scale = scale if weight is None else scale * weight
    moved = -mean * scale if bias is None else (bias - mean) * scale
    return scale, moved if shift is None else moved + shift
