"""NumPy: arrays in the computer's own memory."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

xp = np

# A tensor library answers 1 / 0 with inf and says nothing. NumPy's floating-point warnings are silenced where *our* modules call
# it, by module name, so that a user's own NumPy code keeps its warnings and error state.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"tensorlab(\.|$)")


def memory_order(array: Any) -> list[int]:
    """Dimensions from the outermost to the innermost in memory."""
    return sorted(range(array.ndim), key=lambda d: (-array.strides[d], d))


def inverse(order: Sequence[int]) -> list[int]:
    """The order of dimensions that undoes another."""
    return sorted(range(len(order)), key=order.__getitem__)


def common_order(arrays: Sequence[Any], ndim: int) -> list[int]:
    """Dimensions from the outermost to the innermost in the result of an elementwise function of several arrays.

    NumPy's rule: longer strides lie further out, whichever operand says so; where operands disagree, row-major order wins.
    """
    strides = []
    for a in arrays:
        own = [0 if n == 1 else abs(s) for s, n in zip(a.strides, a.shape, strict=True)]
        strides.append([0] * (ndim - a.ndim) + own)
    order: list[int] = []
    for d in reversed(range(ndim)):
        at = 0
        for place, inner in enumerate(order):
            said = [s[d] < s[inner] for s in strides if s[d] and s[inner]]
            if said and not all(said):
                break
            if said:
                at = place + 1
        order.insert(at, d)
    return order


def root(array: np.ndarray) -> np.ndarray:
    """A row-major array over all the memory from the first to the last element of ``array``."""
    if array.flags.c_contiguous:
        return array
    dense = array.transpose(memory_order(array))
    if dense.flags.c_contiguous:
        return dense
    if any(s < 0 for s in array.strides):
        raise ValueError("a buffer that is read backwards cannot be shared; copy it first, with array.copy()")
    last = sum((n - 1) * s for n, s in zip(array.shape, array.strides, strict=True)) if array.size else 0
    if last % array.itemsize == 0:
        owner = array if array.base is None else array.base
        if isinstance(owner, np.ndarray) and owner.flags.forc and array.size:  # no chain of windows on windows
            owner = owner if owner.flags.c_contiguous else owner.T
            return np.ndarray(last // array.itemsize + 1, array.dtype, owner, address(array) - address(owner))
        flat = as_strided(array, shape=(last // array.itemsize + 1 if array.size else 0,), strides=(array.itemsize,))
        return np.asarray(flat)
    raise ValueError(
        f"strides {array.strides} are not multiples of the element size {array.itemsize}; copy the array first"
    )


def strided(root: np.ndarray, shape: Sequence[int], strides: Sequence[int], offset: int, dtype: Any) -> np.ndarray:
    """A view of the buffer of ``root``; strides and offset in bytes."""
    return np.ndarray(shape, dtype, root, offset, strides)


def to_host(array: np.ndarray) -> np.ndarray:
    """The array itself."""
    return array


def on(array: np.ndarray) -> Any:
    """A context in which computing with ``array`` is possible: anywhere."""
    return nullcontext()


def in_order(array: np.ndarray, order: Sequence[int]) -> np.ndarray:
    """Dimensions in another order, as an array that owns its memory: for one that nobody else has seen."""
    return array if list(order) == list(range(array.ndim)) else array.transpose(order)


def elementwise(forward: Callable[..., Any], arrays: Sequence[Any]) -> Any:
    """Run an elementwise forward."""
    return forward(np, *arrays)


def fused(name: str, arrays: Sequence[Any]) -> None:
    """``None``: on the CPU chains are computed step by step."""


#: ``array[indices] += values`` with every repeated index counted.
add_at = np.add.at


def owner(array: np.ndarray) -> tuple[int, int]:
    """The memory that an array keeps alive: where it begins, and its bytes."""
    base = array
    while isinstance(base.base, np.ndarray):
        base = base.base
    return address(base), int(base.nbytes)


def address(array: np.ndarray) -> int:
    """Where the first element lies in memory."""
    return array.__array_interface__["data"][0]


def alone(array: np.ndarray) -> bool:
    """Whether no other array lies in the same memory."""
    return array.base is None


def overlap(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays have an element in common."""
    return np.may_share_memory(a, b) and np.shares_memory(a, b, max_work=-1 if a.ndim < 3 else 10_000)  # type: ignore[arg-type]
