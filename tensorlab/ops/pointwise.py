"""Elementwise arithmetic, exponentials, trigonometry, rounding and activations.

Gradient formulas that use only arithmetic and comparison run on plain arrays as they stand (``on_arrays``), which saves the
engine a tensor for every intermediate value when no second derivative is wanted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorlab.backend import fused
from tensorlab.ops.elementwise import binary, broadcast, kept, unary
from tensorlab.ops.scipy import from_scipy
from tensorlab.ops.table import (
    FLOAT,
    GPU_FLOAT32,
    NO_GRAD,
    NO_ONNX,
    SAME,
    Ufunc,
    nothing,
    of_arrays,
    per_element,
    row,
)

# ------------------------------------------------------------------------------------------------------- arithmetic

add = binary(
    "add",
    "add",
    {"self": lambda g: g, "other": lambda g: g},
    formula="result = self + other",
    derivatives={"self": "grad", "other": "grad"},
    onnx="Add",
    on_arrays=True,
)


def _no_booleans(types: Sequence[Any]) -> None:
    booleans = sum(t.kind == "b" for t in types)
    if booleans:
        which = "two bool tensors" if booleans == len(types) else "a bool tensor"
        raise RuntimeError(
            f"Subtraction, the `-` operator, with {which} is not supported. Use the `^` or `logical_xor()` operator "
            "for what differs; if you are trying to invert a mask, use the `~` or `logical_not()` operator instead."
        )


def _no_negative_booleans(types: Sequence[Any]) -> None:
    if types[0].kind == "b":
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or "
            "`logical_not()` operator instead."
        )


sub = binary(
    "sub",
    "subtract",
    {"self": lambda g: g, "other": lambda g: -g},
    formula="result = self − other",
    derivatives={"self": "grad", "other": "−grad"},
    onnx="Sub",
    on_arrays=True,
    refuses=_no_booleans,
)
rsub = binary(
    "rsub",
    lambda xp, a, b: xp.subtract(b, a),
    {"self": lambda g: -g, "other": lambda g: g},
    formula="result = other − self",
    derivatives={"self": "−grad", "other": "grad"},
    onnx="Sub",
    on_arrays=True,
    node="RsubBackward1",
    refuses=_no_booleans,
)
mul = binary(
    "mul",
    "multiply",
    {"self": lambda g, other: g * other, "other": lambda g, self: g * self},
    formula="result = self · other",
    derivatives={"self": "grad · other", "other": "grad · self"},
    onnx="Mul",
    on_arrays=True,
)
div = binary(
    "div",
    "true_divide",
    {"self": lambda g, other: g / other, "other": lambda g, self, other: -g * ((self / other) / other)},
    formula="result = self ÷ other",
    derivatives={"self": "grad ÷ other", "other": "−grad · self ÷ other²"},
    result=FLOAT,
    onnx="Div",
    on_arrays=True,
    second=(0.5, 2.0),
)


def _floor_divide(xp: Any, a: Any, b: Any) -> Any:
    if a.dtype.kind in "iu" and a.size and not xp.all(b):
        raise RuntimeError("ZeroDivisionError: integer division by zero; a float tensor would give inf")
    return xp.floor_divide(a, b)


def _remainder(xp: Any, a: Any, b: Any) -> Any:
    if a.dtype.kind in "iu" and a.size and not xp.all(b):
        raise RuntimeError("ZeroDivisionError: integer modulo by zero; a float tensor would give nan")
    return xp.remainder(a, b)


def _fmod(xp: Any, a: Any, b: Any) -> Any:
    if a.dtype.kind in "iu" and a.size and not xp.all(b):
        raise RuntimeError("ZeroDivisionError: integer modulo by zero; a float tensor would give nan")
    return xp.fmod(a, b)


floor_divide = binary(
    "floor_divide",
    _floor_divide,
    NO_GRAD("piecewise constant; PyTorch gives no gradient either"),
    formula="result = ⌊self ÷ other⌋",
    onnx=NO_ONNX("Div then Floor"),
    second=(0.5, 2.0),
)
remainder = binary(
    "remainder",
    _remainder,
    {"self": lambda g: g, "other": lambda g, self, other: -g * (self / other).floor()},
    formula="result = self − ⌊self ÷ other⌋ · other",
    derivatives={"self": "grad", "other": "−grad · ⌊self ÷ other⌋"},
    onnx="Mod",
    second=(0.7, 2.0),
)
fmod = binary(
    "fmod",
    _fmod,
    {"self": lambda g: g, "other": lambda g, self, other: -g * (self / other).trunc()},
    formula="result = self − trunc(self ÷ other) · other",
    derivatives={"self": "grad", "other": "−grad · trunc(self ÷ other)"},
    onnx="Mod",
    second=(0.7, 2.0),
)


def _div_trunc(xp: Any, a: Any, b: Any) -> Any:
    if a.dtype.kind not in "iu":
        return xp.trunc(a / b)
    down = _floor_divide(xp, a, b)
    return down + ((down < 0) & (down * b != a)).astype(a.dtype)


div_floor = binary(
    "div_floor",
    _floor_divide,
    {"self": nothing, "other": nothing},
    formula="result = ⌊self ÷ other⌋",
    derivatives={"self": "0", "other": "0"},
    onnx=NO_ONNX("Div then Floor"),
    second=(0.7, 2.0),
    node="DivBackward1",
)
div_trunc = binary(
    "div_trunc",
    _div_trunc,
    {"self": nothing, "other": nothing},
    formula="result = trunc(self ÷ other)",
    derivatives={"self": "0", "other": "0"},
    onnx=NO_ONNX("Div, then Floor or Ceil"),
    second=(0.7, 2.0),
    node="DivBackward1",
)
neg = unary(
    "neg",
    "negative",
    lambda g: -g,
    formula="result = −self",
    derivative="−grad",
    result=SAME,
    onnx="Neg",
    on_arrays=True,
    refuses=_no_negative_booleans,
)
reciprocal = unary(
    "reciprocal",
    lambda xp, a: xp.reciprocal(a) if a.dtype.kind in "fcV" else xp.true_divide(1, a),
    lambda g, result: -g * result * result,
    formula="result = 1 ÷ self",
    derivative="−grad · result²",
    onnx="Reciprocal",
    on_arrays=True,
    domain=(0.5, 2.0),
    autocast=GPU_FLOAT32,
)
square = unary(
    "square",
    Ufunc("square", discrete=lambda xp, a: a.astype(np.int64) if a.dtype.kind == "b" else xp.square(a)),
    lambda g, self: g * (self * 2),
    formula="result = self²",
    derivative="grad · 2 · self",
    result=SAME,
    onnx=NO_ONNX("Mul with itself"),
    on_arrays=True,
    node="PowBackward0",
)


def _pow(xp: Any, a: Any, b: Any) -> Any:
    if a.dtype.kind in "iu":
        negative = b < 0
        if xp.any(negative):  # an integer to a negative power is 0 unless the base is 1 or -1
            sign = xp.where(b % 2 == 0, 1, a).astype(a.dtype)
            return xp.where(
                negative, xp.where(a == 1, 1, xp.where(a == -1, sign, 0)), xp.power(a, xp.where(negative, 0, b))
            ).astype(a.dtype)
    return xp.power(a, b)


def _power_fits(base: Any, exponent: int) -> Any:
    kind = base._a.dtype
    if exponent < 0 and kind.kind in "biu":
        raise RuntimeError(
            f"Integers to negative integer powers are not allowed: {kind.name} to {exponent}. Convert with .float()."
        )
    if kind.kind in "iu" and exponent > np.iinfo(kind).max:
        raise RuntimeError(f"value {exponent} cannot be converted to type {kind.name} without overflow")
    return base


def _pow_grad_exponent(g: Any, self: Any, exponent: Any, result: Any) -> Any:
    """``grad · result · log(self)``, and 0 where the base is 0 and the exponent is not negative."""
    dead = (self == 0) & (exponent >= 0)
    return (g * (result * self.masked_fill(dead, 1).log())).masked_fill(dead, 0)


pow_ = row(
    "pow",
    "self exponent",
    forward=_pow,
    infer=broadcast,
    grad={
        "self": lambda g, self, exponent: (g * (exponent * self.pow(exponent - 1))).masked_fill(exponent == 0, 0),
        "exponent": _pow_grad_exponent,
    },
    formula="result = self ^ exponent",
    derivatives={"self": "grad · exponent · self ^ (exponent − 1)", "exponent": "grad · result · log(self)"},
    autocast=GPU_FLOAT32,
    onnx="Pow",
    cost=per_element(10),
    samples=lambda t: [
        ((t(2, 3, low=0.5, high=2), t(2, 3)), {}),
        ((t(2, 3, low=0.5, high=2), t(3)), {}),
        ((t(2, 3), 3), {}),
        ((t(2, 3, low=0.5), 0.5), {}),
        ((t(2, 3), 0), {}),
        ((t(0, 3), 2), {}),
    ],
    result=SAME,
    promotes=True,
    beside_int=_power_fits,
)

# ------------------------------------------------------------------------------------------- exponentials and roots

exp = unary(
    "exp",
    "exp",
    lambda g, result: g * result,
    formula="result = exp(self)",
    derivative="grad · result",
    onnx="Exp",
    flops=10,
    on_arrays=True,
    autocast=GPU_FLOAT32,
)
exp2 = unary(
    "exp2",
    "exp2",
    lambda g, result: g * (result * math.log(2)),
    formula="result = 2 ^ self",
    derivative="grad · result · ln 2",
    onnx=NO_ONNX("Pow of 2"),
    flops=10,
    on_arrays=True,
)
expm1 = unary(
    "expm1",
    "expm1",
    lambda g, result: g * (result + 1),
    formula="result = exp(self) − 1",
    derivative="grad · (result + 1)",
    onnx=NO_ONNX("Exp then Sub"),
    flops=10,
    on_arrays=True,
    autocast=GPU_FLOAT32,
)
log = unary(
    "log",
    "log",
    lambda g, self: g / self,
    formula="result = ln(self)",
    derivative="grad ÷ self",
    onnx="Log",
    flops=10,
    on_arrays=True,
    autocast=GPU_FLOAT32,
    domain=(0.5, 2.0),
)
log2 = unary(
    "log2",
    "log2",
    lambda g, self: g / (self * math.log(2)),
    formula="result = log₂(self)",
    derivative="grad ÷ (self · ln 2)",
    onnx=NO_ONNX("Log then Div"),
    flops=10,
    on_arrays=True,
    autocast=GPU_FLOAT32,
    domain=(0.5, 2.0),
)
log10 = unary(
    "log10",
    "log10",
    lambda g, self: g / (self * math.log(10)),
    formula="result = log₁₀(self)",
    derivative="grad ÷ (self · ln 10)",
    onnx=NO_ONNX("Log then Div"),
    flops=10,
    on_arrays=True,
    autocast=GPU_FLOAT32,
    domain=(0.5, 2.0),
)
log1p = unary(
    "log1p",
    "log1p",
    lambda g, self: g / (self + 1),
    formula="result = ln(1 + self)",
    derivative="grad ÷ (1 + self)",
    onnx=NO_ONNX("Add then Log"),
    flops=10,
    on_arrays=True,
    autocast=GPU_FLOAT32,
    domain=(-0.5, 2.0),
)
sqrt = unary(
    "sqrt",
    "sqrt",
    lambda g, result: g / (result * 2),
    formula="result = √self",
    derivative="grad ÷ (2 · result)",
    onnx="Sqrt",
    flops=4,
    on_arrays=True,
    domain=(0.5, 2.0),
)
rsqrt = unary(
    "rsqrt",
    lambda xp, a: 1 / xp.sqrt(a),
    lambda g, result: g * (-0.5 * (result * result * result)),
    formula="result = 1 ÷ √self",
    derivative="−½ · grad · result³",
    onnx=NO_ONNX("Sqrt then Reciprocal"),
    flops=5,
    on_arrays=True,
    autocast=GPU_FLOAT32,
    domain=(0.5, 2.0),
)


def _tanh_grad(g: Any, result: Any) -> Any:
    """``grad · (1 − result²)`` as ``grad − grad · result²``, which on arrays needs no number from Python and one buffer."""
    if isinstance(result, np.ndarray):
        r = np.multiply(result, result)
        if type(r) is np.ndarray and r.ndim:
            np.multiply(r, g, r)
            return np.subtract(g, r, r)
    return g - g * (result * result)


# --------------------------------------------------------------------------------------------------- trigonometry

sin = unary(
    "sin",
    "sin",
    lambda g, self: g * self.cos(),
    formula="result = sin(self)",
    derivative="grad · cos(self)",
    onnx="Sin",
    flops=10,
)
cos = unary(
    "cos",
    "cos",
    lambda g, self: g * -self.sin(),
    formula="result = cos(self)",
    derivative="−grad · sin(self)",
    onnx="Cos",
    flops=10,
)
tan = unary(
    "tan",
    "tan",
    lambda g, result: g * (result * result + 1),
    formula="result = tan(self)",
    derivative="grad · (1 + result²)",
    onnx="Tan",
    flops=10,
    on_arrays=True,
    domain=(-1.0, 1.0),
    autocast=GPU_FLOAT32,
)
asin = unary(
    "asin",
    "arcsin",
    lambda g, self: g / (1 - self * self).sqrt(),
    formula="result = arcsin(self)",
    derivative="grad ÷ √(1 − self²)",
    onnx="Asin",
    flops=10,
    domain=(-0.9, 0.9),
    autocast=GPU_FLOAT32,
)
acos = unary(
    "acos",
    "arccos",
    lambda g, self: -g / (1 - self * self).sqrt(),
    formula="result = arccos(self)",
    derivative="−grad ÷ √(1 − self²)",
    onnx="Acos",
    flops=10,
    domain=(-0.9, 0.9),
    autocast=GPU_FLOAT32,
)
atan = unary(
    "atan",
    "arctan",
    lambda g, self: g / (self * self + 1),
    formula="result = arctan(self)",
    derivative="grad ÷ (1 + self²)",
    onnx="Atan",
    flops=10,
    on_arrays=True,
)
sinh = unary(
    "sinh",
    "sinh",
    lambda g, self: g * self.cosh(),
    formula="result = sinh(self)",
    derivative="grad · cosh(self)",
    onnx="Sinh",
    flops=10,
    autocast=GPU_FLOAT32,
)
cosh = unary(
    "cosh",
    "cosh",
    lambda g, self: g * self.sinh(),
    formula="result = cosh(self)",
    derivative="grad · sinh(self)",
    onnx="Cosh",
    flops=10,
    autocast=GPU_FLOAT32,
)
tanh = unary(
    "tanh",
    "tanh",
    _tanh_grad,
    formula="result = tanh(self)",
    derivative="grad · (1 − result²)",
    onnx="Tanh",
    flops=10,
    on_arrays=True,
)

# ---------------------------------------------------------------------------------------------------- activations


def _sigmoid(xp: Any, a: Any) -> Any:
    """``½ (1 + tanh(x / 2))``, which neither overflows nor needs a branch."""
    if (found := fused(xp, "sigmoid", a)) is not None:
        return found
    half = a.dtype.type(0.5)
    r = xp.tanh(a * half)
    r += half + half
    r *= half
    return r


def sign_of(xp: Any, a: Any) -> Any:
    """NumPy's sign, but 0 for NaN as in PyTorch."""
    if a.dtype.kind == "b":
        return a.copy()
    r = xp.sign(a)
    return xp.where(xp.isnan(a), xp.zeros_like(r), r) if a.dtype.kind == "f" else r


def _whole(name: str) -> Ufunc:
    """A rounding function, which leaves integers as they are."""
    return Ufunc(name, discrete=lambda xp, a: a.copy(order="K"))


_ZEROS: dict[Any, np.ndarray] = {}


def _zero(a: Any) -> np.ndarray:
    """0 as an array of the type of ``a``, which NumPy takes faster than a Python number."""
    found = _ZEROS.get(a.dtype)
    if found is None:
        found = _ZEROS[a.dtype] = np.zeros((), a.dtype)
    return found


def _relu(xp: Any, a: Any) -> Any:
    return xp.maximum(a, _zero(a) if xp is np else a.dtype.type(0))


def _where_positive(g: Any, result: Any) -> Any:
    """The gradient where the result is positive (or NaN), and 0, not a product with 0, elsewhere."""
    xp = of_arrays(g)
    if xp is None:
        return g.masked_fill(result <= 0, 0)
    zero = _zero(result) if xp is np else result.dtype.type(0)
    return kept(xp, g, xp.logical_not(xp.less_equal(result, zero)))


sigmoid = unary(
    "sigmoid",
    _sigmoid,
    lambda g, result: g * (result - result * result),
    formula="result = 1 ÷ (1 + exp(−self))",
    derivative="grad · result · (1 − result)",
    onnx="Sigmoid",
    flops=12,
    on_arrays=True,
)
relu = unary(
    "relu",
    _relu,
    _where_positive,
    formula="result = max(self, 0)",
    derivative="grad where result > 0, else 0",
    result=SAME,
    onnx="Relu",
    on_arrays=True,
    holomorphic=False,
)
erf = unary(
    "erf",
    from_scipy("erf"),
    lambda g, self: g * ((self * self).neg().exp() * (2 / math.sqrt(math.pi))),
    formula="result = erf(self)",
    derivative="grad · 2/√π · exp(−self²)",
    onnx="Erf",
    flops=20,
)
abs_ = unary(
    "abs",
    "absolute",
    lambda g, self: g * self.sgn(),
    formula="result = |self|",
    derivative="grad · sign(self)",
    result=SAME,
    onnx="Abs",
    holomorphic=False,
)
sign = unary("sign", sign_of, nothing, formula="result = sign(self)", derivative="0", result=SAME, onnx="Sign")
floor = unary("floor", _whole("floor"), nothing, formula="result = ⌊self⌋", derivative="0", result=SAME, onnx="Floor")
ceil = unary("ceil", _whole("ceil"), nothing, formula="result = ⌈self⌉", derivative="0", result=SAME, onnx="Ceil")
round_ = unary(
    "round",
    _whole("rint"),
    nothing,
    formula="result = self rounded, halves to even",
    derivative="0",
    result=SAME,
    onnx="Round",
)
trunc = unary(
    "trunc",
    _whole("trunc"),
    nothing,
    formula="result = self without its fraction",
    derivative="0",
    result=SAME,
    onnx=NO_ONNX("Abs, Floor, Sign"),
)
