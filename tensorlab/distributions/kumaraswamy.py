"""Kumaraswamy's distribution."""

from __future__ import annotations

from typing import Any

from tensorlab.distributions import constraints
from tensorlab.distributions.distribution import Distribution
from tensorlab.distributions.utils import euler_constant, uniform_like

Tensor = Any


class Kumaraswamy(Distribution):
    """Shares between 0 and 1 whose distribution function is ``1 - (1 - x ** concentration1) ** concentration0``."""

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True
    concentration1: Tensor
    concentration0: Tensor

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self._take(validate_args, concentration1=concentration1, concentration0=concentration0)

    def _moment(self, n: int) -> Tensor:
        b, more = self.concentration0, 1 + n / self.concentration1
        return (b.log() + more.lgamma() + b.lgamma() - (more + b).lgamma()).exp()

    @property
    def mean(self) -> Tensor:
        return self._moment(1)

    @property
    def variance(self) -> Tensor:
        return self._moment(2) - self._moment(1) ** 2

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.icdf(uniform_like(self.concentration1, self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        a, b, x = self.concentration1, self.concentration0, self._ready(value)
        return a.log() + b.log() + (a - 1) * x.log() + (b - 1) * (-(x**a)).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        return -(self.concentration0 * (-(self._ready(value) ** self.concentration1)).log1p()).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        return (-((-value).log1p() / self.concentration0).expm1()) ** self.concentration1.reciprocal()

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        return (1 - 1 / b) + (1 - 1 / a) * ((b + 1).digamma() + euler_constant) - a.log() - b.log()
