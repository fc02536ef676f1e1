"""CuPy: arrays on an NVIDIA GPU. Imported when the first GPU array is asked for, never by ``import tensorlab``.

CuPy computes on the *current* GPU, a tensor library on the one its tensors are on: ``on(array)`` makes that the current one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import cupy as xp
import numpy as np

from tensorlab import backend
from tensorlab.backend import pool
from tensorlab.backend.chains import CHAINS
from tensorlab.backend.host import common_order, inverse, memory_order

#: What owns page-locked host memory.
PinnedMemory = xp.cuda.PinnedMemoryPointer
pool.install()


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
    return xp.asnumpy(array.transpose(order)).transpose(inverse(order))


def from_host(array: np.ndarray, index: int | None) -> Any:
    """A copy on a GPU, in the same dense order of dimensions."""
    with use(index):
        if array.flags.c_contiguous:
            return xp.array(array, order="C")
        order = memory_order(array)
        return in_order(xp.array(array.transpose(order), order="C"), inverse(order))


def pinned(array: np.ndarray) -> np.ndarray:
    """A copy in page-locked host memory, row by row."""
    memory = xp.cuda.alloc_pinned_memory(array.nbytes)
    copy = np.frombuffer(memory, np.uint8, array.nbytes).view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def in_order(array: Any, order: Sequence[int]) -> Any:
    """Dimensions in another order, as an array that owns its memory: for one that nobody else has seen."""
    return strided(array, [array.shape[d] for d in order], [array.strides[d] for d in order], 0, array.dtype)


def use(index: int | None) -> Any:
    """A context in which a GPU is the current one; ``None`` leaves it as it is. Whatever makes arrays on a GPU asks here."""
    device = xp.cuda.Device(index)
    if device.id:  # work that is not told where it belongs runs on the first GPU
        backend.several = True
    return device


def on(array: Any) -> Any:
    """A context in which the GPU of ``array`` is the current one."""
    return array.device


def constant(value: np.ndarray, index: int | None) -> Any:
    """A 0-dim array as one on a GPU, made once for every value; nobody may write into it."""
    key = (index, value.dtype, value.tobytes())
    known = _constants.get(key)
    if known is None:
        if len(_constants) >= 4096:
            _constants.clear()
        known = _constants[key] = from_host(value, index)
    return known


_constants: dict[Any, Any] = {}


def elementwise(forward: Callable[..., Any], arrays: Sequence[Any]) -> Any:
    """Run an elementwise forward so that its result has the order of dimensions that NumPy would give it.

    CuPy lays every result out row by row. Where the operands lie otherwise they are turned, so that they lie row by row as well,
    and the result is turned back.
    """
    given = [a for a in arrays if a is not None]
    if all(a.flags.c_contiguous for a in given):
        return forward(xp, *arrays)
    ndim = max(a.ndim for a in given)
    order = common_order(given, ndim)
    found = forward(
        xp, *[None if a is None else a.reshape((1,) * (ndim - a.ndim) + a.shape).transpose(order) for a in arrays]
    )
    return in_order(found, inverse(order))


#: Types that chains are compiled for.
_CHAINED = (np.dtype(np.float32), np.dtype(np.float64))
_kernels: dict[str, Any] = {}


def chain(name: str) -> Any:
    """The kernel of a chain: called with its inputs, then with the arrays to write; compiled for each type when first run."""
    kernel = _kernels.get(name)
    if kernel is None:
        found = CHAINS[name]
        inputs, outputs = (", ".join(f"T {a}" for a in names) for names in (found.inputs, found.outputs))
        kernel = _kernels[name] = xp.ElementwiseKernel(inputs, outputs, found.code, f"tensorlab_{name}")
    return kernel


def fused(name: str, arrays: Sequence[Any]) -> Any:
    """The result of a chain, row by row; ``None`` for types that it is not compiled for, or several of them."""
    kind = arrays[0].dtype
    if kind not in _CHAINED or any(a.dtype != kind for a in arrays):
        return None
    return chain(name)(*arrays)


#: Types that a GPU adds to in one indivisible step.
_ATOMIC = {np.dtype(name) for name in ("int32", "uint32", "uint64", "float16", "float32", "float64")}


def add_at(array: Any, indices: Any, values: Any) -> None:
    """``array[indices] += values`` with every repeated index counted, in no particular order."""
    kind = array.dtype
    if kind in _ATOMIC:
        xp.add.at(array, indices, values)
    elif kind.kind == "c":
        add_at(array.real, indices, values.real)
        add_at(array.imag, indices, values.imag)
    elif kind == np.int64:  # two's complement: the sum has the same bits
        xp.add.at(array.view(np.uint64), indices, values.astype(kind).view(np.uint64))
    else:
        total = xp.zeros(array.shape, np.float32 if kind.kind == "V" else np.int32)
        xp.add.at(total, indices, values.astype(total.dtype))
        array += total.astype(kind)


def owner(array: Any) -> tuple[int, int]:
    """The memory that an array keeps alive: where it begins, and its bytes as the pool counts them."""
    memory = array.data.mem
    return int(memory.ptr), int(getattr(memory, "size", array.nbytes))


def address(array: Any) -> int:
    """Where the first element lies in memory."""
    return array.data.ptr


def alone(array: Any) -> bool:
    """Whether no other array lies in the same allocation. (Views made by ``strided`` hold the allocation, not an array.)"""
    return array.base is None and sys.getrefcount(array.data.mem) <= 2


def overlap(a: Any, b: Any) -> bool:
    """Whether two arrays of one GPU have an element in common."""
    return np.shares_memory(_Outline(a), _Outline(b), max_work=-1 if a.ndim < 3 else 10_000)  # type: ignore[arg-type]


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


def name_of(index: int | None = None) -> str:
    """What a GPU is called."""
    found = xp.cuda.runtime.getDeviceProperties(current() if index is None else index)["name"]
    return found.decode() if isinstance(found, bytes) else str(found)


def properties(index: int | None = None) -> dict[str, Any]:
    """What the CUDA runtime knows about a GPU, under its own names."""
    return dict(xp.cuda.runtime.getDeviceProperties(current() if index is None else index))


def set_current(index: int) -> None:
    """Make a GPU the one that ``"cuda"`` means in this thread."""
    use(index).use()


def can_reach(index: int, other: int) -> bool:
    """Whether a GPU can read the memory of another one."""
    return bool(xp.cuda.runtime.deviceCanAccessPeer(index, other))


def memory(index: int | None = None) -> tuple[int, int]:
    """Bytes of a GPU that arrays use, and bytes that CuPy's pool holds for arrays that are and that will be."""
    with xp.cuda.Device(index):
        found = xp.get_default_memory_pool()
        return int(found.used_bytes()), int(found.total_bytes())


def account(index: int | None = None) -> pool.Account:
    """What was handed out on a GPU, now and at most."""
    return pool.account(current() if index is None else index)


def free_and_total(index: int | None = None) -> tuple[int, int]:
    """Bytes of a GPU that nobody uses, and bytes that it has."""
    with xp.cuda.Device(index):
        free, total = xp.cuda.runtime.memGetInfo()
        return int(free), int(total)


def limit(index: int | None = None, fraction: float | None = None) -> float:
    """The part of a GPU's memory that the pool may take, 1.0 at first; set where ``fraction`` is given."""
    with xp.cuda.Device(index):
        pool_ = xp.get_default_memory_pool()
        if fraction is not None:
            pool_.set_limit(fraction=fraction)
        bound = int(pool_.get_limit())
    return bound / free_and_total(index)[1] if bound else 1.0


def empty_cache() -> None:
    """Give back what CuPy's pools hold and nothing uses, on the current GPU and of page-locked memory."""
    xp.get_default_memory_pool().free_all_blocks()
    xp.get_default_pinned_memory_pool().free_all_blocks()
