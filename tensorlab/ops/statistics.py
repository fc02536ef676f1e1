"""Reductions beyond sum and mean: without NaN, two results at once, counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorlab.ops.reduce import cost, evenly, infer, reduced, spread, std, var, wide
from tensorlab.ops.table import AS_IS, NO_GRAD, NO_ONNX, elements, row

Shape = tuple[int, ...]
Dims = tuple[int, ...]


def _nansum(xp: Any, a: Any, dim: Dims, keepdim: bool, dtype: Any) -> Any:
    if dtype is None:
        dtype = np.dtype(np.int64) if a.dtype.kind in "biu" else a.dtype
    carried = np.dtype(np.float32) if dtype.itemsize == 2 and dtype.kind in "fV" else dtype
    kept = xp.where(a == a, a, xp.zeros((), a.dtype)) if a.dtype.kind in "fV" else a
    return xp.add.reduce(kept, axis=dim, dtype=carried, keepdims=keepdim).astype(dtype)


nansum = row(
    "nansum",
    "self",
    forward=_nansum,
    infer=infer,
    grad={
        "self": lambda g, self, dim, keepdim: spread(g, dim, keepdim, tuple(self.shape)).masked_fill(self.isnan(), 0)
    },
    formula="result = Σ self, NaN left out",
    derivatives={"self": "grad, repeated over the summed dimensions, 0 where self is NaN"},
    autocast=AS_IS,
    onnx=NO_ONNX("IsNaN, Where, ReduceSum"),
    cost=cost,
    samples=lambda t: [((t(2, 3),), {}), ((t(2, 3), 1), {}), ((t(2, 3, 4), (0, 2), True), {}), ((t(0, 3), 0), {})],
)


def _count_nonzero(xp: Any, a: Any, dim: Dims) -> Any:
    return xp.add.reduce(a != 0, axis=dim, dtype=np.int64)


count_nonzero = row(
    "count_nonzero",
    "self",
    forward=_count_nonzero,
    infer=lambda shapes, dim: reduced(shapes[0], dim, False),
    grad=NO_GRAD("integer output"),
    formula="result = how many elements are not 0",
    onnx=NO_ONNX("Equal, Not, Cast, ReduceSum"),
    cost=cost,
    samples=lambda t: [((t(2, 3),), {}), ((t(2, 3), 1), {}), ((t(2, 3, 4), (0, 2)), {}), ((t(),), {})],
)


def _aminmax(xp: Any, a: Any, dim: Dims, keepdim: bool) -> Any:
    return xp.min(a, axis=dim, keepdims=keepdim), xp.max(a, axis=dim, keepdims=keepdim)


def _aminmax_grad(grads: Any, needs: Any, self: Any, min: Any, max: Any, dim: Dims, keepdim: bool) -> Any:
    found = [
        evenly(g, self, result, dim, keepdim) for g, result in zip(grads, (min, max), strict=True) if g is not None
    ]
    return [found[0] if len(found) == 1 else found[0] + found[1]]


aminmax = row(
    "aminmax",
    "self",
    forward=_aminmax,
    infer=lambda shapes, dim, keepdim: [reduced(shapes[0], dim, keepdim)] * 2,
    grad=_aminmax_grad,
    formula="min, max = the smallest and the largest of self",
    derivatives={"self": "each grad, shared evenly among the elements that equal the result"},
    onnx=NO_ONNX("ReduceMin, ReduceMax"),
    cost=lambda shapes, result, **attrs: 2 * elements(shapes[0]),
    samples=lambda t: [((t(2, 3),), {}), ((t(2, 3),), {"dim": 1}), ((t(2, 3),), {"dim": 0, "keepdim": True})],
    results="min max",
    holomorphic=False,
)


def _with_mean(single: Any) -> Any:
    """The row of a measure of spread that gives the mean with it."""
    name = f"{single.name}_mean"

    def forward(xp: Any, a: Any, dim: Dims, keepdim: bool, correction: float) -> Any:
        found = single.forward(xp, a, dim=dim, keepdim=keepdim, correction=correction)
        count = elements([a.shape[d] for d in dim])
        mean = xp.add.reduce(a, axis=dim, dtype=wide(a), keepdims=keepdim) / wide(a).type(count)
        return found, mean.astype(a.dtype)

    def grad(grads: Any, needs: Any, self: Any, result0: Any, dim: Dims, keepdim: bool, correction: float) -> Any:
        formula = single.vjps[0]
        named = {"result": result0} if single.name == "std" else {}
        off, mean = grads
        g = None
        if off is not None:
            g = formula(off, self=self, **named, dim=dim, keepdim=keepdim, correction=correction)
        if mean is not None:
            shape = tuple(self.shape)
            flat = spread(mean / max(1, elements([shape[d] for d in dim])), dim, keepdim, shape)
            g = flat if g is None else g + flat
        return [g]

    return row(
        name,
        "self",
        forward=forward,
        infer=lambda shapes, dim, keepdim, correction: [reduced(shapes[0], dim, keepdim)] * 2,
        grad=grad,
        formula=f"results = {single.name}(self), mean(self)",
        derivatives={"self": f"that of {single.name} and that of mean, added"},
        onnx=NO_ONNX("ReduceMean, Sub, Mul, ReduceSum"),
        cost=lambda shapes, result, **attrs: 5 * elements(shapes[0]),
        samples=lambda t: [((t(2, 3),), {}), ((t(2, 3), 1), {}), ((t(4, 3), 0), {"correction": 0, "keepdim": True})],
        results="result0 result1",
        holomorphic=False,
    )


std_mean = _with_mean(std)
var_mean = _with_mean(var)
