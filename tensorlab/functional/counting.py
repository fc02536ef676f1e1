"""How often values are there: histograms, and runs of equal elements. Nothing here has a gradient."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorlab import backend, dispatch, dtypes
from tensorlab.creation import linspace, number
from tensorlab.functional.arguments import a_number, an_int, need_tensor, one_dim
from tensorlab.return_types import named

Tensor = Any

#: Functions that are methods under the same name, with the tensor as their first argument.
METHODS = """
    histc histogram unique_consecutive argwhere
"""


def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """How many elements fall into each of ``bins`` equal parts of ``[min, max]``, as numbers of the input's type.

    With ``min == max == 0`` the range is that of the elements. The last part includes its end; elements outside are left out.

    >>> import tensorlab as tl
    >>> tl.histc(tl.tensor([1., 2., 1.]), bins=4, min=0, max=3)
    tensor([0., 2., 1., 0.])
    """
    if input._a.dtype.kind not in "fV":
        raise NotImplementedError(f'"histogram_cpu" not implemented for {input.dtype.name}; convert it with .float()')
    _positive("histc", an_int("histc", "bins", bins), 0)
    min, max = (
        float(number(a_number("histc", name, value), dtypes.float64)) for name, value in (("min", min), ("max", max))
    )
    low, high = _span("histc", input._a, (min, max) if (min or max) else None, 1)
    a = input._a.reshape(-1)
    where = backend.of(a)
    with where.on(a):
        inside = a[(a >= low) & (a <= high)]
        kind = a.dtype.type
        at = ((inside - kind(low)) * kind(bins) / kind(high - low)).astype(np.int64)
        counts = where.xp.bincount(where.xp.minimum(at, bins - 1), minlength=bins)
        return dispatch.wrap(counts.astype(a.dtype))


def _needs_floats(op: str, input: Tensor) -> None:
    if input.dtype not in (dtypes.float32, dtypes.float64):
        raise NotImplementedError(f'"{op}" not implemented for {input.dtype.name}; convert it with .float()')


def _positive(op: str, bins: int, dim: int) -> None:
    if bins <= 0:
        raise RuntimeError(f"{op}(): bins must be > 0, but got {bins} for dimension {dim}")


def _span(op: str, a: Any, given: Sequence[float] | None, margin: float) -> tuple[float, float]:
    """The range of a histogram: the given one or that of the elements, widened by ``margin`` where it is a single number."""
    if given is not None:
        low, high = given
        if not (math.isfinite(low) and math.isfinite(high)):
            raise RuntimeError(f"{op}(): range of [{low}, {high}] is not finite")
        if low > high:
            raise RuntimeError(
                f"{op}(): min should not exceed max, max must be larger than min, but got min {low} max {high}"
            )
    elif a.size:
        with backend.of(a).on(a):
            low, high = float(a.min()), float(a.max())
        if not (math.isfinite(low) and math.isfinite(high)):
            raise RuntimeError(f"{op}(): dimension of the input has a range of [{low}, {high}], which is not finite")
    else:
        low, high = 0.0, 2.0 * margin
    return (low, high) if low != high else (low - margin, high + margin)


def histogram(
    input: Tensor,
    bins: Any,
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Any:
    """The pair ``(hist, bin_edges)`` of the elements: ``bins`` equal parts of ``range``, or between the edges that ``bins`` lists.

    ``weight`` says how much each element counts; ``density=True`` divides so that the integral is 1.
    """
    if not isinstance(bins, (int, dispatch.Tensor)):
        raise TypeError(f"histogram(): argument 'bins' (position 2) must be int or Tensor, not {type(bins).__name__}")
    points = input.reshape(-1, 1)
    if weight is not None:
        need_tensor("histogram", "weight", 4, weight)
        if weight._a.shape != input._a.shape:
            raise RuntimeError(
                f"histogram(): if weight tensor is provided it should have the same shape as the input tensor excluding its innermost "
                f"dimension, but got input with shape {list(input._a.shape)} and weight with shape {list(weight._a.shape)}"
            )
        weight = weight.reshape(-1)
    hist, edges = _histogram("histogram", points, [bins], range, weight, density)
    return named("histogram", ("hist", "bin_edges"))(hist, edges[0])


def histogramdd(
    input: Tensor,
    bins: Any,
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Any:
    """The pair ``(hist, bin_edges)`` of points in several dimensions, whose coordinates stand in the last dimension of ``input``.

    ``bins`` is a number, a list of numbers, or a list of tensors of edges; ``range`` lists lower and upper ends in turn.
    """
    if input._a.ndim < 2:
        raise RuntimeError(f"histogramdd(): input tensor should have at least 2 dimensions, but got {input._a.ndim}")
    n = input._a.shape[-1]
    parts = list(bins) if isinstance(bins, (tuple, list)) else [bins] * n
    if len(parts) != n:
        raise RuntimeError(
            f"histogramdd(): The size of bins ({len(parts)}) must be equal to the innermost dimension of the input ({n})"
        )
    if weight is not None:
        need_tensor("histogramdd", "weight", 4, weight)
        if weight._a.shape != input._a.shape[:-1]:
            raise RuntimeError(
                f"histogramdd(): if weight tensor is provided it should have the same shape as the input tensor excluding its innermost "
                f"dimension, but got input with shape {list(input._a.shape)} and weight with shape {list(weight._a.shape)}"
            )
        weight = weight.reshape(-1)
    hist, edges = _histogram("histogramdd", input.reshape(-1, n), parts, range, weight, density)
    return named("histogramdd", ("hist", "bin_edges"))(hist, tuple(edges))


def _histogram(
    op: str, points: Tensor, bins: Sequence[Any], spans: Any, weight: Tensor | None, density: bool
) -> tuple[Tensor, list[Tensor]]:
    """Counts of points in boxes, and the edges of the boxes in each dimension."""
    _needs_floats(f"{op}_cpu", points)
    if spans is not None and len(spans) != 2 * len(bins):
        raise RuntimeError(
            f"{op}(): for a {len(bins)}-dimensional histogram range should have {2 * len(bins)} elements, but got {len(spans)}"
        )
    if weight is not None and weight.dtype != points.dtype:
        raise RuntimeError(
            f"{op}(): if weight tensor is provided, input tensor and weight tensor should have the same dtype, but got input "
            f"{points.dtype.name} and weight {weight.dtype.name}"
        )
    edges = [
        _edges(op, points, d, part, None if spans is None else spans[2 * d : 2 * d + 2]) for d, part in enumerate(bins)
    ]
    a, where = points._a, backend.of(points._a)
    xp = where.xp
    with where.on(a):
        at, inside = xp.zeros(a.shape[0], np.int64), xp.ones(a.shape[0], bool)
        for d, edge in enumerate(edges):
            column, ends, count = a[:, d], edge._a, edge._a.size - 1
            inside &= (column >= ends[0]) & (column <= ends[-1])
            place = xp.searchsorted(ends, xp.ascontiguousarray(column), "right") - 1
            at = at * count + xp.clip(place, 0, count - 1)
        shape = tuple([edge._a.size - 1 for edge in edges])
        weights = None if weight is None else weight._a[inside].astype(np.float64)
        counts = xp.bincount(at[inside], weights=weights, minlength=math.prod(shape))
        hist = counts.astype(a.dtype).reshape(shape)
        if density:
            hist = hist / hist.sum()
            for d, edge in enumerate(edges):
                width = edge._a[1:] - edge._a[:-1]
                hist = hist / width.reshape((1,) * d + (-1,) + (1,) * (len(edges) - d - 1))
        return dispatch.wrap(hist), edges


def _edges(op: str, points: Tensor, d: int, bins: Any, span: Sequence[float] | None) -> Tensor:
    if not isinstance(bins, dispatch.Tensor):
        _positive(op, bins, d)
        low, high = _span(op, points._a[:, d], span, 0.5)
        return linspace(low, high, bins + 1, dtype=points.dtype, device=points.device)
    if span is not None:
        raise TypeError(f"{op}(): range belongs to a number of bins; edges have their own")
    if bins._a.ndim != 1:
        raise RuntimeError(f"{op}(): bins tensor should have one dimension, but got {bins._a.ndim} dimensions")
    if bins.dtype != points.dtype:
        raise RuntimeError(
            f"{op}(): input tensor and bins tensors should have the same dtype, but got input with dtype "
            f"{points.dtype.name} and bins with dtype {bins.dtype.name}"
        )
    if bins._a.size < 1:
        raise RuntimeError(f"{op}(): bins tensor should have at least 1 element, but got none for dimension {d}")
    return bins.detach().clone()


def argwhere(input: Tensor) -> Tensor:
    """The positions of elements that are not 0, one row each."""
    return input.nonzero()


# --------------------------------------------------------------------------------------------------- runs of equals


def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The elements (with ``dim``, the slices) without those that equal the one before.

    ``return_inverse`` adds where each element of ``input`` went, ``return_counts`` how long each run is.

    >>> import tensorlab as tl
    >>> tl.unique_consecutive(tl.tensor([1, 1, 2, 1]))
    tensor([1, 2, 1])
    """
    a, where = input._a, backend.of(input._a)
    with where.on(a):
        if dim is None:
            values, inverse, counts = _runs(where.xp, a.reshape(-1), return_inverse)
            inverse = inverse.reshape(a.shape) if return_inverse else None
        else:
            d = one_dim("unique_consecutive", input, dim)
            values, inverse, counts = _runs(
                where.xp, where.xp.moveaxis(a, d, 0) if a.ndim else a.reshape(1), return_inverse
            )
            values = where.xp.moveaxis(values, 0, d) if a.ndim else values
    found = [values, *([inverse] if return_inverse else []), *([counts] if return_counts else [])]
    outs = [dispatch.wrap(f) for f in found]
    return tuple(outs) if len(outs) > 1 else outs[0]


def _runs(xp: Any, first: Any, number: bool) -> tuple[Any, Any, Any]:
    """The first of each run of equal slices, the run of each slice (if they are to be numbered), and the length of each run."""
    n = first.shape[0]
    differs = first[1:] != first[:-1]
    if first.ndim > 1:
        differs = differs.any(axis=tuple(range(1, first.ndim)))
    starts = xp.concatenate([xp.ones(min(n, 1), bool), differs])
    (places,) = xp.nonzero(starts)
    counts = xp.concatenate([places[1:], xp.zeros(min(n, 1), np.int64) + n]) - places
    return first[places], xp.cumsum(starts).astype(np.int64) - 1 if number else None, counts
