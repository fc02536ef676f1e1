"""Invertible maps of values, with the logarithms of their Jacobian determinants."""

from __future__ import annotations

import math
from typing import Any

from tensorlab import dtypes
from tensorlab import functional as F
from tensorlab.distributions import constraints
from tensorlab.distributions.transform import ComposeTransform as ComposeTransform
from tensorlab.distributions.transform import IndependentTransform as IndependentTransform
from tensorlab.distributions.transform import Transform as Transform
from tensorlab.distributions.utils import broadcast_all, sum_rightmost
from tensorlab.nn import functional as NF
from tensorlab.size import Size

Tensor = Any


class ReshapeTransform(Transform):
    """Events of shape ``in_shape`` in shape ``out_shape``."""

    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError(
                f"ReshapeTransform: {list(in_shape)} and {list(out_shape)} hold different numbers of elements"
            )
        self.domain = constraints.independent(constraints.real, len(self.in_shape))
        self.codomain = constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Tensor) -> Tensor:
        return x.reshape(self.forward_shape(x.shape))

    def _inverse(self, y: Tensor) -> Tensor:
        return y.reshape(self.inverse_shape(y.shape))

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    def forward_shape(self, shape: Any) -> Size:
        return _ending(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Size:
        return _ending(shape, self.out_shape, self.in_shape)

    def _key(self) -> tuple[Any, ...]:
        return self.in_shape, self.out_shape


def _ending(shape: Any, old: Size, new: Size) -> Size:
    cut = len(shape) - len(old)
    if cut < 0 or tuple(shape[cut:]) != tuple(old):
        raise ValueError(f"ReshapeTransform: expected a shape that ends in {list(old)}, but got {list(shape)}")
    return Size(shape[:cut]) + new


class _OfNumbers(Transform):
    """A map of single numbers that rises."""

    bijective = True
    sign: Any = 1


class ExpTransform(_OfNumbers):
    """``y = exp(x)``."""

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


class PowerTransform(_OfNumbers):
    """``y = x ** exponent`` of positive numbers."""

    domain = constraints.positive
    codomain = constraints.positive

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        (self.exponent,) = broadcast_all(exponent)

    @property
    def sign(self) -> Any:
        return self.exponent.sign()

    def _call(self, x: Tensor) -> Tensor:
        return x.pow(self.exponent)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Any) -> Size:
        return F.broadcast_shapes(shape, self.exponent.shape)

    inverse_shape = forward_shape

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and bool((self.exponent == other.exponent).all())

    __hash__ = object.__hash__


class SigmoidTransform(_OfNumbers):
    """``y = 1 / (1 + exp(-x))``."""

    codomain = constraints.unit_interval

    def _call(self, x: Tensor) -> Tensor:
        info = dtypes.finfo(x.dtype)
        return x.sigmoid().clamp(min=info.tiny, max=1 - info.eps)

    def _inverse(self, y: Tensor) -> Tensor:
        info = dtypes.finfo(y.dtype)
        y = y.clamp(min=info.tiny, max=1 - info.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -NF.softplus(-x) - NF.softplus(x)


class SoftplusTransform(_OfNumbers):
    """``y = log(1 + exp(x))``."""

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return NF.softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return (-(-y).expm1()).log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -NF.softplus(-x)


class TanhTransform(_OfNumbers):
    """``y = tanh(x)``. The Jacobian is found without cancellation, from ``x``."""

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return 2 * (math.log(2) - x - NF.softplus(-2 * x))


class AbsTransform(Transform):
    """``y = |x|``; it maps back to the positive origin."""

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y


class AffineTransform(Transform):
    """``y = loc + scale * x``, of events of ``event_dim`` dimensions."""

    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim
        if event_dim:
            self.domain = self.codomain = constraints.independent(constraints.real, event_dim)

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, (int, float)):
            return 1 if self.scale > 0 else -1 if self.scale < 0 else 0
        return self.scale.sign()

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if isinstance(self.scale, (int, float)):
            found = x.new_full(x.shape, math.log(abs(self.scale)))
        else:
            found = self.scale.abs().log().expand(F.broadcast_shapes(self.scale.shape, x.shape))
        return sum_rightmost(found, self._event_dim)

    def forward_shape(self, shape: Any) -> Size:
        return F.broadcast_shapes(shape, getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ()))

    inverse_shape = forward_shape

    def __eq__(self, other: object) -> bool:
        def same(a: Any, b: Any) -> bool:
            return a is b or bool((broadcast_all(a)[0] == broadcast_all(b)[0]).all())

        return isinstance(other, AffineTransform) and same(self.loc, other.loc) and same(self.scale, other.scale)

    __hash__ = object.__hash__


class SoftmaxTransform(Transform):
    """Numbers as shares: ``softmax`` along the last dimension. It maps back to logarithms, and has no Jacobian."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        return x.softmax(-1)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()


class StickBreakingTransform(Transform):
    """K numbers as K + 1 shares: each breaks a part off what the ones before left of a stick."""

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        share = SigmoidTransform()._call(x - _behind(x).log())
        left = (1 - share).cumprod(-1)
        return NF.pad(share, [0, 1], value=1.0) * NF.pad(left, [1, 0], value=1.0)

    def _inverse(self, y: Tensor) -> Tensor:
        kept = y[..., :-1]
        left = (1 - kept.cumsum(-1)).clamp(min=dtypes.finfo(y.dtype).tiny)
        return kept.log() - left.log() + _behind(kept).log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        moved = x - _behind(x).log()
        return (-moved + NF.logsigmoid(moved) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Size:
        return Size(shape[:-1]) + (shape[-1] + 1,)

    def inverse_shape(self, shape: Any) -> Size:
        return Size(shape[:-1]) + (shape[-1] - 1,)


def _behind(x: Tensor) -> Tensor:
    """How many shares are still to come, at each place along the last dimension."""
    return x.new_ones(x.shape[-1]).cumsum(-1).flip(-1)


class LowerCholeskyTransform(Transform):
    """Square matrices as lower factors: what is below the diagonal, and the exponentials of what is on it."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(LowerCholeskyTransform):
    """Square matrices as positive definite ones, through their lower factors."""

    codomain = constraints.positive_definite

    def _call(self, x: Tensor) -> Tensor:
        root = super()._call(x)
        return root @ root.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return super()._inverse(y.cholesky())


class _Each(Transform):
    """Parts along a dimension, each with a map of its own."""

    def __init__(self, tseq: Any, dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.transforms, self.dim = list(tseq), dim
        self.bijective = all(t.bijective for t in self.transforms)

    def _parts(self, x: Tensor) -> Any:
        return x.unbind(self.dim)

    def _together(self, parts: list[Tensor]) -> Tensor:
        return F.stack(parts, self.dim)

    def _call(self, x: Tensor) -> Tensor:
        return self._together([t(part) for t, part in zip(self.transforms, self._parts(x), strict=True)])

    def _inverse(self, y: Tensor) -> Tensor:
        return self._together([t.inv(part) for t, part in zip(self.transforms, self._parts(y), strict=True)])

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        triples = zip(self.transforms, self._parts(x), self._parts(y), strict=True)
        return self._together([t.log_abs_det_jacobian(a, b) for t, a, b in triples])


class StackTransform(_Each):
    """The entries along ``dim``, each with a map of its own."""

    @property
    def domain(self) -> Any:
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @property
    def codomain(self) -> Any:
        return constraints.stack([t.codomain for t in self.transforms], self.dim)


class CatTransform(_Each):
    """Pieces along ``dim``, each with a map of its own; ``lengths`` are theirs, 1 where not given."""

    def __init__(self, tseq: Any, dim: int = 0, lengths: Any = None, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)

    @property
    def domain(self) -> Any:
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @property
    def codomain(self) -> Any:
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)

    def _parts(self, x: Tensor) -> Any:
        return x.split(self.lengths, self.dim)

    def _together(self, parts: list[Tensor]) -> Tensor:
        return F.cat(parts, self.dim)


identity_transform = ComposeTransform([])

__all__ = """
    AbsTransform AffineTransform CatTransform ComposeTransform ExpTransform IndependentTransform LowerCholeskyTransform
    PositiveDefiniteTransform PowerTransform ReshapeTransform SigmoidTransform SoftmaxTransform SoftplusTransform StackTransform
    StickBreakingTransform TanhTransform Transform identity_transform
""".split()
