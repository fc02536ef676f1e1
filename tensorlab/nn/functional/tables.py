"""Rows of tables by number: embeddings, bags of them, one-hot vectors; and the bilinear map."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorlab import backend, dispatch, dtypes, functional, modes
from tensorlab.dispatch import call
from tensorlab.functional.arguments import need_tensor
from tensorlab.ops import ROWS

__all__ = ["bilinear", "embedding", "embedding_bag", "one_hot"]

Tensor = Any


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Each class number as a vector of int64 that is 1 at it and 0 elsewhere; as many classes as there are if not said.

    >>> import tensorlab as tl
    >>> tl.nn.functional.one_hot(tl.tensor([0, 2]))
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    need_tensor("one_hot", "tensor", 1, tensor)
    if tensor.dtype is not dtypes.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor; convert it with .long()")
    a = tensor._a
    if a.size == 0 and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    if a.size and int(a.min()) < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(a.max()) + 1
    elif num_classes < 1:
        raise RuntimeError("num_classes should be positive")
    elif a.size and int(a.max()) >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    where = backend.of(a)
    with where.on(a):
        return dispatch.wrap((a[..., None] == where.xp.arange(num_classes)).astype(np.int64))


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input1 @ weight[k] @ input2 + bias[k]`` for every k. Shapes: ``[*, A]``, ``[*, B]``, ``[K, A, B]``, ``[K]``: ``[*, K]``."""
    for position, (name, x) in enumerate((("input1", input1), ("input2", input2), ("weight", weight)), 1):
        need_tensor("bilinear", name, position, x)
    one, two, w = input1._a.shape, input2._a.shape, weight._a.shape
    if len(one) != len(two) or one[:-1] != two[:-1]:
        raise RuntimeError(f"bilinear(): input batch dimensions do not match: got {list(one)} and {list(two)}")
    if one[-1] != w[1] or two[-1] != w[2]:
        raise RuntimeError(
            f"bilinear(): input sizes do not match weight sizes: got {one[-1]} and {two[-1]} but expected {w[1]} and {w[2]}"
        )
    if bias is not None and bias._a.shape != w[:1]:
        raise RuntimeError(f"bilinear(): bias has {bias._a.size} elements, weight gives {w[0]} outputs")
    x1, x2 = input1.reshape((-1, one[-1])), input2.reshape((-1, two[-1]))
    half = functional.matmul(x1, weight.permute(1, 0, 2).reshape((w[1], w[0] * w[2]))).reshape((-1, w[0], w[2]))
    out = functional.matmul(half, x2.unsqueeze(-1)).squeeze(-1).reshape((*one[:-1], w[0]))
    return out if bias is None else out + bias


def _padding(op: str, weight: Tensor, padding_idx: int | None) -> int:
    """The padding row counted from the start, -1 for none. Raises ``AssertionError`` where there is no such row."""
    if padding_idx is None:
        return -1
    rows = weight._a.shape[0]
    if not -rows <= padding_idx < rows:
        raise AssertionError(f"{op}: padding_idx must be within num_embeddings ({rows}), got {padding_idx}")
    return padding_idx % rows


def _shortened(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> None:
    """Shorten, in place, the rows in use that are longer than ``max_norm``."""
    with modes.no_grad():
        used = indices.detach().reshape(-1).unique()
        rows = weight.detach()[used]
        sizes = functional.norm(rows, norm_type, -1, keepdim=True)
        weight.detach()[used] = rows * functional.where(sizes > max_norm, max_norm / (sizes + 1e-7), 1.0)


def _looked_up(weight: Tensor, indices: Tensor, padding: int, by_frequency: bool) -> Tensor:
    return call(ROWS["embedding"], (weight, indices), padding_idx=padding, scale_grad_by_freq=by_frequency)


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """``weight[input]``: one row of ``weight`` ``[rows, D]`` for every number in ``input``.

    The row ``padding_idx`` gets no gradient. Rows in use that are longer than ``max_norm`` are shortened in place.
    ``scale_grad_by_freq`` divides a row's gradient by how often it was used. Gradients are dense; ``sparse`` changes nothing.
    Raises ``IndexError`` for a number that is no row.
    """
    need_tensor("embedding", "input", 1, input)
    need_tensor("embedding", "weight", 2, weight)
    padding = _padding("embedding", weight, padding_idx)
    if weight._a.ndim != 2:
        raise RuntimeError(f"'weight' must be 2-D, but it has shape {list(weight._a.shape)}")
    if max_norm is not None:
        _shortened(weight, input, max_norm, norm_type)
    return _looked_up(weight, input, padding, scale_grad_by_freq)


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """The sum, mean or maximum of the rows of each bag; 0 for an empty bag.

    A bag is a row of ``input`` ``[bags, N]``, or a part of ``input`` ``[N]`` that begins at an entry of ``offsets``.
    ``per_sample_weights`` multiply the rows of a sum. Entries equal to ``padding_idx`` do not count. Gradients are dense.
    """
    need_tensor("embedding_bag", "input", 1, input)
    if not isinstance(weight, dispatch.Tensor):
        raise TypeError(f"embedding_bag(): argument 'weight' (position 2) must be Tensor, not {type(weight).__name__}")
    _check_weights(input, per_sample_weights, mode)
    padding = _padding("embedding_bag", weight, padding_idx)
    bags, starts = _bags(input, offsets, include_last_offset)
    flat = input.reshape(-1)
    if max_norm is not None:
        _shortened(weight, flat, max_norm, norm_type)
    rows = _looked_up(weight, flat, padding, scale_grad_by_freq and mode != "max")
    kind = rows.dtype
    if kind.itemsize == 2:
        rows = rows.float()  # sums of many are kept in float32
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape((-1, 1))
    kept = flat != padding
    if mode == "max":
        return _largest(rows, kept, starts, flat._a.shape[0]).to(kind)
    if padding >= 0:
        rows = rows.masked_fill(~kept.unsqueeze(-1), 0)
    out = rows.new_zeros((len(starts), rows._a.shape[1])).index_add(0, bags, rows)
    if mode == "sum":
        return out.to(kind)
    counts = rows.detach().new_zeros(len(starts)).index_add(0, bags, kept.to(rows.dtype))
    return (out / counts.clamp(min=1).unsqueeze(-1)).to(kind)


def _check_weights(input: Tensor, weights: Tensor | None, mode: str) -> None:
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if weights is None:
        return
    if weights._a.shape != input._a.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({list(weights.shape)}) is not None, then it must have the same shape "
            f"as the input ({list(input.shape)})"
        )
    if mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got "
            f"mode='{mode}')."
        )


def _bags(input: Tensor, offsets: Tensor | None, include_last_offset: bool) -> tuple[Tensor, np.ndarray]:
    """The number of every entry's bag, and where each bag starts (on the host)."""
    shape = input._a.shape
    if len(shape) == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences"
            )
        starts = np.arange(shape[0]) * shape[1]
    elif len(shape) != 1:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {len(shape)}")
    else:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got None")
        if offsets.dim() != 1:
            raise ValueError(f"offsets has to be a 1D Tensor, but got {offsets.dim()}D")
        starts = np.asarray(backend.to_host(offsets._a))
        if include_last_offset:
            starts = starts[:-1]
        if starts.size and starts[0] != 0:
            raise RuntimeError(f"offsets[0] has to be 0, i.e., the first sequence starts at 0, but it is {starts[0]}")
        if starts.size and int(starts.max()) > shape[0]:
            raise RuntimeError(f"offsets[-1] can not be greater than input's length {shape[0]}, but it is {starts[-1]}")
    sizes = np.diff(np.append(starts, math.prod(shape)))
    bags = dispatch.wrap(np.repeat(np.arange(len(starts)), sizes))
    return dispatch.move(bags, input.device), starts


def _largest(rows: Tensor, kept: Tensor, starts: np.ndarray, count: int) -> Tensor:
    """The largest of each bag, the first of equal ones, by way of a table in which all bags are equally long."""
    sizes = np.diff(np.append(starts, count))
    longest = int(sizes.max()) if sizes.size else 0
    if not longest:
        return rows.new_zeros((len(starts), rows._a.shape[1]))
    place = starts[:, None] + np.arange(longest)
    inside = np.arange(longest) < sizes[:, None]
    at = dispatch.move(dispatch.wrap(np.where(inside, place, 0)), rows.device)
    counted = dispatch.move(dispatch.wrap(inside), rows.device) & kept[at]
    table = rows[at].masked_fill(~counted.unsqueeze(-1), -float("inf"))
    return table.max(1).values.masked_fill(~counted.any(1, keepdim=True), 0)
