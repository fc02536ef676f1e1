"""Elements picked by index tensors and masks, and put back."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorlab import backend, dispatch
from tensorlab.dispatch import call
from tensorlab.functional.arguments import need_index, need_tensor
from tensorlab.functional.shapes import broadcast_tensors
from tensorlab.layout import wrap_dim
from tensorlab.ops import ROWS

Tensor = Any


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
