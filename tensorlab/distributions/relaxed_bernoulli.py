"""Trials with outcomes between 0 and 1."""

from __future__ import annotations

from typing import Any

from tensorlab.distributions import constraints
from tensorlab.distributions.distribution import Distribution
from tensorlab.distributions.transformed_distribution import TransformedDistribution
from tensorlab.distributions.transforms import SigmoidTransform
from tensorlab.distributions.utils import (
    broadcast_all,
    lazy_property,
    logits_to_probs,
    one_of,
    probs_to_logits,
    uniform_like,
)
from tensorlab.nn import functional as NF
from tensorlab.size import Size

Tensor = Any


class LogitRelaxedBernoulli(Distribution):
    """The log-odds of a draw of ``RelaxedBernoulli``."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        name, value = one_of("LogitRelaxedBernoulli", probs=probs, logits=logits)
        self._take(validate_args, **{name: value})
        (self.temperature,) = broadcast_all(temperature)

    @lazy_property
    def probs(self) -> Tensor:
        """The probabilities of success."""
        return logits_to_probs(self.logits, is_binary=True)

    @lazy_property
    def logits(self) -> Tensor:
        """The log-odds of success."""
        return probs_to_logits(self.probs, is_binary=True)

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._batch_shape

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        u = uniform_like(self.logits, self._extended_shape(sample_shape))
        return (u.log() - (-u).log1p() + self.logits) / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        away = self.logits - self._ready(value) * self.temperature
        return self.temperature.log() + away - 2 * NF.softplus(away)


class RelaxedBernoulli(TransformedDistribution):
    """Numbers between 0 and 1 that come close to the outcomes of a trial as ``temperature`` falls, with gradients for its odds.

    Source: Maddison, Mnih and Teh, "The Concrete distribution", 2017.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)

    @property
    def temperature(self) -> Tensor:
        """How far from 0 and 1 draws lie."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        """The log-odds of 1."""
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        """The probability of 1."""
        return self.base_dist.probs
