"""Tensors that a module knows as its own."""

from __future__ import annotations

from typing import Any

from tensorlab import conversion, creation, dtypes
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

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """A copy of the values, without the gradient."""
        gradient, self._grad = self._grad, None
        try:
            return super().__deepcopy__(memo)
        finally:
            self._grad = gradient

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


def _moving(target: Any) -> Any:
    """A method that calls ``to`` with one argument."""

    def method(self: Any, memory_format: Any = None) -> Any:
        return self.to(target)

    method.__doc__ = f"Change what it will be to {target}, in place."
    return method


class UninitializedTensorMixin:
    """What has a type and a device and no shape yet. Any operation on it raises ``ValueError``."""

    __slots__ = ()

    becomes: Any

    @property
    def _a(self) -> Any:
        raise ValueError(
            f"Attempted to use an uninitialized {type(self).__name__}. It gets its shape when its lazy module is first "
            "called: call the module with a dummy batch before anything else uses its parameters"
        )

    @property
    def shape(self) -> Any:
        """Raises ``RuntimeError``: there is none yet."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. It has a shape "
            "once its module was called with an input, or once a state with shapes was loaded into it."
        )

    @property
    def dtype(self) -> Any:
        """The element type that it will have."""
        return self.__dict__["dtype"]

    @property
    def device(self) -> Any:
        """Where it will be."""
        return self.__dict__["device"]

    def is_floating_point(self) -> bool:
        """Whether it will hold floating-point numbers."""
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        """Whether it will hold complex numbers."""
        return self.dtype.is_complex

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Change the type or the device that it will have, in place."""
        dtype, device, _, _ = conversion.asked(args, kwargs)
        self.__dict__.update(dtype=dtype or self.dtype, device=device or self.device)
        return self

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Become an ordinary parameter or buffer of a shape, uninitialised."""
        data = creation.empty(tuple(shape), device=device or self.device, dtype=dtype or self.dtype)
        for name in ("dtype", "device"):
            del self.__dict__[name]
        own: Any = self
        own.__class__ = self.becomes
        own.data = data

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = _uninitialized(type(self), self.requires_grad, self.device, self.dtype)
        return memo[id(self)]

    def __reduce__(self: Any) -> Any:
        return _uninitialized, (type(self), self.requires_grad, str(self.device), self.dtype)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    # what the names of types do is done by ``to``
    cpu = _moving("cpu")
    float, double, half = _moving(dtypes.float32), _moving(dtypes.float64), _moving(dtypes.float16)
    bfloat16 = _moving(dtypes.bfloat16)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter whose shape is not known yet; see ``LazyModuleMixin``."""

    __slots__ = ()

    becomes = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        return _uninitialized(cls, requires_grad, device, dtype)


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer whose shape is not known yet; see ``LazyModuleMixin``."""

    __slots__ = ()

    becomes = Tensor

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> Any:
        out = _uninitialized(cls, requires_grad, device, dtype)
        out.persistent = persistent
        return out


def _uninitialized(cls: Any, requires_grad: bool, device: Any, dtype: Any) -> Any:
    out = object.__new__(cls)
    out._st = out._edge = out._grad = out._view = out._acc = out._notes = None
    out._rg = out._live = requires_grad
    out._off = 0
    empty = creation.empty(0, device=device, dtype=dtype)
    out.__dict__.update(dtype=empty.dtype, device=empty.device)
    return out


def is_lazy(x: Any) -> bool:
    """Whether a parameter or buffer waits for its shape."""
    return isinstance(x, UninitializedTensorMixin)
