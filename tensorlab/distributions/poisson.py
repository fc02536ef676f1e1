"""The distribution of counts of rare events."""

from __future__ import annotations

from typing import Any

from tensorlab.autograd import no_grad
from tensorlab.distributions import constraints
from tensorlab.distributions.exp_family import ExponentialFamily
from tensorlab.distributions.utils import broadcast_all
from tensorlab.drawn import poisson

Tensor = Any


class Poisson(ExponentialFamily):
    """How many events come where ``rate`` are expected."""

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer
    rate: Tensor

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        self._take(validate_args, rate=rate)

    @property
    def mean(self) -> Tensor:
        return self.rate

    @property
    def mode(self) -> Tensor:
        return self.rate.floor()

    @property
    def variance(self) -> Tensor:
        return self.rate

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with no_grad():
            return poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        rate, value = broadcast_all(self.rate, self._ready(value))
        return value.xlogy(rate) - rate - (value + 1).lgamma()
