"""New tensors from data, sizes and sequences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorlab import backend, dispatch, dtypes, layout, taps
from tensorlab.backend.storage import InferenceStorage
from tensorlab.device import ambient
from tensorlab.device import device as device_class
from tensorlab.dispatch import wrap
from tensorlab.errors import OutOfMemoryError
from tensorlab.modes import state

Tensor = Any

#: What an array of NumPy can have.
MOST_DIMS = 64
#: For ``finish``: the array is where it is to be.
STAY = object()


def finish(array: Any, requires_grad: bool = False, device: Any = STAY) -> Tensor:
    """A new tensor over an array as a leaf, on a device (``None``: the default one). An array that is on a GPU stays there."""
    if device is not STAY and type(array) is np.ndarray and (where := placed(device)) is not None:
        array = backend.gpu(where).from_host(array, where.index)
    out = wrap(array)
    if taps.buffers:
        for tap in taps.buffers:
            tap(array)
    if state.inference:
        out._st = InferenceStorage()
    if requires_grad:
        out.requires_grad_(True)
    return out


def placed(device: Any) -> device_class | None:
    """The GPU that a ``device`` argument means, the default device where it is left out; ``None`` for host memory."""
    where = ambient.device if device is None else device_class(device)
    return None if where is None or where.type == "cpu" else where


def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Tensor:
    """A new tensor holding a copy of ``data``: numbers, nested lists, arrays or tensors.

    Without ``dtype``, Python floats become the default type (float32), ints int64, bools bool; arrays keep theirs. Raises
    ``ValueError`` for ragged lists, naming where they differ, and ``TypeError`` for anything that is no number.

    >>> import tensorlab as tl
    >>> tl.tensor([[1., 2.], [3., 4.]])
    tensor([[1., 2.],
            [3., 4.]])
    """
    if pin_memory:
        backend.gpu()
        return tensor(data, dtype=dtype, device=device or "cpu").pin_memory().requires_grad_(requires_grad)
    array = to_array(data, None if dtype is None else dtypes.as_dtype(dtype))
    if array is data or array.base is not None or isinstance(data, (np.ndarray, dispatch.Tensor)):
        array = np.array(array, order="C", copy=True)
    return finish(array, requires_grad, device)


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """``data`` as a tensor, sharing memory with an array or a tensor of the right type already.

    >>> import numpy as np, tensorlab as tl
    >>> array = np.zeros(2); tl.as_tensor(array)[0] = 5; array.tolist()
    [5.0, 0.0]
    """
    where = ambient.device if device is None else device_class(device)
    if isinstance(data, dispatch.Tensor):
        return data if dtype is None and where is None else data.to(device=where, dtype=dtype)
    if isinstance(data, np.ndarray) and (dtype is None or dtypes.of(data.dtype) is dtypes.as_dtype(dtype)):
        return from_numpy(data) if where is None else from_numpy(data).to(where)
    found = None if isinstance(data, (np.generic, *_PLAIN)) else _foreign(data)
    if found is not None:
        return found if dtype is None and where is None else found.to(device=where, dtype=dtype)
    return tensor(data, dtype=dtype, device=where)


_PLAIN = (bool, int, float, complex, str, list, tuple)
_foreign: Any = None  # a tensor over another library's array or None, given by bind_foreign()


def bind_foreign(foreign: Any) -> None:
    """Let ``foreign(object)`` find tensors in other libraries' arrays."""
    global _foreign
    _foreign = foreign


def from_numpy(array: np.ndarray) -> Tensor:
    """A tensor that shares memory with a NumPy array: writing to one changes the other.

    Raises ``TypeError`` for types that no tensor holds, and ``ValueError`` for arrays that are read backwards.
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    dtypes.of(array.dtype)
    if not array.dtype.isnative:
        raise ValueError(
            f"given numpy array has byte order different from the native byte order "
            f"({array.dtype}). Conversion between byte orders is not shared; use array.astype(array.dtype.newbyteorder('='))."
        )
    if any(s < 0 and n > 1 for s, n in zip(array.strides, array.shape, strict=True)):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not supported. Make a copy "
            "with array.copy(), or use tensorlab.tensor(array), which copies."
        )
    if any(s < 0 for s in array.strides):  # a dimension of size 1, whose stride means nothing
        array = array.reshape(array.shape)
        array = (
            np.ndarray(array.shape, array.dtype, np.ascontiguousarray(array))
            if any(s < 0 for s in array.strides)
            else array
        )
    return wrap(np.asarray(array) if type(array) is np.ndarray else array.view(np.ndarray))


def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """A tensor of one dimension over the memory of a buffer, such as a ``bytearray``: writing to one changes the other.

    ``count`` elements (-1: all) from the byte ``offset`` on. A buffer that cannot be written to, such as ``bytes``, is copied.
    Raises ``ValueError`` for what is no buffer, and where the buffer does not hold that much.

    >>> import tensorlab as tl
    >>> tl.frombuffer(bytearray(b"\\x01\\x00\\x02\\x00"), dtype=tl.int16)
    tensor([1, 2], dtype=tensorlab.int16)
    """
    kind = dtypes.as_dtype(dtype)
    try:
        data = np.frombuffer(buffer, np.uint8) if memoryview(buffer).nbytes else np.empty(0, np.uint8)
    except TypeError:
        raise ValueError(f"frombuffer(): {type(buffer).__name__} does not implement Python's buffer protocol") from None
    size = kind.np.itemsize
    if not data.size or not count:
        raise ValueError(f"frombuffer(): both buffer length ({data.size}) and count ({count}) must not be 0")
    if not 0 <= offset < data.size:
        raise ValueError(
            f"frombuffer(): offset ({offset} bytes) must be from 0 to buffer length ({data.size} bytes) minus 1"
        )
    rest = data[offset:]
    if count < 0 and rest.size % size:
        raise ValueError(
            f"frombuffer(): buffer length ({data.size} bytes) after offset ({offset} bytes) must be a multiple of the size of an "
            f"element ({size} bytes)"
        )
    if count * size > rest.size:
        raise ValueError(
            f"frombuffer(): {count} elements of {size} bytes after offset ({offset} bytes) are more than the buffer of {data.size} "
            "bytes holds"
        )
    part = rest if count < 0 else rest[: count * size]
    return finish((part if part.flags.writeable else part.copy()).view(kind.np), requires_grad)


def to_array(data: Any, dtype: dtypes.dtype | None) -> np.ndarray:
    """Data as an array of the type PyTorch would choose."""
    if isinstance(data, dispatch.Tensor):
        array = backend.to_host(data._a)
        return array if dtype is None else _astype(array, dtype)
    if isinstance(data, (np.ndarray, np.generic)):
        array = np.asarray(data)
        if not array.dtype.isnative:
            array = array.astype(array.dtype.newbyteorder("="))
        return _astype(array, dtype or dtypes.of(array.dtype))
    if isinstance(data, (bool, int, float, complex)):
        return number(data, dtype)
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _from_sequence(data, dtype)
    found = None if isinstance(data, (str, bytes)) else _foreign(data)
    if found is not None:
        return to_array(found, dtype)
    if hasattr(data, "__array__"):
        return _from_sequence(data, dtype)
    raise _no_number(data)


def _no_number(value: Any) -> Exception:
    """What to raise for something that no tensor can be made of."""
    if isinstance(value, (str, bytes)):
        return TypeError(f"new(): invalid data type '{type(value).__name__}': tensors hold numbers, got {value!r:.60}")
    hint = "; pass a list" if hasattr(value, "__iter__") else ""
    return RuntimeError(
        f"Could not infer dtype of {type(value).__name__}: a tensor is made of numbers, got {value!r:.60}{hint}"
    )


_TOO_LARGE = "Overflow when unpacking long long: a number is too large for int64, the widest integer type"


def _astype(array: np.ndarray, dtype: dtypes.dtype) -> np.ndarray:
    if array.dtype.kind == "c" and not dtype.is_complex:
        raise RuntimeError(
            f"value cannot be converted to type {dtype.name} without dropping its imaginary part; take .real first"
        )
    return array if array.dtype == dtype.np else array.astype(dtype.np)


def number(value: Any, dtype: dtypes.dtype | None = None) -> np.ndarray:
    """A Python number as a 0-dim array. Raises ``RuntimeError`` where the type cannot hold it; fractions are cut off.

    Negative numbers wrap around in uint8, as in PyTorch: -1 is 255. Numbers beyond int64 raise ``ValueError``.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, (bool, int, float, complex)):
        raise TypeError(f"a Number was expected, not {type(value).__name__}")
    target = dtype or dtypes.scalar_dtype(value)
    if isinstance(value, complex) and not target.is_complex:
        raise RuntimeError(
            f"value {value} cannot be converted to type {target.name} without dropping its imaginary part"
        )
    if target.category == dtypes.INTEGER:
        if isinstance(value, float) and not math.isfinite(value):
            raise RuntimeError(
                f"value {value} cannot be converted to type {target.name} without overflow: it is not finite"
            )
        value = int(value.real)
        if not -(2**63) <= value < 2**63:
            raise ValueError(f"{_TOO_LARGE}: {value}")
        limits = np.iinfo(target.np)
        if not (limits.min or -limits.max) <= value <= limits.max:
            raise RuntimeError(
                f"value {value} cannot be converted to type {target.name} without overflow: it holds {limits.min} to {limits.max}"
            )
        return np.array(value % (limits.max + 1) if limits.min == 0 else value, target.np)
    return np.array(value).astype(target.np)


def _from_sequence(data: Any, dtype: dtypes.dtype | None) -> np.ndarray:
    try:
        plain = _unwrap(data)
        array = np.asarray(plain)
    except RecursionError:
        raise ValueError(
            f"too many dimensions '{type(data).__name__}': there are at most {MOST_DIMS}; this {type(data).__name__} may hold itself"
        ) from None
    except (ValueError, OverflowError) as error:
        if isinstance(error, OverflowError):
            raise ValueError(_TOO_LARGE) from None
        raise ValueError(_ragged(data)) from None
    if array.dtype.kind == "O":
        array = _of_large_numbers(plain, dtype)
    if array.dtype.kind in "US":
        raise ValueError(
            f"too many dimensions 'str': tensors hold numbers, not text such as {array.reshape(-1)[0]!r:.60}"
        )
    if dtype is not None:
        return _fits(array, dtype)
    if array.size == 0 and array.dtype.kind == "f" and not _has_arrays(data):
        return array.astype(dtypes.default.float.np)
    if array.dtype.kind in "fc" and not _has_arrays(data):
        target = dtypes.default.float
        return array.astype(target.to_complex().np if array.dtype.kind == "c" else target.np)
    if array.dtype.kind == "u" and not _has_arrays(data):
        raise ValueError(_TOO_LARGE)
    return _astype(array, dtypes.of(array.dtype))


def _fits(array: np.ndarray, dtype: dtypes.dtype) -> np.ndarray:
    if array.dtype.kind in "iu" and dtype.category == dtypes.INTEGER and array.size:
        limits = np.iinfo(dtype.np)
        low, high = int(array.min()), int(array.max())
        least = int(limits.min) or -int(limits.max)
        if low < least or high > limits.max:
            raise RuntimeError(
                f"value {low if low < least else high} cannot be converted to type {dtype.name} without overflow: it holds "
                f"{limits.min} to {limits.max}"
            )
    if array.dtype.kind == "f" and dtype.category == dtypes.INTEGER and not np.isfinite(array).all():
        raise RuntimeError(
            f"value {array[~np.isfinite(array)][0]} cannot be converted to type {dtype.name} without overflow: it is not finite"
        )
    return _astype(array, dtype)


def _unwrap(data: Any) -> Any:
    """Nested lists with tensors replaced by their values."""
    if isinstance(data, dispatch.Tensor):
        return backend.to_host(data._a)
    if isinstance(data, (list, tuple)) and any(isinstance(item, (list, tuple, dispatch.Tensor)) for item in data):
        return [_unwrap(item) for item in data]
    return data


def _has_arrays(data: Any) -> bool:
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    return isinstance(data, (np.ndarray, np.generic, dispatch.Tensor)) or hasattr(data, "__array__")


def _ragged(data: Any) -> str:
    """Where a nested list is not rectangular."""
    level = [data]
    depth = 0
    while True:
        sizes = [len(item) if hasattr(item, "__len__") and not isinstance(item, str) else None for item in level]
        known = sizes[0]
        for i, size in enumerate(sizes):
            if size != known:
                said = f"length {size}" if size is not None else "no length (it is a number)"
                where = f"at dim {depth} (got {said} at position {i})"
                return f"expected sequence of length {known} {where}; all rows of a tensor are equally long"
        if known is None or known == 0:
            return "the data is not rectangular: a tensor needs rows of equal length"
        level = [child for item in level for child in item]
        depth += 1


def _explain_objects(data: Any) -> None:
    """Raise for the first thing in nested lists that is no number."""
    if not isinstance(data, (list, tuple)):
        raise _no_number(data)
    for item in data:
        if not isinstance(item, (bool, int, float, complex, np.generic)):
            _explain_objects(item)


def _of_large_numbers(data: Any, dtype: dtypes.dtype | None) -> np.ndarray:
    """Nested lists with an integer beyond int64, where a floating-point type is asked for, or a float stands beside it."""
    _explain_objects(data)
    objects = np.asarray(data, object)
    if (dtype is None or dtype.category == dtypes.INTEGER) and not any(isinstance(v, float) for v in objects.flat):
        raise ValueError(_TOO_LARGE)
    try:
        return objects.astype(np.float64)
    except OverflowError as error:
        raise ValueError(str(error)) from None


# ------------------------------------------------------------------------------------------------------------- sizes


def size_of(sizes: tuple[Any, ...], op: str, size: Any = None) -> tuple[int, ...]:
    """Sizes given one by one, as one sequence, or as the keyword ``size``."""
    if size is not None:
        sizes = (*sizes, size)
    if not sizes:
        raise TypeError(
            f'{op}() missing 1 required positional arguments: "size"; say () for a tensor without dimensions'
        )
    return _sizes(sizes, op)


def _sizes(size: tuple[Any, ...], op: str) -> tuple[int, ...]:
    if len(size) == 1 and not isinstance(size[0], (int, np.integer, dispatch.Tensor)):
        given = size[0]
        if not isinstance(given, (tuple, list)):
            raise TypeError(f"{op}(): argument 'size' must be tuple of ints, not {type(given).__name__}")
        size = tuple(given)
    out = []
    for n in size:
        if isinstance(n, dispatch.Tensor) and n._a.size == 1:
            n = n.item()
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)):
            raise TypeError(
                f"{op}(): argument 'size' must be tuple of ints, but found element of type {type(n).__name__}: {n!r:.40}"
            )
        if n < 0:
            raise RuntimeError(f"{op}(): Trying to create tensor with negative dimension {n}: {list(size)}")
        out.append(int(n))
    return tuple(out)


def _typed(dtype: Any) -> Any:
    return (dtypes.default.float if dtype is None else dtypes.as_dtype(dtype)).np


def zeros(*sizes: Any, size: Any = None, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Zeros of a size.

    >>> import tensorlab as tl
    >>> tl.zeros(2, 3)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    """
    return finish(_fresh("zeros", size_of(sizes, "zeros", size), _typed(dtype), device), requires_grad)


def allocate(make: Any, size: tuple[int, ...], np_dtype: Any) -> np.ndarray:
    """An array of a size, or a memory error that says how much was asked for."""
    try:
        return make(size, np_dtype)
    except (MemoryError, ValueError, OverflowError):
        if len(size) > MOST_DIMS:
            raise RuntimeError(
                f"a tensor of {len(size)} dimensions: there are at most {MOST_DIMS}, as in the arrays under it"
            ) from None
        wanted = math.prod(size) * np_dtype.itemsize
        raise OutOfMemoryError(
            f"not enough memory: you tried to allocate {wanted:,} bytes for a tensor of shape {list(size)}"
        ) from None


def ones(*sizes: Any, size: Any = None, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Ones of a size."""
    return finish(_fresh("ones", size_of(sizes, "ones", size), _typed(dtype), device), requires_grad)


def empty(*sizes: Any, size: Any = None, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of a size whose elements are whatever was in memory."""
    return finish(_fresh("empty", size_of(sizes, "empty", size), _typed(dtype), device), requires_grad)


def full(size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """One value everywhere; its type is the value's unless ``dtype`` is given."""
    value = _fill("full", fill_value)
    kind = dtypes.scalar_dtype(value) if dtype is None else dtypes.as_dtype(dtype)
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"full(): argument 'size' (position 1) must be tuple of ints, not {type(size).__name__}")
    array = _fresh("empty", size_of((size,), "full"), kind.np, device)
    backend.put(array, number(value, kind)[()])
    return finish(array, requires_grad)


def _fill(op: str, value: Any) -> Any:
    """The Python number that fills a tensor. Raises ``TypeError`` for anything else."""
    if isinstance(value, np.generic) or (isinstance(value, dispatch.Tensor) and value._a.size == 1):
        value = value.item()
    if not isinstance(value, (bool, int, float, complex)):
        raise TypeError(f"{op}(): argument 'fill_value' (position 2) must be Number, not {type(value).__name__}")
    return value


def _fresh(make: str, size: Sequence[int], np_dtype: Any, device: Any) -> Any:
    """A new array, made where it is to be: ``make`` is ``zeros``, ``ones`` or ``empty``."""
    where = placed(device)
    if where is None:
        return allocate(getattr(np, make), tuple(size), np_dtype)
    cuda = backend.gpu(where)
    with cuda.use(where.index):
        return allocate(getattr(cuda.xp, make), tuple(size), np_dtype)


def _like(op: str, input: Tensor, dtype: Any, device: Any, memory_format: Any) -> Any:
    """An array with the shape of ``input``, and its order of dimensions unless another one is asked for."""
    if not isinstance(input, dispatch.Tensor):
        raise TypeError(f"{op}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    a, kind = input._a, input._a.dtype if dtype is None else dtypes.as_dtype(dtype).np
    kept = memory_format is None or memory_format is layout.preserve_format
    if kept and not a.size:
        flat = _fresh("empty", (0,), kind, input.device if device is None else device)
        return backend.of(flat).strided(flat, a.shape, [s // a.itemsize * kind.itemsize for s in a.strides], 0, kind)
    order = backend.host.memory_order(a) if kept else layout.format_order(a.ndim, memory_format)
    fresh = _fresh("empty", [a.shape[d] for d in order], kind, input.device if device is None else device)
    return backend.of(fresh).in_order(fresh, backend.host.inverse(order))


def empty_like(
    input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, memory_format: Any = None
) -> Tensor:
    """A tensor like ``input`` whose elements are whatever was in memory."""
    return finish(_like("empty_like", input, dtype, device, memory_format), requires_grad)


def zeros_like(
    input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, memory_format: Any = None
) -> Tensor:
    """Zeros with the shape, type and device of ``input``."""
    array = _like("zeros_like", input, dtype, device, memory_format)
    backend.put(array, 0)
    return finish(array, requires_grad)


def ones_like(
    input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, memory_format: Any = None
) -> Tensor:
    """Ones with the shape, type and device of ``input``."""
    array = _like("ones_like", input, dtype, device, memory_format)
    backend.put(array, 1)
    return finish(array, requires_grad)


def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """One value everywhere, with the shape, type and device of ``input``."""
    array = _like("full_like", input, dtype, device, memory_format)
    backend.put(array, number(_fill("full_like", fill_value), dtypes.of(array.dtype))[()])
    return finish(array, requires_grad)


def arange(
    start: Any = None,
    end: Any = None,
    step: Any = 1,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``start, start + step, ...`` up to but not including ``end``; int64 when all three are ints.

    >>> import tensorlab as tl
    >>> tl.arange(1, 7, 2)
    tensor([1, 3, 5])
    """
    if end is None:
        start, end = None, start
    if end is None:
        raise TypeError("arange() missing 1 required positional arguments: 'end'")
    start = 0 if start is None else start
    start, end, step = (v.item() if isinstance(v, dispatch.Tensor) else v for v in (start, end, step))
    if step == 0:
        raise RuntimeError("arange(): step must be nonzero")
    if not all(isinstance(v, int) or math.isfinite(v) for v in (start, end)):
        raise RuntimeError(f"arange(): unsupported range: {start} -> {end}")
    if (end - start) / step < 0:
        raise RuntimeError(
            f"arange(): upper bound and lower bound inconsistent with step sign: {start} to {end} by {step}"
        )
    whole = all(isinstance(v, int) for v in (start, end, step))
    kind = (dtypes.int64 if whole else dtypes.default.float) if dtype is None else dtypes.as_dtype(dtype)
    if kind.category <= dtypes.INTEGER and not whole:
        # An integer type counts in integers, int64 even to find out how far.
        count = None if kind is dtypes.int64 else math.ceil((end - start) / step)
        start, end, step = int(start), int(end), int(step)
        count = math.ceil((end - start) / step) if count is None else count
    else:
        count = -(-(end - start) // step) if whole else math.ceil((end - start) / step)
    steps = allocate(lambda n, t: np.arange(n[0], dtype=t), (count,), np.dtype(np.int64))
    return finish((start + step * steps).astype(kind.np), requires_grad, device)


def linspace(
    start: Any, end: Any, steps: int, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """``steps`` values at equal distances from ``start`` to ``end``, both included."""
    if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)):
        raise TypeError(f"linspace(): argument 'steps' must be int, not {type(steps).__name__}")
    if steps < 0:
        raise RuntimeError(f"linspace(): number of steps must be non-negative, got {steps}")
    for value in (start, end):
        if isinstance(value, dispatch.Tensor) and value._a.ndim:
            raise RuntimeError(
                f"linspace only supports 0-dimensional start and end tensors, but got one with "
                f"{value._a.ndim} dimension(s)."
            )
    first, last = (v.item() if isinstance(v, dispatch.Tensor) else v for v in (start, end))
    for name, value in (("start", first), ("end", last)):
        if not isinstance(value, (bool, int, float, complex, np.generic)):
            raise TypeError(f"linspace(): argument '{name}' must be Number or Tensor, not {type(value).__name__}")
    kind = _typed(dtype)
    if kind.kind in "iu":
        first, last = int(first), int(last)
    carried = np.dtype(np.float64) if kind.kind in "iu" else kind
    first, last = (np.array(v).astype(carried) for v in (first, last))
    step = (last - first) / carried.type(max(1, steps - 1))
    at = np.arange(steps)
    near, far = first + step * at.astype(carried), last - step * (steps - 1 - at).astype(carried)
    found = np.where(at < steps // 2, near, far) if steps != 1 else first.reshape(1)
    return finish(found.astype(kind), requires_grad, device)


def eye(n: int, m: int | None = None, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """An ``n`` by ``m`` matrix with ones on its diagonal."""
    for name, size in (("n", n), ("m", m)):
        if size is not None and not hasattr(size, "__index__"):
            raise TypeError(f"eye(): argument '{name}' must be int, not {type(size).__name__}")
    if n < 0 or (m is not None and m < 0):
        name, wrong = ("n", n) if n < 0 else ("m", m)
        raise RuntimeError(f"eye(): {name} must be greater or equal to 0, got {wrong}")
    return finish(np.eye(n, m, dtype=_typed(dtype)), requires_grad, device)


def scalar_tensor(value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A 0-dim tensor of the default floating-point type."""
    return tensor(value, dtype=dtype or dtypes.default.float, device=device, requires_grad=requires_grad)
