"""Documents as JSON, and the long columns of a graph as one binary buffer.

``to_json`` gives plain dictionaries and lists; a non-finite number becomes ``null``. ``pack`` moves every long column
of whole numbers out of a body into one little-endian ``Int32`` buffer and says in ``"columns"`` which slice belongs
to which path, so a graph of 10,000 nodes crosses a live connection as one copy instead of a hundred thousand written
numbers.
"""

from __future__ import annotations

import dataclasses
import math
import sys
import types
import typing
from array import array
from collections.abc import Callable
from functools import cache
from typing import Any

#: Columns shorter than this stay in the JSON: they are cheaper there than a buffer is.
LONG = 256

Json = Any


def to_json(document: Any) -> dict[str, Json]:
    """A document as dictionaries and lists that ``json.dumps(..., allow_nan=False)`` accepts."""
    kind: Any = type(document)
    return _encoder(kind)(document)


def from_json(kind: type, body: dict[str, Json]) -> Any:
    """The document of type ``kind`` that ``to_json`` wrote. Raises ``ValueError`` where a field is missing or
    unknown."""
    fields = {field.name for field in dataclasses.fields(kind)}
    if fields != set(body):
        wrong = ", ".join(sorted(fields ^ set(body)))
        raise ValueError(f"not a {kind.__name__} document: missing or unknown fields {wrong}")
    hints = _hints(kind)
    return kind(**{name: _decoder(hints[name])(value) for name, value in body.items()})


def pack(body: dict[str, Json]) -> tuple[dict[str, Json], list[bytes]]:
    """``body`` without its long integer columns, and the buffer that holds them (no buffer when there are none).

    Paths are written from ``body`` down: ``"graph.nodes.id"``. A column with a number past 32 bits stays where it is.
    """
    columns: dict[str, list[int]] = {}
    parts: list[array[int]] = []
    offset = 0

    def take(value: Json, path: str) -> Json:
        nonlocal offset
        kept = {}
        for name, item in value.items():
            here = f"{path}.{name}" if path else name
            if isinstance(item, dict):
                kept[name] = take(item, here)
            elif (column := _column(item)) is not None:
                columns[here] = [offset, len(column)]
                parts.append(column)
                offset += len(column)
            else:
                kept[name] = item
        return kept

    light = take(body, "")
    if not parts:
        return body, []
    light["columns"] = columns
    return light, [b"".join(part.tobytes() for part in parts)]


def unpack(body: dict[str, Json], buffers: list[bytes] | list[memoryview]) -> dict[str, Json]:
    """The inverse of :func:`pack`, as the browser does it."""
    if "columns" not in body:
        return body
    numbers = _little_endian(array("i", bytes(buffers[0])))
    whole = {name: item for name, item in body.items() if name != "columns"}
    for path, (offset, length) in body["columns"].items():
        *folders, name = path.split(".")
        place = whole
        for folder in folders:
            place = place[folder]
        place[name] = numbers[offset : offset + length].tolist()
    return whole


def _column(item: Json) -> array[int] | None:
    if not isinstance(item, list) or len(item) < LONG or type(item[0]) is not int:
        return None
    try:
        return _little_endian(array("i", item))
    except (TypeError, OverflowError):
        return None


def _little_endian(numbers: array[int]) -> array[int]:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


# ---- encoders and decoders, one for each type of field, worked out once --------------------------------------------


@cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


@cache
def _encoder(hint: Any) -> Callable[[Any], Json]:
    """The function that writes a value of a field typed ``hint``."""
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        fields = [(field.name, _encoder(_hints(hint)[field.name])) for field in dataclasses.fields(hint)]
        return lambda document: {name: encode(getattr(document, name)) for name, encode in fields}
    args = typing.get_args(hint)
    if typing.get_origin(hint) is tuple:
        if args[0] in (int, str):
            return list
        item = _encoder(args[0])
        return lambda values: [item(value) for value in values]
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        inner = _encoder(next(arg for arg in args if arg is not type(None)))
        return lambda value: None if value is None else inner(value)
    if hint is float:
        return lambda value: value if math.isfinite(value) else None
    return lambda value: value


@cache
def _decoder(hint: Any) -> Callable[[Json], Any]:
    """The function that reads a value of a field typed ``hint``."""
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return lambda body: from_json(hint, body)
    args = typing.get_args(hint)
    if typing.get_origin(hint) is tuple:
        if args[0] in (int, str):
            return tuple
        item = _decoder(args[0])
        return lambda values: tuple(item(value) for value in values)
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        inner = _decoder(next(arg for arg in args if arg is not type(None)))
        return lambda value: None if value is None else inner(value)
    return lambda value: value
