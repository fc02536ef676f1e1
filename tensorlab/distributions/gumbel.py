"""Gumbel's distribution of extremes."""

from __future__ import annotations

import math
from typing import Any

from tensorlab.distributions import constraints
from tensorlab.distributions.distribution import Distribution
from tensorlab.distributions.utils import euler_constant, uniform_like

Tensor = Any


class Gumbel(Distribution):
    """Numbers of Gumbel's distribution with mode ``loc``, stretched by ``scale``."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    loc: Tensor
    scale: Tensor

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self._take(validate_args, loc=loc, scale=scale)

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * euler_constant

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev**2

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.icdf(uniform_like(self.loc, self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        z = (self.loc - self._ready(value)) / self.scale
        return z - z.exp() - self.scale.log()

    def cdf(self, value: Tensor) -> Tensor:
        return (-((self.loc - self._ready(value)) / self.scale).exp()).exp()

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc - self.scale * (-value.log()).log()

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + euler_constant)
