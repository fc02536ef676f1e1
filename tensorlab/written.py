"""In-place forms of indexing, of views, and of functions that take arguments of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorlab import dtypes
from tensorlab.functional import placing, plain
from tensorlab.functional.arguments import an_int, np_dtype
from tensorlab.functional.elementary import widest
from tensorlab.functional.indexing import combining, scattered
from tensorlab.inplace import write
from tensorlab.layout import wrap_dim
from tensorlab.ops import ROWS


def index_fill_(self: Any, dim: int, index: Any, value: Any) -> Any:
    """Write ``value`` at the indices of one dimension. Returns the tensor."""
    inputs, attrs = placing.filled_at("index_fill_", self, dim, index, value)
    return write(ROWS["index_fill"], *inputs, **attrs)


def index_copy_(self: Any, dim: int, index: Any, source: Any) -> Any:
    """Write ``source`` at the indices of one dimension. Returns the tensor."""
    inputs, attrs = placing.copied_at("index_copy_", self, dim, index, source)
    return write(ROWS["index_copy"], *inputs, **attrs)


def index_put_(self: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """Write ``values``, broadcast, at the places that index tensors name together, or add them. Returns the tensor."""
    inputs, attrs = placing.put_at("index_put_", self, indices, values, accumulate)
    return write(ROWS["index_put"], *inputs, **attrs)


def put_(self: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    """Write the elements of ``source`` at ``index`` of the flattened tensor, or add them. Returns the tensor."""
    inputs, attrs = placing.put_where("put_", self, index, source, accumulate)
    return write(ROWS["put"], *inputs, **attrs)


def masked_scatter_(self: Any, mask: Any, source: Any) -> Any:
    """Write the elements of ``source``, one after another, where ``mask`` holds. Returns the tensor."""
    placing.masked_by("masked_scatter_", self, mask, source)
    return write(ROWS["masked_scatter"], self, mask.expand(self._a.shape), source)


def scatter_reduce_(self: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True) -> Any:
    """Combine with ``src`` at ``index`` along ``dim``; see ``scatter_reduce``. Returns the tensor."""
    inputs, attrs = placing.reduced_at("scatter_reduce_", self, dim, index, src, reduce, include_self)
    return write(ROWS["scatter_reduce"], *inputs, **attrs)


def index_reduce_(self: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True) -> Any:
    """Combine with ``source`` at the indices of one dimension; see ``index_reduce``. Returns the tensor."""
    inputs, attrs = placing.combined_along("index_reduce_", self, dim, index, source, reduce, include_self)
    return write(ROWS["scatter_reduce"], *inputs, op="index_reduce_", **attrs)


def scatter_(self: Any, dim: int, index: Any, src: Any = None, *, value: Any = None, reduce: str | None = None) -> Any:
    """Write ``src``, a tensor or a number, at ``index`` along ``dim``; ``reduce`` is ``add`` or ``multiply``. Returns the tensor."""
    written = scattered("scatter_", self, index, src, value)
    d = wrap_dim(dim, self._a.ndim, "scatter_")
    if reduce is None:
        return write(ROWS["scatter"], self, index, written, dim=d)
    how = combining("scatter_", reduce)
    return write(ROWS["scatter_reduce"], self, index, written, op="scatter_", dim=d, reduce=how, include_self=True)


def abs_(self: Any) -> Any:
    """Absolute value, in place. Raises ``RuntimeError`` for complex numbers, whose size is real. Returns the tensor."""
    if self.is_complex():
        raise RuntimeError("In-place abs is not supported for complex tensors: the result is real; use abs()")
    return write(ROWS["abs"], self)


def clamp_min_(self: Any, min: Any) -> Any:
    """Raise the values to at least ``min``, in place. Returns the tensor."""
    return write(ROWS["clamp"], self, min, None, op="clamp_min_")


def clamp_max_(self: Any, max: Any) -> Any:
    """Lower the values to at most ``max``, in place. Returns the tensor."""
    return write(ROWS["clamp"], self, None, max, op="clamp_max_")


def round_(self: Any, *, decimals: int = 0) -> Any:
    """Round to ``decimals`` digits after the point, halves to even, in place. Returns the tensor."""
    if decimals == 0:
        return write(ROWS["round"], self)
    return write(ROWS["round_decimals"], self, op="round_", decimals=int(decimals))


def logit_(self: Any, eps: float | None = None) -> Any:
    """``log(x / (1 - x))``, in place. Returns the tensor."""
    return write(ROWS["logit"], self, eps=eps)


def nan_to_num_(self: Any, nan: float | None = None, posinf: float | None = None, neginf: float | None = None) -> Any:
    """Replace NaN and infinities, in place. Returns the tensor."""
    return write(ROWS["nan_to_num"], self, nan=nan, posinf=posinf, neginf=neginf)


def polygamma_(self: Any, n: int) -> Any:
    """The derivative number ``n`` of the digamma function, in place. Returns the tensor."""
    if n < 0:
        raise RuntimeError(f"polygamma(n, x) does not support negative n, got {n}.")
    return write(ROWS["polygamma"], self, n=n)


def float_power_(self: Any, exponent: Any) -> Any:
    """Power in float64 or complex128, in place. Raises ``RuntimeError`` for a tensor of another type. Returns the tensor."""
    base, power = widest(self, exponent)
    if base.dtype is not self.dtype:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {self.dtype.name} but the operation's result requires dtype {base.dtype.name}"
        )
    return write(ROWS["pow"], self, power, op="float_power_")


def _through_copy(name: str) -> Callable[..., Any]:
    """The in-place form of a function that is made of several: its result is copied in."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        found = plain[name](self.clone() if self.requires_grad else self, *args, **kwargs)
        if not dtypes.can_cast(found.dtype, self.dtype):
            raise RuntimeError(
                f"{name}_(): result type {found.dtype.name} can't be cast to the desired output type {self.dtype.name}"
            )
        return write(ROWS["copy"], self, found, op=f"{name}_")

    method.__name__ = method.__qualname__ = f"{name}_"
    method.__doc__ = f"``{name}``, written into the tensor. Returns the tensor."
    return method


def _triangle(name: str) -> Callable[..., Any]:
    def method(self: Any, diagonal: int = 0) -> Any:
        if self._a.ndim < 2:
            raise RuntimeError(f"{name}_: input tensor must have at least 2 dimensions")
        return write(ROWS[name], self, diagonal=an_int(f"{name}_", "diagonal", diagonal))

    method.__name__ = method.__qualname__ = f"{name}_"
    method.__doc__ = (
        f"Keep the {'lower' if name == 'tril' else 'upper'} triangle of matrices, in place. Returns the tensor."
    )
    return method


def _running(name: str) -> Callable[..., Any]:
    def method(self: Any, dim: int, *, dtype: Any = None) -> Any:
        return write(
            ROWS[name], self, dim=wrap_dim(dim, self._a.ndim, f"{name}_"), dtype=np_dtype(dtype) or self._a.dtype
        )

    method.__name__ = method.__qualname__ = f"{name}_"
    method.__doc__ = f"``{name}``, written into the tensor. Returns the tensor."
    return method


tril_, triu_ = _triangle("tril"), _triangle("triu")
cumsum_, cumprod_ = _running("cumsum"), _running("cumprod")
renorm_, mvlgamma_ = _through_copy("renorm"), _through_copy("mvlgamma")

FORMS: dict[str, Any] = {
    form.__name__: form
    for form in (
        index_fill_, index_copy_, index_put_, put_, masked_scatter_, scatter_reduce_, index_reduce_, scatter_, renorm_, abs_,
        clamp_min_, clamp_max_, round_, logit_, nan_to_num_, polygamma_, float_power_, mvlgamma_,
        tril_, triu_, cumsum_, cumprod_,
    )
}  # fmt: skip
FORMS["absolute_"] = abs_
