"""What the engine is given when the tensor class is there: how to make tensors from arrays, and where a pass starts.

The engine lies below the class and never imports it; it asks through ``Bound``.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from tensorlab import backend, dispatch, dtypes
from tensorlab.backend.storage import Storage
from tensorlab.dispatch import edge_of, wrap
from tensorlab.engine.node import Bound
from tensorlab.modes import state
from tensorlab.ops import ROWS
from tensorlab.tensor import Tensor


def _unpack(array: Any, storage: Storage, edge: Any) -> Tensor:
    """A saved value as a tensor that is the same part of the graph as what was saved."""
    if edge is not None and len(edge) == 3 and edge[2]._a is array:
        return edge[2]
    out = wrap(array)
    out._st = storage
    if storage.root is not None:
        where = backend.of(array)
        out._off = (where.address(array) - where.address(storage.root)) // array.itemsize if array.size else 0
    if edge is not None and array.dtype.kind in "fcV":
        out._rg = out._live = True
        if len(edge) == 2:
            out._edge = edge
        else:
            out._acc = edge[0]
    return out


def _root_edge(x: Any, index: int = 0) -> Any:
    if not isinstance(x, Tensor):
        raise TypeError(f"backward needs Tensors, got {type(x).__name__}")
    edge = edge_of(x)
    if edge is None:
        raise RuntimeError(
            f"element {index} of tensors does not require grad and does not have a grad_fn{_why_no_grad(x)}"
        )
    return edge


def _why_no_grad(x: Tensor) -> str:
    if not state.grad:
        return ": gradients are switched off here (no_grad)"
    if x.dtype.category < dtypes.FLOAT:
        return f": it is {x.dtype.name}, and only floating-point tensors carry gradients"
    return ". None of the tensors it was computed from has requires_grad=True, or it was computed inside no_grad() or from .detach()"


@cache
def _one(np_dtype: Any) -> np.ndarray:
    """The gradient of a loss for itself; a pass gets a copy, which people may write into."""
    return np.ones((), np_dtype)


def _seed(root: Tensor, gradient: Any, index: int = 0) -> Tensor:
    if gradient is None:
        if root._a.size != 1:
            raise RuntimeError(
                f"grad can be implicitly created only for scalar outputs; this one has shape {list(root._a.shape)}. Reduce it first, for "
                f"example with .sum() or .mean(), or say backward(gradient=...) with a tensor of that shape."
            )
        if root._a.dtype.kind == "c":
            raise RuntimeError(
                f"grad can be implicitly created only for real scalar outputs but got {root.dtype}. Take .abs() "
                f"or .real first, or say backward(gradient=...)."
            )
        if root._a.ndim == 0 and type(root._a) is np.ndarray:
            return wrap(_one(root._a.dtype).copy())
        one = backend.zeros(root._a.shape, root._a)
        backend.put(one, 1)
        return wrap(one)
    if not isinstance(gradient, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(gradient).__name__}")
    if gradient._a.shape != root._a.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{index}] has a shape of {list(gradient._a.shape)} and "
            f"output[{index}] has a shape of {list(root._a.shape)}; "
            "they must be the same"
        )
    if type(gradient._a) is not type(root._a) or gradient.device != root.device:
        raise RuntimeError(
            f"Mismatch in device: grad_output[{index}] is on {gradient.device} and output[{index}] is on "
            f"{root.device}; move one with .to(other.device)"
        )
    if gradient.is_complex() != root.is_complex():
        raise RuntimeError(
            f"For complex Tensors, both grad_output and output are required to have the same "
            f"dtype. Mismatch in dtype: grad_output[{index}] is {gradient.dtype} and output[{index}] is {root.dtype}."
        )
    return gradient if gradient._a.dtype == root._a.dtype else gradient.to(root.dtype)


def _cast(x: Tensor, np_dtype: Any) -> Tensor:
    return dispatch.call(ROWS["to_copy"], (x,), dtype=np_dtype, memory_format=None)


def _like(gradient: Any, array: Any) -> Tensor:
    """A tensor with a copy of a gradient, laid out like an array."""
    return wrap(backend.copied_like(gradient, array))


Bound.wrap, Bound.unpack, Bound.cast = wrap, _unpack, _cast
Bound.edge, Bound.seed, Bound.like = _root_edge, _seed, _like
