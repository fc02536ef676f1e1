"""Arrays and memory on the two kinds of device, behind one short protocol.

A backend is a module with ``xp`` (its array namespace), ``root(array)``, ``strided(root, shape, strides, offset, dtype)`` and
``to_host(array)``. NumPy's is always there; CuPy's is loaded when the first array of its kind turns up.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorlab.backend import host
from tensorlab.backend.storage import Storage

__all__ = ["Storage", "host", "of", "namespace", "to_host"]


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
    """The array as a NumPy one: itself on the CPU, a copy from a GPU."""
    return array if isinstance(array, np.ndarray) else of(array).to_host(array)
