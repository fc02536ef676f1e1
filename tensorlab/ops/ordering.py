"""Running extremes, the k-th smallest, the most frequent: rows that pick elements by their order. NaN counts as the largest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorlab.ops.reduce import cost, evenly, reduced, wide
from tensorlab.ops.sorting import in_order, smallest
from tensorlab.ops.table import AS_IS, NO_ONNX, elements, row

Shape = tuple[int, ...]


def needs_floats(op: str, a: Any) -> None:
    """Refuse integers and booleans."""
    if a.dtype.kind in "biu":
        raise NotImplementedError(f'"{op}" not implemented for {a.dtype.name}; convert it with .float()')


def running(xp: Any, combine: Callable[[Any, Any], Any], a: Any, dim: int) -> Any:
    """Every element combined with all before it along ``dim``, in about log2(n) steps; ``combine`` must be associative."""
    out, step, before = a.copy(), 1, (slice(None),) * dim
    while step < a.shape[dim]:
        left, right = out[(*before, slice(None, -step))], out[(*before, slice(step, None))]
        out[(*before, slice(step, None))] = combine(left, right)
        step *= 2
    return out


def running_ufunc(xp: Any, name: str, a: Any, dim: int) -> Any:
    """``running`` for an elementwise function of the array namespace; NumPy does it in one pass."""
    ufunc = getattr(xp, name)
    return ufunc.accumulate(a, axis=dim) if xp is np else running(xp, ufunc, a, dim)


# ---------------------------------------------------------------------------------------------------- running extremes


def _along(xp: Any, a: Any, dim: int) -> Any:
    """Positions along ``dim``, shaped to stand beside ``a``."""
    return xp.arange(a.shape[dim]).reshape((1,) * dim + (-1,) + (1,) * (a.ndim - dim - 1))


def _running_extreme(name: str, ufunc: str) -> Any:
    def forward(xp: Any, a: Any, dim: int) -> Any:
        if a.dtype.kind == "c":
            raise NotImplementedError(f'"{name}_cpu" not implemented for {a.dtype.name}: complex numbers have no order')
        if a.ndim == 0 or a.size == 0:
            return a.copy(), xp.zeros(a.shape, np.int64)
        values = running_ufunc(xp, ufunc, a, dim)
        hits = xp.where((a == values) | (a != a), _along(xp, a, dim), 0)
        return values, running_ufunc(xp, "maximum", hits, dim)

    return row(
        name,
        "self",
        forward=forward,
        infer=lambda shapes, dim: [tuple(shapes[0])] * 2,
        grad=lambda grads, needs, indices, self_shape, dim: [
            grads[0]._zeros(tuple(self_shape)).scatter_add(dim, indices, grads[0])
        ],
        formula=f"values[i] = {name[3:]} of self[0..i], indices[i] = where it last stood",
        derivatives={"self": "zeros with grad added at the indices"},
        onnx=NO_ONNX("no running extreme"),
        cost=cost,
        samples=lambda t: [((t(2, 5), 1), {}), ((t(4, 2), 0), {}), ((t(), 0), {}), ((t(0, 3), 0), {})],
        results="values indices",
        holomorphic=False,
    )


cummax = _running_extreme("cummax", "maximum")
cummin = _running_extreme("cummin", "minimum")


def _log_add(xp: Any, x: Any, y: Any) -> Any:
    """``log(exp(x) + exp(y))`` of complex numbers, from the larger one on."""
    larger, smaller = xp.where(x.real >= y.real, x, y), xp.where(x.real >= y.real, y, x)
    return larger + xp.log(1 + xp.exp(smaller - larger))


def _logcumsumexp(xp: Any, a: Any, dim: int) -> Any:
    needs_floats("logcumsumexp_out_cpu", a)
    if a.ndim == 0 or a.size == 0:
        return a.copy()
    if a.dtype.kind != "c":
        carried = np.float64 if a.dtype.itemsize == 4 else wide(a)
        return running_ufunc(xp, "logaddexp", a.astype(carried), dim).astype(a.dtype)
    out = a.astype(np.complex128)
    for i in range(1, a.shape[dim]):  # one after another: from the order follows which of the logarithms it is
        before, here = ((slice(None),) * dim + (at,) for at in (i - 1, i))
        out[here] = _log_add(xp, out[before], out[here])
    return out.astype(a.dtype)


def _logcumsumexp_grad(g: Any, self: Any, result: Any, dim: int) -> Any:
    """``Σ grad[k] · exp(self[i] - result[k])`` over k >= i.

    With ``w[i] = exp(result[i] - result[i + 1])``, which is at most 1, the sums without their first factor obey
    ``sums[i] = grad[i] + w[i] · sums[i + 1]``; here in about log2(n) steps, and linear in the gradient.
    """
    if len(self.shape) == 0 or 0 in self.shape:
        return g
    n, step = self.shape[dim], 1
    empty = result == float("-inf")
    weight = (result.narrow(dim, 0, n - 1) - result.narrow(dim, 1, n - 1)).exp()
    weight = weight.masked_fill(empty.narrow(dim, 0, n - 1), 0)
    while step < n:
        head, tail = g.narrow(dim, 0, n - step), g.narrow(dim, n - step, step)
        head = head + weight * g.narrow(dim, step, n - step)
        g = head._op("cat", tail, dim=dim, sizes=(n - step, step))
        rest = max(0, n - 2 * step)
        weight = weight.narrow(dim, 0, rest) * weight.narrow(dim, min(step, n - step), rest)
        step *= 2
    return g * (self - result).exp().masked_fill(empty, 0)


logcumsumexp = row(
    "logcumsumexp",
    "self",
    forward=_logcumsumexp,
    infer=lambda shapes, dim: tuple(shapes[0]),
    grad={"self": _logcumsumexp_grad},
    formula="result[i] = log Σ exp(self[0..i])",
    derivatives={"self": "Σ grad[k] · exp(self[i] − result[k]) over k ≥ i"},
    autocast=AS_IS,
    onnx=NO_ONNX("Exp, CumSum, Log"),
    cost=lambda shapes, result, **attrs: 4 * elements(shapes[0]),
    samples=lambda t: [
        ((t(2, 4), 1), {}),
        ((t(3, 2), 0), {}),
        ((t(), 0), {}),
        ((t(0, 3), 0), {}),
        ((t.complex(3), 0), {}),
    ],
)

# ------------------------------------------------------------------------------------- picked along one dimension


def picked_grad(grads: Any, needs: Any, indices: Any, self_shape: Shape, dim: int, keepdim: bool) -> Any:
    """Gradients of values that were picked along ``dim``: back to where they came from."""
    return [grads[0]._op("value_selecting_backward", indices, shape=self_shape, dim=dim, keepdim=keepdim)]


def picked(xp: Any, a: Any, at: Any, dim: int, keepdim: bool) -> Any:
    """The values at one index a lane, and those indices."""
    values = xp.take_along_axis(a, at, axis=dim)
    if not keepdim:
        values, at = values.squeeze(dim), at.squeeze(dim)
    return values, at.astype(np.int64)


def _picking(name: str, at: Callable[..., Any], formula: str, samples: Any, node: str | None = None) -> Any:
    """A row that picks one element of every lane along ``dim``: ``at(xp, a, dim, **attrs)`` says which."""

    def forward(xp: Any, a: Any, dim: int, keepdim: bool, **attrs: Any) -> Any:
        if a.ndim == 0:
            return a.copy(), xp.zeros((), np.int64)
        return picked(xp, a, at(xp, a, dim, **attrs), dim, keepdim)

    return row(
        name,
        "self",
        forward=forward,
        infer=lambda shapes, dim, keepdim, **attrs: [reduced(shapes[0], (dim,), keepdim)] * 2,
        grad=picked_grad,
        formula=formula,
        derivatives={"self": "zeros with grad at the indices"},
        onnx=NO_ONNX("TopK, Gather"),
        cost=lambda shapes, result, **attrs: elements(shapes[0]) * max(1, elements(shapes[0])).bit_length(),
        samples=samples,
        results="values indices",
        node=node,
        holomorphic=False,
    )


def _mode_at(xp: Any, a: Any, dim: int) -> Any:
    """Where the most frequent value of each lane stands last; of several, the smallest value."""
    order = in_order(xp, a, dim, False)
    lane = xp.take_along_axis(a, order, axis=dim)
    before = (slice(None),) * dim
    place = _along(xp, a, dim) + xp.zeros(a.shape, np.int64)
    same = lane[(*before, slice(1, None))] == lane[(*before, slice(None, -1))]
    starts = place.copy()
    starts[(*before, slice(1, None))] = xp.where(same, 0, starts[(*before, slice(1, None))])
    length = place - running_ufunc(xp, "maximum", starts, dim)
    longest = xp.expand_dims(xp.argmax(length, axis=dim), dim)
    return xp.take_along_axis(order, longest, axis=dim)


def _nanmedian_at(xp: Any, a: Any, dim: int) -> Any:
    """The index of the lower of the two elements in the middle of those that are no NaN."""
    order = in_order(xp, a, dim, False)
    numbers = xp.add.reduce(a == a, axis=dim, keepdims=True, dtype=np.int64)
    return xp.take_along_axis(order, xp.maximum(numbers - 1, 0) // 2, axis=dim)


kthvalue = _picking(
    "kthvalue",
    lambda xp, a, dim, k: smallest(xp, a, dim, k - 1),
    "values, indices = the k-th smallest along dim",
    lambda t: [((t(2, 4), 2), {}), ((t(4, 3), 3, 0, True), {}), ((t(), 1), {})],
)
mode = _picking(
    "mode",
    _mode_at,
    "values, indices = the most frequent value along dim",
    lambda t: [((t(2, 4),), {}), ((t(4, 3), 0, True), {}), ((t(),), {})],
)
nanmedian_dim = _picking(
    "nanmedian_dim",
    _nanmedian_at,
    "values, indices = the element in the middle along dim, NaN left out",
    lambda t: [((t(2, 4), 1), {}), ((t(3, 2), 0, True), {})],
    node="NanmedianBackward1",
)
nanmedian = row(
    "nanmedian",
    "self",
    forward=lambda xp, a: xp.take_along_axis(a.reshape(-1), _nanmedian_at(xp, a.reshape(-1), 0), axis=0).reshape(()),
    infer=lambda shapes: (),
    grad={"self": lambda g, self, result: evenly(g, self, result, tuple(range(len(self.shape))), False)},
    formula="result = the element in the middle (the lower of two), NaN left out",
    derivatives={"self": "grad, shared evenly among the elements that equal the result"},
    onnx=NO_ONNX("TopK, Gather"),
    cost=lambda shapes, result, **attrs: elements(shapes[0]) * max(1, elements(shapes[0])).bit_length(),
    samples=lambda t: [((t(2, 3),), {}), ((t(4),), {}), ((t(),), {})],
    holomorphic=False,
)
