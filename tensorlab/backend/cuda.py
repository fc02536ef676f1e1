"""CuPy: arrays on an NVIDIA GPU. Imported when the first GPU array is asked for, never by ``import tensorlab``."""

from __future__ import annotations

from typing import Any

import cupy as xp
import numpy as np


def root(array: Any) -> Any:
    """A row-major array over all the memory from the first to the last element of ``array``."""
    if array.flags.c_contiguous:
        return array
    order = sorted(range(array.ndim), key=lambda d: (-array.strides[d], d))
    dense = array.transpose(order)
    if dense.flags.c_contiguous:
        return dense
    last = sum((n - 1) * s for n, s in zip(array.shape, array.strides, strict=True)) if array.size else 0
    return strided(array, (last // array.itemsize + 1 if array.size else 0,), (array.itemsize,), 0, array.dtype)


def strided(root: Any, shape: tuple[int, ...], strides: tuple[int, ...], offset: int, dtype: Any) -> Any:
    """A view of the buffer of ``root``; strides and offset in bytes."""
    return xp.ndarray(shape, dtype, root.data + offset, strides)


def to_host(array: Any) -> np.ndarray:
    return xp.asnumpy(array)


def from_host(array: np.ndarray, index: int | None) -> Any:
    with xp.cuda.Device(index):
        return xp.asarray(array)


def address(array: Any) -> int:
    return array.data.ptr


def is_available() -> bool:
    return xp.cuda.is_available()
