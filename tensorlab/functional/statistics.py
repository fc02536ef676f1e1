"""What values are like as a whole: counts, extremes, spreads, quantiles, covariances."""

from __future__ import annotations

import builtins
import warnings
from typing import Any

from tensorlab import dispatch, dtypes
from tensorlab.dispatch import call
from tensorlab.functional.arguments import a_bool, a_number, kept, need_tensor, np_dtype, one_dim, some_dims
from tensorlab.functional.pointwise import abs, clamp, conj, isnan, lerp, mul, sqrt, where
from tensorlab.functional.products import matmul
from tensorlab.functional.reductions import spread_over, sum, vector_norm
from tensorlab.functional.shapes import diagonal, movedim, reshape, squeeze, t, unsqueeze
from tensorlab.functional.sorting import sort
from tensorlab.layout import wrap_dim
from tensorlab.ops import ROWS
from tensorlab.return_types import named

Tensor = Any

#: Functions that are methods under the same name, with the tensor as their first argument.
METHODS = """
    aminmax count_nonzero nansum nanmean nanmedian quantile nanquantile dist cov corrcoef renorm
"""


def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Any:
    """The pair ``(min, max)`` of all elements, or along ``dim``. Raises ``RuntimeError`` where there is nothing to choose.

    >>> import tensorlab as tl
    >>> tl.aminmax(tl.tensor([3, 1, 2])).max
    tensor(3)
    """
    dims = tuple(range(input._a.ndim)) if dim is None else (one_dim("aminmax", input, dim),)
    dims = dims if input._a.ndim else ()
    if builtins.any(input._a.shape[d] == 0 for d in dims):
        raise (RuntimeError if dim is None else IndexError)(
            f"aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity; shape "
            f"{list(input._a.shape)}"
        )
    if input._a.dtype.kind == "c":
        raise NotImplementedError(f'"aminmax" not implemented for {input.dtype.name}: complex numbers have no order')
    return named("aminmax", ("min", "max"))(
        *call(ROWS["aminmax"], (input,), dim=dims, keepdim=kept("aminmax", keepdim))
    )


def count_nonzero(input: Tensor, dim: Any = None) -> Tensor:
    """How many elements are not 0: of all, or along ``dim`` (one or several)."""
    return call(ROWS["count_nonzero"], (input,), dim=some_dims("count_nonzero", input, dim))


def nansum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Sum with NaN left out, of all elements or over ``dim``."""
    if input._a.dtype.kind == "c":
        raise RuntimeError("nansum(): nansum does not support complex inputs; take .real and .imag")
    return call(
        ROWS["nansum"],
        (input,),
        dim=some_dims("nansum", input, dim),
        keepdim=kept("nansum", keepdim),
        dtype=np_dtype(dtype),
    )


def nanmean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Mean of the elements that are no NaN, of all or over ``dim``; NaN where there are none."""
    if input._a.dtype.kind in "biu":
        raise RuntimeError(
            f"nanmean(): expected input to have floating point or complex dtype but got {input.dtype.name}; convert it with .float()"
        )
    return nansum(input, dim, keepdim, dtype=dtype) / sum(~isnan(input), dim, keepdim)


def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The element in the middle of those that are no NaN, the lower of two; with ``dim``, the pair ``(values, indices)``."""
    if dim is None:
        if input._a.size == 0:
            return input.new_full((), float("nan")) if input._a.dtype.kind in "fV" else input.new_zeros(())
        return call(ROWS["nanmedian"], (input,))
    d = one_dim("nanmedian", input, dim)
    if input._a.ndim and input._a.shape[d] == 0:
        raise IndexError(
            f"nanmedian(): Expected reduction dim {d} to have non-zero size, but the shape is {list(input._a.shape)}"
        )
    return named("nanmedian")(*call(ROWS["nanmedian_dim"], (input,), dim=d, keepdim=kept("nanmedian", keepdim)))


def std_mean(
    input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None, axis: Any = None,
    keepdims: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The pair ``(std, mean)`` of all elements, or over ``dim``; see ``std``."""
    return spread_over(
        "std_mean", input, axis if dim is None else dim, unbiased, correction, kept("std_mean", keepdim, keepdims)
    )


def var_mean(
    input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None, axis: Any = None,
    keepdims: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The pair ``(var, mean)`` of all elements, or over ``dim``; see ``var``."""
    return spread_over(
        "var_mean", input, axis if dim is None else dim, unbiased, correction, kept("var_mean", keepdim, keepdims)
    )


def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The ``p``-norm of ``input - other``, which broadcast. Its gradient where they are equal is 0."""
    need_tensor("dist", "other", 2, other)
    return vector_norm(input - other, p)


def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """``input`` with every slice along ``dim`` whose ``p``-norm exceeds ``maxnorm`` scaled down to it."""
    n = input._a.ndim
    p, maxnorm = a_number("renorm", "p", p), a_number("renorm", "maxnorm", maxnorm)
    for name, value in (("p", p), ("maxnorm", maxnorm)):
        if isinstance(value, complex):
            raise RuntimeError(f"renorm(): {name} must be real-valued, got {value}")
    if p <= 0:
        raise RuntimeError(f"renorm(): non-positive-norm not supported, p is {p}")
    if input._a.dtype.kind in "biu":
        raise RuntimeError(f"renorm(): expected a floating point or complex input, got {input.dtype.name}")
    if n < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {n} dimensions")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    d = wrap_dim(dim, n, "renorm")
    size = vector_norm(input, p, [e for e in range(n) if e != d], True)
    return input * where(size > maxnorm, maxnorm / (size + 1e-7), 1).to(input.dtype)


# ------------------------------------------------------------------------------------------------------------ quantiles

INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def quantile(
    input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """The values below which the fractions ``q`` of the elements lie, of all or along ``dim``; NaN where there is one.

    A vector ``q`` gives a new first dimension. Raises ``RuntimeError`` for other types than float32 and float64.

    >>> import tensorlab as tl
    >>> tl.quantile(tl.tensor([0., 1., 2., 3.]), 0.5)
    tensor(1.5000)
    """
    return _quantile("quantile", input, q, dim, keepdim, interpolation)


def nanquantile(
    input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """``quantile`` of the elements that are no NaN."""
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation)


def _fractions(op: str, input: Tensor, q: Any) -> Tensor:
    """``q`` as a tensor beside ``input``, checked."""
    if isinstance(q, dispatch.Tensor):
        if q._a.ndim > 1:
            raise RuntimeError(f"{op}() q must be a scalar or 1D tensor, got {q._a.ndim} dimensions")
        if q._a.dtype != input._a.dtype:
            raise RuntimeError(
                f"{op}() q tensor must be same dtype as the input tensor: {q.dtype.name} and {input.dtype.name}"
            )
        inside = bool(((q >= 0) & (q <= 1)).all())
    elif isinstance(q, (int, float)):
        inside = 0 <= q <= 1
    else:
        raise TypeError(f"{op}(): argument 'q' (position 2) must be float or Tensor, not {type(q).__name__}")
    if not inside:
        raise RuntimeError(f"{op}() q must be in the range [0, 1] but got {q}")
    return q if isinstance(q, dispatch.Tensor) else input.new_tensor(q)


def _quantile(op: str, input: Tensor, q: Any, dim: Any, keepdim: bool, interpolation: str) -> Tensor:
    if input._a.size == 0:
        raise RuntimeError(f"{op}() input tensor must be non-empty, its shape is {list(input._a.shape)}")
    if input.dtype not in (dtypes.float32, dtypes.float64):
        raise RuntimeError(f"{op}() input tensor must be either float or double dtype, got {input.dtype.name}")
    a_bool(op, "keepdim", keepdim)
    if interpolation not in INTERPOLATIONS:
        raise RuntimeError(
            f"{op}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}"
        )
    fractions = _fractions(op, input, q)
    n = input._a.ndim
    d = None if dim is None else wrap_dim(dim, n, op)
    lanes = reshape(input, (-1,)) if d is None or n == 0 else movedim(input, d, -1)
    found = _between(sort(lanes, -1).values, reshape(fractions, (-1,)), interpolation, op == "nanquantile")
    if keepdim and n:
        found = reshape(found, (1,) * n + (-1,)) if d is None else unsqueeze(found, d)
    return movedim(found, -1, 0) if fractions._a.ndim else squeeze(found, -1)


def _between(lanes: Tensor, q: Tensor, interpolation: str, leave_nan: bool) -> Tensor:
    """Values of sorted lanes at fractions of their length, one result for each fraction in the last dimension."""
    last = lanes._a.shape[-1] - 1
    missing = isnan(lanes)
    if leave_nan:
        ranks = clamp(q * (sum(~missing, -1, True) - 1), min=0)
    else:
        ranks = where(missing.any(-1, True), float(last), q * last)
    if interpolation in ("lower", "higher", "nearest"):
        ranks = {"lower": ranks.floor, "higher": ranks.ceil, "nearest": ranks.round}[interpolation]()
    below = ranks.detach().long()
    low = lanes.gather(-1, below)
    if interpolation not in ("linear", "midpoint"):
        return low
    high = lanes.gather(-1, ranks.detach().ceil().long())
    return lerp(low, high, ranks - below if interpolation == "linear" else 0.5)


# --------------------------------------------------------------------------------------------------------- covariances


def cov(
    input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None
) -> Tensor:
    """The covariance matrix of variables in rows and observations in columns.

    ``fweights`` are integers that say how often each observation is there, ``aweights`` how much it counts.
    """
    if input._a.ndim > 2:
        raise RuntimeError(f"cov(): expected input to have two or fewer dimensions but got {input._a.ndim} dimensions")
    if input._a.dtype.kind == "b":
        raise RuntimeError("cov(): bool dtype is not supported for input")
    x = input if input._a.ndim == 2 else reshape(input, (1, -1))
    count = x._a.shape[1]
    weights = _weights(input, count, fweights, aweights)
    total: Any = count if weights is None else sum(weights)
    if weights is not None and (count == 0 or float(total) == 0):
        raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    mean = sum(x if weights is None else x * weights, 1) / total
    if aweights is None:
        freedom = total - correction
    else:
        freedom = total - correction * sum(mul(weights, aweights)) / total
    if float(freedom) <= 0:
        warnings.warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations",
            stacklevel=2,
        )
        freedom = 0
    off = x - unsqueeze(mean, 1)
    product = matmul(off, conj(t(off if weights is None else off * weights)))
    return squeeze(product / freedom)


def _weights(input: Tensor, count: int, fweights: Any, aweights: Any) -> Any:
    """The weight of every observation, or ``None`` where all count once."""
    for name, given, kinds, what in (
        ("fweights", fweights, "iu", "integral"),
        ("aweights", aweights, "fV", "floating point"),
    ):
        if given is None:
            continue
        need_tensor("cov", name, 3, given)
        if given._a.ndim > 1:
            raise RuntimeError(f"cov(): expected {name} to have one or fewer dimensions but got {given._a.ndim}")
        if given._a.dtype.kind not in kinds:
            raise RuntimeError(f"cov(): expected {name} to have {what} dtype but got {name} with {given.dtype.name}")
        if given._a.size != count:
            raise RuntimeError(
                f"cov(): expected {name} to have the same numel as there are observations in the input but got "
                f"{given._a.size} != {count}"
            )
        if count and bool((given < 0).any()):
            raise RuntimeError(f"cov(): {name} cannot be negative")
    given = [w for w in (fweights, aweights) if w is not None]
    return None if not given else given[0] if len(given) == 1 else given[0] * given[1]


def corrcoef(input: Tensor) -> Tensor:
    """Pearson's correlation coefficients of variables in rows and observations in columns."""
    if input._a.ndim > 2:
        raise RuntimeError(
            f"corrcoef(): expected input to have two or fewer dimensions but got an input with {input._a.ndim} dimensions"
        )
    found = cov(input)
    if found._a.ndim == 0:
        return found / found
    scale = sqrt(abs(diagonal(found)))
    found = found / unsqueeze(scale, 1) / unsqueeze(scale, 0)
    return found if found.is_complex() else clamp(found, -1, 1)
