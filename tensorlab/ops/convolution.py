"""Convolutions of any number of dimensions, and their gradients.

A convolution is one product of matrices: the kernels as rows, and as columns what each window sees (copied there through a strided
view, a few images of the batch at a time, so that the copy stays in the cache). A transposed convolution is the same product the
other way: it spreads columns over the windows and adds up where they overlap. The three kernels below are bilinear and are each
other's gradients.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from tensorlab.ops.table import LOWER, NO_ONNX, elements, row
from tensorlab.ops.windows import (
    blocks,
    half,
    laid_out,
    offsets,
    padded,
    places,
    reach,
    seen,
    under,
)

Shape = tuple[int, ...]

#: Bytes of columns that are made at a time: on the CPU what its cache holds, on a GPU what keeps it busy.
HOST_BYTES, DEVICE_BYTES = 1 << 20, 1 << 28


def _limit(xp: Any) -> int:
    return HOST_BYTES if xp is np else DEVICE_BYTES


def _multiply(xp: Any, a: Any, b: Any, out: Any) -> None:
    if xp is np:
        np.matmul(a, b, out=out)
    else:
        out[...] = xp.matmul(a, b)


def _correlate(xp: Any, a: Any, w: Any, stride: Shape, dilation: Shape, groups: int) -> Any:
    """Each kernel at each place of an array that is padded already: ``[N, out channels, *places]``."""
    kernel, (count, channels) = w.shape[2:], a.shape[:2]
    out = places(a.shape[2:], kernel, stride, (0,) * len(kernel), dilation)
    total, each = prod(out), w.shape[0] // groups
    if channels == groups:
        return _each_alone(xp, a, w, stride, dilation, out)
    result = xp.empty((count, groups, each, total), a.dtype)
    matrix = w.reshape((groups, each, -1)) if groups > 1 else w.reshape((each, -1))
    inner = channels // groups * prod(kernel)
    if prod(kernel) == 1 and a.shape[2:] == out:
        _multiply(xp, matrix, a.reshape((count, groups, inner, total)), result)
        return result.reshape((count, w.shape[0], *out))
    view = seen(a, kernel, stride, dilation, out)
    for part in blocks(count, groups * inner * total * a.itemsize, _limit(xp)):
        columns = xp.ascontiguousarray(view[part]).reshape((-1, groups, inner, total))
        _multiply(xp, matrix, columns, result[part])
    return result.reshape((count, w.shape[0], *out))


def _each_alone(xp: Any, a: Any, w: Any, stride: Shape, dilation: Shape, out: Shape) -> Any:
    """Every channel with kernels of its own: a product for each element of the window, added up."""
    count, channels = a.shape[:2]
    many = w.shape[0] // channels
    kernels = w.reshape((channels, many, *w.shape[2:])) if w.size else w
    result = xp.zeros((count, channels, many, *out), a.dtype)
    for offset in offsets(w.shape[2:]):
        factor = kernels[(slice(None), slice(None), *offset)].reshape((channels, many) + (1,) * len(out))
        result += a[under(offset, stride, dilation, out)].reshape((count, channels, 1, *out)) * factor
    return result.reshape((count, w.shape[0], *out))


def _spread(xp: Any, g: Any, w: Any, stride: Shape, dilation: Shape, size: Shape, groups: int) -> Any:
    """Every element of ``g`` times its kernel, added up where windows overlap: ``[N, channels, *size]``."""
    kernel, out = w.shape[2:], g.shape[2:]
    count, channels, total = g.shape[0], w.shape[1] * groups, prod(out)
    result = xp.zeros((count, channels, *size), g.dtype)
    if not result.size or not g.size:
        return result
    taps = list(offsets(kernel))
    if w.shape[1] == 1 and w.shape[0] == groups:
        factors = w.reshape((channels, len(taps)) + (1,) * len(out))
        for k, offset in enumerate(taps):
            result[under(offset, stride, dilation, out)] += g * factors[:, k]
        return result
    matrix = w.reshape((groups, w.shape[0] // groups, -1)).swapaxes(1, 2)
    flat = g.reshape((count, groups, -1, total))
    bytes_each = channels * len(taps) * total * g.itemsize
    for part in blocks(count, bytes_each, _limit(xp)):
        columns = xp.matmul(matrix, flat[part]).reshape((-1, channels, len(taps), *out))
        target = result[part]
        for k, offset in enumerate(taps):
            target[under(offset, stride, dilation, out)] += columns[:, :, k]
    return result


def _forward(
    xp: Any, a: Any, w: Any, b: Any, stride: Shape, padding: Shape, dilation: Shape, transposed: bool,
    output_padding: Shape, groups: int,
) -> Any:  # fmt: skip
    _same_types(a, w, b)
    if half(a):
        f = np.float32
        more = None if b is None else b.astype(f)
        found = _forward(
            xp, a.astype(f), w.astype(f), more, stride, padding, dilation, transposed, output_padding, groups
        )
        return laid_out(xp, found.astype(a.dtype), a, w)
    if transposed:
        out = _transposed_size(a.shape[2:], w.shape[2:], stride, padding, dilation, output_padding)
        full = tuple([n + 2 * p for n, p in zip(out, padding, strict=True)])
        result = _spread(xp, xp.ascontiguousarray(a), w, stride, dilation, full, groups)
        if any(padding):
            result = result[(..., *[slice(p, p + n) for p, n in zip(padding, out, strict=True)])].copy()
    else:
        result = _correlate(xp, padded(xp, a, padding), w, stride, dilation, groups)
    if b is not None:
        result += b.reshape((-1,) + (1,) * len(stride))
    return laid_out(xp, result, a, w)


def _same_types(*arrays: Any) -> None:
    names = [a.dtype.name for a in arrays if a is not None]
    if len(set(names)) > 1:
        what = "weight" if names[1] != names[0] else "bias"
        raise RuntimeError(
            f"Input type ({names[0]}) and {what} type ({names[1] if what == 'weight' else names[2]}) should be the same; "
            f"convert one with .to(other.dtype)"
        )


def _transposed_size(
    size: Sequence[int], kernel: Sequence[int], stride: Shape, padding: Shape, dilation: Shape, output_padding: Shape
) -> Shape:
    across = reach(kernel, dilation)
    return tuple(
        [
            (n - 1) * s - 2 * p + r + more
            for n, s, p, r, more in zip(size, stride, padding, across, output_padding, strict=True)
        ]
    )


def convolved_shape(
    shapes: Sequence[Any], stride: Shape, padding: Shape, dilation: Shape, transposed: bool, output_padding: Shape, groups: int
) -> Shape:  # fmt: skip
    """The shape of a convolution's result."""
    (count, _, *size), (first, second, *kernel) = shapes[0], shapes[1]
    if transposed:
        return (count, second * groups, *_transposed_size(size, kernel, stride, padding, dilation, output_padding))
    return (count, first, *places(size, kernel, stride, padding, dilation))


def _weight_forward(
    xp: Any, g: Any, a: Any, kernel: Shape, stride: Shape, padding: Shape, dilation: Shape, groups: int
) -> Any:
    """What each element of each kernel was multiplied with, weighed with the gradient and added up."""
    if half(a):
        g, wide = g.astype(np.float32), a.astype(np.float32)
        return _weight_forward(xp, g, wide, kernel, stride, padding, dilation, groups).astype(a.dtype)
    count, channels, out = a.shape[0], a.shape[1], g.shape[2:]
    total, each = prod(out), g.shape[1] // groups
    shape = (g.shape[1], channels // groups, *kernel)
    result = xp.zeros((groups, each, channels // groups * prod(kernel)), a.dtype)
    if not count or not total or not result.size:
        return result.reshape(shape)
    view = seen(padded(xp, a, padding), kernel, stride, dilation, out)
    flat = xp.ascontiguousarray(g).reshape((count, groups, each, total))
    inner = result.shape[2]
    for part in blocks(count, groups * inner * total * a.itemsize, _limit(xp)):
        columns = xp.ascontiguousarray(view[part]).reshape((-1, groups, inner, total))
        result += xp.matmul(flat[part], columns.swapaxes(2, 3)).sum(0)
    return result.reshape(shape)


# ------------------------------------------------------------------------------------------------------------- gradients


def _missing(
    size: Sequence[int], out: Sequence[int], kernel: Sequence[int], stride: Shape, padding: Shape, dilation: Shape
) -> Shape:
    """How much of a dimension no window reaches: the output padding of the transposed convolution that leads back."""
    covered = _transposed_size(out, kernel, stride, padding, dilation, (0,) * len(stride))
    return tuple([n - c for n, c in zip(size, covered, strict=True)])


def _back(g: Any, weight: Any, size: Shape, stride: Shape, padding: Shape, dilation: Shape, groups: int) -> Any:
    """The transposed convolution from ``g`` to an input of ``size``."""
    more = _missing(size, g.shape[2:], weight.shape[2:], stride, padding, dilation)
    return g._op(
        "convolution", weight, None, stride=stride, padding=padding, dilation=dilation, transposed=True, output_padding=more, groups=groups,
    )  # fmt: skip


def _forth(a: Any, weight: Any, size: Shape, stride: Shape, padding: Shape, dilation: Shape, groups: int) -> Any:
    """The convolution of ``a``, of which the first ``size`` places are wanted."""
    found = a._op(
        "convolution", weight, None, stride=stride, padding=padding, dilation=dilation, transposed=False,
        output_padding=(0,) * len(stride), groups=groups,
    )  # fmt: skip
    for d, n in enumerate(size, 2):
        found = found.narrow(d, 0, n) if found.shape[d] != n else found
    return found


def _input_grad(
    g: Any, weight: Any, input_shape: Shape, stride: Shape, padding: Shape, dilation: Shape, transposed: bool, groups: int
) -> Any:  # fmt: skip
    lead = _forth if transposed else _back
    return lead(g, weight, tuple(input_shape[2:]), stride, padding, dilation, groups)


def _weight_grad(
    g: Any, input: Any, weight_shape: Shape, stride: Shape, padding: Shape, dilation: Shape, transposed: bool, groups: int
) -> Any:  # fmt: skip
    outer, inner = (input, g) if transposed else (g, input)
    return outer._op(
        "convolution_weight",
        inner,
        kernel=tuple(weight_shape[2:]),
        stride=stride,
        padding=padding,
        dilation=dilation,
        groups=groups,
    )


def _bias_grad(g: Any) -> Any:
    return g.sum((0, *range(2, len(g.shape))))


def _samples(t: Any) -> Any:
    return [
        ((t(2, 3, 5), t(4, 3, 3), t(4), (2,), (1,), (1,), False, (0,), 1), {}),
        ((t(2, 4, 5, 4), t(6, 2, 3, 2), t(6), (1, 1), (1, 0), (1, 2), False, (0, 0), 2), {}),
        ((t(2, 2, 4, 4), t(4, 1, 2, 2), None, (2, 1), (0, 1), (1, 1), False, (0, 0), 2), {}),
        ((t(1, 2, 3, 3, 3), t(2, 2, 2, 2, 2), t(2), (1, 1, 1), (0, 1, 0), (1, 1, 1), False, (0, 0, 0), 1), {}),
        ((t(2, 3, 4), t(2, 3, 1), t(2), (1,), (0,), (1,), False, (0,), 1), {}),
        ((t(2, 3, 4), t(3, 2, 3), t(2), (2,), (1,), (1,), True, (1,), 1), {}),
        ((t(1, 4, 3, 3), t(4, 1, 2, 2), t(2), (2, 1), (0, 1), (1, 2), True, (1, 0), 2), {}),
        ((t(0, 3, 5), t(4, 3, 3), t(4), (1,), (0,), (1,), False, (0,), 1), {}),
    ]


convolution = row(
    "convolution",
    "input weight bias",
    forward=_forward,
    infer=convolved_shape,
    grad={"input": _input_grad, "weight": _weight_grad, "bias": _bias_grad},
    formula="result[n, o, p] = Σ weight[o, c, k] · input[n, c, stride · p + dilation · k − padding] + bias[o]",
    derivatives={
        "input": "the transposed convolution of grad with weight",
        "weight": "Σ grad times what each element of the kernel saw",
        "bias": "Σ grad over batch and places",
    },
    autocast=LOWER,
    onnx="Conv",
    cost=lambda shapes, result, transposed, **attrs: (
        2 * elements(shapes[0] if transposed else result) * elements(shapes[1][1:])
    ),
    samples=_samples,
)


def _weight_samples(t: Any) -> Any:
    one = {"stride": (1,), "padding": (1,), "dilation": (1,), "groups": 1}
    two = {"stride": (2, 1), "padding": (0, 1), "dilation": (1, 2), "groups": 2}
    return [
        ((t(2, 4, 5), t(2, 3, 5)), {"kernel": (3,), **one}),
        ((t(2, 4, 2, 4), t(2, 2, 5, 4)), {"kernel": (2, 2), **two}),
    ]


convolution_weight = row(
    "convolution_weight",
    "grad input",
    forward=_weight_forward,
    infer=lambda shapes, kernel, groups, **attrs: (shapes[0][1], shapes[1][1] // groups, *kernel),
    grad={
        "grad": lambda g, input, grad_shape, stride, padding, dilation, groups: _forth(
            input, g, tuple(grad_shape[2:]), stride, padding, dilation, groups
        ),
        "input": lambda g, grad, input_shape, stride, padding, dilation, groups: _back(
            grad, g, tuple(input_shape[2:]), stride, padding, dilation, groups
        ),
    },
    formula="result[o, c, k] = Σ grad[n, o, p] · input[n, c, stride · p + dilation · k − padding]",
    derivatives={"grad": "the convolution of input with grad", "input": "the transposed convolution of grad with grad"},
    autocast=LOWER,
    onnx=NO_ONNX("appears in gradients only"),
    cost=lambda shapes, result, **attrs: 2 * elements(shapes[0]) * elements(result[1:]),
    samples=_weight_samples,
)
