"""The distribution of failures before a success."""

from __future__ import annotations

from typing import Any

from tensorlab import functional as F
from tensorlab.autograd import no_grad
from tensorlab.distributions import constraints
from tensorlab.distributions.distribution import Distribution
from tensorlab.distributions.utils import (
    lazy_property,
    log_odds_of_success,
    logits_to_probs,
    one_of,
    probs_to_logits,
    uniform_like,
)
from tensorlab.factories import zeros_like
from tensorlab.size import Size

Tensor = Any


class Geometric(Distribution):
    """How many trials fail before the first success, which has probability ``probs`` or the log-odds ``logits``."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        name, value = one_of("Geometric", probs=probs, logits=logits)
        self._take(validate_args, **{name: value})
        if self._validate_args and probs is not None:
            self._check("parameter probs", self.probs, constraints.greater_than(0.0))

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

    @property
    def mean(self) -> Tensor:
        return 1 / self.probs - 1

    @property
    def mode(self) -> Tensor:
        return zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        return (1 / self.probs - 1) / self.probs

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with no_grad():
            return (uniform_like(self.probs, self._extended_shape(sample_shape)).log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        value, probs = F.broadcast_tensors(self._ready(value), self.probs)
        certain = (probs == 1) & (value == 0)
        return value * (-probs.masked_fill(certain, 0)).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        return -log_odds_of_success(self.probs, self.logits) / self.probs
