"""Bessel and Airy functions of one input.

Sources: NIST Digital Library of Mathematical Functions, 10.2, 10.6 (recurrences), 10.29, 10.32.9 (the integral of K), 10.49.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tensorlab.ops.curves import real_only
from tensorlab.ops.elementwise import unary
from tensorlab.ops.scipy import from_scipy, rounded_once, special
from tensorlab.ops.table import NO_GRAD, NO_ONNX, Row


def _bessel(name: str, forward: Any, grad: Callable[..., Any], formula: str, derivative: str, **columns: Any) -> Row:
    return unary(
        name,
        from_scipy(forward) if isinstance(forward, str) else rounded_once(forward),
        grad,
        formula=formula,
        derivative=derivative,
        onnx=NO_ONNX("a special function"),
        flops=40,
        refuses=real_only(name),
        **columns,
    )


def _over(numerator: Any, self: Any, at_zero: float) -> Any:
    """``numerator / self``, and its limit at 0."""
    return (numerator / self.masked_fill(self == 0, 1)).masked_fill(self == 0, at_zero)


# ----------------------------------------------------------------------------------------------------- first and second kind

bessel_j0 = _bessel(
    "bessel_j0", "j0", lambda g, self: g * -self._op("bessel_j1"), "result = J₀(self)", "−grad · J₁(self)"
)
bessel_j1 = _bessel(
    "bessel_j1",
    "j1",
    lambda g, self, result: g * (self._op("bessel_j0") - _over(result, self, 0.5)),
    "result = J₁(self)",
    "grad · (J₀(self) − result ÷ self)",
)
bessel_y0 = _bessel(
    "bessel_y0",
    "y0",
    lambda g, self: g * -self._op("bessel_y1"),
    "result = Y₀(self)",
    "−grad · Y₁(self)",
    domain=(0.5, 4.0),
)
bessel_y1 = _bessel(
    "bessel_y1",
    "y1",
    lambda g, self, result: g * (self._op("bessel_y0") - result / self),
    "result = Y₁(self)",
    "grad · (Y₀(self) − result ÷ self)",
    domain=(0.5, 4.0),
)


def _spherical(xp: Any, a: Any) -> Any:
    return xp.where(a == 0, xp.ones_like(a), xp.sin(a) / xp.where(a == 0, xp.ones_like(a), a))


def _spherical_grad(g: Any, self: Any) -> Any:
    safe = self.masked_fill(self == 0, 1)
    return (g * ((safe * safe.cos() - safe.sin()) / (safe * safe))).masked_fill(self == 0, 0)


spherical_bessel_j0 = _bessel(
    "spherical_bessel_j0",
    _spherical,
    _spherical_grad,
    "result = sin(self) ÷ self, 1 at 0",
    "grad · (self · cos(self) − sin(self)) ÷ self²",
)

# ------------------------------------------------------------------------------------------------------------ modified ones

i0 = _bessel("i0", "i0", lambda g, self: g * self._op("i1"), "result = I₀(self)", "grad · I₁(self)")
i0e = _bessel(
    "i0e",
    "i0e",
    lambda g, self, result: g * (self._op("i1e") - self.sgn() * result),
    "result = exp(−|self|) · I₀(self)",
    "grad · (i1e(self) − sign(self) · result)",
    node="SpecialI0EBackward0",
)
i1 = _bessel(
    "i1",
    "i1",
    lambda g, self, result: g * (self._op("i0") - _over(result, self, 0.5)),
    "result = I₁(self)",
    "grad · (I₀(self) − result ÷ self)",
    node="SpecialI1Backward0",
)
i1e = _bessel(
    "i1e",
    "i1e",
    lambda g, self, result: g * (self._op("i0e") - result * self.sgn() - _over(result, self, 0.5)),
    "result = exp(−|self|) · I₁(self)",
    "grad · (i0e(self) − result · (sign(self) + 1 ÷ self))",
    node="SpecialI1EBackward0",
)


def _second_kind(order: int, scaled: bool) -> Callable[..., Any]:
    """SciPy's function where it has one; CuPy has none, so the integral is summed there."""
    name = f"k{order}" + ("e" if scaled else "")

    def forward(xp: Any, a: Any) -> Any:
        theirs = getattr(special(xp), name, None)
        return theirs(a) if theirs is not None else _integral(xp, a, order, scaled)

    return forward


def _integral(xp: Any, a: Any, order: int, scaled: bool) -> Any:
    """``exp(x) K(x) = ∫ exp(-x (cosh t - 1)) cosh(n t) dt`` from 0 on, by the trapezoid rule, whose error falls exponentially.

    Steps of 1/8, and finer ones where the integrand is narrow, give every digit of float64; for tiny ``x`` its leading term is all.
    """
    given = a.astype(np.float64)
    x = xp.where(given > 0, given, 1.0)
    width = 0.125 / xp.sqrt(xp.maximum(x, 1.0))
    total = xp.full(x.shape, 0.5)
    for step in range(1, 200):
        t = width * step
        total = total + xp.exp(-x * (xp.cosh(t) - 1)) * (xp.cosh(t) if order else 1.0)
    leading = 1 / x if order else -xp.log(x / 2) - float(np.euler_gamma)
    total = xp.where(x < 1e-8, leading * (1 + x), total * width)
    total = total if scaled else total * xp.exp(-x)
    total = xp.where(given > 0, total, xp.where(given == 0, math.inf, math.nan))
    return total.astype(a.dtype) if a.dtype.kind == "f" else total


modified_bessel_i0 = _bessel(
    "modified_bessel_i0", "i0", lambda g, self: g * self._op("i1"), "result = I₀(self)", "grad · I₁(self)"
)
modified_bessel_i1 = _bessel(
    "modified_bessel_i1",
    "i1",
    lambda g, self, result: g * (self._op("i0") - _over(result, self, 0.5)),
    "result = I₁(self)",
    "grad · (I₀(self) − result ÷ self)",
)
modified_bessel_k0 = _bessel(
    "modified_bessel_k0",
    _second_kind(0, False),
    lambda g, self: g * -self._op("modified_bessel_k1"),
    "result = K₀(self)",
    "−grad · K₁(self)",
    domain=(0.5, 3.0),
)
modified_bessel_k1 = _bessel(
    "modified_bessel_k1",
    _second_kind(1, False),
    lambda g, self, result: g * -(self._op("modified_bessel_k0") + result / self),
    "result = K₁(self)",
    "−grad · (K₀(self) + result ÷ self)",
    domain=(0.5, 3.0),
)
scaled_modified_bessel_k0 = _bessel(
    "scaled_modified_bessel_k0",
    _second_kind(0, True),
    lambda g, self, result: g * (result - self._op("scaled_modified_bessel_k1")),
    "result = exp(self) · K₀(self)",
    "grad · (result − exp(self) · K₁(self))",
    domain=(0.5, 3.0),
)
scaled_modified_bessel_k1 = _bessel(
    "scaled_modified_bessel_k1",
    _second_kind(1, True),
    lambda g, self, result: g * (result - self._op("scaled_modified_bessel_k0") - result / self),
    "result = exp(self) · K₁(self)",
    "grad · (result · (1 − 1 ÷ self) − exp(self) · K₀(self))",
    domain=(0.5, 3.0),
)

# -------------------------------------------------------------------------------------------------------------------- Airy


def _airy(xp: Any, a: Any) -> Any:
    """SciPy's function; CuPy has none, so it is worked out there."""
    theirs = getattr(special(xp), "airy", None)
    return theirs(a)[0] if theirs is not None else _airy_by_parts(xp, a)


def _airy_by_parts(xp: Any, a: Any) -> Any:
    """The power series between -3 and 1.6, beyond it the integral 9.5.8 by Gauss's rule, and 9.2.14 to the left.

    Source: A. Gil, J. Segura, N. M. Temme, "Computing complex Airy functions by numerical quadrature", 2002.
    """
    x = a.astype(np.float64)
    near = (x > -3) & (x < 1.6)
    far = xp.where(near | ~xp.isfinite(x), 3.0, xp.absolute(x))
    size = far**1.5 * (2 / 3)
    right = _airy_integral(xp, size + 0j).real * xp.exp(-size)
    left = 2 * (_airy_integral(xp, size * 1j) * xp.exp(1j * (math.pi / 3 - size))).real
    found = xp.where(near, _airy_series(xp, xp.where(near, x, 0.0)), xp.where(x < 0, left, right))
    found = xp.where(xp.isfinite(x), found, math.nan)
    return found.astype(a.dtype) if a.dtype.kind == "f" else found


def _airy_series(xp: Any, x: Any) -> Any:
    cube = x * x * x
    even, odd = xp.ones_like(x), x
    evens, odds = even, odd
    for k in range(0, 90, 3):
        even, odd = even * cube / ((k + 2) * (k + 3)), odd * cube / ((k + 3) * (k + 4))
        evens, odds = evens + even, odds + odd
    return evens / (3 ** (2 / 3) * math.gamma(2 / 3)) - odds / (3 ** (1 / 3) * math.gamma(1 / 3))


def _airy_integral(xp: Any, zeta: Any) -> Any:
    """``exp(zeta) Ai(z)`` for ``zeta = 2/3 z^(3/2)``."""
    total = xp.zeros_like(zeta)
    for point, weight in zip(*special(np).roots_genlaguerre(30, -1 / 6), strict=True):
        total = total + float(weight) * (2 + float(point) / zeta) ** (-1 / 6)
    return total * zeta ** (-1 / 6) / (math.sqrt(math.pi) * 48 ** (1 / 6) * math.gamma(5 / 6))


airy_ai = unary(
    "airy_ai",
    rounded_once(_airy),
    NO_GRAD("PyTorch gives none"),
    formula="result = Ai(self)",
    onnx=NO_ONNX("a special function"),
    flops=100,
    refuses=real_only("airy_ai"),
)
