"""From a constraint to a transform of free numbers into it: ``biject_to`` one to one, ``transform_to`` any that does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorlab.distributions import constraints, transforms


class ConstraintRegistry:
    """Which transform leads into a constraint: ``registry(constraint)``; more are entered by ``register``."""

    def __init__(self) -> None:
        self._known: dict[type, Callable[..., Any]] = {}
        self._named: dict[int, Callable[..., Any]] = {}

    def register(self, constraint: Any, factory: Any = None) -> Any:
        """Enter what makes a transform for a constraint or a class of them; without ``factory`` a decorator."""
        if factory is None:
            return lambda made: self.register(constraint, made)
        if isinstance(constraint, constraints._Where):
            self._named[id(constraint)] = factory
        else:
            kind = constraint if isinstance(constraint, type) else type(constraint)
            if not issubclass(kind, constraints.Constraint):
                raise TypeError(f"register() takes a Constraint or a class of them, not {constraint!r}")
            self._known[kind] = factory
        return factory

    def __call__(self, constraint: Any) -> Any:
        """The transform into a constraint. Raises ``NotImplementedError`` where none is known."""
        factory = self._named.get(id(constraint)) or self._known.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"no transform into {constraint!r} is known; enter one with register()")
        return factory(constraint)


biject_to, transform_to = ConstraintRegistry(), ConstraintRegistry()


def _into_interval(c: Any) -> Any:
    if isinstance(c.lower_bound, (int, float)) and (c.lower_bound, c.upper_bound) == (0, 1):
        return transforms.SigmoidTransform()
    loc, scale = c.lower_bound, c.upper_bound - c.lower_bound
    return transforms.ComposeTransform([transforms.SigmoidTransform(), transforms.AffineTransform(loc, scale)])


def _above(c: Any) -> Any:
    if isinstance(c.lower_bound, (int, float)) and c.lower_bound == 0:
        return transforms.ExpTransform()
    return transforms.ComposeTransform([transforms.ExpTransform(), transforms.AffineTransform(c.lower_bound, 1)])


def _below(c: Any) -> Any:
    return transforms.ComposeTransform([transforms.ExpTransform(), transforms.AffineTransform(c.upper_bound, -1)])


for _registry in (biject_to, transform_to):

    def _of_parts(c: Any, registry: Any = _registry) -> Any:
        return transforms.IndependentTransform(registry(c.base_constraint), c.reinterpreted_batch_ndims)

    _registry.register(constraints.real, lambda c: transforms.identity_transform)
    _registry.register(constraints.independent, _of_parts)
    _registry.register(constraints.greater_than, _above)
    _registry.register(constraints.greater_than_eq, _above)
    _registry.register(constraints.less_than, _below)
    _registry.register(constraints.interval, _into_interval)
    _registry.register(constraints.half_open_interval, _into_interval)
    _registry.register(constraints.lower_cholesky, lambda c: transforms.LowerCholeskyTransform())
    _registry.register(constraints.positive_definite, lambda c: transforms.PositiveDefiniteTransform())
biject_to.register(constraints.simplex, lambda c: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda c: transforms.SoftmaxTransform())
