"""Softmax and its kind, and losses."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorlab.backend import fused
from tensorlab.backend.blocks import in_pieces
from tensorlab.layout import broadcast_shapes
from tensorlab.ops.elementwise import same_shape
from tensorlab.ops.reduce import reduced, wide
from tensorlab.ops.table import FLOAT, FLOAT32, GPU_FLOAT32, NO_ONNX, elements, nothing, of_arrays, per_element, row

Shape = tuple[int, ...]


def _floats(a: Any, name: str) -> None:
    if a.dtype.kind not in "fcV":
        raise RuntimeError(
            f'"{name}" not implemented for {a.dtype.name}; convert with .float(), or say dtype=tensorlab.float32'
        )


def _largest(xp: Any, a: Any, dim: Any) -> Any:
    """The largest along dimensions that are kept with size 1; minus infinity where there is no element."""
    if a.size:
        return np.maximum.reduce(a, axis=dim, keepdims=True) if xp is np else a.max(axis=dim, keepdims=True)
    return xp.full(reduced(a.shape, dim, True), -np.inf, a.dtype)


def _softmax(xp: Any, a: Any, dim: int) -> Any:
    _floats(a, "softmax")
    if a.ndim == 0:
        return xp.ones_like(a)
    r = a if a.flags.c_contiguous else xp.ascontiguousarray(a)
    r = r.astype(wide(a)) if a.dtype.itemsize == 2 else r
    if xp is np and dim in (-1, a.ndim - 1) and r.size and r.dtype.kind == "f":
        out = np.empty_like(r)
        _softmax_rows(r.reshape(-1, r.shape[-1]), out.reshape(-1, r.shape[-1]))
        r = out
    else:
        most = _largest(xp, r, (dim,))
        found = fused(xp, "exp_less", r, most)
        r = xp.exp(r - most) if found is None else found
        r /= xp.add.reduce(r, axis=dim, keepdims=True)
    return r.astype(a.dtype) if a.dtype.itemsize == 2 else r


def _softmax_rows(rows: np.ndarray, out: np.ndarray) -> None:
    def work(low: int, end: int) -> None:
        a, r = rows[low:end], out[low:end]
        np.subtract(a, np.maximum.reduce(a, axis=1, keepdims=True), r)
        np.exp(r, r)
        np.multiply(r, 1 / np.add.reduce(r, axis=1, keepdims=True), r)

    in_pieces(work, *rows.shape)


def _softmax_backward(xp: Any, g: Any, result: Any, dim: int) -> Any:
    if g.ndim == 0:
        return xp.zeros_like(g)
    if xp is np and dim in (-1, g.ndim - 1) and g.size and g.dtype == result.dtype and g.dtype.itemsize >= 4:
        width = g.shape[-1]
        g, result = np.ascontiguousarray(g), np.ascontiguousarray(result)
        out = np.empty_like(result)
        _softmax_rows_backward(g.reshape(-1, width), result.reshape(-1, width), out.reshape(-1, width))
        return out
    wider, odds = g.astype(wide(g), copy=False), result.astype(wide(result), copy=False)
    total = xp.add.reduce(wider * odds, axis=dim, keepdims=True)
    found = fused(xp, "softmax_backward", wider, total, odds)
    return ((wider - total) * odds if found is None else found).astype(g.dtype, copy=False)


def _softmax_rows_backward(rows: np.ndarray, odds: np.ndarray, out: np.ndarray) -> None:
    def work(low: int, end: int) -> None:
        g, p, r = rows[low:end], odds[low:end], out[low:end]
        np.subtract(g, np.vecdot(g, p)[:, None], r)
        np.multiply(r, p, r)

    in_pieces(work, *rows.shape)


def _softmax_grad(g: Any, result: Any, dim: int) -> Any:
    xp = of_arrays(result)
    return g._op("softmax_backward_data", result, dim=dim) if xp is None else _softmax_backward(xp, g, result, dim)


def _log_softmax(xp: Any, a: Any, dim: int) -> Any:
    _floats(a, "log_softmax")
    if a.ndim == 0:
        return xp.zeros_like(a)
    r = a if a.flags.c_contiguous else xp.ascontiguousarray(a)
    r = r.astype(wide(a)) if a.dtype.itemsize == 2 else r
    r = r - _largest(xp, r, (dim,))
    r -= xp.log(xp.add.reduce(xp.exp(r), axis=dim, keepdims=True))
    return r.astype(a.dtype) if a.dtype.itemsize == 2 else r


def _dims(t: Any) -> Any:
    return [((t(2, 3), 1), {}), ((t(2, 3), 0), {}), ((t(2, 3, 4), -1), {}), ((t(3, 2).T, 1), {}), ((t(0, 3), 1), {})]


softmax = row(
    "softmax",
    "self",
    forward=_softmax,
    infer=same_shape,
    grad={"self": _softmax_grad},
    formula="result = exp(self) ÷ Σ exp(self)",
    derivatives={"self": "(grad − Σ grad · result) · result"},
    autocast=GPU_FLOAT32,
    onnx="Softmax",
    cost=per_element(15),
    samples=_dims,
    on_arrays=True,
)
softmax_backward_data = row(
    "softmax_backward_data",
    "grad_output output",
    forward=_softmax_backward,
    infer=same_shape,
    grad={
        "grad_output": lambda g, output, dim: _softmax_grad(g, output, dim),
        "output": lambda g, grad_output, output, dim: (
            g * (grad_output - (grad_output * output).sum(dim, keepdims=True))
            - grad_output * (g * output).sum(dim, keepdims=True)
        ),
    },
    formula="result = (grad − Σ grad · output) · output",
    derivatives={
        "grad_output": "(u − Σ u · output) · output, for a gradient u",
        "output": "u · (grad − Σ grad · output) − grad · Σ u · output",
    },
    onnx=NO_ONNX("appears in gradients only"),
    cost=per_element(4),
    samples=lambda t: [((t(2, 3), t(2, 3)), {"dim": 1}), ((t(2, 3), t(2, 3)), {"dim": 0})],
)
log_softmax = row(
    "log_softmax",
    "self",
    forward=_log_softmax,
    infer=same_shape,
    grad={"self": lambda g, result, dim: _log_softmax_grad(g, result, dim) if len(g.shape) else nothing(g)},
    formula="result = self − ln Σ exp(self)",
    derivatives={"self": "grad − exp(result) · Σ grad"},
    autocast=GPU_FLOAT32,
    onnx="LogSoftmax",
    cost=per_element(15),
    samples=_dims,
    on_arrays=True,
)


def _log_softmax_grad(g: Any, result: Any, dim: int) -> Any:
    xp = of_arrays(result)
    odds = result.exp() if xp is None else xp.exp(result)
    return g - odds * g.sum(dim, keepdims=True)


def _logsumexp(xp: Any, a: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    r = a.astype(wide(a))
    top = _largest(xp, r.real, dim)
    top = xp.where(xp.isfinite(top), top, 0).astype(top.dtype)
    found = xp.log(xp.add.reduce(xp.exp(r - top), axis=dim, keepdims=True)) + top
    return found.reshape(reduced(a.shape, dim, keepdim)).astype(a.dtype)


def _logsumexp_grad(g: Any, self: Any, result: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    shape = reduced(self.shape, dim, True)
    result = result.reshape(shape)
    return g.reshape(shape) * (self - result.masked_fill(result == float("-inf"), 0)).exp()


logsumexp = row(
    "logsumexp",
    "self",
    forward=_logsumexp,
    infer=lambda shapes, dim, keepdim: reduced(shapes[0], dim, keepdim),
    grad={"self": _logsumexp_grad},
    formula="result = ln Σ exp(self)",
    derivatives={"self": "grad · exp(self − result)"},
    autocast=GPU_FLOAT32,
    onnx="ReduceLogSumExp",
    cost=lambda shapes, result, **attrs: 15 * elements(shapes[0]),
    samples=lambda t: [
        ((t(2, 3), 1), {}),
        ((t(2, 3), (0, 1)), {}),
        ((t(2, 3), 0), {"keepdim": True}),
        ((t(), 0), {}),
        ((t(0, 3), 0), {}),
    ],
    result=FLOAT,
    promotes=True,
)

# ------------------------------------------------------------------------------------------------------------ losses


def _reduced_shape(shape: Shape, reduction: str) -> Shape:
    return tuple(shape) if reduction == "none" else ()


def _mse_grad(g: Any, self: Any, target: Any, reduction: str) -> Any:
    off = self - target
    scale = 2.0 / max(1, elements(off.shape)) if reduction == "mean" else 2.0
    return (g * scale) * off


mse_loss = row(
    "mse_loss",
    "self target",
    forward=lambda xp, a, b, reduction: _squares(xp, a - b, reduction),
    infer=lambda shapes, reduction: _reduced_shape(broadcast_shapes(*shapes, op="mse_loss"), reduction),
    grad={"self": _mse_grad, "target": lambda g, self, target, reduction: -_mse_grad(g, self, target, reduction)},
    formula="result = mean of (self − target)²",
    derivatives={"self": "grad · 2 (self − target) ÷ n", "target": "−grad · 2 (self − target) ÷ n"},
    autocast=FLOAT32,
    onnx=NO_ONNX("Sub, Mul, ReduceMean"),
    cost=lambda shapes, result, **attrs: 3 * elements(broadcast_shapes(*shapes)),
    samples=lambda t: [
        ((t(2, 3), t(2, 3)), {}),
        ((t(2, 3), t(2, 3)), {"reduction": "sum"}),
        ((t(2, 3), t(2, 3)), {"reduction": "none"}),
        ((t(2, 1), t(3)), {}),
        ((t(3), t(2, 1)), {"reduction": "none"}),
    ],
    promotes=True,
    on_arrays=True,
)


def _squares(xp: Any, off: Any, reduction: str) -> Any:
    squares = off * off
    if reduction == "none":
        return squares
    total = xp.add.reduce(squares, axis=None, dtype=wide(squares))
    return (total / squares.size if reduction == "mean" else total).astype(off.dtype)


def _class_dim(a: Any) -> int:
    return 0 if a.ndim == 1 else 1


def check_targets(shape: Shape, target_shape: Shape) -> None:
    wanted = tuple(shape[:1]) + tuple(shape[2:]) if len(shape) > 1 else ()
    if len(shape) not in range(1, 9) or tuple(target_shape) != wanted:
        same_batch = len(shape) > 2 and tuple(target_shape[:1]) == wanted[:1]
        raise (RuntimeError if same_batch else ValueError)(
            f"Expected target of shape {list(wanted)} for input of shape {list(shape)}: one class number for every prediction. "
            f"Got {list(target_shape)}."
        )


def _weights(xp: Any, a: Any, target: Any, weight: Any, ignore_index: int) -> tuple[Any, Any]:
    """The class of every target made safe to index with, and how much each counts (0 where ignored)."""
    classes = a.shape[_class_dim(a)]
    kept = target != ignore_index
    wrong = kept & ((target < 0) | (target >= classes))
    if xp.any(wrong):
        bad = int(target[wrong].reshape(-1)[0])
        raise IndexError(f"Target {bad} is out of bounds: the input has {classes} classes, 0 to {classes - 1}")
    safe = xp.where(kept, target, 0)
    counts = kept.astype(wide(a)) if weight is None else xp.where(kept, weight[safe], 0).astype(wide(a))
    return safe, counts


def _at_class(xp: Any, a: Any, safe: Any) -> Any:
    dim = _class_dim(a)
    return xp.take_along_axis(a, xp.expand_dims(safe, dim), axis=dim).squeeze(dim)


@functools.lru_cache(maxsize=64)
def _numbers(count: int) -> np.ndarray:
    return np.arange(count)


def _ordinary(xp: Any, shape: Shape, dtype: Any, target: Any, weight: Any, reduction: str, ignore_index: int) -> bool:
    """Whether a loss is a plain mean or sum over rows: a matrix of scores, a class for each row, all classes counted alike.

    That is nearly always so, and takes a quarter of the NumPy calls.
    """
    if xp is not np or len(shape) != 2 or weight is not None or reduction == "none" or dtype.itemsize < 4:
        return False
    if not shape[0] or 0 <= ignore_index < shape[1]:
        return False
    return bool(np.minimum.reduce(target) >= 0 and np.maximum.reduce(target) < shape[1])


def _nll_loss(xp: Any, a: Any, target: Any, weight: Any, reduction: str, ignore_index: int) -> Any:
    _floats(a, "nll_loss")
    if target.dtype.kind not in "iu":
        raise RuntimeError(
            f"expected scalar type Long but found {target.dtype.name} for target; class numbers are integers"
        )
    check_targets(a.shape, target.shape)
    if weight is not None and weight.dtype != a.dtype:
        raise RuntimeError(
            f"expected scalar type {a.dtype.name} but found {weight.dtype.name} for weight; convert it with .to(input.dtype)"
        )
    if _ordinary(xp, a.shape, a.dtype, target, weight, reduction, ignore_index):
        total = np.add.reduce(a[_numbers(len(target)), target])
        return np.negative(total / len(target) if reduction == "mean" else total).astype(a.dtype)
    safe, counts = _weights(xp, a, target, weight, ignore_index)
    picked = xp.where(counts != 0, _at_class(xp, a, safe), 0)
    losses = -(picked * counts)
    if reduction == "none":
        return losses.astype(a.dtype)
    total = losses.sum()
    return (total / counts.sum() if reduction == "mean" else total).astype(a.dtype)


def _nll_loss_backward(
    xp: Any, g: Any, target: Any, weight: Any, shape: Shape, reduction: str, ignore_index: int
) -> Any:
    out = xp.zeros(shape, g.dtype)
    if _ordinary(xp, shape, g.dtype, target, weight, reduction, ignore_index):
        out[_numbers(len(target)), target] = g / -len(target) if reduction == "mean" else -g
        return out
    safe, counts = _weights(xp, out, target, weight, ignore_index)
    share = -counts / counts.sum() if reduction == "mean" else -counts
    dim = _class_dim(out)
    values = xp.where(counts != 0, g * share, 0).astype(g.dtype)
    xp.put_along_axis(out, xp.expand_dims(safe, dim), xp.expand_dims(values, dim), axis=dim)
    return out


def _nll_infer(shapes: Sequence[Shape], reduction: str, ignore_index: int) -> Shape:
    check_targets(shapes[0], shapes[1])
    return _reduced_shape(shapes[1], reduction)


def _nll_grad(g: Any, target: Any, weight: Any, shape: Shape, reduction: str, ignore_index: int) -> Any:
    options: dict[str, Any] = {"shape": shape, "reduction": reduction, "ignore_index": ignore_index}
    xp = of_arrays(target)
    if xp is not None:
        return _nll_loss_backward(xp, g, target, weight, **options)
    return g._op("nll_loss_backward", target, weight, **options)


nll_loss = row(
    "nll_loss",
    "self target weight",
    forward=_nll_loss,
    infer=_nll_infer,
    grad={
        "self": lambda g, target, weight, self_shape, reduction, ignore_index: _nll_grad(
            g, target, weight, self_shape, reduction, ignore_index
        )
    },
    formula="result = −mean of self at each target class",
    derivatives={"self": "−grad ÷ n at each target class, 0 elsewhere"},
    autocast=FLOAT32,
    onnx="NegativeLogLikelihoodLoss",
    cost=lambda shapes, result, **attrs: 2 * elements(shapes[1]),
    samples=lambda t: [
        ((t(4, 3), t.index(3, 4)), {}),
        ((t(4, 3), t.index(3, 4)), {"reduction": "sum", "ignore_index": 1}),
        ((t(4, 3, 2), t.index(3, 4, 2)), {"reduction": "none"}),
        ((t(3), t.index(3)), {}),
    ],
    on_arrays=True,
)
nll_loss_backward = row(
    "nll_loss_backward",
    "grad target weight",
    forward=_nll_loss_backward,
    infer=lambda shapes, shape, reduction, ignore_index: tuple(shape),
    grad={
        "grad": lambda g, target, weight, reduction, ignore_index: g._op(
            "nll_loss", target, weight, reduction=reduction, ignore_index=ignore_index
        )
    },
    formula="result = −grad ÷ n at each target class, 0 elsewhere",
    derivatives={"grad": "−mean of grad at each target class"},
    onnx=NO_ONNX("appears in gradients only"),
    cost=lambda shapes, result, **attrs: elements(result),
    samples=lambda t: [((t(), t.index(3, 4), None), {"shape": (4, 3), "reduction": "mean", "ignore_index": -100})],
)
