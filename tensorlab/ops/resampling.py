"""Tensors at another size: each dimension in turn becomes a weighted sum of a few of its elements (the taps).

Which elements, with which weights, follows from the sizes, the scale and the mode alone. Nearest has one tap, linear two, cubic four
(Keys, "Cubic convolution interpolation", 1981, a = -0.75), and with antialias as many as the window that is stretched by the scale
covers (a = -0.5 then). The gradient adds what the taps took back to where it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorlab import backend
from tensorlab.ops.table import NO_ONNX, elements, row
from tensorlab.ops.windows import laid_out, widened

Shape = tuple[int, ...]
Taps = list[tuple[Any, Any]]  # (index of every result, weight of every result or None for 1)


def ratio(n: int, out: int, align_corners: bool, scale: float | None) -> float:
    """How far apart in the input two neighbours of the result lie."""
    if align_corners:
        return (n - 1) / (out - 1) if out > 1 else 0.0
    return 1.0 / scale if scale is not None and scale > 0 else n / out


def _nearest(xp: Any, n: int, out: int, scale: float | None, exact: bool) -> Taps:
    at = xp.arange(out)
    if n == out:
        return [(at, None)]
    step = np.float32(ratio(n, out, False, scale))
    place = (at.astype(np.float32) + np.float32(0.5 if exact else 0.0)) * step
    return [(xp.minimum(xp.floor(place).astype(np.int64), n - 1), None)]


def _places(xp: Any, n: int, out: int, align_corners: bool, scale: float | None, kind: Any) -> Any:
    step = kind(ratio(n, out, align_corners, scale))
    at = xp.arange(out).astype(kind)
    return at * step if align_corners else (at + kind(0.5)) * step - kind(0.5)


def _linear(xp: Any, n: int, out: int, align_corners: bool, scale: float | None, kind: Any) -> Taps:
    if n == out:
        return [(xp.arange(out), None)]
    place = xp.maximum(_places(xp, n, out, align_corners, scale, kind), kind(0))
    first = xp.minimum(place.astype(np.int64), n - 1)
    far = xp.clip(place - first.astype(kind), kind(0), kind(1))
    return [(first, kind(1) - far), (xp.minimum(first + 1, n - 1), far)]


def _cubic(xp: Any, n: int, out: int, align_corners: bool, scale: float | None, kind: Any) -> Taps:
    place = _places(xp, n, out, align_corners, scale, kind)
    floor = xp.floor(place)
    far = place - floor
    first = floor.astype(np.int64)
    distances = (far + kind(1), far, kind(1) - far, kind(2) - far)
    return [
        (xp.clip(first + d, 0, n - 1), _keys(xp, x, kind(-0.75), kind))
        for d, x in zip((-1, 0, 1, 2), distances, strict=True)
    ]


def _keys(xp: Any, x: Any, a: Any, kind: Any) -> Any:
    """Keys' cubic kernel at distances ``x >= 0``."""
    near = ((a + kind(2)) * x - (a + kind(3))) * x * x + kind(1)
    far = ((x - kind(5)) * x + kind(8)) * x * a - kind(4) * a
    return xp.where(x <= 1, near, xp.where(x < 2, far, kind(0)))


def _smooth(xp: Any, n: int, out: int, align_corners: bool, scale: float | None, kind: Any, cubic: bool) -> Taps:
    """Taps with antialias: the kernel stretched over as much of the input as one element of the result stands for."""
    step = kind(ratio(n, out, align_corners, scale))
    half = kind(2 if cubic else 1)
    support = half * step if step >= 1 else half
    narrow = kind(1) / step if step >= 1 else kind(1)
    centre = (xp.arange(out).astype(kind) + kind(0.5)) * step
    first = xp.maximum((centre - support + kind(0.5)).astype(np.int64), 0)
    count = xp.minimum((centre + support + kind(0.5)).astype(np.int64), n) - first
    taps = []
    total = xp.zeros(out, kind)
    for j in range(int(np.ceil(support)) * 2 + 1):
        x = xp.abs(((first + j).astype(kind) - centre + kind(0.5)) * narrow)
        weight = _keys(xp, x, kind(-0.5), kind) if cubic else xp.maximum(kind(1) - x, kind(0))
        weight = xp.where(count > j, weight, kind(0))
        total += weight
        taps.append((xp.minimum(first + j, n - 1), weight))
    return [(index, weight / total) for index, weight in taps]


def _taps(
    xp: Any, mode: str, n: int, out: int, align_corners: bool, scale: float | None, kind: Any, antialias: bool
) -> Taps:
    if mode in ("nearest", "nearest-exact"):
        return _nearest(xp, n, out, scale, mode == "nearest-exact")
    if antialias:
        return _smooth(xp, n, out, align_corners, scale, kind, mode == "cubic")
    make = _cubic if mode == "cubic" else _linear
    return make(xp, n, out, align_corners, scale, kind)


def _along(weight: Any, axis: int, ndim: int) -> Any:
    return weight.reshape((1,) * axis + (-1,) + (1,) * (ndim - axis - 1))


def _resample(
    xp: Any, a: Any, mode: str, antialias: bool, size: Shape, scales: Sequence[float | None], align_corners: bool
) -> Any:
    if a.dtype.kind not in "fV" and a.dtype != np.uint8:
        raise RuntimeError(f'"upsample_{mode}" not implemented for {a.dtype.name}; convert with .float()')
    if a.dtype == np.uint8 and mode in ("linear", "cubic"):
        return laid_out(xp, _bytes(xp, a, mode, antialias, size, scales, align_corners), a)
    kind = np.float64 if a.dtype == np.float64 else np.float32
    found = a
    for d in range(len(size) - 1, -1, -1):
        axis = a.ndim - len(size) + d
        total: Any = None
        for index, weight in _taps(xp, mode, a.shape[axis], size[d], align_corners, scales[d], kind, antialias):
            part = xp.take(found, index, axis)
            if weight is not None:
                part *= _along(weight, axis, a.ndim)
            total = part if total is None else xp.add(total, part, out=total)
        found = total
    return laid_out(xp, found, a)


def _merged(xp: Any, taps: Taps) -> Taps:
    """The same taps with the weights of equal neighbours in one of them, as happens at the border."""
    for j in range(len(taps) - 1, 0, -1):
        (before, first), (after, second) = taps[j - 1], taps[j]
        same = before == after
        taps[j - 1], taps[j] = (before, xp.where(same, first + second, first)), (after, xp.where(same, 0.0, second))
    return taps


def _bytes(
    xp: Any, a: Any, mode: str, antialias: bool, size: Shape, scales: Sequence[float | None], align_corners: bool
) -> Any:
    """uint8 with weights rounded to 16 bits, and each dimension's result to 8 bits, as fast kernels for images have it."""
    found = a
    for d in range(len(size) - 1, -1, -1):
        axis = a.ndim - len(size) + d
        if found.shape[axis] == size[d]:
            continue
        taps = _merged(xp, _taps(xp, mode, a.shape[axis], size[d], align_corners, scales[d], np.float64, antialias))
        largest = max([float(xp.max(weight)) for _, weight in taps])
        bits = 0
        while bits < 22 and int(0.5 + largest * (1 << (bits + 1))) < 1 << 15:
            bits += 1
        total = xp.full((*found.shape[:axis], size[d], *found.shape[axis + 1 :]), 1 << (bits - 1), np.int64)
        for index, weight in taps:
            whole = xp.trunc(weight * (1 << bits) + xp.where(weight < 0, -0.5, 0.5)).astype(np.int64)
            total += xp.take(found, index, axis).astype(np.int64) * _along(whole, axis, a.ndim)
        found = xp.clip(total >> bits, 0, 255).astype(np.uint8)
    return found.copy() if found is a else found


def _resample_backward(
    xp: Any, g: Any, shape: Shape, mode: str, antialias: bool, scales: Sequence[float | None], align_corners: bool
) -> Any:
    kind = np.float64 if g.dtype == np.float64 else np.float32
    n = len(scales)
    for d in range(n):
        axis = len(shape) - n + d
        out = xp.zeros((*g.shape[:axis], shape[axis], *g.shape[axis + 1 :]), g.dtype)
        for index, weight in _taps(xp, mode, shape[axis], g.shape[axis], align_corners, scales[d], kind, antialias):
            _add(xp, out, axis, index, g if weight is None else g * _along(weight, axis, g.ndim))
        g = out
    return g


def _add(xp: Any, out: Any, axis: int, index: Any, part: Any) -> None:
    """Add to the indexes of one dimension with every repeat counted; indexes never fall."""
    before = (slice(None),) * axis
    if xp is not np:
        backend.of(out).add_at(out, (*before, index), part)
        return
    starts = np.flatnonzero(np.concatenate(([True], index[1:] != index[:-1])))
    if len(starts) == len(index):
        out[(*before, index)] += part
        return
    each = len(index) // len(starts)
    if np.array_equal(starts, np.arange(0, len(index), each)):  # the same number of each index: a few whole sums
        for j in range(each):
            out[(*before, index[starts])] += part[(*before, slice(j, None, each))]
    else:
        out[(*before, index[starts])] += np.add.reduceat(part, starts, axis=axis)


# ------------------------------------------------------------------------------------------------------------- rows


def _name(name: str) -> str:
    words = [part.capitalize() for part in name.strip("_").split("_")]
    return "".join(words).replace("1d", "1D").replace("2d", "2D").replace("3d", "3D")


def _upsampling(name: str, n: int, mode: str, onnx: Any, antialias: bool = False) -> None:
    """The row of one way to resample ``n`` dimensions, and the row of its gradient."""
    size, small = (5, 6, 3)[:n], (3, 4, 2)[:n]
    none = (None,) * n

    def forward(xp: Any, a: Any, size: Shape, scales: Any, align_corners: bool) -> Any:
        return _resample(xp, a, mode, antialias, size, scales, align_corners)

    def backward(xp: Any, g: Any, shape: Shape, scales: Any, align_corners: bool) -> Any:
        if g.dtype.kind not in "fV":
            raise RuntimeError(f'"{name}_backward" not implemented for {g.dtype.name}')
        return _resample_backward(xp, g, shape, mode, antialias, scales, align_corners)

    def samples(t: Any) -> Any:
        found = [
            ((t(1, 2, *small),), {"size": size, "scales": none, "align_corners": False}),
            ((t(1, 2, *size),), {"size": small, "scales": (0.7,) * n, "align_corners": False}),
        ]
        corners = {"size": size, "scales": none, "align_corners": True}
        return found if mode.startswith("nearest") else [*found, ((t(2, 1, *small),), corners)]

    row(
        name,
        "self",
        forward=widened(forward),
        infer=lambda shapes, size, **attrs: (*shapes[0][:2], *size),
        grad={
            "self": lambda g, self_shape, scales, align_corners: g._op(
                f"{name}_backward", shape=tuple(self_shape), scales=scales, align_corners=align_corners
            )
        },
        formula="result[p] = Σ weight[p, t] · self[tap[p, t]], one dimension after the other",
        derivatives={"self": "weight · grad, added up at the taps"},
        onnx=onnx,
        cost=lambda shapes, result, **attrs: 4 * elements(result),
        samples=samples,
        node=f"{_name(name)}Backward0",
    )
    row(
        f"{name}_backward",
        "grad",
        forward=widened(backward),
        infer=lambda shapes, shape, **attrs: shape,
        grad={
            "grad": lambda g, grad_shape, scales, align_corners: g._op(
                name, size=tuple(grad_shape[2:]), scales=scales, align_corners=align_corners
            )
        },
        formula="result = weight · grad, added up at the taps",
        derivatives={"grad": "grad at the new size"},
        onnx=NO_ONNX("appears in gradients only"),
        cost=lambda shapes, result, **attrs: 4 * elements(shapes[0]),
        samples=lambda t: [((t(1, 2, *size),), {"shape": (1, 2, *small), "scales": none, "align_corners": False})],
        node=f"{_name(name)}BackwardBackward0",
    )


for _n in (1, 2, 3):
    _upsampling(f"upsample_nearest{_n}d", _n, "nearest", "Resize")
    _upsampling(f"_upsample_nearest_exact{_n}d", _n, "nearest-exact", "Resize")
_upsampling("upsample_linear1d", 1, "linear", "Resize")
_upsampling("upsample_bilinear2d", 2, "linear", "Resize")
_upsampling("upsample_trilinear3d", 3, "linear", "Resize")
_upsampling("upsample_bicubic2d", 2, "cubic", "Resize")
_upsampling("_upsample_bilinear2d_aa", 2, "linear", "Resize", antialias=True)
_upsampling("_upsample_bicubic2d_aa", 2, "cubic", "Resize", antialias=True)
