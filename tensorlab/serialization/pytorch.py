"""PyTorch's ``.pt`` and ``.pth`` files, read without PyTorch and without running anything, and written.

A file is an archive of one pickle and one entry for the memory of each storage; before PyTorch 1.6 it was several pickles followed by
the storages. Source: PyTorch's documentation, "Serialization semantics", and files that it wrote.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tensorlab import dtypes
from tensorlab.device import device as device_class
from tensorlab.serialization.files import Archive, Source
from tensorlab.serialization.manifest import finished, named_dtype
from tensorlab.serialization.pieces import Loaded
from tensorlab.serialization.places import Places
from tensorlab.serialization.unpickling import PLAIN, Constant, Machine, Named, refused
from tensorlab.size import Size
from tensorlab.tensor import Tensor

#: PyTorch's classes of storages by the type of their elements.
STORAGES = {
    "bool": "BoolStorage", "uint8": "ByteStorage", "int8": "CharStorage", "int16": "ShortStorage", "int32": "IntStorage",
    "int64": "LongStorage", "float16": "HalfStorage", "bfloat16": "BFloat16Storage", "float32": "FloatStorage",
    "float64": "DoubleStorage", "complex64": "ComplexFloatStorage", "complex128": "ComplexDoubleStorage",
}  # fmt: skip

#: How a file of before PyTorch 1.6 begins: a pickle of this number.
MAGIC = 0x1950A86A20F9469CFC6C


class _Elements:
    """A class of storages, as a file names it."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class _Storage:
    """The memory of tensors, with the type that the file says it has, if it says one."""

    __slots__ = ("loaded", "kind")

    def __init__(self, loaded: Loaded, kind: dtypes.dtype | None) -> None:
        self.loaded, self.kind = loaded, kind


class _Class:
    """A class of tensors, as a file names it."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


def _rebuild(
    storage: Any, offset: Any, size: Any, stride: Any, grad: Any = False, hooks: Any = None, metadata: Any = None
) -> Any:
    """``torch._utils._rebuild_tensor_v2``."""
    if type(storage) is not _Storage or storage.kind is None:
        raise TypeError("a tensor is made of a storage that has a type")
    return _made(storage, storage.kind, offset, size, stride, grad, metadata)


def _rebuild_typed(
    storage: Any, offset: Any, size: Any, stride: Any, grad: Any, hooks: Any, kind: Any, metadata: Any = None
) -> Any:
    """``torch._utils._rebuild_tensor_v3``."""
    if type(storage) is not _Storage or type(kind) is not dtypes.dtype:
        raise TypeError("a tensor is made of a storage and a type")
    return _made(storage, kind, offset, size, stride, grad, metadata)


def _made(storage: _Storage, kind: dtypes.dtype, offset: Any, size: Any, stride: Any, grad: Any, metadata: Any) -> Any:
    found = storage.loaded.tensor(kind, tuple(size), tuple(stride), offset)
    flags = metadata if isinstance(metadata, dict) else {}
    if flags.get("conj"):
        found = found.conj().clone()
    if flags.get("neg"):
        found = -found
    return finished(found, "Tensor", bool(grad))


def _rebuild_parameter(data: Any, requires_grad: Any = True, hooks: Any = None, state: Any = None) -> Any:
    """``torch._utils._rebuild_parameter``, also the one with a state, which is left out."""
    if not isinstance(data, Tensor):
        raise TypeError("a Parameter is made of a tensor")
    return finished(data, "Parameter", bool(requires_grad))


def _rebuild_from_type(function: Any, kind: Any, args: Any, state: Any = None) -> Any:
    """``torch._tensor._rebuild_from_type_v2``: a tensor with attributes, which are left out."""
    if type(function) is not Named or type(kind) is not _Class or type(args) is not tuple:
        raise TypeError("a tensor of a class is made by a function of arguments")
    found = function.call(*args)
    return finished(found, kind.name, found.requires_grad) if kind.name != type(found).__name__ else found


def _layout(name: Any) -> str:
    if name != "torch.strided":
        raise refused(f"a tensor of layout {name!r:.40}")
    return "strided"


def _size(items: Any = ()) -> Size:
    if any(type(n) is not int for n in items):
        raise TypeError("a size is made of numbers")
    return Size(items)


def _device(*args: Any) -> device_class:
    return device_class(*args)


_REBUILDS: dict[str, Callable[..., Any]] = {
    "_rebuild_tensor": _rebuild, "_rebuild_tensor_v2": _rebuild, "_rebuild_tensor_v3": _rebuild_typed,
    "_rebuild_parameter": _rebuild_parameter, "_rebuild_parameter_with_state": _rebuild_parameter,
}  # fmt: skip

#: What a file of PyTorch's may name.
NAMES: dict[str, Any] = {
    **PLAIN,
    **{f"torch._utils.{name}": Named(name, call) for name, call in _REBUILDS.items()},
    "torch._tensor._rebuild_from_type_v2": Named("_rebuild_from_type_v2", _rebuild_from_type),
    "torch.serialization._get_layout": Named("_get_layout", _layout),
    "torch.Size": Named("torch.Size", _size),
    "torch.device": Named("torch.device", _device),
    "torch.Tensor": Constant(_Class("Tensor")),
    "torch._tensor.Tensor": Constant(_Class("Tensor")),
    "torch.nn.parameter.Parameter": Constant(_Class("Parameter")),
    "torch.nn.parameter.Buffer": Constant(_Class("Buffer")),
    **{f"torch.{storage}": Constant(_Elements(name)) for name, storage in STORAGES.items()},
    "torch.storage.UntypedStorage": Constant(_Elements("")),
    "torch.UntypedStorage": Constant(_Elements("")),
    **{f"torch.{name}": Constant(getattr(dtypes, "bool_" if name == "bool" else name)) for name in STORAGES},
}  # fmt: skip


class _Storages:
    """Gives out the storages of a file. ``fetch(key)`` gives the bytes of one."""

    def __init__(self, places: Places, fetch: Callable[[str], np.ndarray], swapped: bool) -> None:
        self.places, self.fetch, self.swapped = places, fetch, swapped
        self.known: dict[str, _Storage] = {}

    def __call__(self, pid: Any) -> _Storage:
        if type(pid) is not tuple or len(pid) < 5 or pid[0] != "storage":
            raise refused(f"a reference to {str(pid[0] if isinstance(pid, tuple) and pid else pid):.60}")
        elements, key, where, count = pid[1:5]
        if type(elements) is not _Elements or type(key) is not str or type(where) is not str or type(count) is not int:
            raise TypeError("a storage is named by its type, key, place and size")
        if key not in self.known:
            kind = named_dtype(elements.name) if elements.name else None
            memory = self.fetch(key)
            size = 1 if kind is None else kind.np.itemsize
            if count < 0 or memory.nbytes < count * size:
                raise RuntimeError(
                    f"damaged: the storage {key!r} has {memory.nbytes} bytes instead of {count} elements"
                )
            self.known[key] = _Storage(Loaded(self.places.put(self._typed(memory[: count * size], kind), where)), kind)
        return self.known[key]

    def _typed(self, memory: np.ndarray, kind: dtypes.dtype | None) -> np.ndarray:
        if kind is None:
            return memory
        if memory.size and memory.__array_interface__["data"][0] % kind.np.alignment:
            memory = memory.copy()
        found = memory.view(kind.np)
        return found.byteswap() if self.swapped else found


def read(archive: Archive, places: Places) -> Any:
    """The value in an archive that PyTorch wrote."""
    name = next(entry for entry in archive.entries if is_pickle(entry))
    prefix = name[: -len("data.pkl")]
    if f"{prefix}constants.pkl" in archive.entries:
        raise refused(
            f"{archive.source.name}, a TorchScript program",
            " Load it with PyTorch, and save its state_dict() there with torch.save().",
        )
    order = archive.memory(f"{prefix}byteorder").tobytes() if f"{prefix}byteorder" in archive.entries else b"little"
    swapped = order.decode("latin-1") != sys.byteorder
    storages = _Storages(places, lambda key: archive.memory(f"{prefix}data/{key}"), swapped)
    return Machine(NAMES, storages).load(io.BytesIO(archive.text(name)))


def is_pickle(entry: str) -> bool:
    """Whether an entry is the pickle of a file of PyTorch's."""
    return entry == "data.pkl" or (entry.endswith("/data.pkl") and entry.count("/") == 1)


# ------------------------------------------------------------------------------------------------- before PyTorch 1.6


class _Bounded:
    """A source as a stream that never asks for more than there is."""

    def __init__(self, source: Source) -> None:
        self.source, self.at = source, 0

    def read(self, size: int) -> bytes:
        found = self.source.bytes_at(self.at, size)
        self.at += len(found)
        return found

    def readline(self) -> bytes:
        found = self.source.bytes_at(self.at, 4096).partition(b"\n")
        line = found[0] + found[1]
        self.at += len(line)
        return line

    def tell(self) -> int:
        return self.at


def read_old(source: Source, places: Places) -> Any:
    """The value in a file as PyTorch wrote it before version 1.6."""
    stream = _Bounded(source)
    if Machine(PLAIN).load(stream) != MAGIC:
        raise refused(
            f"{source.name}, a pickle that PyTorch did not write",
            " Data in it can be read by the program that wrote it, and saved with tensorlab.save() there.",
        )
    protocol, system = Machine(PLAIN).load(stream), Machine(PLAIN).load(stream)
    if protocol != 1001 or not isinstance(system, dict):
        raise RuntimeError(f"{source.name} is damaged: it is of protocol {protocol!r:.20}, not 1001")
    begin, scan = stream.at, _Scan()
    scan.load(stream)
    keys = Machine(PLAIN).load(stream)
    if not isinstance(keys, list) or set(keys) != set(scan.sizes):
        raise RuntimeError(f"{source.name} is damaged: its list of storages is not that of its tensors")
    at, memory = stream.at, {}
    for key in keys:
        size = int.from_bytes(source.bytes_at(at, 8), "little") * scan.sizes[key]
        memory[key] = source.memory_at(at + 8, size)
        at += 8 + size
    stream.at = begin
    swapped = bool(system.get("little_endian", True)) != (sys.byteorder == "little")
    return Machine(NAMES, _Storages(places, memory.__getitem__, swapped)).load(stream)


class _Scan(Machine):
    """Goes through a pickle to learn which storages it needs, and makes nothing."""

    def __init__(self) -> None:
        super().__init__(NAMES, self._learn)
        self.sizes: dict[str, int] = {}  # of each storage the bytes of one element

    def _learn(self, pid: Any) -> None:
        if type(pid) is not tuple or len(pid) < 5 or pid[0] != "storage" or type(pid[1]) is not _Elements:
            raise refused(f"a reference to {str(pid[:2] if isinstance(pid, tuple) else pid):.80}")
        if len(pid) > 5 and pid[5] is not None:
            raise refused("a storage that is a part of another one, as the first versions of PyTorch saved them")
        self.sizes[pid[2]] = named_dtype(pid[1].name).np.itemsize if pid[1].name else 1

    def call(self, function: Any, args: Any) -> None:
        self.stack.append(None)

    def build(self) -> None:
        self.stack.pop()

    def top(self, kind: Any) -> Any:
        return super().top(kind) if isinstance(self.stack[-1], kind) else kind()
