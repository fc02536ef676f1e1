"""Elements picked by index tensors and masks, and put back."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorlab import backend, dispatch, layout
from tensorlab.creation import number
from tensorlab.dispatch import call
from tensorlab.functional.arguments import an_int, need_index, need_tensor
from tensorlab.functional.pointwise import where
from tensorlab.functional.shapes import broadcast_tensors, expand, reshape
from tensorlab.layout import wrap_dim
from tensorlab.ops import ROWS

Tensor = Any

#: Functions that are methods under the same name, with the tensor as their first argument.
METHODS = """
    gather scatter_add index_select masked_select nonzero take_along_dim repeat_interleave scatter index_add
"""
#: Functions that are not found at ``tensorlab.<name>``.
ELSEWHERE = """
    scattered combining
"""


def gather(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """``result[i, j] = input[i, index[i, j]]`` along ``dim``. Raises ``IndexError`` for an index out of bounds.

    >>> import tensorlab as tl
    >>> tl.gather(tl.tensor([[1, 2], [3, 4]]), 1, tl.tensor([[0], [1]]))
    tensor([[1],
            [4]])
    """
    need_index("gather", index)
    return call(ROWS["gather"], (input, index), dim=wrap_dim(dim, input._a.ndim, "gather"))


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """``input`` with ``src`` added at ``index`` along ``dim``; every repeated index counts."""
    need_index("scatter_add", index)
    need_tensor("scatter_add", "src", 4, src)
    return call(ROWS["scatter_add"], (input, index, src), dim=wrap_dim(dim, input._a.ndim, "scatter_add"))


def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """The indexes of one dimension listed in a vector; a copy."""
    need_index("index_select", index)
    return call(ROWS["index_select"], (input, index), dim=wrap_dim(dim, input._a.ndim, "index_select"))


def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements where ``mask`` holds, as a vector. Raises ``RuntimeError`` unless the mask is boolean."""
    need_tensor("masked_select", "mask", 2, mask)
    if mask._a.dtype.kind != "b":
        raise RuntimeError(f"masked_select: expected BoolTensor for mask, got {mask.dtype.name}")
    a, m = broadcast_tensors(input, mask)
    return a[m]


def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """Positions of elements that are not 0: one row each, or a tuple with one vector a dimension."""
    a, where = input._a, backend.of(input._a)
    xp = where.xp
    with where.on(a):
        found = [i.copy() for i in xp.nonzero(xp.atleast_1d(a))]
        if as_tuple:
            return tuple([dispatch.wrap(i) for i in found])
        return dispatch.wrap(xp.stack(found).T if a.ndim else xp.zeros((found[0].size, 0), np.int64))


def scatter(
    input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: str | None = None
) -> Tensor:
    """``input`` with ``src``, a tensor or a number, written at ``index`` along ``dim``. What stays of repeated indices is undefined.

    ``reduce="add"`` or ``"multiply"`` combines it with what is there, and counts every repeated index; see also ``scatter_reduce``.
    """
    written, d = scattered("scatter", input, index, src, value), wrap_dim(dim, input._a.ndim, "scatter")
    if reduce is None:
        return call(ROWS["scatter"], (input, index, written), dim=d)
    how = combining("scatter", reduce)
    return call(ROWS["scatter_reduce"], (input, index, written), dim=d, reduce=how, include_self=True)


def combining(op: str, reduce: str) -> str:
    """What the two words of ``scatter`` are called in ``scatter_reduce``."""
    if reduce not in ("add", "multiply"):
        raise RuntimeError(f"{op}(): reduce argument must be either add or multiply, got {reduce}")
    return "sum" if reduce == "add" else "prod"


def scattered(op: str, input: Tensor, index: Tensor, src: Any, value: Any = None) -> Tensor:
    """What ``scatter`` writes, as a tensor: a number stands at every index."""
    need_index(op, index)
    src = value if src is None else src
    if isinstance(src, dispatch.Tensor):
        return src
    if not isinstance(src, (bool, int, float, complex)):
        raise TypeError(f"{op}(): argument 'src' (position 4) must be Tensor or a number, not {type(src).__name__}")
    filling = dispatch.wrap(number(src, input.dtype))
    return expand(
        filling if index.device == input.device == filling.device else filling.to(input.device), index._a.shape
    )


def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """``input`` with ``alpha * source`` added at the indices of one dimension; every repeated index counts."""
    need_index("index_add", index)
    need_tensor("index_add", "source", 4, source)
    return call(ROWS["index_add"], (input, index, source), dim=wrap_dim(dim, input._a.ndim, "index_add"), alpha=alpha)


def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """Elements at ``indices`` along ``dim``, other dimensions broadcast; into the flattened tensor without ``dim``."""
    need_index("take_along_dim", indices, 2)
    if dim is None:
        return gather(reshape(input, (-1,)), 0, reshape(indices, (-1,)))
    if input._a.ndim != indices._a.ndim:
        raise RuntimeError(
            "take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{input._a.ndim} dimensions for input, and {indices._a.ndim} dimensions for indices"
        )
    d = wrap_dim(dim, input._a.ndim, "take_along_dim")
    rest = layout.broadcast_shapes(_without(input._a.shape, d), _without(indices._a.shape, d), op="take_along_dim")
    size = input._a.shape[d]
    indices = where(indices < 0, indices + size, indices)
    full = [(*rest[:d], x._a.shape[d], *rest[d:]) for x in (input, indices)]
    return gather(expand(input, full[0]), d, expand(indices, full[1]))


def _without(shape: tuple[int, ...], dim: int) -> tuple[int, ...]:
    return shape[:dim] + shape[dim + 1 :]


def repeat_interleave(input: Tensor, repeats: Any, dim: int | None = None, *, output_size: int | None = None) -> Tensor:
    """Every element, or every index of ``dim``, repeated in place: ``repeats`` times, or as often as its entry says.

    >>> import tensorlab as tl
    >>> tl.repeat_interleave(tl.tensor([1, 2]), 2)
    tensor([1, 1, 2, 2])
    """
    if dim is None:
        input, dim = reshape(input, (-1,)), 0
    d = wrap_dim(dim, input._a.ndim, "repeat_interleave")
    size = input._a.shape[d] if input._a.ndim else 1
    if not isinstance(repeats, dispatch.Tensor):
        an_int("repeat_interleave", "repeats", repeats)
    counts = backend.to_host(repeats._a) if isinstance(repeats, dispatch.Tensor) else np.asarray(repeats)
    if counts.dtype.kind not in "iu" or counts.ndim > 1 or counts.size not in (1, size):
        raise RuntimeError(f"repeats must be integers, one or as many as the size of dimension {d}, which is {size}")
    if counts.size and int(counts.min()) < 0:
        raise RuntimeError("repeats has to be non-negative")
    at = np.repeat(np.arange(size), np.broadcast_to(counts.reshape(-1), (size,)))
    index = dispatch.wrap(at).to(input.device)
    return index_select(input if input._a.ndim else reshape(input, (1,)), d, index)
