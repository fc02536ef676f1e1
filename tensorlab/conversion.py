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

    All forms end with ``non_blocking=False, copy=False, *, memory_format=preserve_format``. ``copy=True`` copies in any case.
    ``non_blocking`` lets a GPU fetch from page-locked memory while the program goes on; a copy to host memory is always complete.
    Raises ``TypeError`` for arguments that fit none of the forms.

    >>> import tensorlab as tl
    >>> tl.tensor([1, 2]).to(tl.float32)
    tensor([1., 2.])
    """
    if len(args) == 1 and not kwargs and type(args[0]) is dtypes.dtype and self._a.dtype == args[0].np:
        return self
    target, where, copy, memory_format = asked(args, kwargs)
    if memory_format not in (layout.preserve_format, layout.contiguous_format):
        layout.format_order(self._a.ndim, memory_format)  # which fits the number of dimensions, or is an error
    source = self
    if where is not None:
        self = dispatch.move(self, where)
    np_dtype = self._a.dtype if target is None else target.np
    keeps = memory_format is layout.preserve_format or memory_format is suggested_format(self)
    if np_dtype == self._a.dtype and keeps and not (copy and self is source):
        return self
    row_format = None if memory_format is layout.preserve_format else memory_format
    if np_dtype == self._a.dtype:
        return clone(self, memory_format=memory_format)
    return dispatch.call(ROWS["to_copy"], (self,), dtype=np_dtype, memory_format=row_format)


def suggested_format(x: Tensor) -> Any:
    """The memory format that a tensor lies in already: ``channels_last`` where its strides say so, else ``contiguous_format``."""
    if not x.is_contiguous() or x._a.ndim in (4, 5) and x._a.shape[1] != 1:
        for known, ndim in ((layout.channels_last, 4), (layout.channels_last_3d, 5)):
            if x._a.ndim == ndim and x.is_contiguous(known) and not x.is_contiguous():
                return known
    return layout.contiguous_format


#: The forms of ``to``, by what may come first, and how each argument is recognised.
_FORMS = {
    "other": ("other", "non_blocking", "copy"),
    "dtype": ("dtype", "non_blocking", "copy"),
    "device": ("device", "dtype", "non_blocking", "copy"),
}


def asked(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, bool, Any]:
    """``(dtype or None, device or None, copy, memory format)`` from the arguments of ``to``."""
    given = _read(args, kwargs)
    other = given.get("other")
    target, where = (given.get("dtype"), given.get("device")) if other is None else (other.dtype, other.device)
    return (
        None if target is None else dtypes.as_dtype(target),
        None if where is None else device_class(where),
        given.get("copy", False),
        given.get("memory_format") or layout.preserve_format,
    )


def _read(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of ``to`` by name. Raises ``TypeError`` for what fits none of its forms."""
    first = args[0] if args else kwargs.get("other")
    form = "other" if isinstance(first, dispatch.Tensor) else "dtype" if _is("dtype", first) else "device"
    names = _FORMS[form]
    given = dict(zip(names, args, strict=False))
    wrong = len(args) > len(names) or any(name in given for name in kwargs)
    given.update(kwargs)
    if form == "dtype" and not args:
        names = _FORMS["device"]
    for name, value in given.items():
        wrong = wrong or name not in (*names, "memory_format") or not (value is None or _is(name, value))
    if wrong or given.get("non_blocking", False) is None or given.get("copy", False) is None:
        said = ", ".join([*(type(a).__name__ for a in args), *(f"{k}={type(v).__name__}" for k, v in kwargs.items())])
        raise TypeError(
            f"to() received an invalid combination of arguments - got ({said}), but expected one of: (device, dtype, non_blocking, copy), "
            "(dtype, non_blocking, copy), (other, non_blocking, copy), each with memory_format= by name"
        )
    return given


def _is(name: str, value: Any) -> bool:
    """Whether a value may stand for an argument of ``to``."""
    if name in ("non_blocking", "copy"):
        return isinstance(value, bool)
    if name == "dtype":
        return isinstance(value, dtypes.dtype) or value in (float, int, bool, complex)
    if name == "device":
        return isinstance(value, (str, device_class)) or isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, dispatch.Tensor if name == "other" else layout.memory_format)


def type_(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
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
        return to(self, device_class("cuda" if place.endswith(".cuda") else "cpu"), known[word])
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


def cpu(self: Tensor, memory_format: Any = layout.preserve_format) -> Tensor:
    """The tensor in host memory; itself if it is there, and in that memory format."""
    return to(self, "cpu", memory_format=memory_format)


def cuda(
    self: Tensor, device: Any = None, non_blocking: bool = False, memory_format: Any = layout.preserve_format
) -> Tensor:
    """The tensor on a GPU; itself if it is there. Raises ``RuntimeError`` where there is none, and for a device that is no GPU."""
    where = device_class("cuda" if device is None else device)
    if where.type != "cuda":
        raise RuntimeError(f"Invalid device, must be cuda device, but got {where}; say x.to({str(where)!r})")
    return to(self, where, non_blocking=non_blocking, memory_format=memory_format)


def contiguous(self: Tensor, memory_format: Any = layout.contiguous_format) -> Tensor:
    """The elements in row-major order, or that of another memory format: the tensor itself if they are, else a copy."""
    if memory_format is layout.preserve_format:
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    return self if self.is_contiguous(memory_format) else clone(self, memory_format=memory_format)


def _conversion(name: str, target: dtypes.dtype) -> Callable[..., Any]:
    def method(self: Any, memory_format: Any = None) -> Any:
        return to(self, target) if memory_format is None else to(self, target, memory_format=memory_format)

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
