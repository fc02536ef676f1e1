"""Mixtures."""

from __future__ import annotations

from typing import Any

from tensorlab.autograd import no_grad
from tensorlab.distributions import constraints
from tensorlab.distributions.categorical import Categorical
from tensorlab.distributions.distribution import Distribution

Tensor = Any


class _OfEveryComponent(constraints.Constraint):
    """Values in the set of every component of a mixture."""

    def __init__(self, base_constraint: Any) -> None:
        self.base_constraint = base_constraint
        self.event_dim, self.is_discrete = base_constraint.event_dim, base_constraint.is_discrete

    def check(self, value: Tensor) -> Tensor:
        return self.base_constraint.check(value.unsqueeze(-1 - self.event_dim)).all(-1)


class MixtureSameFamily(Distribution):
    """A draw of one component, which ``mixture_distribution``, a ``Categorical``, chooses.

    The components are the last batch dimension of ``component_distribution``; as many as the categories. Raises ``ValueError`` where
    they are not, or where the batches do not broadcast.
    """

    def __init__(
        self, mixture_distribution: Any, component_distribution: Any, validate_args: bool | None = None
    ) -> None:
        mixture, component = mixture_distribution, component_distribution
        if not isinstance(mixture, Categorical):
            raise ValueError(f"MixtureSameFamily: the mixture must be a Categorical, not {type(mixture).__name__}")
        if not isinstance(component, Distribution):
            raise ValueError(
                f"MixtureSameFamily: the components must be a Distribution, not {type(component).__name__}"
            )
        batch, kinds = component.batch_shape[:-1], mixture.param_shape[-1]
        if not component.batch_shape or component.batch_shape[-1] != kinds:
            raise ValueError(
                f"MixtureSameFamily: {kinds} categories need components along the last batch dimension, but the batch is "
                f"{list(component.batch_shape)}"
            )
        pairs = zip(reversed(mixture.batch_shape), reversed(batch), strict=False)
        if any(a != b and 1 not in (a, b) for a, b in pairs):
            raise ValueError(
                f"MixtureSameFamily: batches {list(mixture.batch_shape)} of mixtures and {list(batch)} of components do not broadcast"
            )
        self.mixture_distribution, self.component_distribution = mixture, component
        super().__init__(batch, component.event_shape, validate_args=validate_args)

    @property
    def has_rsample(self) -> bool:
        return False

    @constraints.dependent_property
    def support(self) -> Any:
        return _OfEveryComponent(self.component_distribution.support)

    def _mixed(self, x: Tensor) -> Tensor:
        """The sum over components, with their weights."""
        events = len(self._event_shape)
        weights = self.mixture_distribution.probs
        return (weights.reshape(*weights.shape, *[1] * events) * x).sum(-1 - events)

    def _pad(self, x: Tensor) -> Tensor:
        return x.unsqueeze(-1 - len(self._event_shape))

    @property
    def mean(self) -> Tensor:
        return self._mixed(self.component_distribution.mean)

    @property
    def variance(self) -> Tensor:
        away = self.component_distribution.mean - self._pad(self.mean)
        return self._mixed(self.component_distribution.variance + away**2)

    def cdf(self, value: Tensor) -> Tensor:
        found = self.component_distribution.cdf(self._pad(self._ready(value)))
        return (found * self.mixture_distribution.probs).sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        found = self.component_distribution.log_prob(self._pad(self._ready(value)))
        return (found + self.mixture_distribution.logits).logsumexp(-1)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        shape, events = self._extended_shape(sample_shape), len(self._event_shape)
        with no_grad():
            mine = self.mixture_distribution.expand(self._batch_shape).sample(sample_shape)
            drawn = self.component_distribution.sample(sample_shape)
            at = mine.reshape(*mine.shape, *[1] * (events + 1))
            chosen = at.expand(*shape[: len(shape) - events], 1, *self._event_shape)
            return drawn.gather(-1 - events, chosen).squeeze(-1 - events)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
