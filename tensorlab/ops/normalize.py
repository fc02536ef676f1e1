"""Normalisation over rows (layer and group norm) and over channels (batch norm), each forward and backward one pass.

A normalised value is ``x̂ = (x − mean) · rstd``, and ``P(y) = y − mean(y) − x̂ · mean(y · x̂)`` is what its gradient does to what
arrives. The gradients of a gradient follow from the same two; they are written with Tensors, so they differentiate again.
float16 and bfloat16 are computed in float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorlab.backend import fused
from tensorlab.backend.blocks import in_pieces
from tensorlab.ops.reduce import wide
from tensorlab.ops.table import AS_IS, GPU_FLOAT32, NO_ONNX, elements, nothing, row

Shape = tuple[int, ...]


def _wide(a: Any) -> Any:
    """An array in the type it is computed in, row by row in memory."""
    return np.ascontiguousarray(a, wide(a)) if isinstance(a, np.ndarray) else a.astype(wide(a)).reshape(a.shape)


def _dots(xp: Any, a: Any, b: Any) -> Any:
    """``Σ a · b`` along the last dimension, which is kept with size 1."""
    return (np.vecdot(a, b) if xp is np else (a * b).sum(axis=-1))[..., None]


def _floats(a: Any, name: str) -> None:
    if a.dtype.kind not in "fV":
        raise RuntimeError(f'"{name}" not implemented for {a.dtype.name}; convert the input with .float()')


# ---------------------------------------------------------------------------------------------------------- by rows


def _centred(xp: Any, x: Any, eps: float) -> tuple[Any, Any, Any]:
    """Rows with mean 0 and variance 1, with the means and the reciprocal deviations that made them so."""
    n = x.shape[1]
    mean = xp.add.reduce(x, axis=1, keepdims=True) / x.dtype.type(n)
    out = x - mean
    rstd = 1 / xp.sqrt(_dots(xp, out, out) / x.dtype.type(n) + x.dtype.type(eps))
    out *= rstd
    return out, mean, rstd


def _layer_rows(x: np.ndarray, w: Any, b: Any, eps: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Normalise rows on the host, piece by piece; weights go along the rows."""
    rows, n = x.shape
    kind = x.dtype.type
    out, mean, rstd = np.empty_like(x), np.empty((rows, 1), x.dtype), np.empty((rows, 1), x.dtype)

    def work(low: int, end: int) -> None:
        r, m, d = out[low:end], mean[low:end], rstd[low:end]
        np.divide(np.add.reduce(x[low:end], axis=1, keepdims=True), kind(n), m)
        np.subtract(x[low:end], m, r)
        np.divide(kind(1), np.sqrt(_dots(np, r, r) / kind(n) + kind(eps)), d)
        np.multiply(r, d, r)
        if w is not None:
            np.multiply(r, w, r)
        if b is not None:
            np.add(r, b, r)

    in_pieces(work, rows, n)
    return out, mean, rstd


def _layer_rows_backward(
    g: np.ndarray, x: np.ndarray, w: Any, mean: np.ndarray, rstd: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows, n = x.shape
    gx = np.empty_like(x)
    parts: list[tuple[int, np.ndarray, np.ndarray]] = []  # each piece's share of the gradients for weight and bias

    def work(low: int, end: int) -> None:
        h, r = g[low:end], gx[low:end]
        hat = (x[low:end] - mean[low:end]) * rstd[low:end]
        np.multiply(h, hat, r)
        parts.append((low, np.add.reduce(r, axis=0), np.add.reduce(h, axis=0)))
        if w is not None:
            h = h * w
        np.multiply(hat, _dots(np, h, hat) / n, hat)
        np.subtract(h, hat, r)
        np.subtract(r, np.add.reduce(h, axis=1, keepdims=True) / n, r)
        np.multiply(r, rstd[low:end], r)

    in_pieces(work, rows, n)
    parts.sort(key=lambda part: part[0])
    gw, gb = np.zeros(n, x.dtype), np.zeros(n, x.dtype)
    for _, for_weight, for_bias in parts:
        gw += for_weight
        gb += for_bias
    return gx, gw, gb


def _by_rows(xp: Any, x: Any, w: Any, b: Any, rows: int, n: int, channels: int, eps: float) -> tuple[Any, Any, Any]:
    """Normalise ``x`` as ``rows`` rows of ``n``. Weights go along a row, or with ``channels`` along dimension 1 of ``x``."""
    kind = x.dtype
    if xp is np and not channels:
        a = _wide(x).reshape(rows, n)
        w, b = (None if v is None else _weight(v, a) for v in (w, b))
        out, mean, rstd = _layer_rows(a, w, b, eps)
        return _back(out, x.shape).astype(kind, copy=False), mean, rstd
    out, mean, rstd = _centred(xp, _wide(x).reshape(rows, n), eps)
    full = _along(out, x.shape, channels)
    found = (
        fused(xp, "affine", full, _weight(w, full), _weight(b, full))
        if xp is not np and w is not None and b is not None
        else None
    )
    if found is not None:
        return found.reshape(x.shape).astype(kind, copy=False), mean, rstd
    if w is not None:
        full *= _weight(w, full)
    if b is not None:
        full += _weight(b, full)
    return out.reshape(x.shape).astype(kind, copy=False), mean, rstd


def _back(rows: Any, shape: Shape) -> Any:
    """Rows in the shape they came in; an array of its own where that is how they are."""
    return rows if rows.shape == shape else rows.reshape(shape)


def _along(rows: Any, shape: Shape, channels: int) -> Any:
    """The rows as ``[N, channels, places]``, or as they are."""
    return rows.reshape((shape[0], channels, elements(shape[2:]))) if channels else rows


def _weight(w: Any, full: Any) -> Any:
    """Weights shaped to multiply rows, or channels."""
    w = w.astype(full.dtype, copy=False)
    return w.reshape(-1) if len(full.shape) == 2 else w.reshape((-1, 1))


def _by_rows_backward(
    xp: Any, g: Any, x: Any, w: Any, rows: int, n: int, channels: int, stats: tuple[Any, Any]
) -> tuple[Any, Any, Any]:
    """Gradients for input, weight and bias, given the saved means and reciprocal deviations."""
    kind = x.dtype
    mean, rstd = (s.reshape(rows, 1) for s in stats)
    if xp is np and not channels:
        given, a = _wide(g).reshape(rows, n), _wide(x).reshape(rows, n)
        gx, gw, gb = _layer_rows_backward(given, a, None if w is None else _weight(w, a), mean, rstd)
        return _back(gx, x.shape).astype(kind, copy=False), gw, gb
    hat = (_wide(x).reshape(rows, n) - mean) * rstd
    h = _wide(g).reshape(rows, n)
    full, full_hat = _along(h, x.shape, channels), _along(hat, x.shape, channels)
    if channels:
        gw, gb = _dots(xp, full, full_hat).sum(0).reshape(-1), full.sum(2).sum(0)
    else:
        gw, gb = (full * full_hat).sum(0), full.sum(0)
    if w is not None:
        h = (full * _weight(w, full)).reshape(rows, n)
    along, centre = _dots(xp, h, hat) / n, xp.add.reduce(h, axis=1, keepdims=True) / n
    gx = fused(xp, "centred_backward", h, hat, along, centre, rstd)
    if gx is None:
        hat *= along
        gx = h - hat
        gx -= centre
        gx *= rstd
    return gx.reshape(x.shape).astype(kind, copy=False), gw, gb


def second(grads: Sequence[Any], g: Any, x: Any, w: Any, axes: Shape, eps: float) -> tuple[Any, Any, Any]:
    """Gradients of a normalisation's gradients for ``g``, ``x`` and ``w``, all shaped to broadcast along ``axes``.

    ``grads`` belong to the gradients for input, weight and bias; any may be ``None``.
    """
    u, v, z = grads
    r, hat = _hat(x, axes, eps)
    parts = []
    for_x = for_w = None
    if u is not None:
        h = g if w is None else g * w
        projected = _project(u, hat, axes)
        parts.append(r * projected if w is None else r * w * projected)
        for_w = g * r * projected
        a, b = (u * hat).mean(axes, True), (h * hat).mean(axes, True)
        c = (u * h).mean(axes, True) - u.mean(axes, True) * h.mean(axes, True) - a * b
        for_x = -(r * r) * (_project(u * b + h * a, hat, axes) + c * hat)
    if v is not None:
        parts.append(v * hat)
        more = r * _project(g * v, hat, axes)
        for_x = more if for_x is None else for_x + more
    if z is not None:
        parts.append(z + nothing(g))
    return (sum(parts[1:], parts[0]) if parts else None), for_x, for_w


def _hat(x: Any, axes: Shape, eps: float) -> tuple[Any, Any]:
    off = x - x.mean(axes, True)
    r = ((off * off).mean(axes, True) + eps).rsqrt()
    return r, off * r


def _project(y: Any, hat: Any, axes: Shape) -> Any:
    return y - y.mean(axes, True) - hat * (y * hat).mean(axes, True)


def _shaped(x: Any, shape: Shape) -> Any:
    return None if x is None else x.reshape(shape)


# -------------------------------------------------------------------------------------------------------- layer norm


def _rows_of(shape: Shape, normalized_shape: Shape) -> tuple[int, int]:
    """How many rows, and how long they are."""
    return elements(shape[: len(shape) - len(normalized_shape)]), elements(normalized_shape)


def _groups_of(shape: Shape, num_groups: int) -> tuple[int, int]:
    return shape[0] * num_groups, shape[1] // num_groups * elements(shape[2:])


def _layer_norm(xp: Any, x: Any, w: Any, b: Any, normalized_shape: Shape, eps: float) -> Any:
    _floats(x, "LayerNormKernelImpl")
    rows, n = _rows_of(x.shape, normalized_shape)
    out, mean, rstd = _by_rows(xp, x, w, b, rows, n, 0, eps)
    kept = _stat_shape(x.shape, normalized_shape)
    return out, mean.reshape(kept), rstd.reshape(kept)


def _stat_shape(shape: Shape, normalized_shape: Shape) -> Shape:
    k = len(normalized_shape)
    return (*shape[: len(shape) - k], *(1,) * k)


def _layer_norm_grad(
    grads: Any, needs: Any, input: Any, weight: Any, mean: Any, rstd: Any, normalized_shape: Shape, eps: float
) -> Any:
    if grads[0] is None:
        return [None] * 3
    gx, gw, gb = grads[0]._op(
        "native_layer_norm_backward", input, weight, normalized_shape=normalized_shape, eps=eps, affine=any(needs[1:]),
        stats=(mean._a, rstd._a),
    )  # fmt: skip
    return [gx, gw if needs[1] else None, gb if needs[2] else None]


native_layer_norm = row(
    "native_layer_norm",
    "input weight bias",
    forward=_layer_norm,
    infer=lambda shapes, normalized_shape, eps: [
        tuple(shapes[0]), _stat_shape(shapes[0], normalized_shape), _stat_shape(shapes[0], normalized_shape)
    ],
    grad=_layer_norm_grad,
    results="result mean rstd",
    formula="x̂ = (input − mean) ÷ √(variance + ε) over the last dimensions; result = x̂ · weight + bias",
    derivatives={
        "input": "(h − mean(h) − x̂ · mean(h · x̂)) ÷ √(variance + ε), h = grad · weight",
        "weight": "Σ grad · x̂",
        "bias": "Σ grad",
    },
    autocast=GPU_FLOAT32,
    onnx="LayerNormalization",
    cost=lambda shapes, result, **attrs: 8 * elements(result),
    samples=lambda t: [
        ((t(3, 4), t(4), t(4)), {"normalized_shape": (4,), "eps": 1e-5}),
        ((t(2, 3, 4), t(3, 4), t(3, 4)), {"normalized_shape": (3, 4), "eps": 0.1}),
        ((t(2, 2, 4), None, None), {"normalized_shape": (4,), "eps": 1e-5}),
        ((t(3, 4).T, t(3), None), {"normalized_shape": (3,), "eps": 1e-5}),
        ((t(0, 4), t(4), t(4)), {"normalized_shape": (4,), "eps": 1e-5}),
    ],
)  # fmt: skip


def _layer_norm_backward(
    xp: Any, g: Any, x: Any, w: Any, normalized_shape: Shape, eps: float, affine: bool, stats: Any = None
) -> Any:
    _floats(x, "LayerNormBackwardKernelImpl")
    rows, n = _rows_of(x.shape, normalized_shape)
    if stats is None:
        stats = _centred(xp, _wide(x).reshape(rows, n), eps)[1:]
    gx, gw, gb = _by_rows_backward(xp, g, x, w, rows, n, 0, stats)
    if not affine:
        return gx, xp.zeros(0, gx.dtype), xp.zeros(0, gx.dtype)
    return gx, _back(gw, normalized_shape), _back(gb, normalized_shape)


def _layer_norm_second(
    grads: Any, needs: Any, grad_output: Any, input: Any, weight: Any, normalized_shape: Shape, eps: float, affine: bool
) -> Any:
    flat = (-1, elements(normalized_shape))
    u, v, z = grads if affine else (grads[0], None, None)
    seeds = (_shaped(u, flat), _shaped(v, (1, flat[1])), _shaped(z, (1, flat[1])))
    w = _shaped(weight, (1, flat[1]))
    for_g, for_x, for_w = second(seeds, grad_output.reshape(flat), input.reshape(flat), w, (1,), eps)
    shape = tuple(grad_output.shape)
    return [
        _shaped(for_g, shape),
        _shaped(for_x, shape),
        None if for_w is None else for_w.sum(0).reshape(normalized_shape),
    ]


native_layer_norm_backward = row(
    "native_layer_norm_backward",
    "grad_output input weight",
    forward=_layer_norm_backward,
    infer=lambda shapes, normalized_shape, affine, **attrs: [
        tuple(shapes[1]), *(tuple(normalized_shape) if affine else (0,),) * 2
    ],
    grad=_layer_norm_second,
    results="grad_input grad_weight grad_bias",
    formula="the gradients of layer norm, h = grad · weight: (h − mean(h) − x̂ · mean(h · x̂)) ÷ √(variance + ε), Σ grad · x̂, Σ grad",
    derivatives={
        "grad_output": "weight · rstd · P(u) + v · x̂ + z, for gradients u, v, z and P(y) = y − mean(y) − x̂ · mean(y · x̂)",
        "input": "rstd · P(grad · v) − rstd² · (P(u · mean(h · x̂) + h · mean(u · x̂)) + x̂ · c), c the covariance of u and h left of x̂",
        "weight": "Σ grad · rstd · P(u)",
    },
    onnx=NO_ONNX("appears in gradients only"),
    cost=lambda shapes, result, **attrs: 14 * elements(shapes[1]),
    samples=lambda t: [
        ((t(3, 4), t(3, 4), t(4)), {"normalized_shape": (4,), "eps": 0.1, "affine": True}),
        ((t(2, 4), t(2, 4), None), {"normalized_shape": (4,), "eps": 0.01, "affine": False}),
    ],
)  # fmt: skip

# -------------------------------------------------------------------------------------------------------- group norm


def _group_norm(xp: Any, x: Any, w: Any, b: Any, num_groups: int, eps: float) -> Any:
    _floats(x, "GroupNormKernelImpl")
    out, mean, rstd = _by_rows(xp, x, w, b, *_groups_of(x.shape, num_groups), x.shape[1], eps)
    return out, mean.reshape(x.shape[0], num_groups), rstd.reshape(x.shape[0], num_groups)


def _group_norm_grad(
    grads: Any, needs: Any, input: Any, weight: Any, mean: Any, rstd: Any, num_groups: int, eps: float
) -> Any:
    if grads[0] is None:
        return [None] * 3
    gx, gw, gb = grads[0]._op(
        "native_group_norm_backward", input, weight, num_groups=num_groups, eps=eps, stats=(mean._a, rstd._a)
    )
    return [gx, gw if needs[1] else None, gb if needs[2] else None]


native_group_norm = row(
    "native_group_norm",
    "input weight bias",
    forward=_group_norm,
    infer=lambda shapes, num_groups, eps: [tuple(shapes[0]), *((shapes[0][0], num_groups),) * 2],
    grad=_group_norm_grad,
    results="result mean rstd",
    formula="x̂ = (input − mean) ÷ √(variance + ε) over each group of channels; result = x̂ · weight + bias",
    derivatives={
        "input": "(h − mean(h) − x̂ · mean(h · x̂)) ÷ √(variance + ε), h = grad · weight",
        "weight": "Σ grad · x̂",
        "bias": "Σ grad",
    },
    autocast=GPU_FLOAT32,
    onnx="GroupNormalization",
    cost=lambda shapes, result, **attrs: 8 * elements(result),
    samples=lambda t: [
        ((t(2, 4, 3), t(4), t(4)), {"num_groups": 2, "eps": 1e-5}),
        ((t(2, 4), None, None), {"num_groups": 1, "eps": 0.1}),
        ((t(0, 4, 3), t(4), t(4)), {"num_groups": 2, "eps": 1e-5}),
    ],
)


def _group_norm_backward(xp: Any, g: Any, x: Any, w: Any, num_groups: int, eps: float, stats: Any = None) -> Any:
    _floats(x, "GroupNormBackwardKernelImpl")
    rows, n = _groups_of(x.shape, num_groups)
    if stats is None:
        stats = _centred(xp, _wide(x).reshape(rows, n), eps)[1:]
    return _by_rows_backward(xp, g, x, w, rows, n, x.shape[1], stats)


def _group_norm_second(
    grads: Any, needs: Any, grad_output: Any, input: Any, weight: Any, num_groups: int, eps: float
) -> Any:
    shape = tuple(input.shape)
    each = shape[1] // num_groups
    full, per = (shape[0], num_groups, each, elements(shape[2:])), (1, num_groups, each, 1)
    seeds = (_shaped(grads[0], full), _shaped(grads[1], per), _shaped(grads[2], per))
    g, x = grad_output.reshape(full), input.reshape(full)
    for_g, for_x, for_w = second(seeds, g, x, _shaped(weight, per), (2, 3), eps)
    return [
        _shaped(for_g, shape),
        _shaped(for_x, shape),
        None if for_w is None else for_w.sum((0, 3)).reshape(shape[1:2]),
    ]


native_group_norm_backward = row(
    "native_group_norm_backward",
    "grad_output input weight",
    forward=_group_norm_backward,
    infer=lambda shapes, **attrs: [tuple(shapes[1]), *((shapes[1][1],),) * 2],
    grad=_group_norm_second,
    results="grad_input grad_weight grad_bias",
    formula="the gradients of group norm, h = grad · weight: (h − mean(h) − x̂ · mean(h · x̂)) ÷ √(variance + ε), Σ grad · x̂, Σ grad",
    derivatives=native_layer_norm_backward.derivatives,
    onnx=NO_ONNX("appears in gradients only"),
    cost=lambda shapes, result, **attrs: 14 * elements(shapes[1]),
    samples=lambda t: [
        ((t(2, 4, 3), t(2, 4, 3), t(4)), {"num_groups": 2, "eps": 0.1}),
        ((t(2, 4), t(2, 4), None), {"num_groups": 1, "eps": 0.1}),
    ],
)

# -------------------------------------------------------------------------------------------------------- batch norm


def _channels(shape: Shape) -> Shape:
    """``[N, C, *]`` as ``[N, C, places]``."""
    return shape[0], shape[1], elements(shape[2:])


def _channel_sum(xp: Any, a: Any, b: Any = None) -> Any:
    """``Σ a`` or ``Σ a · b`` for each channel of ``[N, C, places]``; the sum over N is kept in float64."""
    if a.shape[2] == 1:
        each = (a if b is None else a * b)[..., 0]
    else:
        each = xp.add.reduce(a, axis=2) if b is None else _dots(xp, a, b)[..., 0]
    return xp.add.reduce(each, axis=0, dtype=np.float64)


def _batch_norm(xp: Any, x: Any, w: Any, b: Any, running_mean: Any, running_var: Any, eps: float) -> Any:
    _floats(x, "batch_norm")
    a = _wide(x).reshape(_channels(x.shape))
    if running_mean is None:
        m = a.shape[0] * a.shape[2]
        mean = (_channel_sum(xp, a) / m).astype(a.dtype)
        out = a - mean[:, None]
        var = (_channel_sum(xp, out, out) / m).astype(a.dtype)
        stats = (mean, var)
    else:
        out = a - running_mean.astype(a.dtype, copy=False)[:, None]
        var = running_var.astype(a.dtype, copy=False)
        stats = (xp.zeros(0, a.dtype), xp.zeros(0, a.dtype))
    scale = 1 / xp.sqrt(var + a.dtype.type(eps))
    out *= (scale if w is None else scale * w.astype(a.dtype, copy=False))[:, None]
    if b is not None:
        out += b.astype(a.dtype, copy=False)[:, None]
    return out.reshape(x.shape).astype(x.dtype, copy=False), *stats


def _batch_norm_grad(
    grads: Any, needs: Any, input: Any, weight: Any, running_mean: Any, running_var: Any, mean: Any, var: Any, eps: float
) -> Any:  # fmt: skip
    if grads[0] is None:
        return [None] * 5
    stats = (mean._a, var._a) if running_mean is None else None
    gx, gw, gb = grads[0]._op(
        "native_batch_norm_backward", input, weight, running_mean, running_var, eps=eps, stats=stats
    )
    return [gx, gw if needs[1] else None, gb if needs[2] else None, None, None]


def _norm_samples(t: Any) -> list[Any]:
    return [
        ((t(3, 2, 2), t(2), t(2), None, None), {"eps": 1e-5}),
        ((t(4, 2), t(2), t(2), None, None), {"eps": 0.1}),
        ((t(3, 2, 2, 2), None, None, None, None), {"eps": 0.1}),
        ((t(3, 2, 2), t(2), t(2), t(2).detach(), t(2, low=0.5, high=2).detach()), {"eps": 0.1}),
        ((t(3, 2), None, t(2), t(2).detach(), t(2, low=0.5, high=2).detach()), {"eps": 0.1}),
    ]


_CONSTANT = dict.fromkeys(("running_mean", "running_var"), "none: kept statistics are constants")
native_batch_norm = row(
    "native_batch_norm",
    "input weight bias running_mean running_var",
    forward=_batch_norm,
    infer=lambda shapes, eps: [tuple(shapes[0]), *((0 if shapes[3] is not None else shapes[0][1],),) * 2],
    grad=_batch_norm_grad,
    results="result mean var",
    formula="x̂ = (input − mean) ÷ √(variance + ε) for each channel, of the batch or kept; result = x̂ · weight + bias",
    derivatives={
        "input": "(h − mean(h) − x̂ · mean(h · x̂)) ÷ √(variance + ε), h = grad · weight; h ÷ √(variance + ε) with kept statistics",
        "weight": "Σ grad · x̂",
        "bias": "Σ grad",
        **_CONSTANT,
    },
    autocast=AS_IS,
    onnx="BatchNormalization",
    cost=lambda shapes, result, **attrs: 8 * elements(result),
    samples=_norm_samples,
)


def _batch_norm_backward(
    xp: Any, g: Any, x: Any, w: Any, running_mean: Any, running_var: Any, eps: float, stats: Any = None
) -> Any:
    _floats(x, "batch_norm_backward")
    a, h = (_wide(y).reshape(_channels(x.shape)) for y in (x, g))
    if running_mean is not None:
        stats = (running_mean, running_var)
    elif stats is None:
        stats = _batch_norm(xp, x, None, None, None, None, eps)[1:]
    mean, var = (s.astype(a.dtype, copy=False) for s in stats)
    rstd = 1 / xp.sqrt(var + a.dtype.type(eps))
    hat = a - mean[:, None]
    hat *= rstd[:, None]
    m = a.shape[0] * a.shape[2]
    gw, gb = (s.astype(a.dtype) for s in (_channel_sum(xp, h, hat), _channel_sum(xp, h)))
    scale = rstd if w is None else rstd * w.astype(a.dtype, copy=False)
    if running_mean is None:
        hat *= (gw / m)[:, None]
        xp.subtract(h, hat, hat)
        hat -= (gb / m)[:, None]
        hat *= scale[:, None]
    else:
        hat = h * scale[:, None]
    return hat.reshape(x.shape).astype(x.dtype, copy=False), gw, gb


def _batch_norm_second(
    grads: Any, needs: Any, grad_output: Any, input: Any, weight: Any, running_mean: Any, running_var: Any, eps: float
) -> Any:
    shape = tuple(input.shape)
    full, per = _channels(shape), (1, shape[1], 1)
    u, v, z = _shaped(grads[0], full), _shaped(grads[1], per), _shaped(grads[2], per)
    g, x, w = grad_output.reshape(full), input.reshape(full), _shaped(weight, per)
    if running_mean is None:
        for_g, for_x, for_w = second((u, v, z), g, x, w, (0, 2), eps)
    else:
        r = (running_var.reshape(per) + eps).rsqrt()
        hat = (x - running_mean.reshape(per)) * r
        parts: list[Any] = [None if u is None else u * r if w is None else u * r * w, None if v is None else v * hat]
        parts = [p for p in (*parts, None if z is None else z + nothing(g)) if p is not None]
        for_g = sum(parts[1:], parts[0]) if parts else None
        for_x = None if v is None else g * v * r
        for_w = None if u is None else g * u * r
    for_w = None if for_w is None or weight is None else for_w.sum((0, 2))
    return [_shaped(for_g, shape), _shaped(for_x, shape), for_w, None, None]


native_batch_norm_backward = row(
    "native_batch_norm_backward",
    "grad_output input weight running_mean running_var",
    forward=_batch_norm_backward,
    infer=lambda shapes, **attrs: [tuple(shapes[1]), *((shapes[1][1],),) * 2],
    grad=_batch_norm_second,
    results="grad_input grad_weight grad_bias",
    formula="the gradients of batch norm, h = grad · weight: (h − mean(h) − x̂ · mean(h · x̂)) ÷ √(variance + ε), Σ grad · x̂, Σ grad",
    derivatives={**native_layer_norm_backward.derivatives, **_CONSTANT},
    onnx=NO_ONNX("appears in gradients only"),
    cost=lambda shapes, result, **attrs: 14 * elements(shapes[1]),
    samples=lambda t: [((t(*a[0].shape), a[0], a[1], *a[3:]), kwargs) for a, kwargs in _norm_samples(t)],
)
