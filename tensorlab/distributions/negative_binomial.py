"""The distribution of successes before the last failure."""

from __future__ import annotations

from typing import Any

from tensorlab.autograd import no_grad
from tensorlab.distributions import constraints
from tensorlab.distributions.distribution import Distribution
from tensorlab.distributions.gamma_draws import standard_gamma
from tensorlab.distributions.utils import broadcast_all, lazy_property, logits_to_probs, one_of, probs_to_logits
from tensorlab.drawn import poisson
from tensorlab.nn import functional as NF
from tensorlab.size import Size

Tensor = Any


class NegativeBinomial(Distribution):
    """How many trials succeed, with probability ``probs`` or the log-odds ``logits``, before ``total_count`` have failed."""

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer
    total_count: Tensor

    def __init__(
        self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        name, value = one_of("NegativeBinomial", probs=probs, logits=logits)
        (value,) = broadcast_all(value)
        (count,) = broadcast_all(total_count)
        self._take(validate_args, total_count=count.type_as(value), **{name: value})

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
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.mean / (-self.logits).sigmoid()

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with no_grad():
            rate = standard_gamma(self.total_count.expand(self._extended_shape(sample_shape))) * self.logits.exp()
            return poisson(rate)

    def log_prob(self, value: Tensor) -> Tensor:
        n, k = self.total_count, self._ready(value)
        odds = n * NF.logsigmoid(-self.logits) + k * NF.logsigmoid(self.logits)
        ways = (n + k).lgamma() - (k + 1).lgamma() - n.lgamma()
        return odds + ways.masked_fill(n + k == 0, 0)
