"""What every transform has, and transforms made of others."""

from __future__ import annotations

import copy
from typing import Any

from tensorlab.distributions import constraints
from tensorlab.distributions.utils import sum_rightmost
from tensorlab.size import Size

Tensor = Any


class Transform:
    """A map from ``domain`` to ``codomain``. A subclass gives ``_call``, ``_inverse`` and ``log_abs_det_jacobian``.

    ``t(x)`` maps, ``t.inv(y)`` maps back; with ``cache_size=1`` mapping back what was just mapped returns the very tensor.
    ``bijective`` says that every value has one origin, ``sign`` whether a map of numbers rises (1) or falls (-1).
    """

    domain: Any = constraints.real
    codomain: Any = constraints.real
    bijective: Any = False

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError(f"{type(self).__name__}: cache_size must be 0 or 1, not {cache_size!r}")
        self._cache_size, self._last = cache_size, (None, None)

    @property
    def event_dim(self) -> int:
        """How many dimensions make one value."""
        if self.domain.event_dim != self.codomain.event_dim:
            raise ValueError(
                f"{type(self).__name__} changes the number of dimensions; ask domain or codomain for its event_dim"
            )
        return self.domain.event_dim

    @property
    def inv(self) -> Transform:
        """The map back."""
        return _InverseTransform(self)

    @property
    def sign(self) -> Any:
        """1 where the map rises, -1 where it falls."""
        raise NotImplementedError(f"{type(self).__name__} neither rises nor falls everywhere")

    def with_cache(self, cache_size: int = 1) -> Transform:
        """The same map with another ``cache_size``."""
        made = copy.copy(self)
        Transform.__init__(made, cache_size)
        return made

    def __call__(self, x: Tensor) -> Tensor:
        if self._cache_size == 0:
            return self._call(x)
        if x is not self._last[0]:
            self._last = (x, self._call(x))
        return self._last[1]

    def _back(self, y: Tensor) -> Tensor:
        if self._cache_size == 0:
            return self._inverse(y)
        if y is not self._last[1]:
            self._last = (self._inverse(y), y)
        return self._last[0]

    def _call(self, x: Tensor) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} does not say how it maps")

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} has no map back")

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """The logarithm of the size of the Jacobian determinant at ``x``, which is mapped to ``y``; one for each value."""
        raise NotImplementedError(f"{type(self).__name__} has no formula for its Jacobian")

    def forward_shape(self, shape: Any) -> Size:
        """The shape of what a tensor of this shape is mapped to."""
        return Size(shape)

    def inverse_shape(self, shape: Any) -> Size:
        """The shape of what is mapped to a tensor of this shape."""
        return Size(shape)

    def _key(self) -> tuple[Any, ...]:
        return ()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._key() == other._key()

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _InverseTransform(Transform):
    """A map backwards."""

    def __init__(self, transform: Transform) -> None:
        super().__init__(transform._cache_size)
        self._inv = transform

    @property
    def domain(self) -> Any:
        return self._inv.codomain

    @property
    def codomain(self) -> Any:
        return self._inv.domain

    @property
    def bijective(self) -> Any:
        return self._inv.bijective

    @property
    def sign(self) -> Any:
        return self._inv.sign

    @property
    def inv(self) -> Transform:
        return self._inv

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self._inv.with_cache(cache_size).inv

    def __call__(self, x: Tensor) -> Tensor:
        return self._inv._back(x)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Size:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Size:
        return self._inv.forward_shape(shape)

    def _key(self) -> tuple[Any, ...]:
        return (self._inv,)

    def __repr__(self) -> str:
        return f"_InverseTransform({self._inv!r})"


class ComposeTransform(Transform):
    """Maps one after another, the first of ``parts`` first."""

    def __init__(self, parts: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else list(parts)

    def _wide(self, forward: bool) -> int:
        """How many dimensions the values must have at the start (or the end), so that every part has its own."""
        need = 0
        for part in reversed(self.parts) if forward else self.parts:
            inside, outside = (part.domain, part.codomain) if forward else (part.codomain, part.domain)
            need = max(need - outside.event_dim, 0) + inside.event_dim
        return need

    @property
    def domain(self) -> Any:
        return _widened(self.parts[0].domain if self.parts else constraints.real, self._wide(True))

    @property
    def codomain(self) -> Any:
        return _widened(self.parts[-1].codomain if self.parts else constraints.real, self._wide(False))

    @property
    def bijective(self) -> Any:
        return all(part.bijective for part in self.parts)

    @property
    def sign(self) -> Any:
        found: Any = 1
        for part in self.parts:
            found = found * part.sign
        return found

    def _call(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y: Tensor) -> Tensor:
        for part in reversed(self.parts):
            y = part.inv(y)
        return y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if not self.parts:
            return x * 0
        found: Any = 0
        events = self.domain.event_dim
        for part in self.parts:
            y = part(x)
            found = found + sum_rightmost(part.log_abs_det_jacobian(x, y), events - part.domain.event_dim)
            events += part.codomain.event_dim - part.domain.event_dim
            x = y
        return found

    def forward_shape(self, shape: Any) -> Size:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return Size(shape)

    def inverse_shape(self, shape: Any) -> Size:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return Size(shape)

    def _key(self) -> tuple[Any, ...]:
        return tuple(self.parts)

    def __repr__(self) -> str:
        return "ComposeTransform(\n    " + ",\n    ".join(map(repr, self.parts)) + "\n)"


def _widened(constraint: Any, event_dim: int) -> Any:
    more = event_dim - constraint.event_dim
    return constraints.independent(constraint, more) if more > 0 else constraint


class IndependentTransform(Transform):
    """A map of parts, of which the last ``reinterpreted_batch_ndims`` dimensions more make one value."""

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.base_transform, self.reinterpreted_batch_ndims = base_transform, reinterpreted_batch_ndims
        self.domain = constraints.independent(base_transform.domain, reinterpreted_batch_ndims)
        self.codomain = constraints.independent(base_transform.codomain, reinterpreted_batch_ndims)
        self.bijective = base_transform.bijective

    @property
    def sign(self) -> Any:
        return self.base_transform.sign

    def _call(self, x: Tensor) -> Tensor:
        return self.base_transform(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Any) -> Size:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> Size:
        return self.base_transform.inverse_shape(shape)

    def _key(self) -> tuple[Any, ...]:
        return self.base_transform, self.reinterpreted_batch_ndims

    def __repr__(self) -> str:
        return f"IndependentTransform({self.base_transform!r}, {self.reinterpreted_batch_ndims})"
