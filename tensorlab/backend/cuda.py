"""CuPy: arrays on an NVIDIA GPU. Imported when the first GPU array is asked for, never by ``import tensorlab``.

CuPy computes on the *current* GPU, a tensor library on the one its tensors are on: ``on(array)`` makes that the current one.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import cupy as xp
import numpy as np

from tensorlab.backend.host import memory_order


def root(array: Any) -> Any:
    """A row-major array over all the memory from the first to the last element of ``array``."""
    if array.flags.c_contiguous:
        return array
    dense = array.transpose(memory_order(array))
    if dense.flags.c_contiguous:
        return dense
    last = sum((n - 1) * s for n, s in zip(array.shape, array.strides, strict=True)) if array.size else 0
    return strided(array, (last // array.itemsize + 1 if array.size else 0,), (array.itemsize,), 0, array.dtype)


def strided(root: Any, shape: Sequence[int], strides: Sequence[int], offset: int, dtype: Any) -> Any:
    """A view of the buffer of ``root``; strides and offset in bytes."""
    return xp.ndarray(shape, dtype, root.data + offset, strides)


def to_host(array: Any) -> np.ndarray:
    """A copy in host memory, in the same dense order of dimensions."""
    if array.flags.c_contiguous:
        return xp.asnumpy(array)
    order = memory_order(array)
    return xp.asnumpy(array.transpose(order)).transpose(_inverse(order))


def from_host(array: np.ndarray, index: int | None) -> Any:
    """A copy on a GPU, in the same dense order of dimensions."""
    with xp.cuda.Device(index):
        if array.flags.c_contiguous:
            return xp.array(array, order="C")
        order = memory_order(array)
        return in_order(xp.array(array.transpose(order), order="C"), _inverse(order))


def in_order(array: Any, order: Sequence[int]) -> Any:
    """Dimensions in another order, as an array that owns its memory: for one that nobody else has seen."""
    return strided(array, [array.shape[d] for d in order], [array.strides[d] for d in order], 0, array.dtype)


def _inverse(order: Sequence[int]) -> list[int]:
    return sorted(range(len(order)), key=order.__getitem__)


def on(array: Any) -> Any:
    """A context in which the GPU of ``array`` is the current one."""
    return array.device


def constant(value: Any, dtype: Any) -> Any:
    """A number as a 0-dim array on the current GPU; what was asked for once is kept."""
    key = (xp.cuda.get_device_id(), dtype, value)
    known = _constants.get(key)
    if known is None:
        if len(_constants) >= 4096:
            _constants.clear()
        known = _constants[key] = xp.asarray(value, dtype)
    return known


_constants: dict[Any, Any] = {}


def address(array: Any) -> int:
    """Where the first element lies in memory."""
    return array.data.ptr


def alone(array: Any) -> bool:
    """Whether no other array lies in the same allocation. (Views made by ``strided`` hold the allocation, not an array.)"""
    return array.base is None and sys.getrefcount(array.data.mem) <= 2


def overlap(a: Any, b: Any) -> bool:
    """Whether two arrays of one GPU have an element in common."""
    return np.shares_memory(_Outline(a), _Outline(b), max_work=-1 if a.ndim < 3 else 10_000)


class _Outline:
    """Where an array lies, in the form in which NumPy takes it. NumPy works out overlaps from addresses and reads nothing."""

    def __init__(self, array: Any) -> None:
        self.__array_interface__ = {
            "shape": array.shape,
            "typestr": f"|V{array.itemsize}",
            "strides": array.strides,
            "data": (array.data.ptr, True),
            "version": 3,
        }


def is_available() -> bool:
    """Whether there is a GPU that CuPy can use."""
    return bool(xp.cuda.is_available())


def count() -> int:
    """How many GPUs there are; 0 where CuPy cannot reach any."""
    return int(xp.cuda.runtime.getDeviceCount()) if is_available() else 0


def current() -> int:
    """The number of the GPU that ``"cuda"`` means now."""
    return int(xp.cuda.get_device_id())


def synchronize(index: int | None = None) -> None:
    """Wait until a GPU has done all that it was given."""
    with xp.cuda.Device(index) as device:
        device.synchronize()
