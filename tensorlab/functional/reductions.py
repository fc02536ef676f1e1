"""Functions that make dimensions disappear, and those that run along one."""

from __future__ import annotations

import builtins
import warnings
from typing import Any

from tensorlab import dispatch
from tensorlab.dispatch import call
from tensorlab.functional.arguments import kept, np_dtype, one_dim, some_dims
from tensorlab.functional.pointwise import abs, maximum, minimum
from tensorlab.ops import ROWS
from tensorlab.return_types import named

Tensor = Any

#: Functions that are methods under the same name, with the tensor as their first argument.
METHODS = """
    maximum minimum abs mean var std prod cumsum cumprod amax amin max min argmax argmin all any logsumexp
    softmax log_softmax
"""
#: Rows that have an in-place form, ``name_``.
IN_PLACE = """
    maximum minimum abs
"""
#: Functions that are not found at ``tensorlab.<name>``.
ELSEWHERE = """
    vector_norm spread_over
"""


def sum(
    input: Tensor,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    axis: Any = None,
    keepdims: bool = False,
) -> Tensor:
    """Sum of all elements, or over ``dim``; integers and booleans sum to int64.

    >>> import tensorlab as tl
    >>> tl.sum(tl.tensor([[1, 2], [3, 4]]), dim=0)
    tensor([4, 6])
    """
    return call(
        ROWS["sum"],
        (input,),
        dim=some_dims("sum", input, dim, axis),
        keepdim=kept("sum", keepdim, keepdims),
        dtype=np_dtype(dtype),
    )


def mean(
    input: Tensor,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    axis: Any = None,
    keepdims: bool = False,
) -> Tensor:
    """Arithmetic mean of all elements, or over ``dim``. Raises ``RuntimeError`` for integers unless ``dtype`` is given."""
    return call(
        ROWS["mean"],
        (input,),
        dim=some_dims("mean", input, dim, axis),
        keepdim=kept("mean", keepdim, keepdims),
        dtype=np_dtype(dtype),
    )


def prod(
    input: Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    axis: Any = None,
    keepdims: bool = False,
) -> Tensor:
    """Product of all elements, or over one ``dim``; integers multiply to int64. Its gradient is exact with zeros too."""
    dims = some_dims("prod", input, dim, axis) if dim is axis is None else _one_dims("prod", input, dim, axis)
    return call(ROWS["prod"], (input,), dim=dims, keepdim=kept("prod", keepdim, keepdims), dtype=np_dtype(dtype))


def _one_dims(op: str, input: Tensor, dim: Any, axis: Any) -> tuple[int, ...]:
    d = one_dim(op, input, dim, axis)
    return (d,) if input._a.ndim else ()


def spread_over(op: str, input: Tensor, dim: Any, unbiased: Any, correction: Any, keepdim: bool) -> Any:
    """The call of a measure of spread: ``var``, ``std``, or one of those with the mean."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if correction is None:
        correction = 0 if unbiased is False else 1
    dims = some_dims(op, input, dim)
    count = 1
    for d in dims:
        count *= input._a.shape[d]
    if count - correction <= 0 and input._a.dtype.kind in "fcV":
        warnings.warn(
            f"{op}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor (input numel divided by "
            f"output numel); here {count} - {correction}.",
            stacklevel=3,
        )
    return call(ROWS[op], (input,), dim=dims, keepdim=keepdim, correction=correction)


def var(
    input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None, axis: Any = None,
    keepdims: bool = False,
) -> Tensor:  # fmt: skip
    """Variance of all elements, or over ``dim``, divided by ``n - correction`` (1 unless said otherwise)."""
    return spread_over("var", input, axis if dim is None else dim, unbiased, correction, kept("var", keepdim, keepdims))


def std(
    input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None, axis: Any = None,
    keepdims: bool = False,
) -> Tensor:  # fmt: skip
    """Standard deviation of all elements, or over ``dim``, with ``n - correction`` (1 unless said otherwise)."""
    return spread_over("std", input, axis if dim is None else dim, unbiased, correction, kept("std", keepdim, keepdims))


def cumsum(input: Tensor, dim: int | None = None, *, dtype: Any = None, axis: int | None = None) -> Tensor:
    """Running sum along ``dim``."""
    return call(ROWS["cumsum"], (input,), dim=one_dim("cumsum", input, dim, axis), dtype=np_dtype(dtype))


def cumprod(input: Tensor, dim: int | None = None, *, dtype: Any = None, axis: int | None = None) -> Tensor:
    """Running product along ``dim``."""
    return call(ROWS["cumprod"], (input,), dim=one_dim("cumprod", input, dim, axis), dtype=np_dtype(dtype))


# ---------------------------------------------------------------------------------------------------------- extremes


def _filled(op: str, input: Tensor, dims: tuple[int, ...], *, all_of_them: bool) -> None:
    """Refuse to choose among no elements."""
    if input._a.size or (not all_of_them and not builtins.any(input._a.shape[d] == 0 for d in dims)):
        return
    if all_of_them:
        raise (IndexError if op.startswith("arg") else RuntimeError)(
            f"{op}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument; "
            f"shape {list(input._a.shape)} has no element to choose."
        )
    d = next(d for d in dims if input._a.shape[d] == 0)
    raise IndexError(
        f"{op}(): Expected reduction dim {d} to have non-zero size, but the shape is {list(input._a.shape)}"
    )


def amax(input: Tensor, dim: Any = None, keepdim: bool = False, *, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Largest value of all, or over ``dim``; ties share the gradient evenly."""
    return _extreme_values("amax", input, axis if dim is None else dim, kept("amax", keepdim, keepdims))


def amin(input: Tensor, dim: Any = None, keepdim: bool = False, *, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Smallest value of all, or over ``dim``; ties share the gradient evenly."""
    return _extreme_values("amin", input, axis if dim is None else dim, kept("amin", keepdim, keepdims))


def _extreme_values(op: str, input: Tensor, dim: Any, keepdim: bool) -> Tensor:
    dims = some_dims(op, input, dim)
    _filled(op, input, dims, all_of_them=dim in (None, (), []))
    return call(ROWS[op], (input,), dim=dims, keepdim=keepdim)


def _extreme(op: str, input: Tensor, dim: Any, keepdim: bool) -> Any:
    if isinstance(dim, dispatch.Tensor):
        return maximum(input, dim) if op == "max" else minimum(input, dim)
    if dim is None:
        _filled(op, input, (), all_of_them=True)
        return call(ROWS[op], (input,))
    d = one_dim(op, input, dim)
    if input._a.ndim:
        _filled(op, input, (d,), all_of_them=False)
    return named(op)(*call(ROWS[f"{op}_dim"], (input,), dim=d, keepdim=keepdim))


def max(
    input: Tensor,
    dim: Any = None,
    keepdim: bool = False,
    *,
    other: Any = None,
    axis: Any = None,
    keepdims: bool = False,
) -> Any:
    """Largest element of all; with ``dim``, the pair ``(values, indices)``; with a tensor, ``maximum``. NaN counts as largest.

    >>> import tensorlab as tl
    >>> tl.max(tl.tensor([[1, 5], [7, 2]]), dim=1).indices
    tensor([1, 0])
    """
    return _extreme("max", input, _first(dim, other, axis), kept("max", keepdim, keepdims))


def min(
    input: Tensor,
    dim: Any = None,
    keepdim: bool = False,
    *,
    other: Any = None,
    axis: Any = None,
    keepdims: bool = False,
) -> Any:
    """Smallest element of all; with ``dim``, the pair ``(values, indices)``; with a tensor, ``minimum``. NaN counts as smallest."""
    return _extreme("min", input, _first(dim, other, axis), kept("min", keepdim, keepdims))


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _arg(op: str, input: Tensor, dim: Any, keepdim: bool) -> Tensor:
    d = None if dim is None else one_dim(op, input, dim)
    if d is None or input._a.ndim:
        _filled(op, input, () if d is None else (d,), all_of_them=d is None)
    return call(ROWS[op], (input,), dim=d, keepdim=keepdim)


def argmax(
    input: Tensor, dim: int | None = None, keepdim: bool = False, *, axis: int | None = None, keepdims: bool = False
) -> Tensor:
    """Index of the largest element, the first if several; into the flattened tensor unless ``dim`` is given."""
    return _arg("argmax", input, axis if dim is None else dim, kept("argmax", keepdim, keepdims))


def argmin(
    input: Tensor, dim: int | None = None, keepdim: bool = False, *, axis: int | None = None, keepdims: bool = False
) -> Tensor:
    """Index of the smallest element, the first if several; into the flattened tensor unless ``dim`` is given."""
    return _arg("argmin", input, axis if dim is None else dim, kept("argmin", keepdim, keepdims))


def _truth_dims(op: str, input: Tensor, dim: Any, axis: Any) -> tuple[int, ...]:
    """The dimensions that ``all`` and ``any`` run over: of an empty list none."""
    given = axis if dim is None else dim
    return () if isinstance(given, (tuple, list)) and not given else some_dims(op, input, dim, axis)


def all(input: Tensor, dim: Any = None, keepdim: bool = False, *, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Whether all elements are true (not 0)."""
    return call(ROWS["all"], (input,), dim=_truth_dims("all", input, dim, axis), keepdim=kept("all", keepdim, keepdims))


def any(input: Tensor, dim: Any = None, keepdim: bool = False, *, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Whether any element is true (not 0)."""
    return call(ROWS["any"], (input,), dim=_truth_dims("any", input, dim, axis), keepdim=kept("any", keepdim, keepdims))


# ------------------------------------------------------------------------------------------------- norms and softmax


def vector_norm(x: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """``(sum(|x| ** ord)) ** (1 / ord)`` of all elements, or over ``dim``. Its gradient where the norm is 0 is 0."""
    if x._a.dtype.kind in "biu" and dtype is None:
        raise RuntimeError(
            f"norm(): Expected a floating point or complex tensor as input. Got {x.dtype.name}; convert it with .float()"
        )
    if dtype is not None:
        x = x.to(dtype)
    size = abs(x)
    if ord == float("inf"):
        return amax(size, dim, keepdim)
    if ord == float("-inf"):
        return amin(size, dim, keepdim)
    if ord == 1:
        return sum(size, dim, keepdim)
    return call(ROWS["vector_norm"], (x,), dim=some_dims("norm", x, dim), keepdim=keepdim, p=float(ord))


def logsumexp(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, axis: Any = None, keepdims: bool = False
) -> Tensor:
    """``log(sum(exp(input)))`` over ``dim``, without overflow."""
    if dim is None and axis is None:
        raise TypeError("logsumexp() missing 1 required argument: 'dim'")
    return call(
        ROWS["logsumexp"],
        (input,),
        dim=some_dims("logsumexp", input, dim, axis),
        keepdim=kept("logsumexp", keepdim, keepdims),
    )


def softmax(input: Tensor, dim: int | None = None, dtype: Any = None, *, axis: int | None = None) -> Tensor:
    """``exp(input) / sum(exp(input))`` along ``dim``.

    >>> import tensorlab as tl
    >>> tl.softmax(tl.tensor([0., 0.]), dim=0)
    tensor([0.5000, 0.5000])
    """
    input = input if dtype is None else input.to(dtype)
    return call(ROWS["softmax"], (input,), dim=one_dim("softmax", input, dim, axis))


def log_softmax(input: Tensor, dim: int | None = None, dtype: Any = None, *, axis: int | None = None) -> Tensor:
    """``log(softmax(input))`` along ``dim``, computed without overflow."""
    input = input if dtype is None else input.to(dtype)
    return call(ROWS["log_softmax"], (input,), dim=one_dim("log_softmax", input, dim, axis))
