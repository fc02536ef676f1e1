"""The uniform distribution."""

from __future__ import annotations

from typing import Any

from tensorlab.distributions import constraints
from tensorlab.distributions.distribution import Distribution
from tensorlab.random import rand

Tensor = Any


class Uniform(Distribution):
    """Numbers spread evenly over [``low``, ``high``). Raises ``ValueError`` unless ``low < high``."""

    has_rsample = True

    low: Tensor
    high: Tensor

    @property
    def arg_constraints(self) -> Any:
        return {
            "low": constraints.dependent(is_discrete=False, event_dim=0),
            "high": constraints.dependent(is_discrete=False, event_dim=0),
        }

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self._take(validate_args, low=low, high=high)
        if self._validate_args and not bool((self.low < self.high).all()):
            raise ValueError(
                "Uniform: parameter low must be below high everywhere (validate_args=False leaves this unchecked)"
            )

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Tensor:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Tensor:
        return self._nan()

    @property
    def variance(self) -> Tensor:
        return (self.high - self.low) ** 2 / 12

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        points = rand(self._extended_shape(sample_shape), dtype=self.low.dtype, device=self.low.device)
        return self.low + points * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        inside = (self._ready(value) >= self.low) & (value < self.high)
        return inside.type_as(self.low).log() - (self.high - self.low).log()

    def cdf(self, value: Tensor) -> Tensor:
        return ((self._ready(value) - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Tensor) -> Tensor:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        return (self.high - self.low).log()
