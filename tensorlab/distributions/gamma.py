"""The gamma distribution."""

from __future__ import annotations

from typing import Any

from tensorlab import dtypes
from tensorlab.distributions import constraints
from tensorlab.distributions.exp_family import ExponentialFamily
from tensorlab.distributions.gamma_draws import standard_gamma

Tensor = Any


class Gamma(ExponentialFamily):
    """Numbers of a gamma distribution with shape ``concentration`` and ``rate``. Draws have implicit gradients for both."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    concentration: Tensor
    rate: Tensor

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self._take(validate_args, concentration=concentration, rate=rate)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.concentration / self.rate**2

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        drawn = standard_gamma(self.concentration.expand(self._extended_shape(sample_shape))) / self.rate
        return drawn.clamp(min=dtypes.finfo(drawn.dtype).tiny)  # never on the edge, where the density may be infinite

    def log_prob(self, value: Tensor) -> Tensor:
        value, a = self._ready(value), self.concentration
        return a.xlogy(self.rate) + (a - 1).xlogy(value) - self.rate * value - a.lgamma()

    def cdf(self, value: Tensor) -> Tensor:
        return self.concentration.igamma(self.rate * self._ready(value))

    def entropy(self) -> Tensor:
        a = self.concentration
        return a - self.rate.log() + a.lgamma() + (1 - a) * a.digamma()
