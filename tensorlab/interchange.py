"""Memory shared with other libraries: NumPy's protocols, CuPy's, DLPack, and buffers.

Nothing is copied where memory can be shared, and nothing that requires grad leaves the graph unnoticed: each way out refuses it and
names ``detach()``. Sources: DLPack 1.x (dmlc), the CUDA array interface 3 (Numba), NumPy's array interface 3.
"""

from __future__ import annotations

import ctypes
import enum
from typing import Any

import numpy as np

from tensorlab import backend, creation, dispatch, dtypes
from tensorlab.device import ambient
from tensorlab.device import device as device_class
from tensorlab.dispatch import storage_of, wrap
from tensorlab.engine import sites
from tensorlab.functional.shapes import clone

Tensor = Any


class DLDeviceType(enum.IntEnum):
    """Kinds of device as DLPack counts them."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14


# ------------------------------------------------------------------------------------------------------------- NumPy


def _array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
    """The elements for NumPy: the same memory where that is possible and ``copy`` is not ``True``."""
    found = self.numpy()
    if dtype is not None and np.dtype(dtype) != found.dtype:
        if copy is False:
            raise ValueError(
                f"Unable to avoid copy while creating an array of {np.dtype(dtype)} from a tensor of {self.dtype.name}: only "
                "its own type shares its memory"
            )
        return found.astype(dtype)
    return found.copy() if copy else found


def _array_interface(self: Tensor) -> dict[str, Any]:
    """Where the elements lie in host memory, by NumPy's protocol, for readers that know nothing of tensors."""
    if self.requires_grad or self.is_cuda or self._a.dtype.kind == "V":
        raise AttributeError(
            f"__array_interface__ is there for tensors in host memory that require no grad and have a type of NumPy's own, not for "
            f"one of {self.dtype.name} on {self.device}" + (" that requires grad" if self.requires_grad else "")
        )
    return dict(self._a.__array_interface__)


def _cuda_array_interface(self: Tensor) -> dict[str, Any]:
    """Where the elements lie on a GPU, by the protocol that CuPy, Numba and PyTorch share."""
    if not self.is_cuda:
        raise AttributeError(
            f"Can't get __cuda_array_interface__ on non-CUDA tensor type: {self.type()}. If CUDA data is required use tensor.cuda() to "
            "copy tensor to device memory."
        )
    if self.requires_grad:
        raise RuntimeError(
            "Can't get __cuda_array_interface__ on Variable that requires grad. If gradients aren't required, use var.detach() to get "
            "Variable that doesn't require grad."
        )
    if self._a.dtype.kind == "V":
        raise TypeError("__cuda_array_interface__: the protocol has no bfloat16; exchange it with from_dlpack()")
    a = self._a
    return {
        "typestr": a.dtype.str, "shape": a.shape, "data": (self.data_ptr(), False), "version": 2,
        "strides": None if a.flags.c_contiguous else a.strides,
    }  # fmt: skip


def _array_ufunc(self: Tensor, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """NumPy functions of plain tensors work on their arrays and give arrays; a tensor as ``out=`` is written to.

    An operator with a NumPy number or array on its left, such as ``np.sqrt(d) * x``, is the tensor's own operator.
    """
    if method == "__call__" and len(inputs) == 2 and not kwargs and isinstance(inputs[0], (np.ndarray, np.generic)):
        mirrored = _MIRRORED.get(ufunc.__name__)
        if mirrored is not None:
            left = inputs[0]
            if isinstance(left, np.ndarray):
                dtypes.of(left.dtype)
                left = wrap(np.asarray(left))
            return getattr(inputs[1], mirrored)(left)
    outs = kwargs.get("out", ())
    if any(isinstance(x, dispatch.Tensor) and x.requires_grad for x in (*inputs, *outs)):
        raise RuntimeError(
            f"numpy.{ufunc.__name__}() was called with a tensor that requires grad; NumPy would lose the "
            f"gradient. Use tensorlab's own function, or .detach()."
        )
    if outs:
        kwargs["out"] = tuple(_plain(x) for x in outs)
    found = getattr(ufunc, method)(*[_plain(x) for x in inputs], **{k: _plain(v) for k, v in kwargs.items()})
    for x in outs:
        if isinstance(x, dispatch.Tensor):
            storage_of(x).bump(f"numpy.{ufunc.__name__}(out=)", sites.here(2))
    return (outs[0] if len(outs) == 1 else outs) if outs else found


def _plain(value: Any) -> Any:
    return value.numpy() if isinstance(value, dispatch.Tensor) else value


#: What ``array OP tensor`` asks of the tensor, by the name of NumPy's function for the operator.
_MIRRORED = {
    "add": "__radd__", "subtract": "__rsub__", "multiply": "__rmul__", "divide": "__rtruediv__", "matmul": "__rmatmul__",
    "floor_divide": "__rfloordiv__", "remainder": "__rmod__", "power": "__rpow__", "bitwise_and": "__rand__",
    "bitwise_or": "__ror__", "bitwise_xor": "__rxor__", "less": "__gt__", "less_equal": "__ge__", "greater": "__lt__",
    "greater_equal": "__le__", "equal": "__eq__", "not_equal": "__ne__",
}  # fmt: skip


# ------------------------------------------------------------------------------------------------------------- DLPack


def _dlpack_device(self: Tensor) -> tuple[DLDeviceType, int]:
    """The device as DLPack counts: kind and number."""
    where = self.device
    return (DLDeviceType.kDLCPU, 0) if where.type == "cpu" else (DLDeviceType.kDLCUDA, where.index or 0)


def _dlpack(
    self: Tensor,
    *,
    stream: Any = -1,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[Any, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """A DLPack capsule over the tensor's memory, for another library's ``from_dlpack``.

    Raises ``BufferError`` for a tensor that requires grad, and where ``copy=False`` or the memory itself rules sharing out.
    """
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    x = self
    if dl_device is not None and tuple(dl_device) != (where := _dlpack_device(self)):
        kind, index = dl_device
        if kind == DLDeviceType.kDLCPU or kind == DLDeviceType.kDLCUDA:
            if copy is False and not kind == where[0] == DLDeviceType.kDLCPU:
                raise BufferError(
                    f"__dlpack__(): a tensor on {self.device} is not shared with another device; ask for a copy"
                )
            x = self.to("cpu" if kind == DLDeviceType.kDLCPU else device_class("cuda", index))
        else:
            raise BufferError(
                f"__dlpack__(): tensors live in host memory or on CUDA GPUs, not on DLPack's device {dl_device}"
            )
    if copy and x is self:
        x = clone(self)
    options: dict[str, Any] = {} if max_version is None else {"max_version": max_version}
    if not x.is_cuda:
        if stream not in (None, -1):
            raise AssertionError("stream should be None on cpu.")
        return _capsule(x._a, options)
    if stream not in (None, -1):
        options["stream"] = stream
    with backend.of(x._a).on(x._a):
        return _capsule(x._a, options)


def _capsule(a: Any, options: dict[str, Any]) -> Any:
    """A capsule over an array. Those of bfloat16, which NumPy has no word for, are renamed on the way."""
    if a.dtype.kind != "V":
        return a.__dlpack__(**options)
    capsule = a.view(np.uint16).__dlpack__(**options)
    _type_in(capsule)[:] = (_BFLOAT, 16, 1, 0)
    return capsule


#: DLPack's numbers for kinds of element.
_UINT, _BFLOAT = 1, 4
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_named = ctypes.pythonapi.PyCapsule_GetName
_named.restype, _named.argtypes = ctypes.c_char_p, [ctypes.py_object]


def _tensor_in(capsule: Any) -> int:
    """The address of the ``DLTensor`` in a capsule that nobody has taken yet."""
    name = _named(capsule) if type(capsule).__name__ == "PyCapsule" else b""
    if name not in (b"dltensor", b"dltensor_versioned"):
        if not name:
            raise RuntimeError(
                f"from_dlpack received an invalid capsule: {type(capsule).__name__} is neither one nor has __dlpack__()"
            )
        raise RuntimeError(
            "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so you might have already "
            "constructed a tensor from it once."
        )
    return int(_pointer(capsule, name)) + (32 if name == b"dltensor_versioned" else 0)


def _type_in(capsule: Any) -> Any:
    """Kind, bits and lanes (two bytes) of the elements in a capsule, to read and to write."""
    return (ctypes.c_uint8 * 4).from_address(_tensor_in(capsule) + 20)


class _Held:
    """A capsule in the form in which NumPy and CuPy take it."""

    def __init__(self, capsule: Any, device: tuple[int, int] | None = None) -> None:
        kind, index = (ctypes.c_int32 * 2).from_address(_tensor_in(capsule) + 8)
        self.capsule, self.device = capsule, device or (kind, index)

    def __dlpack__(self, **options: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor over the memory of another library's array: NumPy's, CuPy's, PyTorch's, JAX's, or a DLPack capsule.

    ``copy=True`` copies; ``copy=False`` raises ``BufferError`` where memory cannot be shared. Raises ``ValueError`` for memory that is
    read backwards, and ``BufferError`` or ``TypeError`` for elements that no tensor has.

    >>> import numpy as np, tensorlab as tl
    >>> array = np.arange(3.0); tl.from_dlpack(array)[0] = 7; array.tolist()
    [7.0, 1.0, 2.0]
    """
    source = ext_tensor if hasattr(ext_tensor, "__dlpack__") else _Held(ext_tensor)
    array = _taken(source)
    if copy and isinstance(array, np.ndarray):
        array = array.copy(order="K") if not any(s < 0 for s in array.strides) else array.copy()
    elif copy:
        with backend.of(array).on(array):
            array = array.copy(order="K")
    found = creation.from_numpy(array) if isinstance(array, np.ndarray) else wrap(array)
    where = None if device is None else device_class(device)
    if where is None or where == found.device or where.type == found.device.type == "cpu":
        return found
    if copy is False:
        raise BufferError(f"from_dlpack(): memory on {found.device} is not shared with {where}; leave copy=False away")
    return found.to(where)


def _taken(source: Any) -> Any:
    """The array of the right namespace over what a DLPack object offers."""
    kind, index = source.__dlpack_device__()
    if kind not in (DLDeviceType.kDLCPU, DLDeviceType.kDLCUDAHost, DLDeviceType.kDLCUDA, DLDeviceType.kDLCUDAManaged):
        raise BufferError(
            f"from_dlpack(): tensors live in host memory or on CUDA GPUs, not on DLPack's device {(int(kind), index)}"
        )
    host = kind in (DLDeviceType.kDLCPU, DLDeviceType.kDLCUDAHost)
    xp = np if host else backend.gpu(device_class("cuda", int(index))).xp
    if isinstance(source, (np.ndarray, dispatch.Tensor)) and not isinstance(source, _Held):
        if isinstance(source, np.ndarray):
            source.__dlpack__() if source.flags.writeable else source.__dlpack__(
                max_version=(1, 0)
            )  # its own words for refusals
            return source.view(np.ndarray)
        if source.requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        return source._a
    held = _Held(_asked(source, host), (kind, index))
    elements, unversioned = _type_in(held.capsule), _named(held.capsule) == b"dltensor"
    bfloat = (elements[0], elements[1]) == (_BFLOAT, 16)
    if bfloat:
        elements[0] = _UINT
    found = xp.from_dlpack(held)
    if host and unversioned:
        found = np.asarray(_Writable(found))
    return found.view(dtypes.bfloat16.np) if bfloat else found


class _Writable:
    """An array that NumPy holds to be read-only because nobody said otherwise, as one that may be written to."""

    def __init__(self, array: np.ndarray) -> None:
        pointer, _ = array.__array_interface__["data"]
        self.array, self.__array_interface__ = array, {
            **array.__array_interface__, "data": (pointer, False), "strides": array.strides,
        }  # fmt: skip


def _asked(source: Any, host: bool) -> Any:
    """The capsule of an object, versioned if it knows how."""
    if isinstance(source, _Held):
        return source.capsule
    options: dict[str, Any] = {} if host else {"stream": 1}
    try:
        return source.__dlpack__(**options, max_version=(1, 0))
    except TypeError:  # from before DLPack 1.0
        return source.__dlpack__(**options)


def to_dlpack(tensor: Tensor) -> Any:
    """A DLPack capsule over a tensor's memory, to be taken once. Other libraries' ``from_dlpack`` takes the tensor itself as well."""
    return _dlpack(tensor)


# ------------------------------------------------------------------------------------------------------------ anything


def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False
) -> Tensor:
    """Anything as a tensor: tensors, arrays, DLPack objects and buffers share their memory where they can; numbers are copied.

    ``copy=True`` copies in any case; with ``copy=False`` a copy that would be needed is a ``ValueError``.

    >>> import tensorlab as tl
    >>> tl.asarray([1, 2], dtype=tl.float32)
    tensor([1., 2.])
    """
    kind = None if dtype is None else dtypes.as_dtype(dtype)
    shared = _shared(obj, kind)
    if shared is None:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        return creation.tensor(obj, dtype=kind, device=device, requires_grad=requires_grad)
    where = ambient.device if device is None else device_class(device)
    if copy is False and kind is not None and kind is not shared.dtype:
        raise ValueError(f"can't alias tensor with dtype '{shared.dtype.name}' into dtype '{kind.name}'.")
    found = shared.to(device=where, dtype=kind)
    if copy is False and found is not shared:
        raise ValueError(f"can't alias tensor from device '{shared.device}' to '{where}'.")
    if copy and found is shared:
        found = clone(shared)
    return found.requires_grad_() if requires_grad else found


def _shared(obj: Any, kind: dtypes.dtype | None) -> Tensor | None:
    """A tensor over the memory of an object that has some; ``None`` for numbers and sequences of them."""
    if isinstance(obj, dispatch.Tensor):
        return obj
    if isinstance(obj, np.ndarray):
        return creation.from_numpy(obj)
    if isinstance(obj, np.generic):
        return wrap(np.asarray(obj)) if np.asarray(obj).dtype.kind in "biufcV" else None
    found = foreign(obj)
    if found is not None or isinstance(obj, str):
        return found
    try:
        memoryview(obj)
    except TypeError:
        return None
    return creation.frombuffer(obj, dtype=kind or dtypes.default.float)


def foreign(obj: Any) -> Tensor | None:
    """A tensor over another library's array, found by its protocols; ``None`` for what has none."""
    if hasattr(obj, "__dlpack__") and hasattr(obj, "__dlpack_device__"):
        return from_dlpack(obj)
    if hasattr(obj, "__cuda_array_interface__"):
        return wrap(backend.gpu().xp.asarray(obj))
    return None


creation.bind_foreign(foreign)

FORMS: dict[str, Any] = {
    "__array__": _array,
    "__array_interface__": property(_array_interface),
    "__cuda_array_interface__": property(_cuda_array_interface),
    "__array_ufunc__": _array_ufunc,
    "__array_priority__": 1000,
    "__dlpack__": _dlpack,
    "__dlpack_device__": _dlpack_device,
}
