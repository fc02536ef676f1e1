"""The distribution over categories, as vectors with a single 1."""

from __future__ import annotations

from typing import Any

from tensorlab.distributions import constraints
from tensorlab.distributions.categorical import Categorical
from tensorlab.distributions.distribution import Distribution
from tensorlab.nn.functional import one_hot
from tensorlab.size import Size

Tensor = Any


class OneHotCategorical(Distribution):
    """A vector of K numbers, 1 for the category that is drawn and 0 elsewhere. Parameters are those of ``Categorical``."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._categorical = Categorical(probs, logits)
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

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return self._hot(self._categorical.mode)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def _hot(self, index: Tensor) -> Tensor:
        return one_hot(index, self._event_shape[0]).type_as(self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        return self._hot(self._categorical.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        return self._categorical.log_prob(self._ready(value).argmax(-1))

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._hot(self._categorical.enumerate_support(expand))


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """One-hot draws whose gradient is passed on to the probabilities as if the draws were these (a biased estimate)."""

    has_rsample = True

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.sample(sample_shape) + (self.probs - self.probs.detach())
