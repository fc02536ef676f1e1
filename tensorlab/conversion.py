"""The same values as another type, on another device, in another order in memory; and new tensors after the pattern of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorlab import creation, dispatch, dtypes, layout
from tensorlab.device import device as device_class
from tensorlab.functional.shapes import clone
from tensorlab.ops import ROWS

Tensor = Any


def to(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Another type, device or memory format: ``to(dtype)``, ``to(device)``, ``to(other)``; the tensor itself where nothing changes.

    ``copy=True`` copies in any case.

    >>> import tensorlab as tl
    >>> tl.tensor([1, 2]).to(tl.float32)
    tensor([1., 2.])
    """
    target, where, copy, memory_format = _read(args, kwargs)
    out = self
    if where is not None:
        out = dispatch.move(out, where)
    if target is not None and out._a.dtype != target.np:
        return dispatch.call(ROWS["to_copy"], (out,), dtype=target.np, memory_format=memory_format)
    wrong_order = memory_format is not layout.preserve_format and not out.is_contiguous(memory_format)
    return clone(out, memory_format=memory_format) if out is self and (copy or wrong_order) else out


def _read(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, bool, Any]:
    """``(dtype or None, device or None, copy, memory format)`` from the arguments of ``to``."""
    target, where = kwargs.pop("dtype", None), kwargs.pop("device", None)
    flags: list[bool] = []
    for argument in args:
        if isinstance(argument, dispatch.Tensor):
            target, where = argument.dtype, argument.device
        elif isinstance(argument, (str, device_class)):
            where = argument
        elif isinstance(argument, bool):
            flags.append(argument)  # non_blocking, then copy
        elif isinstance(argument, int):
            where = device_class(argument)
        elif isinstance(argument, dtypes.dtype) or argument in (float, int, bool, complex):
            target = argument
        elif argument is not None:
            raise TypeError(f"to() received an invalid argument: {argument!r}; pass a dtype, a device or a tensor")
    kwargs.pop("non_blocking", None)
    copy = kwargs.pop("copy", flags[1] if len(flags) > 1 else False)
    memory_format = kwargs.pop("memory_format", None) or layout.preserve_format
    if kwargs:
        raise TypeError(f"to() got an unexpected keyword argument {next(iter(kwargs))!r}")
    return (
        None if target is None else dtypes.as_dtype(target),
        None if where is None else device_class(where),
        bool(copy),
        memory_format,
    )


def type_(self: Tensor, dtype: Any = None) -> Any:
    """The type's name, or the tensor in another type: a dtype, an older name such as ``LongTensor``, or its text.

    >>> import tensorlab as tl
    >>> tl.ones(1).type("torch.LongTensor").type()
    'tensorlab.LongTensor'
    """
    if dtype is None:
        return f"tensorlab.{LEGACY[self.dtype.name]}Tensor"
    if isinstance(dtype, str):
        known = {f"{LEGACY[d.name]}Tensor": d for d in dtypes.ALL}
        place, _, word = dtype.rpartition(".")
        if word not in known or place not in ("torch", "tensorlab", "torch.cuda", "tensorlab.cuda"):
            raise ValueError(f"invalid type: {dtype!r}; a name is 'torch.FloatTensor', and a dtype does as well")
        return to(self, known[word], device_class("cuda" if place.endswith(".cuda") else "cpu"))
    return to(self, getattr(dtype, "dtype", dtype))


#: The older names of the types, in front of ``Tensor``.
LEGACY = {
    "float32": "Float",
    "float64": "Double",
    "float16": "Half",
    "bfloat16": "BFloat16",
    "int64": "Long",
    "int32": "Int",
    "int16": "Short",
    "int8": "Char",
    "uint8": "Byte",
    "bool": "Bool",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}


def type_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor in the type of another."""
    if not isinstance(other, dispatch.Tensor):
        raise TypeError(f"type_as(): argument 'other' (position 1) must be Tensor, not {type(other).__name__}")
    return to(self, other.dtype)


def cpu(self: Tensor) -> Tensor:
    """The tensor in host memory; itself if it is there."""
    return to(self, "cpu")


def cuda(self: Tensor, device: Any = None) -> Tensor:
    """The tensor on a GPU. Raises ``RuntimeError`` where there is none."""
    return to(self, device_class("cuda" if device is None else device))


def contiguous(self: Tensor, memory_format: Any = layout.contiguous_format) -> Tensor:
    """The elements in row-major order, or that of another memory format: the tensor itself if they are, else a copy."""
    if memory_format is layout.preserve_format:
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    return self if self.is_contiguous(memory_format) else clone(self, memory_format=memory_format)


def _conversion(name: str, target: dtypes.dtype) -> Callable[..., Any]:
    def method(self: Any, memory_format: Any = None) -> Any:
        return to(self, target, memory_format=memory_format)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"The tensor as {target.name}; itself if it is that already."
    return method


#: Methods named after the type they convert to.
CONVERSIONS = {
    name: _conversion(name, target)
    for name, target in {
        "float": dtypes.float32, "double": dtypes.float64, "half": dtypes.float16, "bfloat16": dtypes.bfloat16, "int": dtypes.int32,
        "long": dtypes.int64, "short": dtypes.int16, "char": dtypes.int8, "byte": dtypes.uint8, "bool": dtypes.bool_,
        "cfloat": dtypes.complex64, "cdouble": dtypes.complex128,
    }.items()
}  # fmt: skip

# ------------------------------------------------------------------------------------------ new tensors like this one


def new_tensor(
    self: Tensor, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor from data, of this tensor's type and on its device."""
    return creation.tensor(data, dtype=dtype or self.dtype, device=device or self.device, requires_grad=requires_grad)


def new_zeros(
    self: Tensor, *sizes: Any, size: Any = None, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Zeros of this tensor's type and on its device."""
    return creation.zeros(
        *sizes, size=size, dtype=dtype or self.dtype, device=device or self.device, requires_grad=requires_grad
    )


def new_ones(
    self: Tensor, *sizes: Any, size: Any = None, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Ones of this tensor's type and on its device."""
    return creation.ones(
        *sizes, size=size, dtype=dtype or self.dtype, device=device or self.device, requires_grad=requires_grad
    )


def new_empty(
    self: Tensor, *sizes: Any, size: Any = None, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """An uninitialised tensor of this tensor's type and on its device."""
    return creation.empty(
        *sizes, size=size, dtype=dtype or self.dtype, device=device or self.device, requires_grad=requires_grad
    )


def new_full(
    self: Tensor, size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """One value everywhere, of this tensor's type and on its device."""
    return creation.full(
        size, fill_value, dtype=dtype or self.dtype, device=device or self.device, requires_grad=requires_grad
    )


METHODS = {
    "to": to, "type": type_, "type_as": type_as, "cpu": cpu, "cuda": cuda, "contiguous": contiguous, "new_tensor": new_tensor,
    "new_zeros": new_zeros, "new_ones": new_ones, "new_empty": new_empty, "new_full": new_full,
    **CONVERSIONS,
}  # fmt: skip
