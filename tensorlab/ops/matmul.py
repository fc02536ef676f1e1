"""Products of matrices and vectors. float16 and bfloat16 are multiplied in float32: NumPy has no fast kernel of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorlab.layout import broadcast_shapes
from tensorlab.ops.table import GPU_LOWER, GPU_PROMOTE, LOWER, elements, of_arrays, row

Shape = tuple[int, ...]


def times(a: Any, b: Any) -> Any:
    """A product of a matrix with a matrix or a vector, as arrays (quickly) or as Tensors."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and b.ndim <= 2:
        if a.ndim == 2:
            return a.dot(b)
        if a.ndim > 2 and b.ndim == 2 and a.size and a.shape[-1] == b.shape[0]:  # one large product for many small ones
            return a.reshape(-1, a.shape[-1]).dot(b).reshape(*a.shape[:-1], b.shape[1])
    return a @ b


def _product(xp: Any, a: Any, b: Any) -> Any:
    return widened(_product, xp, a, b) if a.dtype != b.dtype or is_low(a) else times(a, b)


def is_low(a: Any) -> bool:
    return a.dtype.itemsize == 2 and a.dtype.kind in "fV"


def widened(kernel: Any, xp: Any, *arrays: Any, **attrs: Any) -> Any:
    """A product of float16 or bfloat16 worked out in float32, rounded once. Raises ``RuntimeError`` where types differ."""
    names = [a.dtype.name for a in arrays if a is not None]
    if len(set(names)) > 1:
        raise RuntimeError(
            f"expected all factors to have the same dtype, but got: {' != '.join(names)}. Convert with .to(other.dtype)."
        )
    wide = [None if a is None else a.astype(np.float32) for a in arrays]
    return kernel(xp, *wide, **attrs).astype(arrays[0].dtype)


def matmul_shape(shapes: Sequence[Shape], **attrs: Any) -> Shape:
    """The shape of a product, or an error that shows which sizes do not meet."""
    a, b = tuple(shapes[0]), tuple(shapes[1])
    if not a or not b:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {len(a)}D and {len(b)}D; use * to multiply by a number"
        )
    inner, other = a[-1], b[-2] if len(b) > 1 else b[0]
    if inner != other:
        at = "last" if len(a) > 1 else "only"
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({_sizes(a)} and {_sizes(b)}): the {at} dimension of the first is {inner}, "
            f"the {'second to last' if len(b) > 1 else 'only'} of the second is {other}; they must be equal"
            + (". Transposing the second with .mT would fit." if len(b) > 1 and b[-1] == inner else ".")
        )
    batch = broadcast_shapes(a[:-2], b[:-2], op="matmul")
    return batch + (a[-2:-1] if len(a) > 1 else ()) + (b[-1:] if len(b) > 1 else ())


def _sizes(shape: Shape) -> str:
    return "x".join(map(str, shape))


def _flops(shapes: Sequence[Shape], result: Shape, **attrs: Any) -> int:
    return 2 * elements(result) * shapes[0][-1]


mm = row(
    "mm",
    "self mat2",
    forward=_product,
    infer=matmul_shape,
    grad={"self": lambda g, mat2: times(g, mat2.T), "mat2": lambda g, self: times(self.T, g)},
    formula="result = self · mat2",
    derivatives={"self": "grad · mat2ᵀ", "mat2": "selfᵀ · grad"},
    autocast=LOWER,
    onnx="MatMul",
    cost=_flops,
    samples=lambda t: [
        ((t(2, 3), t(3, 4)), {}),
        ((t(3, 2).T, t(3, 4)), {}),
        ((t(0, 3), t(3, 2)), {}),
        ((t(2, 0), t(0, 2)), {}),
    ],
    on_arrays=True,
)
mv = row(
    "mv",
    "self vec",
    forward=_product,
    infer=matmul_shape,
    grad={"self": lambda g, vec: g.reshape((-1, 1)) * vec.reshape((1, -1)), "vec": lambda g, self: self.T @ g},
    formula="result = self · vec",
    derivatives={"self": "grad ⊗ vec", "vec": "selfᵀ · grad"},
    autocast=GPU_LOWER,
    onnx="MatMul",
    cost=_flops,
    samples=lambda t: [((t(2, 3), t(3)), {})],
    on_arrays=True,
)
dot = row(
    "dot",
    "self tensor",
    forward=lambda xp, a, b: _product(xp, a, b),
    infer=matmul_shape,
    grad={"self": lambda g, tensor: g * tensor, "tensor": lambda g, self: g * self},
    formula="result = Σ self · tensor",
    derivatives={"self": "grad · tensor", "tensor": "grad · self"},
    autocast=GPU_PROMOTE,
    onnx="MatMul",
    cost=_flops,
    samples=lambda t: [((t(3), t(3)), {}), ((t(0), t(0)), {})],
    on_arrays=True,
)
bmm = row(
    "bmm",
    "self mat2",
    forward=_product,
    infer=matmul_shape,
    grad={"self": lambda g, mat2: g @ mat2.mT, "mat2": lambda g, self: self.mT @ g},
    formula="result[i] = self[i] · mat2[i]",
    derivatives={"self": "grad · mat2ᵀ", "mat2": "selfᵀ · grad"},
    autocast=LOWER,
    onnx="MatMul",
    cost=_flops,
    samples=lambda t: [((t(2, 2, 3), t(2, 3, 4)), {})],
    on_arrays=True,
)


def _left(g: Any, self: Any, other: Any) -> Any:
    """Gradient of a broadcast product for its left side; the engine sums it to the left side's shape."""
    if len(other.shape) == 1:
        return g.reshape((*g.shape, 1)) * other
    if len(self.shape) == 1:
        return (g.reshape((*g.shape[:-1], 1, g.shape[-1])) @ other.mT).reshape((*g.shape[:-1], other.shape[-2]))
    return g @ other.mT


def _right(g: Any, self: Any, other: Any) -> Any:
    if len(self.shape) == 1:
        return self.reshape((-1, 1)) * g.reshape((*g.shape[:-1], 1, g.shape[-1]))
    if len(other.shape) == 1:
        return (self.mT @ g.reshape((*g.shape, 1))).reshape((*g.shape[:-1], self.shape[-1]))
    return self.mT @ g


matmul = row(
    "matmul",
    "self other",
    forward=lambda xp, a, b: _product(xp, a, b),
    infer=matmul_shape,
    grad={"self": _left, "other": _right},
    formula="result = self · other",
    derivatives={"self": "grad · otherᵀ", "other": "selfᵀ · grad"},
    autocast=LOWER,
    onnx="MatMul",
    cost=_flops,
    samples=lambda t: [
        ((t(5, 2, 3), t(3, 4)), {}),
        ((t(2, 3), t(5, 3, 4)), {}),
        ((t(2, 1, 2, 3), t(4, 3, 2)), {}),
        ((t(3), t(2, 3, 4)), {}),
        ((t(2, 2, 3), t(3)), {}),
        ((t(2, 0, 3), t(3, 4)), {}),
    ],
    on_arrays=True,
)


def must_broadcast(shape: Shape, out: Shape, name: str) -> None:
    """``RuntimeError`` for what is added to a product and would make it larger."""
    if len(shape) > len(out):
        raise RuntimeError(
            f"{name} has more dimensions than the product it is added to: {list(shape)} does not broadcast to {list(out)}"
        )
    for at, (size, wanted) in enumerate(zip(shape, out[len(out) - len(shape) :], strict=True), len(out) - len(shape)):
        if size not in (1, wanted):
            raise RuntimeError(
                f"The expanded size of the tensor ({wanted}) must match the existing size ({size}) at non-singleton dimension {at}: "
                f"{name} of shape {list(shape)} is added to a product of shape {list(out)} and does not broadcast to it."
            )


def linear_shape(shapes: Sequence[Shape], **attrs: Any) -> Shape:
    x, w = tuple(shapes[0]), tuple(shapes[1])
    if not x or x[-1] != w[-1]:
        have = x[-1] if x else "none"
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({_sizes(x)} and {_sizes(w[::-1])}): the layer takes {w[-1]} features, the last "
            f"dimension of the input is {have}. Input {list(x)}, weight {list(w)}."
        )
    out = x[:-1] + (w[:1] if len(w) > 1 else ())
    if len(shapes) > 2:
        must_broadcast(tuple(shapes[2]), out, "bias")
    return out


def _linear(xp: Any, x: Any, w: Any, b: Any = None) -> Any:
    if x.dtype != w.dtype or (b is not None and b.dtype != x.dtype):
        _refuse_types(input=x, weight=w, bias=b)
    if is_low(x):
        return widened(_linear, xp, x, w, b)
    r = x.dot(w.T) if x.ndim == 2 else times(x, w.T)
    if b is not None:
        if r.ndim == b.ndim:
            if b.shape != r.shape:
                must_broadcast(b.shape, r.shape, "bias")
            return r + b
        r += b
    return r


_CASTS = {"float32": "float()", "float64": "double()", "float16": "half()", "bfloat16": "bfloat16()"}


def _refuse_types(**arrays: Any) -> None:
    """``RuntimeError`` for factors of several types, with the call that makes them one."""
    names = [name for name, array in arrays.items() if array is not None]
    have = ", ".join(f"{name} is {arrays[name].dtype.name}" for name in names)
    wanted = arrays["weight"].dtype
    other = next(name for name in names if arrays[name].dtype != wanted)
    raise RuntimeError(
        f"linear(): {', '.join(names[:-1])} and {names[-1]} must have the same dtype, but {have}. "
        f"Call {other}.{_CASTS.get(wanted.name, 'type_as(weight)')} first."
    )


def _rows(g: Any) -> Any:
    return g if len(g.shape) == 2 else g.reshape((-1, g.shape[-1])) if g.size else g.reshape((0, g.shape[-1]))


def _weight_grad(g: Any, input: Any, weight_shape: Shape) -> Any:
    if len(weight_shape) == 1:
        return (g.reshape((*g.shape, 1)) * input).reshape((-1, input.shape[-1])).sum(0)
    return times(_rows(g).T, _rows(input))


_ONES: dict[tuple[int, Any], np.ndarray] = {}


def _bias_grad(g: Any) -> Any:
    """The sum over the batch; for small matrices a product with a row of ones is several times faster than a reduction."""
    if len(g.shape) != 2 or g.shape[0] > 512:
        return g
    if not isinstance(g, np.ndarray):
        return g.T @ g.new_ones(g.shape[0]) if of_arrays(g) is None else g
    key = g.shape[0], g.dtype
    ones = _ONES.get(key)
    if ones is None:
        ones = _ONES[key] = np.ones(*key)
    return g.T.dot(ones)


_LINEAR: dict[str, Any] = {
    "input": lambda g, weight: times(g, weight) if len(weight.shape) == 2 else g.reshape((*g.shape, 1)) * weight,
    "weight": _weight_grad,
}
linear = row(
    "linear",
    "input weight bias",
    forward=_linear,
    infer=linear_shape,
    grad={**_LINEAR, "bias": _bias_grad},
    formula="result = input · weightᵀ + bias",
    derivatives={"input": "grad · weight", "weight": "gradᵀ · input", "bias": "Σ grad over the batch"},
    autocast=LOWER,
    onnx="Gemm",
    cost=_flops,
    samples=lambda t: [
        ((t(5, 3), t(2, 3), t(2)), {}),
        ((t(4, 5, 3), t(2, 3), t(2)), {}),
        ((t(3), t(2, 3), t(2)), {}),
        ((t(0, 3), t(2, 3), t(2)), {}),
    ],
    on_arrays=True,
    node="AddmmBackward0",
)
linear_without_bias = row(
    "linear_without_bias",
    "input weight",
    forward=_linear,
    infer=linear_shape,
    grad=_LINEAR,
    formula="result = input · weightᵀ",
    derivatives={"input": "grad · weight", "weight": "gradᵀ · input"},
    autocast=LOWER,
    onnx="MatMul",
    cost=_flops,
    samples=lambda t: [((t(5, 3), t(2, 3)), {}), ((t(4, 5, 3), t(2, 3)), {}), ((t(4, 3), t(3)), {})],
    on_arrays=True,
    node="MmBackward0",
)
