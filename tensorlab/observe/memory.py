"""How a tensor lies in memory: cells, storage, everything else that lies there, and what a call would do about it.

Only what is shown is read: at most a grid of 8 x 16 cells and a strip of 64 elements, whatever the tensor holds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tensorlab import backend, layout
from tensorlab.dispatch import device_of, storage_of
from tensorlab.layout import Layout
from tensorlab.observe.bits import explained
from tensorlab.observe.broadcast import meeting
from tensorlab.observe.calls import verdicts
from tensorlab.observe.names import NOTEBOOK_NAMES, is_module
from tensorlab.observe.reading import LINE, reading
from tensorlab.observe.schema import LAYOUT, Alias, LayoutDocument, LayoutGrid, Picked, Scratch, StorageStrip
from tensorlab.observe.words import count_text, shape_text, value_text
from tensorlab.tensor import Tensor
from tensorlab.viewing import layout_of

#: A name, a shape, and an array where there is one.
Side = tuple[str, tuple[int, ...], Any]
ROWS, COLUMNS, STRIP, SPANS, MOST_ALIASES = 8, 16, 64, 32, 12


def layout_document(x: Any, title: str, namespace: Mapping[str, Any], others: Sequence[Side] = ()) -> LayoutDocument:
    """Everything that the layout instrument shows of a tensor. ``others`` are what it meets in an operation."""
    at = layout_of(x)
    root = _root(x)
    itemsize = x._a.dtype.itemsize
    contiguous = layout.is_contiguous(at.shape, at.strides)
    stretch = strip(root, x._a.dtype, at)
    met = meeting([(title or "it", tuple(at.shape), x._a), *others]) if others else None
    return LayoutDocument(
        schema=LAYOUT,
        title=title,
        dtype=x.dtype.name,
        itemsize=itemsize,
        device=str(device_of(x._a)),
        shape=tuple(at.shape),
        stride=tuple(at.strides),
        offset=at.offset,
        contiguous=contiguous,
        version=storage_of(x).version if not storage_of(x).inference else 0,
        grid=grid(x._a, at),
        strip=stretch,
        aliases=tuple(aliases(x, title, namespace)),
        verdicts=tuple(verdicts(at, itemsize)),
        reading=reading(at, itemsize, stretch.skew),
        broadcast=met,
        sentence=sentence(title, at, contiguous, stretch.total),
    )


def _root(x: Any) -> Any:
    """The whole buffer as a flat row of bytes, without copying it."""
    st = storage_of(x)
    return st.root if st.root is not None else backend.of(x._a).root(x._a)


# ------------------------------------------------------------------------------------------------------------ the grid


def grid(a: Any, at: Layout, lead: Sequence[int] = (), row: int = 0, column: int = 0) -> LayoutGrid:
    """A window on the last two dimensions of ``a``, from ``row`` and ``column``, at one index of the dimensions before."""
    shape = tuple(at.shape)
    n = len(shape)
    before = tuple(shape[: max(n - 2, 0)])
    lead = tuple(
        min(max(i, 0), max(size - 1, 0)) for i, size in zip((*lead, *(0,) * len(before)), before, strict=False)
    )
    height, width = (shape[-2] if n > 1 else 1), (shape[-1] if n else 1)
    empty = 0 in shape
    rows = () if empty else tuple(range(row, min(row + ROWS, height)))
    columns = () if empty else tuple(range(column, min(column + COLUMNS, width)))
    base = at.offset + sum(i * s for i, s in zip(lead, at.strides, strict=False))
    down, across = (at.strides[-2] if n > 1 else 0), (at.strides[-1] if n else 0)
    element = tuple(tuple(base + r * down + c * across for c in columns) for r in rows)
    text = tuple(tuple(value_text(v) for v in line) for line in _window(a, lead, rows, columns, n))
    return LayoutGrid(lead, rows, columns, element, text, _caption(shape, rows, columns))


def _window(a: Any, lead: tuple[int, ...], rows: Sequence[int], columns: Sequence[int], n: int) -> list[list[Any]]:
    if not rows or not columns:
        return []
    part = a[lead] if lead else a
    if n > 1:
        part = part[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    elif n == 1:
        part = part[columns[0] : columns[-1] + 1]
    host = backend.to_host(part) if isinstance(part, np.ndarray) or hasattr(part, "device") else np.asarray(part)
    return host.reshape(len(rows), len(columns)).tolist()


def _caption(shape: tuple[int, ...], rows: Sequence[int], columns: Sequence[int]) -> str:
    if 0 in shape:
        return "no elements"
    said = []
    if len(shape) > 1 and len(rows) < shape[-2]:
        said.append(f"rows {rows[0]} to {rows[-1]} of {shape[-2]:,}")
    if shape and len(columns) < shape[-1]:
        said.append(f"columns {columns[0]} to {columns[-1]} of {shape[-1]:,}")
    return ", ".join(said)


# ------------------------------------------------------------------------------------------------------------ storage


def strip(root: Any, dtype: Any, at: Layout, first: int | None = None) -> StorageStrip:
    """A stretch of the storage, as elements of the tensor's own type."""
    total = root.nbytes // dtype.itemsize
    begin = (at.offset if total > STRIP else 0) if first is None else first
    begin = min(max(begin, 0), max(total - 1, 0)) if total <= STRIP or first is not None else min(begin, total - STRIP)
    count = max(min(STRIP, total - begin), 0)
    values: list[Any] = []
    if count:
        part = backend.of(root).strided(root, (count,), (dtype.itemsize,), begin * dtype.itemsize, dtype)
        values = backend.to_host(part).tolist()
    return StorageStrip(
        first=begin,
        total=total,
        bytes=root.nbytes,
        skew=backend.of(root).address(root) % LINE,
        text=tuple(value_text(v) for v in values),
    )


def strip_of(x: Any, first: int) -> StorageStrip:
    """The stretch of the storage of ``x`` that begins at an element."""
    return strip(_root(x), x._a.dtype, layout_of(x), first)


def aliases(x: Any, title: str, namespace: Mapping[str, Any]) -> Iterator[Alias]:
    """Named tensors over the storage of ``x``, itself first."""
    itemsize = x._a.dtype.itemsize
    yield _alias(title or "this tensor", x, "", itemsize)
    st, count = x._st, 0
    for name, other in named_tensors(namespace):
        if other is x or st is None or other._st is not st:
            continue
        note = "base" if x._view is not None and x._view.base is other else _note(other)
        kind = f", as {other.dtype.name}" if other.dtype != x.dtype else ""
        yield _alias(name, other, note + kind, itemsize)
        count += 1
        if count == MOST_ALIASES:
            return


def _alias(name: str, x: Any, note: str, itemsize: int) -> Alias:
    """A tensor over the same storage; what it reaches is told in elements of ``itemsize`` bytes."""
    at, own = layout_of(x), x._a.dtype.itemsize
    found = spans(at)
    if own != itemsize:
        found = _merged([(a * own // itemsize, ((b + 1) * own - 1) // itemsize) for a, b in found])
    first, last = tuple(a for a, _ in found), tuple(b for _, b in found)
    return Alias(name, tuple(at.shape), tuple(at.strides), at.offset, first, last, note)


def _note(x: Any) -> str:
    return "view" if x._view is not None else "the same memory" if x._off == 0 else "part of it"


def spans(at: Layout) -> list[tuple[int, int]]:
    """The stretches of storage elements that a layout reaches, at most so many; gaps that do not fit are closed."""
    if 0 in at.shape:
        return []
    found = [(at.offset, at.offset)]
    for size, stride in sorted(zip(at.shape, at.strides, strict=True), key=lambda pair: abs(pair[1])):
        if size == 1 or stride == 0:
            continue
        if len(found) * size > SPANS * 8:
            found = [(found[0][0], found[-1][1] + stride * (size - 1))]
            continue
        found = _merged([(low + i * stride, high + i * stride) for i in range(size) for low, high in found])
    return found if len(found) <= SPANS else [(found[0][0], found[-1][1])]


def _merged(parts: list[tuple[int, int]]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for low, high in sorted(parts):
        if out and low <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(out[-1][1], high))
        else:
            out.append((low, high))
    return out


def named_tensors(namespace: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The tensors that a person has names for: variables, one level into lists and dictionaries, and parts of modules."""
    for name, value in list(namespace.items()):
        if not isinstance(name, str) or name.startswith("_") or name in NOTEBOOK_NAMES:
            continue
        if isinstance(value, Tensor):
            yield name, value
        elif is_module(value):
            yield from ((f"{name}.{path}", p) for path, p in value.named_parameters())
        elif type(value) in (list, tuple):
            yield from ((f"{name}[{i}]", v) for i, v in enumerate(value[:64]) if isinstance(v, Tensor))
        elif type(value) is dict:
            yield from ((f"{name}[{k!r}]", v) for k, v in list(value.items())[:64] if isinstance(v, Tensor))


# ------------------------------------------------------------------------------------------------------------ in words


def sentence(title: str, at: Layout, contiguous: bool, total: int) -> str:
    """One line that says what the picture shows."""
    name = title or "The tensor"
    count = math.prod(at.shape)
    lies = "in one piece, row by row" if contiguous else f"with strides {shape_text(at.strides)}"
    part = (
        f"{count_text(count, 'element')}"
        if count == total
        else f"{count_text(count, 'element')} over a storage of {total:,}"
    )
    twice = " Some elements share memory." if layout.overlaps_itself(at.shape, at.strides) else ""
    return f"{name} has shape {shape_text(at.shape)}: {part}, {lies}, from element {at.offset}.{twice}"


# ------------------------------------------------------------------------------------------------------------ answers


def picked(x: Any, index: Sequence[int], title: str, namespace: Mapping[str, Any]) -> Picked:
    """Where one element of a tensor lies. Raises ``IndexError`` for an index outside of it."""
    at = layout_of(x)
    if len(index) != len(at.shape) or any(not 0 <= i < n for i, n in zip(index, at.shape, strict=False)):
        raise IndexError(f"there is no element {list(index)} in a tensor of shape {shape_text(at.shape)}")
    element = at.offset + sum(i * s for i, s in zip(index, at.strides, strict=True))
    terms = " + ".join([str(at.offset), *(f"{i}·{s}" for i, s in zip(index, at.strides, strict=True))])
    value = np.asarray(backend.to_host(x._a[tuple(index)].reshape(1) if index else x._a.reshape(1)))
    itemsize = x._a.dtype.itemsize
    also: list[str] = []
    for name, other in named_tensors(namespace):
        if other is x or x._st is None or other._st is not x._st or len(also) == MOST_ALIASES:
            continue
        place = element * itemsize // other._a.dtype.itemsize
        found = _index_of(place, layout_of(other))
        if found is not None:
            also.append(f"{name}[{', '.join(map(str, found))}]" if found else name)
    root, byte = _root(x), element * itemsize
    start = backend.of(root).address(root)
    parts, meaning = explained(x.dtype.name, value.tobytes())
    return Picked(
        index=tuple(index),
        element=element,
        byte=byte,
        address=f"0x{start + byte:x}",
        line=(start % LINE + byte) // LINE,
        text=value_text(value.tolist()[0]),
        sum=f"{terms} = {element}",
        also=tuple(also),
        parts=parts,
        value=meaning,
    )


def _index_of(element: int, at: Layout) -> tuple[int, ...] | None:
    """An index at which a layout reaches an element, or ``None``; by the largest strides first."""
    left, found = element - at.offset, [0] * len(at.shape)
    for d in sorted(range(len(at.shape)), key=lambda d: -abs(at.strides[d])):
        stride = at.strides[d]
        if stride > 0 and left > 0:
            found[d] = min(left // stride, at.shape[d] - 1)
            left -= found[d] * stride
    return tuple(found) if left == 0 and 0 not in at.shape else None


def scratch(x: Any, shape: Sequence[int], stride: Sequence[int], offset: int) -> Scratch:
    """A view over the storage of ``x`` that a person tries out. It never touches the tensor."""
    call = f"as_strided({tuple(shape)}, {tuple(stride)}, {offset})"
    if len(shape) != len(stride):
        return _no_scratch(call, f"a shape of {len(shape)} dimensions needs as many strides, not {len(stride)}")
    if any(n < 0 for n in shape) or any(s < 0 for s in stride) or offset < 0:
        return _no_scratch(call, "sizes, strides and the offset are 0 or more")
    root, dtype = _root(x), x._a.dtype
    total = root.nbytes // dtype.itemsize
    last = offset + sum((n - 1) * s for n, s in zip(shape, stride, strict=True)) if 0 not in shape else offset - 1
    if last >= total:
        return _no_scratch(call, f"it would reach element {last}; the storage ends at {total - 1}")
    at = Layout(tuple(shape), tuple(stride), offset)
    a = backend.of(root).strided(
        root, at.shape, [s * dtype.itemsize for s in at.strides], offset * dtype.itemsize, dtype
    )
    note = "contiguous" if layout.is_contiguous(at.shape, at.strides) else "not contiguous"
    if layout.overlaps_itself(at.shape, at.strides):
        note = "some elements share memory: such a view cannot be written to"
    found = spans(at)
    first, ends = tuple(a for a, _ in found), tuple(b for _, b in found)
    return Scratch(grid(a, at), note == "contiguous", first, ends, call, note)


def _no_scratch(call: str, why: str) -> Scratch:
    return Scratch(None, False, (), (), call, why)
