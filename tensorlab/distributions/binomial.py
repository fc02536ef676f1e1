"""The distribution of successes in many trials."""

from __future__ import annotations

from typing import Any

from tensorlab.autograd import no_grad
from tensorlab.distributions import constraints
from tensorlab.distributions.distribution import Distribution
from tensorlab.distributions.utils import broadcast_all, lazy_property, logits_to_probs, one_of, probs_to_logits
from tensorlab.drawn import binomial
from tensorlab.factories import arange
from tensorlab.nn import functional as NF
from tensorlab.size import Size

Tensor = Any


class Binomial(Distribution):
    """How many of ``total_count`` trials succeed, each with probability ``probs`` or the log-odds ``logits``."""

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True
    total_count: Tensor

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        name, value = one_of("Binomial", probs=probs, logits=logits)
        (value,) = broadcast_all(value)
        (count,) = broadcast_all(total_count)
        self._take(validate_args, total_count=count.type_as(value), **{name: value})

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self.total_count)

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
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return ((self.total_count + 1) * self.probs).floor().minimum(self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        n, k = self.total_count, self._ready(value)
        ways = (n + 1).lgamma() - (k + 1).lgamma() - (n - k + 1).lgamma()
        return ways + k * self.logits - n * NF.softplus(self.logits)

    def entropy(self) -> Tensor:
        found = self.log_prob(self.enumerate_support(False))
        return -(found.exp() * found).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        n = int(self.total_count.max())
        if not bool((self.total_count == n).all()):
            raise NotImplementedError(
                "Binomial: the values have one list only where total_count is the same everywhere"
            )
        counts = arange(n + 1, dtype=self.total_count.dtype, device=self.total_count.device)
        return self._enumerated(counts, expand)
