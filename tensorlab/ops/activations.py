"""Elementwise functions that neural networks put between their layers, and blends of several tensors.

float16 and bfloat16 are computed in float32 and rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tensorlab.backend import fused
from tensorlab.backend.blocks import in_pieces
from tensorlab.ops.elementwise import broadcast, same_shape
from tensorlab.ops.scipy import rounded_once, special
from tensorlab.ops.table import FLOAT, GPU_FLOAT32, NO_ONNX, PROMOTE, SAME, of_arrays, per_element, row

_SQRT_HALF, _DENSITY = math.sqrt(0.5), 1 / math.sqrt(2 * math.pi)
_TANH_SCALE, _CUBIC = math.sqrt(2 / math.pi), 0.044715


def _activation(name: str, forward: Any, grad: Any, samples: Any, **columns: Any) -> Any:
    return row(
        name,
        "self",
        forward=rounded_once(forward),
        infer=same_shape,
        grad={"self": grad},
        samples=lambda t: [((t(2, 3), *args), kwargs) for args, kwargs in samples] + [((t(),), {}), ((t(0, 3),), {})],
        **{"result": FLOAT, "promotes": True, "holomorphic": False, **columns},
    )


def _silu(xp: Any, a: Any) -> Any:
    if (found := fused(xp, "silu", a)) is not None:
        return found
    half = a.dtype.type(0.5)
    return a * ((xp.tanh(a * half) + 1) * half)


silu = _activation(
    "silu",
    _silu,
    lambda g, self: g * (self.sigmoid() * (self * (1 - self.sigmoid()) + 1)),
    [((), {})],
    formula="result = self ÷ (1 + exp(−self))",
    derivatives={"self": "grad · σ(self) · (1 + self · (1 − σ(self)))"},
    onnx=NO_ONNX("Sigmoid then Mul"),
    cost=per_element(13),
)


#: ``erf(x / √2) = tanh(x · P(x²))`` within 6e-8: the coefficients of P, highest power first, fitted by weighted least squares.
_NORMAL = (
    1.756279910627463e-09, -1.3226636081093662e-07, 3.964774094897525e-06, -5.5306321430537835e-05, -3.259473461723771e-05,
    0.03633308440075742, 0.7978849414914443,
)  # fmt: skip


def _bend(a: np.ndarray, squares: np.ndarray, r: np.ndarray, approximate: str) -> None:
    """``2 Φ(a) − 1`` into ``r``, in place all the way, for float32; ``squares`` is room for ``a²``, which stays there."""
    np.multiply(a, a, squares)
    if approximate == "tanh":
        np.multiply(squares, _CUBIC * _TANH_SCALE, r)
        np.add(r, _TANH_SCALE, r)
    else:
        u = np.minimum(squares, 36)  # from there on tanh is 1
        np.multiply(u, _NORMAL[0], r)
        for c in _NORMAL[1:-1]:
            np.add(r, c, r)
            np.multiply(r, u, r)
        np.add(r, _NORMAL[-1], r)
    np.multiply(r, a, r)
    np.tanh(r, r)


def _in_rows(work: Any, a: np.ndarray, *others: np.ndarray) -> np.ndarray:
    """Run ``work(a, ..., out)`` on flat pieces of arrays of one dense layout."""
    out = np.empty_like(a)
    flat = [x.reshape(-1) if x.flags.c_contiguous else x.T.reshape(-1) for x in (a, *others, out)]
    in_pieces(lambda low, end: work(*[x[low:end] for x in flat]), a.size, 1)
    return out


def _quick(xp: Any, *arrays: Any) -> bool:
    """Whether float32 host arrays lie in the same dense order, so that the short formulas apply."""
    first = arrays[0]
    return (
        xp is np
        and all(x.dtype == np.float32 and x.strides == first.strides for x in arrays)
        and (first.flags.c_contiguous or (first.flags.f_contiguous and first.T.flags.c_contiguous))
    )


def _gelu(xp: Any, a: Any, approximate: str) -> Any:
    if _quick(xp, a):

        def work(a: np.ndarray, r: np.ndarray) -> None:
            _bend(a, np.empty_like(a), r, approximate)
            np.add(r, 1, r)
            np.multiply(r, a, r)
            np.multiply(r, 0.5, r)

        return _in_rows(work, a)
    if (found := fused(xp, "gelu_tanh" if approximate == "tanh" else "gelu", a)) is not None:
        return found
    half = a.dtype.type(0.5)
    if approximate == "tanh":
        return a * half * (xp.tanh((a + a * a * a * _CUBIC) * _TANH_SCALE) + 1)
    return a * half * (special(xp).erf(a * a.dtype.type(_SQRT_HALF)) + 1)


def _gelu_backward(xp: Any, g: Any, a: Any, approximate: str) -> Any:
    if _quick(xp, g, a):

        def work(g: np.ndarray, a: np.ndarray, r: np.ndarray) -> None:
            squares = np.empty_like(a)
            _bend(a, squares, r, approximate)
            if approximate == "tanh":
                slope = squares * (3 * _CUBIC * _TANH_SCALE * 0.5)
                slope += 0.5 * _TANH_SCALE
                slope *= 1 - r * r
            else:
                np.multiply(squares, -0.5, squares)
                slope = np.exp(squares, squares)
                slope *= _DENSITY
            slope *= a
            np.multiply(r, 0.5, r)
            np.add(r, 0.5, r)
            np.add(r, slope, r)
            np.multiply(r, g, r)

        return _in_rows(work, g, a)
    if (found := fused(xp, "gelu_tanh_backward" if approximate == "tanh" else "gelu_backward", g, a)) is not None:
        return found
    if approximate == "tanh":
        bent = xp.tanh((a + a * a * a * _CUBIC) * _TANH_SCALE)
        slope = (a * a * (3 * _CUBIC) + 1) * _TANH_SCALE
        return g * ((bent + 1) * 0.5 + a * 0.5 * (1 - bent * bent) * slope)
    normal = (special(xp).erf(a * a.dtype.type(_SQRT_HALF)) + 1) * 0.5
    return g * (normal + a * xp.exp(a * a * -0.5) * _DENSITY)


def _gelu_grad(g: Any, self: Any, approximate: str) -> Any:
    xp = of_arrays(g)
    if xp is None:
        return g._op("gelu_backward", self, approximate=approximate)
    return _gelu_backward(xp, g, self, approximate)


def _gelu_curve(self: Any, approximate: str) -> Any:
    """The second derivative of ``self · Φ(self)``."""
    square = self * self
    if approximate == "tanh":
        bent = ((self + square * self * _CUBIC) * _TANH_SCALE).tanh()
        slope = (square * (3 * _CUBIC) + 1) * _TANH_SCALE
        return (1 - bent * bent) * (slope + square * (3 * _CUBIC * _TANH_SCALE) - self * bent * slope * slope)
    return (square * -0.5).exp() * (2 - square) * _DENSITY


gelu = _activation(
    "gelu",
    _gelu,
    _gelu_grad,
    [((), {}), ((), {"approximate": "tanh"})],
    formula="result = self · Φ(self), Φ the normal distribution function",
    derivatives={"self": "grad · (Φ(self) + self · φ(self))"},
    onnx="Gelu",
    cost=per_element(25),
    on_arrays=True,
)
gelu_backward = row(
    "gelu_backward",
    "grad_output self",
    forward=rounded_once(_gelu_backward),
    infer=broadcast,
    grad={
        "grad_output": lambda g, self, approximate: _gelu_grad(g, self, approximate),
        "self": lambda g, grad_output, self, approximate: g * grad_output * _gelu_curve(self, approximate),
    },
    formula="result = grad · (Φ(self) + self · φ(self))",
    derivatives={"grad_output": "u · (Φ(self) + self · φ(self))", "self": "u · grad · φ(self) · (2 − self²)"},
    onnx=NO_ONNX("appears in gradients only"),
    cost=per_element(35),
    samples=lambda t: [((t(2, 3), t(2, 3)), {"approximate": "none"}), ((t(2, 3), t(2, 3)), {"approximate": "tanh"})],
    result=FLOAT,
    promotes=True,
)


def _softplus(xp: Any, a: Any, beta: float, threshold: float) -> Any:
    steep = a * beta
    return xp.where(
        steep > threshold, a, xp.log1p(xp.exp(xp.minimum(steep, a.dtype.type(threshold)))) / a.dtype.type(beta)
    )


softplus = _activation(
    "softplus",
    _softplus,
    lambda g, self, beta, threshold: g.where(self * beta > threshold, g * (self * beta).sigmoid()),
    [((), {}), ((), {"beta": 3.0, "threshold": 2.5})],
    formula="result = ln(1 + exp(β · self)) ÷ β",
    derivatives={"self": "grad · σ(β · self)"},
    onnx="Softplus",
    cost=per_element(20),
    autocast=GPU_FLOAT32,
)
leaky_relu = _activation(
    "leaky_relu",
    lambda xp, a, negative_slope: xp.where(a > 0, a, a * a.dtype.type(negative_slope)),
    lambda g, self, negative_slope: g.where(self > 0, g * negative_slope),
    [((), {}), ((0.3,), {})],
    formula="result = self where positive, else slope · self",
    derivatives={"self": "grad where self > 0, else slope · grad"},
    onnx="LeakyRelu",
    cost=per_element(2),
)


def _elu(xp: Any, a: Any, alpha: float, scale: float, input_scale: float) -> Any:
    kind = a.dtype.type
    below = xp.expm1(xp.minimum(a, kind(0)) * kind(input_scale)) * kind(alpha * scale)
    return xp.where(a > 0, a * kind(scale), below)


elu = _activation(
    "elu",
    _elu,
    lambda g, self, alpha, scale, input_scale: (g * scale).where(
        self > 0, g * (alpha * scale * input_scale) * (self.clamp(max=0) * input_scale).exp()
    ),
    [((), {}), ((0.7,), {})],
    formula="result = self where positive, else α · (exp(self) − 1)",
    derivatives={"self": "grad where self > 0, else grad · α · exp(self)"},
    onnx="Elu",
    cost=per_element(12),
)

# ------------------------------------------------------------------------------------------------- blends of several


def _same_types(op: str) -> Callable[[Any], None]:
    def refuse(types: Any) -> None:
        if any(t != types[0] for t in types):
            raise RuntimeError(
                f"{op}(): expected dtype {types[0].name} for all arguments, but got {[t.name for t in types]}"
            )

    return refuse


def _lerp(xp: Any, a: Any, b: Any, w: Any) -> Any:
    """From the nearer end, so that both ends are reached exactly."""
    return xp.where(abs(w) < 0.5, a + w * (b - a), b - (b - a) * (1 - w)).astype(a.dtype)


lerp = row(
    "lerp",
    "self end weight",
    forward=rounded_once(_lerp),
    infer=broadcast,
    grad={
        "self": lambda g, weight: g * (1 - weight),
        "end": lambda g, weight: g * weight,
        "weight": lambda g, self, end: g * (end - self),
    },
    formula="result = self + weight · (end − self)",
    derivatives={"self": "grad · (1 − weight)", "end": "grad · weight", "weight": "grad · (end − self)"},
    autocast=PROMOTE,
    onnx=NO_ONNX("Sub, Mul, Add"),
    cost=per_element(3),
    samples=lambda t: [
        ((t(2, 3), t(2, 3), 0.3), {}),
        ((t(2, 3), t(3), t(2, 1)), {}),
        ((t(), t(), 0.8), {}),
        ((t(0, 3), t(3), 0.5), {}),
    ],
    result=SAME,
    promotes=True,
    refuses=_same_types("lerp"),
)


def _scalar(a: Any, value: float) -> Any:
    """A number of the type of ``a``. Raises ``RuntimeError`` where integers would lose its fraction."""
    if a.dtype.kind in "biu" and isinstance(value, float):
        raise RuntimeError(
            f"For integral input tensors, argument value must not be a floating point number, got {value}"
        )
    return a.dtype.type(value)


addcmul = row(
    "addcmul",
    "self tensor1 tensor2",
    forward=rounded_once(lambda xp, a, b, c, value: a + _scalar(a, value) * b * c),
    infer=broadcast,
    grad={
        "self": lambda g: g,
        "tensor1": lambda g, tensor2, value: g * (tensor2 * value),
        "tensor2": lambda g, tensor1, value: g * (tensor1 * value),
    },
    formula="result = self + value · tensor1 · tensor2",
    derivatives={"self": "grad", "tensor1": "grad · value · tensor2", "tensor2": "grad · value · tensor1"},
    autocast=PROMOTE,
    onnx=NO_ONNX("Mul, Add"),
    cost=per_element(3),
    samples=lambda t: [
        ((t(2, 3), t(2, 3), t(2, 3)), {}),
        ((t(3), t(2, 1), t(2, 3)), {"value": 0.5}),
        ((t(), t(), t()), {"value": 2}),
    ],
    result=SAME,
    promotes=True,
)


def _addcdiv(xp: Any, a: Any, b: Any, c: Any, value: float) -> Any:
    if a.dtype.kind in "biu":
        raise RuntimeError("addcdiv(): integer division is not supported; convert the tensors with .float()")
    return a + a.dtype.type(value) * (b / c)


addcdiv = row(
    "addcdiv",
    "self tensor1 tensor2",
    forward=rounded_once(_addcdiv),
    infer=broadcast,
    grad={
        "self": lambda g: g,
        "tensor1": lambda g, tensor2, value: g * (value / tensor2),
        "tensor2": lambda g, tensor1, tensor2, value: -g * ((tensor1 * value) / (tensor2 * tensor2)),
    },
    formula="result = self + value · tensor1 ÷ tensor2",
    derivatives={
        "self": "grad",
        "tensor1": "grad · value ÷ tensor2",
        "tensor2": "−grad · value · tensor1 ÷ tensor2²",
    },
    autocast=PROMOTE,
    onnx=NO_ONNX("Div, Mul, Add"),
    cost=per_element(4),
    samples=lambda t: [
        ((t(2, 3), t(2, 3), t(2, 3, low=0.5)), {}),
        ((t(3), t(2, 1), t(2, 3, low=0.5)), {"value": 0.5}),
    ],
    result=SAME,
    promotes=True,
)
