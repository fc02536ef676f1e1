"""A strict stand-in for CuPy: NumPy inside, and nothing that CuPy would not do.

``module()`` gives what stands where ``cupy`` stands; ``facts.py`` says which functions and arguments it has. Arrays refuse to
become host arrays other than by ``asnumpy`` and ``get``, refuse host arrays beside them, and refuse to compute on a device that is
not the current one. ``machine`` counts what crosses between host and device. It proves nothing about a GPU itself: not timing,
not streams, not the last digit.
"""

from __future__ import annotations

import functools
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import scipy.special

from tests.device import double_runtime, facts
from tests.device.double_runtime import Device, Machine, MemoryPointer, machine

__all__ = ["Device", "Machine", "machine", "made", "module", "ndarray", "plain"]

Scalar = (bool, int, float, complex, np.generic)
#: Arguments that NumPy wants by name where CuPy counts another position.
OPTIONS = {"dtype", "out", "keepdims", "order", "casting", "ddof", "kind", "include_initial", "equal_nan", "minlength"}
#: Functions whose results keep the order of dimensions of what they were given.
KEEP_ORDER = {"copy", "astype", "array", "empty_like", "ones_like", "zeros_like", "full_like"}
#: Methods that need no kernel, as long as they need not copy.
VIEWS = {"diagonal", "ravel", "reshape", "squeeze", "swapaxes", "transpose"}


class Silent(AssertionError):
    """Where CuPy would give a wrong result and say nothing."""


class ndarray:
    """An array on a device."""

    __slots__ = ("_host", "base", "data")
    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self, shape: Any, dtype: Any = float, memptr: Any = None, strides: Any = None, order: str = "C"
    ) -> None:
        if memptr is None:
            if strides is not None:
                raise ValueError("memptr is required if strides is given.")
            self._own(np.empty(shape, dtype, order))  # type: ignore[call-overload]
            return
        if not isinstance(memptr, MemoryPointer):
            raise TypeError("memptr must be a MemoryPointer")
        self.data, self.base = memptr, None
        offset = memptr.ptr - memptr.mem.ptr
        self._host = np.ndarray(shape, dtype, memptr.mem.bytes, offset, strides)

    def _own(self, host: np.ndarray) -> ndarray:
        order = sorted(range(host.ndim), key=lambda d: -host.strides[d])
        dense, self.base = host.transpose(order), None
        self.data = machine.allocator(host.nbytes)
        lies = np.ndarray(dense.shape, dense.dtype, self.data.mem.bytes)
        lies[...] = dense
        self._host = lies.transpose(sorted(range(host.ndim), key=order.__getitem__))
        return self

    # -------------------------------------------------------------------------------------------- what an array is

    shape = property(lambda self: self._host.shape)
    dtype = property(lambda self: self._host.dtype)
    strides = property(lambda self: self._host.strides)
    ndim = property(lambda self: self._host.ndim)
    size = property(lambda self: self._host.size)
    itemsize = property(lambda self: self._host.itemsize)
    nbytes = property(lambda self: self._host.nbytes)
    device = property(lambda self: self.data.device)
    T = property(lambda self: made(self._host.T, self))
    mT = property(lambda self: made(self._host.mT, self))
    real = property(lambda self: made(self._host.real, self) if self.dtype.kind == "c" else self)
    imag = property(lambda self: made(self._host.imag.copy() if self.dtype.kind != "c" else self._host.imag, self))

    @property
    def flags(self) -> Any:
        found = self._host.flags
        return SimpleNamespace(
            c_contiguous=found.c_contiguous, f_contiguous=found.f_contiguous, owndata=self.base is None
        )

    def __len__(self) -> int:
        return len(self._host)

    def __repr__(self) -> str:
        return repr(self._read())

    # ----------------------------------------------------------------------------------------- the ways out, and none

    def _read(self) -> np.ndarray:
        machine.copies.append(("out", self.size))
        return self._host

    def get(self, stream: Any = None, order: str = "C", out: Any = None, blocking: bool = True) -> np.ndarray:
        return np.array(self._read(), order=order)  # type: ignore[call-overload]

    def set(self, arr: np.ndarray, stream: Any = None) -> None:
        if not isinstance(arr, np.ndarray) or arr.shape != self.shape or arr.dtype != self.dtype:
            raise TypeError("Only a numpy.ndarray of the same shape and type can be set to cupy.ndarray")
        machine.copies.append(("in", self.size))
        self._host[...] = arr

    def item(self) -> Any:
        if self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return self._read().item()

    def tolist(self) -> Any:
        return self._read().tolist()

    def __bool__(self) -> bool:
        return bool(self._read())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a NumPy array explicitly."
        )

    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None
    ) -> Any:
        if self.dtype.kind not in "biufc":
            raise BufferError(f"{self.dtype} is not supported by DLPack")
        return self._host.__dlpack__(max_version=max_version)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, self.device.id)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape, "typestr": self.dtype.str, "strides": self.strides, "version": 3,
            "data": (self.data.ptr, False), "array": self,
        }  # fmt: skip

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        raise TypeError(f"numpy.{func.__name__} was called with a device array; call it from the array's own namespace")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        ours = UFUNCS.get(ufunc.__name__)
        if method != "__call__" or ours is None:
            return NotImplemented
        if ufunc.__name__ in COMPARISONS:
            inputs = tuple([x.item() if isinstance(x, np.ndarray) and x.ndim == 0 else x for x in inputs])
        return ours(*inputs, **kwargs) if out is None else ours(*inputs, out=out[0], **kwargs)

    # ------------------------------------------------------------------------------------------------- elements

    def __getitem__(self, key: Any) -> ndarray:
        where, advanced = _key(key)
        if advanced:
            here(self)
        return made(_safely(lambda: self._host[where]), self, fresh=advanced)

    def __setitem__(self, key: Any, value: Any) -> None:
        here(self)
        where, advanced = _key(key)
        if isinstance(value, np.ndarray) and (value.ndim or advanced):
            raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
        host = plain(value) if isinstance(value, ndarray) else value
        if isinstance(host, np.ndarray) and host.dtype.kind == "c" and self.dtype.kind != "c":
            host = host.real
        _safely(lambda: self._host.__setitem__(where, host))

    def fill(self, value: Any) -> None:
        self[...] = value

    def astype(
        self, dtype: Any, order: str = "K", casting: Any = None, subok: Any = None, copy: bool = True
    ) -> ndarray:
        here(self)
        if not copy and np.dtype(dtype) == self.dtype:
            return self
        return made(_converted(self._host, dtype, order), fresh=True, keep=True)

    def copy(self, order: str = "C") -> ndarray:
        return made(here(self)._host.copy(order), fresh=True, keep=True)  # type: ignore[arg-type]

    def view(self, dtype: Any = None, type: Any = None) -> ndarray:
        return made(self._host.view() if dtype is None else self._host.view(dtype), self)


def made(host: Any, *parents: ndarray, fresh: bool = False, keep: bool = False) -> ndarray:
    """A device array over what NumPy gave: a view of a parent's memory, or memory of its own, row-major unless ``keep``."""
    host = np.asarray(host)
    if host.dtype.kind not in "biufc" and host.dtype.name != "bfloat16":
        raise TypeError(f"Unsupported dtype {host.dtype}")
    self = object.__new__(ndarray)
    for parent in () if fresh else parents:
        if np.may_share_memory(host, parent._host):
            self._host, self.base = host, parent if parent.base is None else parent.base
            self.data = MemoryPointer(parent.data.mem, host.__array_interface__["data"][0] - parent.data.mem.ptr)
            return self
    dense = host.transpose(sorted(range(host.ndim), key=lambda d: -host.strides[d])).flags.c_contiguous
    return self._own(np.array(host, order="K" if keep and dense else "C"))


def here(array: ndarray) -> ndarray:
    """The array, if the current device is its own."""
    if array.data.device_id != machine.current and array.size:
        raise ValueError(
            f"The device where the array resides ({array.data.device_id}) is different from the current device ({machine.current}). "
            "Peer access is unavailable between these devices."
        )
    return array


def plain(value: Any) -> Any:
    """What NumPy is given for an argument that a kernel takes; host arrays are refused."""
    if isinstance(value, ndarray):
        return here(value)._host
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {type(value)}")
    if isinstance(value, (tuple, list)):
        return type(value)(plain(item) for item in value)
    return value


def _arrays(value: Any) -> list[ndarray]:
    if isinstance(value, ndarray):
        return [value]
    return [a for item in value for a in _arrays(item)] if isinstance(value, (tuple, list)) else []


def _wrapped(found: Any, parents: list[ndarray], keep: bool = False) -> Any:
    if isinstance(found, (tuple, list)):
        return (
            type(found)(_wrapped(item, parents) for item in found)
            if type(found) in (tuple, list)
            else tuple(_wrapped(item, parents) for item in found)
        )
    return made(found, *parents, keep=keep) if isinstance(found, (np.ndarray, np.generic)) else found


def _converted(host: np.ndarray, dtype: Any, order: str) -> np.ndarray:
    if host.dtype.kind == "c" and np.dtype(dtype).kind not in "cb":
        host = host.real
    with np.errstate(all="ignore"):
        return host.astype(dtype, order)  # type: ignore[arg-type]


def _key(key: Any) -> tuple[Any, bool]:
    """A subscript for NumPy, and whether it gathers."""
    entries = key if isinstance(key, tuple) else (key,)
    advanced = False
    out: list[Any] = []
    for entry in entries:
        if isinstance(entry, np.ndarray):
            raise TypeError(
                "a host array as an index would be copied to the device at every use; keep it on the device"
            )
        if isinstance(entry, (list, bool, np.bool_)):
            machine.copies.append(("in", np.size(entry)))  # CuPy makes a device array of it
        advanced = advanced or isinstance(entry, (ndarray, list, bool, np.bool_))
        out.append(here(entry)._host if isinstance(entry, ndarray) else entry)
    return tuple(out), advanced


def _safely(action: Any) -> Any:
    try:
        return action()
    except IndexError as error:
        if "out of bounds" in str(error) and "index" in str(error):
            raise Silent(f"CuPy would wrap this index around: {error}") from None
        raise


# ------------------------------------------------------------------------------------------------------------ functions


class Ufunc:
    """One of CuPy's elementwise functions."""

    def __init__(self, name: str) -> None:
        self.__name__ = name
        self._numpy = getattr(np, name)

    def __call__(self, *args: Any, out: Any = None, dtype: Any = None, casting: str = "same_kind") -> Any:
        inputs, rest = args[: self._numpy.nin], args[self._numpy.nin :]
        if out is None and rest:
            out = rest[0]
        if out is not None and not isinstance(out, ndarray):
            raise TypeError(f"Unsupported type {type(out)}")
        for value in inputs:
            if not isinstance(value, (ndarray, *Scalar)):
                raise TypeError(f"Unsupported type {type(value)}")
        with np.errstate(all="ignore"):
            if out is not None:
                self._numpy(*plain(list(inputs)), out=here(out)._host, casting=casting, dtype=dtype)
                return out
            found = self._numpy(*plain(list(inputs)), order="C", dtype=dtype, casting=casting)
        return tuple(made(f, fresh=True) for f in found) if isinstance(found, tuple) else made(found, fresh=True)

    def reduce(
        self, array: ndarray, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False
    ) -> ndarray:
        if self.__name__ not in ("add", "multiply"):
            raise NotImplementedError(f"`cupy_{self.__name__}.reduce` is not supported yet")
        return (array.sum if self.__name__ == "add" else array.prod)(axis, dtype, out, keepdims)

    def at(self, a: ndarray, indices: Any, b: Any = None) -> None:
        if self.__name__ not in facts.WITH_AT:
            raise NotImplementedError(f"`cupy_{self.__name__}.at` is not supported yet")
        where, advanced = _key(indices)
        if advanced and a.dtype.name not in facts.SCATTERED:
            raise TypeError(
                f"scatter_{self.__name__} only supports {', '.join(facts.SCATTERED)}, as data type; got {a.dtype}"
            )
        _safely(lambda: self._numpy.at(here(a)._host, where, plain(b)))


UFUNCS = {name: Ufunc(name) for name in facts.UFUNCS if hasattr(np, name)}
COMPARISONS = {"greater", "greater_equal", "less", "less_equal", "equal", "not_equal"}


def _bound(
    name: str, parameters: list[str], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Arguments as NumPy takes them, once CuPy would have taken them."""
    names = [p for p in parameters if p != "self"]
    starred = bool(names) and names[0].startswith("*")
    for key in kwargs:
        if key not in names:
            raise TypeError(f"{name}() got an unexpected keyword argument {key!r}")
    if not starred and len(args) > len(names):
        raise TypeError(f"{name}() takes {len(names)} positional arguments but {len(args)} were given")
    positional, named = [], dict(kwargs)
    for at, value in enumerate(args):
        if not starred and names[at] in OPTIONS:
            named[names[at]] = value
        else:
            positional.append(value)
    return positional, {key: plain(value) for key, value in named.items() if value is not None or key == "axis"}


def _function(name: str) -> Any:
    theirs, parameters = getattr(np, name), facts.FUNCTIONS[name]

    @functools.wraps(theirs)
    def call(*args: Any, **kwargs: Any) -> Any:
        positional, named = _bound(name, parameters, args, kwargs)
        out = named.get("out")
        with np.errstate(all="ignore"):
            found = _safely(lambda: theirs(*[plain(a) for a in positional], **named))
        if out is not None:
            return kwargs.get("out")
        return _wrapped(found, _arrays(args), keep=name in KEEP_ORDER)

    return call


def _method(name: str) -> Any:
    parameters = facts.METHODS[name].split()

    def call(self: ndarray, *args: Any, **kwargs: Any) -> Any:
        positional, named = _bound(name, parameters, args, kwargs)
        host = self._host if name in VIEWS else here(self)._host
        with np.errstate(all="ignore"):
            found = _safely(lambda: getattr(host, name)(*[plain(a) for a in positional], **named))
        if name in VIEWS and not np.may_share_memory(found, host):
            here(self)  # it was a copy after all
        return _wrapped(found, [self]) if found is not None else None

    call.__name__ = name
    return call


def _creation(name: str) -> Any:
    parameters = facts.CREATION[name].split()

    def call(*args: Any, **kwargs: Any) -> ndarray:
        positional, named = _bound(name, parameters, args, kwargs)
        for value in positional:
            if isinstance(value, (np.ndarray, list)):
                machine.copies.append(("in", np.size(value)))
        return made(getattr(np, name)(*positional, **named), fresh=True, keep=True)

    return call


def array(
    obj: Any,
    dtype: Any = None,
    copy: Any = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
    *,
    blocking: bool = False,
) -> ndarray:
    """A device array from anything, a device array included."""
    obj = getattr(obj, "__cuda_array_interface__", {}).get("array", obj) if not isinstance(obj, ndarray) else obj
    if isinstance(obj, ndarray):
        same = (dtype is None or np.dtype(dtype) == obj.dtype) and (order in (None, "K", "A") or obj.flags.c_contiguous)
        return (
            obj
            if copy is not True and same
            else made(np.array(here(obj)._host, dtype, order=order), fresh=True, keep=True)
        )
    if any(isinstance(item, ndarray) for item in (obj if isinstance(obj, (list, tuple)) else ())):
        raise TypeError("lists of device arrays are stacked with stack()")
    host = np.array(obj, dtype, order=order)
    machine.copies.append(("in", host.size))
    return made(
        host, fresh=True, keep=host.flags.f_contiguous
    )  # from the host only row- and column-major orders are kept


def asarray(a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None, blocking: bool = False) -> ndarray:
    return array(a, dtype, copy, order or "K")


class _HostView:
    """What NumPy takes an offered device array for, to look at its memory."""

    def __init__(self, offered: Any) -> None:
        self.offered = offered

    def __dlpack__(self, **options: Any) -> Any:
        return self.offered.__dlpack__(stream=1, max_version=options.get("max_version"))

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def from_dlpack(array: Any, *, device: Any = None, copy: Any = None) -> ndarray:
    """An array over memory of a device that another library offers."""
    kind, index = array.__dlpack_device__()
    if kind != 2:
        raise TypeError("only device memory is taken")
    host = np.from_dlpack(_HostView(array))
    found = object.__new__(ndarray)
    found._host, found.base = host, None
    memory = double_runtime.Memory(
        host.reshape(-1).view(np.uint8) if host.flags.c_contiguous else np.zeros(0, np.uint8), index
    )
    memory.ptr, memory.offered = host.__array_interface__["data"][0], array  # type: ignore[attr-defined]
    found.data = MemoryPointer(memory, 0)
    return found


def asnumpy(a: Any, stream: Any = None, order: str = "C", out: Any = None, *, blocking: bool = True) -> np.ndarray:
    """The way out."""
    return a.get(order=order) if isinstance(a, ndarray) else np.asarray(a)


def as_strided(x: ndarray, shape: Any = None, strides: Any = None) -> ndarray:
    return ndarray(x.shape if shape is None else shape, x.dtype, x.data, x.strides if strides is None else strides)


def count_nonzero(a: ndarray, axis: Any = None) -> ndarray:
    return made(np.count_nonzero(plain(a), axis=axis), fresh=True)


def may_share_memory(a: ndarray, b: ndarray, max_work: Any = None) -> bool:
    if max_work is not None:
        raise NotImplementedError("Only supported for `max_work` is `None`")
    return np.may_share_memory(a._host, b._host)


def _operator(name: str, swapped: bool = False, in_place: bool = False) -> Any:
    def operator(self: ndarray, other: Any) -> Any:
        if not isinstance(other, (ndarray, np.ndarray, *Scalar)):
            return NotImplemented
        if isinstance(other, np.ndarray) and name in COMPARISONS and other.ndim == 0:
            other = other.item()
        if in_place:
            return UFUNCS[name](self, other, out=self)
        return UFUNCS[name](other, self) if swapped else UFUNCS[name](self, other)

    return operator


def _matmul(self: ndarray, other: Any) -> Any:
    return (
        made(np.matmul(plain(self), plain(other)), fresh=True)
        if isinstance(other, (ndarray, np.ndarray))
        else NotImplemented
    )


ARITHMETIC = {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide", "floordiv": "floor_divide", "mod": "remainder",
              "pow": "power", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor"}  # fmt: skip
for short, full in ARITHMETIC.items():
    setattr(ndarray, f"__{short}__", _operator(full))
    setattr(ndarray, f"__r{short}__", _operator(full, swapped=True))
    setattr(ndarray, f"__i{short}__", _operator(full, in_place=True))
for short, full in {
    "lt": "less",
    "le": "less_equal",
    "eq": "equal",
    "ne": "not_equal",
    "gt": "greater",
    "ge": "greater_equal",
}.items():
    setattr(ndarray, f"__{short}__", _operator(full))
for short, full in {"neg": "negative", "abs": "absolute", "invert": "invert"}.items():
    setattr(ndarray, f"__{short}__", (lambda ufunc: lambda self: ufunc(self))(UFUNCS[full]))
ndarray.__matmul__ = _matmul  # type: ignore[attr-defined]
for method in facts.METHODS:
    setattr(ndarray, method, _method(method))


class ElementwiseKernel:
    """A kernel of one's own, run by NumPy: its lines are read as Python, so only what C++ and Python share is understood."""

    def __init__(self, in_params: str, out_params: str, operation: str, name: str = "kernel", **options: Any) -> None:
        self.inputs, self.outputs = (
            [p.split()[-1] for p in text.split(",") if p.strip()] for text in (in_params, out_params)
        )
        lines = [line.strip().removeprefix("T ") for line in operation.split(";") if line.strip()]
        self.name, self.code = name, compile("\n".join(lines), name, "exec")

    def __call__(self, *args: Any) -> Any:
        if len(args) not in (len(self.inputs), len(self.inputs) + len(self.outputs)):
            raise TypeError(f"Wrong number of arguments for {self.name!r}")
        arrays = [a for a in args if isinstance(a, ndarray)]
        kinds = {a.dtype for a in arrays}
        if len(kinds) != 1 or not all(isinstance(a, (ndarray, *Scalar)) for a in args):
            raise TypeError(f"Type is mismatched. {self.name} takes arrays of one type, not {kinds}")
        kind = kinds.pop()
        shape = np.broadcast_shapes(*[a.shape for a in arrays])
        given = args[len(self.inputs) :]
        outs = list(given) or [made(np.empty(shape, kind), fresh=True) for _ in self.outputs]
        if any(out.shape != shape for out in outs):
            raise ValueError(f"Out shape is mismatched in {self.name}")
        values = [here(a)._host if isinstance(a, ndarray) else kind.type(a) for a in (*args[: len(self.inputs)], *outs)]
        names = dict(zip((*self.inputs, *self.outputs), values, strict=True))
        functions = {"erf": scipy.special.erf, **{f: getattr(np, f) for f in ("exp", "tanh", "sqrt")}}
        with np.errstate(all="ignore"):
            exec(self.code, {"T": kind.type, **functions}, names)
        for name, out in zip(self.outputs, outs, strict=True):
            out._host[...] = names[name]
        machine.log.append(("kernel", self.name))
        return outs[0] if len(outs) == 1 else tuple(outs)


def module() -> dict[str, ModuleType]:
    """What stands in ``sys.modules``: ``cupy`` and the parts of ``cupyx`` that the house uses."""
    cupy, cupyx, cupyx_scipy, special = (ModuleType(n) for n in ("cupy", "cupyx", "cupyx.scipy", "cupyx.scipy.special"))
    contents = {name: _function(name) for name in facts.FUNCTIONS if hasattr(np, name)}
    contents |= {name: _creation(name) for name in facts.CREATION}
    contents |= {**UFUNCS, "ndarray": ndarray, "array": array, "asarray": asarray, "asnumpy": asnumpy}
    contents |= {"count_nonzero": count_nonzero, "may_share_memory": may_share_memory, "__version__": facts.VERSION}
    contents |= {
        name: getattr(np, name)
        for name in ("float16", "float32", "float64", "int32", "int64", "bool_", "dtype", "inf", "nan")
    }
    cupy.__dict__.update(contents)
    from tests.device import double_linalg

    more = double_linalg.install(cupy, cupyx, cupyx_scipy)
    cupy.lib = SimpleNamespace(stride_tricks=SimpleNamespace(as_strided=as_strided))  # type: ignore[attr-defined]
    cupy.get_default_memory_pool = lambda: machine.pool  # type: ignore[attr-defined]
    cupy.get_default_pinned_memory_pool = lambda: SimpleNamespace(free_all_blocks=lambda: None)  # type: ignore[attr-defined]
    cupy.ElementwiseKernel = ElementwiseKernel  # type: ignore[attr-defined]
    cupy.from_dlpack = from_dlpack  # type: ignore[attr-defined]
    cupy.cuda = double_runtime.namespace()  # type: ignore[attr-defined]
    for name in facts.SPECIAL:
        special.__dict__[name] = _special(name)
    cupyx.scipy, cupyx_scipy.special = cupyx_scipy, special  # type: ignore[attr-defined]
    return {"cupy": cupy, "cupyx": cupyx, "cupyx.scipy": cupyx_scipy, "cupyx.scipy.special": special, **more}


def _special(name: str) -> Any:
    theirs = getattr(scipy.special, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        return _wrapped(theirs(*[plain(a) for a in args], **kwargs), [])

    return call
