"""Losses of single elements, reduced in the same pass: probabilities, scores, and distances with a bend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorlab.layout import broadcast_shapes
from tensorlab.ops.piecewise import chosen
from tensorlab.ops.reduce import wide
from tensorlab.ops.table import FLOAT32, NO_ONNX, elements, nothing, row

Shape = tuple[int, ...]


def _kernel(losses: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A forward from a formula for single elements: float16 and bfloat16 in float32, then mean, sum or neither."""

    def forward(xp: Any, a: Any, *others: Any, reduction: str, **attrs: Any) -> Any:
        if a.dtype.kind not in "fV":
            raise RuntimeError(f'"{name}" not implemented for {a.dtype.name}; convert with .float()')
        wider = [None if x is None else x.astype(wide(a), copy=False) for x in (a, *others)]
        found = losses(xp, *wider, **attrs)
        if reduction == "none":
            return found.astype(a.dtype, copy=False)
        total = xp.add.reduce(found, axis=None)
        return np.true_divide(total, found.size).astype(a.dtype) if reduction == "mean" else total.astype(a.dtype)

    return forward


def _shape(shapes: Sequence[Shape], reduction: str, **attrs: Any) -> Shape:
    return broadcast_shapes(*[s for s in shapes if s is not None]) if reduction == "none" else ()


def _share(g: Any, x: Any, reduction: str) -> Any:
    """What arrives at one element."""
    return g / max(1, elements(x.shape)) if reduction == "mean" else g


def _cost(shapes: Sequence[Shape], result: Shape, **attrs: Any) -> int:
    return 10 * elements(shapes[0])


def _reductions(t: Any, *args: Any, **attrs: Any) -> list[Any]:
    return [((*(make() for make in args),), {"reduction": how, **attrs}) for how in ("mean", "sum", "none")]


# -------------------------------------------------------------------------------------------- distances with a bend


def _huber(xp: Any, a: Any, b: Any, delta: float) -> Any:
    off = abs(a - b)
    return xp.where(off <= delta, off * off * 0.5, (off - 0.5 * delta) * delta).astype(a.dtype, copy=False)


def _huber_grad(g: Any, self: Any, target: Any, reduction: str, delta: float) -> Any:
    off = self - target
    return _share(g, off, reduction) * chosen(
        off <= -delta, nothing(off) - delta, chosen(off >= delta, nothing(off) + delta, off)
    )


huber_loss = row(
    "huber_loss",
    "self target",
    forward=_kernel(_huber, "huber"),
    infer=_shape,
    grad={
        "self": _huber_grad,
        "target": lambda g, self, target, reduction, delta: -_huber_grad(g, self, target, reduction, delta),
    },
    formula="d = self − target; result = d² ÷ 2 where |d| ≤ δ, else δ (|d| − δ ÷ 2)",
    derivatives={"self": "grad · d limited to ±δ", "target": "−grad · d limited to ±δ"},
    autocast=FLOAT32,
    onnx=NO_ONNX("Sub, Abs, Where"),
    cost=_cost,
    samples=lambda t: [
        *_reductions(t, lambda: t(2, 3), lambda: t(2, 3), delta=0.7),
        ((t(2, 1), t(3)), {"reduction": "none", "delta": 0.7}),
    ],
    promotes=True,
    on_arrays=True,
)


def _smooth(xp: Any, a: Any, b: Any, beta: float) -> Any:
    off = abs(a - b)
    if beta == 0:
        return off
    return xp.where(off < beta, off * off * (0.5 / beta), off - 0.5 * beta).astype(a.dtype, copy=False)


def _smooth_grad(g: Any, self: Any, target: Any, reduction: str, beta: float) -> Any:
    off = self - target
    inner = off / beta if beta else nothing(off)
    slope = chosen(off <= -beta, nothing(off) - 1, chosen(off >= beta, nothing(off) + 1, inner)) if beta else _sign(off)
    return _share(g, off, reduction) * slope


def _sign(off: Any) -> Any:
    return chosen(off > 0, nothing(off) + 1, chosen(off < 0, nothing(off) - 1, nothing(off)))


smooth_l1_loss = row(
    "smooth_l1_loss",
    "self target",
    forward=_kernel(_smooth, "smooth_l1"),
    infer=_shape,
    grad={
        "self": _smooth_grad,
        "target": lambda g, self, target, reduction, beta: -_smooth_grad(g, self, target, reduction, beta),
    },
    formula="d = self − target; result = d² ÷ 2β where |d| < β, else |d| − β ÷ 2",
    derivatives={"self": "grad · d ÷ β limited to ±1", "target": "−grad · d ÷ β limited to ±1"},
    autocast=FLOAT32,
    onnx=NO_ONNX("Sub, Abs, Where"),
    cost=_cost,
    samples=lambda t: [
        *_reductions(t, lambda: t(2, 3), lambda: t(2, 3), beta=0.7),
        ((t(2, 1), t(3)), {"reduction": "none", "beta": 0.7}),
    ],
    node="SmoothL1LossBackward0",
    promotes=True,
    on_arrays=True,
)

# ----------------------------------------------------------------------------------------------------- yes and no


def _bce(xp: Any, p: Any, t: Any, w: Any) -> Any:
    if p.size and not bool(xp.all((p >= 0) & (p <= 1))):
        raise RuntimeError(
            "all elements of input should be between 0 and 1: binary_cross_entropy takes probabilities; give scores to "
            "binary_cross_entropy_with_logits"
        )
    floor = p.dtype.type(-100)
    losses = (t - 1) * xp.maximum(xp.log1p(-p), floor) - t * xp.maximum(xp.log(p), floor)
    return losses if w is None else losses * w


def _bce_grad(g: Any, self: Any, target: Any, weight: Any, reduction: str) -> Any:
    slope = (self - target) / ((1 - self) * self).clamp(min=1e-12)
    return _share(g, self, reduction) * (slope if weight is None else slope * weight)


def _bce_target_grad(g: Any, self: Any, weight: Any, reduction: str) -> Any:
    slope = (-self).log1p().clamp(min=-100) - self.log().clamp(min=-100)
    return _share(g, self, reduction) * (slope if weight is None else slope * weight)


binary_cross_entropy = row(
    "binary_cross_entropy",
    "self target weight",
    forward=_kernel(_bce, "binary_cross_entropy"),
    infer=_shape,
    grad={"self": _bce_grad, "target": _bce_target_grad},
    formula="result = −(target · ln self + (1 − target) · ln(1 − self)) · weight, logarithms at least −100",
    derivatives={
        "self": "grad · weight · (self − target) ÷ (self · (1 − self))",
        "target": "grad · weight · (ln(1 − self) − ln self)",
    },
    autocast=FLOAT32,
    onnx=NO_ONNX("Log, Mul, ReduceMean"),
    cost=_cost,
    samples=lambda t: [
        *_reductions(t, lambda: t(2, 3, low=0.1, high=0.9), lambda: t(2, 3, low=0.1, high=0.9), lambda: None),
        ((t(2, 3, low=0.1, high=0.9), t(2, 3), t(2, 3).detach()), {"reduction": "mean"}),
    ],
)


def _softplus(xp: Any, a: Any) -> Any:
    """``ln(1 + exp(−a))`` without overflow."""
    return xp.log1p(xp.exp(-abs(a))) + xp.maximum(-a, a.dtype.type(0))


def _bce_logits(xp: Any, x: Any, t: Any, w: Any, pos: Any) -> Any:
    positive = 1 if pos is None else (pos - 1) * t + 1
    losses = (1 - t) * x + positive * _softplus(xp, x)
    return losses if w is None else losses * w


def _logits_grad(g: Any, self: Any, target: Any, weight: Any, pos_weight: Any, reduction: str) -> Any:
    if pos_weight is None:
        slope = self.sigmoid() - target
    else:
        heavier = target * pos_weight
        slope = (heavier + 1 - target) * self.sigmoid() - heavier
    return _share(g, self, reduction) * (slope if weight is None else slope * weight)


def _logits_target_grad(g: Any, self: Any, weight: Any, pos_weight: Any, reduction: str) -> Any:
    slope = (
        -self if pos_weight is None else (pos_weight - 1) * ((-self.abs()).exp().log1p() + (-self).clamp(min=0)) - self
    )
    return _share(g, self, reduction) * (slope if weight is None else slope * weight)


def _logits_samples(t: Any) -> list[Any]:
    heavy, per_class = t(2, 3).detach(), t(3, low=0.5, high=2).detach()
    return [
        *_reductions(t, lambda: t(2, 3), lambda: t(2, 3, low=0, high=1), lambda: None, lambda: None),
        ((t(2, 3), t(2, 3, low=0, high=1), heavy, per_class), {"reduction": "mean"}),
    ]


binary_cross_entropy_with_logits = row(
    "binary_cross_entropy_with_logits",
    "self target weight pos_weight",
    forward=_kernel(_bce_logits, "binary_cross_entropy_with_logits"),
    infer=_shape,
    grad={"self": _logits_grad, "target": _logits_target_grad},
    formula="result = −(pos_weight · target · ln σ(self) + (1 − target) · ln(1 − σ(self))) · weight",
    derivatives={
        "self": "grad · weight · ((pos_weight · target + 1 − target) · σ(self) − pos_weight · target)",
        "target": "grad · weight · ((pos_weight − 1) · ln(1 + exp(−self)) − self)",
    },
    autocast=FLOAT32,
    onnx=NO_ONNX("Sigmoid, Log, Mul, ReduceMean"),
    cost=_cost,
    samples=_logits_samples,
)
