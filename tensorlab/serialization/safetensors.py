"""The safetensors format: a JSON header that names tensors, and their bytes. Nothing in such a file can be run.

Written and read here rather than by the library of that name, whose NumPy half refuses bfloat16. Source: the format's description,
version 0.4 and later. Names and arguments follow ``safetensors.torch``.
"""

from __future__ import annotations

import io
import json
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from types import TracebackType
from typing import Any

import numpy as np

from tensorlab import dtypes
from tensorlab.serialization.files import ALIGNMENT, MOST, Source, replacing
from tensorlab.serialization.pieces import Loaded, gather, on_host
from tensorlab.serialization.places import Places
from tensorlab.tensor import Tensor

#: Our types under the format's names.
CODES = {
    "bool": "BOOL", "uint8": "U8", "int8": "I8", "int16": "I16", "uint16": "U16", "int32": "I32", "uint32": "U32", "int64": "I64",
    "uint64": "U64", "float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64", "complex64": "C64",
}  # fmt: skip
_NAMES = {code: name for name, code in CODES.items()}


def encoded(arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str] | None = None) -> list[Any]:
    """A file as a list of bytes and arrays, one after another. Arrays lie row by row.

    Wide types come first, so that everything is aligned.
    """
    header: dict[str, Any] = {} if metadata is None else {"__metadata__": dict(metadata)}
    names = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    at = 0
    for name in names:
        a = arrays[name]
        if a.dtype.name not in CODES:
            raise TypeError(f"a safetensors file has no type {a.dtype.name}, which tensor '{name}' is of")
        header[name] = {
            "dtype": CODES[a.dtype.name],
            "shape": list(a.shape),
            "data_offsets": [at, at + a.nbytes],
        }
        at += a.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 8) % ALIGNMENT)
    plain = [arrays[name].reshape(-1) for name in names]
    return [len(text).to_bytes(8, "little"), text, *[a.view(np.uint8) for a in plain if a.size]]


class Entry:
    """What the header says of one tensor."""

    __slots__ = ("code", "shape", "begin", "end")

    def __init__(self, code: str, shape: tuple[int, ...], begin: int, end: int) -> None:
        self.code, self.shape, self.begin, self.end = code, shape, begin, end

    def dtype(self, name: str) -> dtypes.dtype:
        """Our type for it. Raises ``TypeError`` where there is none."""
        found = getattr(dtypes, "bool_" if self.code == "BOOL" else _NAMES.get(self.code, ""), None)
        if not isinstance(found, dtypes.dtype):
            raise TypeError(f"tensor '{name}' is of type {self.code}, which tensorlab does not have")
        return found


#: Bytes of one element, also for types that we do not have.
_SIZES = {
    "BOOL": 1, "U8": 1, "I8": 1, "F8_E5M2": 1, "F8_E4M3": 1, "F8_E8M0": 1, "I16": 2, "U16": 2, "F16": 2, "BF16": 2, "I32": 4, "U32": 4,
    "F32": 4, "I64": 8, "U64": 8, "F64": 8, "C64": 8,
}  # fmt: skip


class Header:
    """The checked header of a file that has ``size`` bytes, of which ``read(offset, count)`` gives some."""

    def __init__(self, name: str, size: int, read: Any) -> None:
        self.file = name
        if size < 8:
            raise RuntimeError(f"{name} is cut off: {size} bytes are less than the head of a safetensors file")
        length = int.from_bytes(read(0, 8), "little")
        if length > MOST:
            raise RuntimeError(f"{name} is refused: its header claims {length} bytes; at most {MOST} are read")
        if length + 8 > size:
            raise RuntimeError(f"{name} is cut off: its header has {length} bytes, the whole file {size}")
        self.data = 8 + length
        try:
            said = json.loads(read(8, length).decode("utf-8"), object_pairs_hook=_once)
        except (ValueError, RecursionError) as error:
            raise RuntimeError(f"{name} is damaged: its header is no JSON ({error})") from None
        if not isinstance(said, dict):
            raise RuntimeError(f"{name} is damaged: its header is no JSON object")
        metadata = said.pop("__metadata__", None) or {}
        if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
            raise RuntimeError(f"{name} is damaged: its metadata are not texts")
        self.metadata: dict[str, str] = metadata
        self.entries = {key: self._entry(key, value) for key, value in said.items()}
        self._check_ends(size - self.data)

    def _entry(self, key: str, said: Any) -> Entry:
        try:
            code, shape, (begin, end) = said["dtype"], said["shape"], said["data_offsets"]
            wrong = code not in _SIZES or any(type(n) is not int or n < 0 for n in (*shape, begin, end))
        except (TypeError, KeyError, ValueError):
            wrong = True
        if wrong:
            raise RuntimeError(
                f"{self.file} is damaged: what its header says of '{key}' makes no tensor: {said!r:.200}"
            )
        if prod(shape) * _SIZES[code] != end - begin:
            raise RuntimeError(
                f"{self.file} is damaged: '{key}' has shape {shape} and type {code}, but {end - begin} bytes"
            )
        return Entry(code, tuple(shape), begin, end)

    def _check_ends(self, size: int) -> None:
        """Tensors lie one after another, without gaps in which something could hide, to the end of the file."""
        at = 0
        for key, entry in sorted(self.entries.items(), key=lambda item: (item[1].begin, item[1].end)):
            if entry.begin != at:
                raise RuntimeError(
                    f"{self.file} is damaged: '{key}' begins at byte {entry.begin} of the data, not {at}"
                )
            at = entry.end
        if at != size:
            said = (
                f"is cut off: {at - size} of {at} bytes of data are missing"
                if at > size
                else "has bytes at its end that no tensor owns"
            )
            raise RuntimeError(f"{self.file} {said}")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands there twice")
    return found


# ------------------------------------------------------------------------------------------- as the library spells it


def save(tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None) -> bytes:
    """Tensors by name as the bytes of a safetensors file."""
    return b"".join(bytes(part) for part in _parts(tensors, metadata))


def save_file(tensors: Mapping[str, Tensor], filename: Any, metadata: Mapping[str, str] | None = None) -> None:
    """Write tensors by name as a safetensors file. An earlier file stays whole until the new one is.

    Raises ``TypeError`` for anything that is no tensor, and for types that the format does not have. The format keeps neither
    strides nor shared memory: tensors that share some are written one by one, with a warning.
    """
    parts = _parts(tensors, metadata)
    with replacing(filename) as stream:
        for part in parts:
            stream.write(part)


def load(data: bytes) -> dict[str, Tensor]:
    """The tensors of a safetensors file whose bytes these are."""
    return read(Source(io.BytesIO(data), False), Places(None))


def load_file(filename: Any, device: Any = "cpu") -> dict[str, Tensor]:
    """The tensors of a safetensors file by name, on a device."""
    source = Source(filename, False)
    try:
        return read(source, Places(device))
    finally:
        source.close()


def read(source: Source, places: Places) -> dict[str, Tensor]:
    """All tensors of a safetensors file."""
    header = Header(str(source.name), source.size, source.bytes_at)
    return {name: _tensor(source, header, name, places) for name in header.entries}


def _tensor(source: Source, header: Header, name: str, places: Places) -> Tensor:
    entry = header.entries[name]
    kind = entry.dtype(name)
    root = source.memory_at(header.data + entry.begin, entry.end - entry.begin)
    return Loaded(places.put(_typed(root, kind), "cpu")).tensor(kind, entry.shape, row_by_row(entry.shape), 0)


def _typed(memory: np.ndarray, kind: dtypes.dtype) -> np.ndarray:
    """Bytes as elements; copied where they do not lie as the type wants it."""
    address = memory.__array_interface__["data"][0]
    return (memory.copy() if memory.size and address % kind.np.alignment else memory).view(kind.np)


def row_by_row(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides of a tensor that lies row by row."""
    return tuple(prod(max(n, 1) for n in shape[d + 1 :]) for d in range(len(shape)))


def _parts(tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None) -> list[Any]:
    for name, x in tensors.items():
        if not isinstance(name, str) or name == "__metadata__":
            raise TypeError(f"a safetensors file names tensors by texts other than '__metadata__', not {name!r}")
        if not isinstance(x, Tensor):
            raise TypeError(
                f"a safetensors file holds tensors and nothing else; '{name}' is {type(x).__name__}. "
                "Other values fit into files of other names: save(obj, 'name.tl') or save(obj, 'name.pth')."
            )
    arrays = on_host(list(tensors.values()))
    _, found = gather(arrays)
    users = Counter(place.piece for place in found)
    if shared := [name for name, place in zip(tensors, found, strict=True) if users[place.piece] > 1]:
        warnings.warn(
            f"a safetensors file keeps no shared memory: {', '.join(shared[:10])} are written one by one", stacklevel=4
        )
    plain = [np.ascontiguousarray(a).reshape(a.shape) for a in arrays]
    return encoded(dict(zip(tensors, plain, strict=True)), metadata)


class safe_open:
    """A safetensors file of which tensors are read one by one: ``with safe_open(path) as f: f.get_tensor(name)``.

    ``framework`` is there for code that names one, and changes nothing.
    """

    def __init__(self, filename: Any, framework: str = "tensorlab", device: Any = "cpu") -> None:
        self._source = Source(filename, True)
        self._places = Places(device)
        self._header = Header(str(self._source.name), self._source.size, self._source.bytes_at)

    def __enter__(self) -> safe_open:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._source.close()

    def keys(self) -> list[str]:
        """The names of the tensors."""
        return list(self._header.entries)

    def __iter__(self) -> Iterator[str]:
        return iter(self._header.entries)

    def __len__(self) -> int:
        return len(self._header.entries)

    def metadata(self) -> dict[str, str] | None:
        """What else the file says, as texts by name."""
        return self._header.metadata or None

    def get_tensor(self, name: str) -> Tensor:
        """One tensor. Raises ``KeyError`` for a name that the file does not have."""
        if name not in self._header.entries:
            raise KeyError(f"{self._source.name} has no tensor '{name}'; it has {', '.join(self.keys()[:20])}")
        return _tensor(self._source, self._header, name, self._places)
