"""What the losses share: shapes that should be equal, and how single losses become one number."""

from __future__ import annotations

import warnings
from typing import Any

from tensorlab import dispatch, layout

Tensor = Any


def same_sizes(name: str, input: Tensor, target: Tensor) -> None:
    """Warn where two shapes differ and broadcast. Raises ``TypeError`` for what is no tensor."""
    for what, x in (("input", input), ("target", target)):
        if not isinstance(x, dispatch.Tensor):
            raise TypeError(f"{name}(): {what} must be a Tensor, not {type(x).__name__}")
    mine, theirs = input._a.shape, target._a.shape
    if mine == theirs:
        return
    both = layout.broadcast_shapes(mine, theirs, op=name)
    warnings.warn(
        f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This will likely "
        f"lead to incorrect results due to broadcasting to {list(both)}. Please ensure they have the same size.",
        stacklevel=3,
    )


def weighed(losses: Tensor, weight: Tensor, reduction: str) -> Tensor:
    """The losses of single elements times their weights, reduced; a mean is over the weights."""
    if weight._a.shape != losses._a.shape:
        raise ValueError("Weights and input must have the same size.")
    weighed = losses * weight
    return weighed.sum() / weight.sum() if reduction == "mean" else reduced(weighed, reduction)


def reduced(losses: Tensor, reduction: str) -> Tensor:
    """The losses of single elements as their mean, their sum, or as they are."""
    return losses.mean() if reduction == "mean" else losses.sum() if reduction == "sum" else losses
