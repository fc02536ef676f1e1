"""The chi-squared distribution."""

from __future__ import annotations

from typing import Any

from tensorlab.distributions import constraints
from tensorlab.distributions.gamma import Gamma

Tensor = Any


class Chi2(Gamma):
    """Sums of the squares of ``df`` standard normal numbers."""

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self.concentration * 2

    def expand(self, batch_shape: Any, _instance: Any = None) -> Chi2:
        return Chi2(self.df.expand(batch_shape), validate_args=False)
