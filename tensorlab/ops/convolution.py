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

from tensorlab.backend import host
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
HOST_BYTES, DEVICE_BYTES = 3 << 18, 1 << 28


def _limit(xp: Any) -> int:
    return HOST_BYTES if xp is np else DEVICE_BYTES


def _strides(size: Sequence[int]) -> Shape:
    return tuple([prod(size[d + 1 :]) for d in range(len(size))])


def _wide(xp: Any, size: Shape, kernel: Shape, stride: Shape, out: Shape) -> Shape | None:
    """The places as one run through a padded image of ``size``, rows with their margins, where that makes copies cheaper.

    What one element of the kernel sees from all places is then one piece of memory. Places in the margins are worked out in vain.
    """
    wide = (*out[:1], *size[1:])
    runs = xp is np and len(kernel) > 1 and prod(kernel) > 1 and max(stride) == 1
    return wide if runs and 3 * prod(wide) <= 4 * prod(out) else None


def _looked_at(
    xp: Any, a: Any, kernel: Shape, stride: Shape, padding: Shape, dilation: Shape, out: Shape
) -> tuple[Any, Shape]:
    """A view ``[C, *kernel, N, *places]`` of what windows see of ``[N, C, *size]``, and the shape of the places in it."""
    count, channels = a.shape[:2]
    size = tuple([n + 2 * p for n, p in zip(a.shape[2:], padding, strict=True)])
    wide = _wide(xp, size, kernel, stride, out)
    if wide is None:
        view = seen(padded(xp, a, padding), kernel, stride, dilation, out)
        n = len(kernel)
        return view.transpose((1, *range(2, 2 + n), 0, *range(2 + n, 2 + 2 * n))), out
    whole, steps = prod(size), _strides(size)
    memory = np.zeros(count * channels * whole + sum(reach(kernel, dilation)) * steps[0], a.dtype)
    inside: Any = (..., *[slice(p, p + n) for n, p in zip(a.shape[2:], padding, strict=True)])
    memory[: count * channels * whole].reshape((count, channels, *size))[inside] = a
    strides = (whole, *[s * d for s, d in zip(steps, dilation, strict=True)], channels * whole, 1)
    shape = (channels, *kernel, count, prod(wide))
    return host.strided(memory, shape, [s * a.itemsize for s in strides], 0, a.dtype), wide


def _correlate(xp: Any, a: Any, w: Any, b: Any, stride: Shape, padding: Shape, dilation: Shape, groups: int) -> Any:
    """Each kernel at each place: ``[N, out channels, *places]``."""
    kernel, (count, channels) = w.shape[2:], a.shape[:2]
    out = places(a.shape[2:], kernel, stride, padding, dilation)
    each, inner = w.shape[0] // groups, channels // groups * prod(kernel)
    matrix = w.reshape((groups, each, inner))
    if prod(kernel) == 1 and a.shape[2:] == out:
        flat = xp.ascontiguousarray(a).reshape((count, groups, inner, prod(out)))
        return _biased(xp.matmul(matrix, flat).reshape((count, w.shape[0], *out)), b)
    view, wide = _looked_at(xp, a, kernel, stride, padding, dilation, out)
    result = xp.empty((count, w.shape[0], *out), a.dtype)
    crop = (..., *[slice(0, n) for n in out])
    alone = channels == groups
    bytes_each = channels * (2 if alone else prod(kernel)) * prod(wide) * a.itemsize
    for part in blocks(count, bytes_each, _limit(xp)):
        look = view[(slice(None),) * (1 + len(kernel)) + (part,)]
        if alone:
            found = _each_alone(look, matrix, kernel)
        else:
            found = xp.matmul(matrix, look.copy().reshape((groups, inner, -1)))
        found = found.reshape((w.shape[0], -1, *wide))[crop]
        target = result[part].swapaxes(0, 1)
        if b is None:
            target[...] = found
        else:
            xp.add(found, b.reshape((-1, 1) + (1,) * len(out)), out=target)
    return result


def _each_alone(look: Any, matrix: Any, kernel: Shape) -> Any:
    """Every channel with kernels of its own: a product for each element of the window, added up."""
    total: Any = None
    for k, offset in enumerate(offsets(kernel)):
        tap = look[(slice(None), *offset)]
        part = tap[:, None] * matrix[:, :, k].reshape((*matrix.shape[:2], *(1,) * (tap.ndim - 1)))
        if total is None:
            total = part
        else:
            total += part
    return total


def _biased(result: Any, b: Any) -> Any:
    if b is not None:
        result += b.reshape((-1,) + (1,) * (result.ndim - 2))
    return result


def _spread(xp: Any, g: Any, w: Any, stride: Shape, padding: Shape, dilation: Shape, size: Shape, groups: int) -> Any:
    """Every element of ``g`` times its kernel, added up where windows overlap: ``[N, channels, *size]``."""
    kernel, out = w.shape[2:], g.shape[2:]
    count, channels = g.shape[0], w.shape[1] * groups
    full = tuple([n + 2 * p for n, p in zip(size, padding, strict=True)])
    if not g.size or not count * channels * prod(size):
        return xp.zeros((count, channels, *size), g.dtype)
    fits = [r > p and n == o + r - 1 for r, p, n, o in zip(reach(kernel, dilation), padding, full, out, strict=True)]
    if max(stride) == 1 and all(fits) and 3 * prod(size) <= 4 * prod(out):
        return _turned(xp, g, w, padding, dilation, groups)
    inside = (..., *[slice(p, p + n) for p, n in zip(padding, size, strict=True)])
    if w.shape[1] == 1 and w.shape[0] == groups:
        return _spread_alone(xp, g, w, stride, dilation, full)[inside].copy()
    matrix = w.reshape((groups, w.shape[0] // groups, -1)).swapaxes(1, 2)
    rows = xp.ascontiguousarray(g.swapaxes(0, 1)).reshape((groups, -1, count, prod(out)))
    result = xp.zeros((channels, count, *full), g.dtype)
    for part in blocks(count, channels * prod(kernel) * prod(out) * g.itemsize, _limit(xp)):
        columns = xp.matmul(matrix, rows[:, :, part].reshape((*rows.shape[:2], -1)))
        columns = columns.reshape((channels, prod(kernel), -1, *out))
        for k, offset in enumerate(offsets(kernel)):
            target = result[:, part][under(offset, stride, dilation, out)]
            target += columns[:, k]
    return result[inside].swapaxes(0, 1).copy()


def _turned(xp: Any, g: Any, w: Any, padding: Shape, dilation: Shape, groups: int) -> Any:
    """The same for stride 1, where it is a convolution as well: with every kernel turned round, and outputs for inputs."""
    n = len(padding)
    kernels = w.reshape((groups, w.shape[0] // groups, *w.shape[1:]))[(..., *[slice(None, None, -1)] * n)]
    kernels = kernels.swapaxes(1, 2).copy().reshape((w.shape[1] * groups, w.shape[0] // groups, *w.shape[2:]))
    rest = tuple([r - 1 - p for r, p in zip(reach(w.shape[2:], dilation), padding, strict=True)])
    return _correlate(xp, g, kernels, None, (1,) * n, rest, dilation, groups)


def _rows(xp: Any, g: Any, wide: Shape) -> Any:
    """``[channels, N, *places]`` of ``g``, with zeros in the margins of wide places."""
    moved = g.swapaxes(0, 1)
    if wide == g.shape[2:]:
        return xp.ascontiguousarray(moved)
    rows = xp.zeros((*moved.shape[:2], *wide), g.dtype)
    rows[(..., *[slice(0, n) for n in g.shape[2:]])] = moved
    return rows


def _spread_alone(xp: Any, g: Any, w: Any, stride: Shape, dilation: Shape, full: Shape) -> Any:
    """The same for channels with one kernel each."""
    kernel, out = w.shape[2:], g.shape[2:]
    result = xp.zeros((*g.shape[:2], *full), g.dtype)
    for part in blocks(g.shape[0], g.shape[1] * prod(out) * g.itemsize, _limit(xp) // 4):
        for offset in offsets(kernel):
            target = result[part][under(offset, stride, dilation, out)]
            target += g[part] * w[(slice(None), 0, *offset)].reshape((-1,) + (1,) * len(out))
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
        size = _transposed_size(a.shape[2:], w.shape[2:], stride, padding, dilation, output_padding)
        result = _biased(_spread(xp, a, w, stride, padding, dilation, size, groups), b)
    else:
        result = _correlate(xp, a, w, b, stride, padding, dilation, groups)
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
    each, inner = g.shape[1] // groups, channels // groups * prod(kernel)
    result = xp.zeros((groups, each, inner), a.dtype)
    if count and prod(out) and result.size:
        view, wide = _looked_at(xp, a, kernel, stride, padding, dilation, out)
        rows = _rows(xp, g, wide).reshape((groups, each, count, prod(wide)))
        for part in blocks(count, channels * prod(kernel) * prod(wide) * a.itemsize, _limit(xp)):
            columns = view[(slice(None),) * (1 + len(kernel)) + (part,)].copy().reshape((groups, inner, -1))
            result += xp.matmul(rows[:, :, part].reshape((groups, each, -1)), columns.swapaxes(1, 2))
    return result.reshape((g.shape[1], channels // groups, *kernel))


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
