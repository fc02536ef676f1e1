"""Student's distribution."""

from __future__ import annotations

import math
from typing import Any

from tensorlab.distributions import constraints
from tensorlab.distributions.distribution import Distribution
from tensorlab.distributions.gamma_draws import log_gamma_draws
from tensorlab.distributions.utils import normal_like

Tensor = Any


class StudentT(Distribution):
    """Numbers of Student's distribution with ``df`` degrees of freedom, moved by ``loc`` and stretched by ``scale``."""

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    df: Tensor
    loc: Tensor
    scale: Tensor

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self._take(validate_args, df=df, loc=loc, scale=scale)

    @property
    def mean(self) -> Tensor:
        return self.loc.masked_fill(self.df <= 1, math.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        free = self.df.masked_fill(self.df <= 2, math.inf)
        found = (self.scale**2 / (1 - 2 / free)).masked_fill(self.df <= 2, math.inf)
        return found.masked_fill(self.df <= 1, math.nan)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        spread = 0.5 * (log_gamma_draws(self.df.expand(shape) / 2) + math.log(2) - self.df.log())
        return self.loc + self.scale * normal_like(self.loc, shape) * (-spread).exp()

    def log_prob(self, value: Tensor) -> Tensor:
        z = (self._ready(value) - self.loc) / self.scale
        return (
            -0.5 * (self.df + 1) * (z**2 / self.df).log1p() - self.scale.log() - 0.5 * self.df.log() - self._log_beta()
        )

    def _log_beta(self) -> Tensor:
        return (0.5 * self.df).lgamma() + 0.5 * math.log(math.pi) - (0.5 * (self.df + 1)).lgamma()

    def entropy(self) -> Tensor:
        half = 0.5 * (self.df + 1)
        slope = half * (half.digamma() - (0.5 * self.df).digamma())
        return self.scale.log() + slope + 0.5 * self.df.log() + self._log_beta()
