"""Weibull's distribution."""

from __future__ import annotations

from typing import Any

from tensorlab.distributions import constraints
from tensorlab.distributions.distribution import Distribution
from tensorlab.distributions.utils import euler_constant, uniform_like

Tensor = Any


class Weibull(Distribution):
    """``scale`` times the power ``1 / concentration`` of exponential numbers."""

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive
    has_rsample = True
    scale: Tensor
    concentration: Tensor

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self._take(validate_args, scale=scale, concentration=concentration)

    def _moment(self, n: int) -> Tensor:
        return self.scale**n * (1 + n / self.concentration).lgamma().exp()

    @property
    def mean(self) -> Tensor:
        return self._moment(1)

    @property
    def mode(self) -> Tensor:
        return self.scale * (1 - 1 / self.concentration).clamp(min=0) ** self.concentration.reciprocal()

    @property
    def variance(self) -> Tensor:
        return self._moment(2) - self._moment(1) ** 2

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.icdf(uniform_like(self.scale, self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        z = self._ready(value) / self.scale
        k = self.concentration
        return (k / self.scale).log() + (k - 1) * z.log() - z**k

    def cdf(self, value: Tensor) -> Tensor:
        return -(-((self._ready(value) / self.scale) ** self.concentration)).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        return self.scale * (-(-value).log1p()) ** self.concentration.reciprocal()

    def entropy(self) -> Tensor:
        return euler_constant * (1 - self.concentration.reciprocal()) + (self.scale / self.concentration).log() + 1
