"""Kullback and Leibler's divergence of two distributions, found by the pair of their classes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tensorlab import linalg
from tensorlab.distributions.bernoulli import Bernoulli
from tensorlab.distributions.beta import Beta
from tensorlab.distributions.binomial import Binomial
from tensorlab.distributions.categorical import Categorical
from tensorlab.distributions.cauchy import Cauchy
from tensorlab.distributions.dirichlet import Dirichlet
from tensorlab.distributions.distribution import Distribution
from tensorlab.distributions.exponential import Exponential
from tensorlab.distributions.gamma import Gamma
from tensorlab.distributions.geometric import Geometric
from tensorlab.distributions.gumbel import Gumbel
from tensorlab.distributions.half_normal import HalfNormal
from tensorlab.distributions.independent import Independent
from tensorlab.distributions.laplace import Laplace
from tensorlab.distributions.multivariate_normal import MultivariateNormal, log_diagonal, squared_length
from tensorlab.distributions.normal import Normal
from tensorlab.distributions.one_hot_categorical import OneHotCategorical
from tensorlab.distributions.pareto import Pareto
from tensorlab.distributions.poisson import Poisson
from tensorlab.distributions.transformed_distribution import TransformedDistribution
from tensorlab.distributions.uniform import Uniform
from tensorlab.distributions.utils import euler_constant, sum_rightmost
from tensorlab.factories import full_like
from tensorlab.nn import functional as NF

Tensor = Any

_KNOWN: dict[tuple[type, type], Callable[[Any, Any], Any]] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Callable[[Any, Any], Any]], Callable[[Any, Any], Any]]:
    """Decorator: the divergence of a pair of classes and of their subclasses. The nearest classes are taken, those of ``p`` first."""
    for kind in (type_p, type_q):
        if not (isinstance(kind, type) and issubclass(kind, Distribution)):
            raise TypeError(f"register_kl() takes two subclasses of Distribution, not {kind!r}")

    def enter(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        _KNOWN[type_p, type_q] = function
        return function

    return enter


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The mean under ``p`` of ``p.log_prob(x) - q.log_prob(x)``, in closed form, in the shape of the batch.

    Raises ``NotImplementedError`` for a pair of classes that no formula is known for.

    >>> import tensorlab as tl
    >>> tl.distributions.kl_divergence(tl.distributions.Normal(0., 1.), tl.distributions.Normal(1., 1.))
    tensor(0.5000)
    """
    up, uq = type(p).__mro__, type(q).__mro__
    pairs = [pair for pair in _KNOWN if pair[0] in up and pair[1] in uq]
    if not pairs:
        raise NotImplementedError(
            f"kl_divergence() knows no formula for {type(p).__name__} and {type(q).__name__}; estimate it with "
            "(p.log_prob(x) - q.log_prob(x)).mean() over draws x of p, or enter one with register_kl"
        )
    return _KNOWN[min(pairs, key=lambda pair: (up.index(pair[0]), uq.index(pair[1])))](p, q)


def _never(p: Any) -> Tensor:
    """Infinity for each distribution: ``q`` says that values of ``p`` never come."""
    return full_like(p.entropy().detach(), math.inf)


@register_kl(Normal, Normal)
def _normals(p: Any, q: Any) -> Tensor:
    ratio = (p.scale / q.scale) ** 2
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale) ** 2 - 1 - ratio.log())


@register_kl(Bernoulli, Bernoulli)
def _bernoullis(p: Any, q: Any) -> Tensor:
    ones = p.probs * (NF.softplus(-q.logits) - NF.softplus(-p.logits))
    zeros = (1 - p.probs) * (NF.softplus(q.logits) - NF.softplus(p.logits))
    return ones + zeros


@register_kl(Categorical, Categorical)
def _categoricals(p: Any, q: Any) -> Tensor:
    each = p.probs * (p.logits - q.logits)
    each = each.masked_fill((q.probs == 0).expand_as(each), math.inf)
    return each.masked_fill((p.probs == 0).expand_as(each), 0).sum(-1)


@register_kl(Uniform, Uniform)
def _uniforms(p: Any, q: Any) -> Tensor:
    found = ((q.high - q.low) / (p.high - p.low)).log()
    return found.masked_fill((q.low > p.low) | (q.high < p.high), math.inf)


@register_kl(Exponential, Exponential)
def _exponentials(p: Any, q: Any) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - 1 - ratio.log()


@register_kl(Gamma, Gamma)
def _gammas(p: Any, q: Any) -> Tensor:
    a, b = p.concentration, q.concentration
    sizes = b * (p.rate / q.rate).log() + b.lgamma() - a.lgamma()
    return sizes + (a - b) * a.digamma() + a * (q.rate / p.rate - 1)


@register_kl(Exponential, Gamma)
def _exponential_gamma(p: Any, q: Any) -> Tensor:
    ratio, b = q.rate / p.rate, q.concentration
    return -b * ratio.log() + ratio + b.lgamma() + b * euler_constant - (1 + euler_constant)


@register_kl(Gamma, Exponential)
def _gamma_exponential(p: Any, q: Any) -> Tensor:
    return -p.entropy() - q.rate.log() + q.rate * p.concentration / p.rate


def _dirichlet_formula(a: Tensor, b: Tensor) -> Tensor:
    total = a.sum(-1)
    sizes = total.lgamma() - b.sum(-1).lgamma() + (b.lgamma() - a.lgamma()).sum(-1)
    return sizes + ((a - b) * (a.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


@register_kl(Dirichlet, Dirichlet)
def _dirichlets(p: Any, q: Any) -> Tensor:
    return _dirichlet_formula(p.concentration, q.concentration)


@register_kl(Beta, Beta)
def _betas(p: Any, q: Any) -> Tensor:
    return _dirichlet_formula(p._dirichlet.concentration, q._dirichlet.concentration)


@register_kl(Laplace, Laplace)
def _laplaces(p: Any, q: Any) -> Tensor:
    ratio, away = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + away / q.scale + ratio * (-away / p.scale).exp() - 1


@register_kl(Geometric, Geometric)
def _geometrics(p: Any, q: Any) -> Tensor:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(Cauchy, Cauchy)
def _cauchys(p: Any, q: Any) -> Tensor:
    """Chyzak and Nielsen, "A closed-form formula for the Kullback-Leibler divergence between Cauchy distributions", 2019."""
    far = (p.scale + q.scale) ** 2 + (p.loc - q.loc) ** 2
    return (far / (4 * p.scale * q.scale)).log()


@register_kl(Binomial, Binomial)
def _binomials(p: Any, q: Any) -> Tensor:
    if bool((p.total_count < q.total_count).any()):
        raise NotImplementedError("kl_divergence(): no closed form where q has more trials than p")
    found = p.total_count * _bernoullis(p, q)
    return found.masked_fill((p.total_count > q.total_count).expand_as(found), math.inf)


@register_kl(Poisson, Poisson)
def _poissons(p: Any, q: Any) -> Tensor:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hots(p: Any, q: Any) -> Tensor:
    return _categoricals(p, q)


@register_kl(HalfNormal, HalfNormal)
def _half_normals(p: Any, q: Any) -> Tensor:
    return _normals(p.base_dist, q.base_dist)


@register_kl(Gumbel, Gumbel)
def _gumbels(p: Any, q: Any) -> Tensor:
    ratio, away = p.scale / q.scale, (q.loc - p.loc) / q.scale
    return -ratio.log() - away + ratio * euler_constant + (away + (1 + ratio).lgamma()).exp() - (1 + euler_constant)


@register_kl(Pareto, Pareto)
def _paretos(p: Any, q: Any) -> Tensor:
    ratio = q.alpha / p.alpha
    found = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return found.masked_fill(p.scale < q.scale, math.inf)


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normals(p: Any, q: Any) -> Tensor:
    if p.event_shape != q.event_shape:
        raise ValueError(
            f"kl_divergence(): normal vectors of different lengths, {list(p.event_shape)} and {list(q.event_shape)}"
        )
    spread = linalg.solve_triangular(q.scale_tril, p.scale_tril, upper=False).pow(2).sum((-2, -1))
    away = squared_length(q.scale_tril, q.loc - p.loc)
    return log_diagonal(q.scale_tril) - log_diagonal(p.scale_tril) + 0.5 * (spread + away - p.event_shape[0])


@register_kl(Independent, Independent)
def _independents(p: Any, q: Any) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("kl_divergence(): the two read different numbers of batch dimensions as one event")
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: Any, q: Any) -> Tensor:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError("kl_divergence(): a formula is known only where both go through equal transforms")
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Normal, Laplace)
def _normal_laplace(p: Any, q: Any) -> Tensor:
    away = p.loc - q.loc
    z = away / p.scale
    reach = p.scale * math.sqrt(2 / math.pi) * (-0.5 * z**2).exp() + away * (z / math.sqrt(2)).erf()
    return (2 * q.scale).log() + reach / q.scale - p.entropy()


@register_kl(Laplace, Normal)
def _laplace_normal(p: Any, q: Any) -> Tensor:
    square = 2 * p.scale**2 + (p.loc - q.loc) ** 2
    return -p.entropy() + 0.5 * square / q.scale**2 + (q.scale * math.sqrt(2 * math.pi)).log()


def _against_normal(p: Any, q: Any) -> Tensor:
    """The divergence from a normal distribution of anything that has a mean, a variance and an entropy."""
    square = p.variance + (p.mean - q.loc) ** 2
    return -p.entropy() + 0.5 * square / q.scale**2 + q.scale.log() + 0.5 * math.log(2 * math.pi)


for _kind in (Uniform, Exponential, Gamma, Beta):
    register_kl(_kind, Normal)(_against_normal)


@register_kl(Uniform, Exponential)
def _uniform_exponential(p: Any, q: Any) -> Tensor:
    return (q.rate * p.mean - p.entropy() - q.rate.log()).masked_fill(p.low < 0, math.inf)


@register_kl(Beta, Exponential)
def _beta_exponential(p: Any, q: Any) -> Tensor:
    return -p.entropy() - q.rate.log() + q.rate * p.mean


@register_kl(Normal, Exponential)
@register_kl(Normal, Gamma)
@register_kl(Normal, Uniform)
@register_kl(Normal, Beta)
@register_kl(Laplace, Exponential)
@register_kl(Laplace, Gamma)
@register_kl(Laplace, Uniform)
@register_kl(Laplace, Beta)
@register_kl(Exponential, Uniform)
@register_kl(Exponential, Beta)
@register_kl(Gamma, Uniform)
@register_kl(Gamma, Beta)
def _wider(p: Any, q: Any) -> Tensor:
    return _never(p)
