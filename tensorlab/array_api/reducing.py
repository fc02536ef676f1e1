"""Sums, extremes and what else takes axes away, by the array API."""

from __future__ import annotations

import builtins
from typing import Any

from tensorlab import dtypes
from tensorlab.array_api.axes import axes_of, sum_type
from tensorlab.functional import plain
from tensorlab.tensor import Tensor

__all__ = [
    "all", "any", "cumulative_prod", "cumulative_sum", "diff", "max", "mean", "min", "prod", "std", "sum", "var",
]  # fmt: skip


def _reduced(name: str, x: Tensor, axis: Any, keepdims: Any, **options: Any) -> Tensor:
    axes = axes_of(x, axis)
    if not axes and not (axis is None and x.ndim == 0):
        return x.clone() if name in ("amax", "amin") else plain[name](x.unsqueeze(0), 0, **options)
    return plain[name](x, axes, keepdim=bool(keepdims), **options)


def sum(x: Tensor, /, *, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Tensor:
    """Sums; of integers in int64 unless told otherwise."""
    return _reduced("sum", x, axis, keepdims, dtype=sum_type(x, dtype))


def prod(x: Tensor, /, *, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Tensor:
    """Products; of integers in int64 unless told otherwise."""
    found = x.to(sum_type(x, dtype))
    for one in sorted((a % builtins.max(x.ndim, 1) for a in axes_of(x, axis)), reverse=True):
        found = plain["prod"](found, one, keepdim=bool(keepdims))
    return found


def mean(x: Tensor, /, *, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Means."""
    return _reduced("mean", x, axis, keepdims)


def max(x: Tensor, /, *, axis: Any = None, keepdims: Any = False) -> Tensor:
    """The largest elements."""
    return _reduced("amax", x, axis, keepdims)


def min(x: Tensor, /, *, axis: Any = None, keepdims: Any = False) -> Tensor:
    """The smallest elements."""
    return _reduced("amin", x, axis, keepdims)


def var(x: Tensor, /, *, axis: Any = None, correction: float = 0.0, keepdims: Any = False) -> Tensor:
    """Mean squared deviations; ``correction`` is taken from the number of elements."""
    return _reduced("var", x, axis, keepdims, correction=correction)


def std(x: Tensor, /, *, axis: Any = None, correction: float = 0.0, keepdims: Any = False) -> Tensor:
    """Roots of ``var``."""
    return _reduced("std", x, axis, keepdims, correction=correction)


def all(x: Tensor, /, *, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Whether no element is 0."""
    return _reduced("all", x.to(dtypes.bool_), axis, keepdims)


def any(x: Tensor, /, *, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Whether an element is not 0."""
    return _reduced("any", x.to(dtypes.bool_), axis, keepdims)


def cumulative_sum(x: Tensor, /, *, axis: int | None = None, dtype: Any = None, include_initial: Any = False) -> Tensor:
    """Sums of all elements up to each along an axis; with ``include_initial`` 0 stands before them."""
    return _cumulative("cumsum", 0, x, axis, dtype, include_initial)


def cumulative_prod(
    x: Tensor, /, *, axis: int | None = None, dtype: Any = None, include_initial: Any = False
) -> Tensor:
    """Products of all elements up to each along an axis; with ``include_initial`` 1 stands before them."""
    return _cumulative("cumprod", 1, x, axis, dtype, include_initial)


def _cumulative(name: str, first: int, x: Tensor, axis: int | None, dtype: Any, include_initial: Any) -> Tensor:
    if axis is None:
        if x.ndim > 1:
            raise ValueError(f"cumulative_{name[3:]}(): axis is needed for a tensor of {x.ndim} dimensions")
        axis = 0
    found = plain[name](x, axis, dtype=sum_type(x, dtype))
    if not include_initial:
        return found
    shape = list(found.shape)
    shape[axis] = 1
    return plain["cat"]([found.new_full(shape, first), found], axis)


def diff(x: Tensor, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Tensor:
    """Differences of neighbours along an axis, ``n`` times."""
    return plain["diff"](x, n, axis, prepend, append)
