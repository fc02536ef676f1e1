"""What every distribution has: shapes, draws, densities, and parameters that are checked."""

from __future__ import annotations

from typing import Any, Self

from tensorlab import dispatch
from tensorlab import functional as F
from tensorlab.autograd import no_grad
from tensorlab.distributions import constraints
from tensorlab.distributions.utils import broadcast_all, lazy_property
from tensorlab.factories import full_like
from tensorlab.size import Size

Tensor = Any


class Distribution:
    """A probability distribution, or a batch of them: ``batch_shape`` counts them, ``event_shape`` is the shape of one draw.

    A subclass names its parameters and the sets they lie in by ``arg_constraints``, the set of its values by ``support``, and gives
    ``log_prob`` and ``sample`` or, where draws move smoothly with the parameters (``has_rsample``), ``rsample``. Parameters and values
    outside their sets raise ``ValueError``, unless ``validate_args=False``.
    """

    has_rsample: Any = False
    has_enumerate_support: Any = False
    arg_constraints: Any = {}
    _validate_args = __debug__

    def __init__(self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            for name, constraint in self.arg_constraints.items():
                worked_out = name not in self.__dict__ and isinstance(getattr(type(self), name, None), lazy_property)
                if not constraints.is_dependent(constraint) and not worked_out:
                    self._check(f"parameter {name}", getattr(self, name), constraint)

    def _take(self, validate_args: bool | None, **parameters: Any) -> None:
        """Keep parameters that meet element by element, in the shape they have together, which is the batch's."""
        found = broadcast_all(*parameters.values())
        self.__dict__.update(zip(parameters, found, strict=True))
        Distribution.__init__(self, found[0].shape, validate_args=validate_args)

    def _check(self, what: str, value: Any, constraint: Any) -> None:
        fine = constraint.check(value)
        if not bool(fine.all()):
            at = (~fine).nonzero()[0].tolist() if fine.dim() else []
            first = value[tuple(at)].tolist() if at else value.tolist()
            raise ValueError(
                f"{type(self).__name__}: {what} of shape {list(value.shape)} must satisfy {constraint!r}, but "
                f"{int((~fine).sum())} of {fine.numel()} do not; the first is {first}{f' at {at}' if at else ''} "
                "(validate_args=False leaves this unchecked)"
            )

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether distributions check parameters and values where ``validate_args`` is not given."""
        if value not in (True, False):
            raise ValueError(f"set_default_validate_args() takes True or False, not {value!r}")
        Distribution._validate_args = value

    def expand(self, batch_shape: Any, _instance: Any = None) -> Self:
        """The same distribution with a larger ``batch_shape``; parameters are expanded, not copied."""
        batch, n = Size(batch_shape), len(self._batch_shape)
        new = self._get_checked_instance(type(self), _instance)
        for name, value in vars(self).items():
            if name in self.arg_constraints and isinstance(value, dispatch.Tensor):
                new.__dict__[name] = value.expand(batch + value.shape[n:])
            elif isinstance(value, Distribution):
                new.__dict__[name] = value.expand(batch + value.batch_shape[n:])
            elif not isinstance(getattr(type(self), name, None), lazy_property):
                new.__dict__[name] = value
        new._batch_shape = batch
        return new

    def _get_checked_instance(self, cls: Any, _instance: Any = None) -> Any:
        return type(self).__new__(type(self)) if _instance is None else _instance

    @property
    def batch_shape(self) -> Size:
        """How many distributions, and in which shape."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one draw from one distribution."""
        return self._event_shape

    @property
    def support(self) -> Any:
        """The set of values that can be drawn."""
        raise NotImplementedError(f"{type(self).__name__} does not say its support")

    @property
    def mean(self) -> Tensor:
        """The mean of each distribution."""
        raise NotImplementedError(f"{type(self).__name__} has no formula for the mean")

    @property
    def mode(self) -> Tensor:
        """The value where probability or density is largest."""
        raise NotImplementedError(f"{type(self).__name__} has no formula for the mode")

    @property
    def variance(self) -> Tensor:
        """The variance of each distribution."""
        raise NotImplementedError(f"{type(self).__name__} has no formula for the variance")

    @property
    def stddev(self) -> Tensor:
        """The root of the variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Draws of shape ``sample_shape + batch_shape + event_shape``, without history."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Draws through which gradients reach the parameters. Raises ``NotImplementedError`` where ``has_rsample`` is False."""
        raise NotImplementedError(
            f"{type(self).__name__} draws values that do not move smoothly with its parameters; use sample() with log_prob()"
        )

    def sample_n(self, n: int) -> Tensor:
        """``n`` draws: ``sample((n,))``."""
        return self.sample((n,))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of probability or density at ``value``, one for each distribution."""
        raise NotImplementedError(f"{type(self).__name__} has no formula for log_prob")

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of a draw up to ``value``."""
        raise NotImplementedError(f"{type(self).__name__} has no formula for cdf")

    def icdf(self, value: Tensor) -> Tensor:
        """The number up to which a draw lies with probability ``value``."""
        raise NotImplementedError(f"{type(self).__name__} has no formula for icdf")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values there are, along dimension 0; in the shape of the batch, or with ``expand=False`` in shape 1 there."""
        raise NotImplementedError(f"{type(self).__name__} has no list of its values")

    def entropy(self) -> Tensor:
        """The entropy of each distribution, in nats."""
        raise NotImplementedError(f"{type(self).__name__} has no formula for the entropy")

    def perplexity(self) -> Tensor:
        """The exponential of the entropy."""
        return self.entropy().exp()

    def _extended_shape(self, sample_shape: Any = ()) -> Size:
        return Size(sample_shape) + self._batch_shape + self._event_shape

    def _enumerated(self, values: Tensor, expand: bool) -> Tensor:
        """Values along dimension 0 as ``enumerate_support`` gives them."""
        values = values.reshape(-1, *[1] * len(self._batch_shape))
        return values.expand(values.shape[0], *self._batch_shape) if expand else values

    def _validate_sample(self, value: Any) -> None:
        """Raise ``ValueError`` for a value of another type or shape, or outside the support."""
        name = type(self).__name__
        if not isinstance(value, dispatch.Tensor):
            raise ValueError(f"{name}: the value must be a Tensor, not {type(value).__name__}; wrap it in tensor()")
        mine = self._batch_shape + self._event_shape
        n = len(self._event_shape)
        if tuple(value.shape[value.dim() - n :]) != tuple(self._event_shape) or value.dim() < n:
            raise ValueError(
                f"{name}: a value must end in the event shape {list(self._event_shape)}, but its shape is {list(value.shape)}"
            )
        try:
            F.broadcast_shapes(tuple(value.shape), tuple(mine))
        except RuntimeError:
            raise ValueError(
                f"{name}: a value of shape {list(value.shape)} does not broadcast with batch and event shape {list(mine)}"
            ) from None
        try:
            support = self.support
        except NotImplementedError:
            return
        self._check("value", value, support)

    def _ready(self, value: Any) -> Any:
        """The value, checked where this distribution checks."""
        if self._validate_args:
            self._validate_sample(value)
        return value

    def _nan(self) -> Tensor:
        """What has no value, for each distribution."""
        like = next(v for k, v in vars(self).items() if k in self.arg_constraints and isinstance(v, dispatch.Tensor))
        return full_like(like.detach().sum(), float("nan")).expand(self._extended_shape())

    def __repr__(self) -> str:
        known = {name: self.__dict__[name] for name in self.arg_constraints if name in self.__dict__}
        words = [f"{name}: {(x if x.dim() else x.item()) if x.numel() == 1 else x.size()}" for name, x in known.items()]
        return f"{type(self).__name__}({', '.join(words)})"
