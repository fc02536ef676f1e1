"""Elements by their order: running extremes, the k-th smallest, the most frequent, and where values belong among sorted ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorlab import backend, dispatch
from tensorlab.dispatch import call
from tensorlab.functional.arguments import an_int, kept, need_tensor, one_dim
from tensorlab.functional.sorting import sort
from tensorlab.ops import ROWS
from tensorlab.return_types import named

Tensor = Any

#: Functions that are methods under the same name, with the tensor as their first argument.
METHODS = """
    cummax cummin logcumsumexp kthvalue mode msort
"""


def cummax(input: Tensor, dim: int | None = None, *, axis: int | None = None) -> Any:
    """The pair ``(values, indices)`` of the largest element so far along ``dim``, and where it last stood. NaN stays once met.

    >>> import tensorlab as tl
    >>> tl.cummax(tl.tensor([1, 3, 2]), 0).values
    tensor([1, 3, 3])
    """
    return named("cummax")(*call(ROWS["cummax"], (input,), dim=one_dim("cummax", input, dim, axis)))


def cummin(input: Tensor, dim: int | None = None, *, axis: int | None = None) -> Any:
    """The pair ``(values, indices)`` of the smallest element so far along ``dim``, and where it last stood. NaN stays once met."""
    return named("cummin")(*call(ROWS["cummin"], (input,), dim=one_dim("cummin", input, dim, axis)))


def logcumsumexp(input: Tensor, dim: int | None = None, *, axis: int | None = None) -> Tensor:
    """``log(cumsum(exp(input)))`` along ``dim``, without overflow."""
    return call(ROWS["logcumsumexp"], (input,), dim=one_dim("logcumsumexp", input, dim, axis))


def _lane(op: str, input: Tensor, dim: int) -> tuple[int, int]:
    """A dimension and its size, which must not be 0."""
    d = one_dim(op, input, dim)
    size = input._a.shape[d] if input._a.ndim else 1
    if size == 0:
        raise IndexError(
            f"{op}(): Expected reduction dim {d} to have non-zero size, but the shape is {list(input._a.shape)}"
        )
    return d, size


def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """The pair ``(values, indices)`` of the ``k``-th smallest element along ``dim``, counted from 1. NaN is the largest."""
    d, size = _lane("kthvalue", input, dim)
    k = an_int("kthvalue", "k", k)
    if not 1 <= k <= size:
        raise RuntimeError(
            f"kthvalue(): selected number k out of range for dimension {d}: k is {k}, and there are {size} elements"
        )
    return named("kthvalue")(*call(ROWS["kthvalue"], (input,), k=k, dim=d, keepdim=kept("kthvalue", keepdim)))


def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> Any:
    """The pair ``(values, indices)`` of the most frequent value along ``dim``, the smallest of several, and where it stands last."""
    d, _ = _lane("mode", input, dim)
    return named("mode")(*call(ROWS["mode"], (input,), dim=d, keepdim=kept("mode", keepdim)))


def msort(input: Tensor) -> Tensor:
    """The elements in order along dimension 0."""
    return sort(input, 0).values


# ------------------------------------------------------------------------------------------- among sorted elements


def searchsorted(
    sorted_sequence: Tensor, input: Any, *, out_int32: bool = False, right: bool = False, side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Where each value would be put so that ``sorted_sequence`` stays sorted along its last dimension.

    Before equal elements, or behind them with ``right=True`` (``side="right"``). ``sorter`` gives the order of a sequence that is
    not sorted. Raises ``RuntimeError`` unless all dimensions but the last agree, or the sequence is a vector.

    >>> import tensorlab as tl
    >>> tl.searchsorted(tl.tensor([1, 3, 5]), tl.tensor([3, 4]))
    tensor([1, 2])
    """
    need_tensor("searchsorted", "sorted_sequence", 1, sorted_sequence)
    if side not in (None, "left", "right"):
        raise RuntimeError(f"searchsorted(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError(
            "searchsorted(): side and right can't be set to opposites, got side of left while right was True"
        )
    a = sorted_sequence._a
    values = input._a if isinstance(input, dispatch.Tensor) else None
    if values is None:
        if a.ndim != 1:
            raise RuntimeError(
                f"searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but it is {a.ndim}"
            )
        values = dispatch.as_tensors(ROWS["lt"], (sorted_sequence, input))[1]._a
    if a.ndim == 0 or (a.ndim != 1 and a.shape[:-1] != values.shape[:-1]):
        raise RuntimeError(
            "searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and input value "
            f"tensor must match, but we got boundaries tensor {list(a.shape)} and input value tensor {list(values.shape)}"
        )
    if a.dtype.kind == "c" or values.dtype.kind == "c":
        raise RuntimeError("searchsorted(): complex numbers have no order")
    if sorter is not None:
        need_tensor("searchsorted", "sorter", 3, sorter)
        _check_sorter(sorter, a.shape)
    where = backend.of(a)
    with where.on(a):
        if sorter is not None:
            a = where.xp.take_along_axis(a, sorter._a, axis=-1)
        found = _places(where.xp, a, values, right or side == "right")
        return dispatch.wrap(found.astype(np.int32 if out_int32 else np.int64))


def _check_sorter(sorter: Tensor, shape: tuple[int, ...]) -> None:
    if sorter._a.shape != shape:
        raise RuntimeError(
            f"searchsorted(): boundary and sorter must have the same size, but got boundary tensor {list(shape)} and got sorter "
            f"tensor {list(sorter._a.shape)}"
        )
    if sorter._a.dtype != np.int64:
        raise RuntimeError(f"searchsorted(): sorter must be a tensor of long dtype but got dtype {sorter.dtype.name}")
    if sorter._a.size and not bool(((sorter >= 0) & (sorter < shape[-1])).all()):
        raise RuntimeError("searchsorted(): sorter index out of range")


def _places(xp: Any, a: Any, values: Any, right: bool) -> Any:
    common = np.promote_types(a.dtype, values.dtype) if "V" not in (a.dtype.kind, values.dtype.kind) else np.float32
    common = np.promote_types(common, np.float32) if np.dtype(common).itemsize == 2 else np.dtype(common)
    a, values = a.astype(common), values.astype(common)
    if a.ndim == 1:
        return xp.asarray(xp.searchsorted(a, values.reshape(-1), "right" if right else "left")).reshape(values.shape)
    # Sort both together; the elements of the sequence that come before a value are counted. Of equals, the first given come first.
    pair = (a, values) if right else (values, a)
    order = xp.argsort(xp.concatenate(pair, axis=-1), axis=-1, kind="stable")
    first = pair[0].shape[-1]
    counts = xp.cumsum((order < first) if right else (order >= first), axis=-1)
    found = xp.zeros(order.shape, np.int64)
    xp.put_along_axis(found, order, counts, axis=-1)
    return found[..., first:] if right else found[..., :first]


def bucketize(input: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    """The number of the bucket between sorted ``boundaries`` into which each value falls: ``boundaries[i-1] < value <= boundaries[i]``.

    ``right=True`` puts a value that equals a boundary above it.
    """
    need_tensor("bucketize", "boundaries", 2, boundaries)
    if boundaries._a.ndim != 1:
        raise RuntimeError(f"bucketize(): boundaries tensor must be 1 dimension, but got dim({boundaries._a.ndim})")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False) -> Tensor:
    """Whether each of ``elements`` is among ``test_elements``; one of the two may be a number."""
    if not isinstance(elements, dispatch.Tensor) and not isinstance(test_elements, dispatch.Tensor):
        raise TypeError(
            f"isin(): argument 'elements' (position 1) must be Tensor, not {type(elements).__name__}; one of the two has to be"
        )
    a, b = (x._a for x in dispatch.as_tensors(ROWS["eq"], (elements, test_elements)))
    if a.dtype.kind == "c" or b.dtype.kind == "c" or "b" in (a.dtype.kind, b.dtype.kind):
        raise RuntimeError(f"isin(): Unsupported input type encountered: {a.dtype.name} among {b.dtype.name}")
    where = backend.of(a)
    with where.on(a):
        if "V" in (a.dtype.kind, b.dtype.kind):
            a, b = a.astype(np.float32), b.astype(np.float32)
        return dispatch.wrap(where.xp.isin(a, b, assume_unique=assume_unique, invert=invert))
