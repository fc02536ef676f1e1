"""Rows of a table picked by number, and the gradient of that: rows added at their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorlab import backend
from tensorlab.ops.table import NO_ONNX, elements, no_cost, row

Shape = tuple[int, ...]


def _numbers(indices: Any, rows: int) -> None:
    """Refuse what is no row's number."""
    if indices.dtype not in (np.dtype(np.int64), np.dtype(np.int32)):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"{indices.dtype.name} instead. Convert it with .long()."
        )
    if indices.size and (int(indices.min()) < 0 or int(indices.max()) >= rows):
        wrong = int(indices.min()) if int(indices.min()) < 0 else int(indices.max())
        raise IndexError(f"index out of range in self: {wrong} is no row of a table with {rows} rows")


def _embedding(xp: Any, weight: Any, indices: Any, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    _numbers(indices, weight.shape[0])
    return xp.take(weight, indices, axis=0)


def _embedding_backward(
    xp: Any, g: Any, indices: Any, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Any:
    width = g.shape[-1]
    at, rows = indices.reshape(-1), g.reshape(-1, width) if g.size else g.reshape(0, width)
    if padding_idx >= 0:
        kept = at != padding_idx
        at, rows = at[kept], rows[kept]
    if scale_grad_by_freq:
        counts = xp.bincount(at, minlength=num_weights)
        rows = rows / counts[at][:, None].astype(rows.dtype)
    return _added(xp, at, rows, num_weights)


def _added(xp: Any, at: Any, rows: Any, count: int) -> Any:
    """A table of zeros with rows added at their numbers; on the host equal numbers are brought together first."""
    wide = rows.astype(np.float32) if rows.dtype.itemsize == 2 else rows
    out = xp.zeros((count, rows.shape[1]), wide.dtype)
    if at.size == 0:
        return out.astype(rows.dtype, copy=False)
    if xp is not np:
        backend.of(out).add_at(out, at, wide)
    else:
        order = np.argsort(at, kind="stable")
        ordered = at[order]
        first = np.concatenate(([0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1))
        out[ordered[first]] = np.add.reduceat(wide[order], first, axis=0)
    return out.astype(rows.dtype, copy=False)


def _shape(shapes: Sequence[Shape], **attrs: Any) -> Shape:
    return (*shapes[1], *shapes[0][1:])


def _again(g: Any, indices: Any, num_weights: int, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    """The rows that a gradient for the table sends back to what arrived."""
    rows = g._op("embedding", indices, padding_idx=-1, scale_grad_by_freq=False)
    if scale_grad_by_freq:
        flat = indices.reshape(-1)
        counts = g._zeros((num_weights,)).index_add(0, flat, g._zeros((elements(indices.shape),)) + 1)
        rows = rows / counts.index_select(0, flat).reshape((*indices.shape, 1))
    return rows.masked_fill((indices == padding_idx).unsqueeze(-1), 0) if padding_idx >= 0 else rows


embedding = row(
    "embedding",
    "weight indices",
    forward=_embedding,
    infer=_shape,
    grad={
        "weight": lambda g, indices, weight_shape, padding_idx, scale_grad_by_freq: g._op(
            "embedding_dense_backward",
            indices,
            num_weights=weight_shape[0],
            padding_idx=padding_idx,
            scale_grad_by_freq=scale_grad_by_freq,
        )
    },
    formula="result[i] = weight[indices[i]]",
    derivatives={"weight": "zeros with grad added at indices"},
    onnx="Gather",
    cost=no_cost,
    samples=lambda t: [
        ((t(5, 3), t.index(5, 2, 4)), {"padding_idx": -1, "scale_grad_by_freq": False}),
        ((t(3, 2), t.index(3)), {"padding_idx": -1, "scale_grad_by_freq": False}),
        ((t(3, 2), t.index(3, 0)), {"padding_idx": -1, "scale_grad_by_freq": False}),
    ],
)
embedding_dense_backward = row(
    "embedding_dense_backward",
    "grad_output indices",
    forward=_embedding_backward,
    infer=lambda shapes, num_weights, **attrs: (num_weights, shapes[0][-1]),
    grad={"grad_output": _again},
    formula="result = zeros with grad added at indices",
    derivatives={"grad_output": "grad at indices, 0 at the padding"},
    onnx=NO_ONNX("appears in gradients only"),
    cost=lambda shapes, result, **attrs: elements(shapes[0]),
    samples=lambda t: [
        ((t(4, 3), t.index(5, 4)), {"num_weights": 5, "padding_idx": -1, "scale_grad_by_freq": False}),
        ((t(6, 2), t.index(3, 6)), {"num_weights": 3, "padding_idx": 1, "scale_grad_by_freq": True}),
    ],
)
