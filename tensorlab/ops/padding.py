"""Padding: values around the last dimensions of a tensor.

``pad`` is read as PyTorch reads it: pairs (before, after), the last dimension first. Negative amounts cut away.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorlab.ops.table import AS_IS, CPU_FLOAT32, NO_ONNX, no_cost, row

Shape = tuple[int, ...]


def amounts(pad: Sequence[int], ndim: int) -> list[tuple[int, int]]:
    """(before, after) for each of ``ndim`` dimensions."""
    pairs = [(pad[i], pad[i + 1]) for i in range(0, len(pad), 2)]
    return [(0, 0)] * (ndim - len(pairs)) + pairs[::-1]


def padded_shape(shape: Sequence[int], pad: Sequence[int]) -> Shape:
    return tuple([n + b + a for n, (b, a) in zip(shape, amounts(pad, len(shape)), strict=True)])


def _constant(xp: Any, a: Any, pad: Shape, value: Any) -> Any:
    out = (
        xp.full(padded_shape(a.shape, pad), value, a.dtype) if value else xp.zeros(padded_shape(a.shape, pad), a.dtype)
    )
    there, here = [], []
    for n, (before, after) in zip(a.shape, amounts(pad, a.ndim), strict=True):
        there.append(slice(max(before, 0), max(before, 0) + max(0, n + min(before, 0) + min(after, 0))))
        here.append(slice(max(-before, 0), n - max(-after, 0)))
    out[tuple(there)] = a[tuple(here)]
    return out


constant_pad_nd = row(
    "constant_pad_nd",
    "self",
    forward=_constant,
    infer=lambda shapes, pad, value: padded_shape(shapes[0], pad),
    grad={"self": lambda g, pad: g._op("constant_pad_nd", pad=tuple([-p for p in pad]), value=0)},
    formula="result = self with value around it",
    derivatives={"self": "grad without the margin"},
    onnx="Pad",
    cost=no_cost,
    samples=lambda t: [
        ((t(2, 3), (1, 2)), {"value": 1.5}),
        ((t(2, 3), (1, -1, 0, 2)), {}),
        ((t(2, 4), (-1, -1)), {}),
    ],
)


def _steps(a: Any, axis: int, start: int, stop: int, back: bool = False) -> Any:
    """Indexes ``start`` to ``stop`` of one dimension, read backwards if asked for."""
    part = slice(stop - 1, start - 1 if start else None, -1) if back else slice(start, stop)
    return a[(slice(None),) * axis + (part,)]


def _within(before: int, after: int, n: int, mode: str) -> tuple[int, int]:
    """The same margins with no side cut away beyond the edge value that the other side repeats."""
    if mode == "replicate" and before < 1 - n:
        return 1 - n, after + before + n - 1
    if mode == "replicate" and after < 1 - n:
        return before + after + n - 1, 1 - n
    return before, after


def _mirrored(xp: Any, a: Any, pad: Shape, mode: str) -> Any:
    """Each dimension in turn: a margin, the middle, a margin."""
    for axis, (before, after) in enumerate(amounts(pad, a.ndim)):
        if not before and not after:
            continue
        before, after = _within(before, after, a.shape[axis], mode)
        if before < 0 or after < 0:
            a = _steps(a, axis, max(-before, 0), a.shape[axis] - max(-after, 0))
            before, after = max(before, 0), max(after, 0)
        n = a.shape[axis]
        if mode == "reflect":
            parts = [_steps(a, axis, 1, before + 1, True), a, _steps(a, axis, n - 1 - after, n - 1, True)]
        elif mode == "circular":
            parts = [_steps(a, axis, n - before, n), a, _steps(a, axis, 0, after)]
        else:
            parts = [
                xp.repeat(_steps(a, axis, 0, 1), before, axis),
                a,
                xp.repeat(_steps(a, axis, n - 1, n), after, axis),
            ]
        a = xp.concatenate([part for part in parts if part.shape[axis]], axis)
    return a if a.flags.c_contiguous and a.base is None else a.copy()


def _mirrored_backward(xp: Any, g: Any, shape: Shape, pad: Shape, mode: str) -> Any:
    """What lies in the margins is added to where it came from."""
    for axis, (before, after) in reversed(list(enumerate(amounts(pad, g.ndim)))):
        if not before and not after:
            continue
        before, after = _within(before, after, shape[axis], mode)
        cut = (max(-before, 0), max(-after, 0))
        before, after = max(before, 0), max(after, 0)
        n = shape[axis] - sum(cut)
        inner = _steps(g, axis, before, before + n).copy()
        first, last = _steps(g, axis, 0, before), _steps(g, axis, before + n, before + n + after)
        if mode == "reflect":
            _add(inner, axis, 1, before + 1, _steps(first, axis, 0, before, True) if before else first)
            _add(inner, axis, n - 1 - after, n - 1, _steps(last, axis, 0, after, True) if after else last)
        elif mode == "circular":
            _add(inner, axis, n - before, n, first)
            _add(inner, axis, 0, after, last)
        else:
            _add(inner, axis, 0, 1, first.sum(axis, keepdims=True) if before else first)
            _add(inner, axis, n - 1, n, last.sum(axis, keepdims=True) if after else last)
        g = inner
        if any(cut):
            g = xp.zeros((*inner.shape[:axis], shape[axis], *inner.shape[axis + 1 :]), inner.dtype)
            _steps(g, axis, cut[0], cut[0] + n)[...] = inner
    return g if g.flags.c_contiguous else xp.ascontiguousarray(g)


def _add(inner: Any, axis: int, start: int, stop: int, values: Any) -> None:
    if values.shape[axis]:
        target = _steps(inner, axis, start, stop)
        target += values


def _margins(name: str, n: int, mode: str, onnx: Any) -> None:
    """A row that pads ``n`` dimensions out of the tensor itself, and the row of its gradient."""
    shape = (2, 3, 4)[:n]

    def samples(t: Any) -> Any:
        return [
            ((t(1, 2, *shape),), {"pad": (1, 1) * n}),
            ((t(2, *shape),), {"pad": (1, 0) * n}),
            ((t(2, *shape[:-1], 5),), {"pad": (2, -1) + (0, 1) * (n - 1)}),
        ]

    row(
        f"{name}{n}d",
        "self",
        forward=lambda xp, a, pad: _mirrored(xp, a, pad, mode),
        infer=lambda shapes, pad: padded_shape(shapes[0], pad),
        grad={"self": lambda g, self_shape, pad: g._op(f"{name}{n}d_backward", shape=tuple(self_shape), pad=pad)},
        formula="result = self with its own values around it",
        derivatives={"self": "grad, its margins added to where they came from"},
        autocast=CPU_FLOAT32 if mode == "replicate" or (mode == "reflect" and n < 3) else AS_IS,
        onnx=onnx,
        cost=no_cost,
        samples=samples,
        node=f"{''.join(part.capitalize() for part in name.split('_'))}{n}DBackward0",
    )
    row(
        f"{name}{n}d_backward",
        "grad",
        forward=lambda xp, g, shape, pad: _mirrored_backward(xp, g, shape, pad, mode),
        infer=lambda shapes, shape, pad: shape,
        grad={"grad": lambda g, pad: g._op(f"{name}{n}d", pad=pad)},
        formula="result = the middle of grad, its margins added to where they came from",
        derivatives={"grad": "grad padded the same way"},
        onnx=NO_ONNX("appears in gradients only"),
        cost=no_cost,
        samples=lambda t: [
            ((t(1, 2, *[s + 2 for s in shape]),), {"shape": (1, 2, *shape), "pad": (1, 1) * n}),
        ],
        node=f"{''.join(part.capitalize() for part in name.split('_'))}{n}DBackwardBackward0",
    )


for _n in (1, 2, 3):
    _margins("reflection_pad", _n, "reflect", "Pad")
    _margins("replication_pad", _n, "replicate", "Pad")
    _margins("circular_pad", _n, "circular", "Pad")
