"""More functions of single elements: inverse hyperbolic, angles, extremes, parts and repairs of numbers, whole numbers and bits."""

from __future__ import annotations

from typing import Any

from tensorlab import dispatch, dtypes
from tensorlab.creation import number
from tensorlab.dispatch import call
from tensorlab.functional.arguments import need_tensor
from tensorlab.functional.fromrow import row_function
from tensorlab.functional.pointwise import pow
from tensorlab.ops import ROWS
from tensorlab.return_types import named

Tensor = Any

#: Functions that are methods under the same name, with the tensor as their first argument.
METHODS = """
    acosh asinh atanh arccosh arcsinh arctanh atan2 arctan2 copysign hypot heaviside logaddexp logaddexp2 nan_to_num
    bitwise_left_shift bitwise_right_shift deg2rad rad2deg float_power fmax fmin frac frexp ldexp gcd lcm isneginf isposinf
    isreal signbit positive sinc nextafter logit
"""
#: Rows that have an in-place form, ``name_``.
IN_PLACE = """
    acosh asinh atanh arccosh arcsinh arctanh atan2 arctan2 copysign hypot heaviside bitwise_left_shift
    bitwise_right_shift deg2rad rad2deg frac ldexp gcd lcm sinc nextafter
"""
#: Functions that are not found at ``tensorlab.<name>``.
ELSEWHERE = """
    widest
"""

acosh = row_function("acosh", "Inverse hyperbolic cosine.")
asinh = row_function("asinh", "Inverse hyperbolic sine.")
atanh = row_function("atanh", "Inverse hyperbolic tangent.")
deg2rad = row_function("deg2rad", "Degrees as radians.")
rad2deg = row_function("rad2deg", "Radians as degrees.")
frac = row_function("frac", "What follows the point, with the number's sign.")
sinc = row_function("sinc", "``sin(pi x) / (pi x)``, and 1 at 0.")
signbit = row_function("signbit", "Whether the sign is negative, that of -0. too.")
isneginf = row_function("isneginf", "Whether minus infinity.")
isposinf = row_function("isposinf", "Whether plus infinity.")
isreal = row_function("isreal", "Whether the imaginary part is 0; true of every real number.")
atan2 = row_function("atan2", "The angle of the point (other, input), from -pi to pi.")
hypot = row_function("hypot", "The length of the longest side of a right triangle, without overflow on the way.")
copysign = row_function("copysign", "The size of the first with the sign of the second.")
heaviside = row_function("heaviside", "The step function; the second operand is its value at 0.")
logaddexp = row_function("logaddexp", "``log(exp(x) + exp(y))``, without overflow.")
logaddexp2 = row_function("logaddexp2", "``log2(2**x + 2**y)``, without overflow.")
fmax = row_function("fmax", "The larger of two; a number wins over NaN.")
fmin = row_function("fmin", "The smaller of two; a number wins over NaN.")
nextafter = row_function("nextafter", "The next floating-point number on the way to the second.")
ldexp = row_function("ldexp", "The first times 2 to the power of the second.")
gcd = row_function("gcd", "Greatest common divisor of integers.")
lcm = row_function("lcm", "Least common multiple of integers.")
bitwise_left_shift = row_function("bitwise_left_shift", "Bits of integers moved up; beyond the width nothing is left.")
bitwise_right_shift = row_function("bitwise_right_shift", "Bits of integers moved down; the sign stays.")
arccosh, arcsinh, arctanh, arctan2 = acosh, asinh, atanh, atan2


def fill(input: Tensor, value: Any) -> Tensor:
    """``value``, a number or a 0-dim tensor, everywhere, with the shape and type of ``input``."""
    need_tensor("fill", "input", 1, input)
    if isinstance(value, dispatch.Tensor) and value._a.ndim:
        raise RuntimeError(
            f"fill only supports 0-dimension value tensor but got tensor with {value._a.ndim} dimensions."
        )
    value = value if isinstance(value, dispatch.Tensor) else dispatch.wrap(number(value, input.dtype))
    return call(ROWS["fill"], (input, value))


def positive(input: Tensor) -> Tensor:
    """``+input``: the tensor itself. Raises ``RuntimeError`` for booleans."""
    if input._a.dtype.kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


def logit(input: Tensor, eps: float | None = None) -> Tensor:
    """``log(x / (1 - x))``; with ``eps``, of ``x`` limited to ``[eps, 1 - eps]``. Without it, NaN outside [0, 1].

    >>> import tensorlab as tl
    >>> tl.logit(tl.tensor([0.5, 1.0]), eps=0.1)
    tensor([0.0000, 2.1972])
    """
    need_tensor("logit", "input", 1, input)
    return call(ROWS["logit"], (input,), eps=eps)


def nan_to_num(
    input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """NaN replaced by ``nan`` (0), and infinities by ``posinf`` and ``neginf`` (the largest and the smallest number of the type).

    >>> import tensorlab as tl
    >>> tl.nan_to_num(tl.tensor([float("nan"), 1.0, -float("inf")]), neginf=-9.0)
    tensor([ 0.,  1., -9.])
    """
    need_tensor("nan_to_num", "input", 1, input)
    return call(ROWS["nan_to_num"], (input,), nan=nan, posinf=posinf, neginf=neginf)


def frexp(input: Tensor) -> Any:
    """``(mantissa, exponent)`` with ``input = mantissa * 2**exponent`` and ``0.5 <= |mantissa| < 1``; exponents are int32.

    >>> import tensorlab as tl
    >>> tl.frexp(tl.tensor([6.0])).mantissa
    tensor([0.7500])
    """
    return named("frexp", ("mantissa", "exponent"))(*call(ROWS["frexp"], (input,)))


def float_power(input: Any, exponent: Any) -> Tensor:
    """Power computed in float64, or in complex128 where an operand is complex. Either operand may be a number."""
    return pow(*widest(input, exponent))


def widest(*operands: Any) -> list[Any]:
    """Operands in float64, or all in complex128 where one is complex; numbers stay numbers."""
    turned = any(x._a.dtype.kind == "c" if isinstance(x, dispatch.Tensor) else isinstance(x, complex) for x in operands)
    kind = dtypes.complex128 if turned else dtypes.float64
    return [x.to(kind) if isinstance(x, dispatch.Tensor) else x for x in operands]
