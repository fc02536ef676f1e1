"""The distribution of reciprocals of gamma numbers."""

from __future__ import annotations

import math
from typing import Any

from tensorlab.distributions import constraints
from tensorlab.distributions.distribution import Distribution
from tensorlab.distributions.gamma_draws import log_gamma_draws

Tensor = Any


class InverseGamma(Distribution):
    """Reciprocals of numbers of a gamma distribution with shape ``concentration`` and ``rate``."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True
    concentration: Tensor
    rate: Tensor

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self._take(validate_args, concentration=concentration, rate=rate)

    @property
    def mean(self) -> Tensor:
        a = self.concentration
        return (self.rate / (a - 1)).masked_fill(a <= 1, math.inf)

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        a = self.concentration
        return (self.rate**2 / ((a - 1) ** 2 * (a - 2))).masked_fill(a <= 2, math.inf)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.rate * (-log_gamma_draws(self.concentration.expand(self._extended_shape(sample_shape)))).exp()

    def log_prob(self, value: Tensor) -> Tensor:
        a, value = self.concentration, self._ready(value)
        return a * self.rate.log() - a.lgamma() - (a + 1) * value.log() - self.rate / value

    def cdf(self, value: Tensor) -> Tensor:
        return self.concentration.igammac(self.rate / self._ready(value))

    def entropy(self) -> Tensor:
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()
