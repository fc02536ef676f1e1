"""A bounded look at an array: cut or sample first, then touch the data.

Whatever the size of the array, at most ``EXACT`` elements are read and copied. Dimensions of stride zero (``expand``)
repeat the same memory and are read once; a larger array is sampled evenly over its flat positions, with a step that
shares no factor with any dimension, so that no row or column is favoured.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorlab.backend import namespace, to_host
from tensorlab.observe.schema import ArrayPreview
from tensorlab.printing import PrintOptions, format_values

ROWS, COLUMNS, BINS = 8, 16, 64
#: Arrays of more distinct elements than this are sampled.
EXACT = 1 << 17
SAMPLE = 1 << 14
TEXT = PrintOptions(threshold=64, edgeitems=2, linewidth=72)
TEXT_LIMIT = 1000


def preview(array: Any, *, dtype: str | None = None, device: str = "cpu") -> ArrayPreview:
    """What an inspector shows of ``array`` (NumPy's, or a device array that indexes like one).

    Statistics are over the finite values; ``nan`` and ``inf`` count the others (estimated when ``sampled``). Complex
    arrays are shown by magnitude. ``std`` divides by ``n - 1``, as a tensor's ``std()`` does.
    """
    shape = tuple(int(size) for size in array.shape)
    elements = math.prod(shape)
    name = dtype or str(array.dtype)
    grid, marks, caption = _grid(array)
    facts = _statistics(array, elements)
    text = format_values(array, options=TEXT)
    return ArrayPreview(
        shape=shape,
        dtype=name,
        stride=_element_strides(array),
        device=device,
        elements=elements,
        bytes=elements * int(array.dtype.itemsize),
        grid=grid,
        marks=marks,
        grid_caption=caption,
        text=text if len(text) <= TEXT_LIMIT else text[:TEXT_LIMIT] + " ...",
        **facts,
    )


def norm(array: Any) -> float:
    """The 2-norm of an array as a float: ``nan`` or ``inf`` when such a value is in it; sampled past ``EXACT``
    elements."""
    values, weight, _ = _sampled(array, math.prod(array.shape))
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
    values, weight, _ = _sampled(array, math.prod(array.shape))
    return _histogram(values[np.isfinite(values)], weight)


def _statistics(array: Any, elements: int) -> dict[str, Any]:
    values, weight, sampled = _sampled(array, elements)
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


def _sampled(array: Any, elements: int) -> tuple[np.ndarray, float, bool]:
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


def _grid(array: Any) -> tuple[tuple[tuple[float | None, ...], ...], tuple[tuple[str, ...], ...], str]:
    """The first 8 x 16 values, the marks of those that are not finite, and a caption that says which part they are."""
    dims = len(array.shape)
    if math.prod(array.shape) == 0:
        return (), (), "no elements"
    part = array[(0,) * (dims - 2)] if dims > 2 else array
    rows, columns = (1, 1, *part.shape)[-2:]
    part = part[..., :ROWS, :COLUMNS] if dims > 1 else part[..., :COLUMNS] if dims else part[...]
    values = _real(to_host(part)).reshape(min(rows, ROWS), min(columns, COLUMNS))
    grid, marks = [], []
    for line in values.tolist():
        grid.append(tuple(float(f"{value:.7g}") if math.isfinite(value) else None for value in line))
        marks.append(tuple("" if math.isfinite(value) else _mark(value) for value in line))
    return tuple(grid), tuple(marks), _caption(array.shape, rows, columns, array.dtype.kind == "c")


def _caption(shape: tuple[int, ...], rows: int, columns: int, magnitudes: bool) -> str:
    kept = []
    if rows > ROWS:
        kept.append(f"first {ROWS} of {rows} rows")
    if columns > COLUMNS:
        kept.append(f"first {COLUMNS} of {columns} {'columns' if len(shape) > 1 else 'values'}")
    text = " and ".join(kept) or ("all values" if len(shape) <= 2 or math.prod(shape[:-2]) == 1 else "all of")
    if len(shape) > 2 and math.prod(shape[:-2]) > 1:
        index = ", ".join(["0"] * (len(shape) - 2))
        text = f"{text} [{index}]" if text == "all of" else f"{text} of [{index}]"
    return f"magnitudes, {text}" if magnitudes else text


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
