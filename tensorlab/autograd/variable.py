"""``Variable``, the name that tensors with gradients had in PyTorch's early years."""

from __future__ import annotations

import warnings
from typing import Any

from tensorlab.tensor import Tensor


class _IsTensor(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_IsTensor):
    """A tensor over the memory of ``data``, without its history. Every tensor is an instance.

    Raises ``TypeError`` if ``data`` is no tensor, ``RuntimeError`` if integers are to require grad.

    >>> import tensorlab as tl
    >>> tl.autograd.Variable(tl.ones(2), requires_grad=True)
    tensor([1., 1.], requires_grad=True)
    """

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: Any = None) -> Any:
        if volatile:
            warnings.warn("volatile was removed and now has no effect. Use `with no_grad():` instead.", stacklevel=2)
        if data is not None and not isinstance(data, Tensor):
            raise TypeError(
                f"Variable data has to be a tensor, but got {type(data).__name__}; make one with tensor(data)"
            )
        return (Tensor() if data is None else data.detach()).requires_grad_(bool(requires_grad))
