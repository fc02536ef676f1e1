"""Changing a gradient that waits: one element of it, or all of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tensorlab import backend
from tensorlab.backend import namespace
from tensorlab.dispatch import wrap

#: A gradient with more elements is not copied for the sake of one of them.
MOST_ELEMENTS = 1 << 24
_SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def edited_gradient(waiting: Sequence[Any], output: int, index: Any, value: Any) -> Any:
    """A new gradient for ``output``, equal to the one in ``waiting`` except for the element at ``index``.

    Raises ``ValueError`` with a sentence when there is no such output, gradient or element, or ``value`` is no number.
    """
    array = _array(waiting, output)
    place = _place(index, tuple(array.shape))
    number = _number(value)
    if math.prod(array.shape) > MOST_ELEMENTS:
        raise ValueError(
            f"this gradient has {math.prod(array.shape):,} elements; past {MOST_ELEMENTS:,} one is not edited"
        )
    changed = backend.copied_like(array, array)
    with backend.of(array).on(array):
        changed[place] = number
    return wrap(changed)


def replaced_gradient(waiting: Sequence[Any], output: int, gradient: Any) -> Any:
    """A new gradient for ``output`` with the values of ``gradient``: a tensor, nested lists, or one number for all elements.

    Raises ``ValueError`` with a sentence when there is no such output, or the values do not suit it.
    """
    array = _array(waiting, output)
    values = gradient._a if hasattr(gradient, "_a") else gradient
    if values is None:
        raise ValueError(
            "a gradient is a tensor, nested lists of numbers, or a number, not None; for none at all write 0"
        )
    try:
        values = namespace(array).asarray(values, dtype=None if hasattr(values, "dtype") else array.dtype)
    except (TypeError, ValueError) as error:
        raise ValueError(f"a gradient is a tensor, nested lists of numbers, or a number: {error}") from None
    if values.dtype != array.dtype or tuple(values.shape) not in ((), tuple(array.shape)):
        raise ValueError(
            f"the waiting gradient has shape {list(array.shape)} and type {array.dtype.name}; "
            f"this has {list(values.shape)} and {values.dtype.name}"
        )
    changed = backend.copied_like(array, array)
    with backend.of(array).on(array):
        changed[...] = values
    return wrap(changed)


def _array(waiting: Sequence[Any], output: int) -> Any:
    if not 0 <= output < len(waiting):
        raise ValueError(f"this node has outputs 0 to {len(waiting) - 1}, not {output}")
    if waiting[output] is None:
        raise ValueError(f"no gradient came to output {output} of this node")
    return waiting[output]._a


def _place(index: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    if not isinstance(index, list | tuple) or not all(type(part) is int for part in index):
        raise ValueError(f"'index' must be a list of whole numbers, not {index!r}")
    if len(index) != len(shape):
        raise ValueError(
            f"'index' has {len(index)} numbers, but the gradient has {len(shape)} dimensions: {list(shape)}"
        )
    for dim, (part, size) in enumerate(zip(index, shape, strict=True)):
        if not -size <= part < size:
            raise ValueError(f"index {part} is out of range for dimension {dim} with size {size}")
    return tuple(index)


def _number(value: Any) -> float:
    if isinstance(value, str) and value in _SPECIAL:
        return _SPECIAL[value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"the new value must be a number, or one of nan, inf, -inf; not {value!r}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError("the new value is too large for a floating point number") from None
