"""Draws sent through transforms."""

from __future__ import annotations

from typing import Any

from tensorlab.autograd import no_grad
from tensorlab.distributions import constraints
from tensorlab.distributions.distribution import Distribution
from tensorlab.distributions.independent import Independent
from tensorlab.distributions.transforms import ComposeTransform, Transform
from tensorlab.distributions.utils import sum_rightmost

Tensor = Any


class TransformedDistribution(Distribution):
    """Draws of ``base_distribution`` sent through ``transforms``, one or a list; the density follows from their Jacobians."""

    def __init__(self, base_distribution: Any, transforms: Any, validate_args: bool | None = None) -> None:
        self.transforms = list(transforms) if isinstance(transforms, (list, tuple)) else [transforms]
        if not all(isinstance(t, Transform) for t in self.transforms):
            raise ValueError(
                f"TransformedDistribution: transforms must be a Transform or a list of them, but got {transforms!r}"
            )
        whole = ComposeTransform(self.transforms)
        shape = base_distribution.batch_shape + base_distribution.event_shape
        n = whole.domain.event_dim
        if len(shape) < n:
            raise ValueError(
                f"TransformedDistribution: the transforms take events of {n} dimensions, but the base distribution has {list(shape)}"
            )
        outside = whole.forward_shape(shape)
        base_shape = whole.inverse_shape(outside)
        if tuple(base_shape) != tuple(shape):  # the transforms make the batch larger
            event = len(base_distribution.event_shape)
            base_distribution = base_distribution.expand(base_shape[: len(base_shape) - event])
        more = n - len(base_distribution.event_shape)
        self.base_dist: Any = Independent(base_distribution, more) if more > 0 else base_distribution
        events = whole.codomain.event_dim + max(len(self.base_dist.event_shape) - n, 0)
        cut = len(outside) - events
        super().__init__(outside[:cut], outside[cut:], validate_args=validate_args)

    @property
    def has_rsample(self) -> bool:
        return self.base_dist.has_rsample

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        if not self.transforms:
            return self.base_dist.support
        found = self.transforms[-1].codomain
        more = len(self._event_shape) - found.event_dim
        return constraints.independent(found, more) if more > 0 else found

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with no_grad():
            return self._forward(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self._forward(self.base_dist.rsample(sample_shape))

    def _forward(self, x: Tensor) -> Tensor:
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value: Tensor) -> Tensor:
        found: Any = 0.0
        y, events = self._ready(value), len(self._event_shape)
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            events += transform.domain.event_dim - transform.codomain.event_dim
            found = found - sum_rightmost(transform.log_abs_det_jacobian(x, y), events - transform.domain.event_dim)
            y = x
        return found + sum_rightmost(self.base_dist.log_prob(y), events - len(self.base_dist.event_shape))

    def cdf(self, value: Tensor) -> Tensor:
        value = self._ready(value)
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        return self._turned(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._forward(self.base_dist.icdf(self._turned(value)))

    def _turned(self, probability: Tensor) -> Tensor:
        """1 less the probability where the transforms together turn numbers around."""
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        if isinstance(sign, int):
            return probability if sign == 1 else 1 - probability
        return sign * (probability - 0.5) + 0.5
