"""Files that PyTorch opens, with ``weights_only=True`` too, written without PyTorch.

The pickle is put together instruction by instruction: what it names are PyTorch's own functions, which need not be here.
"""

from __future__ import annotations

import secrets
import struct
import sys
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from tensorlab import dtypes
from tensorlab.device import device as device_class
from tensorlab.serialization.files import Writer
from tensorlab.serialization.manifest import kind_of, refuse
from tensorlab.serialization.pieces import Place, gather, on_host
from tensorlab.serialization.pytorch import STORAGES
from tensorlab.size import Size
from tensorlab.tensor import Tensor


class _Pickle:
    """A pickle of protocol 2 that grows."""

    def __init__(self, tensors: list[Tensor], places: list[Place], pieces: list[np.ndarray]) -> None:
        self.out = bytearray(b"\x80\x02")
        self.memo: dict[int, int] = {}
        self.tensors = {id(x): place for x, place in zip(tensors, places, strict=True)}
        self.pieces = pieces
        self.open: set[int] = set()

    # ------------------------------------------------------------------------------------------------- small things

    def name(self, module: str, name: str) -> None:
        self.out += f"c{module}\n{name}\n".encode()

    def text(self, value: str) -> None:
        data = value.encode("utf-8", "surrogatepass")
        self.out += b"X" + struct.pack("<I", len(data)) + data

    def integer(self, value: int) -> None:
        if 0 <= value < 256:
            self.out += b"K" + bytes([value])
        elif -(2**31) <= value < 2**31:
            self.out += b"J" + struct.pack("<i", value)
        else:
            data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
            self.out += (
                b"\x8a" + bytes([len(data)]) if len(data) < 256 else b"\x8b" + struct.pack("<I", len(data))
            ) + data

    def ints(self, values: Any) -> None:
        self.out += b"("
        for value in values:
            self.integer(int(value))
        self.out += b"t"

    def call(self, module: str, name: str, *args: Any, path: str) -> None:
        """The instructions for a call with arguments that are values."""
        self.name(module, name)
        self.out += b"("
        for argument in args:
            self.put(argument, path)
        self.out += b"tR"

    # ------------------------------------------------------------------------------------------------------- values

    def put(self, value: Any, path: str) -> None:
        """The instructions that make a value."""
        kind = type(value)
        if value is None or kind is bool:
            self.out += {None: b"N", True: b"\x88", False: b"\x89"}[value]
        elif kind is int:
            self.integer(value)
        elif kind is float:
            self.out += b"G" + struct.pack(">d", value)
        elif kind is str:
            self.text(value)
        elif isinstance(value, Tensor):
            self.tensor(value, path)
        elif kind in _WRITERS:
            if id(value) in self.open:
                raise ValueError(f"save(): the container at {path or 'the top'} contains itself")
            self.open.add(id(value))
            _WRITERS[kind](self, value, path)
            self.open.discard(id(value))
        elif isinstance(value, (np.ndarray, np.generic)):
            raise TypeError(
                f"save(): PyTorch's load(weights_only=True) opens no NumPy values; at {path or 'the top'} there is one. Convert it with "
                "tensorlab.as_tensor() or .item(), or save to another kind of file: save(obj, 'name.tl')."
            )
        else:
            raise refuse(path, value)

    def sequence(self, values: Any, path: str) -> None:
        for i, value in enumerate(values):
            self.put(value, f"{path}.{i}" if path else str(i))

    def list(self, value: Any, path: str) -> None:
        self.out += b"]("
        self.sequence(value, path)
        self.out += b"e"

    def tuple(self, value: Any, path: str) -> None:
        self.out += b"("
        self.sequence(value, path)
        self.out += b"t"

    def pairs(self, value: Any, path: str) -> None:
        self.out += b"("
        for key, one in value.items():
            self.put(key, f"a key of {path or 'the top'}")
            self.put(one, f"{path}.{key}" if path else str(key))
        self.out += b"u"

    def dictionary(self, value: Any, path: str) -> None:
        self.out += b"}"
        self.pairs(value, path)

    def ordered(self, value: Any, path: str) -> None:
        self.name("collections", "OrderedDict")
        self.out += b")R"
        self.pairs(value, path)
        if hasattr(value, "_metadata"):
            self.out += b"}"
            self.text("_metadata")
            self.put(value._metadata, path)
            self.out += b"sb"

    def counter(self, value: Any, path: str) -> None:
        self.call("collections", "Counter", dict(value), path=path)

    # ------------------------------------------------------------------------------------------------------ tensors

    def tensor(self, x: Tensor, path: str) -> None:
        """A tensor, once; where it comes again, the same object."""
        if id(x) in self.memo:
            self.out += b"j" + struct.pack("<I", self.memo[id(x)])
            return
        kind = kind_of(x)
        if kind == "Parameter":
            self.name("torch._utils", "_rebuild_parameter")
            self.out += b"("
            self._plain(x, False)
            self.put(bool(x.requires_grad), path)
            self.put(OrderedDict(), path)
            self.out += b"tR"
        else:
            self._plain(x, x.requires_grad)
        self.memo[id(x)] = len(self.memo)
        self.out += b"r" + struct.pack("<I", self.memo[id(x)])

    def _plain(self, x: Tensor, requires_grad: bool) -> None:
        place = self.tensors[id(x)]
        self.name("torch._utils", "_rebuild_tensor_v2")
        self.out += b"(("
        self.text("storage")
        self.name("torch", STORAGES[x.dtype.name])
        self.text(str(place.piece))
        self.text(str(x.device))
        self.integer(self.pieces[place.piece].size)
        self.out += b"tQ"
        self.integer(place.offset)
        self.ints(place.shape)
        self.ints(place.strides)
        self.put(bool(requires_grad), "")
        self.put(OrderedDict(), "")
        self.out += b"tR"


def _reduced(module: str, name: str, args: Callable[[Any], Any]) -> Callable[[_Pickle, Any, str], None]:
    return lambda pickle, value, path: pickle.call(module, name, *args(value), path=path)


_WRITERS: dict[Any, Callable[[_Pickle, Any, str], None]] = {
    list: _Pickle.list,
    tuple: _Pickle.tuple,
    dict: _Pickle.dictionary,
    OrderedDict: _Pickle.ordered,
    Counter: _Pickle.counter,
    Size: _reduced("torch", "Size", lambda value: (tuple(value),)),
    set: _reduced("__builtin__", "set", lambda value: (list(value),)),
    complex: _reduced("__builtin__", "complex", lambda value: (value.real, value.imag)),
    bytes: _reduced("_codecs", "encode", lambda value: (value.decode("latin-1"), "latin1")),
    bytearray: _reduced("__builtin__", "bytearray", lambda value: (value.decode("latin-1"), "latin-1")),
    dtypes.dtype: lambda pickle, value, path: pickle.name("torch", value.name),
    device_class: _reduced("torch", "device", lambda value: (str(value),)),
}


class _Tensors:
    """The tensors in a value, each once, in the order in which they come."""

    def __init__(self) -> None:
        self.found: dict[int, Tensor] = {}
        self.seen: set[int] = set()

    def walk(self, value: Any) -> None:
        if isinstance(value, Tensor):
            self.found.setdefault(id(value), value)
        elif isinstance(value, (list, tuple, dict)) and id(value) not in self.seen:
            self.seen.add(id(value))
            for one in value.values() if isinstance(value, dict) else value:
                self.walk(one)
            if hasattr(value, "_metadata"):
                self.walk(value._metadata)


def write(value: Any, stream: Any) -> None:
    """Write a value as a file of PyTorch's."""
    collected = _Tensors()
    try:
        collected.walk(value)
        tensors = list(collected.found.values())
        pieces, places = gather(on_host(tensors), mixed=False)
        pickle = _Pickle(tensors, places, pieces)
        pickle.put(value, "")
    except RecursionError:
        raise ValueError("save(): the containers are nested too deeply") from None
    writer = Writer(stream)
    writer.add("archive/data.pkl", bytes(pickle.out + b"."))
    writer.add("archive/.format_version", b"1")
    writer.add("archive/.storage_alignment", b"64")
    writer.add("archive/byteorder", sys.byteorder.encode())
    for number, piece in enumerate(pieces):
        writer.add(f"archive/data/{number}", piece.view(np.uint8) if piece.size else b"")
    writer.add("archive/version", b"3\n")
    writer.add("archive/.data/serialization_id", str(secrets.randbits(128)).encode())
    writer.close()
