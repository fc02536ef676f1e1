"""Special functions: SciPy's values, with the derivatives that the handbooks give.

Sources of the formulas: NIST Digital Library of Mathematical Functions, chapters 5, 6, 7, 8, 10 and 25.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tensorlab.ops.curves import real_only
from tensorlab.ops.elementwise import binary, same_shape, unary
from tensorlab.ops.scipy import from_scipy, rounded_once, special
from tensorlab.ops.table import AS_IS, FLOAT, GPU_FLOAT32, NO_ONNX, Row, per_element, row

_ROOT_PI, _ROOT_HALF = math.sqrt(math.pi), math.sqrt(0.5)


def _special(
    name: str,
    scipy: Any,
    grad: Callable[..., Any],
    formula: str,
    derivative: str,
    node: str | None = None,
    **columns: Any,
) -> Row:
    """A row of one input whose forward is SciPy's function of that name, or a function of our own."""
    return unary(
        name,
        from_scipy(scipy) if isinstance(scipy, str) else rounded_once(scipy),
        grad,
        formula=formula,
        derivative=derivative,
        onnx=columns.pop("onnx", NO_ONNX("a special function")),
        flops=columns.pop("flops", 30),
        node=node,
        refuses=real_only(name),
        **columns,
    )


# ------------------------------------------------------------------------------------- error function and normal distribution

erfc = _special(
    "erfc",
    "erfc",
    lambda g, self: g * ((self * self).neg().exp() * (-2 / _ROOT_PI)),
    "result = 1 − erf(self)",
    "−grad · 2/√π · exp(−self²)",
    onnx=NO_ONNX("Erf then Sub"),
    autocast=AS_IS,
)
erfinv = _special(
    "erfinv",
    "erfinv",
    lambda g, result: g * ((result * result).exp() * (_ROOT_PI / 2)),
    "result = the number whose error function is self",
    "grad · √π/2 · exp(result²)",
    domain=(-0.9, 0.9),
    autocast=GPU_FLOAT32,
)
erfcx = _special(
    "erfcx",
    "erfcx",
    lambda g, self, result: g * (2 * self * result - 2 / _ROOT_PI),
    "result = exp(self²) · erfc(self)",
    "grad · (2 · self · result − 2/√π)",
    "SpecialErfcxBackward0",
)
ndtr = _special(
    "ndtr",
    "ndtr",
    lambda g, self: g * ((self * self * -0.5).exp() * (_ROOT_HALF / _ROOT_PI)),
    "result = Φ(self), the normal distribution function",
    "grad · exp(−self² ÷ 2) ÷ √(2π)",
    "SpecialNdtrBackward0",
)
log_ndtr = _special(
    "log_ndtr",
    "log_ndtr",
    lambda g, self: g / (self * -_ROOT_HALF)._op("erfcx") * (2 * _ROOT_HALF / _ROOT_PI),
    "result = ln Φ(self)",
    "grad · √(2/π) ÷ erfcx(−self ÷ √2)",
    "SpecialLogNdtrBackward0",
)
ndtri = _special(
    "ndtri",
    "ndtri",
    lambda g, result: g * ((result * result * 0.5).exp() * (_ROOT_PI / _ROOT_HALF)),
    "result = the number at which Φ is self",
    "grad · √(2π) · exp(result² ÷ 2)",
    "SpecialNdtriBackward0",
    domain=(0.1, 0.9),
)
entr = _special(
    "entr",
    "entr",
    lambda g, self: g * -(self.log() + 1),
    "result = −self · ln(self); 0 at 0, −∞ below",
    "−grad · (1 + ln(self))",
    "SpecialEntrBackward0",
    domain=(0.2, 2.0),
)

# --------------------------------------------------------------------------------------------- gamma and its relatives

lgamma = _special(
    "lgamma",
    "gammaln",
    lambda g, self: g * self._op("digamma"),
    "result = ln |Γ(self)|",
    "grad · ψ(self)",
    domain=(0.5, 4.0),
    autocast=AS_IS,
)


def _digamma(xp: Any, a: Any) -> Any:
    """SciPy's, with the two-sided limits at 0, which PyTorch takes from the sign of 0."""
    return xp.where(a == 0, xp.copysign(a.dtype.type(math.inf), -a), special(xp).digamma(a)).astype(a.dtype)


digamma = _special(
    "digamma",
    _digamma,
    lambda g, self: g * self._op("polygamma", n=1),
    "result = ψ(self), the derivative of ln Γ",
    "grad · ψ′(self)",
    domain=(0.5, 4.0),
    autocast=AS_IS,
)


def _polygamma(xp: Any, a: Any, n: int) -> Any:
    """``(-1)^(n+1) · n! · ζ(n+1, a)``; ψ itself for ``n = 0``, and the reflection of ψ′ for negative numbers."""
    if n == 0:
        return _digamma(xp, a)
    if n == 1:
        angle = xp.sin(math.pi * a)
        with np.errstate(all="ignore"):
            mirrored = (math.pi / angle) ** 2 - special(xp).zeta(a.dtype.type(2), 1 - a)
        return xp.where(a < 0.5, mirrored, special(xp).zeta(a.dtype.type(2), a)).astype(a.dtype)
    return ((-1.0) ** (n + 1) * math.gamma(n + 1) * special(xp).zeta(a.dtype.type(n + 1), a)).astype(a.dtype)


polygamma = row(
    "polygamma",
    "self",
    forward=rounded_once(_polygamma),
    infer=same_shape,
    grad={"self": lambda g, self, n: g * self._op("polygamma", n=n + 1)},
    formula="result = the derivative number n of ψ at self",
    derivatives={"self": "grad · polygamma(n + 1, self)"},
    autocast=AS_IS,
    onnx=NO_ONNX("a special function"),
    cost=per_element(60),
    samples=lambda t: [
        ((t(2, 3, low=0.7, high=3),), {"n": 1}),
        ((t(3, low=0.7, high=3),), {"n": 2}),
        ((t(low=0.7, high=3),), {"n": 0}),
        ((t(0, 3),), {"n": 3}),
    ],
    result=FLOAT,
    promotes=True,
    refuses=real_only("polygamma"),
)


def _incomplete_samples(t: Any) -> Any:
    shapes: list[tuple[Any, Any]] = [((2, 3), (2, 3)), ((2, 3), (3,)), ((3, 1), (4,)), ((), ()), ((0, 3), (3,))]
    return [((t(*a, low=0.5, high=3).detach(), t(*b, low=0.5, high=3)), {}) for a, b in shapes]


def _incomplete(name: str, scipy: str, sign: float, formula: str, derivative: str) -> Row:
    return binary(
        name,
        from_scipy(scipy),
        {"other": lambda g, self, other: g * (((self - 1) * other.log() - other - self._op("lgamma")).exp() * sign)},
        formula=formula,
        derivatives={"other": derivative},
        result=FLOAT,
        onnx=NO_ONNX("a special function"),
        flops=100,
        samples=_incomplete_samples,
        refuses=real_only(name),
    )


igamma = _incomplete(
    "igamma",
    "gammainc",
    1.0,
    "result = ∫₀^other t^(self − 1) exp(−t) dt ÷ Γ(self)",
    "grad · other^(self − 1) · exp(−other) ÷ Γ(self)",
)
igammac = _incomplete(
    "igammac",
    "gammaincc",
    -1.0,
    "result = 1 − igamma(self, other)",
    "−grad · other^(self − 1) · exp(−other) ÷ Γ(self)",
)
zeta = binary(
    "zeta",
    from_scipy("zeta"),
    {"other": lambda g, self, other: g * (-self * (self + 1)._op("zeta", other))},
    formula="result = Σ (k + other)^(−self), k from 0: the Hurwitz zeta function",
    derivatives={"other": "−grad · self · ζ(self + 1, other)"},
    result=FLOAT,
    onnx=NO_ONNX("a special function"),
    flops=100,
    samples=lambda t: [
        ((t(2, 3, low=1.5, high=4).detach(), t(2, 3, low=0.5, high=3)), {}),
        ((t(low=1.5, high=4).detach(), t(3, low=0.5, high=3)), {}),
        ((t(0, 3).detach(), t(3)), {}),
    ],
    node="SpecialZetaBackward0",
    refuses=real_only("zeta"),
)

# --------------------------------------------------------------------------------------------------- products with logarithms


xlogy = binary(
    "xlogy",
    from_scipy("xlogy"),
    {
        "self": lambda g, self, other: (g * other.log()).masked_fill((self == 0) & (other <= 0), 0),
        "other": lambda g, self, other: g * self / other,
    },
    formula="result = self · ln(other), 0 where self is 0",
    derivatives={"self": "grad · ln(other)", "other": "grad · self ÷ other"},
    result=FLOAT,
    onnx=NO_ONNX("Log, Mul, Where"),
    flops=12,
    second=(0.5, 2.0),
    refuses=real_only("xlogy"),
)
xlog1py = binary(
    "xlog1py",
    from_scipy("xlog1py"),
    {
        "self": lambda g, self, other: (g * other.log1p()).masked_fill((self == 0) & (other <= -1), 0),
        "other": lambda g, self, other: g * self / (other + 1),
    },
    formula="result = self · ln(1 + other), 0 where self is 0",
    derivatives={"self": "grad · ln(1 + other)", "other": "grad · self ÷ (1 + other)"},
    result=FLOAT,
    onnx=NO_ONNX("Add, Log, Mul, Where"),
    flops=12,
    second=(-0.5, 2.0),
    node="SpecialXlog1PyBackward0",
    refuses=real_only("xlog1py"),
)
