"""Categories as shares that are almost one-hot."""

from __future__ import annotations

import math
from typing import Any

from tensorlab.distributions import constraints
from tensorlab.distributions.categorical import Categorical
from tensorlab.distributions.distribution import Distribution
from tensorlab.distributions.transformed_distribution import TransformedDistribution
from tensorlab.distributions.transforms import ExpTransform
from tensorlab.distributions.utils import broadcast_all, uniform_like
from tensorlab.size import Size

Tensor = Any


class ExpRelaxedCategorical(Distribution):
    """The logarithms of a draw of ``RelaxedOneHotCategorical``."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._categorical = Categorical(probs, logits)
        (self.temperature,) = broadcast_all(temperature)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

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

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        gumbel = -(-uniform_like(self.logits, self._extended_shape(sample_shape)).log()).log()
        return ((self.logits + gumbel) / self.temperature).log_softmax(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        k = self._event_shape[0]
        score = (self.logits - self._ready(value) * self.temperature).log_softmax(-1).sum(-1)
        return score + math.lgamma(k) + (k - 1) * self.temperature.log()


class RelaxedOneHotCategorical(TransformedDistribution):
    """Shares that come close to one-hot vectors as ``temperature`` falls, with gradients for the odds of the categories.

    Sources: Jang, Gu and Poole, "Categorical reparameterization with Gumbel-softmax", 2017; Maddison, Mnih and Teh, 2017.
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    @property
    def temperature(self) -> Tensor:
        """How far from one-hot draws lie."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities."""
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        """The probabilities, which sum to 1."""
        return self.base_dist.probs
