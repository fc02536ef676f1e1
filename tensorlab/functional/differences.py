"""Differences between neighbours, slopes, and areas under curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorlab import dispatch
from tensorlab.functional.arguments import an_int, need_tensor
from tensorlab.functional.joining import cat
from tensorlab.functional.pointwise import logical_xor
from tensorlab.functional.reductions import cumsum, sum
from tensorlab.functional.shapes import narrow, reshape
from tensorlab.layout import wrap_dim

Tensor = Any

#: Functions that are methods under the same name, with the tensor as their first argument.
METHODS = """
    diff
"""


def diff(
    input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """Each element minus the one before along ``dim``, ``n`` times over; of booleans, whether they differ.

    >>> import tensorlab as tl
    >>> tl.diff(tl.tensor([1, 4, 9]))
    tensor([3, 5])
    """
    if input._a.ndim == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    n = an_int("diff", "n", n)
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    d = wrap_dim(dim, input._a.ndim, "diff")
    beside = [("prepend", prepend, 4), ("append", append, 5)]
    for name, x, position in beside:
        if x is not None:
            need_tensor("diff", name, position, x)
            if x._a.ndim != input._a.ndim:
                raise RuntimeError(
                    f"diff expects {name} or append to be the same dimension as input: {x._a.ndim} and {input._a.ndim}"
                )
    if n == 0:
        return input.clone()
    if prepend is not None or append is not None:
        input = cat([x for x in (prepend, input, append) if x is not None], d)
    for _ in range(min(n, input._a.shape[d])):
        size = input._a.shape[d]
        later, earlier = narrow(input, d, min(1, size), max(0, size - 1)), narrow(input, d, 0, max(0, size - 1))
        input = logical_xor(later, earlier) if input._a.dtype.kind == "b" else later - earlier
    return input


# -------------------------------------------------------------------------------------------------------------- areas


def _steps(op: str, y: Tensor, x: Any, dx: Any, dim: int) -> tuple[Any, int]:
    """The distances between samples along a dimension, fit to be multiplied with means of neighbours."""
    d = wrap_dim(dim, y._a.ndim, op)
    if x is None:
        if not isinstance(dx, (int, float, complex)):
            raise TypeError(f"{op}(): argument 'dx' must be Number, not {type(dx).__name__}")
        return dx, d
    need_tensor(op, "x", 2, x)
    if x._a.ndim == 1:
        if x._a.shape[0] != y._a.shape[d]:
            raise RuntimeError(
                f"{op}: There must be one `x` value for each sample point: {x._a.shape[0]} for {y._a.shape[d]}"
            )
        x = reshape(x, (-1,) + (1,) * (y._a.ndim - d - 1))
        return diff(x, dim=0), d
    at = d - y._a.ndim
    if at < -x._a.ndim:
        raise IndexError(f"{op}: Dimension out of range: x has shape {list(x._a.shape)}, y {list(y._a.shape)}")
    return diff(x, dim=at), d


def _means(y: Tensor, d: int, step: Any) -> Tensor:
    """The area between every two neighbours, twice."""
    size = y._a.shape[d]
    pairs = narrow(y, d, min(1, size), max(0, size - 1)) + narrow(y, d, 0, max(0, size - 1))
    return pairs * step


def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = 1, dim: int = -1) -> Tensor:
    """The area under samples ``y`` along ``dim`` by the trapezoidal rule; they stand at ``x``, or ``dx`` apart."""
    if y._a.ndim and y._a.shape[wrap_dim(dim, y._a.ndim, "trapezoid")] == 0:
        return sum(y, dim).to(y.dtype if y._a.dtype.kind in "fcV" else (y.new_zeros(()) / 2).dtype)
    step, d = _steps("trapezoid", y, x, dx, dim)
    return sum(_means(y, d, step), d) / 2


trapz = trapezoid


def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = 1, dim: int = -1) -> Tensor:
    """The area under samples ``y`` up to each one behind the first; see ``trapezoid``."""
    step, d = _steps("cumulative_trapezoid", y, x, dx, dim)
    return cumsum(_means(y, d, step), d) / 2


# ------------------------------------------------------------------------------------------------------------- slopes


def gradient(input: Tensor, *, spacing: Any = None, dim: Any = None, edge_order: int = 1) -> tuple[Tensor, ...]:
    """The slopes of sampled values along each of ``dim``: central differences inside, one-sided ones of ``edge_order`` at the ends.

    ``spacing`` is the distance between samples, a list of one for each dimension, or a list of vectors of coordinates.

    >>> import tensorlab as tl
    >>> tl.gradient(tl.tensor([1., 4., 9.]))
    (tensor([3., 4., 5.]),)
    """
    n = input._a.ndim
    if n == 0:
        raise RuntimeError("gradient expects input to be at least one-dimensional")
    if edge_order not in (1, 2):
        raise RuntimeError(f"gradient only supports edge_order=1 and edge_order=2, got {edge_order}")
    if input._a.dtype.kind in "bu":
        raise RuntimeError(f"gradient does not support {input.dtype.name} tensors; convert with .float()")
    given = range(n) if dim is None else dim if isinstance(dim, (tuple, list)) else (dim,)
    dims = [wrap_dim(d, n, "gradient") for d in given]
    if len(set(dims)) < len(dims):
        raise RuntimeError(f"gradient(): dim appears multiple times in the list of dims {list(dims)}")
    return tuple(
        [_slope(input, d, step, edge_order) for d, step in zip(dims, _spacings(input, spacing, dims), strict=True)]
    )


def _spacings(input: Tensor, spacing: Any, dims: Sequence[int]) -> list[Any]:
    """The distance of samples, or their coordinates, for each dimension."""
    spacing = 1 if spacing is None else spacing
    if not isinstance(spacing, (tuple, list)):
        if not isinstance(spacing, (int, float, complex)):
            raise TypeError(f"gradient(): argument 'spacing' must be a number or a list, not {type(spacing).__name__}")
        return [spacing] * len(dims)
    if len(spacing) != len(dims):
        raise RuntimeError(
            f"gradient expected spacing to be unspecified, a scalar or a list of length equal to 'dim', {len(dims)}, but got {len(spacing)}"
        )
    for d, step in zip(dims, spacing, strict=True):
        if isinstance(step, dispatch.Tensor) and step._a.shape != (input._a.shape[d],):
            raise RuntimeError(
                f"gradient expected each element of spacing to have one dimension, of {input._a.shape[d]} elements, but got "
                f"{list(step._a.shape)}"
            )
    return list(spacing)


def _slope(x: Tensor, d: int, spacing: Any, edge_order: int) -> Tensor:
    size = x._a.shape[d]
    if size <= edge_order:
        raise RuntimeError(
            f"gradient expected each dimension size to be at least edge_order+1, which is {edge_order + 1}, got {size}"
        )

    def part(start: int, length: int) -> Tensor:
        return narrow(x, d, start, length)

    if isinstance(spacing, dispatch.Tensor):
        steps = reshape(diff(spacing), (-1,) + (1,) * (x._a.ndim - d - 1))
        return _uneven(part, steps, size, d, edge_order)
    inner = (part(2, size - 2) - part(0, size - 2)) / (2 * spacing) if size > 2 else part(0, 0) / spacing
    if edge_order == 1:
        ends = [(part(at + 1, 1) - part(at, 1)) / spacing for at in (0, size - 2)]
    else:
        start = part(0, 1) * -3 + part(1, 1) * 4 - part(2, 1)
        stop = part(size - 1, 1) * 3 - part(size - 2, 1) * 4 + part(size - 3, 1)
        ends = [start / (2 * spacing), stop / (2 * spacing)]
    return cat([ends[0], inner, ends[1]], d)


def _uneven(part: Any, steps: Tensor, size: int, d: int, edge_order: int) -> Tensor:
    """Slopes from samples at uneven distances: that of the parabola through three of them."""

    def weighed(at: int, count: int, weights: Any) -> Tensor:
        return part(at, count) * weights[0] + part(at + 1, count) * weights[1] + part(at + 2, count) * weights[2]

    def neighbours(at: int, count: int) -> tuple[Tensor, Tensor]:
        return narrow(steps, 0, at, count), narrow(steps, 0, at + 1, count)

    a, b = neighbours(0, size - 2)
    inner = weighed(0, size - 2, (-b / (a * (a + b)), (b - a) / (a * b), a / (b * (a + b))))
    if edge_order == 1:
        first, last = narrow(steps, 0, 0, 1), narrow(steps, 0, size - 2, 1)
        return cat([(part(1, 1) - part(0, 1)) / first, inner, (part(size - 1, 1) - part(size - 2, 1)) / last], d)
    a, b = neighbours(0, 1)
    start = weighed(0, 1, (-(a * 2 + b) / (a * (a + b)), (a + b) / (a * b), -a / (b * (a + b))))
    a, b = neighbours(size - 3, 1)
    stop = weighed(size - 3, 1, (b / (a * (a + b)), -(a + b) / (a * b), (a + b * 2) / (b * (a + b))))
    return cat([start, inner, stop], d)
