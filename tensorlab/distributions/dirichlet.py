"""The distribution of shares."""

from __future__ import annotations

from typing import Any

from tensorlab import functional as F
from tensorlab.distributions import constraints
from tensorlab.distributions.exp_family import ExponentialFamily
from tensorlab.distributions.gamma_draws import log_gamma_draws
from tensorlab.nn.functional import one_hot

Tensor = Any


class Dirichlet(ExponentialFamily):
    """Shares that sum to 1, with weights ``concentration`` in the last dimension. Draws have gradients for them."""

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("Dirichlet: parameter concentration must have a dimension of shares, but is one number")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, keepdim=True)

    @property
    def mode(self) -> Tensor:
        above = (self.concentration - 1).clamp(min=0)
        found = above / above.sum(-1, keepdim=True)
        edge = (self.concentration < 1).all(-1, keepdim=True)
        corner = one_hot(found.argmax(-1), self._event_shape[-1]).type_as(found)
        return F.where(edge, corner, found)

    @property
    def variance(self) -> Tensor:
        a, total = self.concentration, self.concentration.sum(-1, keepdim=True)
        return a * (total - a) / (total**2 * (total + 1))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return log_gamma_draws(self.concentration.expand(self._extended_shape(sample_shape))).softmax(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        a = self.concentration
        return (a - 1).xlogy(self._ready(value)).sum(-1) + a.sum(-1).lgamma() - a.lgamma().sum(-1)

    def entropy(self) -> Tensor:
        a, total, k = self.concentration, self.concentration.sum(-1), self._event_shape[-1]
        return a.lgamma().sum(-1) - total.lgamma() - (k - total) * total.digamma() - ((a - 1) * a.digamma()).sum(-1)
