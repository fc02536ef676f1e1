"""The distribution over numbered categories."""

from __future__ import annotations

from typing import Any

from tensorlab import dtypes
from tensorlab import functional as F
from tensorlab.distributions import constraints
from tensorlab.distributions.distribution import Distribution
from tensorlab.distributions.utils import lazy_property, logits_to_probs, one_of, probs_to_logits
from tensorlab.drawn import multinomial
from tensorlab.factories import arange, zeros
from tensorlab.size import Size

Tensor = Any


class Categorical(Distribution):
    """An index below K, drawn with the weights ``probs`` or with the unnormalised log-probabilities ``logits`` in the last dimension.

    ``probs`` are the weights divided by their sum, ``logits`` the logarithms of these.

    >>> import tensorlab as tl
    >>> tl.distributions.Categorical(tl.tensor([1., 3.])).probs
    tensor([0.2500, 0.7500])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        name, value = one_of("Categorical", probs=probs, logits=logits)
        if value.dim() < 1:
            raise ValueError(f"Categorical: parameter {name} must have a dimension of categories, but is one number")
        if name == "probs":
            self.probs = value / value.sum(-1, keepdim=True)
        else:
            self.logits = value - value.logsumexp(-1, keepdim=True)
        self._num_events = value.shape[-1]
        super().__init__(value.shape[:-1], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self._num_events - 1)

    @lazy_property
    def probs(self) -> Tensor:
        """The probabilities, which sum to 1."""
        return logits_to_probs(self.logits)

    @lazy_property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities."""
        return probs_to_logits(self.probs)

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter: that of the batch, then the number of categories."""
        return self._batch_shape + (self._num_events,)

    @property
    def mean(self) -> Tensor:
        return self._nan()

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(-1)

    @property
    def variance(self) -> Tensor:
        return self._nan()

    def sample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        rows, n = self.probs.detach().reshape(-1, self._num_events), Size(sample_shape).numel()
        if rows.shape[0] == 0 or n == 0:
            return zeros(shape, dtype=dtypes.int64, device=rows.device)
        return multinomial(rows, n, True).t().reshape(shape)

    def log_prob(self, value: Tensor) -> Tensor:
        at, logits = F.broadcast_tensors(self._ready(value).long().unsqueeze(-1), self.logits)
        return logits.gather(-1, at[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        return -(self.logits.clamp(min=dtypes.finfo(self.logits.dtype).min) * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        device = (self.__dict__["probs"] if "probs" in self.__dict__ else self.logits).device
        return self._enumerated(arange(self._num_events, dtype=dtypes.int64, device=device), expand)
