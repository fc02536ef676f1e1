"""Where new tensors are made that are not told where, and the module that looks after a kind of device."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from tensorlab import backend
from tensorlab.device import ambient, cpu
from tensorlab.device import device as device_class


def get_default_device() -> device_class:
    """The device of new tensors of this thread that are not told ``device=``; ``cpu`` unless changed.

    >>> import tensorlab as tl
    >>> tl.get_default_device()
    device(type='cpu')
    """
    where = ambient.device
    if where is None:
        return cpu
    if where.type == "cuda" and where.index is None:
        return device_class("cuda", backend.gpu(where).current())
    return where


def set_default_device(device: Any) -> None:
    """Make new tensors of this thread on ``device`` unless they are told ``device=``; ``None`` goes back to host memory.

    What shares memory that exists (``from_numpy``, ``frombuffer``, ``from_dlpack``) and what is made after a tensor (``zeros_like``,
    ``x.new_zeros``) is not concerned. Raises ``RuntimeError`` for a name that is no device's.

    >>> import tensorlab as tl
    >>> tl.set_default_device("cpu")
    """
    ambient.device = None if device is None else device_class(device)


def get_device_module(device: Any = None) -> ModuleType:
    """``tensorlab.cuda`` or ``tensorlab.cpu``: the module of a device, or of the default one."""
    where = get_default_device() if device is None else device_class(device)
    return import_module(f"tensorlab.{where.type}")
