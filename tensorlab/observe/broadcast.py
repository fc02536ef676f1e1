"""How shapes meet in one operation: what is stretched in forward, and what is summed in backward."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorlab import backend
from tensorlab.observe.schema import Broadcast, Operand
from tensorlab.observe.words import count_text, shape_text, value_text

ROWS, COLUMNS = 6, 8


def meeting(sides: Sequence[tuple[str, tuple[int, ...], Any]]) -> Broadcast:
    """The picture of sides (name, shape, array or ``None``) that are broadcast together. Of each at most a corner is read."""
    ndim = max(len(shape) for _, shape, _ in sides)
    aligned = [(1,) * (ndim - len(shape)) + tuple(shape) for _, shape, _ in sides]
    sizes = [{shape[d] for shape in aligned} - {1} for d in range(ndim)]
    bad = max((d for d in range(ndim) if len(sizes[d]) > 1), default=-1)
    whole = tuple(max(sizes[d], default=1) if len(sizes[d]) < 2 else max(sizes[d]) for d in range(ndim))
    if bad < 0:
        operands = tuple(_operand(name, shape, array, whole) for name, shape, array in sides)
    else:
        operands = tuple(Operand(name, tuple(shape), (), ndim - len(shape), 1, (), ()) for name, shape, _ in sides)
    outer = bad < 0 and len(operands) > 1 and all(operand.stretched for operand in operands)
    return Broadcast(operands, whole if bad < 0 else (), outer, bad, _sentence(operands, aligned, whole, outer, bad))


def _operand(name: str, shape: tuple[int, ...], array: Any, whole: tuple[int, ...]) -> Operand:
    missing = len(whole) - len(shape)
    aligned = (1,) * missing + tuple(shape)
    stretched = tuple(d for d, size in enumerate(whole) if aligned[d] != size)
    each = math.prod(whole[d] for d in stretched)
    rows = min(whole[-2], ROWS) if len(whole) > 1 else 1
    columns = min(whole[-1], COLUMNS) if whole else 1
    if 0 in whole:
        return Operand(name, tuple(shape), stretched, missing, each, (), ())
    down, across = len(whole) - 2 in stretched, len(whole) - 1 in stretched
    ghost = tuple(tuple((down and r > 0) or (across and c > 0) for c in range(columns)) for r in range(rows))
    return Operand(name, tuple(shape), stretched, missing, each, _corner(array, aligned, rows, columns), ghost)


def _corner(array: Any, aligned: tuple[int, ...], rows: int, columns: int) -> tuple[tuple[str, ...], ...]:
    """The first values of the last two dimensions, repeated where the side is stretched; empty words where there is no array."""
    if array is None:
        return tuple(("",) * columns for _ in range(rows))
    part = array[(0,) * (array.ndim - 2)] if array.ndim > 2 else array
    part = part[tuple(slice(0, most) for most in (rows, columns)[2 - part.ndim :])] if part.ndim else part
    values = np.asarray(backend.to_host(part)).reshape((1, 1, *part.shape)[-2:])
    values = np.broadcast_to(values, (rows, columns))
    return tuple(tuple(value_text(v) for v in line) for line in values.tolist())


def _sentence(
    operands: Sequence[Operand], aligned: Sequence[tuple[int, ...]], whole: tuple[int, ...], outer: bool, bad: int
) -> str:
    if bad >= 0:
        met = " and ".join(str(shape[bad]) for shape in aligned)
        side = len(whole) - bad
        return (
            f"{' and '.join(shape_text(o.shape) for o in operands)} do not meet: sizes {met} in dimension {bad} of the result "
            f"(number {side} from the right) must be equal, or one of them 1."
        )
    parts = [_said(operand, whole) for operand in operands if operand.stretched]
    if not parts:
        return f"All have the shape {shape_text(whole)}: nothing is stretched, and no gradient is summed."
    warning = (
        f" Each is stretched where the other is not: {count_text(math.prod(whole), 'element')} out of "
        f"{' and '.join(str(math.prod(o.shape)) for o in operands)}. If pairs were meant, give both the same shape."
        if outer
        else ""
    )
    return f"The result has shape {shape_text(whole)}. {' '.join(parts)}{warning}"


def _said(operand: Operand, whole: tuple[int, ...]) -> str:
    dims = "dimension" if len(operand.stretched) == 1 else "dimensions"
    where = ", ".join(map(str, operand.stretched))
    return (
        f"{operand.name} {shape_text(operand.shape)} is repeated along {dims} {where}; in backward its gradient is the sum over "
        f"{'it' if dims == 'dimension' else 'them'}, {operand.each:,} for each element."
    )
