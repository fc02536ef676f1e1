"""The distribution of sizes of normal numbers."""

from __future__ import annotations

import math
from typing import Any

from tensorlab.distributions import constraints
from tensorlab.distributions.normal import Normal
from tensorlab.distributions.transformed_distribution import TransformedDistribution
from tensorlab.distributions.transforms import AbsTransform
from tensorlab.factories import zeros_like

Tensor = Any


class HalfNormal(TransformedDistribution):
    """Sizes of normal numbers with mean 0 and deviation ``scale``."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    @property
    def scale(self) -> Tensor:
        """The deviation of the normal numbers."""
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        return self.scale**2 * (1 - 2 / math.pi)

    @property
    def mode(self) -> Tensor:
        return zeros_like(self.scale)

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._ready(value)
        return (self.base_dist.log_prob(value) + math.log(2)).masked_fill(value < 0, -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        return (self._ready(value) / (self.scale * math.sqrt(2))).erf()

    def icdf(self, value: Tensor) -> Tensor:
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)
