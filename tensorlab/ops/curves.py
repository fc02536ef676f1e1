"""Elementwise functions of one input beyond the everyday ones: inverse hyperbolic, angles, signs, parts of a number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorlab.ops.elementwise import same_shape, unary
from tensorlab.ops.pointwise import sign_of
from tensorlab.ops.scipy import rounded_once
from tensorlab.ops.table import BOOL, FLOAT, NO_GRAD, NO_ONNX, SAME, nothing, per_element, row

# ------------------------------------------------------------------------------------------- inverse hyperbolic functions


def _acosh_grad(g: Any, self: Any) -> Any:
    """Two roots for complex numbers: the root of the product lies on another branch."""
    if self.is_complex():
        return g / ((self - 1).sqrt() * (self + 1).sqrt())
    return g * (self * self - 1).rsqrt()


asinh = unary(
    "asinh",
    "arcsinh",
    lambda g, self: g * (self * self + 1).rsqrt(),
    formula="result = arsinh(self)",
    derivative="grad ÷ √(self² + 1)",
    onnx="Asinh",
    flops=12,
)
acosh = unary(
    "acosh",
    "arccosh",
    _acosh_grad,
    formula="result = arcosh(self)",
    derivative="grad ÷ √(self² − 1)",
    onnx="Acosh",
    flops=12,
    domain=(1.2, 3.0),
)
atanh = unary(
    "atanh",
    "arctanh",
    lambda g, self: g / (1 - self * self),
    formula="result = artanh(self)",
    derivative="grad ÷ (1 − self²)",
    onnx="Atanh",
    flops=12,
    on_arrays=True,
    domain=(-0.9, 0.9),
)

# ---------------------------------------------------------------------------------------------------- angles and shapes


def real_only(name: str) -> Any:
    """A refusal of complex numbers in a row's own words."""

    def refuse(types: Sequence[Any]) -> None:
        if any(t.kind == "c" for t in types):
            raise RuntimeError(f"{name} is not supported for complex numbers; take .real, .imag or .abs() first")

    return refuse


def floating_only(name: str) -> Any:
    """A refusal of integers, booleans and complex numbers in a row's own words."""

    def refuse(types: Sequence[Any]) -> None:
        wrong = [t.name for t in types if t.kind not in "fV"]
        if wrong:
            raise RuntimeError(f'"{name}" not implemented for {wrong[0]}; it takes floating-point numbers')

    return refuse


deg2rad = unary(
    "deg2rad",
    rounded_once(lambda xp, a: a * (math.pi / 180)),
    lambda g: g * (math.pi / 180),
    formula="result = self · π ÷ 180",
    derivative="grad · π ÷ 180",
    onnx=NO_ONNX("Mul by a constant"),
    on_arrays=True,
    node="Deg2RadBackward0",
    refuses=real_only("deg2rad"),
)
rad2deg = unary(
    "rad2deg",
    rounded_once(lambda xp, a: a * (180 / math.pi)),
    lambda g: g * (180 / math.pi),
    formula="result = self · 180 ÷ π",
    derivative="grad · 180 ÷ π",
    onnx=NO_ONNX("Mul by a constant"),
    on_arrays=True,
    node="Rad2DegBackward0",
    refuses=real_only("rad2deg"),
)
frac = unary(
    "frac",
    lambda xp, a: a - xp.trunc(a),
    lambda g: g,
    formula="result = self − trunc(self)",
    derivative="grad",
    result=SAME,
    onnx=NO_ONNX("Sub of Floor"),
    flops=2,
    on_arrays=True,
    domain=(0.1, 0.9),
    refuses=floating_only("frac"),
)


def _sinc(xp: Any, a: Any) -> Any:
    angle = xp.where(a == 0, 1e-20, a) * math.pi  # whose sine is itself
    return xp.sin(angle) / angle


def _sinc_grad(g: Any, self: Any) -> Any:
    angle = (self * math.pi).masked_fill(self == 0, 1)
    slope = (angle * angle.cos() - angle.sin()) / (angle * self.masked_fill(self == 0, 1))
    return (g * slope).masked_fill(self == 0, 0)


sinc = unary(
    "sinc",
    rounded_once(_sinc),
    _sinc_grad,
    formula="result = sin(π · self) ÷ (π · self), 1 at 0",
    derivative="grad · (π · self · cos(π · self) − sin(π · self)) ÷ (π · self²)",
    onnx=NO_ONNX("Sin, Div, Where"),
    flops=14,
)


def _logit(xp: Any, a: Any, eps: float | None) -> Any:
    if eps is not None:
        low, high = a.dtype.type(eps), a.dtype.type(1 - eps)
        a = xp.where(a < low, low, xp.where(a > high, high, a))
    return xp.log(a / (1 - a))


def _logit_grad(g: Any, self: Any, eps: float | None) -> Any:
    low, beyond = (0.0, math.nan) if eps is None else (eps, 0.0)
    outside = ((self >= low) & (self <= 1 - low)).logical_not()
    return (g / (self * (1 - self)).masked_fill(outside, 1)).masked_fill(outside, beyond)


logit = row(
    "logit",
    "self",
    forward=rounded_once(_logit),
    infer=same_shape,
    grad={"self": _logit_grad},
    formula="result = ln(self ÷ (1 − self)), self limited to [eps, 1 − eps]",
    derivatives={"self": "grad ÷ (self · (1 − self)) inside"},
    onnx=NO_ONNX("Clip, Sub, Div, Log"),
    cost=per_element(13),
    samples=lambda t: [
        ((t(2, 3, low=0.1, high=0.9),), {}),
        ((t(4, low=0.15, high=0.85), 0.1), {}),
        ((t(4, low=-2, high=2), 0.3), {}),
        ((t(0, 3),), {}),
    ],
    result=FLOAT,
    promotes=True,
)

# ------------------------------------------------------------------------------------------------------------ signs


def _direction(xp: Any, a: Any) -> Any:
    if a.dtype.kind != "c":
        return sign_of(xp, a)
    size = xp.absolute(a)
    return xp.where(size == 0, xp.zeros_like(a), a / xp.where(size == 0, xp.ones_like(size), size))


def _direction_grad(g: Any, self: Any, result: Any) -> Any:
    """What of ``grad`` is across the direction, over the size: moving along it turns nothing."""
    if not self.is_complex():
        return nothing(g)
    size = self.abs()
    along = (g * result.conj()).real
    return ((g - result * along) / size.masked_fill(size == 0, 1)).masked_fill(size == 0, 0)


sgn = unary(
    "sgn",
    _direction,
    _direction_grad,
    formula="result = self ÷ |self|, 0 at 0",
    derivative="(grad − result · Re(grad · conj(result))) ÷ |self|; 0 for real numbers",
    result=SAME,
    onnx="Sign",
    flops=5,
    samples=lambda t: [((t(2, 3),), {}), ((t(3, 2).T,), {}), ((t.complex(2, 3),), {}), ((t(),), {}), ((t(0, 3),), {})],
    holomorphic=False,
)
signbit = unary(
    "signbit",
    lambda xp, a: (
        xp.signbit(a) if a.dtype.kind in "fV" else a < 0 if a.dtype.kind == "i" else xp.zeros_like(a, dtype=bool)
    ),
    NO_GRAD("boolean output"),
    formula="result = whether the sign of self is negative, that of −0 too",
    result=BOOL,
    onnx=NO_ONNX("Less; ONNX does not tell −0 from 0"),
    refuses=real_only("signbit"),
)
isneginf = unary(
    "isneginf",
    lambda xp, a: a == -math.inf,
    NO_GRAD("boolean output"),
    formula="result = whether self is −∞",
    result=BOOL,
    onnx=NO_ONNX("IsInf of one sign"),
    refuses=real_only("isneginf"),
)
isposinf = unary(
    "isposinf",
    lambda xp, a: a == math.inf,
    NO_GRAD("boolean output"),
    formula="result = whether self is +∞",
    result=BOOL,
    onnx=NO_ONNX("IsInf of one sign"),
    refuses=real_only("isposinf"),
)
isreal = unary(
    "isreal",
    lambda xp, a: a.imag == 0 if a.dtype.kind == "c" else xp.ones_like(a, dtype=bool),
    NO_GRAD("boolean output"),
    formula="result = whether the imaginary part of self is 0",
    result=BOOL,
    onnx=NO_ONNX("complex numbers"),
    holomorphic=False,
)

# ------------------------------------------------------------------------------------------------- repairs and parts


def _nan_to_num(xp: Any, a: Any, nan: float | None, posinf: float | None, neginf: float | None) -> Any:
    if a.dtype.kind == "c":
        parts = [_nan_to_num(xp, part, nan, posinf, neginf) for part in (a.real, a.imag)]
        return (parts[0] + 1j * parts[1]).astype(a.dtype)
    if a.dtype.kind in "biu":
        return a.copy(order="K")
    kind, largest = a.dtype.type, greatest(a.dtype)
    found = xp.where(xp.isnan(a), kind(0 if nan is None else nan), a)
    found = xp.where(a == math.inf, kind(largest if posinf is None else posinf), found)
    return xp.where(a == -math.inf, kind(-largest if neginf is None else neginf), found).astype(a.dtype)


def greatest(np_dtype: Any) -> float:
    """The largest finite number of a floating-point type."""
    if np_dtype.kind == "V":
        import ml_dtypes

        return float(ml_dtypes.finfo(np_dtype).max)
    return float(np.finfo(np_dtype).max)


nan_to_num = row(
    "nan_to_num",
    "self",
    forward=_nan_to_num,
    infer=same_shape,
    grad={"self": lambda g, self: g.masked_fill(self.isfinite().logical_not(), 0)},
    formula="result = self with NaN, +∞ and −∞ replaced",
    derivatives={"self": "grad where self is finite, else 0"},
    onnx=NO_ONNX("IsNaN, IsInf, Where"),
    cost=per_element(3),
    samples=lambda t: [
        ((t(2, 3),), {"nan": None, "posinf": None, "neginf": None}),
        ((t(2, 3) / (t(3) > 0),), {"nan": 0.5, "posinf": 2.0, "neginf": -3.0}),
    ],
    result=SAME,
    promotes=True,
    holomorphic=False,
)


def _frexp(xp: Any, a: Any) -> Any:
    mantissa, exponent = xp.frexp(a if a.dtype.kind == "f" else a.astype(np.float32))
    return xp.asarray(mantissa).astype(a.dtype), xp.asarray(exponent).astype(np.int32)


frexp = row(
    "frexp",
    "self",
    forward=_frexp,
    infer=lambda shapes: [tuple(shapes[0]), tuple(shapes[0])],
    grad=lambda grads, needs, exponent: [None if grads[0] is None else grads[0] / exponent.to(grads[0].dtype).exp2()],
    formula="self = mantissa · 2 ^ exponent, ½ ≤ |mantissa| < 1",
    derivatives={"self": "grad ÷ 2 ^ exponent"},
    onnx=NO_ONNX("bits of a number"),
    cost=per_element(2),
    samples=lambda t: [((t(2, 3, low=0.55, high=0.9),), {}), ((t(0, 3),), {})],
    results="mantissa exponent",
    refuses=floating_only("frexp"),
    promotes=True,
)


def _round_decimals(xp: Any, a: Any, decimals: int) -> Any:
    scale = 10.0 ** abs(decimals)
    return xp.rint(a * scale) / scale if decimals > 0 else xp.rint(a / scale) * scale


round_decimals = row(
    "round_decimals",
    "self",
    forward=rounded_once(_round_decimals),
    infer=same_shape,
    grad={"self": nothing},
    formula="result = self rounded to so many decimals, halves to even",
    derivatives={"self": "0"},
    onnx=NO_ONNX("Mul, Round, Div"),
    cost=per_element(3),
    samples=lambda t: [((t(2, 3),), {"decimals": 2}), ((t(2, 3, low=-20, high=20),), {"decimals": -1})],
    result=SAME,
    promotes=True,
    node="RoundBackward1",
    refuses=floating_only("round with decimals"),
)
