"""Elements in order: sorted, the largest few, the one in the middle. NaN counts as the largest number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorlab.ops.reduce import evenly, reduced
from tensorlab.ops.table import NO_ONNX, elements, row

Shape = tuple[int, ...]


def _keys(a: Any) -> Any:
    """What stands for the elements of ``a`` in comparisons."""
    if a.dtype.kind == "c":
        raise RuntimeError("sort(): complex numbers have no order; sort their .abs()")
    return a.astype(np.float32) if a.dtype.itemsize == 2 and a.dtype.kind in "fV" else a


def in_order(xp: Any, a: Any, dim: int, descending: bool) -> Any:
    """The indices that sort ``a`` along ``dim``; equal elements keep their order either way."""
    keys = _keys(a)
    if not descending:
        return xp.argsort(keys, axis=dim, kind="stable")
    backwards = xp.argsort(xp.flip(keys, dim), axis=dim, kind="stable")
    return a.shape[dim] - 1 - xp.flip(backwards, dim)


def smallest(xp: Any, a: Any, dim: int, k: int) -> Any:
    """The index of the element of every lane that ``k`` others come before, without sorting the rest; the dimension stays."""
    return xp.argpartition(_keys(a), k, axis=dim)[(slice(None),) * dim + (slice(k, k + 1),)]


def _sort(xp: Any, a: Any, dim: int, descending: bool) -> Any:
    if a.ndim == 0:
        return a.copy(), xp.zeros((), np.int64)
    at = in_order(xp, a, dim, descending)
    return xp.take_along_axis(a, at, axis=dim), at.astype(np.int64)


def _selecting(grads: Any, needs: Any, indices: Any, self_shape: Shape, dim: int) -> Any:
    """Gradients of values that were picked along ``dim``: back to where they came from."""
    return [grads[0]._op("value_selecting_backward", indices, shape=self_shape, dim=dim, keepdim=True)]


def _n_log_n(shapes: Sequence[Shape], result: Shape, **attrs: Any) -> int:
    n = elements(shapes[0])
    return n * max(1, n).bit_length()


sort = row(
    "sort",
    "self",
    forward=_sort,
    infer=lambda shapes, dim, descending: [tuple(shapes[0])] * 2,
    grad=_selecting,
    formula="values, indices = self in order along dim",
    derivatives={"self": "grad put back to where each value came from"},
    onnx="TopK",
    cost=_n_log_n,
    samples=lambda t: [((t(2, 3),), {}), ((t(3, 2), 0, True), {}), ((t(),), {}), ((t(0, 3),), {})],
    results="values indices",
    holomorphic=False,
)


def _topk(xp: Any, a: Any, k: int, dim: int, largest: bool) -> Any:
    if a.ndim == 0:
        return a.copy(), xp.zeros((), np.int64)
    n, before = a.shape[dim], (slice(None),) * dim
    if 0 < 8 * k < n:  # a few of many: those first, then in order
        kth, part = (n - k, slice(n - k, n)) if largest else (k - 1, slice(0, k))
        few = xp.argpartition(_keys(a), kth, axis=dim)[(*before, part)]
        order = in_order(xp, xp.take_along_axis(a, few, axis=dim), dim, largest)
        at = xp.take_along_axis(few, order, axis=dim)
    else:
        at = in_order(xp, a, dim, largest)[(*before, slice(0, k))]
    return xp.take_along_axis(a, at, axis=dim), at.astype(np.int64)


topk = row(
    "topk",
    "self",
    forward=_topk,
    infer=lambda shapes, k, dim, largest: [(*shapes[0][:dim], k, *shapes[0][dim + 1 :]) if shapes[0] else ()] * 2,
    grad=_selecting,
    formula="values, indices = the k largest along dim",
    derivatives={"self": "zeros with grad where the values came from"},
    onnx="TopK",
    cost=_n_log_n,
    samples=lambda t: [
        ((t(2, 4), 2), {}),
        ((t(4, 2), 3), {"dim": 0, "largest": False}),
        ((t(3), 0), {}),
        ((t(2, 20), 2), {}),
        ((t(20, 2), 2, 0, False), {}),
        ((t(), 1), {}),
    ],
    results="values indices",
    holomorphic=False,
)


def _median_at(xp: Any, a: Any, dim: int) -> Any:
    """The index of the lower of the two elements in the middle, or of a NaN."""
    middle = smallest(xp, a, dim, (a.shape[dim] - 1) // 2)
    if a.dtype.kind in "biu":
        return middle
    missing = a != a
    first = xp.expand_dims(xp.argmax(missing, axis=dim), dim)
    return xp.where(xp.take_along_axis(missing, first, axis=dim), first, middle)


def _median(xp: Any, a: Any) -> Any:
    flat = a.reshape(-1)
    return xp.take_along_axis(flat, _median_at(xp, flat, 0), axis=0).reshape(())


def _median_dim(xp: Any, a: Any, dim: int, keepdim: bool) -> Any:
    if a.ndim == 0:
        return a.copy(), xp.zeros((), np.int64)
    at = _median_at(xp, a, dim)
    values = xp.take_along_axis(a, at, axis=dim)
    if not keepdim:
        values, at = values.squeeze(dim), at.squeeze(dim)
    return values, at.astype(np.int64)


median = row(
    "median",
    "self",
    forward=_median,
    infer=lambda shapes: (),
    grad={"self": lambda g, self, result: evenly(g, self, result, tuple(range(len(self.shape))), False)},
    formula="result = the element in the middle (the lower of two)",
    derivatives={"self": "grad, shared evenly among the elements that equal the result"},
    onnx=NO_ONNX("TopK, Gather"),
    cost=_n_log_n,
    samples=lambda t: [((t(2, 3),), {}), ((t(4),), {}), ((t(),), {})],
    holomorphic=False,
)
median_dim = row(
    "median_dim",
    "self",
    forward=_median_dim,
    infer=lambda shapes, dim, keepdim: [reduced(shapes[0], (dim,), keepdim)] * 2,
    grad=lambda grads, needs, indices, self_shape, dim, keepdim: [
        grads[0]._op("value_selecting_backward", indices, shape=self_shape, dim=dim, keepdim=keepdim)
    ],
    formula="values, indices = the element in the middle along dim",
    derivatives={"self": "zeros with grad at the indices"},
    onnx=NO_ONNX("TopK, Gather"),
    cost=_n_log_n,
    samples=lambda t: [((t(2, 3), 1), {}), ((t(4, 3), 0), {"keepdim": True})],
    results="values indices",
    node="MedianBackward1",
    holomorphic=False,
)
