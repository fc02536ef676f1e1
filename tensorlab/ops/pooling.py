"""Pooling through sliding windows: the largest value, and the average; and unfolding, what the windows see as it is.

Windows slide along the last ``len(kernel)`` dimensions; all others are taken along. Indices of the largest values count the elements
of those last dimensions, row by row, in the tensor without padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from tensorlab.ops.elementwise import kept
from tensorlab.ops.table import AS_IS, CPU_FLOAT32, NO_GRAD, NO_ONNX, elements, row
from tensorlab.ops.windows import laid_out, offsets, padded, places, reach, seen, under, widened

Shape = tuple[int, ...]


def pooled_size(
    size: Sequence[int], kernel: Shape, stride: Shape, padding: Shape, dilation: Shape, ceil_mode: bool
) -> Shape:
    """At how many places a window stands. With ``ceil_mode`` it may reach beyond the end, as long as it starts before it."""
    found = []
    for n, k, s, p, d in zip(size, kernel, stride, padding, dilation, strict=True):
        count = (n + 2 * p - d * (k - 1) - 1 + (s - 1 if ceil_mode else 0)) // s + 1
        found.append(count - 1 if ceil_mode and (count - 1) * s >= n + p else count)
    return tuple(found)


def _pooled(
    shapes: Sequence[Any], kernel: Shape, stride: Shape, padding: Shape, dilation: Shape, ceil_mode: bool
) -> Shape:
    lead = len(shapes[0]) - len(kernel)
    return (*shapes[0][:lead], *pooled_size(shapes[0][lead:], kernel, stride, padding, dilation, ceil_mode))


def _margin(size: Shape, kernel: Shape, stride: Shape, padding: Shape, dilation: Shape, out: Shape) -> Shape:
    """How far windows reach beyond the end."""
    across = reach(kernel, dilation)
    return tuple(
        [max(0, (o - 1) * s + r - n - p) for o, s, r, n, p in zip(out, stride, across, size, padding, strict=True)]
    )


def _lowest(a: Any) -> Any:
    return np.iinfo(a.dtype).min if a.dtype.kind in "iu" else -np.inf


def _max_pool(
    xp: Any, a: Any, kernel: Shape, stride: Shape, padding: Shape, dilation: Shape, ceil_mode: bool
) -> tuple[Any, Any]:
    size = a.shape[a.ndim - len(kernel) :]
    out = pooled_size(size, kernel, stride, padding, dilation, ceil_mode)
    after = _margin(size, kernel, stride, padding, dilation, out)
    best, number = largest(xp, padded(xp, a, padding, after, _lowest(a)), kernel, stride, dilation, out)
    return laid_out(xp, best, a), laid_out(xp, number, a)


def largest(xp: Any, wide: Any, kernel: Shape, stride: Shape, dilation: Shape, out: Shape) -> tuple[Any, Any]:
    """The largest value of each window, and the number of the first element that holds it; of a NaN if there is one."""
    taps = [wide[under(offset, stride, dilation, out)] for offset in offsets(kernel)]
    best = taps[0].copy()
    number = xp.zeros(best.shape, np.uint8 if len(taps) < 256 else np.int32)
    if xp is not np:
        for k, tap in enumerate(taps[1:], 1):
            better = (tap > best) | (tap != tap)
            best, number = xp.where(better, tap, best), xp.where(better, number.dtype.type(k), number)
        return best, number
    better = np.empty(best.shape, bool)
    step = np.empty_like(number)
    for k, tap in enumerate(taps[1:], 1):  # numbers grow, so the last that is better has the largest
        np.greater(tap, best, out=better)
        np.maximum(number, np.multiply(better, number.dtype.type(k), out=step), out=number)
        np.maximum(best, tap, out=best)
    if best.dtype.kind in "fV" and np.isnan(best).any():
        for k, tap in enumerate(taps):
            np.copyto(number, k, where=np.isnan(tap))
    return best, number


def flat_indices(
    xp: Any, number: Any, size: Shape, kernel: Shape, stride: Shape, padding: Shape, dilation: Shape
) -> Any:
    """Where in the tensor the element of that number of each window lies."""
    flat: Any = 0
    rest: Any = number.astype(np.int64)
    n = len(kernel)
    for d in range(n):
        below = prod(kernel[d + 1 :])
        step = (rest // below if below > 1 else rest) * dilation[d]
        rest = rest % below if below > 1 else 0
        start = (xp.arange(number.shape[number.ndim - n + d]) * stride[d] - padding[d]).reshape(
            (-1,) + (1,) * (n - 1 - d)
        )
        at = start + step
        if padding[d]:  # a window full of -inf chose an element of the margin: its first real one then
            at = xp.where(at < 0, at % dilation[d], at)
        flat = flat * size[d] + at
    return laid_out(xp, flat, number)


def _max_pool_backward(
    xp: Any, g: Any, number: Any, shape: Shape, kernel: Shape, stride: Shape, padding: Shape, dilation: Shape
) -> Any:
    """Each gradient added where its window found the largest value."""
    n = len(kernel)
    lead, size, out = shape[: len(shape) - n], shape[len(shape) - n :], g.shape[g.ndim - n :]
    after = _margin(size, kernel, stride, padding, dilation, out)
    whole = tuple([s + p + q for s, p, q in zip(size, padding, after, strict=True)])
    tiles = (
        kernel == stride and max(dilation) == 1 and whole == tuple([k * o for k, o in zip(kernel, out, strict=True)])
    )
    wide = (xp.empty if tiles else xp.zeros)((*lead, *whole), g.dtype)
    for k, offset in enumerate(offsets(kernel)):
        target = wide[under(offset, stride, dilation, out)]
        if tiles:
            kept(xp, g, number == k, target)
        else:
            target += kept(xp, g, number == k)
    return _cut(wide, padding, size)


def _picked(xp: Any, a: Any, number: Any, kernel: Shape, stride: Shape, padding: Shape, dilation: Shape) -> Any:
    """The element of that number of each window."""
    n = len(kernel)
    size, out = a.shape[a.ndim - n :], number.shape[number.ndim - n :]
    wide = padded(xp, a, padding, _margin(size, kernel, stride, padding, dilation, out))
    result = xp.zeros(number.shape, a.dtype)
    for k, offset in enumerate(offsets(kernel)):
        result += kept(xp, wide[under(offset, stride, dilation, out)], number == k)
    return result


def _cut(wide: Any, padding: Shape, size: Shape) -> Any:
    """An array without its margin, row-major."""
    if wide.shape[wide.ndim - len(size) :] == tuple(size):
        return wide
    return wide[(..., *[slice(p, p + n) for p, n in zip(padding, size, strict=True)])].copy()


def put(g: Any, indices: Any, shape: Shape, n: int) -> Any:
    """Zeros of ``shape`` with ``g`` added where indices into the last ``n`` dimensions say."""
    lead = len(shape) - n
    head = tuple(shape[:lead])
    flat = (*head, elements(indices.shape[lead:]))
    zeros = g._zeros((*head, elements(shape[lead:])))
    return zeros.scatter_add(lead, indices.reshape(flat), g.reshape(flat)).reshape(shape)


def _max_row(n: int) -> None:
    """The row of the largest value in windows of ``n`` dimensions, with its number in the window."""
    name = f"max_pool{n}d_numbered"
    size = (4, 5, 4)[:n]

    def samples(t: Any) -> Any:
        none, one, two = (0,) * n, (1,) * n, (2,) * n
        return [
            ((t(1, 2, *size),), {"kernel": two, "stride": two, "padding": none, "dilation": one, "ceil_mode": False}),
            (
                (t(1, 2, *(4,) * n),),
                {"kernel": two, "stride": two, "padding": none, "dilation": one, "ceil_mode": False},
            ),
            (
                (t(2, *size),),
                {"kernel": (3, 2, 2)[:n], "stride": (1, 2, 1)[:n], "padding": one, "dilation": one, "ceil_mode": True},
            ),
            ((t(1, 1, *size),), {"kernel": two, "stride": one, "padding": none, "dilation": two, "ceil_mode": False}),
        ]

    row(
        name,
        "self",
        forward=_max_pool,
        infer=lambda shapes, **attrs: [_pooled(shapes, **attrs)] * 2,
        grad={
            "self": lambda g, number, self_shape, kernel, stride, padding, dilation: g._op(
                f"{name}_backward",
                number,
                shape=tuple(self_shape),
                kernel=kernel,
                stride=stride,
                padding=padding,
                dilation=dilation,
            )
        },
        formula="result[p] = the largest of self in the window at p; number[p] = which element of the window it is",
        derivatives={"self": "zeros with grad added where the largest was"},
        autocast=CPU_FLOAT32 if n == 3 else AS_IS,
        onnx="MaxPool",
        cost=lambda shapes, result, kernel, **attrs: elements(result) * prod(kernel),
        samples=samples,
        results="result number",
        node=f"MaxPool{n}DWithIndicesBackward0",
    )


def _max_backward_rows(n: int) -> None:
    name = f"max_pool{n}d_numbered"
    window = {"kernel": (2,) * n, "stride": (2,) * n, "padding": (0,) * n, "dilation": (1,) * n}
    shape, out = (1, 2, *(4,) * n), (1, 2, *(2,) * n)
    row(
        f"{name}_backward",
        "grad number",
        forward=_max_pool_backward,
        infer=lambda shapes, shape, **attrs: shape,
        grad={
            "grad": lambda g, number, kernel, stride, padding, dilation: g._op(
                f"max_pool{n}d_picked", number, kernel=kernel, stride=stride, padding=padding, dilation=dilation
            )
        },
        formula="result = zeros with grad added at the element of that number of each window",
        derivatives={"grad": "the element of that number of each window of grad"},
        onnx=NO_ONNX("appears in gradients only"),
        cost=lambda shapes, result, kernel, **attrs: elements(shapes[0]) * prod(kernel),
        samples=lambda t: [((t(*out), t.index(2**n, *out)), {"shape": shape, **window})],
        node=f"MaxPool{n}DWithIndicesBackwardBackward0",
    )
    row(
        f"max_pool{n}d_picked",
        "self number",
        forward=_picked,
        infer=lambda shapes, **attrs: shapes[1],
        grad={
            "self": lambda g, number, self_shape, kernel, stride, padding, dilation: g._op(
                f"{name}_backward",
                number,
                shape=tuple(self_shape),
                kernel=kernel,
                stride=stride,
                padding=padding,
                dilation=dilation,
            )
        },
        formula="result[p] = the element of that number of the window at p",
        derivatives={"self": "zeros with grad added at the element of that number of each window"},
        onnx=NO_ONNX("appears in gradients only"),
        cost=lambda shapes, result, kernel, **attrs: elements(result) * prod(kernel),
        samples=lambda t: [((t(*shape), t.index(2**n, *out)), window)],
    )


row(
    "max_pool_indices",
    "number",
    forward=flat_indices,
    infer=lambda shapes, **attrs: shapes[0],
    grad=NO_GRAD("integer output"),
    formula="result[p] = where in the tensor the element of that number of the window at p lies",
    onnx="MaxPool",
    cost=lambda shapes, result, kernel, **attrs: elements(result) * len(kernel),
    samples=lambda t: [
        (
            (t.index(4, 1, 2, 2, 2),),
            {"size": (4, 5), "kernel": (2, 2), "stride": (2, 2), "padding": (0, 0), "dilation": (1, 1)},
        )
    ],
)


# ------------------------------------------------------------------------------------------------------------- averages


def _along(xp: Any, wide: Any, axis: int, k: int, s: int, out: int) -> Any:
    """Sums of ``k`` neighbours along one dimension, ``s`` apart."""
    lead = (slice(None),) * axis
    total = wide[(*lead, slice(0, s * (out - 1) + 1, s))].copy()
    for i in range(1, k):
        total += wide[(*lead, slice(i, i + s * (out - 1) + 1, s))]
    return total


def _divisors(xp: Any, size: Shape, kernel: Shape, stride: Shape, padding: Shape, out: Shape, pads: bool) -> Any:
    """How many elements each window has, with or without those of the margin; one number where all have the same."""
    spill = any((o - 1) * s + k > n + 2 * p for o, s, k, n, p in zip(out, stride, kernel, size, padding, strict=True))
    inside = not any(padding) or pads
    if inside and not spill:
        return prod(kernel)
    counts: Any = 1
    n = len(kernel)
    for d in range(n):
        start = xp.arange(out[d]) * stride[d] - padding[d]
        stop = xp.minimum(start + kernel[d], size[d] + padding[d])
        if not pads:
            start, stop = xp.maximum(start, 0), xp.minimum(stop, size[d])
        counts = counts * (stop - start).reshape((-1,) + (1,) * (n - 1 - d))
    return counts


def _divided(xp: Any, total: Any, by: Any) -> Any:
    if total.dtype.kind in "iu":
        return xp.trunc(total / by).astype(total.dtype)
    if isinstance(by, int):
        total /= total.dtype.type(by)
    else:
        total /= by.astype(total.dtype)
    return total


def _avg_pool(
    xp: Any,
    a: Any,
    kernel: Shape,
    stride: Shape,
    padding: Shape,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor: int | None,
) -> Any:
    n = len(kernel)
    lead, one = a.ndim - n, (1,) * n
    size = a.shape[lead:]
    out = pooled_size(size, kernel, stride, padding, one, ceil_mode)
    total = padded(xp, a, padding, _margin(size, kernel, stride, padding, one, out))
    for d in range(n - 1, -1, -1):
        total = _along(xp, total, lead + d, kernel[d], stride[d], out[d])
    by = divisor or _divisors(xp, size, kernel, stride, padding, out, count_include_pad)
    return laid_out(xp, _divided(xp, total, by), a)


def _avg_pool_backward(
    xp: Any,
    g: Any,
    shape: Shape,
    kernel: Shape,
    stride: Shape,
    padding: Shape,
    count_include_pad: bool,
    divisor: int | None,
) -> Any:
    n = len(kernel)
    lead = len(shape) - n
    size, out = tuple(shape[lead:]), g.shape[lead:]
    share = _divided(xp, g.copy(), divisor or _divisors(xp, size, kernel, stride, padding, out, count_include_pad))
    for d in range(n):
        across = max(size[d] + 2 * padding[d], (out[d] - 1) * stride[d] + kernel[d])
        before = (slice(None),) * (lead + d)
        wide = xp.zeros((*share.shape[: lead + d], across, *share.shape[lead + d + 1 :]), g.dtype)
        for i in range(kernel[d]):
            target = wide[(*before, slice(i, i + stride[d] * (out[d] - 1) + 1, stride[d]))]
            target += share
        share = wide
    return _cut(share, padding, size)


def _avg_row(n: int) -> None:
    size, two, one = (4, 5, 4)[:n], (2,) * n, (1,) * n
    row(
        f"avg_pool{n}d",
        "self",
        forward=widened(_avg_pool),
        infer=lambda shapes, kernel, stride, padding, ceil_mode, **attrs: _pooled(
            shapes, kernel, stride, padding, (1,) * n, ceil_mode
        ),
        grad={
            "self": lambda g, self_shape, kernel, stride, padding, ceil_mode, count_include_pad, divisor: g._op(
                f"avg_pool{n}d_backward",
                shape=tuple(self_shape),
                kernel=kernel,
                stride=stride,
                padding=padding,
                ceil_mode=ceil_mode,
                count_include_pad=count_include_pad,
                divisor=divisor,
            )
        },
        formula="result[p] = the mean of self over the window at p",
        derivatives={"self": "grad ÷ elements, spread over each window"},
        autocast=CPU_FLOAT32 if n == 3 else AS_IS,
        onnx="AveragePool",
        cost=lambda shapes, result, kernel, **attrs: elements(result) * sum(kernel),
        samples=lambda t: [
            ((t(1, 2, *size), two), {}),
            ((t(2, *size), (3, 2, 2)[:n], (2, 1, 2)[:n], one, True, False), {}),
            ((t(1, 1, *size), two, one, one, False, True), {"divisor_override": 3}),
        ],
        node=f"AvgPool{n}DBackward0",
    )


def _avg_backward_row(n: int) -> None:
    size, one = (4, 5, 4)[:n], (1,) * n
    plain = {"kernel": (2,) * n, "stride": (2,) * n, "padding": (0,) * n, "count_include_pad": True, "divisor": None}
    wide: dict[str, Any] = {
        "kernel": (3, 2, 2)[:n],
        "stride": (2, 1, 2)[:n],
        "padding": one,
        "count_include_pad": False,
        "divisor": None,
    }
    row(
        f"avg_pool{n}d_backward",
        "grad",
        forward=widened(lambda xp, g, ceil_mode, **attrs: _avg_pool_backward(xp, g, **attrs)),
        infer=lambda shapes, shape, **attrs: shape,
        grad={
            "grad": lambda g, kernel, stride, padding, ceil_mode, count_include_pad, divisor: g._op(
                f"avg_pool{n}d",
                kernel=kernel,
                stride=stride,
                padding=padding,
                ceil_mode=ceil_mode,
                count_include_pad=count_include_pad,
                divisor=divisor,
            )
        },
        formula="result = grad ÷ elements, spread over each window",
        derivatives={"grad": "the mean of grad over each window"},
        onnx=NO_ONNX("appears in gradients only"),
        cost=lambda shapes, result, kernel, **attrs: elements(result) * sum(kernel),
        samples=lambda t: [
            ((t(1, 2, *(2,) * n),), {"shape": (1, 2, *(4, 5, 4)[:n]), "ceil_mode": False, **plain}),
            (
                (t(2, *pooled_size(size, wide["kernel"], wide["stride"], one, one, True)),),
                {"shape": (2, *size), "ceil_mode": True, **wide},
            ),
        ],
        node=f"AvgPool{n}DBackwardBackward0",
    )


for _n in (2, 3):
    _max_row(_n)
    _max_backward_rows(_n)
    _avg_row(_n)
    _avg_backward_row(_n)

# ------------------------------------------------------------------------------------------------------------ unfolding


def _im2col(xp: Any, a: Any, kernel: Shape, dilation: Shape, padding: Shape, stride: Shape) -> Any:
    n = len(kernel)
    out = places(a.shape[a.ndim - n :], kernel, stride, padding, dilation)
    view = seen(padded(xp, a, padding), kernel, stride, dilation, out)
    return view.reshape(_columns_shape(a.shape, kernel, out)).copy()


def _columns_shape(shape: Shape, kernel: Shape, out: Shape) -> Shape:
    lead = shape[: len(shape) - len(kernel)]
    return (*lead[:-1], lead[-1] * prod(kernel), prod(out))


def _col2im(xp: Any, g: Any, size: Shape, kernel: Shape, dilation: Shape, padding: Shape, stride: Shape) -> Any:
    out = places(size, kernel, stride, padding, dilation)
    channels = g.shape[-2] // prod(kernel)
    columns = g.reshape((*g.shape[:-2], channels, prod(kernel), *out))
    wide = xp.zeros((*g.shape[:-2], channels, *[s + 2 * p for s, p in zip(size, padding, strict=True)]), g.dtype)
    for k, offset in enumerate(offsets(kernel)):
        target = wide[under(offset, stride, dilation, out)]
        target += columns[(..., k, *[slice(None)] * len(out))]
    return _cut(wide, padding, size)


_TWO = {"kernel": (2, 3), "dilation": (1, 1), "padding": (1, 0), "stride": (2, 1)}
row(
    "im2col",
    "self",
    forward=_im2col,
    infer=lambda shapes, kernel, dilation, padding, stride: _columns_shape(
        shapes[0], kernel, places(shapes[0][-len(kernel) :], kernel, stride, padding, dilation)
    ),
    grad={
        "self": lambda g, self_shape, kernel, dilation, padding, stride: g._op(
            "col2im",
            size=tuple(self_shape[-len(kernel) :]),
            kernel=kernel,
            dilation=dilation,
            padding=padding,
            stride=stride,
        )
    },
    formula="result[:, :, p] = what the window at p sees, as a column",
    derivatives={"self": "the columns of grad, added up where windows overlap"},
    onnx=NO_ONNX("Pad, Slice and Concat"),
    cost=lambda shapes, result, **attrs: 0,
    samples=lambda t: [((t(2, 3, 4, 5),), _TWO), ((t(2, 4, 4),), {**_TWO, "dilation": (2, 1)})],
    node="Im2ColBackward0",
)
row(
    "col2im",
    "self",
    forward=widened(_col2im),
    infer=lambda shapes, size, kernel, **attrs: (*shapes[0][:-2], shapes[0][-2] // prod(kernel), *size),
    grad={
        "self": lambda g, kernel, dilation, padding, stride: g._op(
            "im2col", kernel=kernel, dilation=dilation, padding=padding, stride=stride
        )
    },
    formula="result = columns put back where the windows are, and added up where these overlap",
    derivatives={"self": "what each window of grad sees, as columns"},
    onnx="Col2Im",
    cost=lambda shapes, result, **attrs: elements(shapes[0]),
    samples=lambda t: [((t(2, 12, 9),), {"size": (4, 5), **_TWO}), ((t(6, 9),), {"size": (4, 5), **_TWO})],
    node="Col2ImBackward0",
)
