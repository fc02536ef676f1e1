"""A whole direction of an LSTM layer over time as one operation.

Steps are laid one after another in one matrix, ``batch_sizes`` of them at a time, longest sequences first; so sequences of
different lengths need no padding. The input's part of the gates comes in; what is kept for the gradient are the gates after their
sigmoid and tanh, and the states before each step. Where a second derivative is wanted the gradient is worked out with Tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from tensorlab.modes import state
from tensorlab.ops.table import LOWER, NO_GRAD, NO_ONNX, nothing, row

Shape = tuple[int, ...]


def steps(batch_sizes: Sequence[int], reverse: bool) -> list[tuple[int, int, int]]:
    """(first row, end, how many) of every step, in the order they run."""
    ends = list(accumulate(batch_sizes))
    found = [(end - n, end, n) for end, n in zip(ends, batch_sizes, strict=True)]
    return found[::-1] if reverse else found


def _affine(xp: Any, kind: Any, hidden: int) -> tuple[Any, Any]:
    """``sigmoid(x) = tanh(x / 2) / 2 + 1 / 2`` for three gates of four: factor and summand for one row of gates."""
    scale, shift = xp.full(4 * hidden, 0.5, kind), xp.full(4 * hidden, 0.5, kind)
    scale[2 * hidden : 3 * hidden], shift[2 * hidden : 3 * hidden] = 1, 0
    return scale, shift


def _lstm(xp: Any, gates: Any, h0: Any, c0: Any, weight: Any, batch_sizes: Shape, reverse: bool) -> Any:
    kind, hidden = gates.dtype, h0.shape[1]
    if kind.kind not in "fV":
        raise RuntimeError(f'"lstm" not implemented for {kind.name}; convert the input with .float()')
    if any(a.dtype != kind for a in (h0, c0, weight)):
        names = [a.dtype.name for a in (gates, h0, c0, weight)]
        raise RuntimeError(f"lstm(): input, states and weights must have one type, but have {names}")
    wide = np.dtype(np.float32) if kind.itemsize == 2 else kind
    h0, c0 = h0.astype(wide), c0.astype(wide)
    scale, shift = _affine(xp, wide, hidden)
    gates = gates.astype(wide, copy=False) * scale
    turned = xp.ascontiguousarray((weight.astype(wide, copy=False) * scale[:, None]).T)
    total = gates.shape[0]
    out, squashed, c_before, h_before = (xp.empty((total, hidden), wide) for _ in range(4))
    h, c = h0, c0
    for low, end, n in steps(batch_sizes, reverse):
        a, now, cell = gates[low:end], h[:n], c[:n]
        h_before[low:end], c_before[low:end] = now, cell
        a += now.dot(turned)
        xp.tanh(a, a)
        a *= scale
        a += shift
        cell *= a[:, hidden : 2 * hidden]
        cell += a[:, :hidden] * a[:, 2 * hidden : 3 * hidden]
        xp.tanh(cell, squashed[low:end])
        xp.multiply(a[:, 3 * hidden :], squashed[low:end], now)
        out[low:end] = now
    return tuple([a.astype(kind, copy=False) for a in (out, h, c, gates, squashed, c_before, h_before)])


def _lstm_backward(
    xp: Any, g: Any, gh: Any, gc: Any, weight: Any, acts: Any, squashed: Any, c_before: Any, h_before: Any,
    batch_sizes: Shape, reverse: bool,
) -> Any:  # fmt: skip
    kind, hidden = acts.dtype, weight.shape[1]
    wide = np.dtype(np.float32) if kind.itemsize == 2 else kind
    g, weight, acts, squashed, c_before, h_before = (
        a.astype(wide, copy=False) for a in (g, weight, acts, squashed, c_before, h_before)
    )
    dh, dc = gh.astype(wide), gc.astype(wide)
    slope = acts * (1 - acts)
    middle = acts[:, 2 * hidden : 3 * hidden]
    slope[:, 2 * hidden : 3 * hidden] = 1 - middle * middle
    through = acts[:, 3 * hidden :] * (1 - squashed * squashed)
    out = xp.empty_like(acts)
    for low, end, n in reversed(steps(batch_sizes, reverse)):
        a, z, d, e = acts[low:end], out[low:end], dh[:n], dc[:n]
        d += g[low:end]
        e += d * through[low:end]
        xp.multiply(e, a[:, 2 * hidden : 3 * hidden], z[:, :hidden])
        xp.multiply(e, c_before[low:end], z[:, hidden : 2 * hidden])
        xp.multiply(e, a[:, :hidden], z[:, 2 * hidden : 3 * hidden])
        xp.multiply(d, squashed[low:end], z[:, 3 * hidden :])
        z *= slope[low:end]
        d[...] = z.dot(weight)
        e *= a[:, hidden : 2 * hidden]
    return tuple([a.astype(kind, copy=False) for a in (out, dh, dc, out.T.dot(h_before))])


# ------------------------------------------------------------------------------------------------ with Tensors


def _joined(parts: list[Any]) -> Any:
    return (
        parts[0]._op("cat", *parts[1:], dim=0, sizes=tuple(p.shape[0] for p in parts)) if len(parts) > 1 else parts[0]
    )


def _over(part: Any, whole: Any) -> Any:
    """``whole`` with its first rows replaced."""
    n = part.shape[0]
    return part if n == whole.shape[0] else _joined([part, whole[n:]])


def _by_hand(grads: Any, gates: Any, h0: Any, c0: Any, weight: Any, batch_sizes: Shape, reverse: bool) -> list[Any]:
    """The gradients once more, with Tensors, so that they differentiate again."""
    hidden = h0.shape[1]
    h, c, kept = h0, c0, []
    order = steps(batch_sizes, reverse)
    for low, end, n in order:
        before, cell = h[:n], c[:n]
        i, f, g, o = (gates[low:end] + before @ weight.mT).split(hidden, 1)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        now = f * cell + i * g
        t = now.tanh()
        kept.append((before, cell, i, f, g, o, t))
        h, c = _over(o * t, h), _over(now, c)
    g_out, dh, dc = grads
    dh = nothing(h0) if dh is None else dh
    dc = nothing(c0) if dc is None else dc
    parts = []
    for (low, end, n), (before, cell, i, f, g, o, t) in zip(reversed(order), reversed(kept), strict=True):
        d = dh[:n] if g_out is None else dh[:n] + g_out[low:end]
        e = dc[:n] + d * o * (1 - t * t)
        z = [e * g * i * (1 - i), e * cell * f * (1 - f), e * i * (1 - g * g), d * t * o * (1 - o)]
        z = z[0]._op("cat", *z[1:], dim=1, sizes=(hidden,) * 4)
        parts.append((low, z, z.mT @ before))
        dh, dc = _over(z @ weight, dh), _over(e * f, dc)
    for_gates = _joined([z for _, z, _ in sorted(parts, key=lambda part: part[0])])
    for_weight = sum([w for _, _, w in parts[1:]], parts[0][2])
    return [for_gates, dh, dc, for_weight]


def _lstm_grad(
    grads: Any, needs: Any, gates: Any, h0: Any, c0: Any, weight_hh: Any, activations: Any, squashed: Any, c_before: Any,
    h_before: Any, batch_sizes: Shape, reverse: bool,
) -> Any:  # fmt: skip
    if state.grad:
        return _by_hand(grads[:3], gates, h0, c0, weight_hh, batch_sizes, reverse)
    g, gh, gc = (
        x._zeros(tuple(x.shape)) if g is None else g for g, x in zip(grads[:3], (squashed, h0, c0), strict=True)
    )
    return g._op(
        "lstm_layer_backward", gh, gc, weight_hh, activations, squashed, c_before, h_before,
        batch_sizes=batch_sizes, reverse=reverse,
    )  # fmt: skip


def _lstm_shapes(shapes: Sequence[Shape], **attrs: Any) -> list[Shape]:
    total, (n, hidden) = shapes[0][0], shapes[1]
    rows = (total, hidden)
    return [rows, (n, hidden), (n, hidden), (total, 4 * hidden), rows, rows, rows]


def _samples(t: Any) -> list[Any]:
    def call(total: int, n: int, hidden: int, **attrs: Any) -> Any:
        return (t(total, 4 * hidden), t(n, hidden), t(n, hidden), t(4 * hidden, hidden)), attrs

    return [
        call(4, 2, 2, batch_sizes=(2, 2), reverse=False),
        call(4, 2, 2, batch_sizes=(2, 1, 1), reverse=True),
        call(3, 2, 1, batch_sizes=(2, 1), reverse=False),
    ]


def _flops(shapes: Sequence[Shape], result: Shape, **attrs: Any) -> int:
    return shapes[0][0] * shapes[0][1] * (2 * shapes[1][1] + 10)


lstm_layer = row(
    "lstm_layer",
    "gates h0 c0 weight_hh",
    forward=_lstm,
    infer=_lstm_shapes,
    grad=_lstm_grad,
    results="output h_n c_n activations squashed c_before h_before",
    formula="for every step: i, f, g, o = gates + h · weightᵀ; c = σ(f) · c + σ(i) · tanh(g); h = σ(o) · tanh(c)",
    derivatives={
        "gates": "δ of every step: the slopes of i, f, g, o times what arrives at them",
        "h0": "δ · weight of the first step",
        "c0": "what arrives at c of the first step, times σ(f)",
        "weight_hh": "Σ δᵀ · h",
    },
    autocast=LOWER,
    onnx="LSTM",
    cost=_flops,
    samples=_samples,
)
lstm_layer_backward = row(
    "lstm_layer_backward",
    "grad_output grad_h grad_c weight_hh activations squashed c_before h_before",
    forward=_lstm_backward,
    infer=lambda shapes, **attrs: [tuple(shapes[4]), tuple(shapes[1]), tuple(shapes[2]), tuple(shapes[3])],
    grad=NO_GRAD("runs only where no second derivative is wanted"),
    results="grad_gates grad_h0 grad_c0 grad_weight",
    formula="the gradients of an LSTM layer, from its last step to its first",
    onnx=NO_ONNX("appears in gradients only"),
    cost=lambda shapes, result, **attrs: 2 * _flops([shapes[4], shapes[1]], result),
    samples=lambda t: [
        (
            (t(4, 2), t(2, 2), t(2, 2), t(8, 2), *(t(4, n, low=0, high=1) for n in (8, 2, 2, 2))),
            {"batch_sizes": (2, 2), "reverse": False},
        )
    ],
)
