"""Pareto's distribution."""

from __future__ import annotations

from typing import Any

from tensorlab.distributions import constraints
from tensorlab.distributions.distribution import Distribution
from tensorlab.distributions.utils import uniform_like

Tensor = Any


class Pareto(Distribution):
    """Numbers above ``scale`` whose logarithm's excess is exponential with rate ``alpha``."""

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}
    has_rsample = True
    scale: Tensor
    alpha: Tensor

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self._take(validate_args, scale=scale, alpha=alpha)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Tensor:
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    @property
    def mode(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        a = self.alpha.clamp(min=2)
        return self.scale**2 * a / ((a - 1) ** 2 * (a - 2))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.icdf(uniform_like(self.scale, self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        return self.alpha.log() + self.alpha * self.scale.log() - (self.alpha + 1) * self._ready(value).log()

    def cdf(self, value: Tensor) -> Tensor:
        return 1 - (self.scale / self._ready(value)) ** self.alpha

    def icdf(self, value: Tensor) -> Tensor:
        return self.scale * (-(-value).log1p() / self.alpha).exp()

    def entropy(self) -> Tensor:
        return (self.scale / self.alpha).log() + 1 + self.alpha.reciprocal()
