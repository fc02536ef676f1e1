"""Strided layouts: pure functions from (shape, strides, offset) to (shape, strides, offset).

Strides and offsets count elements. The engine builds every view with these functions, and the layout instrument explains with
the same ones, so what a person is shown is what ran. Nothing here touches data.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple


class Layout(NamedTuple):
    """Where the element with index ``i`` lives: ``offset + sum(i[d] * strides[d])``."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides. A dimension of size 0 counts as 1, as PyTorch does.

    >>> contiguous_strides((2, 0, 3))
    (3, 3, 1)
    """
    strides = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= size if size > 1 else 1
    return tuple(reversed(strides))


def is_contiguous(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether elements lie in row-major order without gaps; sizes 0 and 1 never stand in the way."""
    if 0 in shape:
        return True
    step = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size != 1:
            if stride != step:
                return False
            step *= size
    return True


class memory_format:
    """An order of dimensions in memory, such as ``tensorlab.channels_last``."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"tensorlab.{self.name}"

    def __reduce__(self) -> str:
        return self.name


contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")


def format_order(ndim: int, wanted: memory_format) -> tuple[int, ...]:
    """Dimensions from the outermost to the innermost in memory. Raises ``RuntimeError`` where a format does not fit."""
    if wanted in (channels_last, channels_last_3d):
        needed = 4 if wanted is channels_last else 5
        if ndim != needed:
            raise RuntimeError(
                f"required rank {needed} tensor to use {wanted.name} format, but the tensor has {ndim} dimensions"
            )
        return (0, *range(2, ndim), 1)
    if wanted is not contiguous_format:
        raise RuntimeError(f"unsupported memory format option {wanted!r}")
    return tuple(range(ndim))


def where_argument(op: str, name: str) -> str:
    """Where an argument stands in the call of an operation, as " (position n)"; told by the floor that has the functions."""
    return ""


def whole(value: Any, op: str = "", name: str = "dim") -> int:
    """A Python int from what may stand for one. Raises ``TypeError`` naming operation, argument and position for anything else."""
    if not isinstance(value, bool):
        try:
            return operator.index(value)
        except TypeError:
            pass
    raise TypeError(
        f"{op or 'this operation'}(): argument '{name}'{where_argument(op, name)} must be int, not {type(value).__name__}"
    )


def wrap_dim(dim: Any, ndim: int, op: str = "", name: str = "dim") -> int:
    """A dimension as a number from 0, negative ones counted from the end. Raises ``IndexError`` naming the range."""
    index = dim if type(dim) is int else whole(dim, op, name)
    low, high = (-ndim, ndim - 1) if ndim else (-1, 0)
    if not low <= index <= high:
        said = f"{op}(): " if op else ""
        raise IndexError(f"{said}Dimension out of range (expected to be in range of [{low}, {high}], but got {index})")
    return index + max(ndim, 1) if index < 0 else index


def wrap_dims(dims: Any, ndim: int, op: str = "") -> tuple[int, ...]:
    """Several dimensions as numbers from 0. Raises ``RuntimeError`` where one appears twice."""
    if not isinstance(dims, (tuple, list)):
        dims = (dims,)
    out: list[int] = []
    for dim in dims:
        index = wrap_dim(dim, ndim, op)
        if index in out:
            raise RuntimeError(
                f"{op or 'operation'}(): dim {index} appears multiple times in the list of dims {tuple(dims)}"
            )
        out.append(index)
    return tuple(out)


def infer_size(wanted: Sequence[int], elements: int) -> tuple[int, ...]:
    """Fill in the ``-1`` of a wanted shape. Raises ``RuntimeError`` where the shape cannot hold ``elements``."""
    known = 1
    for size in wanted:
        if type(size) is not int or size < 0:
            break
        known *= size
    else:
        if known == elements:
            return tuple(wanted)
    shape = [size if type(size) is int else whole(size, "", "shape") for size in wanted]
    unknown = [i for i, size in enumerate(shape) if size == -1]
    if any(size < -1 for size in shape):
        raise RuntimeError(f"invalid shape dimension {min(shape)} in {shape}: a size must be 0 or more, or -1 once")
    if len(unknown) > 1:
        raise RuntimeError(f"only one dimension can be inferred, but shape {shape} has {len(unknown)} of -1")
    known = prod(size for size in shape if size != -1)
    if unknown:
        if known == 0:
            if elements == 0:
                raise RuntimeError(
                    f"cannot reshape tensor of 0 elements into shape {shape} because the unspecified dimension size -1 can be any "
                    "value and is ambiguous"
                )
        elif elements % known == 0:
            shape[unknown[0]] = elements // known
            return tuple(shape)
    elif known == elements:
        return tuple(shape)
    raise RuntimeError(f"shape '{shape}' is invalid for input of size {elements}")


class Blocked(NamedTuple):
    """Why a view is impossible: dimensions ``dim`` and ``dim + 1`` cannot be read as one."""

    dim: int
    stride: int
    needed: int


def view(layout: Layout, shape: Sequence[int]) -> Layout | Blocked:
    """The same elements, in the same order, under another shape; or the pair of dimensions that forbids it.

    Neighbouring dimensions can be read as one run while ``stride[d] == stride[d + 1] * shape[d + 1]``. The new shape may split a
    run, never cross from one into another. Dimensions of size 1 never block. ``shape`` must hold as many elements.
    """
    return _view(layout, tuple(shape))


@lru_cache(4096)
def _view(layout: Layout, shape: tuple[int, ...]) -> Layout | Blocked:
    if 0 in shape:
        return Layout(shape, layout.strides if shape == layout.shape else contiguous_strides(shape), layout.offset)
    pending = list(shape)
    strides: list[int] = []
    step = 1
    for outer, size, stride in _runs(layout):
        step = stride
        while pending and (size > 1 or pending[-1] == 1):
            if size % pending[-1]:
                return _blocked(layout, outer)
            strides.append(step)
            step *= pending[-1]
            size //= pending.pop()
        if size > 1:
            return _blocked(layout, outer)
    while pending:  # only sizes of 1 are left
        pending.pop()
        strides.append(step)
    return Layout(shape, tuple(reversed(strides)), layout.offset)


def _runs(layout: Layout) -> list[tuple[int, int, int]]:
    """Maximal runs of dimensions that read as one, innermost first: (outermost dimension, elements, stride of the innermost)."""
    runs: list[tuple[int, int, int]] = []
    for d in reversed(range(len(layout.shape))):
        size, stride = layout.shape[d], layout.strides[d]
        if size == 1 and runs:
            continue
        if runs and stride == runs[-1][1] * runs[-1][2]:
            runs[-1] = (d, runs[-1][1] * size, runs[-1][2])
        else:
            runs.append((d, size, stride))
    return runs


def _blocked(layout: Layout, outer: int) -> Blocked:
    """The border at which the run that starts at dimension ``outer`` ends: the nearest larger dimension outside it."""
    runs = _runs(layout)
    at = next(i for i, run in enumerate(runs) if run[0] == outer)
    inner = runs[at] if at + 1 < len(runs) else runs[at - 1]
    beyond = max(d for d in range(inner[0]) if layout.shape[d] != 1)
    return Blocked(beyond, layout.strides[beyond], inner[1] * inner[2])


def transpose(layout: Layout, dim0: int, dim1: int) -> Layout:
    if not layout.shape:
        return layout
    order = list(range(len(layout.shape)))
    order[dim0], order[dim1] = order[dim1], order[dim0]
    return permute(layout, order)


def permute(layout: Layout, order: Sequence[int]) -> Layout:
    shape, strides, offset = layout
    return Layout(tuple([shape[d] for d in order]), tuple([strides[d] for d in order]), offset)


def expand(layout: Layout, sizes: Sequence[int]) -> Layout:
    """Stretch dimensions of size 1, and add new ones in front, with stride 0; ``-1`` keeps a size."""
    shape, strides, offset = layout
    extra = len(sizes) - len(shape)
    if extra < 0:
        raise RuntimeError(
            f"expand(): the number of sizes provided ({len(sizes)}) must be greater or equal to the number of dimensions in the "
            f"tensor ({len(shape)}); tensor shape {list(shape)}, sizes {list(sizes)}"
        )
    new_shape: list[int] = []
    new_strides: list[Any] = []
    for i, size in enumerate(sizes):
        old = shape[i - extra] if i >= extra else None
        if old is None:
            if size < 0:
                raise RuntimeError(
                    f"expand(): the expanded size of the tensor ({size}) isn't allowed in a "
                    f"leading, non-existing dimension {i}"
                )
            new_shape.append(size)
            new_strides.append(None if size == 1 else 0)
        elif size in (-1, old):
            new_shape.append(old)
            new_strides.append(strides[i - extra])
        elif old == 1 and size >= 0:
            new_shape.append(size)
            new_strides.append(0)
        else:
            raise RuntimeError(
                f"expand(): The expanded size of the tensor ({size}) must match the existing size ({old}) at non-singleton dimension "
                f"{i}.  Target sizes: {list(sizes)}.  Tensor sizes: {list(shape)}"
            )
    for i in reversed(range(extra)):  # a new dimension of size 1 lies as if it enclosed the next one
        if new_strides[i] is None:
            new_strides[i] = new_shape[i + 1] * new_strides[i + 1] if shape else 0
    return Layout(tuple(new_shape), tuple(new_strides), offset)


def squeeze(layout: Layout, dims: Sequence[int] | None) -> Layout:
    """Drop dimensions of size 1: all of them, or those in ``dims`` (others of a larger size are left alone)."""
    shape, strides, offset = layout
    keep = [d for d in range(len(shape)) if shape[d] != 1 or (dims is not None and d not in dims)]
    return Layout(tuple([shape[d] for d in keep]), tuple([strides[d] for d in keep]), offset)


def unsqueeze(layout: Layout, dim: int) -> Layout:
    shape, strides, offset = layout
    stride = shape[dim] * strides[dim] if dim < len(shape) else 1
    return Layout(shape[:dim] + (1,) + shape[dim:], strides[:dim] + (stride,) + strides[dim:], offset)


def select(layout: Layout, dim: int, index: int) -> Layout:
    shape, strides, offset = layout
    return Layout(shape[:dim] + shape[dim + 1 :], strides[:dim] + strides[dim + 1 :], offset + index * strides[dim])


def slice_(layout: Layout, dim: int, start: int, stop: int, step: int) -> Layout:
    """Elements ``start, start + step, ...`` before ``stop`` of one dimension, bounds already within the size."""
    shape, strides, offset = layout
    length = max(0, (stop - start + step - 1) // step)
    return Layout(
        shape[:dim] + (length,) + shape[dim + 1 :],
        strides[:dim] + (strides[dim] * step,) + strides[dim + 1 :],
        offset + start * strides[dim],
    )


def diagonal(layout: Layout, offset: int, dim1: int, dim2: int) -> Layout:
    """The diagonal of two dimensions as a new last dimension; ``offset`` > 0 lies above the main one."""
    shape, strides, start = layout
    if offset >= 0:
        length = max(0, min(shape[dim1], shape[dim2] - offset))
        start += offset * strides[dim2] if length else 0
    else:
        length = max(0, min(shape[dim1] + offset, shape[dim2]))
        start -= offset * strides[dim1] if length else 0
    keep = [d for d in range(len(shape)) if d not in (dim1, dim2)]
    return Layout(
        tuple([shape[d] for d in keep]) + (length,),
        tuple([strides[d] for d in keep]) + (strides[dim1] + strides[dim2],),
        start,
    )


def unfold(layout: Layout, dim: int, size: int, step: int) -> Layout:
    """Windows of ``size`` elements, ``step`` apart, along ``dim``; the window is a new last dimension."""
    shape, strides, offset = layout
    count = (shape[dim] - size) // step + 1
    return Layout(
        shape[:dim] + (count,) + shape[dim + 1 :] + (size,),
        strides[:dim] + (strides[dim] * step,) + strides[dim + 1 :] + (strides[dim],),
        offset,
    )


def extent(shape: Sequence[int], strides: Sequence[int]) -> int:
    """How many storage elements lie between the first and the last element, both included; 0 for an empty layout."""
    if 0 in shape:
        return 0
    return 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))


def overlaps_itself(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether two indexes may reach the same element (exact for expanded and for sorted, nested layouts)."""
    if 0 in shape:
        return False
    reach = 0
    for stride, size in sorted((st, sz) for sz, st in zip(shape, strides, strict=True) if sz > 1):
        if stride <= reach:
            return True
        reach += stride * (size - 1)
    return False


def broadcast_shapes(*shapes: Sequence[int], op: str = "") -> tuple[int, ...]:
    """The common shape of several. Raises ``RuntimeError`` naming the dimension where they do not meet.

    >>> broadcast_shapes((3, 1), (4,))
    (3, 4)
    """
    ndim = max(map(len, shapes), default=0)
    out = [1] * ndim
    for shape in shapes:
        for i, size in enumerate(shape, ndim - len(shape)):
            if size != 1 and size != out[i]:
                if out[i] != 1:
                    where = f"{op}(): " if op else ""
                    sides = " and ".join(str(list(s)) for s in shapes)
                    raise RuntimeError(
                        f"{where}The size of tensor a ({out[i]}) must match the size of tensor b ({size}) at non-singleton dimension {i}. "
                        f"Shapes {sides} do not broadcast: aligned at the right, sizes must be equal or one of them 1."
                    )
                out[i] = size
    return tuple(out)
