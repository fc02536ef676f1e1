"""``β · self + α · product``, for each kind of product. Where β is 0 nothing of ``self`` counts, not even NaN."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorlab.layout import broadcast_shapes
from tensorlab.ops.matmul import is_low, matmul_shape, must_broadcast, times, widened
from tensorlab.ops.table import GPU_LOWER, GPU_PROMOTE, LOWER, NO_ONNX, elements, nothing, row

Shape = tuple[int, ...]


def _sum(product: Callable[..., Any]) -> Callable[..., Any]:
    """The forward of ``β · self + α · product(a, b)``."""

    def forward(xp: Any, c: Any, a: Any, b: Any, beta: Any, alpha: Any) -> Any:
        if not a.dtype == b.dtype == c.dtype or is_low(a):
            return widened(forward, xp, c, a, b, beta=beta, alpha=alpha)
        r = product(a, b)
        if c.shape != r.shape:
            must_broadcast(c.shape, r.shape, "input")
        if alpha != 1:
            r = r * r.dtype.type(alpha)
        if beta == 0:
            return r
        return r + (c if beta == 1 else c * c.dtype.type(beta))

    return forward


def _row(name: str, inputs: str, product: Any, shape: Any, grads: tuple[Any, Any], words: Any, **columns: Any) -> Any:
    first, second = inputs.split()

    def infer(shapes: Sequence[Shape], **attrs: Any) -> Shape:
        out = shape(tuple(shapes[1]), tuple(shapes[2]))
        must_broadcast(tuple(shapes[0]), out, "input")
        return out

    def of_self(g: Any, beta: Any) -> Any:
        return g if beta == 1 else g * beta if beta != 0 else nothing(g)

    sign, left, right = words
    return row(
        name,
        f"self {inputs}",
        forward=_sum(product),
        infer=infer,
        grad={"self": of_self, first: grads[0], second: grads[1]},
        formula=f"result = β · self + α · {sign}",
        derivatives={"self": "β · grad", first: f"α · {left}", second: f"α · {right}"},
        on_arrays=True,
        **{"autocast": LOWER, **columns},
    )


def _flops(shapes: Sequence[Shape], result: Shape, **attrs: Any) -> int:
    return 2 * elements(shapes[1]) * shapes[2][-1]


addmm = _row(
    "addmm",
    "mat1 mat2",
    times,
    lambda a, b: matmul_shape((a, b)),
    (lambda g, mat2, alpha: times(g, mat2.T) * alpha, lambda g, mat1, alpha: times(mat1.T, g) * alpha),
    ("mat1 · mat2", "grad · mat2ᵀ", "mat1ᵀ · grad"),
    onnx="Gemm",
    cost=_flops,
    samples=lambda t: [
        ((t(4), t(2, 3), t(3, 4)), {"beta": 1, "alpha": 1}),
        ((t(2, 4), t(2, 3), t(3, 4)), {"beta": 2, "alpha": 3}),
    ],
)
addmv = _row(
    "addmv",
    "mat vec",
    times,
    lambda a, b: matmul_shape((a, b)),
    (lambda g, vec, alpha: (g * alpha).reshape((-1, 1)) * vec, lambda g, mat, alpha: times(mat.T, g) * alpha),
    ("mat · vec", "grad ⊗ vec", "matᵀ · grad"),
    onnx=NO_ONNX("MatMul, Mul, Add"),
    cost=lambda shapes, result, **attrs: 2 * elements(shapes[1]),
    samples=lambda t: [
        ((t(2), t(2, 3), t(3)), {"beta": 1, "alpha": 1}),
        ((t(), t(2, 3), t(3)), {"beta": 2, "alpha": 3}),
    ],
    autocast=GPU_LOWER,
)


addr = _row(
    "addr",
    "vec1 vec2",
    lambda a, b: a.reshape(-1, 1) * b,
    lambda a, b: a + b,
    (lambda g, vec2, alpha: times(g, vec2) * alpha, lambda g, vec1, alpha: times(g.T, vec1) * alpha),
    ("vec1 ⊗ vec2", "grad · vec2", "gradᵀ · vec1"),
    promotes=True,
    onnx=NO_ONNX("Mul, Mul, Add"),
    cost=lambda shapes, result, **attrs: 2 * elements(result),
    samples=lambda t: [((t(2, 3), t(2), t(3)), {"beta": 1, "alpha": 1}), ((t(3), t(2), t(3)), {"beta": 2, "alpha": 3})],
    autocast=GPU_LOWER,
)
baddbmm = _row(
    "baddbmm",
    "batch1 batch2",
    lambda a, b: a @ b,
    lambda a, b: matmul_shape((a, b)),
    (lambda g, batch2, alpha: (g @ batch2.mT) * alpha, lambda g, batch1, alpha: (batch1.mT @ g) * alpha),
    ("batch1 · batch2", "grad · batch2ᵀ", "batch1ᵀ · grad"),
    onnx=NO_ONNX("MatMul, Mul, Add"),
    cost=_flops,
    samples=lambda t: [
        ((t(2, 2, 4), t(2, 2, 3), t(2, 3, 4)), {"beta": 1, "alpha": 1}),
        ((t(4), t(2, 2, 3), t(2, 3, 4)), {"beta": 2, "alpha": 3}),
    ],
)


def _batches_added(a: Any, b: Any) -> Any:
    """The sum of a batch of products, as one product of long matrices."""
    n, rows, inner = a.shape
    return times(a.transpose(1, 0, 2).reshape(rows, n * inner), b.reshape(n * inner, b.shape[2]))


def _added_shape(a: Shape, b: Shape) -> Shape:
    return matmul_shape((a, b))[1:]


addbmm = _row(
    "addbmm",
    "batch1 batch2",
    _batches_added,
    _added_shape,
    (lambda g, batch2, alpha: (g @ batch2.mT) * alpha, lambda g, batch1, alpha: (batch1.mT @ g) * alpha),
    ("Σ batch1[i] · batch2[i]", "grad · batch2ᵀ", "batch1ᵀ · grad"),
    onnx=NO_ONNX("MatMul, ReduceSum, Mul, Add"),
    cost=_flops,
    samples=lambda t: [
        ((t(2, 4), t(3, 2, 3), t(3, 3, 4)), {"beta": 1, "alpha": 1}),
        ((t(4), t(3, 2, 3), t(3, 3, 4)), {"beta": 2, "alpha": 3}),
    ],
)
vdot = row(
    "vdot",
    "self other",
    forward=lambda xp, a, b: _dot(xp, a.conj(), b),
    infer=lambda shapes: matmul_shape(shapes),
    grad={"self": lambda g, other: g.conj() * other, "other": lambda g, self: g * self},
    formula="result = Σ self* · other",
    derivatives={"self": "grad* · other", "other": "grad · self"},
    autocast=GPU_PROMOTE,
    onnx=NO_ONNX("MatMul has no conjugate"),
    cost=lambda shapes, result, **attrs: 2 * elements(shapes[0]),
    samples=lambda t: [((t(3), t(3)), {}), ((t.complex(3), t.complex(3)), {})],
    holomorphic=False,
)


def _dot(xp: Any, a: Any, b: Any) -> Any:
    return widened(_dot, xp, a, b) if a.dtype != b.dtype or is_low(a) else times(a, b)


def _cross(xp: Any, a: Any, b: Any, dim: int) -> Any:
    a, b = xp.moveaxis(a, dim, -1), xp.moveaxis(b, dim, -1)
    x, y, z = ((a[..., i] * b[..., j]) - (a[..., j] * b[..., i]) for i, j in ((1, 2), (2, 0), (0, 1)))
    return xp.stack([x, y, z], axis=dim)


def _cross_shape(shapes: Sequence[Shape], dim: int) -> Shape:
    a, b = (tuple(shape) for shape in shapes)
    if len(a) != len(b):
        raise RuntimeError(f"linalg.cross: inputs must have the same number of dimensions, not {len(a)} and {len(b)}.")
    if a[dim] != 3 or b[dim] != 3:
        raise RuntimeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {a[dim]} and {b[dim]}")
    return broadcast_shapes(a, b, op="linalg.cross")


cross = row(
    "linalg_cross",
    "self other",
    forward=_cross,
    infer=_cross_shape,
    grad={
        "self": lambda g, other, dim: other._op("linalg_cross", g, dim=dim),
        "other": lambda g, self, dim: g._op("linalg_cross", self, dim=dim),
    },
    formula="result = self × other",
    derivatives={"self": "other × grad", "other": "grad × self"},
    onnx=NO_ONNX("Slice, Mul, Sub, Concat"),
    cost=lambda shapes, result, **attrs: 3 * elements(result),
    samples=lambda t: [((t(2, 3), t(2, 3)), {"dim": 1}), ((t(3, 1), t(3, 2)), {"dim": 0})],
    autocast=GPU_PROMOTE,
)
