"""Special functions. Those that PyTorch has at its top level are public there too; all of them are in ``tensorlab.special``."""

from __future__ import annotations

import math
from typing import Any

from tensorlab import creation, dispatch, dtypes
from tensorlab.dispatch import call
from tensorlab.functional.arguments import need_tensor
from tensorlab.functional.fromrow import row_function
from tensorlab.ops import ROWS

Tensor = Any

#: Functions that are methods under the same name, with the tensor as their first argument.
METHODS = """
    erfc erfinv lgamma digamma igamma igammac i0 xlogy mvlgamma
"""
#: Rows that have an in-place form, ``name_``.
IN_PLACE = """
    erfc erfinv lgamma digamma igamma igammac i0 xlogy
"""
#: Functions that are not found at ``tensorlab.<name>``.
ELSEWHERE = """
    entr erfcx ndtr ndtri log_ndtr i0e i1 i1e xlog1py zeta bessel_j0 bessel_j1 bessel_y0 bessel_y1 modified_bessel_i0
    modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0 scaled_modified_bessel_k1
    spherical_bessel_j0 airy_ai orthogonal_polynomial
"""

erfc = row_function("erfc", "Complementary error function, accurate where it is tiny.")
erfinv = row_function("erfinv", "Inverse of the error function.")
erfcx = row_function("erfcx", "Complementary error function times ``exp(x**2)``.")
lgamma = row_function("lgamma", "Logarithm of the size of the gamma function.")
digamma = row_function("digamma", "Derivative of the logarithm of the gamma function.")
igamma = row_function(
    "igamma", "Regularised lower incomplete gamma function; has a derivative for the second operand only."
)
igammac = row_function(
    "igammac", "Regularised upper incomplete gamma function; has a derivative for the second operand only."
)
entr = row_function("entr", "``-x log x``, 0 at 0 and minus infinity below.")
ndtr = row_function("ndtr", "Distribution function of the standard normal.")
ndtri = row_function("ndtri", "Quantile function of the standard normal.")
log_ndtr = row_function("log_ndtr", "Logarithm of the distribution function of the standard normal.")
zeta = row_function("zeta", "Hurwitz zeta function; has a derivative for the second operand only.")
xlogy = row_function("xlogy", "``x log y``, and 0 where x is 0.")
xlog1py = row_function("xlog1py", "``x log(1 + y)``, and 0 where x is 0.")
i0 = row_function("i0", "Modified Bessel function of the first kind, order 0.")
i0e = row_function("i0e", "Modified Bessel function of the first kind, order 0, times ``exp(-|x|)``.")
i1 = row_function("i1", "Modified Bessel function of the first kind, order 1.")
i1e = row_function("i1e", "Modified Bessel function of the first kind, order 1, times ``exp(-|x|)``.")
bessel_j0 = row_function("bessel_j0", "Bessel function of the first kind, order 0.")
bessel_j1 = row_function("bessel_j1", "Bessel function of the first kind, order 1.")
bessel_y0 = row_function("bessel_y0", "Bessel function of the second kind, order 0.")
bessel_y1 = row_function("bessel_y1", "Bessel function of the second kind, order 1.")
modified_bessel_i0 = row_function("modified_bessel_i0", "Modified Bessel function of the first kind, order 0.")
modified_bessel_i1 = row_function("modified_bessel_i1", "Modified Bessel function of the first kind, order 1.")
modified_bessel_k0 = row_function("modified_bessel_k0", "Modified Bessel function of the second kind, order 0.")
modified_bessel_k1 = row_function("modified_bessel_k1", "Modified Bessel function of the second kind, order 1.")
scaled_modified_bessel_k0 = row_function(
    "scaled_modified_bessel_k0", "Modified Bessel function of the second kind, order 0, times ``exp(x)``."
)
scaled_modified_bessel_k1 = row_function(
    "scaled_modified_bessel_k1", "Modified Bessel function of the second kind, order 1, times ``exp(x)``."
)
airy_ai = row_function("airy_ai", "Airy function Ai; passes no gradient.")
spherical_bessel_j0 = row_function("spherical_bessel_j0", "Spherical Bessel function of the first kind, order 0.")


def polygamma(n: int, input: Tensor) -> Tensor:
    """The derivative number ``n`` of the digamma function. Raises ``RuntimeError`` for a negative ``n``.

    >>> import tensorlab as tl
    >>> tl.polygamma(1, tl.tensor([1.0]))
    tensor([1.6449])
    """
    if isinstance(n, bool) or not isinstance(n, int):
        raise TypeError(f"polygamma(): argument 'n' (position 1) must be int, not {type(n).__name__}")
    need_tensor("polygamma", "input", 2, input)
    if n < 0:
        raise RuntimeError(f"polygamma(n, x) does not support negative n, got {n}.")
    return call(ROWS["polygamma"], (input,), n=n)


def mvlgamma(input: Tensor, p: int) -> Tensor:
    """Logarithm of the multivariate gamma function of dimension ``p``.

    ``p (p - 1) / 4 · log(pi) + sum of lgamma(input - j / 2)`` for ``j`` from 0 to ``p - 1``.
    """
    need_tensor("mvlgamma", "input", 1, input)
    if p < 1:
        raise RuntimeError(f"p has to be greater than or equal to 1, got {p}")
    if input._a.dtype.kind not in "fV":
        input = input.to(dtypes.get_default_dtype())
    steps = creation.arange(0, -p / 2, -0.5, dtype=input.dtype, device=input.device)
    return lgamma(input.unsqueeze(-1) + steps).sum(-1) + p * (p - 1) / 4 * math.log(math.pi)


def orthogonal_polynomial(kind: str, input: Any, n: Any) -> Tensor:
    """The polynomials of a kind and of degrees ``n`` at ``input``; either may be a number."""
    if not isinstance(input, dispatch.Tensor) and not isinstance(n, dispatch.Tensor):
        raise TypeError(
            f"{kind}(): one of 'input' and 'n' must be Tensor, got {type(input).__name__} and {type(n).__name__}"
        )
    return call(ROWS["orthogonal_polynomial"], (input, n), kind=kind, order=0)
