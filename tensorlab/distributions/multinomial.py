"""The distribution of counts of categories."""

from __future__ import annotations

import math
from typing import Any

from tensorlab import functional as F
from tensorlab.distributions import constraints
from tensorlab.distributions.binomial import Binomial
from tensorlab.distributions.categorical import Categorical
from tensorlab.distributions.distribution import Distribution
from tensorlab.factories import ones_like, zeros
from tensorlab.size import Size

Tensor = Any


class Multinomial(Distribution):
    """How often each of K categories comes in ``total_count`` draws. Parameters are those of ``Categorical``.

    ``total_count`` is one number for the whole batch; the counts given to ``log_prob`` may sum to fewer.
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(
        self, total_count: int = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError(f"Multinomial: total_count must be one int, not {type(total_count).__name__}")
        self.total_count = total_count
        self._categorical = Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        return constraints.multinomial(self.total_count)

    @property
    def probs(self) -> Tensor:
        """The probabilities, which sum to 1."""
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._categorical.param_shape

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        drawn = self._categorical.sample((*sample_shape, self.total_count)).movedim(len(sample_shape), -1)
        counts = zeros(self._extended_shape(sample_shape), dtype=self.probs.dtype, device=self.probs.device)
        return counts.scatter_add_(-1, drawn, ones_like(drawn).type_as(counts))

    def log_prob(self, value: Tensor) -> Tensor:
        logits, value = F.broadcast_tensors(self.logits, self._ready(value))
        each = value * logits.masked_fill((value == 0) & (logits == -math.inf), 0)
        return (value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1) + each.sum(-1)

    def entropy(self) -> Tensor:
        n = self.total_count
        count = Binomial(n, self.probs)
        k = count.enumerate_support(False)[1:]
        ways = (count.log_prob(k).exp() * (k + 1).lgamma()).sum((0, -1))
        return n * self._categorical.entropy() - math.lgamma(n + 1) + ways
