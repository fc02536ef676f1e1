"""Losses as functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorlab import backend, dispatch, functional
from tensorlab.dispatch import call
from tensorlab.functional.arguments import need_tensor
from tensorlab.nn.functional.reducing import reduced, same_sizes, weighed
from tensorlab.nn.reduction import REDUCTIONS, named_reduction
from tensorlab.ops import ROWS

__all__ = ["mse_loss", "l1_loss", "linear_cross_entropy", "nll_loss", "cross_entropy"]

Tensor = Any

_LOG_SOFTMAX, _NLL_LOSS, _MSE_LOSS = ROWS["log_softmax"], ROWS["nll_loss"], ROWS["mse_loss"]


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """``(input - target) ** 2``, and its mean or sum. Warns where the two shapes differ and broadcast.

    >>> import tensorlab as tl
    >>> tl.nn.functional.mse_loss(tl.tensor([1., 2.]), tl.tensor([1., 4.]))
    tensor(2.)
    """
    reduction = named_reduction(reduction, size_average, reduce)
    same_sizes("mse_loss", input, target)
    if weight is None:
        return call(_MSE_LOSS, (input, target), reduction=reduction)
    return weighed(call(_MSE_LOSS, (input, target), reduction="none"), weight, reduction)


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """``|input - target|``, and its mean or sum. Warns where the two shapes differ and broadcast."""
    reduction = named_reduction(reduction, size_average, reduce)
    same_sizes("l1_loss", input, target)
    losses = (input - target).abs()
    return reduced(losses, reduction) if weight is None else weighed(losses, weight, reduction)


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """Minus the log-probability of each target class. Shapes: input ``[N, C, *]`` or ``[C]``, target ``[N, *]`` or
    ``[]``.

    ``weight`` counts classes differently, targets equal to ``ignore_index`` do not count, and the mean is over the
    counts. Raises ``IndexError`` for a class that there is none of.
    """
    reduction = named_reduction(reduction, size_average, reduce)
    _class_weights(input, weight)
    return call(_NLL_LOSS, (input, target, weight), reduction=reduction, ignore_index=ignore_index)


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Minus the log of the probability that ``softmax(input)`` gives to each target.

    ``input`` ``[N, C, *]`` or ``[C]`` holds unnormalised scores. ``target`` holds class numbers ``[N, *]``, or
    probabilities in the shape of ``input``. A row whose target is ``ignore_index`` counts for nothing, whatever it
    holds, and gets gradient 0; a class of probability 0 adds 0 even where its score is minus infinity.
    ``label_smoothing`` in [0, 1] moves that part of the target's weight to all classes alike.

    >>> import tensorlab as tl
    >>> tl.nn.functional.cross_entropy(tl.zeros(1, 4), tl.tensor([2]))
    tensor(1.3863)
    """
    need_tensor("cross_entropy", "input", 1, input)
    need_tensor("cross_entropy", "target", 2, target)
    if size_average is not None or reduce is not None or reduction not in REDUCTIONS:
        reduction = named_reduction(reduction, size_average, reduce)
    if weight is not None:
        _class_weights(input, weight)
    a = input._a
    dim = 0 if a.ndim == 1 else 1
    soft = target._a.shape == a.shape
    if soft and target._a.dtype.kind not in "fV":
        raise RuntimeError(
            f"Expected floating point type for target with class probabilities, got {target.dtype}. A target in the "
            "shape of the input holds probabilities; class numbers have one dimension less."
        )
    if label_smoothing and not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    if soft:
        if ignore_index >= 0:
            raise RuntimeError(
                f"ignore_index is not supported for floating point target, got {ignore_index}: probabilities have no class to ignore"
            )
        return _soft_cross_entropy(input, target, weight, reduction, label_smoothing, dim)
    input = _without_ignored(input, target, ignore_index, dim)
    log_odds = call(_LOG_SOFTMAX, (input,), dim=dim)
    loss = call(_NLL_LOSS, (log_odds, target, weight), reduction=reduction, ignore_index=ignore_index)
    if label_smoothing:
        return _smoothed(loss, log_odds, target, weight, ignore_index, reduction, label_smoothing, dim)
    return loss


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Tensor:
    """``cross_entropy`` of the scores ``input @ linear_weight.T + linear_bias``.

    Shapes: input ``[N, in]`` or ``[in]``, linear_weight ``[C, in]`` or ``[C, *, in]`` for scores ``[N, C, *]``. ``options``, how
    PyTorch cuts the work into chunks, changes nothing here.
    """
    need_tensor("linear_cross_entropy", "input", 1, input)
    need_tensor("linear_cross_entropy", "linear_weight", 2, linear_weight)
    x, w = input._a.shape, linear_weight._a.shape
    if len(x) not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {len(x)}")
    if len(w) < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality 2 or more, got {len(w)}")
    if len(x) == 1 and len(w) > 2:
        raise RuntimeError(f"K-dimensional loss defined by linear_weight shape {tuple(w)} requires batched input")
    if x[-1:] != w[-1:]:
        raise RuntimeError(
            f"expected equal input and linear_weight last dimensions (in_features), got {x[-1]} and {w[-1]}, respectively"
        )
    scores = functional.matmul(input, linear_weight.reshape((-1, w[-1])).t())
    if linear_bias is not None:
        scores = scores + linear_bias.reshape(-1)
    if ignore_index is None:
        ignore_index = -100
    scores = scores.reshape((*x[:-1], *w[:-1]))
    return cross_entropy(scores, target, weight, None, ignore_index, None, reduction, label_smoothing)


def _without_ignored(input: Tensor, target: Tensor, ignore_index: int, dim: int) -> Tensor:
    """The scores with ignored rows that are not finite set to 0, since log_softmax would turn their gradient 0 into
    NaN.
    """
    a, t = input._a, target._a
    on_host = type(t) is np.ndarray
    if t.dtype.kind != "i" or (on_host and ignore_index < 0 and np.minimum.reduce(t, axis=None, initial=0) >= 0):
        return input
    if t.shape != a.shape[:dim] + a.shape[dim + 1 :] or dispatch.device_of(t) != dispatch.device_of(a):
        return input
    where = backend.of(a)
    with where.on(a):
        ignored = t == ignore_index
        if not ignored.any():
            return input
        rows = where.xp.expand_dims(ignored, dim)
        if not (rows & ~where.xp.isfinite(a)).any():
            return input
    return functional.masked_fill(input, dispatch.wrap(rows), 0.0)


def _smoothed(
    loss: Tensor,
    log_odds: Tensor,
    target: Tensor,
    weight: Tensor | None,
    ignore_index: int,
    reduction: str,
    smoothing: float,
    dim: int,
) -> Tensor:
    """A part of each target's weight given to all classes alike."""
    classes = log_odds._a.shape[dim]
    ignored = target == ignore_index
    weighed = log_odds if weight is None else log_odds * _along(weight, log_odds, dim)
    even = (-weighed.sum(dim)).masked_fill(ignored, 0.0)
    if reduction == "none":
        spread = even
    elif reduction == "sum":
        spread = even.sum()
    elif weight is None:
        spread = even.sum() / int((~ignored).sum())
    else:
        counts = weight[target.masked_fill(ignored, 0)].masked_fill(ignored, 0.0)
        spread = even.sum() / counts.sum()
    return loss * (1 - smoothing) + spread * (smoothing / classes)


def _soft_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, smoothing: float, dim: int
) -> Tensor:
    log_odds = call(_LOG_SOFTMAX, (input,), dim=dim)
    classes = input._a.shape[dim]
    if smoothing:
        target = target * (1 - smoothing) + smoothing / classes
    if type(target._a) is type(log_odds._a) is np.ndarray:
        impossible = dispatch.wrap((target._a == 0) & (log_odds._a == -float("inf")))
    else:
        impossible = (target == 0) & (log_odds == -float("inf"))
    if impossible._a.any():  # 0 log 0 is 0
        log_odds = functional.masked_fill(log_odds, impossible, 0.0)
    products = log_odds * target
    if weight is not None:
        products = products * _along(weight, products, dim)
    if reduction == "none":
        return -products.sum(dim)
    if reduction == "sum":
        return -products.sum()
    rows = products._a.size // classes if classes else 0
    return -products.sum() / rows


def _along(weight: Tensor, beside: Tensor, dim: int) -> Tensor:
    """Class weights shaped to multiply along ``dim``."""
    return weight.reshape([-1 if d == dim else 1 for d in range(beside._a.ndim)])


def _class_weights(input: Tensor, weight: Tensor | None) -> None:
    if weight is None:
        return
    need_tensor("nll_loss", "weight", 3, weight)
    classes = input._a.shape[0 if input._a.ndim == 1 else 1] if input._a.ndim else 0
    if weight._a.shape != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight "
            "tensor of shape: "
            f"{list(weight.shape)}"
        )
