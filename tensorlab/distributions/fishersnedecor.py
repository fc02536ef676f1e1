"""Fisher and Snedecor's distribution."""

from __future__ import annotations

import math
from typing import Any

from tensorlab.distributions import constraints
from tensorlab.distributions.distribution import Distribution
from tensorlab.distributions.gamma_draws import log_gamma_draws

Tensor = Any


class FisherSnedecor(Distribution):
    """The ratio of two mean squares of normal numbers, with ``df1`` and ``df2`` degrees of freedom."""

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True
    df1: Tensor
    df2: Tensor

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self._take(validate_args, df1=df1, df2=df2)

    @property
    def mean(self) -> Tensor:
        return (self.df2 / (self.df2 - 2)).masked_fill(self.df2 <= 2, math.nan)

    @property
    def mode(self) -> Tensor:
        found = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return found.masked_fill(self.df1 <= 2, math.nan)

    @property
    def variance(self) -> Tensor:
        m, n = self.df1, self.df2
        return (2 * n**2 * (m + n - 2) / (m * (n - 2) ** 2 * (n - 4))).masked_fill(n <= 4, math.nan)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        above, below = log_gamma_draws(self.df1.expand(shape) / 2), log_gamma_draws(self.df2.expand(shape) / 2)
        return (above - below).exp() * (self.df2 / self.df1)

    def log_prob(self, value: Tensor) -> Tensor:
        a, b, x = self.df1 / 2, self.df2 / 2, self._ready(value)
        ratio = self.df1 / self.df2
        sizes = (a + b).lgamma() - a.lgamma() - b.lgamma()
        return sizes + a * ratio.log() + (a - 1) * x.log() - (a + b) * (ratio * x).log1p()
