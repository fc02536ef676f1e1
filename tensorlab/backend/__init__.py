"""Arrays and memory on the two kinds of device, behind one short protocol.

A backend is a module with ``xp`` (its array namespace) and the functions of ``host.py`` and ``cuda.py``, which have the same names
and meanings in both. NumPy's is always there; CuPy's is loaded when the first array on a GPU is asked for.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from tensorlab.backend import host
from tensorlab.backend.storage import Storage
from tensorlab.device import device

__all__ = [
    "Storage",
    "add_into",
    "copied_like",
    "fused",
    "gpu",
    "host",
    "namespace",
    "of",
    "put",
    "to_host",
    "why_no_gpu",
    "zeros",
]

#: Whether arrays were put on another GPU than the first: then each piece of work has to be told where it belongs.
several = False


def of(array: Any) -> Any:
    """The backend that an array belongs to."""
    if isinstance(array, np.ndarray):
        return host
    from tensorlab.backend import cuda

    return cuda


def namespace(array: Any) -> Any:
    """The array namespace (``numpy`` or ``cupy``) that an array belongs to."""
    return np if isinstance(array, np.ndarray) else of(array).xp


def to_host(array: Any) -> np.ndarray:
    """The array as a NumPy one: itself on the CPU, a copy from a GPU. A dense order of dimensions is kept."""
    return array if isinstance(array, np.ndarray) else of(array).to_host(array)


def put(array: Any, value: Any) -> None:
    """Write a value or an array of the same device into all of an array."""
    with of(array).on(array):
        array[...] = value


def add_into(array: Any, more: Any) -> None:
    """Add an array of the same device to another, in its memory."""
    with of(array).on(array):
        array += more


def zeros(shape: tuple[int, ...], beside: Any) -> Any:
    """Zeros of the type of an array, and where that is."""
    if type(beside) is np.ndarray:
        return np.zeros(shape, beside.dtype)
    where = of(beside)
    with where.on(beside):
        return where.xp.zeros(shape, beside.dtype)


def copied_like(values: Any, model: Any) -> Any:
    """A copy of values that lies like another array of the same shape and device."""
    if type(model) is np.ndarray:
        fresh = np.empty_like(model)
        fresh[...] = values
        return fresh
    where = of(model)
    with where.on(model):
        fresh = where.xp.empty_like(model)
        fresh[...] = values
    return fresh


def fused(xp: Any, name: str, *arrays: Any) -> Any:
    """The result of a chain (see ``chains.py``) in one kernel, on a GPU; ``None`` where it is to be computed step by step."""
    return None if xp is np else of(arrays[0]).fused(name, arrays)


def why_no_gpu() -> str | None:
    """``None`` where a GPU can be used, else what is missing and what to do about it."""
    try:
        from tensorlab.backend import cuda
    except ImportError as error:
        return (
            f"CuPy cannot be imported ({error}). Install the extra that fits the driver: "
            'pip install "jupyter-tensorlab[cuda12]" or "jupyter-tensorlab[cuda13]"'
        )
    return None if cuda.is_available() else "CuPy is installed, but finds no CUDA GPU that it can use"


def gpu(where: Any = "cuda") -> ModuleType:
    """CuPy's backend. Raises ``RuntimeError`` saying what is missing where it cannot be used, or which GPU there is none of."""
    where, reason = device(where), why_no_gpu()
    if reason is not None:
        raise RuntimeError(f"device '{where}' was asked for, but {reason}. Use device='cpu' to go on without a GPU.")
    from tensorlab.backend import cuda

    index = where.index
    if index is not None and index >= cuda.count():
        last = cuda.count() - 1
        raise RuntimeError(
            f"device '{where}' was asked for (invalid device ordinal), but the GPUs here are cuda:0 to cuda:{last}"
        )
    return cuda
