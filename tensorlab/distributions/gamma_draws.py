"""Draws of the standard gamma distribution, and how they move with its shape parameter.

With F the distribution function and f the density, a draw z that keeps its rank F(z; a) moves by dz/da = −(∂F/∂a) ÷ f (Figurnov,
Mohamed and Mnih, "Implicit reparameterization gradients", 2018).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorlab import backend, creation
from tensorlab.autograd import Function
from tensorlab.autograd.second import once_differentiable
from tensorlab.ops.scipy import special
from tensorlab.random import numpy_generator

Tensor = Any

#: Below exp(this) the distribution function is its first term, z^a ÷ Γ(a + 1).
_TINY_LOG = -30.0


def _draw(a: np.ndarray) -> np.ndarray:
    """Logarithms of draws. Of a draw for a + 1, times the power 1/a of a uniform number, which is a draw for a."""
    source = numpy_generator(None)
    tall = a >= 1
    drawn = np.log(source.standard_gamma(np.where(tall, a, a + 1)))
    with np.errstate(divide="ignore"):
        return np.where(tall, drawn, drawn - source.standard_exponential(a.shape) / a)


def slope_of_log(a: np.ndarray, log_z: np.ndarray) -> np.ndarray:
    """d log z / da for draws z of which the logarithms are given, in float64."""
    sp = special(np)
    near = (sp.digamma(a + 1) - log_z) / a
    z = np.exp(np.maximum(log_z, _TINY_LOG))
    upper = z > a
    h = 2e-3 * np.minimum(a, np.sqrt(a))

    def rank(b: np.ndarray) -> np.ndarray:
        return np.where(upper, -sp.gammaincc(b, z), sp.gammainc(b, z))

    by_a = (8 * (rank(a + h) - rank(a - h)) - (rank(a + 2 * h) - rank(a - 2 * h))) / (12 * h)
    with np.errstate(all="ignore"):
        found = -by_a / np.exp(a * np.log(z) - z - sp.gammaln(a))
    return np.where(log_z < _TINY_LOG, near, found)


class _LogGamma(Function):
    @staticmethod
    def forward(ctx: Any, a: Any) -> Any:
        wide = backend.to_host(a._a).astype(np.float64)
        ctx.kept = wide, _draw(wide)
        return creation.finish(ctx.kept[1].astype(a._a.dtype), device=a.device)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Any) -> Any:
        return g * creation.finish(slope_of_log(*ctx.kept).astype(g._a.dtype), device=g.device)


class _StandardGamma(Function):
    @staticmethod
    def forward(ctx: Any, a: Any) -> Any:
        wide = backend.to_host(a._a).astype(np.float64)
        ctx.kept = wide, _draw(wide)
        return creation.finish(np.exp(ctx.kept[1]).astype(a._a.dtype), device=a.device)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Any) -> Any:
        a, log_z = ctx.kept
        moved = np.exp(log_z) * slope_of_log(a, log_z)
        return g * creation.finish(moved.astype(g._a.dtype), device=g.device)


def standard_gamma(concentration: Tensor) -> Tensor:
    """One draw for each shape parameter, at rate 1, with an implicit gradient."""
    return _StandardGamma.apply(concentration)


def log_gamma_draws(concentration: Tensor) -> Tensor:
    """Logarithms of draws, which small shape parameters do not make 0."""
    return _LogGamma.apply(concentration)
