"""Functions of single elements. Those without arguments of their own are built by the door straight from their rows."""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np

from tensorlab import dispatch, dtypes
from tensorlab.creation import number
from tensorlab.dispatch import call
from tensorlab.functional.arguments import a_number, need_tensor
from tensorlab.functional.fromrow import row_function as _row_function
from tensorlab.functional.older import older
from tensorlab.ops import ROWS

Tensor = Any

#: Functions that are methods under the same name, with the tensor as their first argument.
METHODS = """
    add sub div floor_divide remainder fmod pow subtract multiply divide true_divide eq ne lt le gt ge greater
    greater_equal less less_equal not_equal logical_and logical_or logical_xor logical_not bitwise_and
    bitwise_or bitwise_xor bitwise_not neg negative absolute sign sgn exp exp2 expm1 log log2 log10 log1p sqrt
    rsqrt square reciprocal sin cos tan asin acos atan arcsin arccos arctan sinh cosh tanh sigmoid relu erf
    floor ceil round trunc fix isnan isinf isfinite clamp clip clamp_min clamp_max masked_fill lerp addcmul addcdiv
"""
#: Rows that have an in-place form, ``name_``.
IN_PLACE = """
    floor_divide remainder fmod pow eq ne lt le gt ge logical_and logical_or logical_xor logical_not bitwise_and
    bitwise_or bitwise_xor bitwise_not neg sign sgn exp exp2 expm1 log log2 log10 log1p sqrt rsqrt square reciprocal
    sin cos tan asin acos atan sinh cosh tanh sigmoid relu erf floor ceil trunc fix absolute negative multiply arcsin
    arccos arctan greater greater_equal less less_equal not_equal
"""
#: Functions that are not found at ``tensorlab.<name>``.
ELSEWHERE = """
    scaled fillable
"""


_add = _row_function("add", "Sum.")
_sub = _row_function("sub", "Difference.")
mul = _row_function("mul", "Product.")
_div = _row_function("div", "Quotient; integers divide to floating point.")
floor_divide = _row_function("floor_divide", "Quotient rounded towards minus infinity.")
remainder = _row_function("remainder", "Remainder with the sign of the divisor.")
fmod = _row_function("fmod", "Remainder with the sign of the dividend.")
pow = _row_function("pow", "Power.")
maximum = _row_function("maximum", "The larger of two; NaN wins.")
minimum = _row_function("minimum", "The smaller of two; NaN wins.")
eq = _row_function("eq", "Whether equal.")
ne = _row_function("ne", "Whether different.")
lt = _row_function("lt", "Whether less.")
le = _row_function("le", "Whether less or equal.")
gt = _row_function("gt", "Whether greater.")
ge = _row_function("ge", "Whether greater or equal.")
logical_and = _row_function("logical_and", "Logical and; anything but 0 is true.")
logical_or = _row_function("logical_or", "Logical or; anything but 0 is true.")
logical_xor = _row_function("logical_xor", "Logical exclusive or; anything but 0 is true.")
bitwise_and = _row_function("bitwise_and", "Bitwise and of integers or booleans.")
bitwise_or = _row_function("bitwise_or", "Bitwise or of integers or booleans.")
bitwise_xor = _row_function("bitwise_xor", "Bitwise exclusive or of integers or booleans.")
neg = _row_function("neg", "Negative.")
abs = _row_function("abs", "Absolute value.")
sign = _row_function("sign", "Sign: -1, 0 or 1; 0 for NaN.")
sgn = _row_function("sgn", "Sign; for complex numbers ``x / |x|``, and 0 for 0.")
exp = _row_function("exp", "Exponential.")
exp2 = _row_function("exp2", "Power of two.")
expm1 = _row_function("expm1", "``exp(x) - 1``, accurate near 0.")
log = _row_function("log", "Natural logarithm.")
log2 = _row_function("log2", "Logarithm to base 2.")
log10 = _row_function("log10", "Logarithm to base 10.")
log1p = _row_function("log1p", "``log(1 + x)``, accurate near 0.")
sqrt = _row_function("sqrt", "Square root.")
rsqrt = _row_function("rsqrt", "Reciprocal square root.")
square = _row_function("square", "Square.")
reciprocal = _row_function("reciprocal", "Reciprocal.")
sin = _row_function("sin", "Sine.")
cos = _row_function("cos", "Cosine.")
tan = _row_function("tan", "Tangent.")
asin = _row_function("asin", "Inverse sine.")
acos = _row_function("acos", "Inverse cosine.")
atan = _row_function("atan", "Inverse tangent.")
sinh = _row_function("sinh", "Hyperbolic sine.")
cosh = _row_function("cosh", "Hyperbolic cosine.")
tanh = _row_function("tanh", "Hyperbolic tangent.")
sigmoid = _row_function("sigmoid", "Logistic sigmoid.")
relu = _row_function("relu", "Rectified linear unit; its derivative at 0 is 0.")
erf = _row_function("erf", "Error function.")
floor = _row_function("floor", "Largest integer not above.")
ceil = _row_function("ceil", "Smallest integer not below.")
trunc = _row_function("trunc", "Integer part.")
_round = _row_function("round", "Nearest integer, halves to even.")
_rsub = _row_function("rsub", "Difference with the operands exchanged.")
isnan = _row_function("isnan", "Whether NaN.")
isinf = _row_function("isinf", "Whether plus or minus infinity.")
isfinite = _row_function("isfinite", "Whether neither NaN nor infinite.")
logical_not = _row_function("logical_not", "Logical not; anything but 0 is true.")
bitwise_not = _row_function("bitwise_not", "Bitwise not of integers, logical not of booleans.")
absolute, negative, multiply = abs, neg, mul
arcsin, arccos, arctan, fix = asin, acos, atan, trunc
greater, greater_equal, less, less_equal, not_equal = gt, ge, lt, le, ne

#: Functions straight from their rows, without the options of their public forms: what operators call.
BARE = {"add": _add, "sub": _sub, "rsub": _rsub, "div": _div}


@older("input alpha other")
def add(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """``input + alpha * other``; inputs promote and broadcast.

    >>> import tensorlab as tl
    >>> tl.add(tl.tensor([1., 2.]), 10, alpha=2)
    tensor([21., 22.])
    """
    return _add(input, other if alpha == 1 and alpha is not True else scaled("add", input, other, alpha))


@older("input alpha other")
def sub(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """``input - alpha * other``; inputs promote and broadcast."""
    return _sub(input, other if alpha == 1 and alpha is not True else scaled("sub", input, other, alpha))


def rsub(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """``other - alpha * input``; inputs promote and broadcast."""
    return _rsub(input if alpha == 1 and alpha is not True else scaled("rsub", other, input, alpha), other)


def scaled(op: str, input: Any, other: Any, alpha: Any) -> Any:
    """``alpha * other`` in the type that ``input + other`` has. Raises ``RuntimeError`` where that type cannot hold ``alpha``."""
    if not isinstance(alpha, (Number, np.generic, dispatch.Tensor)):
        raise TypeError(f"{op}(): argument 'alpha' must be Number, not {type(alpha).__name__}")
    common = dispatch.common_dtype(dispatch.as_tensors(ROWS["add"], (input, other)))
    if isinstance(alpha, bool) and common.category != dtypes.BOOL:
        raise RuntimeError(f"{op}(): Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, float) and common.category < dtypes.FLOAT:
        raise RuntimeError(
            f"{op}(): For integral input tensors, argument alpha must not be a floating point number, got {alpha}."
        )
    return mul(other.to(common), alpha) if isinstance(other, dispatch.Tensor) else other * alpha


def div(input: Tensor, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """``input / other``; ``rounding_mode`` is ``None`` (true division), ``"floor"`` or ``"trunc"``.

    >>> import tensorlab as tl
    >>> tl.div(tl.tensor([7, -7]), 2, rounding_mode="floor")
    tensor([ 3, -4])
    """
    if rounding_mode is None:
        return _div(input, other)
    if rounding_mode not in ("floor", "trunc"):
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    return call(ROWS[f"div_{rounding_mode}"], (input, other))


subtract, divide, true_divide = sub, div, div


def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """The nearest integer, halves to even; ``decimals`` digits after the point are kept."""
    return _round(input) if decimals == 0 else call(ROWS["round_decimals"], (input,), decimals=int(decimals))


def clamp(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Values limited to ``[min, max]``; either end may be ``None``, a number or a tensor. The gradient passes at both edges.

    >>> import tensorlab as tl
    >>> tl.clamp(tl.tensor([-2., 0.5, 3.]), -1, 1)
    tensor([-1.0000,  0.5000,  1.0000])
    """
    if min is None and max is None:
        raise RuntimeError("clamp(): At least one of 'min' or 'max' must not be None")
    return call(ROWS["clamp"], (input, min, max))


clip = clamp


def clamp_min(input: Tensor, min: Any) -> Tensor:
    """Values raised to at least ``min``."""
    return call(ROWS["clamp"], (input, min, None))


def clamp_max(input: Tensor, max: Any) -> Tensor:
    """Values lowered to at most ``max``."""
    return call(ROWS["clamp"], (input, None, max))


def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    """Elements of ``input`` where ``condition`` holds, else of ``other``; with the condition alone, its true positions.

    Shapes broadcast and types promote. Raises ``RuntimeError`` unless the condition is boolean.
    """
    need_tensor("where", "condition", 1, condition)
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    if input is None or other is None:
        raise TypeError("where() takes a condition alone, or a condition and two values")
    if condition._a.dtype.kind != "b" and condition._a.dtype != dtypes.uint8.np:
        raise RuntimeError(
            f"where(): expected condition to be a boolean tensor, but got a tensor with dtype {condition.dtype.name}"
        )
    row = ROWS["where"]
    if isinstance(input, dispatch.Tensor) or isinstance(other, dispatch.Tensor):
        a, b = dispatch.as_tensors(row, (input, other))
    else:
        a, b = (dispatch.number_beside(dtypes.scalar_dtype(value).np, value) for value in (input, other))
    target = dispatch.common_dtype([a, b]).np
    a, b = (x if x._a.dtype == target else dispatch.cast(x, target) for x in (a, b))
    return call(row, (condition if condition._a.dtype.kind == "b" else condition != 0, a, b))


def conj(input: Tensor) -> Tensor:
    """The complex conjugate; a real tensor as it is."""
    return call(ROWS["conj"], (input,)) if input._a.dtype.kind == "c" else input


def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """``input`` with ``value``, a number or a 0-dim tensor, where ``mask`` holds. Raises ``RuntimeError`` unless the mask is boolean."""
    return call(ROWS["masked_fill"], fillable("masked_fill", input, mask, value))


def fillable(op: str, input: Tensor, mask: Tensor, value: Any) -> tuple[Tensor, Tensor, Tensor]:
    """What ``masked_fill`` needs, once it is sure that the mask is boolean and ``input`` can hold ``value``."""
    if not isinstance(mask, dispatch.Tensor):
        raise TypeError(f"{op}(): argument 'mask' (position 2) must be Tensor, not {type(mask).__name__}")
    if mask._a.dtype.kind != "b":
        raise RuntimeError(f"{op} only supports boolean masks, but got mask with dtype {mask.dtype.name}")
    if isinstance(value, dispatch.Tensor) and value._a.ndim:
        raise RuntimeError(
            f"{op} only supports a 0-dimensional value tensor, but got tensor with {value._a.ndim} dimension(s)."
        )
    if isinstance(value, dispatch.Tensor):
        if value._a.dtype.kind == "c" and input._a.dtype.kind != "c":
            raise RuntimeError(
                f"value cannot be converted to type {input.dtype.name} without overflow: it is {value.dtype.name}"
            )
        return input, mask, value
    return input, mask, dispatch.wrap(number(value, input.dtype))


def lerp(input: Tensor, end: Tensor, weight: Any) -> Tensor:
    """``input + weight * (end - input)``; ``weight`` is a number or a tensor. All tensors have one type."""
    need_tensor("lerp", "input", 1, input)
    need_tensor("lerp", "end", 2, end)
    return call(ROWS["lerp"], (input, end, weight))


@older("input value tensor1 tensor2")
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """``input + value * tensor1 * tensor2``."""
    need_tensor("addcmul", "input", 1, input)
    need_tensor("addcmul", "tensor1", 2, tensor1)
    need_tensor("addcmul", "tensor2", 3, tensor2)
    return call(ROWS["addcmul"], (input, tensor1, tensor2), value=a_number("addcmul", "value", value))


@older("input value tensor1 tensor2")
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """``input + value * tensor1 / tensor2``. Raises ``RuntimeError`` for integers."""
    need_tensor("addcdiv", "input", 1, input)
    need_tensor("addcdiv", "tensor1", 2, tensor1)
    need_tensor("addcdiv", "tensor2", 3, tensor2)
    return call(ROWS["addcdiv"], (input, tensor1, tensor2), value=a_number("addcdiv", "value", value))
