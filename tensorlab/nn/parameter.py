"""Tensors that a module knows as its own."""

from __future__ import annotations

from typing import Any

from tensorlab import creation
from tensorlab.tensor import Tensor, as_subclass


class Parameter(Tensor):
    """A tensor that a module trains: assigned to an attribute of a ``Module``, it appears among its ``parameters()``.

    Shares the memory of ``data`` and is a leaf of its own, which requires grad unless said otherwise. Raises
    ``TypeError`` if ``data`` is no tensor, ``RuntimeError`` if it holds integers and ``requires_grad`` is left on.
    """

    __slots__ = ()

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Parameter:
        source = creation.empty(0) if data is None else data
        if not isinstance(source, Tensor):
            raise TypeError(
                f"Parameter(): data must be a Tensor, not {type(source).__name__}; "
                "make one with tensorlab.tensor(...) first"
            )
        out = as_subclass(source, cls)
        out.requires_grad_(requires_grad)
        return out

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()


class Buffer(Tensor):
    """A tensor that belongs to a module's state and is not trained: assigned to an attribute, it is registered as a
    buffer.

    ``persistent=False`` leaves it out of ``state_dict()``.
    """

    __slots__ = ()

    persistent: bool

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Buffer:
        source = creation.empty(0) if data is None else data
        if not isinstance(source, Tensor):
            raise TypeError(f"Buffer(): data must be a Tensor, not {type(source).__name__}")
        out = as_subclass(source, cls)
        out.persistent = persistent
        return out

    def __repr__(self) -> str:
        return "Buffer containing:\n" + super().__repr__()
