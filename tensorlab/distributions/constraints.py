"""Sets that parameters and values of distributions lie in: each says by ``check`` which values do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorlab import functional as F
from tensorlab import linalg
from tensorlab.factories import full

Tensor = Any


class Constraint:
    """A set of values. ``event_dim`` dimensions make one value; ``is_discrete`` says whether they are apart."""

    is_discrete = False
    event_dim = 0

    def check(self, value: Tensor) -> Tensor:
        """Which values are in the set: bool, with the shape of ``value`` less ``event_dim`` dimensions."""
        raise NotImplementedError

    def _words(self) -> str:
        return ""

    def __repr__(self) -> str:
        return f"{type(self).__name__.lstrip('_')}({self._words()})"


class _Dependent(Constraint):
    """A set that depends on other parameters; it can be asked for its ``event_dim`` and ``is_discrete``, not to check."""

    def __init__(self, *, is_discrete: bool = False, event_dim: int = 0) -> None:
        self.is_discrete, self.event_dim = is_discrete, event_dim

    def __call__(self, *, is_discrete: bool = False, event_dim: int = 0) -> Any:
        return _Dependent(is_discrete=is_discrete, event_dim=event_dim)

    def check(self, value: Tensor) -> Tensor:
        raise ValueError(
            "a constraint that depends on other parameters cannot be checked alone; ask a distribution for its support"
        )


def is_dependent(constraint: Any) -> bool:
    """Whether a constraint depends on other parameters and so cannot be checked alone."""
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property of a distribution that is a constraint; on the class it is a dependent one."""

    def __init__(self, fn: Any = None, *, is_discrete: bool = False, event_dim: int = 0) -> None:
        super().__init__(fn)
        self.is_discrete, self.event_dim = is_discrete, event_dim

    def __call__(self, fn: Any) -> Any:  # type: ignore[override]
        return _DependentProperty(fn, is_discrete=self.is_discrete, event_dim=self.event_dim)


class _Where(Constraint):
    """A set given by a question."""

    def __init__(
        self, name: str, check: Callable[[Any], Any], *, event_dim: int = 0, is_discrete: bool = False
    ) -> None:
        self._name, self._check, self.event_dim, self.is_discrete = name, check, event_dim, is_discrete

    def check(self, value: Tensor) -> Tensor:
        return self._check(value)

    def __repr__(self) -> str:
        return f"{self._name}()"


class _Bounded(Constraint):
    """A set between bounds, of which either may be missing."""

    def __init__(self, lower_bound: Any = None, upper_bound: Any = None) -> None:
        if lower_bound is not None:
            self.lower_bound = lower_bound
        if upper_bound is not None:
            self.upper_bound = upper_bound

    def _words(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in vars(self).items())


class _GreaterThan(_Bounded):
    """Numbers above ``lower_bound``."""

    def check(self, value: Tensor) -> Tensor:
        return value > self.lower_bound


class _GreaterThanEq(_Bounded):
    """Numbers from ``lower_bound`` on."""

    def check(self, value: Tensor) -> Tensor:
        return value >= self.lower_bound


class _LessThan(_Bounded):
    """Numbers below ``upper_bound``."""

    def __init__(self, upper_bound: Any) -> None:
        super().__init__(upper_bound=upper_bound)

    def check(self, value: Tensor) -> Tensor:
        return value < self.upper_bound


class _Interval(_Bounded):
    """Numbers from ``lower_bound`` to ``upper_bound``, both included."""

    def check(self, value: Tensor) -> Tensor:
        return (value >= self.lower_bound) & (value <= self.upper_bound)


class _HalfOpenInterval(_Bounded):
    """Numbers from ``lower_bound`` up to but not including ``upper_bound``."""

    def check(self, value: Tensor) -> Tensor:
        return (value >= self.lower_bound) & (value < self.upper_bound)


def _whole(value: Tensor) -> Tensor:
    return value % 1 == 0


class _IntegerInterval(_Interval):
    """Whole numbers from ``lower_bound`` to ``upper_bound``."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return _whole(value) & super().check(value)


class _IntegerGreaterThan(_GreaterThanEq):
    """Whole numbers from ``lower_bound`` on."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return _whole(value) & super().check(value)


class _IntegerLessThan(_LessThan):
    """Whole numbers up to ``upper_bound``."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return _whole(value) & (value <= self.upper_bound)


class _Multinomial(_Bounded):
    """Counts that add up to at most ``upper_bound``."""

    is_discrete, event_dim = True, 1

    def __init__(self, upper_bound: Any) -> None:
        super().__init__(upper_bound=upper_bound)

    def check(self, x: Tensor) -> Tensor:
        return (x >= 0).all(-1) & (x.sum(-1) <= self.upper_bound)


class _IndependentConstraint(Constraint):
    """Values whose last dimensions make one, in the set where every part is."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, reinterpreted_batch_ndims
        self.is_discrete = base_constraint.is_discrete
        self.event_dim = base_constraint.event_dim + reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Tensor:
        found, n = self.base_constraint.check(value), self.reinterpreted_batch_ndims
        if found.dim() < n:
            raise ValueError(
                f"expected a value of at least {self.event_dim} dimensions, but got shape {list(value.shape)}"
            )
        return found if n == 0 else found.reshape(*found.shape[: found.dim() - n], -1).all(-1)

    def _words(self) -> str:
        return f"{self.base_constraint!r}, {self.reinterpreted_batch_ndims}"


class _Joined(Constraint):
    """Parts along a dimension, each in a set of its own; ``lengths`` says how long each part is."""

    def __init__(self, cseq: Any, dim: int, lengths: list[int], joined: bool) -> None:
        self.cseq, self.dim, self.lengths, self._joined = list(cseq), dim, lengths, joined
        self.is_discrete = any(c.is_discrete for c in self.cseq)
        self.event_dim = max(c.event_dim for c in self.cseq) + (0 if joined or dim >= 0 else 1)

    def check(self, value: Tensor) -> Tensor:
        if not self._joined:
            parts = [c.check(value.select(self.dim, i)) for i, c in enumerate(self.cseq)]
            return F.stack(parts, self.dim)
        pieces = value.split(self.lengths, self.dim)
        return F.cat([c.check(piece) for c, piece in zip(self.cseq, pieces, strict=True)], self.dim)


def cat(cseq: Any, dim: int = 0, lengths: Any = None) -> Constraint:
    """Pieces of the given lengths along a dimension, each in a set of its own."""
    cseq = list(cseq)
    return _Joined(cseq, dim, [1] * len(cseq) if lengths is None else list(lengths), True)


def stack(cseq: Any, dim: int = 0) -> Constraint:
    """The entries along a dimension, each in a set of its own."""
    return _Joined(cseq, dim, [], False)


def _symmetric(x: Tensor) -> Tensor:
    return F.isclose(x, x.mT, atol=1e-6).all(-1).all(-1)


def _lower(x: Tensor) -> Tensor:
    return (x.tril() == x).all(-1).all(-1)


def _upright(x: Tensor) -> Tensor:
    return (x.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


def _unit_rows(x: Tensor) -> Tensor:
    return ((x * x).sum(-1).sqrt() - 1).abs().lt(x.shape[-1] * 1e-5).all(-1)


dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Where("Boolean", lambda x: (x == 0) | (x == 1), is_discrete=True)
one_hot = _Where("OneHot", lambda x: ((x == 0) | (x == 1)).all(-1) & (x.sum(-1) == 1), event_dim=1, is_discrete=True)
real = _Where("Real", lambda x: x == x)
real_vector = independent(real, 1)
simplex = _Where("Simplex", lambda x: (x >= 0).all(-1) & ((x.sum(-1) - 1).abs() < 1e-6), event_dim=1)
lower_triangular = _Where("LowerTriangular", _lower, event_dim=2)
lower_cholesky = _Where("LowerCholesky", lambda x: _lower(x) & _upright(x), event_dim=2)
corr_cholesky = _Where("CorrCholesky", lambda x: _lower(x) & _upright(x) & _unit_rows(x), event_dim=2)
square = _Where("Square", lambda x: full(x.shape[:-2], x.shape[-2] == x.shape[-1]), event_dim=2)
symmetric = _Where("Symmetric", _symmetric, event_dim=2)
positive_definite = _Where(
    "PositiveDefinite", lambda x: _symmetric(x) & (linalg.cholesky_ex(x.detach()).info == 0), event_dim=2
)
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval

__all__ = """
    Constraint is_dependent
    boolean cat corr_cholesky dependent dependent_property greater_than greater_than_eq half_open_interval independent integer_interval
    interval less_than lower_cholesky lower_triangular multinomial nonnegative nonnegative_integer one_hot positive positive_definite
    positive_integer real real_vector simplex square stack symmetric unit_interval
""".split()
