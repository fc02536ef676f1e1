"""Sums, means and their kind: rows that make dimensions disappear.

Sums of float16 and bfloat16 are carried in float32, as PyTorch does; NumPy's own would lose digits (4096 ones of float16 can sum
to 2048).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorlab.layout import contiguous_strides
from tensorlab.ops.table import FLOAT32, GPU_FLOAT32, NO_GRAD, NO_ONNX, elements, no_cost, of_arrays, row

Shape = tuple[int, ...]
Dims = tuple[int, ...]


def reduced(shape: Shape, dim: Dims, keepdim: bool) -> Shape:
    """The shape after reducing over ``dim``."""
    if keepdim:
        return tuple([1 if d in dim else n for d, n in enumerate(shape)])
    return tuple([n for d, n in enumerate(shape) if d not in dim])


def infer(shapes: Sequence[Shape], dim: Dims, keepdim: bool, **attrs: Any) -> Shape:
    return reduced(shapes[0], dim, keepdim)


def cost(shapes: Sequence[Shape], result: Shape, **attrs: Any) -> int:
    return elements(shapes[0])


def wide(a: Any) -> Any:
    """The type in which sums of ``a`` are carried."""
    return np.dtype(np.float32) if a.dtype.itemsize == 2 and a.dtype.kind in "fV" else a.dtype


def spread(g: Any, dim: Dims, keepdim: bool, shape: Shape) -> Any:
    """The gradient of a sum: repeat ``g`` over the dimensions that went away. Works on arrays and on Tensors."""
    if type(g) is np.ndarray and g.size == 1:
        return np.ndarray(shape, g.dtype, g, 0, (0,) * len(shape))
    if not keepdim:
        g = g.reshape(reduced(shape, dim, True))
    if not isinstance(g, (np.ndarray, np.generic)):
        xp = of_arrays(g)
        return g.expand(shape) if xp is None else xp.broadcast_to(g, shape)
    if g.flags.c_contiguous:
        size = g.itemsize
        strides = [0 if n == 1 else s * size for s, n in zip(contiguous_strides(g.shape), g.shape, strict=True)]
        return np.ndarray(shape, g.dtype, g, 0, strides)
    return np.broadcast_to(g, shape)


def _sum(xp: Any, a: Any, dim: Dims, keepdim: bool, dtype: Any) -> Any:
    if dtype is None:
        dtype = np.dtype(np.int64) if a.dtype.kind in "biu" else a.dtype
    carried = np.dtype(np.float32) if dtype.itemsize == 2 and dtype.kind in "fV" else dtype
    r = xp.add.reduce(a, axis=dim, dtype=carried, keepdims=keepdim)
    return r if carried is dtype else r.astype(dtype)


def _mean(xp: Any, a: Any, dim: Dims, keepdim: bool, dtype: Any) -> Any:
    which = "Input" if dtype is None else "Optional"
    dtype = a.dtype if dtype is None else dtype
    if dtype.kind in "biu":
        raise RuntimeError(
            f"mean(): could not infer output dtype. {which} dtype must be either a floating point or complex dtype. Got: {dtype.name}. "
            "Say dtype=tensorlab.float32, or convert with .float()."
        )
    carried = np.dtype(np.float32) if dtype.itemsize == 2 else dtype
    r = xp.add.reduce(a, axis=dim, dtype=carried, keepdims=keepdim) / carried.type(_count(a.shape, dim))
    return r if carried is dtype else r.astype(dtype)


def _count(shape: Shape, dim: Dims) -> int:
    n = 1
    for d in dim:
        n *= shape[d]
    return n


def _dims(t: Any) -> Any:
    """Sample calls of a reduction: over everything, one dimension, several, kept, of a 0-dim and an empty tensor."""
    return [
        ((t(2, 3),), {}),
        ((t(2, 3), 1), {}),
        ((t(2, 3, 4), (0, 2)), {}),
        ((t(2, 3), -1), {"keepdim": True}),
        ((t(),), {}),
        ((t(3, 2).T, 0), {}),
    ]


sum_ = row(
    "sum",
    "self",
    forward=_sum,
    infer=infer,
    grad={"self": lambda g, dim, keepdim, self_shape: spread(g, dim, keepdim, self_shape)},
    formula="result = Σ self",
    derivatives={"self": "grad, repeated over the summed dimensions"},
    autocast=GPU_FLOAT32,
    onnx="ReduceSum",
    cost=cost,
    samples=lambda t: [*_dims(t), ((t(0, 3),), {}), ((t(0, 3), 0), {})],
    on_arrays=True,
)
mean = row(
    "mean",
    "self",
    forward=_mean,
    infer=infer,
    grad={
        "self": lambda g, dim, keepdim, self_shape: spread(
            g / max(1, _count(self_shape, dim)), dim, keepdim, self_shape
        )
    },
    formula="result = Σ self ÷ n",
    derivatives={"self": "grad ÷ n, repeated over the averaged dimensions"},
    onnx="ReduceMean",
    cost=cost,
    samples=_dims,
    on_arrays=True,
)


def _var(xp: Any, a: Any, dim: Dims, keepdim: bool, correction: float) -> Any:
    carried = wide(a)
    count = a.dtype.type(1) * _count(a.shape, dim) if carried is a.dtype else _count(a.shape, dim)
    center = xp.add.reduce(a, axis=dim, dtype=carried, keepdims=True) / carried.type(count)
    off = a - center
    squares = (off * off.conj()).real if a.dtype.kind == "c" else off * off
    total = xp.add.reduce(squares, axis=dim, keepdims=keepdim)
    return (total / total.dtype.type(max(0, _count(a.shape, dim) - correction))).astype(
        squares.dtype if carried is a.dtype else a.dtype
    )


def _var_grad(g: Any, self: Any, dim: Dims, keepdim: bool, correction: float) -> Any:
    if not keepdim:
        g = g.reshape(reduced(self.shape, dim, True))
    n = max(0, _count(self.shape, dim) - correction)
    return g * ((self - self.mean(dim, True)) * (2 / n if n else float("nan")))


def _std_grad(g: Any, self: Any, result: Any, dim: Dims, keepdim: bool, correction: float) -> Any:
    return _var_grad((g / (result * 2)).masked_fill(result == 0, 0), self, dim, keepdim, correction)


var = row(
    "var",
    "self",
    forward=_var,
    infer=infer,
    grad={"self": _var_grad},
    formula="result = Σ (self − mean)² ÷ (n − correction)",
    derivatives={"self": "grad · 2 (self − mean) ÷ (n − correction)"},
    onnx=NO_ONNX("ReduceMean, Sub, Mul, ReduceSum"),
    cost=lambda shapes, result, **attrs: 4 * elements(shapes[0]),
    samples=lambda t: [((t(2, 3),), {}), ((t(2, 3), 1), {}), ((t(4, 3), 0), {"correction": 0, "keepdim": True})],
    holomorphic=False,
)
std = row(
    "std",
    "self",
    forward=lambda xp, a, **attrs: xp.sqrt(_var(xp, a, **attrs)),
    infer=infer,
    grad={"self": _std_grad},
    formula="result = √var(self)",
    derivatives={"self": "grad · (self − mean) ÷ (result · (n − correction))"},
    onnx=NO_ONNX("ReduceMean, Sub, Mul, ReduceSum, Sqrt"),
    cost=lambda shapes, result, **attrs: 5 * elements(shapes[0]),
    samples=lambda t: [((t(2, 3),), {}), ((t(2, 3), 1), {}), ((t(4, 3), 0), {"correction": 0, "keepdim": True})],
    holomorphic=False,
)


def _prod(xp: Any, a: Any, dim: Dims, keepdim: bool, dtype: Any) -> Any:
    if dtype is None:
        dtype = np.dtype(np.int64) if a.dtype.kind in "biu" else a.dtype
    carried = np.dtype(np.float32) if dtype.itemsize == 2 and dtype.kind in "fV" else dtype
    return xp.multiply.reduce(a, axis=dim, dtype=carried, keepdims=keepdim).astype(dtype)


def _prod_grad(g: Any, self: Any, dim: Dims, keepdim: bool) -> Any:
    """The product of all other elements, from running products of both sides, so that zeros need no special case."""
    if not dim:
        return g
    order = [d for d in range(len(self.shape)) if d not in dim]
    kept = [self.shape[d] for d in order]
    flat = self.permute((*order, *dim)).reshape((*kept, -1))
    n = flat.shape[-1]
    ones = flat.new_ones((*kept, 1))
    left = ones if n < 2 else ones._op("cat", flat.narrow(-1, 0, n - 1).cumprod(-1), dim=len(kept), sizes=(1, n - 1))
    tail = flat.flip(-1)
    right = (
        ones
        if n < 2
        else ones._op("cat", tail.narrow(-1, 0, n - 1).cumprod(-1), dim=len(kept), sizes=(1, n - 1)).flip(-1)
    )
    others = (left * right) if n else flat
    g = g.reshape((*kept, 1)) * others
    back = [0] * len(self.shape)
    for new, old in enumerate((*order, *dim)):
        back[old] = new
    return g.reshape((*kept, *[self.shape[d] for d in dim])).permute(back)


prod = row(
    "prod",
    "self",
    forward=_prod,
    infer=infer,
    grad={"self": _prod_grad},
    formula="result = Π self",
    derivatives={"self": "grad · product of all other elements"},
    autocast=FLOAT32,
    onnx="ReduceProd",
    cost=cost,
    samples=lambda t: [((t(2, 3),), {}), ((t(2, 3), 1), {}), ((t(2, 3), 0), {"keepdim": True}), ((t(),), {})],
)


def _running(name: str, ufunc: str, sign: str, grad: Any, derivative: str) -> Any:
    def forward(xp: Any, a: Any, dim: int, dtype: Any) -> Any:
        if dtype is None:
            dtype = np.dtype(np.int64) if a.dtype.kind in "biu" else a.dtype
        if a.ndim == 0:
            return a.astype(dtype)
        carried = np.dtype(np.float32) if dtype.itemsize == 2 and dtype.kind in "fV" else dtype
        r = getattr(xp, ufunc)(a, axis=dim, dtype=carried)
        return r if carried is dtype else r.astype(dtype)

    return row(
        name,
        "self",
        forward=forward,
        infer=lambda shapes, **attrs: tuple(shapes[0]),
        grad={"self": grad},
        formula=f"result[i] = {sign} self[0..i]",
        derivatives={"self": derivative},
        autocast=GPU_FLOAT32,
        onnx="CumSum" if name == "cumsum" else NO_ONNX("no running product"),
        cost=cost,
        samples=lambda t: [((t(2, 3), 1), {}), ((t(3, 2), 0), {}), ((t(4), -1), {})],
    )


def _cumprod_grad(g: Any, self: Any, dim: int) -> Any:
    """Exact with zeros too: sums ``grad[k] · product of self[0..k] without self[i]`` over k >= i."""
    if len(self.shape) == 0:
        return g
    n = self.shape[dim]
    x, g = self.transpose(dim, -1), g.transpose(dim, -1)
    found = []
    for i in range(n):
        tail = x.narrow(-1, i + 1, n - i - 1)
        before = x.narrow(-1, 0, i).prod(-1, True)
        after = (
            before
            if i == n - 1
            else before._op("cat", before * tail.cumprod(-1), dim=len(x.shape) - 1, sizes=(1, n - i - 1))
        )
        found.append((g.narrow(-1, i, n - i) * after).sum(-1, True))
    return (found[0]._op("cat", *found[1:], dim=len(x.shape) - 1, sizes=(1,) * n) if n else g).transpose(dim, -1)


cumsum = _running(
    "cumsum",
    "cumsum",
    "Σ",
    lambda g, dim: g.flip(dim).cumsum(dim).flip(dim) if len(g.shape) else g,
    "running sum of grad from the end",
)
cumprod = _running("cumprod", "cumprod", "Π", _cumprod_grad, "Σ grad · product without that element")

# ------------------------------------------------------------------------------------------------- extremes


def _nan_first(xp: Any, a: Any, name: str, axis: int) -> Any:
    """Index of the extreme, where NaN counts as more extreme than everything (NumPy does the same)."""
    return getattr(xp, name)(a, axis=axis)


def evenly(g: Any, self: Any, result: Any, dim: Dims, keepdim: bool) -> Any:
    """Share a gradient among all elements that equal the extreme."""
    if not keepdim:
        shape = reduced(self.shape, dim, True)
        g, result = g.reshape(shape), result.reshape(shape)
    hits = (self == result) | ((self != self) & (result != result))
    return (g / hits.to(g.dtype).sum(dim, True)).masked_fill(~hits, 0)


def _extreme(name: str, ufunc: str, onnx: str) -> Any:
    def forward(xp: Any, a: Any, dim: Dims, keepdim: bool) -> Any:
        return getattr(xp, ufunc)(a, axis=dim, keepdims=keepdim)

    return row(
        name,
        "self",
        forward=forward,
        infer=infer,
        grad={"self": evenly},
        formula=f"result = {name[1:]} of self",
        derivatives={"self": "grad, shared evenly among the elements that equal the result"},
        onnx=onnx,
        cost=cost,
        samples=_dims,
        holomorphic=False,
    )


amax = _extreme("amax", "max", "ReduceMax")
amin = _extreme("amin", "min", "ReduceMin")
max_all = row(
    "max",
    "self",
    forward=lambda xp, a: a.max(),
    infer=lambda shapes: (),
    grad={"self": lambda g, self, result: evenly(g, self, result, tuple(range(len(self.shape))), False)},
    formula="result = largest element",
    derivatives={"self": "grad, shared evenly among the largest"},
    onnx="ReduceMax",
    cost=cost,
    samples=lambda t: [((t(2, 3),), {}), ((t(),), {})],
    node="MaxBackward1",
    holomorphic=False,
)
min_all = row(
    "min",
    "self",
    forward=lambda xp, a: a.min(),
    infer=lambda shapes: (),
    grad={"self": lambda g, self, result: evenly(g, self, result, tuple(range(len(self.shape))), False)},
    formula="result = smallest element",
    derivatives={"self": "grad, shared evenly among the smallest"},
    onnx="ReduceMin",
    cost=cost,
    samples=lambda t: [((t(2, 3),), {}), ((t(),), {})],
    node="MinBackward1",
    holomorphic=False,
)


def _with_index(name: str, arg: str, onnx: Any) -> Any:
    def forward(xp: Any, a: Any, dim: int, keepdim: bool) -> Any:
        if a.ndim == 0:
            return a.copy(), xp.zeros((), np.int64)
        at = xp.expand_dims(_nan_first(xp, a, arg, dim), dim)
        values = xp.take_along_axis(a, at, axis=dim)
        if not keepdim:
            values, at = values.squeeze(dim), at.squeeze(dim)
        return values, at.astype(np.int64)

    def grad(grads: Any, needs: Any, indices: Any, self_shape: Shape, dim: int, keepdim: bool) -> Any:
        return [grads[0]._op("value_selecting_backward", indices, shape=self_shape, dim=dim, keepdim=keepdim)]

    return row(
        name,
        "self",
        forward=forward,
        infer=lambda shapes, dim, keepdim: [reduced(shapes[0], (dim,), keepdim)] * 2,
        grad=grad,
        formula="values, indices = the extreme along one dimension",
        derivatives={"self": "zeros with grad at the indices"},
        onnx=onnx,
        cost=cost,
        samples=lambda t: [((t(2, 3), 1), {}), ((t(2, 3), 0), {"keepdim": True})],
        results="values indices",
        node=f"{name[:3].capitalize()}Backward0",
        holomorphic=False,
    )


def _value_selecting_backward(xp: Any, g: Any, indices: Any, shape: Shape, dim: int, keepdim: bool) -> Any:
    if len(shape) == 0:
        return g.copy()
    if not keepdim:
        g, indices = xp.expand_dims(g, dim), xp.expand_dims(indices, dim)
    out = xp.zeros(shape, g.dtype)
    xp.put_along_axis(out, indices, g, axis=dim)
    return out


value_selecting_backward = row(
    "value_selecting_backward",
    "grad indices",
    forward=_value_selecting_backward,
    infer=lambda shapes, shape, dim, keepdim: tuple(shape),
    grad={"grad": lambda g, indices, dim, keepdim: _pick(g, indices, dim, keepdim)},
    formula="result = zeros with grad at the indices",
    derivatives={"grad": "grad at the indices"},
    onnx=NO_ONNX("appears in gradients only"),
    cost=no_cost,
    samples=lambda t: [((t(2), t.index(3, 2)), {"shape": (2, 3), "dim": 1, "keepdim": False})],
)


def _pick(g: Any, indices: Any, dim: int, keepdim: bool) -> Any:
    if len(g.shape) == 0:
        return g
    if keepdim:
        return g.gather(dim, indices)
    return g.gather(dim, indices.unsqueeze(dim)).squeeze(dim)


max_dim = _with_index("max_dim", "argmax", NO_ONNX("ReduceMax, ArgMax"))
min_dim = _with_index("min_dim", "argmin", NO_ONNX("ReduceMin, ArgMin"))

_INDEX = NO_GRAD("integer output")


def _arg(name: str, onnx: str) -> Any:
    def forward(xp: Any, a: Any, dim: int | None, keepdim: bool) -> Any:
        if dim is None:
            r = getattr(xp, name)(a.reshape(-1), axis=0)
            return r.reshape((1,) * a.ndim) if keepdim else r
        if a.ndim == 0:
            return xp.zeros((), np.int64)
        r = getattr(xp, name)(a, axis=dim)
        return xp.expand_dims(r, dim) if keepdim else r

    return row(
        name,
        "self",
        forward=forward,
        infer=lambda shapes, dim, keepdim: reduced(
            shapes[0], tuple(range(len(shapes[0]))) if dim is None else (dim,), keepdim
        ),
        grad=_INDEX,
        formula=f"result = index of the {'largest' if name == 'argmax' else 'smallest'} element",
        onnx=onnx,
        cost=cost,
        samples=lambda t: [((t(2, 3),), {}), ((t(2, 3), 1), {}), ((t(2, 3), 0), {"keepdim": True})],
    )


argmax = _arg("argmax", "ArgMax")
argmin = _arg("argmin", "ArgMin")


def _truth(name: str, ufunc: str) -> Any:
    return row(
        name,
        "self",
        forward=lambda xp, a, dim, keepdim: getattr(xp, ufunc)(a != 0, axis=dim, keepdims=keepdim).astype(
            np.uint8 if a.dtype == np.uint8 else np.bool_
        ),
        infer=infer,
        grad=NO_GRAD("boolean output"),
        formula=f"result = whether {name} of self",
        onnx=NO_ONNX("Cast, ReduceMax"),
        cost=cost,
        samples=lambda t: [((t.mask(2, 3),), {}), ((t.mask(2, 3), 1), {}), ((t.mask(2, 3), 0), {"keepdim": True})],
    )


all_ = _truth("all", "all")
any_ = _truth("any", "any")


def _vector_norm(xp: Any, a: Any, dim: Dims, keepdim: bool, p: float) -> Any:
    size = xp.abs(a).astype(wide(a) if a.dtype.itemsize == 2 else xp.abs(a).dtype)
    if p == 0:
        r = xp.add.reduce(size != 0, axis=dim, keepdims=keepdim, dtype=size.dtype)
    elif p == 2:
        r = xp.sqrt(xp.add.reduce(size * size, axis=dim, keepdims=keepdim))
    else:
        r = xp.add.reduce(size**p, axis=dim, keepdims=keepdim) ** (1 / p)
    return r.astype(a.dtype) if a.dtype.itemsize == 2 else r


def _vector_norm_grad(g: Any, self: Any, result: Any, dim: Dims, keepdim: bool, p: float) -> Any:
    """``grad · self · |self|^(p-2) / result^(p-1)``, and 0 where the norm is 0."""
    if p == 0:
        return self._zeros(self.shape)
    if not keepdim:
        shape = reduced(self.shape, dim, True)
        g, result = g.reshape(shape), result.reshape(shape)
    nowhere = result == 0
    result = result.masked_fill(nowhere, 1)  # so that no power of it is infinite, here or in the next derivative
    if p == 2:
        return self * (g / result).masked_fill(nowhere, 0)
    scale = (g / result ** (p - 1)).masked_fill(nowhere, 0)
    return self.sgn() * self.masked_fill(self == 0, 1).abs() ** (p - 1) * scale


vector_norm = row(
    "vector_norm",
    "self",
    forward=_vector_norm,
    infer=infer,
    grad={"self": _vector_norm_grad},
    formula="result = (Σ |self|ᵖ)^(1/p)",
    derivatives={"self": "grad · self · |self|^(p−2) ÷ result^(p−1), 0 where the norm is 0"},
    autocast=GPU_FLOAT32,
    onnx="ReduceL2",
    cost=lambda shapes, result, **attrs: 3 * elements(shapes[0]),
    samples=lambda t: [((t(2, 3),), {}), ((t(2, 3), 1), {"p": 3}), ((t(2, 3), 0), {"keepdim": True}), ((t(),), {})],
    node="LinalgVectorNormBackward0",
    holomorphic=False,
)
