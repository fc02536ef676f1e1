"""The normal distribution."""

from __future__ import annotations

import math
from typing import Any

from tensorlab import functional as F
from tensorlab.distributions import constraints
from tensorlab.distributions.exp_family import ExponentialFamily
from tensorlab.distributions.utils import normal_like

Tensor = Any


class Normal(ExponentialFamily):
    """Normal numbers with mean ``loc`` and deviation ``scale``.

    >>> import tensorlab as tl
    >>> tl.distributions.Normal(0., 1.).log_prob(tl.tensor(0.))
    tensor(-0.9189)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    loc: Tensor
    scale: Tensor

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self._take(validate_args, loc=loc, scale=scale)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        return self.scale**2

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.loc + normal_like(self.loc, self._extended_shape(sample_shape)) * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        z = (self._ready(value) - self.loc) / self.scale
        return -0.5 * z**2 - self.scale.log() - 0.5 * math.log(2 * math.pi)

    def cdf(self, value: Tensor) -> Tensor:
        return F.ndtr((self._ready(value) - self.loc) / self.scale)

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * F.ndtri(value)

    def entropy(self) -> Tensor:
        return self.scale.log() + 0.5 * (1 + math.log(2 * math.pi))
