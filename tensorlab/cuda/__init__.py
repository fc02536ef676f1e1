"""GPUs: whether there are any, which one is meant, and waiting for it.

Nothing here fails where CuPy or a GPU is missing, except for asking a GPU to do something: that error says what to install.

>>> import tensorlab as tl
>>> tl.cuda.device_count() > 0 or not tl.cuda.is_available()
True
"""

from __future__ import annotations

from typing import Any

from tensorlab import backend
from tensorlab.cuda import amp as amp
from tensorlab.device import device as device_class

__all__ = ["current_device", "device_count", "is_available", "synchronize"]


def is_available() -> bool:
    """Whether tensors can live on a GPU here. ``False`` where CuPy is not installed."""
    return backend.why_no_gpu() is None


def device_count() -> int:
    """How many GPUs there are. 0 where CuPy is not installed."""
    return backend.gpu().count() if is_available() else 0


def current_device() -> int:
    """The number of the GPU that ``"cuda"`` means. Raises ``RuntimeError`` where there is none."""
    return backend.gpu().current()


def synchronize(device: Any = None) -> None:
    """Wait until a GPU, the current one unless told otherwise, has done all that it was given.

    ``device`` is a ``device``, its name or its number. Raises ``RuntimeError`` where there is none, and ``ValueError`` for the CPU.
    """
    where = device_class("cuda" if device is None else device)
    if where.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {where}")
    backend.gpu(where).synchronize(where.index)
