"""Losses that ask for a margin between what is right and what is not, and the distances they measure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorlab import backend, creation, dispatch, functional
from tensorlab.functional import cosine_similarity as cosine_similarity
from tensorlab.functional import pairwise_distance as pairwise_distance
from tensorlab.functional import pdist as pdist
from tensorlab.functional.arguments import need_tensor
from tensorlab.nn.functional.reducing import reduced
from tensorlab.nn.reduction import named_reduction

__all__ = [
    "cosine_embedding_loss", "cosine_similarity", "hinge_embedding_loss", "margin_ranking_loss", "multi_margin_loss",
    "multilabel_margin_loss", "multilabel_soft_margin_loss", "pairwise_distance", "pdist", "soft_margin_loss", "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]  # fmt: skip

Tensor = Any


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """``max(0, margin - target * (input1 - input2))``: ``target`` 1 asks for a larger ``input1``, -1 for a smaller one."""
    reduction = named_reduction(reduction, size_average, reduce)
    for position, (name, x) in enumerate((("input1", input1), ("input2", input2), ("target", target)), 1):
        need_tensor("margin_ranking_loss", name, position, x)
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {list(input1.shape)}, input2: {list(input2.shape)}, target: {list(target.shape)}"
        )
    return reduced((-target * (input1 - input2) + margin).clamp_min(0), reduction)


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """``input`` where ``target`` is 1, ``max(0, margin - input)`` where it is -1."""
    reduction = named_reduction(reduction, size_average, reduce)
    need_tensor("hinge_embedding_loss", "input", 1, input)
    apart = functional.where(target != 1, (margin - input).clamp_min(0), 0)
    return reduced(apart + functional.where(target != -1, input, 0), reduction)


def soft_margin_loss(
    input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Tensor:
    """``log(1 + exp(-target * input))`` for targets 1 and -1, without overflow."""
    reduction = named_reduction(reduction, size_average, reduce)
    need_tensor("soft_margin_loss", "input", 1, input)
    need_tensor("soft_margin_loss", "target", 2, target)
    return reduced(-functional.logsigmoid(target * input), reduction)


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """``1 - cos(input1, input2)`` where ``target`` is 1, ``max(0, cos - margin)`` where it is -1.

    Shapes: inputs ``[N, D]`` or ``[D]``, target ``[N]`` or ``[]``.
    """
    reduction = named_reduction(reduction, size_average, reduce)
    for position, (name, x) in enumerate((("input1", input1), ("input2", input2), ("target", target)), 1):
        need_tensor("cosine_embedding_loss", name, position, x)
    if target.dim() not in (0, 1):
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    wanted = target.dim() + 1
    if input1.dim() != wanted or input2.dim() != wanted:
        raise RuntimeError(
            f"{target.dim()}D target tensor expects {wanted}D input tensors, but found inputs with sizes "
            f"{list(input1.shape)} and {list(input2.shape)}."
        )
    eps = 1e-12
    products = (input1 * input2).sum(target.dim())
    sizes = ((input1 * input1).sum(target.dim()) + eps) * ((input2 * input2).sum(target.dim()) + eps)
    cos = products / sizes.sqrt()
    alike = functional.where(target == 1, 1 - cos, 0)
    return reduced(alike + functional.where(target == -1, (cos - margin).clamp_min(0), 0), reduction)


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """``max(0, margin - input[target] + input[i]) ** p`` summed over all other classes and divided by their number with it.

    Shapes: input ``[N, C]`` or ``[C]``, target ``[N]`` or ``[]``.
    """
    reduction = named_reduction(reduction, size_average, reduce)
    need_tensor("multi_margin_loss", "input", 1, input)
    need_tensor("multi_margin_loss", "target", 2, target)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    shape = input._a.shape
    if len(shape) > 2 or not input._a.size and (not shape or shape[-1] == 0):
        raise RuntimeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(shape)}"
        )
    count = shape[0] if len(shape) == 2 else 1
    if target.dim() > 1 or target._a.size != count:
        raise RuntimeError(
            "inconsistent target size, target tensor should be 1-D with size equal to the batch: Expected target size "
            f"[{count}] for input {list(shape)}, but got {list(target.shape)}"
        )
    classes = shape[-1] if shape else 1
    if weight is not None and weight._a.size != classes:
        raise RuntimeError(f"inconsistent weight size, expected {classes} but got {list(weight.shape)}")
    _classes("multi_margin_loss", target, classes)
    rows, index = input.reshape(count, classes), target.reshape(count, 1)
    apart = functional.relu(rows - rows.gather(1, index) + margin)
    apart = apart if p == 1 else apart * apart
    if weight is not None:
        apart = apart * weight[index]
    others = apart.masked_fill(_one_of(rows, index), 0)
    losses = others.sum(1) / classes
    return reduced(losses if target.dim() or len(shape) == 2 else losses.reshape(()), reduction)


def _classes(op: str, target: Tensor, classes: int, low: int = 0) -> None:
    a = target._a
    if a.dtype.kind not in "iu":
        raise RuntimeError(f"{op}(): expected scalar type Long but found {target.dtype.name} for target")
    if a.size and (int(a.min()) < low or int(a.max()) >= classes):
        raise RuntimeError(f"{op}(): argument #3 'target' is out of range: classes go from 0 to {classes - 1}")


def _one_of(rows: Tensor, index: Tensor) -> Tensor:
    """Where a row's number is among its indices (``[N, K]``)."""
    counted = creation.zeros_like(rows).scatter_add(1, index, rows.detach().new_ones(index._a.shape))
    return counted > 0


def multilabel_margin_loss(
    input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Tensor:
    """``max(0, 1 - (input[j] - input[i]))`` summed over all targets j and all classes i that are none, divided by C.

    ``target`` lists class numbers, up to the first -1. Shapes: both ``[N, C]`` or ``[C]``.
    """
    reduction = named_reduction(reduction, size_average, reduce)
    need_tensor("multilabel_margin_loss", "input", 1, input)
    need_tensor("multilabel_margin_loss", "target", 2, target)
    shape = input._a.shape
    if len(shape) > 2 or (shape and shape[-1] == 0):
        raise RuntimeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(shape)}"
        )
    if target._a.size != input._a.size or len(target._a.shape) > 2 or (len(shape) == 2) != (target.dim() == 2):
        raise RuntimeError(f"inconsistent target size: {list(target.shape)} for input of size: {list(shape)}")
    classes = shape[-1] if shape else 1
    _classes("multilabel_margin_loss", target, classes, -1)
    rows, listed = input.reshape(-1, classes), target.reshape(-1, classes)
    where = backend.of(listed._a)
    with where.on(listed._a):
        counts = where.xp.cumsum(listed._a < 0, axis=1) == 0  # up to the first -1
        safe = dispatch.wrap(where.xp.where(counts, listed._a, 0))
    kept = dispatch.wrap(counts)
    given = creation.zeros_like(rows).scatter_add(1, safe, kept.to(rows.dtype)) > 0
    apart = functional.relu(rows.unsqueeze(1) - rows.gather(1, safe).unsqueeze(2) + 1)
    counted = kept.unsqueeze(2) & ~given.unsqueeze(1)
    losses = apart.masked_fill(~counted, 0).sum((1, 2)) / classes
    return reduced(losses if len(shape) == 2 else losses.reshape(()), reduction)


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean over classes of ``-(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))``, for targets 0 and 1."""
    reduction = named_reduction(reduction, size_average, reduce)
    need_tensor("multilabel_soft_margin_loss", "input", 1, input)
    losses = -(target * functional.logsigmoid(input) + (1 - target) * functional.logsigmoid(-input))
    if weight is not None:
        losses = losses * weight
    dim = input.dim() - 1
    return reduced(losses.sum(dim) / (input.shape[dim] if input.dim() else 1), reduction)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """``max(0, margin + d(anchor, positive) - d(anchor, negative))`` with ``p``-norm distances along the last dimension.

    ``swap`` takes the smaller of the negative's distances to anchor and positive. Source: Balntas and others, 2016.
    """
    reduction = named_reduction(reduction, size_average, reduce)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    _same_ranks("triplet_margin_loss", anchor, positive, negative)

    def distance(x: Tensor, y: Tensor) -> Tensor:
        return pairwise_distance(x, y, p, eps)

    return _triplet(distance, anchor, positive, negative, margin, swap, reduction)


def _same_ranks(op: str, anchor: Tensor, positive: Tensor, negative: Tensor) -> None:
    given = {"anchor": anchor, "positive": positive, "negative": negative}
    for position, (name, x) in enumerate(given.items(), 1):
        need_tensor(op, name, position, x)
    if not anchor.dim() == positive.dim() == negative.dim():
        said = ", ".join(f"{name} {x.dim()}D" for name, x in given.items())
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"{said} inputs"
        )


def _triplet(
    distance: Callable[[Tensor, Tensor], Tensor],
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float,
    swap: bool,
    reduction: str,
) -> Tensor:
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = functional.minimum(far, distance(positive, negative))
    return reduced((near - far + margin).clamp_min(0), reduction)


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """``triplet_margin_loss`` with any function of two tensors as distance; ``pairwise_distance`` if none is given."""
    reduction = named_reduction(reduction, None, None)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    _same_ranks("triplet_margin_with_distance_loss", anchor, positive, negative)
    return _triplet(distance_function or pairwise_distance, anchor, positive, negative, margin, swap, reduction)
