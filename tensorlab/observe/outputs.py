"""What a module gave, as a person would look at it: channels as small pictures, a sequence as rows, anything else as numbers.

Only what is drawn is read, and at most ``EXACT`` elements for the statistics.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from tensorlab.backend import to_host
from tensorlab.observe.preview import sample_of
from tensorlab.observe.schema_watching import ModuleOutput, OutputForm, Tile
from tensorlab.observe.words import count_text, shape_text
from tensorlab.tensor import Tensor

#: Pictures of one output, cells along the side of one, places and features of a sequence, bars of a histogram.
MOST_TILES, SIDE, PLACES, FEATURES, BARS = 12, 14, 48, 24, 16


def tensors_in(value: Any, most: int = 8) -> list[Any]:
    """The tensors in what a function was given or gave, two levels down."""
    found: list[Any] = []
    for one in _leaves(value, 3):
        found.append(one)
        if len(found) == most:
            break
    return found


def _leaves(value: Any, depth: int) -> Iterator[Any]:
    if isinstance(value, Tensor):
        yield value
    elif depth and type(value) in (tuple, list):
        for part in value:
            yield from _leaves(part, depth - 1)
    elif depth and type(value) is dict:
        for part in value.values():
            yield from _leaves(part, depth - 1)
    elif depth and isinstance(value, tuple):
        for part in tuple(value):
            yield from _leaves(part, depth - 1)


def form_of(shape: tuple[int, ...]) -> OutputForm:
    """How a tensor of such a shape is shown."""
    if len(shape) == 4 and shape[2] > 1 and shape[3] > 1 and 0 not in shape:
        return "images"
    return "sequence" if len(shape) == 3 and shape[1] > 1 and 0 not in shape else "statistics"


def module_output(name: str, kind: str, calls: int, x: Any) -> ModuleOutput:
    """What a view shows of the output of a module."""
    a = x._a
    shape = tuple(int(n) for n in a.shape)
    values, weight, _ = sample_of(a, math.prod(shape))
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (None, None)
    form = form_of(shape)
    tiles, caption = _tiles(a, form, low, high)
    return ModuleOutput(
        name=name,
        type=kind,
        calls=calls,
        shape=shape,
        dtype=x.dtype.name,
        form=form,
        mean=float(finite.mean()) if finite.size else None,
        std=float(finite.std()) if finite.size else None,
        low=low,
        high=high,
        zeros=float(np.mean(values == 0)) if values.size else None,
        bad=round((values.size - finite.size) * weight),
        bars=_bars(finite, low, high),
        caption=caption,
        tiles=tiles,
    )


def _bars(finite: np.ndarray, low: float | None, high: float | None) -> tuple[int, ...]:
    if low is None or high is None or not math.isfinite(high - low) or high == low:
        return ()
    at = np.minimum(((finite - low) * (BARS / (high - low))).astype(np.int64), BARS - 1)
    return tuple(np.bincount(at, minlength=BARS).tolist())


def _tiles(a: Any, form: OutputForm, low: float | None, high: float | None) -> tuple[tuple[Tile, ...], str]:
    """The pictures, and which part of the output they are."""
    if form == "statistics":
        return (), "all " + count_text(math.prod(a.shape), "element")
    first = a[0]
    of = f"example 0 of {a.shape[0]:,}" if a.shape[0] > 1 else "the only example"
    if form == "sequence":
        part = first[:PLACES, :: max(1, math.ceil(a.shape[2] / FEATURES))]
        rows = f"places 0 to {part.shape[0] - 1} of {a.shape[1]:,}" if part.shape[0] < a.shape[1] else "all places"
        caption = f"{of}, {rows} downwards, {part.shape[1]} of {count_text(a.shape[2], 'feature')} across"
        return (Tile("", _cells(part, low, high)),), caption
    channels = min(MOST_TILES, a.shape[1])
    down, across = (max(1, math.ceil(n / SIDE)) for n in a.shape[2:])
    tiles = tuple(Tile(str(c), _cells(first[c, ::down, ::across], low, high)) for c in range(channels))
    every = f"one row in {down} and one column in {across} of " if max(down, across) > 1 else ""
    shown = f"channels 0 to {channels - 1} of {a.shape[1]:,}" if channels < a.shape[1] else "all channels"
    return tiles, f"{of}, {shown}, {every}{shape_text(a.shape[2:])}"


def _cells(part: Any, low: float | None, high: float | None) -> tuple[tuple[int, ...], ...]:
    values = to_host(part)
    values = np.abs(values).astype(np.float64) if values.dtype.kind == "c" else values.astype(np.float64)
    width = (high - low) if low is not None and high is not None else 0.0
    with np.errstate(all="ignore"):
        scaled = np.clip((values - (low or 0.0)) * (99 / width), 0, 99) if width else np.full(values.shape, 50.0)
    scaled = np.where(np.isfinite(values), np.nan_to_num(scaled), -1.0)
    return tuple(tuple(int(round(v)) for v in row) for row in scaled.tolist())
