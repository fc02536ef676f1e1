"""Losses between numbers, and between distributions: bent distances, likelihoods, binary cross entropy."""

from __future__ import annotations

import math
import warnings
from typing import Any

from tensorlab import creation, dispatch, functional, modes
from tensorlab.dispatch import call
from tensorlab.functional.arguments import need_tensor
from tensorlab.nn.functional.reducing import reduced, same_sizes, weighed
from tensorlab.nn.reduction import named_reduction
from tensorlab.ops import ROWS

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "gaussian_nll_loss", "huber_loss", "kl_div",
    "poisson_nll_loss", "smooth_l1_loss",
]  # fmt: skip

Tensor = Any


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """Half the square of ``input - target`` up to ``delta``, from there on ``delta`` times its distance. Source: Huber, 1964."""
    if isinstance(delta, bool) or not isinstance(delta, (int, float)):
        raise TypeError(f"delta must be a float or int, got: {type(delta)}")
    reduction = named_reduction(reduction, None, None)
    same_sizes("huber_loss", input, target)
    if delta <= 0:
        raise RuntimeError(f"huber_loss does not support non-positive values for delta, got {delta}.")
    if weight is None:
        return call(ROWS["huber_loss"], (input, target), reduction=reduction, delta=float(delta))
    return weighed(call(ROWS["huber_loss"], (input, target), reduction="none", delta=float(delta)), weight, reduction)


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """``huber_loss`` divided by ``beta``: the distance, with its corner rounded within ``beta`` of 0."""
    reduction = named_reduction(reduction, size_average, reduce)
    same_sizes("smooth_l1_loss", input, target)
    if beta < 0:
        raise RuntimeError(f"smooth_l1_loss does not support negative values for beta, got {beta}.")
    return call(ROWS["smooth_l1_loss"], (input, target), reduction=reduction, beta=float(beta))


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """``-(target * log(input) + (1 - target) * log(1 - input))`` for probabilities; logarithms are at least -100.

    Raises ``ValueError`` where sizes differ, ``RuntimeError`` for a number outside [0, 1].
    """
    reduction = named_reduction(reduction, size_average, reduce)
    for position, (name, x) in enumerate((("input", input), ("target", target)), 1):
        need_tensor("binary_cross_entropy", name, position, x)
    if target._a.shape != input._a.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is deprecated. "
            "Please ensure they have the same size."
        )
    if target._a.dtype != input._a.dtype:
        raise RuntimeError(
            f"binary_cross_entropy(): Found dtype {target.dtype.name} for target but expected {input.dtype.name}; convert "
            "it with .to(input.dtype)"
        )
    if weight is not None:
        weight = functional.expand(weight, input._a.shape)
    return call(ROWS["binary_cross_entropy"], (input, target, weight), reduction=reduction)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """``binary_cross_entropy(sigmoid(input), target)``, without overflow; ``pos_weight`` counts the positive side more.

    Raises ``ValueError`` where sizes differ.
    """
    reduction = named_reduction(reduction, size_average, reduce)
    for position, (name, x) in enumerate((("input", input), ("target", target)), 1):
        need_tensor("binary_cross_entropy_with_logits", name, position, x)
    if target._a.shape != input._a.shape:
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    common = dispatch.common_dtype([input, target])
    input, target = (x if x.dtype is common else x.to(common) for x in (input, target))
    row = ROWS["binary_cross_entropy_with_logits"]
    if all(w is None or w._a.size == 1 or w._a.shape == input._a.shape for w in (weight, pos_weight)):
        return call(row, (input, target, weight, pos_weight), reduction=reduction)
    return reduced(call(row, (input, target, weight, pos_weight), reduction="none"), reduction)


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Any,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """Minus the log-likelihood of ``target`` under normal distributions with mean ``input`` and variance ``var``.

    ``var`` counts as at least ``eps``, which its gradient does not see. Raises ``ValueError`` for a negative variance or one
    of another size.
    """
    need_tensor("gaussian_nll_loss", "input", 1, input)
    if isinstance(var, (int, float)):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = creation.full_like(input, var)
    elif bool((var.detach() < 0).any()):
        raise ValueError("var has negative entry/entries")
    shape, theirs = input._a.shape, var._a.shape
    if theirs != shape:
        if shape[:-1] == theirs:
            var = var.unsqueeze(-1)
        elif not (len(shape) == len(theirs) and all(b in (a, 1) for a, b in zip(shape, theirs, strict=True))):
            raise ValueError(f"var is of incorrect size: {list(theirs)} for input {list(shape)}")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    var = var.clone()
    with modes.no_grad():
        var.clamp_(min=eps)
    losses = (var.log() + (input - target) ** 2 / var) * 0.5
    if full:
        losses = losses + 0.5 * math.log(2 * math.pi)
    return reduced(losses, reduction)


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: Any = None,
    eps: float = 1e-8,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """Minus the log-likelihood of counts under Poisson distributions with mean ``exp(input)``, or ``input`` itself.

    ``full`` adds Stirling's approximation of ``log(target!)``.
    """
    reduction = named_reduction(reduction, size_average, reduce)
    need_tensor("poisson_nll_loss", "input", 1, input)
    losses = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + (target * (2 * math.pi)).log() * 0.5
        losses = losses + stirling.masked_fill(target <= 1, 0)
    return reduced(losses, reduction)


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """``target * (log(target) - input)`` for log-probabilities ``input``; a ``target`` of 0 adds 0.

    ``"batchmean"`` divides the sum by the size of the batch, which is the divergence's definition; ``"mean"`` divides by the
    number of elements, and warns. ``log_target`` says that ``target`` holds logarithms too.
    """
    if size_average is not None or reduce is not None or reduction != "batchmean":
        reduction = named_reduction(reduction, size_average, reduce)
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the sum by the number of all elements; the divergence as mathematics defines it, averaged over "
            "the batch, is 'batchmean'.",
            stacklevel=2,
        )
    need_tensor("kl_div", "input", 1, input)
    if log_target:
        losses = target.exp() * (target - input)
    else:
        losses = target * target.masked_fill(target == 0, 1).log() - target * input
    if reduction == "batchmean":
        return losses.sum() / input._a.shape[0] if input._a.ndim else losses.sum()
    return reduced(losses, reduction)
