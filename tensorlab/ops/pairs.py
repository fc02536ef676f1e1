"""Elementwise functions of two inputs beyond arithmetic: angles and lengths, extremes, whole numbers, bits."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from tensorlab.ops.curves import floating_only, real_only
from tensorlab.ops.elementwise import binary, integer_pairs
from tensorlab.ops.scipy import rounded_once
from tensorlab.ops.table import FLOAT, NO_GRAD, NO_ONNX, Row, nothing

# ------------------------------------------------------------------------------------------------ angles and lengths


def _over_square(g: Any, numerator: Any, self: Any, other: Any) -> Any:
    size = self * self + other * other
    return (g * (numerator / size.masked_fill(size == 0, 1))).masked_fill(size == 0, 0)


atan2 = binary(
    "atan2",
    "arctan2",
    {
        "self": lambda g, self, other: _over_square(g, other, self, other),
        "other": lambda g, self, other: _over_square(g, -self, self, other),
    },
    formula="result = the angle of the point (other, self)",
    derivatives={"self": "grad · other ÷ (self² + other²)", "other": "−grad · self ÷ (self² + other²)"},
    result=FLOAT,
    onnx=NO_ONNX("Atan and case distinctions"),
    flops=15,
    second=(0.5, 2.0),
)


hypot = binary(
    "hypot",
    "hypot",
    {
        "self": lambda g, self, result: g * (self / result),
        "other": lambda g, other, result: g * (other / result),
    },
    formula="result = √(self² + other²)",
    derivatives={"self": "grad · self ÷ result", "other": "grad · other ÷ result"},
    onnx=NO_ONNX("Mul, Add, Sqrt"),
    flops=6,
    on_arrays=True,
    second=(0.5, 2.0),
    refuses=floating_only("hypot"),
)
copysign = binary(
    "copysign",
    "copysign",
    {
        "self": lambda g, self, result: (g * (result / self)).masked_fill(self == 0, 0),
        "other": nothing,
    },
    formula="result = |self| with the sign of other",
    derivatives={"self": "grad · sign(self) · sign(other), 0 at 0", "other": "0"},
    result=FLOAT,
    onnx=NO_ONNX("Abs, Sign, Where; ONNX does not tell −0 from 0"),
    flops=2,
    refuses=real_only("copysign"),
)


def _no_integers(name: str) -> Any:
    def refuse(types: Sequence[Any]) -> None:
        wrong = [t.name for t in types if t.kind in "biu"]
        if wrong:
            raise NotImplementedError(f'"{name}" not implemented for {wrong[0]}; convert with .float()')

    return refuse


def _logaddexp(xp: Any, a: Any, b: Any) -> Any:
    if a.dtype.kind != "c":
        return xp.logaddexp(a, b)
    larger, smaller = xp.where(a.real > b.real, a, b), xp.where(a.real > b.real, b, a)
    same = (a.real == b.real) & xp.isinf(a.real)
    return xp.where(same & (a.real < 0), a, larger + xp.log1p(xp.exp(smaller - larger))).astype(a.dtype)


def _share(self: Any, other: Any, scale: float) -> Any:
    """``base^self ÷ (base^self + base^other)``; halves where both are the same infinity."""
    apart = (self - other) * scale
    if not self.is_complex():
        apart = apart.masked_fill((self == other) & self.isinf(), 0)
        return apart.sigmoid()
    return 1 / ((-apart).exp() + 1)


logaddexp = binary(
    "logaddexp",
    rounded_once(_logaddexp),
    {
        "self": lambda g, self, other: g * _share(self, other, 1.0),
        "other": lambda g, self, other: g * _share(other, self, 1.0),
    },
    formula="result = ln(exp(self) + exp(other))",
    derivatives={"self": "grad · exp(self − result)", "other": "grad · exp(other − result)"},
    onnx=NO_ONNX("ReduceLogSumExp of both stacked"),
    flops=22,
    refuses=_no_integers("logaddexp"),
)
logaddexp2 = binary(
    "logaddexp2",
    "logaddexp2",
    {
        "self": lambda g, self, other: g * _share(self, other, math.log(2)),
        "other": lambda g, self, other: g * _share(other, self, math.log(2)),
    },
    formula="result = log₂(2 ^ self + 2 ^ other)",
    derivatives={"self": "grad · 2 ^ (self − result)", "other": "grad · 2 ^ (other − result)"},
    onnx=NO_ONNX("Pow, Add, Log, Div"),
    flops=22,
    refuses=floating_only("logaddexp2"),
)

# ------------------------------------------------------------------------------------------------------------ extremes


def _kept(larger: bool, first: bool) -> Callable[..., Any]:
    """The gradient of the side that was taken: the first where both are equal, the number where the other is NaN."""

    def formula(g: Any, self: Any, other: Any) -> Any:
        taken = (self >= other if larger else self <= other) | other.isnan()
        return g.masked_fill(taken.logical_not() if first else taken, 0)

    return formula


def _extreme(name: str, larger: bool) -> Row:
    word = "larger" if larger else "smaller"
    return binary(
        name,
        lambda xp, a, b: getattr(xp, name)(a, b),
        {"self": _kept(larger, True), "other": _kept(larger, False)},
        formula=f"result = the {word} of self and other, the number where one is NaN",
        derivatives={"self": f"grad where self is the {word} or equal", "other": f"grad where other is the {word}"},
        onnx=NO_ONNX("Max or Min, IsNaN, Where"),
        refuses=real_only(name),
    )


fmax, fmin = _extreme("fmax", True), _extreme("fmin", False)


def _no_complex_steps(types: Sequence[Any]) -> None:
    real_only("heaviside")(types)
    if len(set(types)) > 1:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")


heaviside = binary(
    "heaviside",
    lambda xp, a, b: xp.where(a == 0, b, xp.where(xp.isnan(a), a, (a > 0).astype(a.dtype))).astype(a.dtype),
    {},
    formula="result = 0 where self < 0, other where self = 0, 1 where self > 0",
    onnx=NO_ONNX("Where"),
    samples=lambda t: [
        ((t(2, 3).detach(), t(3).detach()), {}),
        ((t(2, 3).detach() * 0, t(2, 3).detach()), {}),
        ((t(0, 3).detach(), t(3).detach()), {}),
    ],
    refuses=_no_complex_steps,
)


nextafter = binary(
    "nextafter",
    "nextafter",
    {
        "self": lambda g, self, other: g.masked_fill(self == other, 0),
        "other": lambda g, self, other: g.masked_fill(self != other, 0),
    },
    formula="result = the next number after self on the way to other",
    derivatives={"self": "grad where they differ", "other": "grad where they are equal"},
    onnx=NO_ONNX("bits of a number"),
    refuses=floating_only("nextafter"),
)


def _two_to(exponent: Any) -> Any:
    return (exponent * math.log(2)).exp() if exponent.is_complex() else exponent.exp2()


ldexp = binary(
    "ldexp",
    rounded_once(lambda xp, a, b: a * xp.power(2.0, b)),
    {
        "self": lambda g, other: g * _two_to(other),
        "other": lambda g, result: g * (result * math.log(2)),
    },
    formula="result = self · 2 ^ other",
    derivatives={"self": "grad · 2 ^ other", "other": "grad · result · ln 2"},
    result=FLOAT,
    onnx=NO_ONNX("Pow then Mul"),
    flops=11,
)

# ------------------------------------------------------------------------------------------------ whole numbers and bits


def _whole_only(name: str) -> Any:
    def refuse(types: Sequence[Any]) -> None:
        wrong = [t.name for t in types if t.kind not in "iu"]
        if wrong:
            raise NotImplementedError(f'"{name}" not implemented for {wrong[0]}; it takes integers')

    return refuse


def _whole(name: str, forward: Any, formula: str, onnx: Any, samples: Any = None) -> Row:
    return binary(
        name,
        forward,
        NO_GRAD("integer output"),
        formula=formula,
        onnx=onnx,
        samples=samples or (lambda t: [case for case in integer_pairs(t) if case[0][0].dtype.name != "bool"]),
        refuses=_whole_only(name),
    )


def _left(xp: Any, a: Any, b: Any) -> Any:
    """Bits moved up; all of them are gone where the distance is negative or no smaller than the width."""
    width = a.dtype.itemsize * 8
    far = (b < 0) | (b >= width)
    return xp.where(far, a.dtype.type(0), xp.left_shift(a, xp.where(far, a.dtype.type(0), b))).astype(a.dtype)


def _right(xp: Any, a: Any, b: Any) -> Any:
    """Bits moved down; only the sign is left where the distance is negative or no smaller than the width."""
    width = a.dtype.itemsize * 8
    far = (b < 0) | (b >= width)
    found = xp.right_shift(a, xp.where(far, a.dtype.type(width - 1), b).astype(a.dtype))
    return found if a.dtype.kind == "i" else xp.where(far, a.dtype.type(0), found)


gcd = _whole("gcd", "gcd", "result = the greatest common divisor", NO_ONNX("integer arithmetic"))
lcm = _whole("lcm", "lcm", "result = the least common multiple", NO_ONNX("integer arithmetic"))
bitwise_left_shift = _whole("bitwise_left_shift", _left, "result = self << other", "BitShift")
bitwise_right_shift = _whole("bitwise_right_shift", _right, "result = self >> other", "BitShift")
