"""The distribution of sizes of Cauchy numbers."""

from __future__ import annotations

import math
from typing import Any

from tensorlab.distributions import constraints
from tensorlab.distributions.cauchy import Cauchy
from tensorlab.distributions.transformed_distribution import TransformedDistribution
from tensorlab.distributions.transforms import AbsTransform
from tensorlab.factories import full_like, zeros_like

Tensor = Any


class HalfCauchy(TransformedDistribution):
    """Sizes of Cauchy numbers of half width ``scale`` around 0; mean and variance are infinite."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    @property
    def scale(self) -> Tensor:
        """The half width of the Cauchy numbers."""
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        return full_like(self.scale.detach(), math.inf)

    @property
    def variance(self) -> Tensor:
        return full_like(self.scale.detach(), math.inf)

    @property
    def mode(self) -> Tensor:
        return zeros_like(self.scale)

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._ready(value)
        return (self.base_dist.log_prob(value) + math.log(2)).masked_fill(value < 0, -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        return (self._ready(value) / self.scale).atan() * (2 / math.pi)

    def icdf(self, value: Tensor) -> Tensor:
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)
