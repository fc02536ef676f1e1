"""A bounded look at an array: cut or sample first, then touch the data.

Whatever the size of the array, at most ``EXACT`` elements are read and copied. Dimensions of stride zero (``expand``)
repeat the same memory and are read once; a larger array is sampled evenly over its flat positions, with a step that
shares no factor with any dimension, so that no row or column is favoured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorlab.backend import namespace, to_host
from tensorlab.observe.schema import ArrayPreview, ArrayWindow
from tensorlab.printing import PrintOptions, format_values

ROWS, COLUMNS, BINS = 8, 16, 64
#: Arrays of more distinct elements than this are sampled.
EXACT = 1 << 17
SAMPLE = 1 << 14
TEXT = PrintOptions(threshold=64, edgeitems=2, linewidth=72)
TEXT_LIMIT = 1000


def preview(array: Any, *, dtype: str | None = None, device: str = "cpu", start: Sequence[int] = ()) -> ArrayPreview:
    """What an inspector shows of ``array`` (NumPy's, or a device array that indexes like one).

    Statistics are over the finite values; ``nan`` and ``inf`` count the others (estimated when ``sampled``). Complex
    arrays are shown by magnitude. ``std`` divides by ``n - 1``, as a tensor's ``std()`` does. ``start`` is where the
    grid begins, as in :func:`window`.
    """
    shape = tuple(int(size) for size in array.shape)
    elements = math.prod(shape)
    name = dtype or str(array.dtype)
    part = window(array, start)
    facts = _statistics(array, elements)
    text = format_values(array, options=TEXT)
    return ArrayPreview(
        shape=shape,
        dtype=name,
        stride=_element_strides(array),
        device=device,
        elements=elements,
        bytes=elements * int(array.dtype.itemsize),
        start=part.start,
        grid=part.grid,
        marks=part.marks,
        grid_caption=part.grid_caption,
        text=text if len(text) <= TEXT_LIMIT else text[:TEXT_LIMIT] + " ...",
        **facts,
    )


def norm(array: Any) -> float:
    """The 2-norm of an array as a float: ``nan`` or ``inf`` when such a value is in it; sampled past ``EXACT``
    elements."""
    values, weight, _ = sample_of(array, math.prod(array.shape))
    return _norm(values, weight)


def _norm(values: np.ndarray, weight: float) -> float:
    if not values.size:
        return 0.0
    largest = float(np.max(np.abs(values)))
    if largest == 0.0 or not math.isfinite(largest):
        return largest
    # Scaled by the largest value, so that squares neither overflow nor vanish.
    return largest * math.sqrt(weight * float(np.sum(np.square(values / largest))))


def bins(array: Any) -> tuple[int, ...]:
    """The 64-bin histogram of an array between its lowest and highest finite value; empty when it has no finite
    value."""
    values, weight, _ = sample_of(array, math.prod(array.shape))
    return _histogram(values[np.isfinite(values)], weight)


def _statistics(array: Any, elements: int) -> dict[str, Any]:
    values, weight, sampled = sample_of(array, elements)
    finite = values[np.isfinite(values)]
    count = finite.size
    infinite = int(np.isinf(values).sum())
    mean = float(finite.mean()) if count else None
    total = count * weight
    std = None
    if mean is not None and total > 1:
        std = math.sqrt(float(np.square(finite - mean).sum()) * weight / (total - 1))
    return {
        "sampled": sampled,
        "histogram": _histogram(finite, weight),
        "low": float(finite.min()) if count else None,
        "high": float(finite.max()) if count else None,
        "mean": mean,
        "std": std,
        "norm": _norm(finite, weight) if count else None,
        "nan": round((values.size - count - infinite) * weight),
        "inf": round(infinite * weight),
    }


def _histogram(finite: np.ndarray, weight: float) -> tuple[int, ...]:
    if not finite.size:
        return ()
    low, high = float(finite.min()), float(finite.max())
    width = high - low
    if not width or not math.isfinite(BINS / width) or not math.isfinite(width):
        return (0,) * (BINS // 2) + (round(finite.size * weight),) + (0,) * (BINS // 2 - 1)
    places = np.minimum(((finite - low) * (BINS / width)).astype(np.int64), BINS - 1)
    counts = np.bincount(places, minlength=BINS).tolist()
    return tuple(counts if weight == 1 else (round(count * weight) for count in counts))


def sample_of(array: Any, elements: int) -> tuple[np.ndarray, float, bool]:
    """Real float64 values on the host, how many elements each stands for, and whether some were left out."""
    once = distinct(array)
    count = math.prod(once.shape)
    sampled = count > EXACT
    if sampled:
        step = count // SAMPLE
        while math.gcd(step, count) != 1:
            step += 1
        flat = np.arange(SAMPLE, dtype=np.int64) * step % count
        once = once[tuple(_like(array, index) for index in np.unravel_index(flat, once.shape))]
        count = SAMPLE
    values = _real(to_host(once)).reshape(-1)
    return values, elements / count if count else 1.0, sampled


def window(array: Any, start: Sequence[int] = ()) -> ArrayWindow:
    """At most 8 x 16 values of the last two dimensions, beginning at the element ``start`` (one number a dimension; the
    first element if left out), or as near to it as leaves no row and no column empty.

    Raises ``ValueError`` when ``start`` is no index of such an array.
    """
    shape = tuple(int(size) for size in array.shape)
    if math.prod(shape) == 0:
        return ArrayWindow((0,) * len(shape), (), (), "no elements")
    at = _start(shape, start)
    part = array[at[:-2]] if len(shape) > 2 else array
    top, left = (0, 0, *at)[-2:]
    if len(shape) > 1:
        part = part[top : top + ROWS, left : left + COLUMNS]
    elif shape:
        part = part[left : left + COLUMNS]
    values = _real(to_host(part))
    values = values.reshape((1, 1, *values.shape)[-2:] if values.ndim < 2 else values.shape)
    grid, marks = [], []
    for line in values.tolist():
        grid.append(tuple(float(f"{value:.7g}") if math.isfinite(value) else None for value in line))
        marks.append(tuple("" if math.isfinite(value) else _mark(value) for value in line))
    return ArrayWindow(at, tuple(grid), tuple(marks), _caption(shape, at, array.dtype.kind == "c"))


def _start(shape: tuple[int, ...], start: Sequence[int]) -> tuple[int, ...]:
    wanted = tuple(start) or (0,) * len(shape)
    if len(wanted) != len(shape) or not all(type(part) is int for part in wanted):
        raise ValueError(f"an element of {list(shape)} is named by {len(shape)} whole numbers, not {list(start)}")
    room = ((1,) * len(shape) + (ROWS, COLUMNS))[-len(shape) :] if shape else ()
    return tuple(max(0, min(part, size - most)) for part, size, most in zip(wanted, shape, room, strict=True))


def _caption(shape: tuple[int, ...], start: tuple[int, ...], magnitudes: bool) -> str:
    """Which part of an array a window shows: ``first 8 of 64 rows``, ``columns 16 to 31 of 100``."""
    rows, columns = (1, 1, *shape)[-2:]
    top, left = (0, 0, *start)[-2:]
    kept = []
    if rows > ROWS:
        kept.append(_stretch(top, ROWS, rows, "rows"))
    if columns > COLUMNS:
        kept.append(_stretch(left, COLUMNS, columns, "columns" if len(shape) > 1 else "values"))
    outer = math.prod(shape[:-2]) > 1
    text = " and ".join(kept) or ("all of" if outer else "all values")
    if outer:
        text += f"{' of' if kept else ''} [{', '.join(map(str, start[:-2]))}]"
    return f"magnitudes, {text}" if magnitudes else text


def _stretch(begin: int, many: int, size: int, noun: str) -> str:
    return f"first {many} of {size:,} {noun}" if not begin else f"{noun} {begin:,} to {begin + many - 1:,} of {size:,}"


def _mark(value: float) -> str:
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"


def _real(values: np.ndarray) -> np.ndarray:
    return np.abs(values).astype(np.float64) if values.dtype.kind == "c" else values.astype(np.float64)


def distinct(array: Any) -> Any:
    """The array without repeated (expanded) elements."""
    return array[(..., *(slice(0, 1) if step == 0 else slice(None) for step in array.strides))]


def _element_strides(array: Any) -> tuple[int, ...]:
    return tuple(int(step) // int(array.dtype.itemsize) for step in array.strides)


def _like(array: Any, index: np.ndarray) -> Any:
    """``index`` in the form in which ``array`` takes it: an array on the same device."""
    return index if isinstance(array, np.ndarray) else namespace(array).asarray(index)
