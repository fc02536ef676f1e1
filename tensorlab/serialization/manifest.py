"""tensorlab's own file: an archive of ``tensors.safetensors`` and ``manifest.json``, which says how the tensors lie in containers.

Any reader of safetensors can use the tensors alone. A tensor that shares no memory and lies row by row is an entry of its own
under its path in the containers; everything else is a run of elements, and the manifest has shape, strides and offset.
"""

from __future__ import annotations

import base64
import json
import math
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tensorlab import dtypes
from tensorlab.device import device as device_class
from tensorlab.serialization.files import Archive, Writer
from tensorlab.serialization.pieces import Loaded, gather, on_host
from tensorlab.serialization.places import Places
from tensorlab.serialization.safetensors import Header, encoded, row_by_row
from tensorlab.size import Size
from tensorlab.tensor import Tensor, as_subclass

MANIFEST, TENSORS = "manifest.json", "tensors.safetensors"
FORMAT, VERSION = "tensorlab", 1

#: What may be named as the maker of a ``defaultdict``'s values.
FACTORIES: dict[str, Any] = {"list": list, "dict": dict, "int": int, "float": float, "str": str, "set": set}


def kind_of(x: Any) -> str:
    """Under which class a tensor is saved. Raises ``TypeError`` for classes that nobody could restore without running code."""
    name = type(x).__name__
    if type(x) is Tensor or (name in ("Parameter", "Buffer") and type(x).__module__ == "tensorlab.nn.parameter"):
        return name
    raise TypeError(
        f"save() keeps plain tensors, Parameter and Buffer, not the subclass {type(x).__module__}.{name}: loading it would run code. "
        "Save its values, tensorlab.tensor(x), instead."
    )


def refuse(path: str, value: Any) -> TypeError:
    """The error for something that is not saved."""
    kind = type(value)
    hint = " Save its state_dict()." if hasattr(value, "state_dict") else ""
    if callable(getattr(value, "get_state", None)):
        hint = " Save its get_state()."
    if hasattr(value, "_asdict"):
        hint = " Save its _asdict(), or a plain tuple."
    return TypeError(
        f"save() keeps tensors, numbers, texts and plain containers, from which nothing can be run when they are loaded; at "
        f"{path or 'the top'} it found {kind.__module__}.{kind.__qualname__}.{hint}"
    )


class Encoder:
    """Turns a value into plain JSON, and collects its tensors on the way."""

    def __init__(self) -> None:
        self.tensors: list[Tensor] = []
        self.paths: list[str] = []  # where each of them stands
        self.arrays: list[np.ndarray] = []
        self.array_paths: list[str] = []
        self._numbers: dict[int, int] = {}
        self._open: set[int] = set()  # the containers that are being encoded

    def encode(self, value: Any, path: str) -> Any:
        """Plain JSON for a value. Raises ``TypeError`` for what is not saved, naming where it stands."""
        kind = type(value)
        if value is None or kind in (bool, str, int):
            return value
        if kind is float:
            return value if math.isfinite(value) else {"@": "float", "value": repr(value)}
        if isinstance(value, Tensor):
            return {"@": "tensor", "number": self._number(value, path)}
        encode = _ENCODERS.get(kind)
        if encode is None:
            if isinstance(value, np.generic) and value.dtype.kind in "biufc":
                return {"@": "number", "dtype": value.dtype.str, "value": _text(value.tobytes())}
            raise refuse(path, value)
        if id(value) in self._open:
            raise ValueError(f"save(): the container at {path or 'the top'} contains itself")
        self._open.add(id(value))
        try:
            return encode(self, value, path)
        finally:
            self._open.discard(id(value))

    def items(self, values: Iterable[Any], path: str) -> list[Any]:
        return [self.encode(value, _join(path, i)) for i, value in enumerate(values)]

    def pairs(self, values: Any, path: str) -> list[Any]:
        return [
            [self.encode(key, f"a key of {path or 'the top'}"), self.encode(v, _join(path, key))]
            for key, v in values.items()
        ]

    def dictionary(self, value: dict[Any, Any], path: str) -> Any:
        if all(type(key) is str for key in value) and "@" not in value:
            return {key: self.encode(v, _join(path, key)) for key, v in value.items()}
        return {"@": "dict", "items": self.pairs(value, path)}

    def ordered(self, value: Any, path: str) -> Any:
        said = {"@": "OrderedDict", "items": self.pairs(value, path)}
        if hasattr(value, "_metadata"):
            said["metadata"] = self.encode(value._metadata, f"{path}._metadata")
        return said

    def array(self, value: np.ndarray, path: str) -> Any:
        if value.dtype.hasobject or value.dtype.kind not in "biufc" or not value.dtype.isnative:
            raise TypeError(
                f"save(): the NumPy array at {path or 'the top'} has type {value.dtype}, which is not saved"
            )
        self.arrays.append(np.ascontiguousarray(value).reshape(value.shape))
        self.array_paths.append(path)
        return {"@": "array", "number": len(self.arrays) - 1}

    def _number(self, x: Tensor, path: str) -> int:
        known = self._numbers.get(id(x))
        if known is None:
            kind_of(x)
            known = self._numbers[id(x)] = len(self.tensors)
            self.tensors.append(x)
            self.paths.append(path)
        return known


def _join(path: str, key: Any) -> str:
    return f"{path}.{key}" if path else str(key)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _sequence(name: str) -> Callable[[Encoder, Any, str], Any]:
    return lambda encoder, value, path: {"@": name, "items": encoder.items(value, path)}


def _factory(value: Any, path: str) -> str | None:
    if value.default_factory is None:
        return None
    for name, kind in FACTORIES.items():
        if value.default_factory is kind:
            return name
    raise TypeError(f"save(): the defaultdict at {path or 'the top'} has a factory of its own; save dict(it)")


_ENCODERS: dict[type, Callable[[Encoder, Any, str], Any]] = {
    list: lambda encoder, value, path: encoder.items(value, path),
    dict: Encoder.dictionary,
    OrderedDict: Encoder.ordered,
    np.ndarray: Encoder.array,
    tuple: _sequence("tuple"),
    Size: _sequence("Size"),
    set: _sequence("set"),
    frozenset: _sequence("frozenset"),
    deque: lambda encoder, value, path: {
        "@": "deque",
        "items": encoder.items(value, path),
        "maxlen": value.maxlen,
    },
    Counter: lambda encoder, value, path: {"@": "Counter", "items": encoder.pairs(value, path)},
    defaultdict: lambda encoder, value, path: {
        "@": "defaultdict",
        "factory": _factory(value, path),
        "items": encoder.pairs(value, path),
    },
    complex: lambda encoder, value, path: {"@": "complex", "value": [repr(value.real), repr(value.imag)]},
    bytes: lambda encoder, value, path: {"@": "bytes", "value": _text(value)},
    bytearray: lambda encoder, value, path: {"@": "bytearray", "value": _text(bytes(value))},
    slice: lambda encoder, value, path: {
        "@": "slice",
        "items": encoder.items((value.start, value.stop, value.step), path),
    },
    range: lambda encoder, value, path: {"@": "range", "items": [value.start, value.stop, value.step]},
    dtypes.dtype: lambda encoder, value, path: {"@": "dtype", "value": value.name},
    device_class: lambda encoder, value, path: {"@": "device", "value": str(value)},
}


# -------------------------------------------------------------------------------------------------------------- writing


def write(value: Any, stream: Any) -> None:
    """Write a value as a file of this format."""
    encoder = Encoder()
    try:
        tree = encoder.encode(value, "")
    except RecursionError:
        raise ValueError("save(): the containers are nested too deeply") from None
    entries: dict[str, np.ndarray] = {}
    tensors = _tensor_entries(encoder, entries)
    arrays = [
        _entry(a, path, entries, a.dtype.str) for a, path in zip(encoder.arrays, encoder.array_paths, strict=True)
    ]
    manifest = {"format": FORMAT, "version": VERSION, "value": tree, "tensors": tensors, "arrays": arrays}
    writer = Writer(stream)
    writer.add(MANIFEST, json.dumps(manifest, allow_nan=False, separators=(",", ":")).encode())
    writer.add(TENSORS, *encoded(entries, {"format": FORMAT}))
    writer.close()


def _tensor_entries(encoder: Encoder, entries: dict[str, np.ndarray]) -> list[dict[str, Any]]:
    """Enter the memory of all tensors, and say how each lies in it."""
    pieces, places = gather(on_host(encoder.tensors))
    users = Counter(place.piece for place in places)
    keys: dict[int, str] = {}
    said = []
    for x, path, place in zip(encoder.tensors, encoder.paths, places, strict=True):
        piece, kind = pieces[place.piece], x._a.dtype
        plain = users[place.piece] == 1 and place.strides == row_by_row(place.shape)
        if place.piece not in keys:
            held = piece.view(np.float64) if piece.dtype == np.complex128 else piece
            plain_shape = plain and held.dtype == kind
            keys[place.piece] = _key(path, entries)
            entries[keys[place.piece]] = held.reshape(place.shape) if plain_shape else held
        one: dict[str, Any] = {"in": keys[place.piece], "dtype": x.dtype.name, "shape": list(place.shape)}
        if not plain:
            one |= {"strides": list(place.strides), "offset": place.offset}
        if str(x.device) != "cpu":
            one["device"] = str(x.device)
        if x.requires_grad:
            one["requires_grad"] = True
        if kind_of(x) != "Tensor":
            one["class"] = kind_of(x)
        if getattr(x, "persistent", True) is False:
            one["persistent"] = False
        said.append(one)
    return said


def _entry(array: np.ndarray, path: str, entries: dict[str, np.ndarray], kind: str) -> dict[str, Any]:
    key = _key(path, entries)
    entries[key] = array.reshape(-1).view(np.uint8) if array.dtype == np.complex128 else array
    return {"in": key, "dtype": kind, "shape": list(array.shape)}


def _key(path: str, entries: dict[str, np.ndarray]) -> str:
    """A name that is still free for what stands at a path."""
    path = path or "value"
    key, number = path, 1
    while key in entries or key == "__metadata__":
        number += 1
        key = f"{path}#{number}"
    return key


# -------------------------------------------------------------------------------------------------------------- reading


class Decoder:
    """Makes the value that a manifest describes."""

    def __init__(self, archive: Archive, places: Places) -> None:
        self.archive, self.places = archive, places
        self.file = archive.source.name
        manifest = self._manifest()
        size = archive.entries[TENSORS].file_size if TENSORS in archive.entries else 0
        self.header = Header(f"{self.file}: {TENSORS}", size, lambda at, n: archive.memory(TENSORS, at, n).tobytes())
        if archive.source.mapped is None:
            whole = archive.memory(TENSORS)  # read once, and checked
            self._bytes: Callable[[int, int], np.ndarray] = lambda at, n: whole[at : at + n]
        else:
            self._bytes = lambda at, n: archive.memory(TENSORS, at, n)
        self.pieces: dict[tuple[str, str], Loaded] = {}
        self.tensors = [self._tensor(said) for said in manifest["tensors"]]
        self.arrays = [self._array(said) for said in manifest["arrays"]]
        self.value = self.decode(manifest["value"])

    def _manifest(self) -> Any:
        try:
            found = json.loads(self.archive.text(MANIFEST).decode("utf-8"))
        except ValueError as error:
            raise RuntimeError(f"{self.file} is damaged: its manifest is no JSON ({error})") from None
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise RuntimeError(f"{self.file} is damaged: its manifest is not that of a {FORMAT} file")
        if found.get("version") != VERSION:
            raise RuntimeError(
                f"{self.file} was written in version {found.get('version')!r:.20} of the format; this is version {VERSION} and "
                "cannot read it. A newer tensorlab can."
            )
        if not {"value", "tensors", "arrays"} <= found.keys():
            raise RuntimeError(f"{self.file} is damaged: its manifest is incomplete")
        return found

    def _memory(self, key: str, kind: np.dtype[Any]) -> np.ndarray:
        entry = self.header.entries[key]
        found = self._bytes(self.header.data + entry.begin, entry.end - entry.begin)
        aligned = found.__array_interface__["data"][0] % kind.alignment == 0
        found = found if aligned or not found.size else found.copy()
        return found.view(kind) if found.size % kind.itemsize == 0 else found

    def _tensor(self, said: Any) -> Tensor:
        kind = named_dtype(said["dtype"])
        saved = said.get("device", "cpu")
        piece = self.pieces.get((said["in"], saved))
        if piece is None:
            root = self.places.put(self._memory(said["in"], kind.np), saved)
            piece = self.pieces[said["in"], saved] = Loaded(root)
        shape = tuple(said["shape"])
        found = piece.tensor(kind, shape, said.get("strides") or row_by_row(shape), said.get("offset", 0))
        return finished(
            found, said.get("class", "Tensor"), bool(said.get("requires_grad")), said.get("persistent", True)
        )

    def _array(self, said: Any) -> np.ndarray:
        code = said["dtype"]
        if (
            not isinstance(code, str)
            or code[:1] not in "<>=|"
            or code[1:2] not in tuple("biufc")
            or not code[2:].isdigit()
        ):
            raise ValueError(f"{code!r:.20} is no type of numbers")
        kind = np.dtype(code)
        return self._memory(said["in"], kind).view(kind).reshape(said["shape"])

    def decode(self, said: Any) -> Any:
        """The value that plain JSON stands for."""
        if isinstance(said, list):
            return [self.decode(one) for one in said]
        if not isinstance(said, dict):
            return said
        if "@" not in said:
            return {key: self.decode(one) for key, one in said.items()}
        kind = said["@"]
        if kind not in _DECODERS:
            raise RuntimeError(f"{self.file} is damaged or newer than this: its manifest speaks of {kind!r:.40}")
        return _DECODERS[kind](self, said)

    def items(self, said: Any) -> list[Any]:
        return [self.decode(one) for one in said["items"]]

    def pairs(self, said: Any) -> list[tuple[Any, Any]]:
        return [(self.decode(key), self.decode(one)) for key, one in said["items"]]


def named_dtype(name: Any) -> dtypes.dtype:
    """Our type of a name. Raises ``TypeError`` where there is none."""
    found = getattr(dtypes, "bool_" if name == "bool" else name, None) if isinstance(name, str) else None
    if not isinstance(found, dtypes.dtype):
        raise TypeError(f"there is no type {name!r:.40} in this tensorlab")
    return found


def finished(x: Tensor, kind: str, requires_grad: bool, persistent: bool = True) -> Tensor:
    """A loaded tensor as the class that it was."""
    if kind in ("Parameter", "Buffer"):
        from tensorlab.nn import parameter

        x = as_subclass(x, getattr(parameter, kind))
        if kind == "Buffer":
            x.persistent = persistent  # type: ignore[attr-defined]
    elif kind != "Tensor":
        raise RuntimeError(f"damaged: there is no class {kind!r:.40} of tensors")
    if requires_grad:
        x.requires_grad_(True)
    return x


def _ordered(decoder: Decoder, said: Any) -> Any:
    found: Any = OrderedDict(decoder.pairs(said))
    if "metadata" in said:
        found._metadata = decoder.decode(said["metadata"])
    return found


def _number(decoder: Decoder, said: Any) -> Any:
    kind = np.dtype(said["dtype"])
    if kind.kind not in "biufc":
        raise ValueError(f"{kind} is no type of numbers")
    return np.frombuffer(base64.b64decode(said["value"]), kind, 1)[0]


_DECODERS: dict[Any, Callable[[Decoder, Any], Any]] = {
    "tensor": lambda decoder, said: decoder.tensors[said["number"]],
    "array": lambda decoder, said: decoder.arrays[said["number"]],
    "float": lambda decoder, said: float(said["value"]),
    "number": _number,
    "tuple": lambda decoder, said: tuple(decoder.items(said)),
    "Size": lambda decoder, said: Size(decoder.items(said)),
    "set": lambda decoder, said: set(decoder.items(said)),
    "frozenset": lambda decoder, said: frozenset(decoder.items(said)),
    "deque": lambda decoder, said: deque(decoder.items(said), said["maxlen"]),
    "dict": lambda decoder, said: dict(decoder.pairs(said)),
    "OrderedDict": _ordered,
    "Counter": lambda decoder, said: Counter(dict(decoder.pairs(said))),
    "defaultdict": lambda decoder, said: defaultdict(
        FACTORIES[said["factory"]] if said["factory"] else None, decoder.pairs(said)
    ),
    "complex": lambda decoder, said: complex(*map(float, said["value"])),
    "bytes": lambda decoder, said: base64.b64decode(said["value"]),
    "bytearray": lambda decoder, said: bytearray(base64.b64decode(said["value"])),
    "slice": lambda decoder, said: slice(*decoder.items(said)),
    "range": lambda decoder, said: range(*said["items"]),
    "dtype": lambda decoder, said: named_dtype(said["value"]),
    "device": lambda decoder, said: device_class(said["value"]),
}


def read(archive: Archive, places: Places) -> Any:
    """The value in a file of this format."""
    try:
        return Decoder(archive, places).value
    except (KeyError, IndexError, ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise RuntimeError(
            f"{archive.source.name} is damaged: its manifest does not fit its tensors ({type(error).__name__}: {error})"
        ) from None
