"""Deep copies and pickles of tensors: memory that several tensors share is shared by their copies, and layouts are kept."""

from __future__ import annotations

import copy
import weakref
from typing import Any

import numpy as np

from tensorlab import backend, dispatch, dtypes, layout
from tensorlab.backend.storage import Storage
from tensorlab.device import device
from tensorlab.dispatch import storage_of, wrap
from tensorlab.viewing import layout_of

#: Storages that were unpickled, by the identity of the array they came with, which they hold.
_unpickled: weakref.WeakValueDictionary[int, Storage] = weakref.WeakValueDictionary()


def as_subclass(x: Any, cls: Any) -> Any:
    """A tensor of another class over the same memory, a leaf without history."""
    out = object.__new__(cls)
    out._a, out._st = x._a, storage_of(x)
    out._edge = out._grad = out._view = out._acc = out._notes = None
    out._rg = out._live = False
    out._off = x._off
    return out


def _root(x: Any) -> Any:
    """All the memory of a tensor's storage, as one array."""
    st = storage_of(x)
    if st.root is None:
        st.root = backend.of(x._a).root(x._a)
    return st.root


def _over(cls: Any, st: Storage, np_dtype: Any, at: layout.Layout) -> Any:
    """A leaf over the memory of a storage."""
    size = np_dtype.itemsize
    start = min(at.offset * size, st.root.nbytes) if 0 in at.shape else at.offset * size
    where = backend.of(st.root)
    made = wrap(where.strided(st.root, at.shape, tuple([s * size for s in at.strides]), start, np_dtype))
    made._st, made._off = st, at.offset
    return made if cls is dispatch.Tensor else as_subclass(made, cls)


def deepcopied(x: Any, memo: dict[int, Any]) -> Any:
    """What ``copy.deepcopy`` makes of a leaf: a leaf over a copy of the whole storage, the same for all tensors that share it."""
    if x.grad_fn is not None:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment. This one was made "
            f"by {x.grad_fn.name()}; copy x.detach(), or compute it again."
        )
    if id(x) in memo:
        return memo[id(x)]
    root, st = _root(x), storage_of(x)
    fresh = memo.get(id(st))
    if fresh is None:
        fresh = memo[id(st)] = Storage()
        with backend.of(root).on(root):
            fresh.root = root.copy()
    out = memo[id(x)] = _over(type(x), fresh, x._a.dtype, layout_of(x))
    out._rg = out._live = x._rg
    if x._grad is not None:
        out._grad = copy.deepcopy(x._grad, memo)
    out.__dict__.update(copy.deepcopy(_attributes(x), memo))
    return out


def reduced(x: Any) -> Any:
    """How a leaf is pickled: its storage once, whoever shares it, and its own layout.

    A tensor that reaches less than half of its storage takes its own part of it along, and shares it with nobody.
    """
    if x.grad_fn is not None:
        raise RuntimeError("a computed tensor cannot be pickled with its history; pickle x.detach()")
    at, where = layout_of(x), None if type(x._a) is np.ndarray else str(x.device)
    reach = layout.extent(at.shape, at.strides) * x._a.itemsize
    root = _root(x)
    if where is not None or 2 * reach < root.nbytes:
        root, at = _part(x, at, reach // x._a.itemsize), at._replace(offset=0)
    arguments = (type(x), root, dtypes.of(x._a.dtype), tuple(at.shape), tuple(at.strides), at.offset, x._rg, where)
    return rebuild, arguments, _attributes(x) or None


def _attributes(x: Any) -> dict[str, Any]:
    """What people put on a tensor; where it lost its history is no part of that."""
    return dict(x.__dict__)


def _part(x: Any, at: layout.Layout, count: int) -> np.ndarray:
    """The memory from the first to the last element of a tensor, in host memory."""
    if count == 0:
        return np.zeros(0, x._a.dtype)
    size = x._a.itemsize
    window = backend.of(x._a).strided(_root(x), (count,), (size,), at.offset * size, x._a.dtype)
    return np.array(backend.to_host(window))


def rebuild(
    cls: Any,
    root: np.ndarray,
    dtype: dtypes.dtype,
    shape: Any,
    strides: Any,
    offset: int,
    requires_grad: bool,
    where: Any,
) -> Any:
    """An unpickled tensor, on the device that it was on, over the storage of those that came with it."""
    st = _unpickled.get(id(root)) if where is None else None
    if st is None:
        st = Storage()
        st.root = root if where is None else backend.gpu(where).from_host(root, device(where).index)
        if where is None:
            _unpickled[id(root)] = st
    out = _over(cls, st, dtype.np, layout.Layout(tuple(shape), tuple(strides), offset))
    out._rg = out._live = requires_grad
    return out
