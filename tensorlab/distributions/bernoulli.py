"""The distribution of one trial."""

from __future__ import annotations

from typing import Any

from tensorlab import functional as F
from tensorlab.autograd import no_grad
from tensorlab.creation import tensor
from tensorlab.distributions import constraints
from tensorlab.distributions.exp_family import ExponentialFamily
from tensorlab.distributions.utils import lazy_property, log_odds_of_success, logits_to_probs, one_of, probs_to_logits
from tensorlab.drawn import bernoulli
from tensorlab.size import Size

Tensor = Any


class Bernoulli(ExponentialFamily):
    """1 with probability ``probs``, or with the log-odds ``logits``, else 0. Exactly one of the two is given.

    >>> import tensorlab as tl
    >>> tl.distributions.Bernoulli(tl.tensor([0.25])).log_prob(tl.tensor([1.])).exp()
    tensor([0.2500])
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        name, value = one_of("Bernoulli", probs=probs, logits=logits)
        self._take(validate_args, **{name: value})

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
        return self.probs

    @property
    def mode(self) -> Tensor:
        found = (self.probs >= 0.5).type_as(self.probs)
        return found.masked_fill(self.probs == 0.5, float("nan"))

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with no_grad():
            return bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        logits, value = F.broadcast_tensors(self.logits, self._ready(value))
        return log_odds_of_success(value.type_as(logits), logits)

    def entropy(self) -> Tensor:
        return -log_odds_of_success(self.probs, self.logits)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        like = next(iter(v for k, v in vars(self).items() if k in self.arg_constraints))
        return self._enumerated(tensor([0, 1], dtype=like.dtype, device=like.device), expand)
