"""Distances between all pairs of two sets of points. Source: the p-norm of differences, ``(Σ |x − y|ᵖ)^(1/p)``."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from tensorlab.layout import broadcast_shapes
from tensorlab.ops.table import FLOAT32, NO_ONNX, elements, nothing, row

Shape = tuple[int, ...]
_AT_ONCE = 1 << 22  # differences held in memory at a time


def _shape(shapes: Sequence[Shape], **attrs: Any) -> Shape:
    a, b = tuple(shapes[0]), tuple(shapes[1])
    if len(a) < 2 or len(b) < 2:
        raise RuntimeError(f"cdist(): X1 and X2 must be at least two-dimensional, but are {len(a)}D and {len(b)}D")
    if a[-1] != b[-1]:
        raise RuntimeError(f"cdist(): X1 and X2 must have the same number of columns. X1: {a[-1]} X2: {b[-1]}")
    return broadcast_shapes(a[:-2], b[:-2], op="cdist") + (a[-2], b[-2])


#: Whether Euclidean distances come from a product of matrices, by the mode and the numbers of points.
MODES = {
    "use_mm_for_euclid_dist_if_necessary": lambda rows, columns: rows > 25 or columns > 25,
    "use_mm_for_euclid_dist": lambda rows, columns: True,
    "donot_use_mm_for_euclid_dist": lambda rows, columns: False,
}


def by_products(a: Shape, b: Shape, p: float, compute_mode: str) -> bool:
    return p == 2 and MODES[compute_mode](a[-2], b[-2])


def _norm(xp: Any, off: Any, p: float) -> Any:
    if p == 0:
        return (off != 0).sum(-1).astype(off.dtype)
    if p == 2:
        return xp.sqrt((off * off).sum(-1))
    off = xp.abs(off)
    if p == 1:
        return off.sum(-1)
    if p == inf:
        return off.max(-1) if off.shape[-1] else xp.zeros(off.shape[:-1], off.dtype)
    return (off**p).sum(-1) ** (1 / p)


def _cdist(xp: Any, a: Any, b: Any, p: float, compute_mode: str) -> Any:
    shape = _shape((a.shape, b.shape))
    if by_products(a.shape, b.shape, p, compute_mode):
        one, two = ((x * x).sum(-1, keepdims=True) for x in (a, b))  # |a|² − 2ab + |b|², as one product
        left = xp.concatenate([a * -2, one, xp.ones_like(one)], axis=-1)
        squares = left @ xp.concatenate([b, xp.ones_like(two), two], axis=-1).swapaxes(-1, -2)
        return xp.sqrt(squares.clip(0, None))
    out = xp.empty(shape, a.dtype)
    a = xp.broadcast_to(a, shape[:-2] + a.shape[-2:])
    b = xp.broadcast_to(b, shape[:-2] + b.shape[-2:])
    step = max(1, _AT_ONCE // max(1, elements(b.shape)))
    for i in range(0, shape[-2], step):
        out[..., i : i + step, :] = _norm(xp, a[..., i : i + step, None, :] - b[..., None, :, :], p)
    return out


def _or_1(x: Any) -> Any:
    """1 in place of 0, so that no power of it is infinite."""
    return x.masked_fill(x == 0, 1)


def _towards(g: Any, a: Any, b: Any, result: Any, p: float, compute_mode: str) -> Any:
    """The gradient of distances for the points ``a``: 0 where points coincide."""
    if p == 0 or not a.shape[-1]:
        return nothing(a)
    if by_products(a.shape, b.shape, p, compute_mode):
        weight = (g / _or_1(result)).masked_fill(result == 0, 0)
        return a * weight.sum(-1, True) - weight @ b
    off = a.unsqueeze(-2) - b.unsqueeze(-3)
    if p == 1:
        return (off.sgn() * g.unsqueeze(-1)).sum(-2)
    if p == inf:
        return (off.sgn() * g.unsqueeze(-1)).masked_fill(off.abs() != result.unsqueeze(-1), 0).sum(-2)
    weight = (g / _or_1(result) ** (p - 1)).masked_fill(result == 0, 0).unsqueeze(-1)
    if p == 2:
        return (off * weight).sum(-2)
    return (off.sgn() * _or_1(off).abs() ** (p - 1) * weight).sum(-2)


cdist = row(
    "cdist",
    "x1 x2",
    forward=_cdist,
    infer=_shape,
    grad={
        "x1": lambda g, x1, x2, result, p, compute_mode: _towards(g, x1, x2, result, p, compute_mode),
        "x2": lambda g, x1, x2, result, p, compute_mode: _towards(g.mT, x2, x1, result.mT, p, compute_mode),
    },
    formula="result[i, j] = (Σ |x1[i] − x2[j]|ᵖ)^(1/p)",
    derivatives={
        "x1": "Σ grad · (x1 − x2) · |x1 − x2|^(p−2) ÷ result^(p−1), 0 where the distance is 0",
        "x2": "Σ grad · (x2 − x1) · |x1 − x2|^(p−2) ÷ result^(p−1), 0 where the distance is 0",
    },
    autocast=FLOAT32,
    onnx=NO_ONNX("Sub, ReduceL2"),
    cost=lambda shapes, result, **attrs: 3 * elements(result) * shapes[0][-1],
    samples=lambda t: [
        ((t(3, 2), t(4, 2)), {"p": 2.0, "compute_mode": "donot_use_mm_for_euclid_dist"}),
        ((t(3, 2), t(4, 2)), {"p": 2.0, "compute_mode": "use_mm_for_euclid_dist"}),
        ((t(2, 3, 2), t(4, 2)), {"p": 1.0, "compute_mode": "donot_use_mm_for_euclid_dist"}),
        ((t(3, 2), t(1, 4, 2)), {"p": 3.0, "compute_mode": "donot_use_mm_for_euclid_dist"}),
        ((t(3, 2), t(4, 2)), {"p": inf, "compute_mode": "donot_use_mm_for_euclid_dist"}),
    ],
)
