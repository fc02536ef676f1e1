"""Layers as functions: the affine map and dropout."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorlab import dispatch, random
from tensorlab.dispatch import call
from tensorlab.functional.arguments import need_tensor
from tensorlab.ops import ROWS

__all__ = ["linear", "dropout"]

Tensor = Any

_LINEAR, _LINEAR_WITHOUT_BIAS = ROWS["linear"], ROWS["linear_without_bias"]


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias``. Shapes: input ``[*, in]``, weight ``[out, in]``, bias ``[out]``, result ``[*,
    out]``.

    Raises ``RuntimeError`` with the shapes that do not meet.
    """
    if bias is None:
        return call(_LINEAR_WITHOUT_BIAS, (input, weight))
    return call(_LINEAR, (input, weight, bias))


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """While ``training``: each element is 0 with probability ``p``, else divided by ``1 - p``. Otherwise ``input``
    itself.
    """
    need_tensor("dropout", "input", 1, input)
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    a = input._a
    keep = random.numpy_generator().random(a.shape, np.float32) >= p
    mask = dispatch.move(
        dispatch.wrap(keep.astype(a.dtype) * a.dtype.type(0.0 if p == 1 else 1.0 / (1.0 - p))), dispatch.device_of(a)
    )
    return input.mul_(mask) if inplace else input * mask
