"""``tensorlab.special``: special functions, as ``torch.special`` names them. Values are SciPy's, which is loaded at first use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorlab import functional as F
from tensorlab.functional.checked import checked

Tensor = Any

#: Names here, and the functions that they are.
_NAMES = """
    airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 digamma entr erf erfc erfcx erfinv exp2 expm1 i0 i0e i1 i1e log1p log_ndtr logit
    logsumexp modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 ndtr ndtri polygamma round
    scaled_modified_bessel_k0 scaled_modified_bessel_k1 sinc spherical_bessel_j0 xlog1py xlogy zeta
    expit=sigmoid gammainc=igamma gammaincc=igammac gammaln=lgamma multigammaln=mvlgamma psi=digamma
"""

for _entry in _NAMES.split():
    _name, _, _known = _entry.partition("=")
    globals()[_name] = getattr(F, _known or _name)


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """``exp(input) / sum(exp(input))`` along ``dim``."""
    return F.softmax(input, dim, dtype)


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """``log(softmax(input))`` along ``dim``, computed without overflow."""
    return F.log_softmax(input, dim, dtype)


def _polynomial(kind: str, words: str) -> Callable[..., Any]:
    name = "_polynomial_".join(kind.rsplit("_", 1))

    def function(input: Any, n: Any) -> Tensor:
        return F.orthogonal_polynomial(kind, input, n)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{words} polynomial of degree ``n``, a number or a tensor, at ``input``. Broadcasts; differentiable in ``input``."
    return checked(function, takes_out=True)


chebyshev_polynomial_t = _polynomial("chebyshev_t", "Chebyshev's first")
chebyshev_polynomial_u = _polynomial("chebyshev_u", "Chebyshev's second")
chebyshev_polynomial_v = _polynomial("chebyshev_v", "Chebyshev's third")
chebyshev_polynomial_w = _polynomial("chebyshev_w", "Chebyshev's fourth")
shifted_chebyshev_polynomial_t = _polynomial("shifted_chebyshev_t", "Chebyshev's first, moved to [0, 1],")
shifted_chebyshev_polynomial_u = _polynomial("shifted_chebyshev_u", "Chebyshev's second, moved to [0, 1],")
shifted_chebyshev_polynomial_v = _polynomial("shifted_chebyshev_v", "Chebyshev's third, moved to [0, 1],")
shifted_chebyshev_polynomial_w = _polynomial("shifted_chebyshev_w", "Chebyshev's fourth, moved to [0, 1],")
hermite_polynomial_h = _polynomial("hermite_h", "The physicists' Hermite")
hermite_polynomial_he = _polynomial("hermite_he", "The probabilists' Hermite")
laguerre_polynomial_l = _polynomial("laguerre_l", "Laguerre's")
legendre_polynomial_p = _polynomial("legendre_p", "Legendre's")
