"""The beta distribution."""

from __future__ import annotations

from typing import Any

from tensorlab import functional as F
from tensorlab.distributions import constraints
from tensorlab.distributions.dirichlet import Dirichlet
from tensorlab.distributions.exp_family import ExponentialFamily
from tensorlab.distributions.utils import broadcast_all

Tensor = Any


class Beta(ExponentialFamily):
    """Shares between 0 and 1 with the weights ``concentration1`` against ``concentration0``. Draws have gradients for both."""

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        both = F.stack(broadcast_all(concentration1, concentration0), -1)
        self._dirichlet = Dirichlet(both, validate_args=validate_args)
        super().__init__(both.shape[:-1], validate_args=validate_args)

    @property
    def concentration1(self) -> Tensor:
        """The weight of the share that is drawn."""
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self) -> Tensor:
        """The weight of what is left."""
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self) -> Tensor:
        return self._dirichlet.mean[..., 0]

    @property
    def mode(self) -> Tensor:
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Tensor:
        return self._dirichlet.variance[..., 0]

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self._dirichlet.rsample(sample_shape)[..., 0]

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._ready(value)
        return self._dirichlet.log_prob(F.stack([value, 1 - value], -1))

    def entropy(self) -> Tensor:
        return self._dirichlet.entropy()
