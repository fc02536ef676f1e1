"""``x[...]`` and ``x[...] = value``: ints, slices, ``None`` and ``...`` make views; lists, masks and index tensors copy."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tensorlab import dispatch, dtypes, inplace
from tensorlab.creation import number, to_array
from tensorlab.dispatch import call, wrap
from tensorlab.errors import warn
from tensorlab.functional import shapes
from tensorlab.functional.positions import Outside, agree, beside, check_assigned, index_arrays
from tensorlab.ops import ROWS
from tensorlab.viewing import view

Tensor = Any


def getitem(x: Tensor, key: Any) -> Tensor:
    """The part of ``x`` that a subscript names."""
    if type(key) is int:
        return shapes.select(x, 0, key) if x._a.ndim else _too_many(x, 1)
    seen, indices = _basic(x, key)
    if indices is None:
        return seen if seen is not x else view(ROWS["view"], x, shape=x._a.shape)
    return call(ROWS["index"], (seen,), indices=indices)


def setitem(x: Tensor, key: Any, value: Any) -> None:
    """Write ``value``, broadcast, into the part of ``x`` that a subscript names."""
    value = _value(x, value)
    if (
        isinstance(key, dispatch.Tensor)
        and key._a.dtype.kind == "b"
        and value._a.ndim == 0
        and key._a.shape == x._a.shape
    ):
        mask = dispatch.move(key, dispatch.device_of(x._a))
        inplace.write(ROWS["masked_fill"], x, mask, value, op="masked_fill_")
        return
    seen, indices = _basic(x, key)
    if indices is None:
        inplace.assign(seen, value)
        return
    check_assigned(seen, indices, value)
    inplace.write(ROWS["index_put"], seen, value, op="index_put_", indices=indices, accumulate=False)


def _value(x: Tensor, value: Any) -> Tensor:
    if isinstance(value, dispatch.Tensor):
        return value
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return wrap(number(value.item() if isinstance(value, np.generic) else value, dtypes.of(x._a.dtype)))
    if isinstance(value, (list, tuple, np.ndarray)):
        return dispatch.move(wrap(to_array(value, None)), dispatch.device_of(x._a))
    raise TypeError(f"can't assign a {type(value).__name__} to a tensor of type {dtypes.of(x._a.dtype)!r}")


def _too_many(x: Tensor, count: int) -> Any:
    if x._a.ndim == 0:
        raise IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python to convert a 0-dim tensor to a number"
        )
    raise IndexError(f"too many indices for tensor of dimension {x._a.ndim}: got {count} for shape {list(x._a.shape)}")


def _entries(key: Any) -> list[Any]:
    if isinstance(key, tuple):
        return list(key)
    return [key]


def _consumes(entry: Any) -> int:
    """How many dimensions an entry of a subscript uses up."""
    if entry is None or isinstance(entry, bool) or entry is Ellipsis:
        return 0
    array = entry._a if isinstance(entry, dispatch.Tensor) else entry if isinstance(entry, np.ndarray) else None
    if array is not None and array.dtype.kind == "b":
        return array.ndim
    return 1


def _basic(x: Tensor, key: Any) -> tuple[Tensor, Any]:
    """Apply the basic part of a subscript as views. Returns the view, and index arrays for the rest or ``None``."""
    entries = [_read(entry) for entry in _entries(key)]
    used = sum(_consumes(e) for e in entries)
    dots = [i for i, e in enumerate(entries) if e is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if used > x._a.ndim:
        _too_many(x, used)
    fill: list[Any] = [slice(None)] * (x._a.ndim - used)
    at = dots[0] if dots else len(entries)
    entries[at : at + len(dots)] = fill
    out, dim = x, 0
    arrays: list[tuple[int, Any]] = []
    outside: Outside | None = None
    for entry in entries:
        if entry is None:
            out = shapes.unsqueeze(out, dim)
            dim += 1
        elif isinstance(entry, slice):
            if entry != slice(None):
                out = shapes.slice_dim(out, dim, *_bounds(entry))
            dim += 1
        elif isinstance(entry, int) and not isinstance(entry, bool):
            out = shapes.select(out, dim, entry)
        elif isinstance(entry, bool):
            out = shapes.unsqueeze(out, dim)
            arrays.append((dim, beside(np.zeros(1 if entry else 0, np.int64), out)))
            dim += 1
        else:
            try:
                parts = index_arrays(entry, out, dim)
            except Outside as error:
                parts, outside = [error.array], outside or error
            for part in parts:
                arrays.append((dim, part))
                dim += 1
    if not arrays:
        return out, None
    indices: list[Any] = [slice(None)] * (arrays[-1][0] + 1)
    for d, part in arrays:
        indices[d] = part
    return out, agree(indices, outside)


def _read(entry: Any) -> Any:
    """An entry of a subscript as an int, a slice, ``None``, ``...``, a bool, or an array."""
    if entry is None or entry is Ellipsis or isinstance(entry, (bool, slice)):
        return entry
    if isinstance(entry, dispatch.Tensor):
        if entry._a.ndim == 0 and entry._a.dtype.kind in "iub":
            return bool(entry._a) if entry._a.dtype in _MASKS else int(entry._a)
        return _mask(entry)
    if isinstance(entry, np.ndarray):
        if entry.ndim == 0 and entry.dtype.kind in "iub":
            return bool(entry) if entry.dtype in _MASKS else int(entry)
        return _mask(wrap(entry))
    if isinstance(entry, (list, range, tuple)):
        return wrap(np.asarray(to_array(list(entry), None) if len(entry) else np.zeros(0, np.int64)))
    if isinstance(entry, np.bool_):
        return bool(entry)
    try:
        return operator.index(entry)
    except TypeError:
        raise (TypeError if isinstance(entry, str) else IndexError)(
            f"only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got {type(entry).__name__})"
        ) from None


_MASKS = (np.dtype(np.bool_), np.dtype(np.uint8))


def _mask(entry: Tensor) -> Tensor:
    """An index tensor; one of uint8 is a mask, as it was before there were booleans."""
    if entry._a.dtype != np.uint8:
        return entry
    warn("indexing with dtype tensorlab.uint8 is now deprecated, please use a dtype tensorlab.bool instead.")
    return wrap(entry._a != 0)


def _bounds(entry: slice) -> tuple[Any, Any, Any]:
    def bound(v: Any) -> Any:
        if v is None or isinstance(v, int):
            return v
        try:
            return operator.index(v.item() if isinstance(v, dispatch.Tensor) else v)
        except TypeError:
            raise TypeError("slice indices must be integers or None or have an __index__ method") from None

    return bound(entry.start), bound(entry.stop), bound(entry.step)
