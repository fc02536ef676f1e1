"""Pooling to a size that is asked for: windows that depend on the size of the input, or that are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from tensorlab.ops.pooling import flat_indices, largest, put
from tensorlab.ops.table import AS_IS, CPU_FLOAT32, NO_ONNX, elements, row
from tensorlab.ops.windows import laid_out, padded, widened

Shape = tuple[int, ...]


def bins(n: int, out: int) -> list[tuple[int, int]]:
    """Where each of ``out`` windows over ``n`` elements starts and stops; neighbours may share an element."""
    return [(i * n // out, -(-(i + 1) * n // out)) for i in range(out)]


def _shape(shapes: Sequence[Any], size: Shape) -> Shape:
    return (*shapes[0][: len(shapes[0]) - len(size)], *size)


def _floats(a: Any) -> None:
    if a.dtype.kind not in "fcV":
        raise RuntimeError(f'"adaptive_avg_pool" not implemented for {a.dtype.name}; convert with .float()')


def _average(xp: Any, a: Any, size: Shape) -> Any:
    _floats(a)
    lead = a.ndim - len(size)
    found = a
    for d, out in enumerate(size, lead):
        n = found.shape[d]
        before, after = found.shape[:d], found.shape[d + 1 :]
        if out and n % out == 0:
            found = found.reshape((*before, out, n // out, *after)).mean(d + 1)
            continue
        each = [found[(slice(None),) * d + (slice(i, j),)].mean(d) for i, j in bins(n, out)]
        found = xp.stack(each, d) if each else xp.zeros((*before, 0, *after), a.dtype)
    return laid_out(xp, found if found is not a else a.copy(), a)


def _average_backward(xp: Any, g: Any, shape: Shape, n: int) -> Any:
    _floats(g)
    lead = len(shape) - n
    for d in range(lead, len(shape)):
        before = (slice(None),) * d
        wide = xp.zeros((*g.shape[:d], shape[d], *g.shape[d + 1 :]), g.dtype)
        for i, (start, stop) in enumerate(bins(shape[d], g.shape[d])):
            target = wide[(*before, slice(start, stop))]
            target += g[(*before, slice(i, i + 1))] / g.dtype.type(stop - start)
        g = wide
    return g


def _average_rows(n: int) -> None:
    """The row of averages over ``n`` dimensions to a size, and the row of its gradient."""
    name, size, wanted = f"adaptive_avg_pool{n}d", (5, 4, 3)[:n], (3, 2, 2)[:n]
    row(
        name,
        "self",
        forward=widened(_average),
        infer=_shape,
        grad={"self": lambda g, self_shape: g._op(f"{name}_backward", shape=tuple(self_shape), n=n)},
        formula="result[i] = the mean of self from ⌊i · n ÷ size⌋ to ⌈(i + 1) · n ÷ size⌉",
        derivatives={"self": "grad ÷ elements, spread over each window"},
        autocast=CPU_FLOAT32 if n == 3 else AS_IS,
        onnx=NO_ONNX("GlobalAveragePool or AveragePool where the sizes divide"),
        cost=lambda shapes, result, **attrs: elements(shapes[0]),
        samples=lambda t: [((t(2, 1, *size), wanted), {}), ((t(2, *size), (1,) * (n - 1) + (4,)), {})],
        node=f"AdaptiveAvgPool{n}DBackward0",
    )
    row(
        f"{name}_backward",
        "grad",
        forward=widened(_average_backward),
        infer=lambda shapes, shape, n: shape,
        grad={"grad": lambda g, grad_shape: g._op(name, size=tuple(grad_shape[len(grad_shape) - n :]))},
        formula="result = grad ÷ elements, spread over each window",
        derivatives={"grad": "the mean of grad over each window"},
        onnx=NO_ONNX("appears in gradients only"),
        cost=lambda shapes, result, **attrs: elements(result),
        samples=lambda t: [((t(2, 1, *wanted),), {"shape": (2, 1, *size), "n": n})],
        node=f"AdaptiveAvgPool{n}DBackwardBackward0",
    )


def _maximum(xp: Any, a: Any, size: Shape) -> tuple[Any, Any]:
    n = len(size)
    lead, whole = a.ndim - n, a.shape[a.ndim - n :]
    if all(out and k % out == 0 for k, out in zip(whole, size, strict=True)):
        kernel = tuple([k // out for k, out in zip(whole, size, strict=True)])
        none, one = (0,) * n, (1,) * n
        best, number = largest(xp, padded(xp, a, none), kernel, kernel, one, size)
        return laid_out(xp, best, a), laid_out(xp, flat_indices(xp, number, whole, kernel, kernel, none, one), a)
    best, where, step = a, xp.zeros(a.shape, np.int64), 1
    for d in reversed(range(n)):  # along one dimension after the other; of equals the first in each is the first of all
        best, inside, gathered = _maximum_along(xp, best, where, lead + d, size[d])
        where = gathered + inside * step
        step *= whole[d]
    return laid_out(xp, best, a), laid_out(xp, where, a)


def _maximum_along(xp: Any, a: Any, carried: Any, axis: int, out: int) -> tuple[Any, Any, Any]:
    """The largest of each of ``out`` windows along one axis, where along it that is, and what is carried there."""
    k, i = a.shape[axis], xp.arange(out)
    first, last = i * k // out, -(-(i + 1) * k // out) - 1
    longest = min(k, -(-k // out) + 1) if out else 1
    at = xp.minimum(first[:, None] + xp.arange(longest), last[:, None])  # a short window repeats its last element
    spread = xp.take(a, at, axis)
    chosen = xp.expand_dims(spread.argmax(axis + 1), axis + 1)
    best, kept = (xp.take_along_axis(each, chosen, axis + 1) for each in (spread, xp.take(carried, at, axis)))
    chosen = chosen + first.reshape((out, *(1,) * (a.ndim - axis)))
    squeezed = (*a.shape[:axis], out, *a.shape[axis + 1 :])
    return best.reshape(squeezed), chosen.reshape(squeezed), kept.reshape(squeezed)


def _maximum_row(n: int) -> None:
    size = (5, 4, 3)[:n]
    row(
        f"adaptive_max_pool{n}d",
        "self",
        forward=_maximum,
        infer=lambda shapes, size: [_shape(shapes, size)] * 2,
        grad={"self": lambda g, indices, self_shape: put(g, indices, tuple(self_shape), n)},
        formula="result[i] = the largest of self from ⌊i · n ÷ size⌋ to ⌈(i + 1) · n ÷ size⌉; indices[i] = where it lies",
        derivatives={"self": "zeros with grad added at the indices"},
        autocast=CPU_FLOAT32 if n == 3 else AS_IS,
        onnx=NO_ONNX("GlobalMaxPool or MaxPool where the sizes divide"),
        cost=lambda shapes, result, **attrs: elements(shapes[0]),
        samples=lambda t: [((t(2, 1, *size), (3, 2, 2)[:n], True), {}), ((t(2, *(4,) * n), (2,) * n, True), {})],
        results="result indices",
        node=f"AdaptiveMaxPool{n}DBackward0",
    )


def _starts(xp: Any, sample: Any, n: int, kernel: int, out: int) -> Any:
    """Where windows start along one dimension, for each channel: drawn steps that end at the last place."""
    if out == 1:
        return xp.full((*sample.shape, 1), n - kernel, np.int64)
    alpha = sample.dtype.type(n - kernel) / sample.dtype.type(out - 1)
    shift = (sample * alpha).astype(np.int64)[..., None]
    found = ((xp.arange(out).astype(sample.dtype) + sample[..., None]) * alpha).astype(np.int64) - shift
    found[..., out - 1] = n - kernel
    return found


def _fractional(xp: Any, a: Any, samples: Any, kernel: Shape, size: Shape) -> tuple[Any, Any]:
    n = len(kernel)
    lead, whole = a.ndim - n, a.shape[a.ndim - n :]
    drawn = samples if lead == 2 else samples[0]
    place: Any = 0
    for d in range(n):
        column = n - 1 - d if n == 2 else d  # two dimensions: the width was drawn first
        start = _starts(xp, drawn[..., column], whole[d], kernel[d], size[d])
        at = start.reshape((*start.shape[:-1], *[size[d] if e == d else 1 for e in range(n)], *(1,) * n))
        inside = xp.arange(kernel[d]).reshape([kernel[d] if e == d else 1 for e in range(n)])
        place = place * whole[d] + (at + inside)
    flat = a.reshape((*a.shape[:lead], prod(whole)))
    place = place.reshape((*a.shape[:lead], prod(size), prod(kernel)))
    seen = xp.take_along_axis(flat[..., None, :], place, -1)
    first = seen.argmax(-1)[..., None]
    shape = (*a.shape[:lead], *size)
    return (
        xp.take_along_axis(seen, first, -1).reshape(shape),
        xp.take_along_axis(place, first, -1).reshape(shape),
    )


def _fractional_row(n: int) -> None:
    def samples(t: Any) -> Any:
        return [
            (
                (t(2, 2, *(5, 6, 4)[:n]), t(2, 2, n, low=0.0, high=1.0).detach()),
                {"kernel": (2,) * n, "size": (3, 4, 2)[:n]},
            )
        ]

    row(
        f"fractional_max_pool{n}d_drawn",
        "self samples",
        forward=_fractional,
        infer=lambda shapes, kernel, size: [_shape(shapes, size)] * 2,
        grad={"self": lambda g, indices, self_shape: put(g, indices, tuple(self_shape), n)},
        formula="result[p] = the largest of self in the window drawn for p; indices[p] = where it lies",
        derivatives={"self": "zeros with grad added at the indices"},
        autocast=CPU_FLOAT32,
        onnx=NO_ONNX("windows are drawn"),
        cost=lambda shapes, result, kernel, **attrs: elements(result) * prod(kernel),
        samples=samples,
        results="result indices",
        node=f"FractionalMaxPool{n}DBackward0",
    )


for _n in (2, 3):
    _average_rows(_n)
    _maximum_row(_n)
    _fractional_row(_n)
