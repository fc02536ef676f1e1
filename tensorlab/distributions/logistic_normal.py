"""Normal numbers as shares."""

from __future__ import annotations

from typing import Any

from tensorlab.distributions import constraints
from tensorlab.distributions.normal import Normal
from tensorlab.distributions.transformed_distribution import TransformedDistribution
from tensorlab.distributions.transforms import StickBreakingTransform

Tensor = Any


class LogisticNormal(TransformedDistribution):
    """K + 1 shares that stick breaking makes of K normal numbers with mean ``loc`` and deviation ``scale``."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand((1,))
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Tensor:
        """The means of the normal numbers."""
        return self.base_dist.base_dist.loc

    @property
    def scale(self) -> Tensor:
        """The deviations of the normal numbers."""
        return self.base_dist.base_dist.scale
