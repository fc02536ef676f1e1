"""Elements in order, and how often each one is there."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorlab import backend, dispatch
from tensorlab.dispatch import call
from tensorlab.functional.arguments import a_bool, an_int, kept, need_tensor, one_dim
from tensorlab.ops import ROWS
from tensorlab.return_types import named

Tensor = Any

#: Functions that are methods under the same name, with the tensor as their first argument.
METHODS = """
    sort argsort topk median unique bincount
"""


def sort(
    input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False, *, axis: int | None = None
) -> Any:
    """The pair ``(values, indices)`` of the elements in order along ``dim``. Equal elements keep their order; NaN is the largest.

    >>> import tensorlab as tl
    >>> tl.sort(tl.tensor([3, 1, 2])).values
    tensor([1, 2, 3])
    """
    d = one_dim("sort", input, dim if axis is None else axis)
    return named("sort")(*call(ROWS["sort"], (input,), dim=d, descending=a_bool("sort", "descending", descending)))


def argsort(
    input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False, *, axis: int | None = None
) -> Tensor:
    """The indices that put the elements in order along ``dim``."""
    return sort(input.detach(), dim, descending, axis=axis).indices


def topk(
    input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True, *, axis: int | None = None
) -> Any:
    """The pair ``(values, indices)`` of the ``k`` largest (or smallest) elements along ``dim``, in order.

    Raises ``RuntimeError`` if there are fewer than ``k``.
    """
    d = one_dim("topk", input, dim if axis is None else axis)
    size = input._a.shape[d] if input._a.ndim else 1
    k = an_int("topk", "k", k)
    if not 0 <= k <= size:
        raise RuntimeError(f"topk(): selected index k out of range: k is {k}, and dimension {d} has {size} elements")
    return named("topk")(*call(ROWS["topk"], (input,), k=k, dim=d, largest=a_bool("topk", "largest", largest)))


def median(input: Tensor, dim: int | None = None, keepdim: bool = False, *, axis: int | None = None) -> Any:
    """The element in the middle, the lower of two; with ``dim``, the pair ``(values, indices)``. NaN wins."""
    dim = axis if dim is None else dim
    if dim is None:
        if input._a.size == 0:
            return dispatch.wrap(np.asarray(float("nan"), input._a.dtype))
        return call(ROWS["median"], (input,))
    d = one_dim("median", input, dim)
    if input._a.ndim and input._a.shape[d] == 0:
        raise IndexError(
            f"median(): Expected reduction dim {d} to have non-zero size, but the shape is {list(input._a.shape)}"
        )
    return named("median")(*call(ROWS["median_dim"], (input,), dim=d, keepdim=kept("median", keepdim)))


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The different elements, sorted; NaN counts once. With ``dim``, the different slices along it.

    ``return_inverse`` adds where each element of ``input`` went, ``return_counts`` how often each is there.

    >>> import tensorlab as tl
    >>> tl.unique(tl.tensor([3, 1, 3]), return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    """
    a, where = input._a, backend.of(input._a)
    with where.on(a):
        if dim is None:
            values, inverse, counts = where.xp.unique(a.reshape(-1), return_inverse=True, return_counts=True)
            inverse = inverse.reshape(a.shape)
        else:
            values, inverse, counts = _different_slices(where.xp, a, one_dim("unique", input, dim))
    found = [values, *([inverse] if return_inverse else []), *([counts] if return_counts else [])]
    outs = [dispatch.wrap(f) for f in found]
    return tuple(outs) if len(outs) > 1 else outs[0]


def _different_slices(xp: Any, a: Any, dim: int) -> tuple[Any, Any, Any]:
    """Slices along ``dim`` in order, each once; where each slice of ``a`` went; how often each is there."""
    first = xp.moveaxis(a, dim, 0)
    n = first.shape[0]
    rows = first.reshape(n, -1) if a.size else first.reshape(n, 0)
    order = xp.lexsort(rows.T[::-1]) if rows.shape[1] else xp.arange(n)
    placed = rows[order]
    before, after = placed[:-1], placed[1:]
    differs = ((before != after) & ~((before != before) & (after != after))).any(axis=1)
    starts = xp.concatenate([xp.ones(min(n, 1), bool), differs])
    inverse = xp.empty(n, np.int64)
    inverse[order] = xp.cumsum(starts) - 1
    counts = xp.bincount(inverse, minlength=int(starts.sum()))
    return xp.moveaxis(first[order[starts]], 0, dim), inverse, counts.astype(np.int64)


def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each of 0, 1, 2, ... is in a vector of integers, or the sum of the ``weights`` at each."""
    a = input._a
    if a.ndim != 1 or a.dtype.kind not in "iu" or (a.size and int(a.min()) < 0):
        raise RuntimeError(
            f"bincount only supports 1-d non-negative integral inputs, got {input.dtype.name} {list(a.shape)}"
        )
    if minlength < 0:
        raise RuntimeError(f"minlength should be >= 0, got {minlength}")
    where = backend.of(a)
    if weights is None:
        with where.on(a):
            return dispatch.wrap(where.xp.bincount(a.astype(np.int64), minlength=minlength).astype(np.int64))
    need_tensor("bincount", "weights", 2, weights)
    w = weights._a
    if w.shape != a.shape:
        raise RuntimeError(
            f"bincount(): weights should be 1-d and have the same length as input: {list(w.shape)} for {list(a.shape)}"
        )
    with where.on(a):
        found = where.xp.bincount(a.astype(np.int64), weights=w.astype(np.float64), minlength=minlength)
        return dispatch.wrap(found.astype(w.dtype if w.dtype == np.float32 else np.float64))
