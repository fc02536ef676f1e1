"""Searching, sorting and sets, by the array API."""

from __future__ import annotations

from typing import Any, NamedTuple

from tensorlab import creation, dtypes
from tensorlab.array_api.elementwise import joined
from tensorlab.array_api.reducing import sum
from tensorlab.dtypes import int64
from tensorlab.functional import plain
from tensorlab.tensor import Tensor

__all__ = [
    "UniqueAll", "UniqueCounts", "UniqueInverse", "argmax", "argmin", "argsort", "count_nonzero", "nonzero", "searchsorted",
    "sort", "take", "take_along_axis", "unique_all", "unique_counts", "unique_inverse", "unique_values", "where",
]  # fmt: skip


def argmax(x: Tensor, /, *, axis: int | None = None, keepdims: Any = False) -> Tensor:
    """Where the largest element is, the first of several."""
    return _position("argmax", x, axis, keepdims)


def argmin(x: Tensor, /, *, axis: int | None = None, keepdims: Any = False) -> Tensor:
    """Where the smallest element is, the first of several."""
    return _position("argmin", x, axis, keepdims)


def _position(name: str, x: Tensor, axis: int | None, keepdims: Any) -> Tensor:
    if axis is None:
        found = plain[name](x.reshape(-1), 0)
        return found.reshape((1,) * x.ndim) if keepdims else found
    return plain[name](x, axis, bool(keepdims))


def count_nonzero(x: Tensor, /, *, axis: Any = None, keepdims: Any = False) -> Tensor:
    """How many elements are not 0."""
    return sum(plain["ne"](x, 0).to(int64), axis=axis, keepdims=keepdims)


def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """Where elements are not 0, one index tensor an axis."""
    return tuple(plain["nonzero"](x, as_tuple=True))


def searchsorted(x1: Tensor, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Tensor:
    """Where values would go into a sorted vector."""
    return plain["searchsorted"](x1, x2, side=side, sorter=sorter)


def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """Elements at indices of one axis, which may be left out for a vector; negative ones count from the end."""
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"take(): axis is needed for a tensor of {x.ndim} dimensions")
        axis = 0
    shape = tuple(indices.shape)
    axis %= x.ndim
    found = plain["index_select"](x, axis, _positive(indices.reshape(-1), x.shape[axis]))
    return found.reshape((*x.shape[:axis], *shape, *x.shape[axis + 1 :]))


def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """Elements at indices of their own along an axis; negative ones count from the end."""
    return plain["take_along_dim"](x, _positive(indices, x.shape[axis]), axis)


def _positive(indices: Tensor, size: int) -> Tensor:
    indices = indices.to(int64)
    return plain["where"](plain["lt"](indices, 0), indices.add(size), indices)


def where(condition: Tensor, x1: Any, x2: Any, /) -> Tensor:
    """Elements of ``x1`` where ``condition`` holds, else of ``x2``."""
    return plain["where"](condition, *joined((x1, x2)))


def argsort(x: Tensor, /, *, axis: int = -1, descending: Any = False, stable: Any = True) -> Tensor:
    """The order that sorts a tensor along an axis."""
    return plain["argsort"](x, dim=axis, descending=bool(descending), stable=bool(stable))


def sort(x: Tensor, /, *, axis: int = -1, descending: Any = False, stable: Any = True) -> Tensor:
    """The tensor sorted along an axis."""
    return plain["sort"](x, dim=axis, descending=bool(descending), stable=bool(stable))[0]


class UniqueAll(NamedTuple):
    """Values, where each is first, which of them each element is, and how often each occurs."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """Values, and how often each occurs."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """Values, and which of them each element is."""

    values: Tensor
    inverse_indices: Tensor


def _unique(x: Tensor) -> UniqueAll:
    """By sorting; every NaN is a value of its own, as the standard has it."""
    flat = x.detach().reshape(-1)
    values, order = plain["sort"](flat, stable=True) if not flat.is_complex() else _complex_order(flat)
    first = creation.ones(values.shape, dtype=dtypes.bool_, device=x.device)
    if flat.numel():
        first[1:] = values[1:] != values[:-1]
    starts = plain["nonzero"](first).reshape(-1)
    ends = plain["cat"]([starts[1:], starts.new_full((1,), flat.numel())]) if flat.numel() else starts
    inverse = creation.empty_like(order)
    inverse[order] = first.to(int64).cumsum(0) - 1
    return UniqueAll(values[starts], order[starts], inverse.reshape(x.shape), ends - starts)


def _complex_order(flat: Tensor) -> tuple[Tensor, Tensor]:
    """Complex numbers sorted by their real parts, then by their imaginary ones."""
    by_imag = plain["argsort"](flat.imag, stable=True)
    order = by_imag[plain["argsort"](flat.real[by_imag], stable=True)]
    return flat[order], order


def unique_all(x: Tensor, /) -> UniqueAll:
    """Values in order, where each is first, which of them each element is, and how often each occurs."""
    return _unique(x)


def unique_counts(x: Tensor, /) -> UniqueCounts:
    """Values in order, and how often each occurs."""
    found = _unique(x)
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x: Tensor, /) -> UniqueInverse:
    """Values in order, and which of them each element is."""
    found = _unique(x)
    return UniqueInverse(found.values, found.inverse_indices)


def unique_values(x: Tensor, /) -> Tensor:
    """Values in order."""
    return _unique(x).values
